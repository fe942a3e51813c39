"""Matrices that are visited one block of columns at a time: the protocol.

The inner products of millions of columns cannot be stored. Every pass sends a few vectors of the
length of a column to each block, and returns a few numbers per column, or vectors that are summed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp


class ColumnParts(ABC):
    """A matrix cut into blocks of columns, of which each is visited where it is. ``visit(part,
    *pieces)`` receives one block, a NumPy array or a CSC array of floating point numbers, and the
    same columns' entries of everything in ``along`` (arrays with one row per column). Empty columns
    of sparse data belong to no block."""

    shape: tuple[int, int]  # empty columns included
    dtype: np.dtype
    is_sparse: bool  # whether blocks are
    places: np.ndarray  # columns that the blocks hold, ascending
    row_counts: np.ndarray  # entries of every row
    column_counts: np.ndarray  # entries of every column that a block holds
    largest: float  # entry, in absolute value
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
        ``visit(part, other)`` returns what the first and what the second block gets; of a block
        with itself the first one counts."""

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
        """Results per column of every block as one array, ``fill`` where no block holds a
        column."""
        values = np.concatenate(results)
        if len(values) == self.shape[1]:
            return values
        spread = np.full((self.shape[1], *values.shape[1:]), fill)
        spread[self.places] = values
        return spread


class Visit:
    """A function of a block, with what it needs beside the block."""

    def __init__(self, function: Callable, *constants, **options):
        self.function, self.constants, self.options = function, constants, options

    def __call__(self, part, *pieces):
        return self.function(part, *pieces, *self.constants, **self.options)


def total(results: Sequence) -> Any:
    """Sum of results, a merge."""
    return sum(results[1:], start=results[0])


def visiting(over_parts: Callable) -> Callable[[Callable], Callable]:
    """Let a function of an array X also take an X that is kept in blocks of columns:
    ``over_parts(function, X, ...)`` says how its results come together."""

    def decorate(function: Callable) -> Callable:
        @wraps(function)
        def either(X, *args, **options):
            if isinstance(X, ColumnParts):
                return over_parts(either, X, *args, **options)
            return function(X, *args, **options)

        return either

    return decorate


# For functions that return a row, or a number, for every column; those without entries get zero.
per_column = visiting(lambda own, X, *args, **how: X.spread(X.collect(Visit(own, *args, **how))))
# For functions whose results for blocks of columns are added up.
summed = visiting(lambda own, X, *args, **how: X.fold(Visit(own, *args, **how), total))


@visiting(lambda _, X: X.is_sparse)
def is_sparse(X) -> bool:
    """Whether X is a sparse matrix."""
    return sp.issparse(X)


@visiting(lambda _, X: X.largest)
def largest_entry(X) -> float:
    """Largest entry in absolute value."""
    values = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
