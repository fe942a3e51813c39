"""Outliers by leverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy.linalg

from columnist.data._parameters import Integer
from columnist.linalg._rounding import rank_floor
from columnist.robust._base import RowRemovalPCA, most_outlying
from columnist.robust._passes import in_slices
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._subspace import Subspace, moments_spectrum

# Rows of the sample that brackets medians, and how many standard deviations the bracket reaches.
_SAMPLE, _REACH = 40_000, 5.0


class LeverageOutliers(RowRemovalPCA):
    r"""Remove the rows with the largest leverage, then PCA.

    With :math:`X = USV^T` the leverage of row i is :math:`\sum_{j \le q} u_{ij}^2`: how much
    of the leading singular vectors that row alone explains. One decomposition, no
    iteration: the fastest method, and the least careful.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to remove: a number, or a fraction of the rows.
    n_vectors : int, optional
        Number q of singular vectors; as many as outliers if None. Never more than the rank.
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
        Leverages.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import LeverageOutliers
    >>> line = np.outer(np.arange(20.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = LeverageOutliers(1, n_outliers=1, n_vectors=2).fit(X)
    >>> found.outliers_, found.components_
    (array([20]), array([[0.6, 0.8]]))
    """

    _parameter_constraints = {"n_vectors": Integer(1) | None}
    _in_passes = True

    def __init__(
        self,
        n_components,
        *,
        n_outliers,
        n_vectors=None,
        centering="optimal",
        location="median",
        cutoff="cross-fitted",
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.location = location
        self.n_vectors = n_vectors

    def _outlyingness(self, X: np.ndarray, n_components: int, n_outliers: int) -> np.ndarray:
        U, sigma, _ = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
        return np.sum(U[:, : self._n_used(sigma, X.shape, n_outliers)] ** 2, axis=1)

    def _n_used(self, sigma: np.ndarray, shape: tuple[int, int], n_outliers: int) -> int:
        rank = np.count_nonzero(sigma > rank_floor(shape, sigma[0]))
        wanted = max(n_outliers, 1) if self.n_vectors is None else self.n_vectors
        return min(wanted, int(rank))

    def _find_rows(self, data: RowData) -> tuple[np.ndarray, Subspace]:
        if not data.many:  # one decomposition, which keeps the digits of small singular values
            return super()._find_rows(data)
        k, r = self._sizes(*data.shape)
        mean = given_mean(self.centering, data.moments.mean)
        centre = mean
        if centre is None:
            centre = column_medians(data) if self.location == "median" else data.moments.mean
        _, sigma, axes = moments_spectrum(data.moments, centre)
        used = self._n_used(sigma, data.shape, k)
        rate = partial(leverages, centre, axes[:used].T / sigma[:used])
        self.outlyingness_ = data.collect(partial(in_slices, rate))
        kept = data.without(most_outlying(self.outlyingness_, k), r, mean)
        return kept.removed, kept.subspace


def leverages(centre: np.ndarray, whitening: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Squared norms of the rows about a centre, after a linear map."""
    return np.square((rows - centre) @ whitening).sum(axis=1)


def bracketed(
    low: np.ndarray, high: np.ndarray, block: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Per column: how many entries are below, at, in and at the end of a bracket; those in it."""
    inside = (block > low) & (block < high)
    parts = (block < low, block == low, inside, (block == high) & (low < high))
    counts = np.array([np.count_nonzero(part, axis=0) for part in parts])
    columns = zip(block.T, inside.T, strict=True)
    return counts, [column[chosen].astype(np.float64) for column, chosen in columns]


def merged_brackets(parts: Sequence[tuple]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The same for all rows."""
    counts, between = zip(*parts, strict=True)
    columns = zip(*between, strict=True)
    return np.sum(counts, axis=0), [np.concatenate(column) for column in columns]


def column_medians(data: RowData) -> np.ndarray:
    """Median of every column, exact, in two passes. A sample brackets each median; one pass counts
    what lies below, and brings what lies between. A bracket that missed is opened, and the pass
    repeated."""
    n, p = data.shape
    ranks = (n - 1) // 2, n // 2
    some = np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False)
    rows = np.sort(data.rows(some), axis=0)
    away, middle = math.ceil(_REACH * math.sqrt(len(rows)) / 2.0), len(rows) // 2
    low, high = rows[max(middle - away, 0)], rows[min(middle + away, len(rows) - 1)]
    found = np.full(p, np.nan)
    while np.isnan(found).any():
        counts, between = data.fold(partial(bracketed, low, high), merged_brackets)
        for j in np.flatnonzero(np.isnan(found)):
            column = counts[:, j], np.sort(between[j]), low[j], high[j]
            found[j] = (_entry(ranks[0], *column) + _entry(ranks[1], *column)) / 2.0
        missed = np.isnan(found)
        low = np.where(missed, -np.inf, 0.0)
        high = np.where(missed, np.inf, 0.0)
    return found


def _entry(rank: int, counts: np.ndarray, between: np.ndarray, low: float, high: float) -> float:
    """The entry of a rank, or NaN if it lies outside the bracket."""
    edges = np.cumsum(counts)
    if rank < edges[0] or rank >= edges[3]:
        return np.nan
    if rank < edges[1]:
        return low
    return between[rank - edges[1]] if rank < edges[2] else high
