"""Passes over a data matrix, dense or sparse, in float64 and little memory.

X is read in blocks where a product would be larger than X: float32 data are never copied whole,
wide sparse data never become dense; a :class:`~columnist.linalg._column_parts.ColumnParts` is
visited where it is. No input validation; column means are not removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, Visit, per_column, summed, total, visiting
from columnist.linalg._rounding import CONSTANT

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


# The same for rows: the name shows which side is divided.
row_blocks = column_blocks


def others(n: int, taken: Sequence[int] | np.ndarray) -> np.ndarray:
    """Columns, of n, that are not taken, ascending."""
    free = np.ones(n, dtype=bool)
    free[list(taken)] = False
    return np.flatnonzero(free)


@visiting(lambda _, X, which: X.take(which))
def take_columns(X, which):
    """Some columns, dense or sparse as they are, in memory."""
    return X[:, which]


@visiting(lambda _, X: (X.places, X.filled()))
def without_empty(X):
    """Which columns of X may hold something, and X without the empty ones of a sparse matrix."""
    if not sp.issparse(X):
        return np.arange(X.shape[1]), X
    X = X.tocsc()
    places = np.flatnonzero(np.diff(X.indptr))
    return places, X[:, places]


def columns_of(X, which) -> np.ndarray:
    """Some columns as a dense float64 array."""
    part = take_columns(X, which)
    part = part.toarray() if sp.issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def without_means(X: np.ndarray) -> np.ndarray:
    """The columns minus their means; of constant ones exactly nothing is left."""
    rest = X - X.mean(axis=0, dtype=np.float64)
    rest -= rest.mean(axis=0)  # sums of large numbers round
    largest = np.abs(X).max(axis=0, initial=0.0)
    rest[:, np.abs(rest).max(axis=0, initial=0.0) <= CONSTANT * largest] = 0.0
    return rest


@per_column
def squared_norms(X) -> np.ndarray:
    """Squared lengths of the columns."""
    squares = np.zeros(X.shape[1])
    if sp.issparse(X):
        X = X.tocsc()
        filled = np.flatnonzero(np.diff(X.indptr))
        if len(filled):
            entries = np.square(X.data, dtype=np.float64)
            squares[filled] = np.add.reduceat(entries, X.indptr[filled])
        return squares
    for rows in row_blocks(*X.shape):
        part = X[rows].astype(np.float64, copy=False)
        squares += np.einsum("ij,ij->j", part, part)
    return squares


def centered_norms(X, means: np.ndarray) -> np.ndarray:
    """Squared lengths of sparse columns without their means, at the cost of their entries."""
    moved = X.tocsc().astype(np.float64)
    filled, m = np.diff(moved.indptr), X.shape[0]
    moved.data -= np.repeat(means, filled)
    left = (np.asarray(moved.sum(axis=0)).ravel() - (m - filled) * means) / max(m, 1)
    moved.data -= np.repeat(left, filled)  # sums of large numbers round
    return squared_norms(moved) + (m - filled) * (means + left) ** 2


@per_column
def cross(X, Q: np.ndarray) -> np.ndarray:
    """X'Q, one row per column of X."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ Q, dtype=np.float64)
    products = np.zeros((X.shape[1], *Q.shape[1:]))
    for rows in row_blocks(*X.shape):
        products += X[rows].astype(np.float64).T @ Q[rows]
    return products


@visiting(lambda function, X, weights: X.fold(function, total, weights))
def apply(X, weights: np.ndarray) -> np.ndarray:
    """X times a vector (or a few)."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ weights, dtype=np.float64)
    parts = [X[rows].astype(np.float64) @ weights for rows in row_blocks(*X.shape)]
    return np.concatenate(parts)


def _both_ways(function, X: ColumnParts, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pieces, images = zip(*X.collect(Visit(function, q)), strict=True)
    return X.spread(pieces), total(images)


@visiting(_both_ways)
def cross_and_back(X, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X'q and XX'q."""
    products = cross(X, q)
    return products, apply(X, products)


def gram(X, *, center: bool = False) -> np.ndarray:
    """X'X as a dense array; with ``center`` of the columns without their means."""
    m, n = X.shape
    means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() if center else np.zeros(n)
    if sp.issparse(X):
        X = X.astype(np.float64, copy=False)
        G = (X.T @ X).toarray()
        return G - m * np.outer(means, means) if center else G
    if X.dtype == np.float64 and not center:
        return X.T @ X
    products = np.zeros((n, n))
    for rows in row_blocks(m, n):
        part = X[rows].astype(np.float64) - means
        products += part.T @ part
    return products


@summed
def kernel_product(X, Q: np.ndarray) -> np.ndarray:
    """XX'Q without ever holding X'Q whole."""
    image = np.zeros(Q.shape)
    for columns in column_blocks(X.shape[1], max(1, *Q.shape[1:]) if sp.issparse(X) else len(Q)):
        part = X[:, columns]
        part = part if sp.issparse(part) else part.astype(np.float64, copy=False)
        image += part @ (part.T @ Q)
    return image


@summed
def energies_along(X, Q: np.ndarray) -> np.ndarray:
    """Sums of squares of X'q for every column q: what each direction explains of X."""
    energies = np.zeros(Q.shape[1])
    Q = np.ascontiguousarray(Q)  # sparse products would copy it for every block
    for columns in column_blocks(X.shape[1], Q.shape[1]):
        energies += np.square(cross(X[:, columns], Q)).sum(axis=0)
    return energies


@per_column
def squares_along(X, Q: np.ndarray) -> np.ndarray:
    """Squared length of Q'x for every column x of X; Q'X is never held whole."""
    squares = np.empty(X.shape[1])
    for columns in column_blocks(X.shape[1], Q.shape[1] if sp.issparse(X) else sum(Q.shape)):
        squares[columns] = np.square(cross(X[:, columns], Q)).sum(axis=1)
    return squares
