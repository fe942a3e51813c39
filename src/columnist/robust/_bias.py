"""The bias trick: centring an uncentred robust PCA by a constant feature."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from columnist.data._parameters import Number
from columnist.robust._base import WholeRowsPCA
from columnist.robust._subspace import Subspace, principal_axes

# Squared length of the constant feature's part in the subspace; it should be close to 1.
_IGNORED = 1e-6


class BiasCentered(WholeRowsPCA):
    r"""Centre an uncentred robust PCA by a constant feature [1]_.

    Every row gets one more entry, the same large :math:`b = \gamma \|X\|_F`, and the wrapped
    estimator is asked for one component more. A subspace through the origin of the larger
    space meets the plane of the data in an affine subspace; as b grows, the uncentred
    problem becomes the centred one, the centre of the kept rows included.

    Parameters
    ----------
    estimator : estimator
        Has ``components_`` after fitting, and ``outliers_`` if it removes rows. The copy that is
        fitted has its ``n_components`` (unless None) raised by one and its ``centering``, if
        any, set to "none".
    gamma : float, default=10
        Size of the constant: it should dominate the data without losing digits.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy.
    bias_ : float
        The constant b.
    outliers_ : ndarray of int
        Rows removed, ascending.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace, and the variances of the kept rows along its axes. The mean is the
        point of the subspace nearest to theirs.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    References
    ----------
    .. [1] B. He et al. A bias trick for centered robust principal component analysis. AAAI, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import BiasCentered
    >>> from columnist.robust import TrimmedPCA
    >>> line = np.outer(np.arange(20.0), [3.0, 4.0]) + [0.0, 500.0]
    >>> X = np.vstack([line, [[60.0, 500.0]]])
    >>> found = BiasCentered(TrimmedPCA(1, n_outliers=1)).fit(X)
    >>> found.outliers_, found.components_.round(6)
    (array([20]), array([[0.6, 0.8]]))
    """

    _parameter_constraints = {"gamma": Number(0.0, above=True)}

    def __init__(self, estimator, *, gamma=10, cutoff="cross-fitted"):
        self.estimator = estimator
        self.gamma = gamma
        self.cutoff = cutoff

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        size = float(np.linalg.norm(X))
        bias = self.gamma * (size if size > 0.0 else 1.0)
        self.bias_ = bias * self._unit
        self.estimator_ = _asking_for_more(self.estimator)
        self.estimator_.fit(np.column_stack([X, np.full(len(X), bias)]))
        check_is_fitted(self.estimator_, "components_")
        outliers = np.asarray(getattr(self.estimator_, "outliers_", []), dtype=np.intp)
        kept = np.delete(X, outliers, axis=0)
        return outliers, _cut(np.asarray(self.estimator_.components_), bias, kept)


def _asking_for_more(estimator):
    """An unfitted copy that looks for one component more and does not centre."""
    copy = clone(estimator)
    params = copy.get_params(deep=False)
    if params.get("n_components") is not None:
        copy.set_params(n_components=params["n_components"] + 1)
    if "centering" in params:
        copy.set_params(centering="none")
    return copy


def _cut(axes: np.ndarray, bias: float, kept: np.ndarray) -> Subspace:
    """Where the span of the axes meets the plane of points whose last entry is the bias. With w the
    last entries of the axes, combinations c of them lie in that plane if c'w = bias: one point, and
    the directions orthogonal to w."""
    heights = axes[:, -1]
    level = float(heights @ heights)
    if level < _IGNORED:
        raise ValueError(
            "The wrapped estimator ignores the constant feature: it centres the data by itself "
            "and needs no BiasCentered."
        )
    point = bias / level * (heights @ axes[:, :-1])
    directions = scipy.linalg.null_space(heights[None]).T @ axes[:, :-1]
    mean = kept.mean(axis=0)
    mean = point + ((mean - point) @ directions.T) @ directions
    return principal_axes(kept, directions, mean)
