"""From the columns of a file to a `Table`: roles, non-numeric columns, missing values."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.io._columns import Columns, Described, text_array
from columnist.io._table import DataFileError, Table, listed, plural, quoted

__all__ = ["Request", "assemble"]

EXACT = 2**53


@dataclass(frozen=True)
class Request:
    """Which columns play which part, and what may be done about the difficult ones."""

    target: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    non_numeric: str = "refuse"
    missing: str = "refuse"
    fill: tuple[float, ...] | None = None

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The names asked for, by argument."""
        asked = {"target": self.target, "drop": self.drop, "ids": self.ids}
        return asked | ({} if self.columns is None else {"columns": self.columns})


def assemble(columns: Columns, request: Request, source: str, format: str) -> Table:
    """Take from the columns what was asked for."""
    places = {name: place for place, name in enumerate(columns.names)}
    check_roles(request, places, columns)
    names, ignored = numeric_features(columns, request, places)
    X = columns.numbers([places[name] for name in names])
    if not len(columns.names) or not X.shape[0]:
        raise DataFileError("there is not a single row of data.")
    check_finite(X, names)
    X, imputed = (X, {}) if request.fill is None else filled_with(X, names, request.fill)
    targets = {name: column_of(columns, places, name) for name in request.target}
    ids = {name: column_of(columns, places, name) for name in request.ids}
    check_targets(targets, request.missing)
    counts = per_column(X, np.isnan)
    if counts.any() and request.missing == "refuse":
        raise DataFileError(
            f"{plural(counts.sum(), 'missing value')} in {counted(names, counts)}; "
            "use missing='mean' or missing='median' to impute, or missing='drop' to leave out rows."
        )
    if counts.any():
        X, names, counts = without_empty(X, names, counts, request, ignored)
    kept = None
    if request.missing == "drop":
        kept = complete_rows(X, targets)
    elif counts.any():
        X, imputed = filled(X, names, counts, request.missing)
    if kept is not None:
        X = X[kept]
        targets = {name: values[kept] for name, values in targets.items()}
        ids = {name: values[kept] for name, values in ids.items()}
    return Table(
        X=X,
        names=tuple(names),
        y=target_array(targets),
        target_names=tuple(targets),
        ids={name: typed(values) for name, values in ids.items()},
        source=source,
        format=format,
        ignored=ignored,
        imputed=imputed,
        rows=kept,
        renamed=dict(columns.renamed),
    )


def check_roles(request: Request, places: dict[str, int], columns: Described) -> None:
    """Every name must be a column, and no column may play two parts."""
    taken: dict[str, str] = {}
    for role, names in request.roles().items():
        for name in names:
            known = name in places or (name in columns.extras and role != "columns")
            if not known:
                raise DataFileError(unknown_column(role, name, places, columns))
            if name in taken:
                parts = role if taken[name] == role else f"{taken[name]} and {role}"
                raise DataFileError(f"column {quoted(name)} is named twice, in {parts}.")
            taken[name] = role


def unknown_column(role: str, name: str, places: dict[str, int], columns: Described) -> str:
    """The message for a name that is not there."""
    known = [*places, *columns.extras]
    close = difflib.get_close_matches(name, known[:100_000], n=3)
    folded = [other for other in known if other.strip().lower() == name.strip().lower()]
    close = list(dict.fromkeys([*folded[:3], *close]))[:3]
    if close:
        hint = f"did you mean {' or '.join(map(quoted, close))}?"
    else:
        hint = f"the columns are {listed(map(quoted, [*places][:6]), len(places))}"
        extras = listed(map(quoted, columns.extras))
        hint += f"; next to them stand {extras}." if extras else "."
    return f"no column {quoted(name)} ({role}) among the {len(places)} columns; {hint}"


def numeric_features(
    columns: Described, request: Request, places: dict[str, int]
) -> tuple[list[str], dict[str, str]]:
    """Names of the features, and the columns that are none."""
    ignored = dict.fromkeys(request.drop, "on request")
    apart = {*request.target, *request.drop, *request.ids}
    wanted = [name for name in columns.names if name not in apart]
    if request.columns is not None:
        wanted = list(request.columns)
    kinds = {name: columns.kind(places[name]) for name in wanted}
    other = {name: kind for name, kind in kinds.items() if kind != "number"}
    if other and (request.non_numeric == "refuse" or request.columns is not None):
        raise DataFileError(not_numbers(columns, other, places, request))
    features = [name for name in wanted if name not in other]
    if not features:
        raise DataFileError("no column of numbers is left to work with.")
    return features, ignored | other


def not_numbers(
    columns: Described, other: dict[str, str], places: dict[str, int], request: Request
) -> str:
    """The message for columns that are not numbers."""
    described = []
    for name, kind in list(other.items())[:3]:
        detail = columns.detail(places[name])
        described.append(f"{quoted(name)} ({kind}{', ' if detail else ''}{detail})")
    hint = (
        "correct the values."
        if request.columns is not None
        else "ignore them with non_numeric='drop', or name them in drop=, ids= or target=."
    )
    more = len(other) - len(described)
    count = f"{len(other)} of {len(columns.names)} columns " + ("is" if len(other) == 1 else "are")
    return f"{count} not numeric: {', '.join(described)}{f' and {more} more' * (more > 0)}; {hint}"


def column_of(columns: Columns, places: dict[str, int], name: str) -> np.ndarray:
    """A column by name, of the matrix or next to it."""
    return columns.values(places[name]) if name in places else columns.extras[name]


def check_finite(X: np.ndarray | sp.csr_array, names: Sequence[str]) -> None:
    """Refuse infinite values; missing ones (nan) are dealt with later."""
    bad = per_column(X, np.isinf)
    if np.any(bad):
        raise DataFileError(f"infinite values in {counted(names, bad)}; correct the file.")


def per_column(X: np.ndarray | sp.csr_array, test: Callable) -> np.ndarray:
    """How many entries of each column pass a test that zero fails."""
    if sp.issparse(X):
        return np.bincount(X.indices[test(X.data)], minlength=X.shape[1])
    # A sum is finite only if all terms are: usually one pass is enough.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return np.zeros(X.shape[1], dtype=np.intp)
    counts = np.zeros(X.shape[1], dtype=np.intp)
    for start in range(0, len(X), 4096):
        counts += np.count_nonzero(test(X[start : start + 4096]), axis=0)
    return counts


def counted(names: Sequence[str], counts: np.ndarray) -> str:
    """The columns with a count, and the counts."""
    found = np.flatnonzero(counts)
    first = [f"{quoted(names[place])} ({counts[place]})" for place in found[:6]]
    return f"column{'s' * (len(found) > 1)} {listed(first, len(found))}"


def check_targets(targets: dict[str, np.ndarray], missing: str) -> None:
    """Targets are complete, unless rows may be dropped, and finite."""
    names = list(targets)
    lost = np.array([np.count_nonzero(is_missing(values)) for values in targets.values()])
    if lost.any() and missing != "drop":
        raise DataFileError(
            f"missing values in target {counted(names, lost)}; "
            "a target is never imputed: use missing='drop' to leave these rows out."
        )
    infinite = np.array(
        [v.dtype.kind == "f" and np.count_nonzero(np.isinf(v)) for v in targets.values()]
    )
    if infinite.any():
        raise DataFileError(f"infinite values in target {counted(names, infinite)}.")


def is_missing(values: np.ndarray) -> np.ndarray:
    """Where a column has no value."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "O":
        return np.fromiter((value is None for value in values), bool, len(values))
    return np.zeros(len(values), dtype=bool)


def without_empty(
    X: np.ndarray | sp.csr_array,
    names: list[str],
    counts: np.ndarray,
    request: Request,
    ignored: dict[str, str],
) -> tuple[np.ndarray | sp.csr_array, list[str], np.ndarray]:
    """Leave out columns without any value and note it in ``ignored``."""
    full = counts < X.shape[0]
    if full.all():
        return X, names, counts
    empty = [name for name, some in zip(names, full, strict=True) if not some]
    if request.columns is not None or len(empty) == len(names):
        raise DataFileError(f"no value at all in {counted(empty, counts[~full])}.")
    ignored |= dict.fromkeys(empty, "empty")
    names = [name for name, some in zip(names, full, strict=True) if some]
    return X[:, np.flatnonzero(full)], names, counts[full]


def complete_rows(
    X: np.ndarray | sp.csr_array, targets: dict[str, np.ndarray]
) -> np.ndarray | None:
    """Numbers of the rows without a missing value, None for all of them."""
    complete = np.ones(X.shape[0], dtype=bool)
    if sp.issparse(X):
        entries = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        complete[entries[np.isnan(X.data)]] = False
    else:
        for start in range(0, len(X), 4096):
            complete[start : start + 4096] = ~np.isnan(X[start : start + 4096]).any(axis=1)
    for values in targets.values():
        complete &= ~is_missing(values)
    if complete.all():
        return None
    if not complete.any():
        raise DataFileError("every row has a missing value: impute with missing='mean' instead.")
    return np.flatnonzero(complete)


def filled(
    X: np.ndarray | sp.csr_array, names: Sequence[str], counts: np.ndarray, statistic: str
) -> tuple[np.ndarray | sp.csr_array, dict[str, tuple[int, float]]]:
    """X with the mean or median of a column in place of its missing values."""
    X = X.copy()
    columns: Any = X.tocsc() if sp.issparse(X) else None
    imputed = {}
    for place in np.flatnonzero(counts).tolist():
        column = X[:, place] if columns is None else columns[:, [place]].toarray()[:, 0]
        value = center(column[~np.isnan(column)], statistic)
        imputed[names[place]] = (int(counts[place]), value)
        if columns is None:
            column[np.isnan(column)] = value
    if sp.issparse(X):
        values = dict(zip(names, range(len(names)), strict=True))
        by_place = np.zeros(len(names))
        for name, (_, value) in imputed.items():
            by_place[values[name]] = value
        gone = np.isnan(X.data)
        X.data[gone] = by_place[X.indices[gone]]
    return X, imputed


def filled_with(
    X: np.ndarray | sp.csr_array, names: Sequence[str], values: Sequence[float]
) -> tuple[np.ndarray | sp.csr_array, dict[str, tuple[int, float]]]:
    """X with given values in place of missing ones."""
    counts = per_column(X, np.isnan)
    if not counts.any():
        return X, {}
    X, fill = X.copy(), np.asarray(values, dtype=np.float64)
    if sp.issparse(X):
        gone = np.isnan(X.data)
        X.data[gone] = fill[X.indices[gone]]
    else:
        X = np.where(np.isnan(X), fill, X)
    return X, {names[i]: (int(counts[i]), float(fill[i])) for i in np.flatnonzero(counts).tolist()}


def center(values: np.ndarray, statistic: str) -> float:
    """Mean or median; values are halved in size first where their sum would overflow."""
    scale = max(1.0, np.abs(values).max() * 1e-150)
    value = np.mean(values / scale) if statistic == "mean" else np.median(values / scale)
    return float(value * scale)


def target_array(targets: dict[str, np.ndarray]) -> np.ndarray | None:
    """One target as a vector, several as a matrix; text if one of them is text."""
    columns = [typed(values) for values in targets.values()]
    if len(columns) < 2:
        return columns[0] if columns else None
    if any(column.dtype.kind in "OU" for column in columns):
        columns = [text_array(column) for column in columns]
    return np.column_stack(columns)


def typed(values: np.ndarray) -> np.ndarray:
    """Whole numbers as integers, text as text, other numbers as float64."""
    if values.dtype.kind == "O":
        return text_array(values)
    if values.dtype.kind in "iu":
        return values
    values = values.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):
        whole = np.all(np.abs(values) < EXACT) and np.all(values == np.rint(values))
    return values.astype(np.int64) if whole else values
