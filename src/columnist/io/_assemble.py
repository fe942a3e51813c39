"""From the columns of a file to a `Table`: roles, non-numeric columns, missing values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from columnist.io._columns import Columns, Described, text_array
from columnist.io._gaps import (
    Filling,
    Gaps,
    counted,
    fill_block,
    filling_with,
    find_gaps,
    is_complete,
    plan_filling,
    refuse_infinite,
)
from columnist.io._table import DataFileError, Table, listed, quoted

__all__ = ["Request", "assemble"]

EXACT = 2**53
_REMEDIES = "use missing='mean' or missing='median' to impute, or missing='drop' to leave out rows."


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
    gaps = None if is_complete(X) else find_gaps(X)
    if gaps is not None:
        refuse_infinite(names, gaps)
    targets = {name: column_of(columns, places, name) for name in request.target}
    ids = {name: column_of(columns, places, name) for name in request.ids}
    check_targets(targets, request.missing)
    X, filling = filled(X, names, gaps, request)
    kept = complete_rows(X, targets) if request.missing == "drop" else None
    if kept is not None:
        X = X[kept]
        targets = {name: values[kept] for name, values in targets.items()}
        ids = {name: values[kept] for name, values in ids.items()}
    return Table(
        X=X,
        names=tuple(names[i] for i in filling.places),
        y=target_array(targets),
        target_names=tuple(targets),
        ids={name: typed(values) for name, values in ids.items()},
        source=source,
        format=format,
        ignored=ignored | filling.ignored,
        imputed=filling.imputed,
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


def filled(
    X: np.ndarray | sp.csr_array, names: Sequence[str], gaps: Gaps | None, request: Request
) -> tuple[np.ndarray | sp.csr_array, Filling]:
    """The columns that are kept, with something in place of their missing values."""
    values = None
    if gaps is None:
        return X, Filling(np.arange(len(names)))
    if request.fill is not None:
        values = np.asarray(request.fill, dtype=np.float64)
        filling = filling_with(names, gaps, values)
    else:
        if request.missing == "median" and gaps.missing.any():
            values = medians(X, gaps)
        filling = plan_filling(
            names, gaps, request.missing, values=values, fixed=request.columns is not None,
            remedies=_REMEDIES,
        )  # fmt: skip
    if len(filling.places) < len(names):
        X = X[:, filling.places]
    return fill_block(X, filling.values), filling


def medians(X: np.ndarray | sp.csr_array, gaps: Gaps) -> np.ndarray:
    """Medians of the columns with some missing values."""
    values = np.full(X.shape[1], np.nan)
    for place in np.flatnonzero((gaps.missing > 0) & (gaps.missing < gaps.count)):
        column = X[:, [place]]
        column = column.toarray() if sp.issparse(column) else column
        unit = max(1.0, max(abs(gaps.low[place]), abs(gaps.high[place])) * 1e-150)
        values[place] = np.nanmedian(column / unit) * unit
    return values


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
