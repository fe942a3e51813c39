"""Sums of squares of columns around their means: whole, between and within classes.

Rounding counts as no variation: what is within a few units in the last place of a column's
length is exactly zero here. No input validation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from columnist.linalg.passes import column_blocks, squared_norms

__all__ = ["ClassScatter", "class_scatter", "column_scatter"]

# Variation below this share of a column's length is the rounding of its entries.
_ROUNDING = 4 * np.finfo(np.float64).eps
# Arrays of the size of a sparse block that exist at the same time.
_COPIES = 8
# Entries of a block of rows that is small enough for a cache, and rows that are worth a call.
_CACHED, _LEAST_ROWS = 2**18, 64


@dataclass(frozen=True)
class ClassScatter:
    """Sums of squares of every column: of the class means, and around them."""

    between: np.ndarray
    within: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Sum of squares around the mean of the column."""
        return self.between + self.within


def column_scatter(X, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Sum of squares :math:`\sum_i w_i (x_i - \bar x)^2` around the weighted mean of every column.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    weights : ndarray of shape (n_samples,), optional
        Weights of the samples, not negative; ones if None.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral.scatter import column_scatter
    >>> column_scatter(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([2., 0.])
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    if sp.issparse(X):
        return _sparse_scatter(X, weights)
    total, lengths = weights.sum(), np.zeros(X.shape[1])
    means, scatter, left = np.zeros((3, X.shape[1]))
    for rows, part in _shifted_rows(X):
        means += weights[rows] @ part / total
        lengths += weights[rows] @ np.square(X[rows], dtype=np.float64)
    for rows, part in _shifted_rows(X):
        part -= means
        scatter += weights[rows] @ np.square(part)
        left += weights[rows] @ part  # the rounding of the means
    return _without_rounding(scatter - left**2 / total, lengths)


def class_scatter(X, codes: np.ndarray) -> ClassScatter:
    """Variation of every column between and within classes. No input validation.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    codes : ndarray of shape (n_samples,)
        Class of every sample, an integer from 0; every class has a sample.

    Returns
    -------
    ClassScatter

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral.scatter import class_scatter
    >>> class_scatter(np.array([[1.0], [3.0], [6.0]]), np.array([0, 0, 1]))
    ClassScatter(between=array([10.66666667]), within=array([2.]))
    """
    sizes = np.bincount(codes)
    between, within = np.empty((2, X.shape[1]))
    for columns, means, squares in (_sparse if sp.issparse(X) else _dense)(X, codes, sizes):
        means -= sizes @ means / len(codes)
        between[columns] = sizes @ np.square(means)
        within[columns] = squares
    lengths = squared_norms(X)
    return ClassScatter(_without_rounding(between, lengths), _without_rounding(within, lengths))


def _shifted_rows(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of rows that stay in the cache, minus the first row.

    The shift keeps the digits of data far from zero.
    """
    first, height = X[0].astype(np.float64), max(_LEAST_ROWS, _CACHED // X.shape[1])
    for start in range(0, X.shape[0], height):
        rows = slice(start, start + height)
        yield rows, X[rows] - first


def _dense(X, codes, sizes) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Columns, their class means (up to a shift per column), and squares around these."""
    means, left = np.zeros((2, len(sizes), X.shape[1]))
    squares = np.zeros(X.shape[1])
    members = sp.csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)))
    for rows, part in _shifted_rows(X):
        means += members[rows].T @ part
    means /= sizes[:, None]
    for rows, part in _shifted_rows(X):
        part -= means[codes[rows]]
        squares += np.einsum("ij,ij->j", part, part)
        left += members[rows].T @ part  # the rounding of the means
    left /= sizes[:, None]
    yield slice(None), means + left, squares - sizes @ left**2


def _sparse(X, codes, sizes) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The same from the entries of a CSC matrix, some columns at a time."""
    c, height = len(sizes), _COPIES * max(len(sizes), X.nnz // X.shape[1])
    for columns in column_blocks(X.shape[1], height):
        part = X[:, columns]
        filled = np.diff(part.indptr)
        width = len(filled)
        column = np.repeat(np.arange(width), filled)
        cell = column * c + codes[part.indices]
        total = np.bincount(column, weights=part.data, minlength=width)
        # Zeros stay where they are, so only a full column can be shifted.
        shift = np.where(filled == len(codes), total / np.maximum(filled, 1), 0.0)
        moved = part.data - shift[column]

        def per_class(values, cell=cell, shape=(width, c)):
            return np.bincount(cell, weights=values, minlength=shape[0] * c).reshape(shape)

        empty = sizes - per_class(None)
        means = per_class(moved) / sizes
        moved -= means.ravel()[cell]
        left = per_class(moved) - empty * means  # the rounding of the means
        squares = per_class(moved**2) + empty * means**2 - left**2 / sizes
        yield columns, (means + left / sizes).T, squares.sum(axis=1)


def _sparse_scatter(X, weights: np.ndarray) -> np.ndarray:
    total, m = weights.sum(), X.shape[1]
    means = np.asarray(X.T @ weights, dtype=np.float64) / total
    filled = np.diff(X.indptr)
    columns = np.repeat(np.arange(m), filled)
    on, moved = weights[X.indices], X.data - means[columns]
    empty = total - np.bincount(columns, weights=on, minlength=m)
    empty[filled == X.shape[0]] = 0.0
    left = np.bincount(columns, weights=on * moved, minlength=m) - empty * means
    squares = np.bincount(columns, weights=on * moved**2, minlength=m) + empty * means**2
    lengths = np.bincount(columns, weights=on * np.square(X.data, dtype=np.float64), minlength=m)
    return _without_rounding(squares - left**2 / total, lengths)


def _without_rounding(scatter: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The scatter of columns of these squared lengths, with zeros for rounding."""
    return np.where(scatter > _ROUNDING**2 * lengths, scatter, 0.0)
