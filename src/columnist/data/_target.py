"""The target: what y means."""

from __future__ import annotations

import numbers
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from columnist.data._blocks import RowBlocks, open_blocks

__all__ = ["indicator_of", "open_target", "resolve_classes", "resolve_target"]

# More distinct integers than this, and than a tenth of the samples, hardly are classes.
_MANY_CLASSES = 30


def resolve_target(y, n_samples: int) -> np.ndarray:
    """A float matrix (n_samples, n_targets) from a vector, a matrix or class labels.

    A vector of strings, booleans or integers is read as class labels and becomes an indicator
    matrix with one column per class; floating point numbers are values.

    Examples
    --------
    >>> from columnist.data._target import resolve_target
    >>> resolve_target(["a", "b", "a"], 3)
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    y = y.toarray() if sp.issparse(y) else y
    # A list is read as objects first: NumPy would turn a missing label into the string "nan".
    y = y if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 1 and y.dtype.kind in "OUSbiu":
        labels = _indicator(y)
        if labels is not None:
            check_consistent_length(labels, np.empty(n_samples))
            return labels
    matrix = y[:, None] if y.ndim == 1 else y
    matrix = check_array(matrix, dtype=np.float64, input_name="y", ensure_min_samples=1)
    check_consistent_length(matrix, np.empty(n_samples))
    return matrix


def open_target(y, X: RowBlocks):
    """The target of a matrix of blocks, and what reads a part of it as a float matrix.

    The same as :func:`resolve_target` for a y that may be a collection of blocks itself.
    """
    blocks = open_blocks(y)
    if blocks is None:
        return resolve_target(y, X.shape[0]), _values
    if blocks.n_features == 1 and blocks.dtype.kind in "OUSbiu":
        classes, count = blocks.fold(_block_classes, _merged_classes)
        if classes is not None:
            _warn_if_many(classes, count)
            return blocks, _Indicator(classes)
    return blocks, _values


def indicator_of(y, classes) -> np.ndarray:
    """One column for each of the given classes.

    Examples
    --------
    >>> from columnist.data._target import indicator_of
    >>> indicator_of(["b", "a"], ["a", "b", "c"])
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    labels, known = column_or_1d(y), np.unique(classes)
    strange = np.setdiff1d(labels, known)
    if len(strange):
        raise ValueError(f"y holds labels that are not in classes: {strange[:5].tolist()}.")
    return _Indicator(known)(np.asarray(labels))


def resolve_classes(y, n_samples: int | None, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the code of every sample's class; ``caller`` is who needs them.

    ``n_samples`` is how many there should be; any number will do if it is None.

    Examples
    --------
    >>> from columnist.data._target import resolve_classes
    >>> resolve_classes(["b", "a", "b"], 3, "FisherScore")
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if n_samples is not None:
        check_consistent_length(y, np.empty(n_samples))
    try:
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


def _indicator(y: np.ndarray) -> np.ndarray | None:
    """One column per class; None for objects that are really floating point numbers."""
    labels = _labels(y)
    if labels is None:
        return None
    classes = np.unique(labels)
    _warn_if_many(classes, len(labels))
    return _Indicator(classes)(labels)


def _labels(y: np.ndarray) -> np.ndarray | None:
    """Class labels of one type; None for objects that are really floating point numbers."""
    if y.dtype.kind != "O":
        return y
    missing = np.array([value is None or value != value for value in y], dtype=bool)
    if all(isinstance(value, numbers.Number) for value in y[~missing]):
        integral = all(isinstance(value, numbers.Integral) for value in y)
        return y.astype(np.int64) if integral else None
    if missing.any():
        raise ValueError("y has missing labels: remove those rows, or name them as a class.")
    return y.astype(str)


def _warn_if_many(classes: np.ndarray, n_samples: int) -> None:
    if classes.dtype.kind in "iu" and len(classes) > max(_MANY_CLASSES, n_samples // 10):
        warnings.warn(
            f"y holds {len(classes)} distinct integers and is read as class labels. If they are "
            "values, pass floating point numbers.",
            UserWarning,
            stacklevel=6,
        )


class _Indicator:
    """Reads labels as one column per class."""

    def __init__(self, classes: np.ndarray):
        self.classes = classes

    def __call__(self, y: np.ndarray) -> np.ndarray:
        labels = _labels(np.ravel(y))
        assert labels is not None  # there are classes
        codes = np.searchsorted(self.classes, labels)
        return (codes[:, None] == np.arange(len(self.classes))).astype(np.float64)


def _values(y: np.ndarray) -> np.ndarray:
    """Reads numbers as a matrix."""
    matrix = y[:, None] if y.ndim == 1 else y
    return check_array(matrix, dtype=np.float64, input_name="y", ensure_min_samples=0)


def _block_classes(y: np.ndarray) -> tuple[np.ndarray | None, int]:
    labels = _labels(np.ravel(y))
    return (None if labels is None else np.unique(labels)), len(y)


def _merged_classes(parts) -> tuple[np.ndarray | None, int]:
    count = sum(n for _, n in parts)
    if any(classes is None for classes, _ in parts):
        return None, count
    return np.unique(np.concatenate([classes for classes, _ in parts])), count
