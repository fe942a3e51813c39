"""Input validation; the only module that uses scikit-learn's private helpers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    _check_sample_weight,
    validate_data,
)

from columnist.data._blocks import RowBlocks, open_blocks

# Alternatives for data with missing values.
_GAPS = (
    "Fill them in (sklearn.impute), use ColumnSelector(missing='covariance'), which needs no "
    "filling, or SparseLoadings, which leaves missing values out of its loss."
)


def read_data(estimator, *data, **checks):
    """X, or X and y, as arrays that scikit-learn has checked; collections are gathered."""
    return _validated(estimator, *map(_gathered, data), **checks)


def _validated(estimator, *data, **checks):
    """Data checked by scikit-learn, with advice in the message about missing values."""
    try:
        return validate_data(estimator, *data, **checks)
    except ValueError as error:
        first = str(error).partition("\n")[0]
        if "Input X contains NaN" not in first:
            raise
        raise ValueError(f"{first} {_GAPS}") from None


def open_data(estimator, X, *, reset: bool = True, **checks) -> np.ndarray | RowBlocks:
    """The same, but a collection of blocks stays where it is; visits check its entries."""
    blocks = open_blocks(X)
    if blocks is None:
        return _validated(estimator, X, reset=reset, **checks)
    if getattr(blocks, "ndim", 2) != 2:
        raise ValueError("Expected 2D array, got 1D array instead: X needs rows and columns.")
    _check_numeric(blocks)
    _check_feature_names(estimator, blocks.header, reset=reset)
    _check_n_features(estimator, blocks.header, reset=reset)
    return blocks


def _gathered(X):
    """X itself; all rows of a collection, with the names of its columns if they have any."""
    blocks = open_blocks(X)
    if blocks is None:
        return X
    gathered, columns = blocks.gather(), getattr(blocks.header, "columns", None)
    return gathered if columns is None else type(blocks.header)(gathered, columns=columns)


def _check_numeric(blocks: RowBlocks) -> None:
    if blocks.dtype.kind in "fiub":
        return
    dtypes = getattr(blocks.header, "dtypes", None)
    if dtypes is None:
        raise ValueError(f"X must hold real numbers; got entries of type {blocks.dtype}.")
    strange = [
        repr(name)
        for name, dtype in dtypes.items()
        if not (isinstance(dtype, np.dtype) and dtype.kind in "fiub")
    ]
    raise ValueError(
        f"X has columns that are not numeric: {', '.join(strange[:10])}"
        f"{', ...' if len(strange) > 10 else ''}. Drop or encode them first; "
        "nullable numbers become plain ones by astype('float64')."
    )


def check_weights(sample_weight, n_samples: int) -> np.ndarray:
    """Weights of the samples, which may be a collection: finite, not negative, not all zero."""
    weights = _check_sample_weight(
        _gathered(sample_weight), np.empty(n_samples), dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample: at least one must count.")
    if weights.max() > np.finfo(np.float64).max / n_samples:
        raise ValueError("The sum of sample_weight is too large for a floating point number.")
    return weights


def rows_at(y, places: np.ndarray):
    """Some rows of anything with rows; a collection is gathered, None stays."""
    return None if y is None else _safe_indexing(_gathered(y), places)


def resolve_size(
    value, n_features: int, *, name: str = "n_features_to_select", what: str = "features"
) -> int:
    """Number of columns, or ``what`` else, from an int, a fraction in (0, 1), or None for half."""
    if value is None:
        return max(1, n_features // 2)
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        if not 1 <= int(value) <= n_features:
            raise ValueError(
                f"{name} must be between 1 and the number of {what} ({n_features}); got {value}."
            )
        return int(value)
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if is_number and 0.0 < value < 1.0:
        return max(1, int(value * n_features))
    raise ValueError(
        f"{name} must be an integer >= 1, a fraction strictly between 0 and 1, or None; "
        f"got {value!r}."
    )


def resolve_columns(
    name: str, columns, n_features: int, names: np.ndarray | Sequence[str] | None
) -> list[int]:
    """Indices of columns given by index or name, duplicates removed, order kept."""
    if columns is None:
        return []
    if isinstance(columns, (str, numbers.Integral)):
        columns = [columns]
    columns = np.asarray(columns, dtype=object).ravel()
    if len(columns) == n_features and all(isinstance(c, (bool, np.bool_)) for c in columns):
        return [int(i) for i in np.flatnonzero(columns.astype(bool))]
    return list(dict.fromkeys(_column_index(name, c, n_features, names) for c in columns))


def _column_index(name: str, column, n_features: int, names) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{name} names the column {column!r}, but X has no column names: "
                "pass a data frame, or use indices."
            )
        found = np.flatnonzero(np.asarray(names, dtype=object) == column)
        if found.size == 0:
            raise ValueError(f"{name} names the column {column!r}, which X does not have.")
        return int(found[0])
    if isinstance(column, numbers.Integral) and not isinstance(column, (bool, np.bool_)):
        if not -n_features <= int(column) < n_features:
            raise ValueError(
                f"{name} holds the index {int(column)}, but X has {n_features} columns."
            )
        return int(column) % n_features
    raise ValueError(f"{name} must hold column indices or names; got {column!r}.")


def resolve_constraints(
    include, exclude, n_features: int, names: np.ndarray | None
) -> tuple[list[int], list[int]]:
    """Indices of the columns that must, and that must not, be selected."""
    include = resolve_columns("include", include, n_features, names)
    exclude = resolve_columns("exclude", exclude, n_features, names)
    both = sorted(set(include) & set(exclude))
    if both:
        raise ValueError(f"include and exclude share the columns {both}: remove them from one.")
    return include, exclude


def check_room(size: int, include, exclude, n_features: int) -> None:
    """Raise unless ``size`` columns can hold the included and avoid the excluded ones."""
    if len(include) > size:
        raise ValueError(
            f"include names {len(include)} columns, but only {size} are to be selected: "
            "raise n_features_to_select or include fewer."
        )
    if n_features - len(exclude) < size:
        raise ValueError(
            f"exclude leaves {n_features - len(exclude)} columns, but {size} are to be selected: "
            "lower n_features_to_select or exclude fewer."
        )


def feature_names(estimator, input_features=None) -> np.ndarray:
    """Names of the input columns, as scikit-learn derives them."""
    return _check_feature_names_in(estimator, input_features)


def random_generator(random_state) -> np.random.Generator:
    """A NumPy generator from what scikit-learn calls a random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def take_rows(X, rows: np.ndarray):
    """Some rows of an array, a frame or a sparse matrix, of the same type."""
    return _safe_indexing(X, rows)
