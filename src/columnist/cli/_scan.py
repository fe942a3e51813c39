"""What workers find out about blocks of a large file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from columnist.cli._errors import BadInput
from columnist.data._blocks import BlockMoments
from columnist.data._target import is_classes
from columnist.io._assemble import EXACT
from columnist.linalg._moments import Moments, merged_moments

__all__ = ["ColumnFacts", "Extracting", "FactFinder", "GapCount", "Gaps", "Judge", "Preparation"]
__all__ += [
    "Labels",
    "Scan",
    "extremes",
    "merged_extremes",
    "merged_facts",
    "merged_gaps",
    "merged_scans",
]

# Classes are few; nobody needs more different values than this.
_MOST_VALUES = 1_000_000


# -- targets and ids --------------------------------------------------------------


@dataclass(frozen=True)
class ColumnFacts:
    """What a column holds that is no feature.

    Attributes
    ----------
    count, missing, infinite : int
        Rows, those without a value, those with an infinite one.
    is_text : bool
        Whether there is text.
    whole : bool
        Whether all numbers are whole.
    values : ndarray or None
        All different values, in order, where there may be classes.
    """

    count: int
    missing: int
    infinite: int
    is_text: bool
    whole: bool
    values: np.ndarray | None

    def are_classes(self, name: str, task: str) -> bool:
        """Whether these are classes, as the option says or as they look."""
        if self.is_text:
            if task == "values":
                raise BadInput(f"the target {name!r} holds text, not values.")
            return True
        if task == "classes":
            if self.values is None:
                raise BadInput(f"the target {name!r} has too many different values for classes.")
            return True
        return task == "auto" and self.look_like_classes

    @property
    def look_like_classes(self) -> bool:
        """Whether estimators take the numbers for classes."""
        if self.values is None:
            return False
        return is_classes(self.values.astype(np.int64) if self.whole else self.values)

    def label_dtype(self) -> np.dtype:
        """Type that estimators take for classes: whole numbers, or text."""
        if self.whole and self.look_like_classes:
            return np.dtype(np.int64)
        return np.dtype(f"U{max(map(len, self._known))}") if self.is_text else np.dtype("U32")

    def labels(self) -> list[str]:
        """Names of the classes, in order."""
        return [
            str(label) for label in np.unique(Labels(self.label_dtype(), self.whole)(self._known))
        ]

    @property
    def _known(self) -> np.ndarray:
        assert self.values is not None  # there are classes
        return self.values

    def typed(self, values: np.ndarray) -> np.ndarray:
        """Values as they are written: text, whole numbers or others."""
        if self.is_text:
            return as_text(values)
        numbers = as_numbers(values)
        return numbers.astype(np.int64) if self.whole and not self.missing else numbers

    def example(self) -> np.ndarray:
        """A value of this kind."""
        return np.array(["a"], dtype=object) if self.is_text else np.zeros(1)


class FactFinder:
    """Facts of all columns of a block, and its number of rows.

    ``read_text`` says that whole numbers may be written as text.
    """

    def __init__(self, read_text: bool):
        self.read_text = read_text

    def __call__(self, *parts: np.ndarray) -> tuple[list[ColumnFacts], list[int]]:
        columns = [c for part in parts for c in (part[:, None] if part.ndim == 1 else part).T]
        return [_facts(column, self.read_text) for column in columns], [len(parts[0])]


def _facts(column: np.ndarray, read_text: bool) -> ColumnFacts:
    count = len(column)
    if not count:
        return ColumnFacts(0, 0, 0, False, True, np.zeros(0))
    if column.dtype.kind not in "biuf":
        text = as_text(column)
        there = text[[value is not None for value in text]]
        numbers = _whole_text(there) if read_text else None
        if numbers is None:
            values = np.unique(there.astype(str)).astype(object)
            return ColumnFacts(count, count - len(there), 0, True, False, values)
        column, missing = numbers, count - len(there)
    else:
        column = as_numbers(column)
        missing = int(np.isnan(column).sum())
        column = column[~np.isnan(column)]
    whole = bool(np.all(np.abs(column) < EXACT) and np.all(column == np.rint(column)))
    infinite = int(np.isinf(column).sum())
    return ColumnFacts(count, missing, infinite, False, whole, _few(np.unique(column)))


def _whole_text(text: np.ndarray) -> np.ndarray | None:
    """Text as whole numbers if no character is lost."""
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return numbers.astype(float) if (numbers.astype(str) == text).all() else None


def _few(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) <= _MOST_VALUES else None


def merged_facts(
    parts: Sequence[tuple[list[ColumnFacts], list[int]]],
) -> tuple[list[ColumnFacts], list[int]]:
    """Facts of all rows together."""
    columns = zip(*(facts for facts, _ in parts), strict=True)
    lengths = [length for _, some in parts for length in some]
    return [_together([f for f in facts if f.count] or facts[:1]) for facts in columns], lengths


def _together(facts: Sequence[ColumnFacts]) -> ColumnFacts:
    is_text = any(f.is_text for f in facts)
    sets = [f.values for f in facts]
    if is_text:
        sets = [
            s if f.is_text or s is None else np.array([str(int(v)) for v in s], dtype=object)
            for f, s in zip(facts, sets, strict=True)
        ]
    known = [s for s in sets if s is not None]
    values = _few(np.unique(np.concatenate(known))) if len(known) == len(sets) else None
    return ColumnFacts(
        sum(f.count for f in facts),
        sum(f.missing for f in facts),
        sum(f.infinite for f in facts),
        is_text,
        not is_text and all(f.whole for f in facts),
        values,
    )


class Labels:
    """A target as estimators take it: classes are whole numbers or text, values are float."""

    def __init__(self, dtype: np.dtype, whole: bool = False):
        self.dtype, self.whole = dtype, whole

    def __call__(self, y: np.ndarray) -> np.ndarray:
        y = np.asarray(y)
        y = y if y.dtype.kind not in "biuf" and self.dtype.kind == "U" else as_numbers(y)
        return (y.astype(np.int64) if self.whole else y).astype(self.dtype)


def as_text(values: np.ndarray) -> np.ndarray:
    """Text and None."""
    import pandas as pd

    text = np.empty(len(values), dtype=object)
    gone = pd.isna(values)
    text[:] = [None if g else str(value) for value, g in zip(values, gone, strict=True)]
    return text


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers; nan is missing."""
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    import pandas as pd

    return np.where(pd.isna(values), np.nan, values).astype(np.float64)


# -- features ---------------------------------------------------------------------


@dataclass(frozen=True)
class Gaps:
    """Rows, and by column: missing and infinite values, the mean of all others."""

    count: int
    missing: np.ndarray
    infinite: np.ndarray
    mean: np.ndarray


class GapCount:
    """Counts what is missing in a block."""

    def __call__(self, X: np.ndarray) -> Gaps:
        nothing, endless = np.isnan(X), np.isinf(X)
        there = len(X) - nothing.sum(axis=0)
        values = np.where(nothing | endless, 0.0, X)
        # Divided first: sums of large numbers may overflow.
        mean = (values / np.maximum(there, 1)).sum(axis=0)
        return Gaps(len(X), nothing.sum(axis=0), endless.sum(axis=0), mean)


def merged_gaps(parts: Sequence[Gaps]) -> Gaps:
    """Gaps of all rows together."""
    count = sum(part.count for part in parts)
    missing = reduce(add, (part.missing for part in parts))
    there = np.maximum(count - missing, 1)
    mean = reduce(add, (part.mean * ((part.count - part.missing) / there) for part in parts))
    return Gaps(count, missing, reduce(add, (part.infinite for part in parts)), mean)


class Scan:
    """Moments of a block, and its number of rows."""

    def __init__(self, read: Callable | None):
        self.moments = BlockMoments(read)

    def __call__(self, X: np.ndarray, *y) -> tuple[Moments, list[int]]:
        return self.moments(X, *y), [X.shape[0]]


def merged_scans(parts: Sequence[tuple[Moments, list[int]]]) -> tuple[Moments, list[int]]:
    """Moments of all rows, and the rows of every block in order."""
    lengths = [length for _, some in parts for length in some]
    return merged_moments([moments for moments, _ in parts]), lengths


def extremes(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest entries of the columns."""
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


def merged_extremes(parts) -> tuple[np.ndarray, np.ndarray]:
    """Those of all rows together."""
    low, high = zip(*parts, strict=True)
    return np.min(low, axis=0), np.max(high, axis=0)


class Preparation:
    """Fills the gaps of a block, and centres and scales its columns."""

    def __init__(self, fill: np.ndarray | None, mean: np.ndarray | None, scale: np.ndarray | None):
        self.fill, self.mean, self.scale = fill, mean, scale

    def __call__(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        if self.fill is not None:
            X = np.where(np.isnan(X), self.fill, X)
        X = X if self.mean is None else X - self.mean
        return X if self.scale is None else X / self.scale


class Extracting:
    """Columns of a block as read, gaps filled, and features extracted from all of them."""

    def __init__(self, columns, fill, mean, scale, selector):
        self.columns, self.selector = columns, selector
        self.filled = Preparation(fill, None, None)
        self.prepared = Preparation(None, mean, scale)

    def __call__(self, X: np.ndarray, *sides: np.ndarray) -> list[np.ndarray]:
        X = self.filled(X)
        if self.columns is None or not len(X):
            return [X if self.columns is None else X[:, self.columns], *sides]
        extracted = np.asarray(self.selector.transform(self.prepared(X)))[:, len(self.columns) :]
        return [np.hstack([X[:, self.columns], extracted]), *sides]


class Judge:
    """Distances of rows from a fitted robust PCA, how far they are, and its verdict."""

    def __init__(self, estimator):
        self.estimator = estimator

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if not len(X):
            return np.zeros((4, 0))
        fit = self.estimator
        return np.stack([
            fit.score_distances(X), fit.orthogonal_distances(X), -fit.score_samples(X),
            fit.predict(X),
        ])  # fmt: skip
