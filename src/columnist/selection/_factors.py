"""Pivoted QR, strong rank-revealing QR and singular vectors of columns. No input validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, visiting
from columnist.linalg._passes import (
    apply,
    column_blocks,
    columns_of,
    cross,
    gram,
    kernel_product,
    squared_norms,
    squares_along,
    without_empty,
)
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._second_moment import kernel_blocks
from columnist.linalg._ties import TIE, first_largest
from columnist.selection._basis import GrowingBasis

_EPS = np.finfo(np.float64).eps
# A squared length that fell to this share of its last accurate value is recomputed before
# it is compared.
_SHRUNK = 1e-4
# Rounding of a running squared length, as a share of its last accurate value, with room.
_ROUNDING = 1e-12
# Entries of a block of rows, and of a sparse matrix that is one dense block: 32 MB.
_BLOCK = 2**22
# Smaller side up to which a decomposition is computed in full.
_EXACT_SIDE = 2000
# Extra directions of the iteration, its longest run, and the relative growth of the captured
# energy below which it has settled.
_OVERSAMPLING = 10
_MAX_ITERATIONS = 30
_SETTLED = 1e-5


def triangle(X: np.ndarray) -> np.ndarray:
    """Triangular factor of a dense X = QR in float64, row block by row block. It has the inner
    products of the columns of X, in at most n rows. A matrix without more rows than columns is
    returned as it is."""
    m, n = X.shape
    if m <= n:
        return X.astype(np.float64, copy=False)
    R = np.zeros((0, n))
    # Blocks much higher than R: stacking them on it then costs little.
    step = max(4 * n, _BLOCK // n)
    for start in range(0, m, step):
        stacked = np.vstack([R, X[start : start + step]])
        R = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:n]
    return R


def column_squares(X, left: np.ndarray | None = None) -> np.ndarray:
    """Squared lengths of the columns of X, or of ``left @ X``, which is never held whole."""
    if left is None:
        return squared_norms(X)
    return squares_along(X, left.T)


def _fewer_rows(X, size: int):
    """X, or its triangular factor where that saves more than it costs. The factor takes 2mn^2
    operations in matrix products; it spares 2mn in each of ``size`` steps, which are bound by
    memory and about twice as slow or more."""
    m, n = X.shape
    return triangle(X) if isinstance(X, np.ndarray) and m > 2 * n and 2 * size >= n else X


class Deflated:
    """Squared lengths of columns of X, or of ``left @ X``, after projecting out those taken.
    ``squares`` is exactly zero for columns taken and columns found dependent. With q a new
    direction and w = X'q, squared lengths fall by w*w: one product with X a step, and no residual
    matrix."""

    def __init__(self, X, capacity: int, *, left: np.ndarray | None = None):
        if left is not None and not sp.issparse(X):
            X, left = cross(X, left.T).T, None
        self._X, self._left = X, left
        self._basis = GrowingBasis(len(left) if left is not None else X.shape[0], capacity)
        self._own = column_squares(X, left)
        self._fresh = self._own.copy()
        self.squares = self._own.copy()

    def longest(self) -> int | None:
        """The column with the longest residual, the first among ties; None if none is left."""
        while True:
            best = self.squares.max(initial=0.0)
            shrunk = self.squares < _SHRUNK * self._fresh
            stale = np.flatnonzero(shrunk & (self.squares + _ROUNDING * self._fresh >= best))
            if not len(stale):
                break
            self._renew(stale)
        if best == 0.0:
            return None
        return first_largest(self.squares, self.squares > 0.0)[0]

    def take(self, column: int) -> bool:
        """Project out one more column; False if it depends on those taken."""
        q = self._basis.append(self._columns([column])[:, 0])
        if q is not None:
            w = cross(self._X, q if self._left is None else self._left.T @ q)
            np.maximum(self.squares - w * w, 0.0, out=self.squares)
        self._drop(column)
        return q is not None

    def _columns(self, which) -> np.ndarray:
        part = columns_of(self._X, which)
        return part if self._left is None else self._left @ part

    def _renew(self, stale: np.ndarray) -> None:
        """Lengths of some columns from their residuals."""
        for part in column_blocks(len(stale), self._X.shape[0]):
            which = stale[part]
            rest = self._basis.residual(self._columns(which))
            squares = np.einsum("ij,ij->j", rest, rest)
            self.squares[which] = self._fresh[which] = squares
            self._drop(which[squares <= DEPENDENT**2 * self._own[which]])

    def _drop(self, columns) -> None:
        self.squares[columns] = 0.0
        self._fresh[columns] = 0.0


def pivoted_columns(X, size: int, *, left: np.ndarray | None = None) -> list[int]:
    """Pivots of the QR of X (or of ``left @ X``), up to ``size`` or the rank: a column with a
    residual of a billionth of its own length is dependent."""
    X = _fewer_rows(X, size) if left is None else X
    columns = Deflated(X, min(size, X.shape[0] if left is None else len(left)), left=left)
    chosen: list[int] = []
    while len(chosen) < size:
        pivot = columns.longest()
        if pivot is None:
            break
        if columns.take(pivot):
            chosen.append(pivot)
    return chosen


def strong_rrqr(X, size: int, f: float) -> list[int]:
    """Columns of a strong rank-revealing QR X = Q (A B; 0 C) (Gu and Eisenstat), at most the rank.
    From pivoted QR on, a chosen column i is swapped for j while that multiplies |det A| by some rho
    > f, rho^2 = (inv(A) B)_ij^2 + |row i of inv(A)|^2 |column j of C|^2. There are few swaps, each
    followed by a blocked pass, O(mnk), that recomputes all ratios: nothing drifts."""
    X = _fewer_rows(X, size)
    chosen = pivoted_columns(X, size)
    squares = squared_norms(X)
    # The volume grows with every swap, so no set returns, but for rounding.
    seen = {frozenset(chosen)}
    while chosen:
        ratio, place, column = _largest_ratio(X, squares, chosen, f)
        if ratio <= f:
            break
        chosen[place] = column
        if frozenset(chosen) in seen:
            break
        seen.add(frozenset(chosen))
    return chosen


def _largest_ratio(X, squares: np.ndarray, chosen: list[int], f: float) -> tuple[float, int, int]:
    """The largest ratio, and the swap (place in ``chosen``, other column) that has it."""
    Q, A = scipy.linalg.qr(columns_of(X, chosen), mode="economic", check_finite=False)
    inverse = scipy.linalg.solve_triangular(A, np.eye(len(A)), check_finite=False)
    rows = np.square(inverse).sum(axis=1)
    taken = np.zeros(X.shape[1], dtype=bool)
    taken[chosen] = True
    best = 0.0, 0, chosen[0]
    for columns in column_blocks(X.shape[1], len(A) if sp.issparse(X) else sum(Q.shape)):
        part = X[:, columns]
        caught = cross(part, Q)
        rest = squares[columns] - np.square(caught).sum(axis=1)
        _sharpen(part, Q, rest, squares[columns], f**2 / rows.max())
        ratios = np.square(caught @ inverse.T) + np.outer(rest, rows)
        ratios[taken[columns]] = 0.0
        near = ratios >= (1.0 - TIE) * ratios.max(initial=0.0)
        at, place = np.unravel_index(np.argmax(near), ratios.shape)
        if ratios[at, place] > (1.0 + TIE) * best[0]:
            best = float(ratios[at, place]), int(place), columns.start + int(at)
    return np.sqrt(best[0]), *best[1:]


def _sharpen(part, Q, rest, squares, matters: float) -> None:
    """Recompute the squared residuals that are mostly rounding where that can matter."""
    doubt = _ROUNDING * squares
    unsure = np.flatnonzero((rest < _SHRUNK * squares) & (rest + doubt > _SHRUNK * matters))
    for which in column_blocks(len(unsure), len(Q)):
        vectors = columns_of(part, unsure[which])
        for _ in range(2):  # the second pass restores orthogonality
            vectors -= Q @ (Q.T @ vectors)
        rest[unsure[which]] = np.square(vectors).sum(axis=0)
    np.maximum(rest, 0.0, out=rest)


@dataclass(frozen=True)
class RightVectors:
    """Leading right singular vectors: the rows of ``data`` or, where X is wide, of ``left @ data``
    with left :math:`S_r^{-1} U_r^T` and data X, so that n x r numbers are never held at once. The
    squared length of column j is its leverage. ``values`` are the singular values, descending,
    those of rounding left out."""

    values: np.ndarray
    data: Any
    left: np.ndarray | None = None

    def keep(self, which) -> RightVectors:
        """Some of the vectors."""
        if self.left is None:
            return RightVectors(self.values[which], self.data[which])
        return replace(self, values=self.values[which], left=self.left[which])


def _of_parts(function, X: ColumnParts, rank: int | None, rng) -> RightVectors:
    """:func:`right_vectors` of a matrix that is kept elsewhere."""
    wide = X.shape[0] <= X.shape[1]
    if X.shape[0] * X.shape[1] <= _BLOCK:
        return function(X.gather(), rank, rng)
    if rank is not None and min(X.shape) > _EXACT_SIDE:
        product = kernel_product if wide else _gram_product
        values, basis = _settled(X, product, X.shape[0 if wide else 1], rank, rng)
    elif not wide:  # few columns: no reason to leave them where they are
        return function(X.gather(), rank, rng)
    elif X.is_sparse:
        kernel = np.vstack([block for _, block in kernel_blocks(X)])
        values, basis = _descending(*np.linalg.eigh(kernel), max(X.shape))
    else:
        factor = X.fold(_transposed_triangle, _merged_triangles)
        values, basis = _from_triangle(factor.T, max(X.shape))
    return _leading(values, basis, rank, X)


@visiting(_of_parts)
def right_vectors(X, rank: int | None, rng: np.random.Generator | None) -> RightVectors:
    """The leading ``rank`` right singular vectors; all, exactly, if None. Dense X: an SVD of the
    triangular factor of the longer side. Sparse X: the smaller Gram matrix, which loses singular
    values below 1e-8 of the largest. Where both sides are long: subspace iteration from random
    vectors (``rng``) until the energy hardly grows."""
    m, n = X.shape
    X = X.toarray() if sp.issparse(X) and m * n <= _BLOCK else X
    side = X if m <= n else X.T
    if rank is not None and min(m, n) > _EXACT_SIDE:
        assert rng is not None  # as the docstring asks
        _, side = without_empty(side)
        values, basis = _settled(side, kernel_product, side.shape[0], rank, rng)
    elif sp.issparse(X):
        values, basis = _descending(*np.linalg.eigh(gram(side.T)), max(m, n))
    else:
        values, basis = _from_triangle(side, max(m, n))
    return _leading(values, basis, rank, X)


def _leading(values, basis, rank: int | None, X) -> RightVectors:
    """The first vectors, from those of the smaller side."""
    values, basis = values[:rank], basis[:, : len(values[:rank])]
    wide = X.shape[0] <= X.shape[1]
    return RightVectors(values, X, (basis / values).T) if wide else RightVectors(values, basis.T)


def _transposed_triangle(part: np.ndarray) -> np.ndarray:
    """Triangular factor of the transposed columns."""
    return triangle(part.T)


def _merged_triangles(factors) -> np.ndarray:
    return triangle(np.vstack(factors))


def _gram_product(X, Q: np.ndarray) -> np.ndarray:
    """X'XQ."""
    return cross(X, apply(X, Q))


def _from_triangle(X: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and left vectors of a dense X with m <= n; ``length`` is its longer side."""
    U, s, _ = scipy.linalg.svd(triangle(X.T).T, full_matrices=False, check_finite=False)
    kept = s > length * _EPS * s.max(initial=0.0)
    return s[kept], U[:, kept]


def _settled(X, product, side: int, rank: int, rng: np.random.Generator):
    """The same by subspace iteration on what ``product(X, Q)`` multiplies Q with, of this side."""
    width = min(rank + _OVERSAMPLING, side)
    Q, _ = np.linalg.qr(rng.standard_normal((side, width)))
    before = 0.0
    for _ in range(_MAX_ITERATIONS):
        image = product(X, Q)
        squares, turn = np.linalg.eigh(Q.T @ image)
        vectors = Q @ turn
        captured = float(squares[-rank:].sum())
        if captured - before <= _SETTLED * captured:
            break
        before = captured
        Q, _ = np.linalg.qr(image)
    return _descending(squares, vectors, max(X.shape))


def _descending(squares, vectors, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and vectors from the eigenvalues of a Gram matrix, without rounding."""
    kept = np.flatnonzero(squares > length * _EPS * squares.max(initial=0.0))[::-1]
    return np.sqrt(squares[kept]), vectors[:, kept]
