"""Matrices that are visited one block of columns at a time: the protocol.

A matrix with millions of columns has no use for inner products of all of them. It is cut into
blocks of whole columns instead, and every pass sends a few vectors of the length of a column to
each block and brings back a few numbers per column, or a few vectors that are added up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = [
    "ColumnParts",
    "Visit",
    "is_sparse",
    "largest_entry",
    "per_column",
    "summed",
    "total",
    "visiting",
]


class ColumnParts(ABC):
    """A matrix cut into blocks of columns, of which each is visited where it is.

    ``visit(part, *pieces)`` receives one block, a NumPy array or a CSC array of floating point
    numbers, and the same columns' entries of everything in ``along`` (arrays with one row per
    column). Empty columns of sparse data belong to no block.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns, empty ones included.
    dtype : dtype
        Of the entries.
    is_sparse : bool
        Whether blocks are sparse.
    places : ndarray of int
        Columns that the blocks hold, ascending.
    row_counts : ndarray of shape (shape[0],)
        Entries of every row.
    column_counts : ndarray of shape (len(places),)
        Entries of every column that a block holds.
    largest : float
        Largest entry in absolute value.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    is_sparse: bool
    places: np.ndarray
    row_counts: np.ndarray
    column_counts: np.ndarray
    largest: float
    ndim = 2

    @abstractmethod
    def fold(self, visit: Callable, merge: Callable[[list], Any], *along) -> Any:
        """Visit every block and merge the results, however they are grouped."""

    @abstractmethod
    def collect(self, visit: Callable, *along) -> list:
        """Visit every block; the results in order."""

    @abstractmethod
    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        """Visit all unordered pairs of blocks; for every block its merged results, in order.

        Here ``visit(part, other)`` returns what the first and what the second block gets; of a
        block with itself the first one counts.
        """

    @abstractmethod
    def take(self, columns) -> np.ndarray | sp.csc_array:
        """Some columns, by index, in memory."""

    @abstractmethod
    def __truediv__(self, scale: float) -> ColumnParts:
        """The same with all entries divided by a number."""

    @abstractmethod
    def filled(self) -> ColumnParts:
        """The same without the columns that no block holds."""

    @property
    def nbytes(self) -> float:
        """Bytes of all blocks, about."""
        entry = self.dtype.itemsize + (8 if self.is_sparse else 0)
        return float(entry) * float(self.column_counts.sum()) + 8.0 * len(self.places)

    def gather(self) -> np.ndarray | sp.csc_array:
        """All columns in one array."""
        return self.take(np.arange(self.shape[1]))

    def spread(self, results: Sequence[np.ndarray], fill: float = 0.0) -> np.ndarray:
        """Results per column of every block as one array over all columns.

        ``fill`` stands for the columns that no block holds.
        """
        values = np.concatenate(results)
        if len(values) == self.shape[1]:
            return values
        spread = np.full((self.shape[1], *values.shape[1:]), fill)
        spread[self.places] = values
        return spread


class Visit:
    """A function of a block, with what it needs beside the block.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._column_parts import Visit
    >>> Visit(np.dot, np.ones(2))(np.eye(2))
    array([1., 1.])
    """

    def __init__(self, function: Callable, *constants, **options):
        self.function, self.constants, self.options = function, constants, options

    def __call__(self, part, *pieces):
        return self.function(part, *pieces, *self.constants, **self.options)


def total(results: Sequence) -> Any:
    """Sum of results, a merge.

    Examples
    --------
    >>> from columnist.linalg._column_parts import total
    >>> total([1.0, 2.0, 3.0])
    6.0
    """
    return sum(results[1:], start=results[0])


def visiting(over_parts: Callable) -> Callable[[Callable], Callable]:
    """Let a function of an array X also take an X that is kept in blocks of columns.

    ``over_parts(function, X, ...)`` then says how its results come together, ``function`` being the
    decorated one.
    """

    def decorate(function: Callable) -> Callable:
        @wraps(function)
        def either(X, *args, **options):
            if isinstance(X, ColumnParts):
                return over_parts(either, X, *args, **options)
            return function(X, *args, **options)

        return either

    return decorate


def _spread(function: Callable, X: ColumnParts, *args, **options) -> np.ndarray:
    return X.spread(X.collect(Visit(function, *args, **options)))


def _added(function: Callable, X: ColumnParts, *args, **options):
    return X.fold(Visit(function, *args, **options), total)


# For functions that return a row, or a number, for every column; those without entries get zero.
per_column = visiting(_spread)
# For functions whose results for blocks of columns are added up.
summed = visiting(_added)


@visiting(lambda _, X: X.is_sparse)
def is_sparse(X) -> bool:
    """Whether X is a sparse matrix."""
    return sp.issparse(X)


@visiting(lambda _, X: X.largest)
def largest_entry(X) -> float:
    """Largest entry in absolute value."""
    values = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
