"""Reading data files: `read_table`, from a file to a `Table`.

Columns get their roles; missing and infinite values are counted block by block, refused, or filled.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from columnist.data._categories import coded
from columnist.data._parameters import StrOptions
from columnist.io._arff import columns_of, parsed
from columnist.io._delimited import read_delimited
from columnist.io._foreign import read_h5ad, read_spss, sheet
from columnist.io._frames import read_feather, read_parquet
from columnist.io._inputs import (
    FORMATS,
    READ_ONLY,
    TEXT,
    Input,
    open_input,
    sniffed_format,
)
from columnist.io._matrices import read_mat, read_mtx, read_npy, read_npz, read_svmlight
from columnist.io._table import (
    UNREADABLE,
    Columns,
    DataFileError,
    Described,
    Names,
    Table,
    as_names,
    damage_of,
    listed,
    plural,
    quoted,
    said_of,
    text_array,
)

EXACT = 2**53
# Larger numbers may overflow where they are summed up.
_LARGE = 1e150
# A column of text with more different values holds no categories.
_MOST_CATEGORIES = 100
_REMEDIES = (
    "use missing='mean' or missing='median' to impute, or missing='drop' to leave out rows; "
    "ColumnSelector(missing='covariance') needs none of these."
)


def read_table(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    variable: str | None = None,
    target: Names = (),
    drop: Names = (),
    ids: Names = (),
    columns: Names | None = None,
    fill: Iterable[float] | None = None,
    non_numeric: str = "refuse",
    missing: str = "refuse",
) -> Table:
    """Read a table of numbers from a file.

    CSV, TSV and text separated by blanks (delimiter, header, decimal comma and missing
    values are detected), Parquet, Feather, NPY, NPZ, Matrix Market, svmlight, ARFF and MAT up to
    version 7; text may be gzipped. Excel workbooks, SPSS files (.sav) and AnnData files (.h5ad)
    need the extras ``columnist[excel]``, ``columnist[spss]`` and ``columnist[anndata]``. Pickled
    objects are never loaded.

    Parameters
    ----------
    source : str, path or binary stream
        The file; ``"-"`` is standard input.
    format : str, optional
        One of `FORMATS`, or "excel", "spss" or "h5ad"; by default it is inferred from the
        extension or, without one, from the content.
    delimiter : str, optional
        What separates the columns of a text file: one character, or ``" "`` for blanks.
    header : bool, optional
        Whether the first row of a text file holds the names; detected by default. Where numbers
        in the first row may be names (wavelengths), reading stops and asks for this option.
    variable : str, optional
        Which array of an NPZ or MAT file, sheet of a workbook (the first by default) or layer of
        an AnnData file to read. Not needed if it is called ``X``, ``fea``
        or ``data`` or is the only matrix of numbers. Vectors next to it with one value a row can
        be named as ``target`` or ``ids``; an array ``names`` names the columns.
    target, drop, ids : str, sequence of str or callable
        Columns that are predicted, left out, or only label the rows; or a function that chooses
        them from all names. The labels of an svmlight file are called ``label``; they count only
        as target or id.
    columns : str, sequence of str or callable, optional
        Read only these features, in this order.
    fill : sequence of float, optional
        With ``columns``, the value that replaces missing values in each.
    non_numeric : {"refuse", "drop", "dummies"}
        What to do with features that are not numbers; ``"dummies"`` replaces a column of text by a
        column of zeros and ones for each category (``Table.dummies``).
    missing : {"refuse", "mean", "median", "drop", "keep"}
        Missing feature values are an error, are replaced, drop their rows, or stay NaN. A missing
        target is an error unless rows are dropped.

    Returns
    -------
    Table
        The matrix ``X`` with ``names``, the target ``y``, ``ids``, and what was ignored or
        imputed. Columns without a name are ``x1``, ``x2``, ...; repeated names get a suffix.

    Raises
    ------
    DataFileError
        If the file cannot be used; the message is one line.

    Examples
    --------
    >>> from io import BytesIO
    >>> from columnist.io import read_table
    >>> text = b"plant;height;leaves\\noak;21,5;300\\nfir;30,25;\\n"
    >>> table = read_table(BytesIO(text), ids="plant", missing="mean")
    >>> table.names, table.imputed
    (('height', 'leaves'), {'leaves': (1, 300.0)})
    >>> table.X
    array([[ 21.5 , 300.  ],
           [ 30.25, 300.  ]])
    """
    StrOptions("refuse", "drop", "dummies").check("non_numeric", non_numeric)
    StrOptions("refuse", "mean", "median", "drop", "keep").check("missing", missing)
    if format is not None:
        StrOptions(*FORMATS, *READ_ONLY).check("format", format)
    if fill is not None and columns is None:
        raise ValueError("fill needs columns: one value for each of them.")
    name = source if isinstance(source, str) else str(getattr(source, "name", source))
    with said_of(name, UNREADABLE, OSError):
        data = open_input(source)
    with said_of(data.name, UNREADABLE, OSError, MemoryError):
        found = checked_format(data, format)
        usual = "\t" if found == "tsv" else None
        how = {"delimiter": delimiter or usual, "header": header, "ids": ids}
        with damage_of(found):
            content = READERS[found](data, how | {"variable": variable})
        known = (*content.names, *content.extras)
        request = Request(
            target=as_names(target, known), drop=as_names(drop, known), ids=as_names(ids, known),
            columns=None if columns is None else as_names(columns, content.names),
            non_numeric=non_numeric, missing=missing, fill=None if fill is None else tuple(fill),
        )  # fmt: skip
        return assemble(content, request, data.name, found)


def checked_format(data: Input, asked: str | None) -> str:
    """The format of the input, which must not be empty or wrapped in the wrong way."""
    if not data.start:
        raise DataFileError("the file is empty.")
    if data.name.lower().endswith(".gz") and not data.compressed:
        raise DataFileError("the extension says gzip, but the content is not: drop the .gz.")
    found = sniffed_format(asked, data.name, data.head)
    if data.compressed and found not in TEXT:
        raise DataFileError(f"gzipped {found} files are not read: unpack it first.")
    if found in TEXT and not data.head.strip():
        raise DataFileError("the file is empty.")
    return found


READERS: dict[str, Callable[[Input, dict[str, Any]], Columns]] = {
    "csv": lambda data, how: read_delimited(data, how["delimiter"], how["header"], how["ids"]),
    "tsv": lambda data, how: READERS["csv"](data, how),
    "parquet": lambda data, _: read_parquet(data),
    "feather": lambda data, _: read_feather(data),
    "npy": lambda data, _: read_npy(data),
    "npz": lambda data, how: read_npz(data, how["variable"]),
    "mat": lambda data, how: read_mat(data, how["variable"]),
    "mtx": lambda data, _: read_mtx(data),
    "svmlight": lambda data, _: read_svmlight(data),
    "arff": lambda data, _: columns_of(*parsed(data)),
    "excel": lambda data, how: READERS["csv"](sheet(data, how["variable"]), how),
    "spss": lambda data, _: read_spss(data),
    "h5ad": lambda data, how: read_h5ad(data, how["variable"]),
}


# -- roles of columns ---------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """The roles of the columns, and how to handle columns that are not numbers."""

    target: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    non_numeric: str = "refuse"
    missing: str = "refuse"
    fill: tuple[float, ...] | None = None


def assemble(columns: Columns, request: Request, source: str, format: str) -> Table:
    """Assemble the requested table from the columns."""
    places = {name: place for place, name in enumerate(columns.names)}
    check_roles(request, places, columns)
    names, ignored, text = numeric_features(columns, request, places)
    X = columns.numbers([places[name] for name in names])
    dummies: dict[str, tuple[str, ...]] = {}
    if text:
        X, names, dummies = with_dummies(X, names, {n: columns.values(places[n]) for n in text})
    if not len(columns.names) or not X.shape[0]:
        raise DataFileError("there is not a single row of data.")
    gaps = None if is_complete(X) else find_gaps(X)
    if gaps is not None:
        refuse_infinite(names, gaps)
    targets, ids = (
        {n: columns.values(places[n]) if n in places else columns.extras[n] for n in names_of_role}
        for names_of_role in (request.target, request.ids)
    )
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
        header=columns.header,
        dummies=dummies,
    )


def with_dummies(X: np.ndarray, names: list[str], text: dict[str, np.ndarray]):
    """X and names with columns of zeros and ones for columns of text, and which these are."""
    made = {name: coded(name, categories(name, values)) for name, values in text.items()}
    new = {name: column for columns in made.values() for name, column in columns.items()}
    taken = set(names) & set(new)
    if taken or len(new) < sum(map(len, made.values())):
        raise DataFileError(
            f"coding text would make a second column {quoted(min(taken or new))}: rename one."
        )
    parts = [X] if names else []
    X = np.ascontiguousarray(np.column_stack([*parts, *new.values()]))
    return X, [*names, *new], {name: tuple(columns) for name, columns in made.items()}


def categories(name: str, values: np.ndarray) -> np.ndarray:
    """The values of a column of text, if they are few enough for categories."""
    n_levels, n = len({value for value in values if value is not None}), len(values)
    if n_levels > min(_MOST_CATEGORIES, max(n / 2, 2)):
        raise DataFileError(
            f"column {quoted(name)} has {n_levels} different values in {plural(n, 'row')}: too "
            "many for categories; name it in drop= or ids=."
        )
    return values


def check_roles(request: Request, places: dict[str, int], columns: Described) -> None:
    """Check that every name is a column, and that no column has two roles."""
    taken: dict[str, str] = {}
    for role in ("target", "drop", "ids", "columns"):
        for name in getattr(request, role) or ():
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
        hint += f"; the file also has {extras}." if extras else "."
    return f"no column {quoted(name)} ({role}) among the {len(places)} columns; {hint}"


def numeric_features(
    columns: Described, request: Request, places: dict[str, int]
) -> tuple[list[str], dict[str, str], list[str]]:
    """Names of the features, the columns that are none, and those of text that become some."""
    ignored = dict.fromkeys(request.drop, "on request")
    apart = {*request.target, *request.drop, *request.ids}
    wanted = [name for name in columns.names if name not in apart]
    if request.columns is not None:
        wanted = list(request.columns)
    kinds = {name: columns.kind(places[name]) for name in wanted}
    text = [name for name, kind in kinds.items() if kind == "text"]
    text = text if request.non_numeric == "dummies" else []
    other = {n: kind for n, kind in kinds.items() if kind != "number" and n not in text}
    if other and (request.non_numeric != "drop" or request.columns is not None):
        raise DataFileError(not_numbers(columns, other, places, request))
    features = [name for name in wanted if name not in other and name not in text]
    if not features and not text:
        raise DataFileError("no column of numbers is left to work with.")
    return features, ignored | other, text


def not_numbers(
    columns: Described, other: dict[str, str], places: dict[str, int], request: Request
) -> str:
    """The message for columns that are not numbers."""
    described = []
    for name, kind in list(other.items())[:3]:
        detail = columns.detail(places[name])
        described.append(f"{quoted(name)} ({kind}{', ' if detail else ''}{detail})")
    hint = "ignore them with non_numeric='drop', or name them in drop=, ids= or target=."
    hint = hint if request.columns is None else "correct the values."
    more = len(other) - len(described)
    count = f"{len(other)} of {len(columns.names)} columns " + ("is" if len(other) == 1 else "are")
    return f"{count} not numeric: {', '.join(described)}{f' and {more} more' * (more > 0)}; {hint}"


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
    if gaps is None:
        return X, Filling(np.arange(len(names)))
    if request.fill is not None:
        filling = filling_with(names, gaps, np.asarray(request.fill, dtype=np.float64))
    else:
        values = medians(X, gaps) if request.missing == "median" else None
        fixed = request.columns is not None
        filling = plan_filling(
            names, gaps, request.missing, values=values, fixed=fixed, remedies=_REMEDIES
        )
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


# -- missing and infinite values ----------------------------------------------------


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
    """Count the missing and infinite values of a block."""
    missing, infinite = (_per_column(X, test) for test in (np.isnan, np.isinf))
    m, n = X.shape
    there = np.maximum(m - missing - infinite, 1)
    if not m:
        return Gaps(0, missing, infinite, np.zeros(n), np.full(n, np.inf), np.full(n, -np.inf))
    if sp.issparse(X):
        extremes = X.nanmin(axis=0), X.nanmax(axis=0)
        low, high = (np.asarray(e.toarray(), dtype=float).ravel() for e in extremes)
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
    """Columns that are kept, the values that fill their gaps, and the counts for messages."""

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
    """Decide how missing values are handled. ``values`` fill them (means by default); ``fixed``
    says that no column may be left out; ``remedies`` is said where nothing may be done."""
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
    if missing in ("drop", "keep"):
        return Filling(places, None, {}, ignored)
    return filling_with(names, gaps, gaps.mean if values is None else values, places, ignored)


def refuse_infinite(names: Sequence[str], gaps: Gaps) -> None:
    """Raise if there are infinite values: they cannot be imputed."""
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
