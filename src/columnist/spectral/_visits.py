"""What is done with a block of rows, or a pair of blocks, when columns meet a similarity.

The functions are sent to where the blocks are; an array is one block. Columns are centred there,
before products are formed, so that nothing cancels. No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks
from columnist.linalg._column_parts import Visit, total
from columnist.linalg._passes import apply, column_blocks, columns_of, cross, row_blocks
from columnist.spectral._edges import edge_sums

__all__ = [
    "apply_rows",
    "block_cross",
    "block_own_cross",
    "cross_rows",
    "dense_columns",
    "edge_forms",
    "joined",
    "link_forms",
    "minus",
    "own_cross",
    "row_lengths",
]

# Entries of the rows at the ends of edges that exist at the same time.
_BLOCK = 2**21
# Entries of rows that are small enough for a cache, and rows that are worth a call.
_CACHED, _LEAST_ROWS = 2**17, 32


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays below one another; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def dense_columns(X: RowBlocks, which) -> np.ndarray:
    """Some columns, all rows, as a dense float64 array."""
    return joined(X.collect(Visit(columns_of, which)))


def cross_rows(X: RowBlocks, M: np.ndarray, means: np.ndarray | None = None) -> np.ndarray:
    """X'M for a matrix of as many rows; of the columns minus ``means``."""
    return X.fold(Visit(block_cross, means), total, M)


def own_cross(X: RowBlocks, weights: np.ndarray, means: np.ndarray | None = None) -> np.ndarray:
    """Products of the weighted columns with the columns minus ``means``."""
    return X.fold(Visit(block_own_cross, means), total, weights)


def apply_rows(X: RowBlocks, W: np.ndarray) -> np.ndarray:
    """X W, all rows."""
    return joined(X.collect(Visit(apply, W)))


def row_lengths(X: RowBlocks) -> np.ndarray:
    """Lengths of all rows."""
    return joined(X.collect(_lengths))


def minus(X: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Columns minus their means; these may have a second row, what rounding left of the first."""
    for row in () if means is None else np.atleast_2d(means):
        X = X - row
    return X.astype(np.float64, copy=False)


def block_cross(X, M: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Products of the columns of a block, minus ``means``, with a matrix that comes along."""
    if means is None:
        return cross(X, M)
    if sp.issparse(X):
        X, left = _shifted(X, means)
        return cross(X, M) - np.multiply.outer(left, M.sum(axis=0))
    product = np.zeros((X.shape[1], *M.shape[1:]))
    height = max(_LEAST_ROWS, _CACHED // max(X.shape[1], 1))
    for start in range(0, X.shape[0], height):
        rows = slice(start, start + height)
        product += minus(X[rows], means).T @ M[rows]
    return product


def block_own_cross(X, weights: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Products of the columns, minus their means, with the weighted columns themselves."""
    if sp.issparse(X):
        weighted = (sp.diags_array(weights) @ X).tocsr()
        X, left = _shifted(X, means)
        sums = np.asarray(weighted.sum(axis=0)).ravel()
        return (weighted.T @ X).toarray() - np.outer(sums, left)
    product = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(*X.shape):
        product += (weights[rows, None] * X[rows]).T @ minus(X[rows], means)
    return product


def edge_forms(A, B, tile: sp.csr_array) -> np.ndarray:
    """Weighted squared differences along the edges between two blocks, for every column."""
    if A is B and not sp.issparse(A):
        return _forms_along(tile.indptr, tile.indices, tile.data, A)
    if sp.issparse(A):
        same, A = A is B, A.tocsr()
        B = A if same else B.tocsr()
    tile = tile.tocoo()
    sums = np.zeros(A.shape[1])
    height = max(1, int(_BLOCK // max(_entries(A) / max(A.shape[0], 1), 1.0)))
    for start in range(0, tile.nnz, height):
        edges = slice(start, start + height)
        i, j, weights = tile.row[edges], tile.col[edges], tile.data[edges]
        sums += (_sparse_edges if sp.issparse(A) else _dense_edges)(A, B, i, j, weights)
    return sums


def link_forms(A, B, tile: sp.csr_array, means: np.ndarray | None) -> np.ndarray:
    """Sums of weighted products of entries that are linked, for every column minus its mean."""
    if sp.issparse(A):
        A, below = _shifted(A, means)
        B, beside = _shifted(B, means)
        sums = np.asarray(A.multiply(tile @ B).sum(axis=0)).ravel()
        left, right = tile.sum(axis=1) @ A, tile.sum(axis=0) @ B
        return sums - beside * left - below * right + below * beside * tile.sum()
    sums = np.empty(A.shape[1])
    for columns in column_blocks(A.shape[1], A.shape[0] + B.shape[0]):
        some = None if means is None else means[..., columns]
        left = minus(A[:, columns], some)
        right = left if A is B else minus(B[:, columns], some)
        sums[columns] = np.einsum("ij,ij->j", left, tile @ right)
    return sums


def _dense_edges(A, B, i, j, weights) -> np.ndarray:
    """The rows at both ends, one after the other, are a graph of their own."""
    ends, i = np.unique(i, return_inverse=True)
    others, j = np.unique(j, return_inverse=True)
    n = len(ends) + len(others)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=n))])
    rows = np.concatenate([A[ends], B[others]])
    return _forms_along(indptr, j + len(ends), weights, rows)


def _forms_along(indptr, indices, weights, rows: np.ndarray) -> np.ndarray:
    """Sums over the edges of a graph in compressed rows."""
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    rows = rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)
    indptr, indices = (part.astype(np.intc, copy=False) for part in (indptr, indices))
    return edge_sums(indptr, indices, np.ascontiguousarray(weights, np.float64), rows, squared=True)


def _sparse_edges(A, B, i, j, weights) -> np.ndarray:
    apart = (A[i] - B[j]).astype(np.float64)
    return np.asarray(apart.multiply(apart).T @ weights).ravel()


def _lengths(X) -> np.ndarray:
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel())
    return np.linalg.norm(X.astype(np.float64, copy=False), axis=1)


def _shifted(X, means: np.ndarray | None):
    """Sparse X with columns that have no zeros minus their means; means that are left of others.

    Such a column may be far from zero, where products with it would cancel.
    """
    if means is None:
        return X, np.zeros(X.shape[1])
    X = X.tocsc()
    filled = np.diff(X.indptr)
    full = filled == X.shape[0]
    if not full.any():
        return X, np.atleast_2d(means).sum(axis=0)
    X = X.astype(np.float64)
    for row in np.atleast_2d(means):
        X.data -= np.repeat(np.where(full, row, 0.0), filled)
    return X, np.where(full, 0.0, np.atleast_2d(means).sum(axis=0))


def _entries(X) -> float:
    return float(X.nnz if sp.issparse(X) else X.size)
