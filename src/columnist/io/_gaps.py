"""Missing and infinite values: counted block by block, refused, or filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp

from columnist.io._table import DataFileError, listed, plural, quoted

__all__ = ["Filling", "Gaps", "counted", "fill_block", "filling_with", "find_gaps", "is_complete"]
__all__ += ["merged_gaps", "plan_filling", "refuse_infinite"]

# Larger numbers may overflow where they are summed up.
_LARGE = 1e150


@dataclass(frozen=True)
class Gaps:
    """Rows, and by column: missing and infinite values; mean and extremes of all others."""

    count: int
    missing: np.ndarray
    infinite: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.missing.any() or self.infinite.any())

    @property
    def constant(self) -> np.ndarray:
        """Which columns hold one value only, up to rounding."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        return self.high / 2 - self.low / 2 <= 4 * np.finfo(float).eps * largest


def find_gaps(X: np.ndarray | sp.csr_array) -> Gaps:
    """What is missing in a block."""
    missing, infinite = (_per_column(X, test) for test in (np.isnan, np.isinf))
    m, n = X.shape
    there = np.maximum(m - missing - infinite, 1)
    if not m:
        return Gaps(0, missing, infinite, np.zeros(n), np.full(n, np.inf), np.full(n, -np.inf))
    if sp.issparse(X):
        low, high = (_row(f(axis=0)) for f in (X.nanmin, X.nanmax))
        values = np.where(np.isfinite(X.data), X.data, 0.0)
        sums = np.bincount(X.indices, values / there[X.indices], minlength=n)
        return Gaps(m, missing, infinite, np.clip(sums, low, high), low, high)
    if infinite.any():
        X = np.where(np.isinf(X), np.nan, X)
    low = np.fmin.reduce(X, axis=0, initial=np.inf)
    high = np.fmax.reduce(X, axis=0, initial=-np.inf)
    largest = np.where(low <= high, np.maximum(np.abs(low), np.abs(high)), 0.0).max(initial=0.0)
    unit = max(1.0, float(largest) / _LARGE)
    X = X / unit if unit > 1.0 else X
    total = np.nansum(X, axis=0) if there.min() < m else X.sum(axis=0)
    # Of one value only, that value and not its rounded mean.
    return Gaps(m, missing, infinite, np.clip(total / there * unit, low, high), low, high)


def _row(extremes) -> np.ndarray:
    return np.asarray(extremes.toarray(), dtype=float).ravel()


def _per_column(X: np.ndarray | sp.csr_array, test: Callable) -> np.ndarray:
    """How many entries of each column pass a test that zero fails."""
    if sp.issparse(X):
        return np.bincount(X.indices[test(X.data)], minlength=X.shape[1])
    counts = np.zeros(X.shape[1], dtype=np.intp)
    if is_complete(X):
        return counts
    for start in range(0, len(X), 4096):
        counts += np.count_nonzero(test(X[start : start + 4096]), axis=0)
    return counts


def is_complete(X: np.ndarray | sp.csr_array) -> bool:
    """Whether nothing is missing or infinite, in one quick pass; large numbers may hide that."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def merged_gaps(parts: Sequence[Gaps]) -> Gaps:
    """Gaps of all rows together."""
    count = sum(part.count for part in parts)
    missing = reduce(add, (part.missing for part in parts))
    infinite = reduce(add, (part.infinite for part in parts))
    there = np.maximum(count - missing - infinite, 1)
    low = np.min([part.low for part in parts], axis=0)
    high = np.max([part.high for part in parts], axis=0)
    shares = ((part.count - part.missing - part.infinite) / there for part in parts)
    mean = sum(part.mean * share for part, share in zip(parts, shares, strict=True))
    return Gaps(count, missing, infinite, np.clip(mean, low, high), low, high)


@dataclass(frozen=True)
class Filling:
    """Columns that are kept, what fills their gaps, and what is told about it."""

    places: np.ndarray
    values: np.ndarray | None = None
    imputed: dict[str, tuple[int, float]] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)


def plan_filling(
    names: Sequence[str],
    gaps: Gaps,
    missing: str,
    *,
    values: np.ndarray | None = None,
    fixed: bool = False,
    remedies: str = "use missing='mean' to impute.",
) -> Filling:
    """What to do about the gaps.

    ``values`` fill them (means by default); ``fixed`` says that no column may be left out;
    ``remedies`` is said where nothing may be done.
    """
    refuse_infinite(names, gaps)
    places = np.arange(len(names))
    if not gaps.missing.any():
        return Filling(places)
    if missing == "refuse":
        total = plural(int(gaps.missing.sum()), "missing value")
        raise DataFileError(f"{total} in {counted(names, gaps.missing)}; {remedies}")
    empty = gaps.missing == gaps.count
    if empty.all() or (fixed and empty.any()):
        raise DataFileError(f"no value at all in {counted(names, gaps.missing * empty)}.")
    places = np.flatnonzero(~empty)
    ignored = {names[i]: "empty" for i in np.flatnonzero(empty).tolist()}
    if missing == "drop":
        return Filling(places, None, {}, ignored)
    return filling_with(names, gaps, gaps.mean if values is None else values, places, ignored)


def refuse_infinite(names: Sequence[str], gaps: Gaps) -> None:
    """Nothing can stand for an infinite value."""
    if gaps.infinite.any():
        where = counted(names, gaps.infinite)
        raise DataFileError(f"infinite values in {where}; correct the file.")


def filling_with(
    names: Sequence[str],
    gaps: Gaps,
    values: np.ndarray,
    places: np.ndarray | None = None,
    ignored: dict[str, str] | None = None,
) -> Filling:
    """Gaps filled with given values."""
    places = np.arange(len(names)) if places is None else places
    imputed = {
        names[i]: (int(gaps.missing[i]), float(values[i]))
        for i in places.tolist()
        if gaps.missing[i]
    }
    return Filling(places, values[places] if imputed else None, imputed, ignored or {})


def fill_block(X: np.ndarray | sp.csr_array, values: np.ndarray | None):
    """A block with these values, one for each column, in place of missing ones."""
    if values is None:
        return X
    if not sp.issparse(X):
        return np.where(np.isnan(X), values, X)
    X = X.copy()
    gone = np.isnan(X.data)
    X.data[gone] = values[X.indices[gone]]
    return X


def counted(names: Sequence[str], counts: np.ndarray) -> str:
    """The columns with a count, and the counts."""
    found = np.flatnonzero(counts)
    first = [f"{quoted(names[place])} ({counts[place]})" for place in found[:6]]
    return f"column{'s' * (len(found) > 1)} {listed(first, len(found))}"
