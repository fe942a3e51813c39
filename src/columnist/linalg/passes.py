"""Passes over a data matrix, dense or sparse, in float64 and little memory.

Every function reads X block by block where a product would be larger than X itself, so that
float32 data are never copied whole and wide sparse data never become dense. No input
validation; column means are not removed (deflate by the constant vector for that).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

__all__ = [
    "apply",
    "by_columns",
    "column_blocks",
    "columns_of",
    "cross",
    "energies_along",
    "gram",
    "kernel_product",
    "merge_repeats",
    "row_blocks",
    "squared_norms",
]

# Entries of a dense work block: 32 MB.
_BLOCK = 2**22


def merge_repeats(X):
    """X itself; a copy with its entries added up if it is sparse and holds some place twice."""
    if not sp.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def by_columns(X):
    """X itself, or its CSC form if it is sparse: cheap to cut into columns."""
    return X.tocsc() if sp.issparse(X) else X


def column_blocks(n: int, height: int) -> Iterator[slice]:
    """Slices of n columns, such that ``height`` numbers for each fit into a work block."""
    width = max(1, _BLOCK // max(height, 1))
    return (slice(start, min(start + width, n)) for start in range(0, n, width))


# The same for rows: the name tells the reader which side is cut.
row_blocks = column_blocks


def columns_of(X, which) -> np.ndarray:
    """Some columns as a dense float64 array."""
    part = X[:, which]
    part = part.toarray() if sp.issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def squared_norms(X) -> np.ndarray:
    """Squared lengths of the columns."""
    total = np.zeros(X.shape[1])
    if sp.issparse(X):
        X = X.tocsc()
        filled = np.flatnonzero(np.diff(X.indptr))
        if len(filled):
            squares = np.square(X.data, dtype=np.float64)
            total[filled] = np.add.reduceat(squares, X.indptr[filled])
        return total
    for rows in row_blocks(*X.shape):
        part = X[rows].astype(np.float64, copy=False)
        total += np.einsum("ij,ij->j", part, part)
    return total


def cross(X, Q: np.ndarray) -> np.ndarray:
    """X'Q, one row per column of X."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ Q, dtype=np.float64)
    total = np.zeros((X.shape[1], *Q.shape[1:]))
    for rows in row_blocks(*X.shape):
        total += X[rows].astype(np.float64).T @ Q[rows]
    return total


def apply(X, weights: np.ndarray) -> np.ndarray:
    """X times a vector (or a few)."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ weights, dtype=np.float64)
    parts = [X[rows].astype(np.float64) @ weights for rows in row_blocks(*X.shape)]
    return np.concatenate(parts)


def gram(X, *, center: bool = False) -> np.ndarray:
    """X'X as a dense array; with ``center`` of the columns without their means."""
    m, n = X.shape
    means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() if center else np.zeros(n)
    if sp.issparse(X):
        G = (X.T @ X).toarray().astype(np.float64, copy=False)
        return G - m * np.outer(means, means) if center else G
    if X.dtype == np.float64 and not center:
        return X.T @ X
    total = np.zeros((n, n))
    for rows in row_blocks(m, n):
        part = X[rows].astype(np.float64) - means
        total += part.T @ part
    return total


def kernel_product(X, Q: np.ndarray) -> np.ndarray:
    """XX'Q without ever holding X'Q whole."""
    total = np.zeros(Q.shape)
    for columns in column_blocks(X.shape[1], max(1, *Q.shape[1:]) if sp.issparse(X) else len(Q)):
        part = X[:, columns]
        part = part if sp.issparse(part) else part.astype(np.float64, copy=False)
        total += part @ (part.T @ Q)
    return total


def energies_along(X, Q: np.ndarray) -> np.ndarray:
    """Sums of squares of X'q for every column q: what each direction explains of X."""
    total = np.zeros(Q.shape[1])
    Q = np.ascontiguousarray(Q)  # sparse products would copy it for every block
    for columns in column_blocks(X.shape[1], Q.shape[1]):
        total += np.square(cross(X[:, columns], Q)).sum(axis=0)
    return total
