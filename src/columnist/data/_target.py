"""Interpretation of the target y: the only place that decides whether it holds classes or numbers.

A vector is classes if it is boolean, text or categorical, integer with at most 20 distinct values,
or floating point with exactly two; otherwise it is numbers. So is a matrix, also one with a single
column, unless that is text or categorical. The type of y overrides this: ``y.astype(str)`` is
classes, ``y.reshape(-1, 1)`` is numbers.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from columnist.data._blocks import RowBlocks, open_blocks

# Integers with more distinct values than this are numbers.
MOST_CLASSES = 20
# Distinct values up to which numbers of a type are classes; text always is.
_MOST = {"i": MOST_CLASSES, "u": MOST_CLASSES, "f": 2}
# What a stream of labels is answered with.
_UNNAMED = (
    "y holds class labels, of which one batch may not show all: use RunningMoments(classes=...). "
    "For values, pass y as a matrix with one column."
)
_MISSING = "y has missing labels: remove those rows, or name them as a class."
# Number of first values that usually show that there are many.
_GLANCE = 1000


class Target(NamedTuple):
    """What y means: a float matrix of shape (n_samples, n_targets), "classes" or "numbers", and the
    labels of the columns, None for numbers."""

    matrix: np.ndarray
    kind: str
    classes: np.ndarray | None


def as_target(y, n_samples: int) -> Target:
    """The target of ``n_samples`` rows; classes become one indicator column each."""
    values, classes = _read(y)
    read = _Reader(classes)
    matrix = read(values)
    check_consistent_length(matrix, np.empty(n_samples))
    return Target(matrix, read.kind, classes)


def resolve_target(y, n_samples: int) -> np.ndarray:
    """The matrix of :func:`as_target` alone."""
    return as_target(y, n_samples).matrix


def target_kind(y) -> str:
    """Whether y holds "classes" or "numbers"; it may be a collection of blocks."""
    blocks = open_blocks(y)
    classes = _read(y)[1] if blocks is None else _classes_in(blocks)
    return _Reader(classes).kind


def is_classes(y) -> bool:
    """Whether y holds classes."""
    return target_kind(y) == "classes"


def open_target(y, X: RowBlocks):
    """The target of a matrix of blocks, which may be blocks itself, and what reads a part of it as
    a float matrix and has ``kind`` and ``classes``."""
    blocks = open_blocks(y)
    if blocks is not None:
        return blocks, _Reader(_classes_in(blocks))
    target = as_target(y, X.shape[0])
    return target.matrix, _Reader(target.classes, known=True)


def open_numbers(y, X: RowBlocks):
    """The same for a target that is numbers, whatever it looks like."""
    blocks = open_blocks(y)
    if blocks is not None:
        return blocks, _Reader(None)
    matrix = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    check_consistent_length(matrix, np.empty(X.shape[0]))
    return matrix, _Reader(None, known=True)


def open_known(classes: np.ndarray | None) -> Callable:
    """The same for a target like one that was read before: of these classes, or of numbers."""
    if classes is None:
        return open_numbers

    def opened(y, X):
        blocks = open_blocks(y)
        if blocks is not None:
            return blocks, _Reader(classes)
        return StreamTarget(classes).read(y, X.shape[0]), _Reader(classes, known=True)

    return opened


def resolve_classes(y, n_samples: int | None, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the code of every sample's class, for a ``caller`` that needs them: any integers
    are classes to it, and only floating point numbers with a fraction are refused. ``n_samples`` is
    how many there should be, None for any number."""
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if n_samples is not None:
        check_consistent_length(y, np.empty(n_samples))
    try:
        if not is_classes(y):
            check_classification_targets(y)
    except ValueError as error:
        raise ValueError(
            f"{caller} needs class labels in y: {error} For values, cut them into classes first "
            "(KBinsDiscretizer)."
        ) from None
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{caller} needs at least two classes in y; got one class.")
    return classes, codes


class StreamTarget:
    """A target that comes in batches: numbers unless ``classes`` names all labels. Distinct values
    of all batches are counted, as far as the rule needs, and ``kind`` raises if the target turned
    out to hold classes that were not named."""

    def __init__(self, classes=None):
        self._labels = None if classes is None else np.unique(classes)
        self._values = _DistinctValues(all_kept=False)
        self._found: np.ndarray | None = np.zeros(0, dtype=np.int64)

    def read(self, y, n_samples: int) -> np.ndarray:
        """The matrix of one batch."""
        if self._labels is not None:
            check_consistent_length(y, np.empty(n_samples))
            labels = column_or_1d(y)
            strange = np.setdiff1d(labels, self._labels)
            if len(strange):
                raise ValueError(f"y holds labels that are not in classes: {strange[:5].tolist()}.")
            return _Reader(self._labels)(np.asarray(labels))
        values, classes = _read(y)
        if classes is not None and classes.dtype.kind not in "iuf":
            raise ValueError(_UNNAMED)
        matrix = _Reader(None)(values)
        check_consistent_length(matrix, np.empty(n_samples))
        self._add(self._values(values) if values.ndim == 1 else None)
        return matrix

    def merge(self, other: StreamTarget) -> None:
        """Add what another one has seen."""
        self._add(other._found)

    def _add(self, found: np.ndarray | None) -> None:
        self._found = self._values.merge([self._found, found])

    @property
    def kind(self) -> str:
        """What all batches together hold."""
        if self._labels is not None:
            return "classes"
        if self._found is not None and _classes_among(self._found, False) is not None:
            raise ValueError(_UNNAMED)
        return "numbers"


class _Reader:
    """Reads labels as one column per class, and numbers, where there are no classes, as a matrix;
    what was read before (``known``) stays as it is."""

    def __init__(self, classes: np.ndarray | None, *, known: bool = False):
        self.classes, self.known = classes, known
        self.kind = "numbers" if classes is None else "classes"

    def __call__(self, y: np.ndarray) -> np.ndarray:
        if self.known:
            return y
        if self.classes is None:
            matrix = y[:, None] if y.ndim == 1 else y
            return check_array(matrix, dtype=np.float64, input_name="y", ensure_min_samples=0)
        labels = _typed(np.ravel(y)).astype(self.classes.dtype, copy=False)
        codes = np.searchsorted(self.classes, labels)
        return (codes[:, None] == np.arange(len(self.classes))).astype(np.float64)


def _read(y) -> tuple[np.ndarray, np.ndarray | None]:
    """y in memory as an array, and its classes in order if it holds any."""
    y = y.toarray() if sp.issparse(y) else y
    # A list is read as objects first: NumPy would turn a missing label into the string "nan".
    values = np.asarray(y if hasattr(y, "dtype") else np.asarray(y, dtype=object))
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] != 1):
        return values, None
    vector = _typed(np.ravel(values))
    categorical = _is_categorical(y)
    if values.ndim == 2 and not categorical and vector.dtype.kind not in "US":
        return vector[:, None], None
    return vector, _classes_among(_distinct(vector, all_kept=categorical), categorical)


def _is_categorical(y) -> bool:
    """Whether a series, or the one column of a frame, has a type made for categories."""
    types = [y.dtype] if hasattr(y, "dtype") else list(getattr(y, "dtypes", ()))
    return len(types) == 1 and str(types[0]).startswith(("category", "Categorical", "Enum"))


def _typed(y: np.ndarray) -> np.ndarray:
    """A vector of objects as integers, floating point numbers or text; others as they are."""
    if y.dtype.kind != "O":
        return y
    missing = np.array([_is_missing(value) for value in y], dtype=bool)
    if all(isinstance(value, numbers.Number) for value in y[~missing]):
        if missing.any():
            y = np.where(missing, np.nan, y)
        integral = not missing.any() and all(isinstance(value, numbers.Integral) for value in y)
        return y.astype(np.int64 if integral else np.float64)
    if missing.any():
        raise ValueError(_MISSING)
    return y.astype(str)


def _is_missing(value) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _distinct(y: np.ndarray, *, all_kept: bool) -> np.ndarray | None:
    """Distinct values in order; None if there are too many for classes of their type."""
    most = np.inf if all_kept else _MOST.get(y.dtype.kind, np.inf)
    if len(y) > _GLANCE and len(np.unique(y[:_GLANCE])) > most:
        return None
    values = np.unique(y)
    return values if len(values) <= most else None


def _classes_among(values: np.ndarray | None, categorical: bool) -> np.ndarray | None:
    """The distinct values of a vector if these are classes."""
    if values is None:
        return None
    kind = values.dtype.kind
    if categorical:
        if kind == "f" and np.isnan(values).any():
            raise ValueError(_MISSING)
        return values
    if kind == "f":
        return values if len(values) == 2 and np.isfinite(values).all() else None
    return values if kind in "biuUS" and len(values) <= _MOST.get(kind, np.inf) else None


def _classes_in(blocks: RowBlocks) -> np.ndarray | None:
    """The classes of a target in blocks if it holds any, by at most one pass over it: the first
    block mostly shows that there are too many distinct numbers."""
    matrix = getattr(blocks, "ndim", 2) == 2
    categorical = _is_categorical(blocks.header)
    if blocks.n_features != 1 or (matrix and not categorical and blocks.dtype.kind not in "OUS"):
        return None
    # Numbers among objects are all kept: another block may hold text.
    values = _DistinctValues(all_kept=categorical or blocks.dtype.kind == "O")
    if blocks.dtype.kind in _MOST and not categorical and blocks.first(values) is None:
        return None
    found = blocks.fold(values, values.merge)
    if matrix and not categorical and found is not None and found.dtype.kind != "U":
        return None
    return _classes_among(found, categorical)


class _DistinctValues:
    """Distinct values of a block, and of several together; None if there are too many."""

    def __init__(self, *, all_kept: bool):
        self.all_kept = all_kept

    def __call__(self, y: np.ndarray) -> np.ndarray | None:
        return _distinct(_typed(np.ravel(y)), all_kept=self.all_kept)

    def merge(self, parts: list) -> np.ndarray | None:
        """Those of some blocks."""
        if any(values is None for values in parts):
            return None
        parts = [values for values in parts if len(values)] or parts[:1]
        if len({values.dtype.kind in "US" for values in parts}) == 2:
            parts = [values.astype(str) for values in parts]
        return _distinct(np.concatenate(parts), all_kept=self.all_kept)
