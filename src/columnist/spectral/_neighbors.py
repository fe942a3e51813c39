r"""Nearest neighbours, exact or approximate, as a sparse graph of distances.

Exact neighbours are looked for in pairs of blocks. Among many features, squared distances come
from inner products, :math:`\|a\|^2 + \|b\|^2 - 2a^Tb`, which rounding blurs. They only tell who may
be near: with an error of at most e, the k nearest are among those within 2e of the k-th smallest.
The distances of these few are summed up from differences, and equal ones ordered by index, so
that neighbours do not depend on how the rows are cut into blocks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KDTree, NearestNeighbors

from columnist.data._blocks import RowBlocks, as_rows
from columnist.data._parameters import StrOptions, checked

__all__ = ["NearestVisit", "neighbor_distances"]

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


@checked()
def neighbor_distances(
    X, n_neighbors: int, neighbors="exact", n_jobs: int | None = None
) -> sp.csr_matrix:
    """Distances to the nearest neighbours, in rows; a sample is no neighbour of itself.

    A zero distance, to an equal sample, is stored. Among neighbours at the same distance the
    first in X is nearer.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowBlocks of shape (n_samples, n_features)
        Data.
    n_neighbors : int
        Neighbours of every sample.
    neighbors : {"exact", "approximate"} or transformer
        Who looks for them; all but the first one gather blocks.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._neighbors import neighbor_distances
    >>> neighbor_distances(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    rows, n = as_rows(X), X.shape[0]
    if n_neighbors >= n:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {n_neighbors} samples; "
            f"n_samples = {n}. Ask for fewer neighbours."
        )
    if hasattr(neighbors, "fit_transform"):
        found = neighbors.fit_transform(rows.gather())
        return _without_self(sp.csr_matrix(found, dtype=np.float64), n)
    StrOptions("exact", "approximate").check("neighbors", neighbors)
    if neighbors == "approximate":
        return _approximate(rows.gather(), n_neighbors, n_jobs)
    return _exact(rows, n_neighbors, n_jobs)


def _exact(X: RowBlocks, n_neighbors: int, n_jobs: int | None) -> sp.csr_matrix:
    visit = NearestVisit(n_neighbors, n_jobs)
    found = _below(X.against(visit, _Merge(n_neighbors)))
    n = X.shape[0]
    indptr = np.arange(0, n * n_neighbors + 1, n_neighbors)
    distances = np.sqrt(found.squares.ravel())
    return sp.csr_matrix((distances, found.rows.ravel(), indptr), shape=(n, n))


@dataclass(frozen=True)
class Nearest:
    """Neighbours of some rows, nearest first: squared distances, and which rows they are."""

    squares: np.ndarray
    rows: np.ndarray


class NearestVisit:
    """Neighbours of the rows of a block in another one."""

    def __init__(self, n_neighbors: int, n_jobs: int | None = None):
        self.n_neighbors, self.n_jobs = n_neighbors, n_jobs

    def __call__(self, A, B, i: int, j: int) -> Nearest:
        own = i == j and A.shape == B.shape
        count = min(self.n_neighbors, B.shape[0] - own)
        if not A.shape[0] or count < 1:
            return Nearest(*np.empty((2, A.shape[0], 0)))
        search = _kind(A, own)(A, B, own, count)
        parts = list(_pieces(A.shape[0], _ROWS))
        if len(parts) > 1 and effective_n_jobs(self.n_jobs) > 1:
            threads = Parallel(self.n_jobs, prefer="threads")
            found = _below(threads(delayed(search.nearest)(rows) for rows in parts))
        else:
            found = _below([search.nearest(rows) for rows in parts])
        return Nearest(found.squares, found.rows + j)

    def operations(self, A, B, i, j) -> float:
        """Multiplications of all inner products."""
        entries = A.nnz / max(A.shape[0], 1) if sp.issparse(A) else A.shape[1]
        return float(A.shape[0]) * B.shape[0] * entries


class _Merge:
    """The nearest of neighbours found in several blocks, of which earlier ones come first."""

    def __init__(self, n_neighbors: int):
        self.n_neighbors = n_neighbors

    def __call__(self, parts: Sequence[Nearest]) -> Nearest:
        if len(parts) == 1:
            return parts[0]
        squares = np.hstack([part.squares for part in parts])
        rows = np.hstack([part.rows for part in parts])
        first = np.lexsort((rows, squares))[:, : self.n_neighbors]
        return Nearest(np.take_along_axis(squares, first, 1), np.take_along_axis(rows, first, 1))


def _below(parts: Sequence[Nearest]) -> Nearest:
    """Neighbours of the rows of all parts, one after the other."""
    width = max(part.rows.shape[1] for part in parts)
    parts = [part for part in parts if part.rows.shape[1] == width]  # others have no rows
    return Nearest(
        np.vstack([part.squares for part in parts]),
        np.vstack([part.rows for part in parts]).astype(np.int64),
    )


class _Search:
    """What looks for neighbours of some rows of A in B.

    A subclass finds candidates: by these three, or in its own way.
    """

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
            squares[pairs] = _row_squares(self.A[r[pairs]] - self.B[c[pairs]])
        return squares


class _Blurred(_Search):
    """By inner products, which rounding blurs."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.a, self.b = self.A, self.B
        if not sp.issparse(B):
            # Distances do not change with the origin, but their rounding does.
            origin = self.B.mean(axis=0)
            self.a = self.A - origin
            self.b = self.a if own else self.B - origin
        self.lengths = _row_squares(self.a)
        self.longest = float(_row_squares(self.b).max())

    def _slack(self, rows: slice, kth: np.ndarray) -> np.ndarray:
        return 2.0 * (self.A.shape[1] + 12) * _EPS * (self.lengths[rows] + self.longest)


class _Products(_Blurred):
    """By scikit-learn's search."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.search = NearestNeighbors(algorithm="brute").fit(self.b)

    def _query(self, rows: slice, count: int) -> tuple[np.ndarray, np.ndarray]:
        distances, near = self.search.kneighbors(self.a[rows], count)
        return distances**2, near

    def _within(self, rows: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pairs = [np.empty((2, 0), dtype=np.intp)]
        for some in _pieces(len(rows), max(1, _BLOCK // self.B.shape[0])):
            squares = euclidean_distances(self.a[rows[some]], self.b, squared=True)
            r, c = np.divmod(np.flatnonzero(squares <= limits[some, None]), squares.shape[1])
            pairs.append(np.array([r + some.start, c]))
        r, c = np.hstack(pairs)
        return r, c


class _Gram(_Blurred):
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
    return _without_self(_graph_of(squares, near, n), n)


def _graph_of(squares: np.ndarray, near: np.ndarray, n: int) -> sp.csr_matrix:
    """Distances in rows from a table of neighbours, in which -1 stands for none."""
    found = near >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    distances = np.sqrt(np.maximum(squares[found], 0.0), dtype=np.float64)
    return sp.csr_matrix((distances, near[found], indptr), shape=(n, n))


def _without_self(distances: sp.csr_matrix, n: int) -> sp.csr_matrix:
    """The graph without the samples' distances to themselves, zeros to others kept."""
    rows = np.repeat(np.arange(n), np.diff(distances.indptr))
    other = rows != distances.indices
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[other], minlength=n))])
    return sp.csr_matrix(
        (distances.data[other], distances.indices[other], indptr), shape=distances.shape
    )


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


def _row_squares(M) -> np.ndarray:
    if sp.issparse(M):
        return np.asarray(M.multiply(M).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", M, M)


def _pieces(n: int, height: int) -> Iterator[slice]:
    return (slice(start, min(start + height, n)) for start in range(0, n, height))
