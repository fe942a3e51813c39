r"""Nearest neighbours, exact or approximate, as sparse graphs: of all samples, and by class.

Exact ones are looked for in pairs of blocks, among many features by :math:`\|a\|^2 + \|b\|^2 -
2a^Tb`. With rounding of at most e, the k nearest are among those within 2e of the k-th smallest;
the distances of these few are summed up from differences, and equal ones ordered by index, so that
neighbours do not depend on how the rows are cut into blocks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KDTree, NearestNeighbors
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import min_max_axis

from columnist.data._blocks import RowBlocks, as_rows
from columnist.data._parameters import StrOptions, checked
from columnist.linalg._column_parts import Visit
from columnist.linalg._threads import Threads
from columnist.spectral._edges import NearestByClass, edge_sums, sparse_edge_sums

_EPS = np.finfo(np.float64).eps
# Links of a sample in an approximate search, and candidates it keeps: nearly all true neighbours
# are found.
_LINKS, _CANDIDATES = 32, 80
# Rows whose neighbours are looked for together.
_ROWS = 1024
# Distances that exist at the same time, and entries of differences, which stay in a cache.
_BLOCK, _CACHED = 2**21, 2**17
# Up to this many features a tree finds neighbours faster.
_FEW_FEATURES = 15
# From so many features on, or if they are sparse, and up to so many rows (256 MB), all products
# of a block with itself cost less at once.
_MANY_FEATURES, _MOST_BY_GRAM = 500, 5792
# Groups of distances whose least ones are compared first.
_GROUPS = 64
# Distances that agree in so many binary digits of the largest possible one count as equal.
_DIGITS = 40
# Samples that meet in one call of the kernel: between two calls a run can be interrupted.
_STEP = 1024
# Fewer samples per thread are not worth one.
_PER_THREAD = 256


@checked()
def neighbor_distances(
    X, n_neighbors: int, neighbors="exact", n_jobs: int | None = None
) -> sp.csr_matrix:
    """Distances to the nearest neighbours, in rows; a sample is no neighbour of itself. A zero
    distance, to an equal sample, is stored. Among neighbours at the same distance the first in X is
    nearer. All searches but the exact one gather blocks."""
    rows, n = as_rows(X), X.shape[0]
    if n_neighbors >= n:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {n_neighbors} samples; "
            f"n_samples = {n}. Ask for fewer neighbours."
        )
    if hasattr(neighbors, "fit_transform"):
        found = sp.csr_matrix(neighbors.fit_transform(rows.gather()), dtype=np.float64).tocoo()
        return _without_self(found.row, found.col, found.data, n)
    StrOptions("exact", "approximate").check("neighbors", neighbors)
    if neighbors == "approximate":
        return _approximate(rows.gather(), n_neighbors, n_jobs)
    return _exact(rows, n_neighbors, n_jobs)


def _exact(X: RowBlocks, n_neighbors: int, n_jobs: int | None) -> sp.csr_matrix:
    merge = partial(_nearest_of_all, n_neighbors=n_neighbors)
    found = _below(X.against(Visit(nearest_rows, n_neighbors, n_jobs), merge))
    n = X.shape[0]
    indptr = np.arange(0, n * n_neighbors + 1, n_neighbors)
    distances = np.sqrt(found.squares.ravel())
    return sp.csr_matrix((distances, found.rows.ravel(), indptr), shape=(n, n))


class Nearest(NamedTuple):
    """Neighbours of some rows, nearest first: squared distances, and which rows they are."""

    squares: np.ndarray
    rows: np.ndarray


def nearest_rows(A, B, i: int, j: int, n_neighbors: int, n_jobs: int | None) -> Nearest:
    """Neighbours of the rows of a block, which begins with row i, in another one, from row j on."""
    own = i == j and A.shape == B.shape
    count = min(n_neighbors, B.shape[0] - own)
    if not A.shape[0] or count < 1:
        return Nearest(*np.empty((2, A.shape[0], 0)))
    search = _kind(A, own)(A, B, own, count)
    parts = list(_pieces(A.shape[0], _ROWS))
    found = _below(_each(search.nearest, [parts], _threads(n_jobs, len(parts))))
    return Nearest(found.squares, found.rows + j)


def _nearest_of_all(parts: Sequence[Nearest], n_neighbors: int) -> Nearest:
    """The nearest of neighbours found in several blocks, of which earlier ones come first."""
    if len(parts) == 1:
        return parts[0]
    squares, rows = map(np.hstack, zip(*parts, strict=True))
    first = np.lexsort((rows, squares))[:, :n_neighbors]
    return Nearest(np.take_along_axis(squares, first, 1), np.take_along_axis(rows, first, 1))


def _below(parts: Sequence[Nearest]) -> Nearest:
    """Neighbours of the rows of all parts, one after the other."""
    width = max(part.rows.shape[1] for part in parts)
    parts = [part for part in parts if part.rows.shape[1] == width]  # others have no rows
    squares, rows = map(np.vstack, zip(*parts, strict=True))
    return Nearest(squares, rows.astype(np.int64))


class _Search:
    """Looks for neighbours of some rows of A in B; a subclass finds candidates."""

    def __init__(self, A, B, own: bool, count: int):
        self.own, self.count, self.wanted = own, count, count + own
        self.A = _by_rows(A)
        self.B = self.A if own else _by_rows(B)

    def _query(self, rows: slice, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances to the nearest rows, ascending, and which rows these are."""
        raise NotImplementedError

    def _slack(self, rows: slice, kth: np.ndarray) -> np.ndarray:
        """How far beyond the k-th a row may seem and still be as near."""
        raise NotImplementedError

    def _within(self, rows: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs within a limit."""
        raise NotImplementedError

    def nearest(self, rows: slice) -> Nearest:
        """Neighbours of some rows of A."""
        n = rows.stop - rows.start
        r, c = self._candidates(rows)
        if self.own:
            other = r + rows.start != c
            r, c = r[other], c[other]
        squares = self._exact(r + rows.start, c)
        order = np.lexsort((c, squares, r))
        r = r[order]
        sizes = np.bincount(r, minlength=n)
        kept = order[np.arange(len(r)) - (np.cumsum(sizes) - sizes)[r] < self.count]
        return Nearest(squares[kept].reshape(n, -1), c[kept].reshape(n, -1))

    def _candidates(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Pairs that may be near: the nearest, and all others that may be as near as the last."""
        squares, near = self._query(rows, min(self.wanted + 1, self.B.shape[0]))
        kth = squares[:, self.wanted - 1]
        limits = kth + self._slack(rows, kth)
        tied = squares[:, -1] <= limits
        alone, tied = np.flatnonzero(~tied), np.flatnonzero(tied)
        r, c = self._within(rows.start + tied, limits[tied])
        return (
            np.concatenate([np.repeat(alone, self.wanted), tied[r]]),
            np.concatenate([near[alone, : self.wanted].ravel(), c]),
        )

    def _exact(self, r: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Squared distances of pairs of rows, from their differences."""
        entries = self.A.size // self.A.shape[0]  # of a sparse row on average
        squares, height = np.empty(len(r)), max(1, _CACHED // max(entries, 1))
        for pairs in _pieces(len(r), height):
            squares[pairs] = row_norms(self.A[r[pairs]] - self.B[c[pairs]], squared=True)
        return squares


class _Products(_Search):
    """By inner products, which rounding blurs, in scikit-learn's search."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.a, self.b = self.A, self.B
        if not sp.issparse(B):
            # Distances do not change with the origin, but their rounding does.
            origin = self.B.mean(axis=0)
            self.a = self.A - origin
            self.b = self.a if own else self.B - origin
        self.lengths = row_norms(self.a, squared=True)
        self.longest = float(row_norms(self.b, squared=True).max())

    def _slack(self, rows: slice, kth: np.ndarray) -> np.ndarray:
        return 2.0 * (self.A.shape[1] + 12) * _EPS * (self.lengths[rows] + self.longest)

    def _query(self, rows: slice, count: int) -> tuple[np.ndarray, np.ndarray]:
        search = NearestNeighbors(algorithm="brute").fit(self.b)
        distances, near = search.kneighbors(self.a[rows], count)
        return distances**2, near

    def _within(self, rows: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pairs = [np.empty((2, 0), dtype=np.intp)]
        for some in _pieces(len(rows), max(1, _BLOCK // self.B.shape[0])):
            squares = euclidean_distances(self.a[rows[some]], self.b, squared=True)
            r, c = np.divmod(np.flatnonzero(squares <= limits[some, None]), squares.shape[1])
            pairs.append(np.array([r + some.start, c]))
        r, c = np.hstack(pairs)
        return r, c


class _Gram(_Products):
    """By all inner products of a block with itself at once: every pair is computed once."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.squares = euclidean_distances(self.a, squared=True)

    def _candidates(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        squares, n = self.squares[rows], len(self.squares)
        # The k-th of the least squares of some groups is no less than the k-th of all.
        groups = min(n, max(_GROUPS, 4 * self.wanted))
        least = squares[:, : n - n % groups].reshape(len(squares), -1, groups).min(axis=1)
        kth = np.partition(least, self.wanted - 1, axis=1)[:, self.wanted - 1]
        near = squares <= (kth + self._slack(rows, kth))[:, None]
        return np.divmod(np.flatnonzero(near), n)


class _Tree(_Search):
    """By a tree of the rows of B, for few features."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.tree = KDTree(self.B)

    def _query(self, rows: slice, count: int) -> tuple[np.ndarray, np.ndarray]:
        distances, near = self.tree.query(self.A[rows], count)
        return distances**2, near

    def _slack(self, rows: slice, kth: np.ndarray) -> np.ndarray:
        return 20.0 * self.A.shape[1] * _EPS * kth

    def _within(self, rows: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not len(rows):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        found = self.tree.query_radius(self.A[rows], np.sqrt(limits))
        return np.repeat(np.arange(len(rows)), [len(near) for near in found]), np.concatenate(found)


def _approximate(X, n_neighbors: int, n_jobs: int | None) -> sp.csr_matrix:
    """Neighbours found by walking along a hierarchy of small-world graphs."""
    try:
        with warnings.catch_warnings():  # about how it was built, which is nothing for users
            warnings.simplefilter("ignore", DeprecationWarning)
            import faiss
    except ImportError:
        raise ImportError(
            "neighbors='approximate' needs the package faiss-cpu: "
            "pip install 'columnist[neighbors]', or use neighbors='exact'."
        ) from None
    if sp.issparse(X):
        raise ValueError("neighbors='approximate' needs dense X; use neighbors='exact'.")
    n = X.shape[0]
    X = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(effective_n_jobs(n_jobs))
    try:
        index = faiss.IndexHNSWFlat(X.shape[1], _LINKS)
        index.hnsw.efConstruction = index.hnsw.efSearch = max(_CANDIDATES, 4 * n_neighbors)
        index.add(X)
        squares, near = index.search(X, n_neighbors + 1)
    finally:
        faiss.omp_set_num_threads(before)
    distances = np.sqrt(np.maximum(squares, 0.0), dtype=np.float64)
    return _without_self(np.repeat(np.arange(n), near.shape[1]), near.ravel(), distances.ravel(), n)


def _without_self(
    rows: np.ndarray, columns: np.ndarray, distances: np.ndarray, n: int
) -> sp.csr_matrix:
    """The graph without distances of samples to themselves; a column of -1 stands for none."""
    other = (columns >= 0) & (columns != rows)
    return sp.csr_matrix((distances[other], (rows[other], columns[other])), shape=(n, n))


def _kind(A, own: bool) -> type[_Search]:
    """The search that costs least."""
    n, m = A.shape
    if not sp.issparse(A) and m <= _FEW_FEATURES:
        return _Tree
    dear = sp.issparse(A) or m >= _MANY_FEATURES
    return _Gram if own and dear and n <= _MOST_BY_GRAM else _Products


def _by_rows(X):
    X = X.tocsr() if sp.issparse(X) else X
    return X.astype(np.float64, copy=False)


def _pieces(n: int, height: int) -> Iterator[slice]:
    return (slice(start, min(start + height, n)) for start in range(0, n, height))


def _scale_of(X: np.ndarray | sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Origin of every feature, and 1 / its range; 0 for a constant feature. The origin is the
    smallest value, which keeps the digits of features far from zero. A sparse feature that is zero
    somewhere keeps its origin, and its zeros."""
    if sp.issparse(X):
        low, high = min_max_axis(X, axis=0)
        filled = np.bincount(X.indices[X.data != 0.0], minlength=X.shape[1]) == X.shape[0]
    else:
        low, high, filled = X.min(axis=0), X.max(axis=0), True
    spread = high.astype(np.float64) - low
    varies = spread >= np.finfo(np.float64).tiny
    scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=varies)
    return np.where(filled, low, 0.0).astype(np.float64), scale


def neighbor_graph(
    X, codes: np.ndarray, n_neighbors: int, weights: np.ndarray, *, n_jobs: int | None = None
) -> sp.csr_matrix:
    r"""Graph from every sample to its nearest samples of every class; in general not symmetric.
    Distances are :math:`\sum_f |x_f - y_f| / r_f` with the range :math:`r_f`; the first of equally
    near samples is nearer, and a small class is near as a whole. ``weights[a, b]`` is that from a
    sample of class a to all its neighbours of class b together."""
    X = _contiguous(X)
    low, scale = _scale_of(X)
    n, sizes = len(codes), np.bincount(codes)
    order, starts = np.argsort(codes, kind="stable"), np.append(0, np.cumsum(sizes))
    nearest = NearestByClass(X, low, scale, order, starts, min(n_neighbors, n), _grid(X, scale))
    threads = _threads(n_jobs, n // _PER_THREAD)
    _each(lambda ranges: nearest.meet(*ranges), _meetings(n, threads), threads)
    there = nearest.positions < n
    rows, columns = np.repeat(order, there.sum(axis=1)), order[nearest.positions[there]]
    counts = np.minimum(n_neighbors, sizes - np.eye(len(sizes), dtype=int))
    values = (weights / counts)[codes[rows], codes[columns]]
    graph = sp.csr_matrix((values, (rows, columns)), shape=(n, n))
    graph.sort_indices()  # sums over the graph do not depend on how it was found
    return graph


def relative_differences(X, graph: sp.csr_matrix, *, n_jobs: int | None = None) -> np.ndarray:
    r"""Sum over the edges of :math:`w_{ij} |x_i - x_j| / r`, for every feature; NaN if constant."""
    X = _contiguous(X)
    low, scale = _scale_of(X)
    edges = graph.indptr, graph.indices, graph.data
    if sp.issparse(X):
        rows = X.indptr.astype(np.intp), X.indices.astype(np.int32, copy=False)
        sums = sparse_edge_sums(*edges, *rows, X.data - low[X.indices], X.shape[1])
    else:
        threads = _threads(n_jobs, X.shape[1])
        cuts = np.linspace(0, X.shape[1], threads + 1).astype(int)
        parts = [X[:, first:stop] for first, stop in pairwise(cuts)]
        sums = np.concatenate(_each(lambda part: edge_sums(*edges, part), [parts], threads))
    return np.where(scale > 0.0, sums * scale, np.nan)


def _contiguous(X):
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)


def _grid(X, scale: np.ndarray) -> float:
    """Distances on the same point of a grid this fine are equal but for rounding."""
    largest = max(1, int(np.count_nonzero(scale)))
    if sp.issparse(X):
        largest = min(largest, 2 * int(np.diff(X.indptr).max(initial=1)))
    return 2.0 ** (np.ceil(np.log2(largest)) - _DIGITS)


def _threads(n_jobs: int | None, most: int) -> int:
    return max(1, min(effective_n_jobs(n_jobs), most))


def _each(work: Callable, rounds: Iterable[list], threads: int) -> list:
    """Results of all rounds, each done before the next."""
    with Threads(threads) as workers:
        return [result for tasks in rounds for result in workers.map(work, tasks)]


def _meetings(n: int, threads: int) -> Iterator[list[tuple[int, int, int, int]]]:
    """Rounds of pairs of ranges without a sample in common; every two samples meet once."""
    least = max(-(-n // _STEP), 2 * threads if threads > 1 else 1)
    count = least + least % 2 if least > 1 else 1
    cuts = np.linspace(0, n, count + 1).astype(int).tolist()
    ranges = list(pairwise(cuts))
    yield [one + one for one in ranges]
    for turn in range(count - 1):
        # A round-robin tournament: the first stays, the others walk around the table.
        seats = [ranges[0], *(ranges[1 + (turn + k) % (count - 1)] for k in range(count - 1))]
        yield [seats[k] + seats[-1 - k] for k in range(count // 2)]
