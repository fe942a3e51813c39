"""The target: what y means."""

from __future__ import annotations

import numbers
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

__all__ = ["resolve_classes", "resolve_target"]

# More distinct integers than this, and than a tenth of the samples, hardly are classes.
_MANY_CLASSES = 30


def resolve_target(y, n_samples: int) -> np.ndarray:
    """A float matrix (n_samples, n_targets) from a vector, a matrix or class labels.

    A vector of strings, booleans or integers is read as class labels and becomes an indicator
    matrix with one column per class; floating point numbers are values.

    Examples
    --------
    >>> from columnist._target import resolve_target
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


def resolve_classes(y, n_samples: int | None, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the code of every sample's class; ``caller`` is who needs them.

    ``n_samples`` is how many there should be; any number will do if it is None.

    Examples
    --------
    >>> from columnist._target import resolve_classes
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
    if y.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in y], dtype=bool)
        if all(isinstance(value, numbers.Number) for value in y[~missing]):
            integral = all(isinstance(value, numbers.Integral) for value in y)
            return _indicator(y.astype(np.int64)) if integral else None
        if missing.any():
            raise ValueError("y has missing labels: remove those rows, or name them as a class.")
        y = y.astype(str)
    classes, codes = np.unique(y, return_inverse=True)
    if y.dtype.kind in "iu" and len(classes) > max(_MANY_CLASSES, len(y) // 10):
        warnings.warn(
            f"y holds {len(classes)} distinct integers and is read as class labels. If they are "
            "values, pass floating point numbers.",
            UserWarning,
            stacklevel=5,
        )
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)
