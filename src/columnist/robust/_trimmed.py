"""Trimmed PCA: fit, drop the farthest rows, fit again."""

from __future__ import annotations

import numpy as np

from columnist.robust._base import BaseRobustPCA
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._subspace import Subspace, subspace_of_moments


class TrimmedPCA(BaseRobustPCA):
    """PCA of all rows, then of all but the farthest, until nothing changes.

    Every step fits a subspace to the kept rows and then keeps the rows nearest to it. Both
    lower the sum of squared distances, so the iteration ends, in a local optimum that
    depends on where it began: here, with all rows.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to remove: a number, or a fraction of the rows.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Where the subspace passes: through the mean of the kept rows, found with them; through
        the mean of all rows; or through the origin.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed, ascending.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import TrimmedPCA
    >>> line = np.outer(np.arange(20.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = TrimmedPCA(1, n_outliers=1).fit(X)
    >>> found.outliers_, found.components_
    (array([20]), array([[0.6, 0.8]]))
    """

    _in_passes = True

    def __init__(self, n_components, *, n_outliers, centering="optimal", cutoff="cross-fitted"):
        self._set_rows(n_components, n_outliers, centering, cutoff)

    def _find_rows(self, data: RowData) -> tuple[np.ndarray, Subspace]:
        k, r = self._sizes(*data.shape)
        mean = given_mean(self.centering, data.moments.mean)
        kept = data.descend([subspace_of_moments(data.moments, r, mean)], k, mean)
        return kept.removed, kept.subspace
