"""Support vector machine with few features, by approximate minimisation of the zero norm."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from columnist.data._parameters import Number
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import columns_of, cross
from columnist.linalg._ties import evened, levels
from columnist.spectral._base import SequentialSelector
from columnist.spectral._scatter import column_scatter

__all__ = ["ZeroNormSVM"]

# A feature whose scale is below this share of the largest has left.
_GONE = 1e-6
# Scales that change by less than this share have settled.
_SETTLED = 1e-3
# Steps of a machine's solver at most: on data that are hard to separate it may not end.
_STEPS = 100_000


class ZeroNormSVM(SequentialSelector):
    r"""Train a linear support vector machine again and again, shrinking what it uses little.

    A baseline, known as AROM-SVM. Every feature has a scale, at first one over its standard
    deviation. A machine is trained on the scaled features, each scale is multiplied by the
    feature's weight :math:`|w_j|`, and so on until no more features than asked for have a
    scale left. That minimises :math:`\sum_j \log(\epsilon + |w_j|)`, which stands for the
    number of weights that are not zero [1]_.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    C : float, default=1.0
        Cost of samples on the wrong side of the margin, for standardised features.
    max_iter : int, default=50
        Rounds of training at most; fewer if enough features have left, or the scales settle.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Number of features ranked behind; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        Last scale of the feature times its standard deviation, as a share of the largest then.
    ranking_ : ndarray of shape (n_features,)
        Features, best first: those that stayed longest, and of these the largest scales.
    selected_ : ndarray of int
        Selected features, best first.
    n_iter_ : int
        Rounds of training.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    sklearn.feature_selection.RFE : Removes features by the weights of any linear model.

    Notes
    -----
    With more than two classes there is one machine for each class against the rest, and the
    weight of a feature is the length of its vector of weights, so that all machines use the
    same features. After every round all scales are multiplied by one number, which keeps the
    mean squared length of the samples and so the meaning of ``C``.

    The machine is :class:`sklearn.svm.SVC` with the kernel of the scaled features, so a round
    takes one product of the data with itself: made for many features and up to some thousand
    samples.

    References
    ----------
    .. [1] J. Weston, A. Elisseeff, B. Schölkopf, M. Tipping, "Use of the zero-norm with linear
       models and kernel methods", Journal of Machine Learning Research 3, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import ZeroNormSVM
    >>> X, y = load_wine(return_X_y=True)
    >>> ZeroNormSVM(3).fit(X, y).selected_
    array([ 6, 12,  0])
    """

    _needs_classes: ClassVar[bool] = True

    _parameter_constraints = {"C": Number(0.0, above=True)}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        C: float = 1.0,
        max_iter: int = 50,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.max_iter = max_iter

    def _order(self, X, y, size: int) -> tuple[np.ndarray, np.ndarray]:
        if not sp.issparse(X):
            # A machine stops when it is good enough; the last digits, which depend on how an array
            # is laid out, decide when that is.
            X = np.ascontiguousarray(X)
        n = X.shape[0]
        check_memory(24.0 * n**2, f"The kernel of {n} samples", "Use fewer samples.")
        spread = np.sqrt(column_scatter(X) / n)
        active = np.flatnonzero(spread)
        if not len(active):
            raise ValueError("All features are constant: no machine can use them.")
        # Shares are scales times standard deviations: free of the units of the features.
        shares, rounds = np.full((2, X.shape[1]), np.nan)
        shares[active], data = 1.0, _scaled(X, active, 1.0 / spread[active])
        self.n_iter_, settled = 0, False
        while self.n_iter_ < self.max_iter and not settled:
            now = shares[active] * np.sqrt(X.shape[1] / np.square(shares[active]).sum())
            weights = _machine_weights(data, now, y, self.C)
            self.n_iter_ += 1
            shares[active] = now * weights / max((now * weights).max(), np.finfo(float).tiny)
            rounds[active] = self.n_iter_
            stay = shares[active] > _GONE
            change = np.abs(shares[active] * now.max() / now - 1.0)[stay]
            settled = stay.sum() <= size or (stay.all() and change.max() <= _SETTLED)
            active, data = active[stay], data[:, np.flatnonzero(stay)]
        rounds[active] = self.n_iter_ + 1
        return np.lexsort((levels(shares), -rounds)), shares


def _scaled(X, columns: np.ndarray, scales: np.ndarray):
    """Some columns, scaled, and without their means if dense: the machines do not see means."""
    if sp.issparse(X):
        return X[:, columns].astype(np.float64) @ sp.diags_array(scales)
    part = columns_of(X, columns)
    return (part - part.mean(axis=0)) * scales


def _machine_weights(data, scales: np.ndarray, codes: np.ndarray, C: float) -> np.ndarray:
    """Length of every feature's vector of weights, one for each class against the rest."""
    scaled = data @ sp.diags_array(scales) if sp.issparse(data) else data * scales
    kernel = scaled @ scaled.T
    kernel = kernel.toarray() if sp.issparse(kernel) else kernel
    n_classes = codes.max() + 1
    squares = np.zeros(len(scales))
    for k in range(n_classes if n_classes > 2 else 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough weight is good enough
            machine = SVC(C=C, kernel="precomputed", max_iter=_STEPS).fit(kernel, codes == k)
        duals = np.zeros(len(codes))
        duals[machine.support_] = machine.dual_coef_[0]
        squares += np.square(cross(data, duals))
    # Every round squares the scales: copies would drift apart by rounding that doubles.
    lengths = np.sqrt(squares)
    return scales * evened(lengths, unit=lengths.max())
