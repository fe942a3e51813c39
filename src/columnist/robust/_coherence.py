"""Coherence pursuit: outliers resemble nobody."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import StrOptions
from columnist.robust._base import RowRemovalPCA

# Inner products held at a time: 32 MB.
_BLOCK = 2**22


class CoherencePursuit(RowRemovalPCA):
    r"""Remove the rows least coherent with the others, then PCA [1]_.

    With rows scaled to length one and :math:`G = UU^T` their cosines, the coherence of row i
    is :math:`\sum_{j \ne i} g_{ij}^2` (or of :math:`|g_{ij}|`). Rows near a common
    low-dimensional subspace support one another; scattered outliers support nobody. Not
    iterative. A zero row has coherence 0.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to remove: a number, or a fraction of the rows.
    norm : {"l2", "l1"}, default="l2"
        Sum of squared or of absolute cosines. "l2" needs no n x n matrix and costs
        :math:`np\min(n, p)` operations; "l1" costs :math:`n^2p`.
    centering : {"optimal", "mean", "none"}, default="optimal"
        What the components are about: the mean of the kept rows, that of all rows, or the origin.
    location : {"median", "mean"}, default="median"
        With ``centering="optimal"``: the centre from which rows are rated, before it is known
        which are kept. Outliers move a mean.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed, ascending.
    outlyingness_ : ndarray of shape (n_samples,)
        Minus the coherences.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    References
    ----------
    .. [1] M. Rahmani, G. Atia. Coherence pursuit: fast, simple, and robust principal
       component analysis. IEEE Transactions on Signal Processing, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import CoherencePursuit
    >>> line = np.outer(np.arange(1.0, 21.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = CoherencePursuit(1, n_outliers=1, centering="none").fit(X)
    >>> found.outliers_, found.components_
    (array([20]), array([[0.6, 0.8]]))
    """

    _parameter_constraints = {"norm": StrOptions("l2", "l1")}

    def __init__(
        self,
        n_components,
        *,
        n_outliers,
        norm="l2",
        centering="optimal",
        location="median",
        cutoff="cross-fitted",
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.location = location
        self.norm = norm

    def _outlyingness(self, X: np.ndarray, n_components: int, n_outliers: int) -> np.ndarray:
        lengths = np.linalg.norm(X, axis=1)
        units = X / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        return (lengths > 0.0) - _support(units, self.norm)


def _support(units: np.ndarray, norm: str) -> np.ndarray:
    """Sums of squared or absolute inner products of every row with all rows, itself included."""
    n, p = units.shape
    if norm == "l2" and p <= n:
        return np.einsum("ij,ij->i", units @ (units.T @ units), units)
    sums = np.empty(n)
    height = max(1, _BLOCK // n)
    for start in range(0, n, height):
        cosines = units[start : start + height] @ units.T
        cosines = np.square(cosines) if norm == "l2" else np.abs(cosines)
        sums[start : start + height] = cosines.sum(axis=1)
    return sums
