"""Medians of columns whose rows are visited block by block: exact, in two passes.

A sample brackets each median; one pass counts what lies below, and brings what lies between.
A bracket that missed is opened, and the pass repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from columnist.robust._row_data import RowData

__all__ = ["column_medians"]

# Rows of the sample, and how many standard deviations of its median the bracket reaches.
_SAMPLE, _REACH = 40_000, 5.0


@dataclass(frozen=True)
class Bracketed:
    """Per column: entries below, at, between and at the ends of a bracket; those between."""

    counts: np.ndarray
    between: list[np.ndarray]


@dataclass(frozen=True)
class Bracket:
    """Visitor that sorts the entries of every column by a bracket."""

    low: np.ndarray
    high: np.ndarray

    def __call__(self, block: np.ndarray) -> Bracketed:
        inside = (block > self.low) & (block < self.high)
        at_high = (block == self.high) & (self.low < self.high)
        parts = (block < self.low, block == self.low, inside, at_high)
        counts = np.array([np.count_nonzero(part, axis=0) for part in parts])
        between = [
            column[chosen].astype(np.float64)
            for column, chosen in zip(block.T, inside.T, strict=True)
        ]
        return Bracketed(counts, between)


def merged_brackets(parts: Sequence[Bracketed]) -> Bracketed:
    """The same for all rows."""
    columns = zip(*(part.between for part in parts), strict=True)
    counts = np.sum([part.counts for part in parts], axis=0)
    return Bracketed(counts, [np.concatenate(c) for c in columns])


def column_medians(data: RowData) -> np.ndarray:
    """Median of every column."""
    n, p = data.shape
    ranks = (n - 1) // 2, n // 2
    low, high = _brackets(data)
    found = np.full(p, np.nan)
    while np.isnan(found).any():
        seen = data.fold(Bracket(low, high), merged_brackets)
        for j in np.flatnonzero(np.isnan(found)):
            column = seen.counts[:, j], np.sort(seen.between[j]), low[j], high[j]
            found[j] = (_entry(ranks[0], *column) + _entry(ranks[1], *column)) / 2.0
        missed = np.isnan(found)
        low = np.where(missed, -np.inf, 0.0)
        high = np.where(missed, np.inf, 0.0)
    return found


def _brackets(data: RowData) -> tuple[np.ndarray, np.ndarray]:
    n = data.shape[0]
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False))
    rows = np.sort(data.rows(some), axis=0)
    away = math.ceil(_REACH * math.sqrt(len(rows)) / 2.0)
    middle = len(rows) // 2
    return rows[max(middle - away, 0)], rows[min(middle + away, len(rows) - 1)]


def _entry(rank: int, counts: np.ndarray, between: np.ndarray, low: float, high: float) -> float:
    """The entry of a rank, or NaN if it lies outside the bracket."""
    edges = np.cumsum(counts)
    if rank < edges[0] or rank >= edges[3]:
        return np.nan
    if rank < edges[1]:
        return low
    return between[rank - edges[1]] if rank < edges[2] else high
