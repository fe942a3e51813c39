"""What is done with a block of rows, or a pair of blocks, when columns meet a similarity.

The visitors are sent to where the blocks are. Columns are centred there, before products are
formed, so that nothing cancels. No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks
from columnist.linalg._passes import columns_of
from columnist.spectral._edges import laplacian_forms

__all__ = [
    "ApplyVisit",
    "CrossVisit",
    "EdgeVisit",
    "LinkVisit",
    "OwnCrossVisit",
    "block_apply",
    "block_columns",
    "block_cross",
    "total",
]

# Entries of the rows at the ends of edges that exist at the same time.
_BLOCK = 2**21


def total(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Sum of arrays."""
    return sum(parts[1:], start=parts[0])


def block_columns(X: RowBlocks, which) -> np.ndarray:
    """Some columns, all rows, as a dense float64 array."""
    return np.concatenate(X.collect(ColumnsVisit(which)))


def block_cross(X: RowBlocks, M: np.ndarray, means: np.ndarray | None = None) -> np.ndarray:
    """X'M for a matrix of as many rows; of the columns minus ``means``."""
    return X.fold(CrossVisit(means), total, M)


def block_apply(X: RowBlocks, W: np.ndarray) -> np.ndarray:
    """X W, all rows."""
    return np.concatenate(X.collect(ApplyVisit(W)))


class ColumnsVisit:
    """Some columns of a block."""

    def __init__(self, which):
        self.which = which

    def __call__(self, X) -> np.ndarray:
        return columns_of(X, self.which)


class CrossVisit:
    """Products of the columns with a matrix that comes along."""

    def __init__(self, means: np.ndarray | None = None):
        self.means = means

    def __call__(self, X, M: np.ndarray) -> np.ndarray:
        if sp.issparse(X):
            product = np.asarray(X.T.astype(np.float64) @ M)
            return product if self.means is None else product - _outer(self.means, M.sum(axis=0))
        return _minus(X, self.means).T @ M

    def operations(self, X, M) -> float:
        """Multiplications."""
        return _entries(X) * float(np.prod(M.shape[1:]))


class OwnCrossVisit:
    """Products of the columns, minus their means, with the weighted columns themselves."""

    def __init__(self, means: np.ndarray | None = None):
        self.means = means

    def __call__(self, X, weights: np.ndarray) -> np.ndarray:
        if not sp.issparse(X):
            return (weights[:, None] * X).T @ _minus(X, self.means)
        weighted = (sp.diags_array(weights) @ X).tocsr()
        product = (weighted.T @ X).toarray()
        if self.means is not None:
            product -= np.outer(np.asarray(weighted.sum(axis=0)).ravel(), self.means)
        return product

    def operations(self, X, weights) -> float:
        """Multiplications."""
        return _entries(X) * (1.0 + X.shape[1])


class ApplyVisit:
    """Products of the rows with the columns of a matrix."""

    def __init__(self, W: np.ndarray):
        self.W = W

    def __call__(self, X) -> np.ndarray:
        return np.asarray(X.astype(np.float64, copy=False) @ self.W)

    def operations(self, X) -> float:
        """Multiplications."""
        return _entries(X) * float(np.prod(self.W.shape[1:]))


class EdgeVisit:
    """Weighted squared differences along the edges between two blocks, for every column."""

    def __call__(self, A, B, tile: sp.csr_array) -> np.ndarray:
        tile = tile.tocoo()
        sums = np.zeros(A.shape[1])
        height = max(1, _BLOCK // A.shape[1])
        for start in range(0, tile.nnz, height):
            edges = slice(start, start + height)
            i, j, weights = tile.row[edges], tile.col[edges], tile.data[edges]
            sums += (_sparse_edges if sp.issparse(A) else _dense_edges)(A, B, i, j, weights)
        return sums

    def operations(self, A, B, tile) -> float:
        """Multiplications: a square and a weight for every entry of an edge."""
        return 2.0 * tile.nnz * _entries(A) / max(A.shape[0], 1)


class LinkVisit:
    """Sums of weighted products of entries that are linked, for every column minus its mean."""

    def __init__(self, means: np.ndarray | None = None):
        self.means = means

    def __call__(self, A, B, tile: sp.csr_array) -> np.ndarray:
        if not sp.issparse(A):
            along = tile @ _minus(B, self.means)
            return np.einsum("ij,ij->j", _minus(A, self.means), along)
        sums = np.asarray(A.multiply(tile @ B).sum(axis=0)).ravel()
        if self.means is not None:
            left, right = tile.sum(axis=1) @ A, tile.sum(axis=0) @ B
            sums = sums - self.means * (left + right) + self.means**2 * tile.sum()
        return sums

    def operations(self, A, B, tile) -> float:
        """Multiplications: of every linked entry, and of the sums."""
        return tile.nnz * _entries(B) / max(B.shape[0], 1) + _entries(A)


def _dense_edges(A, B, i, j, weights) -> np.ndarray:
    """The rows at both ends, one after the other, are a graph of their own."""
    ends, i = np.unique(i, return_inverse=True)
    others, j = np.unique(j, return_inverse=True)
    n = len(ends) + len(others)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=n))]).astype(np.intc)
    rows = np.concatenate([A[ends], B[others]])
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    return laplacian_forms(indptr, (j + len(ends)).astype(np.intc), weights, rows)


def _sparse_edges(A, B, i, j, weights) -> np.ndarray:
    apart = (A[i] - B[j]).astype(np.float64)
    return np.asarray(apart.multiply(apart).T @ weights).ravel()


def _minus(X: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    return X.astype(np.float64, copy=False) if means is None else X - means


def _outer(means: np.ndarray, sums) -> np.ndarray:
    return np.multiply.outer(means, sums)


def _entries(X) -> float:
    return float(X.nnz if sp.issparse(X) else X.size)
