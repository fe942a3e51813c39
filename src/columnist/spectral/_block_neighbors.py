r"""Nearest neighbours of rows that are visited in pairs of blocks.

Squared distances of all pairs come from inner products,
:math:`\|a\|^2 + \|b\|^2 - 2a^Tb`, which rounding blurs. They only tell who may be near: with an
error of at most e, the k nearest are among those within 2e of the k-th smallest. The distances of
these few are summed up from differences, and equal ones ordered by index, so that neighbours do
not depend on how the rows are cut into blocks. No input validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import KDTree

from columnist.data._blocks import RowBlocks

__all__ = ["NearestVisit", "block_neighbors"]

_EPS = np.finfo(np.float64).eps
# Sides of a tile of distances, 16 MB: the first for rows, the second for those compared.
_ROWS, _OTHERS = 1024, 2048
# Candidates per neighbour from which on the k-th smallest distance of the tile is looked for.
_MANY = 8
# Entries of differences that exist at the same time.
_BLOCK = 2**21
# Up to this many features a tree finds neighbours faster.
_FEW_FEATURES = 15


@dataclass(frozen=True)
class Nearest:
    """Neighbours of some rows, nearest first: squared distances, and which rows they are."""

    squares: np.ndarray
    rows: np.ndarray


def block_neighbors(X: RowBlocks, n_neighbors: int) -> sp.csr_matrix:
    """Distances to the nearest neighbours, in rows; a sample is no neighbour of itself.

    Among neighbours at the same distance the first in X is nearer.
    """
    found = merged_rows(X.against(NearestVisit(n_neighbors), Merge(n_neighbors)))
    n = X.shape[0]
    indptr = np.arange(0, n * n_neighbors + 1, n_neighbors)
    distances = np.sqrt(found.squares.ravel())
    return sp.csr_matrix((distances, found.rows.ravel(), indptr), shape=(n, n))


class NearestVisit:
    """Neighbours of the rows of a block in another one."""

    def __init__(self, n_neighbors: int):
        self.n_neighbors = n_neighbors

    def __call__(self, A, B, i: int, j: int) -> Nearest:
        own = i == j and A.shape == B.shape
        count = min(self.n_neighbors, B.shape[0] - own)
        if not A.shape[0] or count < 1:
            return Nearest(*np.empty((2, A.shape[0], 0)))
        by_tree = not sp.issparse(A) and A.shape[1] <= _FEW_FEATURES
        search = (_Tree if by_tree else _Products)(A, B, own, count)
        found = merged_rows([search.nearest(rows) for rows in _pieces(A.shape[0], _ROWS)])
        return Nearest(found.squares, found.rows + j)

    def operations(self, A, B, i, j) -> float:
        """Multiplications of all inner products."""
        entries = A.nnz / max(A.shape[0], 1) if sp.issparse(A) else A.shape[1]
        return float(A.shape[0]) * B.shape[0] * entries


class Merge:
    """The nearest of neighbours found in several blocks, of which earlier ones come first."""

    def __init__(self, n_neighbors: int):
        self.n_neighbors = n_neighbors

    def __call__(self, parts: Sequence[Nearest]) -> Nearest:
        squares = np.hstack([part.squares for part in parts])
        rows = np.hstack([part.rows for part in parts])
        first = np.lexsort((rows, squares))[:, : self.n_neighbors]
        return Nearest(np.take_along_axis(squares, first, 1), np.take_along_axis(rows, first, 1))


def merged_rows(parts: Sequence[Nearest]) -> Nearest:
    """Neighbours of the rows of all parts, one after the other."""
    width = max(part.rows.shape[1] for part in parts)
    parts = [part for part in parts if part.rows.shape[1] == width]  # others have no rows
    return Nearest(
        np.vstack([part.squares for part in parts]),
        np.vstack([part.rows for part in parts]).astype(np.int64),
    )


class _Search:
    """What looks for neighbours of some rows of A in B."""

    def __init__(self, A, B, own: bool, count: int):
        self.A, self.B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        self.own, self.count = own, count

    def exact(self, r: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Squared distances of pairs of rows, from their differences."""
        squares, height = np.empty(len(r)), max(1, _BLOCK // self.A.shape[1])
        for pairs in _pieces(len(r), height):
            apart = self.A[r[pairs]] - self.B[c[pairs]]
            if sp.issparse(apart):
                squares[pairs] = np.asarray(apart.multiply(apart).sum(axis=1)).ravel()
            else:
                squares[pairs] = np.einsum("ij,ij->i", apart, apart)
        return squares


class _Products(_Search):
    """By inner products, tile by tile."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        # Distances do not change with the origin, but their rounding does; zeros stay zeros.
        origin = 0.0 if sp.issparse(B) else self.B.mean(axis=0)
        A, B = (self.A, self.B) if sp.issparse(B) else (self.A - origin, self.B - origin)
        self.lengths = a, b = _row_squares(A), _row_squares(B)
        # Products of these rows are whole distances: -2a'b + 1 |b|^2 + |a|^2 1.
        self.rows = _beside(-2.0 * A, np.ones(len(a)), a)
        self.others = _beside(B, b, np.ones(len(b)))
        self.room = np.empty((min(_ROWS, len(a)), min(_OTHERS, len(b))))

    def nearest(self, rows: slice) -> Nearest:
        """Neighbours of some rows of A."""
        n = rows.stop - rows.start
        r, c, squares = np.empty((3, 0))
        kth = np.full(n, np.inf)
        for others in _pieces(self.B.shape[0], _OTHERS):
            near = self._candidates(rows, others, kth)
            found = self.exact(near[0] + rows.start, near[1] + others.start)
            r = np.concatenate([r, near[0]]).astype(np.intp)
            c = np.concatenate([c, near[1] + others.start]).astype(np.intp)
            squares = np.concatenate([squares, found])
            r, c, squares, kth = _nearest_of_each(r, c, squares, n, self.count)
        return Nearest(squares.reshape(n, -1), c.reshape(n, -1))

    def _candidates(self, rows, others, kth) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a tile that may be near: all whose distance may be below the k-th so far."""
        tile = self._tile(rows, others)
        if self.own:
            same = np.arange(max(rows.start, others.start), min(rows.stop, others.stop))
            tile[same - rows.start, same - others.start] = np.nan
        a, b = self.lengths
        slack = (self.A.shape[1] + 12) * _EPS * (a[rows] + b[others].max())
        near = tile <= (kth + slack)[:, None]
        k = self.count
        if tile.shape[1] > k and np.count_nonzero(near) > _MANY * k * len(tile):
            kth = np.fmin(kth, np.partition(tile, k - 1, axis=1)[:, k - 1] + slack)
            near = tile <= (kth + slack)[:, None]
        return np.divmod(np.flatnonzero(near), near.shape[1])

    def _tile(self, rows: slice, others: slice) -> np.ndarray:
        """Distances that rounding blurs; the next tile is written over this one."""
        A, B = self.rows[rows], self.others[others]
        if sp.issparse(A):
            return (A @ B.T).toarray()
        return np.matmul(A, B.T, out=self.room[: len(A), : len(B)])


class _Tree(_Search):
    """By a tree of the rows of B, for few features."""

    def __init__(self, A, B, own: bool, count: int):
        super().__init__(A, B, own, count)
        self.tree = KDTree(self.B)

    def nearest(self, rows: slice) -> Nearest:
        """Neighbours of some rows of A."""
        n = rows.stop - rows.start
        r, c = self._candidates(self.A[rows])
        if self.own:
            other = r + rows.start != c
            r, c = r[other], c[other]
        squares = self.exact(r + rows.start, c)
        _, c, squares, _ = _nearest_of_each(r, c, squares, n, self.count)
        return Nearest(squares.reshape(n, -1), c.reshape(n, -1))

    def _candidates(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs that may be near: the nearest, and all others at the distance of the last one."""
        wanted = self.count + self.own
        distances, near = self.tree.query(part, min(wanted + 1, len(self.B)))
        radius = distances[:, wanted - 1] * (1.0 + 8.0 * part.shape[1] * _EPS)
        tied = np.flatnonzero(distances[:, -1] <= radius)
        found = list(self.tree.query_radius(part[tied], radius[tied])) if len(tied) else []
        alone = np.setdiff1d(np.arange(len(part)), tied)
        r = [
            np.repeat(alone, wanted),
            *(np.full(len(f), t) for f, t in zip(found, tied, strict=True)),
        ]
        return np.concatenate(r), np.concatenate([near[alone, :wanted].ravel(), *found])


def _nearest_of_each(r, c, squares, n: int, count: int) -> tuple[np.ndarray, ...]:
    """The nearest of every row among pairs, nearest first, and the last one's distance."""
    order = np.lexsort((c, squares, r))
    r = r[order]
    sizes = np.bincount(r, minlength=n)
    first = np.cumsum(sizes) - sizes
    place = np.arange(len(r)) - first[r]
    kept = order[place < count]
    r, c, squares = r[place < count], c[kept], squares[kept]
    kth = np.full(n, np.inf)
    enough = sizes >= count
    last = np.cumsum(np.minimum(sizes, count)) - 1
    kth[enough] = squares[last[enough]]
    return r, c, squares, kth


def _beside(M, *columns: np.ndarray):
    """A matrix with more columns."""
    if sp.issparse(M):
        return sp.hstack([M, sp.csr_array(np.column_stack(columns))], format="csr")
    return np.column_stack([M, *columns])


def _row_squares(M) -> np.ndarray:
    if sp.issparse(M):
        return np.asarray(M.multiply(M).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", M, M)


def _pieces(n: int, height: int) -> Iterator[slice]:
    return (slice(start, min(start + height, n)) for start in range(0, n, height))
