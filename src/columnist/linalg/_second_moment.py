"""The kernel XX' of a data matrix, block by block and never stored. No input validation.

In blocks of columns, kernel rows are sums over the parts. Where rows have few entries, X'X is
cheaper: formed for pairs of parts, of which only squared column lengths are returned.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, Visit, total, visiting
from columnist.linalg._passes import (
    by_columns,
    column_blocks,
    columns_of,
    row_blocks,
    without_empty,
)

# Cost of one pair of entries in a sparse column, in units of one pair of rows in a dense one.
_PAIR = 256
# A column with more entries than this share of the rows is better dense: _HEAVY**2 * _PAIR = 1.
_HEAVY = 1 / 16
# Cost of writing and reading one entry of a kernel that a sparse product made, in the same units.
_ENTRY = 400
# Cutting rows off a sparse matrix copies it: worth it after this share of them.
_TRIM = 1 / 16
# Entries of dense columns that are made once and not for every block: 64 MB.
_KEPT = 2**23
# Entries of a sparse product of parts: 16 MB.
_PRODUCT = 2**20


def _blocks_of_parts(_, X: ColumnParts, *, upper: bool = False):
    m = X.shape[0]
    for rows in row_blocks(m, 2 * m):
        start = rows.start if upper else 0
        yield rows, X.fold(Visit(_kernel_block, rows, slice(start, m)), total)


@visiting(_blocks_of_parts)
def kernel_blocks(X, *, upper: bool = False) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of XX' as dense float64 blocks that the caller may change, a slice of the rows with
    each; with ``upper`` without the columns before the first row of each block. The few columns
    with many entries would make a sparse product quadratic, so they are multiplied as dense
    blocks."""
    m = X.shape[0]
    light, heavy = _split(without_empty(X)[1])
    by_rows, first = light.tocsr(), 0
    for rows in row_blocks(m, 2 * m):
        start = rows.start if upper else 0
        if start - first > _TRIM * m:
            light, first = light[start - first :], start
        block = _dense_block(heavy, rows, slice(start, m))
        if light.nnz:
            block += (by_rows[rows] @ light.T).toarray()[:, start - first :]
        yield rows, block


@visiting(lambda _, X: gram_squares(X).sum().item() if has_short_rows(X) else _norm_by_rows(X))
def squared_kernel_norm(X) -> float:
    """Squared Frobenius norm of XX' (and of X'X), the sum of the singular values' fourth powers:
    from the smaller of the two products, block by block, half of each by symmetry."""
    return _norm_by_rows(X if X.shape[0] <= X.shape[1] else X.T)


def _norm_by_rows(X) -> float:
    norm = 0.0
    for rows, block in kernel_blocks(X, upper=True):
        square = block[:, : rows.stop - rows.start]
        norm += 2.0 * float(np.vdot(block, block)) - float(np.vdot(square, square))
    return norm


def gram_squares(X: ColumnParts) -> np.ndarray:
    """Squared lengths of the columns of X'X, for the sparse columns that the parts hold: z squared
    operations for a row with z entries, pairs of parts at a time."""
    return np.concatenate(X.against(_product_squares, total))


def has_short_rows(X: ColumnParts) -> bool:
    """Whether X'X is cheaper than XX'."""
    return X.is_sparse and _gram_cost(X) <= _kernel_cost(X.shape, X.column_counts)


def _cost_of_parts(_, X: ColumnParts) -> float:
    cost = _kernel_cost(X.shape, X.column_counts if X.is_sparse else None)
    return min(_gram_cost(X), cost) if X.is_sparse else cost


@visiting(_cost_of_parts)
def kernel_cost(X) -> float:
    """About how many multiplications :func:`squared_kernel_norm` needs, before it is called."""
    X = by_columns(X if X.shape[0] <= X.shape[1] else X.T)
    return _kernel_cost(X.shape, np.diff(X.indptr) if sp.issparse(X) else None)


def _kernel_cost(shape: tuple[int, int], counts: np.ndarray | None) -> float:
    """The same for XX', X as it is; ``counts`` are the entries of its columns if it is sparse."""
    rows = float(shape[0])
    if counts is None:
        return rows**2 * shape[1]
    pairs = np.minimum(_PAIR * np.square(counts, dtype=np.float64), rows**2)
    return float(pairs.sum() + _ENTRY * rows**2)


def _gram_cost(X: ColumnParts) -> float:
    """The same for X'X in place of XX'."""
    return _PAIR * float(np.square(X.row_counts, dtype=np.float64).sum())


def _kernel_block(part, rows: slice, others: slice) -> np.ndarray:
    """``part[rows] @ part[others].T``."""
    light, heavy = _split(part)
    block = _dense_block(heavy, rows, others)
    if light.nnz:
        light = light.tocsr()
        block += (light[rows] @ light[others].T).toarray()
    return block


def _product_squares(A: sp.csc_array, B: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Squared lengths of the columns of B'A and of A'B, a bounded part of the product at a time."""
    if A.shape[1] < B.shape[1]:  # the product is summed up in rows: better many short ones
        return _product_squares(B, A)[::-1]
    A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False).tocsr()
    # Operations up to every column of A.
    work = np.concatenate([[0], np.cumsum(np.diff(B.indptr)[A.indices], dtype=np.int64)])
    work = work[A.indptr]
    squares = np.zeros(A.shape[1]), np.zeros(B.shape[1])
    start = 0
    while start < A.shape[1]:
        stop = int(np.searchsorted(work, work[start] + _PRODUCT, side="right")) - 1
        columns = slice(start, max(stop, start + 1))
        product = A[:, columns].T @ B
        entries = np.square(product.data)
        width = np.arange(product.shape[0])
        squares[0][columns] = np.bincount(
            np.repeat(width, np.diff(product.indptr)), entries, len(width)
        )
        squares[1][:] += np.bincount(product.indices, entries, B.shape[1])
        start = columns.stop
    return squares


def _split(X) -> tuple[sp.csc_array, np.ndarray | sp.csc_array]:
    """Columns with few entries, in float64, and those with many (a dense X is all of these)."""
    if not sp.issparse(X):
        return sp.csc_array((X.shape[0], 0)), X
    heavy = np.diff(X.indptr) > _HEAVY * X.shape[0]
    light = X[:, np.flatnonzero(~heavy)].astype(np.float64)
    popular = X[:, np.flatnonzero(heavy)]
    small = popular.shape[0] * popular.shape[1] <= _KEPT
    return light, columns_of(popular, slice(None)) if small else popular


def _dense_block(X, rows: slice, others: slice) -> np.ndarray:
    """``X[rows] @ X[others].T`` in float64 from a block of dense columns at a time."""
    if not sp.issparse(X) and X.dtype == np.float64:
        return X[rows] @ X[others].T
    block = np.zeros((rows.stop - rows.start, others.stop - others.start))
    for columns in column_blocks(X.shape[1], X.shape[0]):
        part = columns_of(X, columns)
        block += part[rows] @ part[others].T
    return block
