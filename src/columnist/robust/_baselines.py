"""Robust PCA without a proof: trimming, leverage, coherence, randomised removal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy.linalg

from columnist.data._parameters import Integer, StrOptions
from columnist.data._validation import random_generator
from columnist.linalg._rounding import rank_floor
from columnist.robust._base import BaseRobustPCA, CenteredPCA, RowRemovalPCA, most_outlying
from columnist.robust._passes import in_slices
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._subspace import (
    Subspace,
    moments_spectrum,
    principal_axes,
    subspace_of_moments,
)

# Rows of the sample that brackets medians, and how many standard deviations the bracket reaches.
_SAMPLE, _REACH = 40_000, 5.0
# Inner products held at a time: 32 MB.
_BLOCK = 2**22


class TrimmedPCA(BaseRobustPCA):
    """Alternate between PCA and removing the farthest rows until nothing changes.

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
        Point through which the subspace passes: the mean of the kept rows, found with them; the
        mean of all rows; or the origin.
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


class LeverageOutliers(RowRemovalPCA):
    r"""Remove the rows with the largest leverage, then fit PCA.

    With :math:`X = USV^T` the leverage of row i is :math:`\sum_{j \le q} u_{ij}^2`: how much
    of the leading singular vectors that row alone explains. One decomposition, no
    iteration: the fastest method, and the least accurate.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to remove: a number, or a fraction of the rows.
    n_vectors : int, optional
        Number q of singular vectors; as many as outliers if None. Never more than the rank.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Centre of the components: the mean of the kept rows, that of all rows, or the origin.
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


class CoherencePursuit(RowRemovalPCA):
    r"""Remove the rows least coherent with the others, then fit PCA [1]_.

    With rows scaled to length one and :math:`G = UU^T` their cosines, the coherence of row i
    is :math:`\sum_{j \ne i} g_{ij}^2` (or of :math:`|g_{ij}|`). Rows near a common
    low-dimensional subspace support one another; scattered outliers have no such support. Not
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
        Centre of the components: the mean of the kept rows, that of all rows, or the origin.
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


class HRPCA(CenteredPCA):
    r"""High-dimensional robust PCA after Xu, Caramanis and Mannor [1]_.

    Repeat: PCA of the surviving rows; drop one of them at random, with probability proportional to
    its squared length within that subspace. Of all these subspaces, the one with the largest
    trimmed variance is returned, :math:`\sum_j \frac1n \sum_{i \le n-k} |v_j^Tx|^2_{(i)}`, the sum
    of the n - k smallest squared coordinates of all n rows along each axis. Outliers either matter
    little to the variance or are likely to be dropped.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to drop: a number, or a fraction of the rows.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Centre of the components: the mean of the kept rows, that of all rows, or the origin.
    location : {"median", "mean"}, default="median"
        With ``centering="optimal"``: the centre from which rows are rated, before it is known
        which are kept. Outliers move a mean.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows to drop. Pass an int for repeatable results.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    outliers_ : ndarray of int
        The ``n_outliers`` rows farthest from the winning subspace, ascending.
    outlyingness_ : ndarray of shape (n_samples,)
        Distances from it, before its mean moves to that of the kept rows.
    trimmed_variance_ : float
        The winner's.
    mean_, components_, explained_variance_ : ndarrays
        The winning subspace, through the mean of the kept rows (the origin without centring).
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    Notes
    -----
    The method has two parameters: the number of rows to remove, and the number of smallest
    squares in the trimmed variance. Here, ``n_outliers`` sets both (k and n - k), and centring
    is an addition. The implementation was not compared with that of the authors. The guarantees
    hold for about as many features as rows. On small data, the method is a baseline: hardly
    better than PCA for scattered outliers, and only sometimes better for clusters of outliers.

    References
    ----------
    .. [1] H. Xu, C. Caramanis, S. Mannor. Outlier-robust PCA: the high-dimensional case. IEEE
       Transactions on Information Theory, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import HRPCA
    >>> line = np.outer(np.arange(-10.0, 11.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = HRPCA(1, n_outliers=1, centering="none", random_state=0).fit(X)
    >>> found.outliers_
    array([21])
    """

    def __init__(
        self,
        n_components,
        *,
        n_outliers,
        centering="optimal",
        location="median",
        random_state=None,
        cutoff="cross-fitted",
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.location = location
        self.random_state = random_state

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        k, r = self._sizes(*X.shape)
        Z = self._centered(X)
        coordinates, rotation = _rotated(Z)
        rng = random_generator(self.random_state)
        best, variance = _random_removal(coordinates, r, k, rng)
        axes = best @ rotation
        distances = np.linalg.norm(Z - (Z @ axes.T) @ axes, axis=1)
        self.trimmed_variance_ = variance * self._unit**2
        self.outlyingness_ = distances * self._unit
        outliers = most_outlying(distances, k)
        kept = np.delete(X, outliers, axis=0)
        given = given_mean(self.centering, X.mean(axis=0))
        mean = kept.mean(axis=0) if given is None else given
        return outliers, principal_axes(kept, axes, mean, given is None)


def _rotated(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X as coordinates @ axes with no more columns than rows."""
    n, p = X.shape
    if p <= n:
        return X, np.eye(p)
    Q, R = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
    return R.T, Q.T


def _random_removal(
    X: np.ndarray, r: int, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The axes with the largest trimmed variance among those met, and that variance."""
    n, p = X.shape
    alive = np.ones(n)
    moment = X.T @ X
    best, largest = np.eye(r, p), -np.inf
    for _ in range(k + 1):
        _, vectors = scipy.linalg.eigh(moment, subset_by_index=[p - r, p - 1], check_finite=False)
        squares = (X @ vectors) ** 2
        variance = float(np.partition(squares, n - k - 1, axis=0)[: n - k].sum()) / n
        if variance > largest:
            best, largest = vectors.T[::-1], variance
        weights = squares.sum(axis=1) * alive
        weights = weights if weights.any() else alive
        dropped = rng.choice(n, p=weights / weights.sum())
        alive[dropped] = 0.0
        moment -= np.outer(X[dropped], X[dropped])
    return best, largest
