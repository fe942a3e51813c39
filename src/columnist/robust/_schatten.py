"""Greedy removal of outliers under Schatten quasi-norms."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.data._parameters import Number
from columnist.robust._base import WholeRowsPCA, resolve_components, resolve_outliers
from columnist.robust._cutoffs import Cutoffs
from columnist.robust._removal import remove_rows
from columnist.robust._row_data import Measured, RowData
from columnist.robust._subspace import Subspace, fit_subspace, rounding_size

__all__ = ["SchattenPCA", "apparent_rank"]


class SchattenPCA(WholeRowsPCA):
    r"""Remove rows one by one until the others are of low rank, then PCA [1]_.

    At each step goes the row without which

    .. math:: \sum_j \sigma_j^p

    is smallest, :math:`\sigma` the singular values of the rows left. For small p the sum is
    almost their rank, so neither the number of components nor the size of the outliers
    matters: a row that leaves the subspace by little costs a dimension like one far away.
    It works best on data without noise; with noise p trades one against the other.

    ``n_outliers`` need only be large enough. When so many rows are out, those within the
    orthogonal cut-off of the others' subspace return.

    Parameters
    ----------
    n_outliers : int or float
        Rows to remove at most: a number, or a fraction of the rows.
    p : float, default=0.1
        Exponent, above 0 and at most 1.
    n_components : int, optional
        Dimension of the subspace. None: the rank of the rows left if they are exactly of low
        rank, otherwise the largest ratio of neighbouring singular values tells
        (see :func:`apparent_rank`).
    centering : {"optimal", "mean", "none"}, default="optimal"
        Where the subspace passes: through the mean of the kept rows, at every step; through
        the mean of all rows; or through the origin.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances, and which rows return.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed for good, ascending.
    removal_order_ : ndarray of int
        All rows removed at first, in this order.
    schatten_path_ : ndarray
        The sum before and after each of these removals.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    References
    ----------
    .. [1] K. Xu. Feature engineering for data analytics. Dissertation, University of
       Texas at Dallas, 2017, section 8.3.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import SchattenPCA
    >>> line = np.outer(np.arange(20.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = SchattenPCA(3).fit(X)
    >>> found.outliers_, found.components_
    (array([20]), array([[0.6, 0.8]]))
    >>> found.removal_order_, found.schatten_path_.round(2)
    (array([20,  0,  1]), array([3.09, 1.63, 1.61, 1.6 ]))
    """

    _parameter_constraints = {"p": Number(0.0, 1.0, above=True)}

    def __init__(
        self,
        n_outliers,
        *,
        p=0.1,
        n_components=None,
        centering="optimal",
        cutoff="cross-fitted",
    ):
        self.n_outliers = n_outliers
        self.p = p
        self.n_components = n_components
        self.centering = centering
        self.cutoff = cutoff

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        k = resolve_outliers(self.n_outliers, len(X))
        if self.n_components is not None:
            resolve_components(self.n_components, len(X) - k, X.shape[1])
        mean = self._mean(X)
        found = remove_rows(X, k, self.p, mean=mean)
        self.removal_order_ = found.order
        self.schatten_path_ = found.sums * self._unit**self.p
        kept = np.delete(X, found.order, axis=0)
        r = apparent_rank(kept, mean) if self.n_components is None else self.n_components
        first = fit_subspace(kept, r, mean)
        distances = first.orthogonal_distances(X[found.order])
        outliers = found.order[distances > self._kept_cutoffs(kept, first).orthogonal]
        return outliers, fit_subspace(np.delete(X, outliers, axis=0), r, mean)

    def _mean(self, X: np.ndarray) -> np.ndarray | None:
        """The point the subspace must contain; None if it is free."""
        if self.centering == "optimal":
            return None
        return X.mean(axis=0) if self.centering == "mean" else np.zeros(X.shape[1])

    def _cutoffs(
        self, data: RowData, outliers: np.ndarray, subspace: Subspace, measured: Measured
    ) -> Cutoffs:
        return self._kept_cutoffs(np.delete(data.array(), outliers, axis=0), subspace)

    def _kept_cutoffs(self, kept: np.ndarray, subspace: Subspace) -> Cutoffs:
        """Cut-offs from the kept rows alone: the others may be the majority."""
        rows, nothing = RowData(kept), np.array([], dtype=np.intp)
        return rows.cutoffs(subspace, nothing, rows.measure(subspace), self.cutoff)


def apparent_rank(X: np.ndarray, mean: np.ndarray | None = None) -> int:
    r"""Dimension of the subspace that rows lie on or near; at least 1.

    If singular values vanish (to rounding), the number of the others. If none does, the i
    with the largest :math:`\sigma_i / \sigma_{i+1}` in the first three quarters: the last
    singular values of noise may differ by any factor. No input validation.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    mean : ndarray of shape (p,), optional
        A point of the subspace; without it the mean of the rows.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust._schatten import apparent_rank
    >>> apparent_rank(np.diag([8.0, 7.0, 0.5, 0.4]), np.zeros(4))
    2
    """
    n, p = X.shape
    centre = X.mean(axis=0) if mean is None else mean
    sigma = scipy.linalg.svdvals(X - centre, check_finite=False)[: min(n - (mean is None), p)]
    rank = np.count_nonzero(sigma > rounding_size(sigma, X.shape, centre))
    if rank < max(len(sigma), 2):
        return max(int(rank), 1)
    last = min(-(-3 * rank // 4), rank - 1)
    return 1 + int(np.argmax(sigma[:last] / sigma[1 : last + 1]))
