"""Similarities of samples that are visited in pairs of blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from columnist.data._blocks import RowBlocks
from columnist.spectral._symmetric import DenseMatrix

__all__ = ["GaussianTile", "PowerTile", "all_pairs", "even_rows"]


def all_pairs(X: RowBlocks, visit: Callable) -> DenseMatrix:
    """The matrix of a function of all pairs of rows."""
    return DenseMatrix(np.vstack(X.against(visit, np.hstack)))


def even_rows(X: RowBlocks, step: int):
    """Every so many-th row."""
    taken = np.zeros(X.shape[0], dtype=bool)
    taken[::step] = True
    parts = X.collect(_some_rows, taken)
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


class GaussianTile:
    """Gaussian kernel of the rows of two blocks."""

    def __init__(self, width: float):
        self.width = width

    def __call__(self, A, B, i: int, j: int) -> np.ndarray:
        if not A.shape[0] or not B.shape[0]:
            return np.empty((A.shape[0], B.shape[0]))
        A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        squares = euclidean_distances(A, None if i == j else B, squared=True)
        squares *= -0.5 / self.width**2
        return np.exp(squares, out=squares)

    def operations(self, A, B, i, j) -> float:
        """Multiplications of all inner products."""
        return _products(A, B)


class PowerTile:
    """Powers of inner products of the rows of two blocks."""

    def __init__(self, degree: int = 1, scale: float = 1.0, constant: float = 0.0):
        self.degree, self.scale, self.constant = degree, scale, constant

    def __call__(self, A, B, i: int, j: int) -> np.ndarray:
        A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        products = A @ B.T
        products = products.toarray() if sp.issparse(products) else products
        return (self.scale * products + self.constant) ** self.degree

    def operations(self, A, B, i, j) -> float:
        """Multiplications of all inner products."""
        return _products(A, B)


def _products(A, B) -> float:
    entries = A.nnz / max(A.shape[0], 1) if sp.issparse(A) else A.shape[1]
    return float(A.shape[0]) * B.shape[0] * entries


def _some_rows(X, taken: np.ndarray):
    return X[taken].astype(np.float64)
