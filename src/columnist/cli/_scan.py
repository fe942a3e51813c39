"""Properties of columns, computed block by block, and the preparation of blocks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.cli._errors import BadInput
from columnist.data._blocks import BlockMoments
from columnist.data._target import is_classes
from columnist.io._read import EXACT, Gaps, fill_block, find_gaps, merged_gaps
from columnist.io._table import objects_of
from columnist.linalg._moments import Moments, merged_moments

# Classes are few: more different values than this are not counted.
_MOST_VALUES = 1_000_000


# -- targets and ids --------------------------------------------------------------


@dataclass(frozen=True)
class ColumnFacts:
    """What a column holds that is no feature: rows, and how many are without a value or infinite.

    ``whole`` says that all numbers are whole; ``values`` are all different ones, in order, where
    there may be classes.
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

    def reader(self) -> Labels:
        """What reads classes in a type that estimators take for such: whole numbers, or text."""
        if self.whole and self.look_like_classes:
            return Labels(np.dtype(np.int64))
        length = max(map(len, self._known)) if self.is_text else 32
        return Labels(np.dtype(f"U{length}"), self.whole)

    def labels(self) -> list[str]:
        """Names of the classes, in order."""
        return [str(label) for label in np.unique(self.reader()(self._known))]

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
        """A value of this kind, as it is written."""
        return self.typed(np.array(["a"], dtype=object) if self.is_text else np.zeros(1))


def all_facts(*parts: np.ndarray, read_text: bool) -> tuple[list[ColumnFacts], list[int]]:
    """Facts of all columns of a block, and its number of rows.

    ``read_text`` says that whole numbers may be written as text.
    """
    columns = [c for part in parts for c in (part[:, None] if part.ndim == 1 else part).T]
    return [column_facts(column, read_text) for column in columns], [len(parts[0])]


def column_facts(column: np.ndarray, read_text: bool = False) -> ColumnFacts:
    """Facts of one column."""
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
    values = np.unique(column)
    few = values if len(values) <= _MOST_VALUES else None
    return ColumnFacts(count, missing, infinite, False, whole, few)


def _whole_text(text: np.ndarray) -> np.ndarray | None:
    """Text as whole numbers if no character is lost."""
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return numbers.astype(float) if (numbers.astype(str) == text).all() else None


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
    values = np.unique(np.concatenate(known)) if len(known) == len(sets) else None
    values = None if values is None or len(values) > _MOST_VALUES else values
    whole = not is_text and all(f.whole for f in facts)
    names = ("count", "missing", "infinite")
    count, missing, infinite = (sum(getattr(f, name) for f in facts) for name in names)
    return ColumnFacts(count, missing, infinite, is_text, whole, values)


@dataclass(frozen=True)
class Labels:
    """A target as estimators take it: classes are whole numbers or text, values are float."""

    dtype: np.dtype
    whole: bool = False

    def __call__(self, y: np.ndarray) -> np.ndarray:
        y = np.asarray(y)
        y = y if y.dtype.kind not in "biuf" and self.dtype.kind == "U" else as_numbers(y)
        return (y.astype(np.int64) if self.whole else y).astype(self.dtype)


def as_text(values: np.ndarray) -> np.ndarray:
    """Text and None."""
    return objects_of(None if is_gone(value) else value for value in values)


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers; nan is missing."""
    if values.dtype.kind == "O":
        values = np.array([np.nan if is_gone(value) else value for value in values])
    return values.astype(np.float64)


def is_gone(value) -> bool:
    """Whether a value is missing; pandas has a word of its own for that, where it is used."""
    pandas = sys.modules.get("pandas")
    return value is None or value is getattr(pandas, "NA", None) or value != value


# -- features ---------------------------------------------------------------------


def scan(X: np.ndarray, *y, read: Callable | None) -> tuple[Gaps, Moments | None, list[int]]:
    """Gaps of a block, its moments where it has none, and its number of rows."""
    gaps = find_gaps(X)
    return gaps, None if gaps.found else BlockMoments(read)(X, *y), [X.shape[0]]


def merged_scans(parts) -> tuple[Gaps, Moments | None, list[int]]:
    """Gaps and moments of all rows, and the rows of every block in order."""
    gaps, moments, lengths = zip(*parts, strict=True)
    whole = None if any(m is None for m in moments) else merged_moments(list(moments))
    return merged_gaps(gaps), whole, [length for some in lengths for length in some]


@dataclass(frozen=True)
class Preparation:
    """Fills the gaps of a block, and centres and scales its columns.

    Of constant columns nothing is left where they are centred, whatever the rounding of a mean.
    """

    fill: np.ndarray | None = None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None
    constant: np.ndarray | None = None

    def __call__(self, X):
        X = fill_block(X, self.fill)
        if sp.issparse(X):
            return X if self.scale is None else sp.csr_array(X @ sp.diags_array(1.0 / self.scale))
        X = np.asarray(X, dtype=np.float64)
        if self.mean is not None:
            X = X - self.mean
            if self.constant is not None:
                X[:, self.constant] = 0.0
        return X if self.scale is None else X / self.scale


@dataclass(frozen=True)
class Extracting:
    """Columns of a block as read, gaps filled, and features extracted from all of them.

    ``columns`` are those to keep if there is a ``selector`` to extract others; None keeps all.
    """

    columns: list[int] | None
    prepare: Preparation
    selector: Any

    def __call__(self, X, *sides: np.ndarray) -> list:
        X = fill_block(X, self.prepare.fill)
        if self.columns is None:
            return [X, *sides]
        kept = X[:, self.columns]
        if not X.shape[0]:
            return [kept, *sides]
        extracted = np.asarray(self.selector.transform(self.prepare(X)))[:, len(self.columns) :]
        kept = kept.toarray() if sp.issparse(kept) else kept
        return [np.hstack([kept, extracted]), *sides]


def judged(X: np.ndarray, fit: Any) -> np.ndarray:
    """Distances of rows from a fitted robust PCA, how far they are, and its verdict."""
    if not len(X):
        return np.zeros((4, 0))
    return np.stack([
        fit.score_distances(X), fit.orthogonal_distances(X), -fit.score_samples(X), fit.predict(X)
    ])  # fmt: skip
