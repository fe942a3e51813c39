"""The result of reading a data file, the columns that it is made of, and the error type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

# One name, several, or a function that chooses them from all names.
Names = str | Iterable[str] | Callable[[Sequence[str]], Iterable[str]]
LONGEST_NAME = 60
MOST_NAMES = 5
LONGEST_MESSAGE = 600
# Labels of one width are what other libraries expect; very long text would waste memory there.
MOST_TEXT_BYTES = 1 << 28
UNREADABLE = "cannot be read"
# What files are called, with an article.
TITLES = {
    "parquet": "a Parquet file", "feather": "a Feather (Arrow) file", "npy": "a NumPy file (npy)",
    "npz": "a NumPy file (npz)", "mat": "a MATLAB file", "excel": "an Excel workbook",
    "spss": "an SPSS file", "h5ad": "an AnnData file", "csv": "a CSV file", "tsv": "a TSV file",
    "arff": "an ARFF file", "mtx": "a Matrix Market file", "svmlight": "an svmlight file",
    "zarr": "a Zarr array",
}  # fmt: skip
# Reasons why a file cannot be read.
REASONS: dict[type[Exception], str] = {
    FileNotFoundError: "there is no such file.",
    IsADirectoryError: "this is a folder, not a file.",
    PermissionError: "no permission to read this file.",
    MemoryError: "the data do not fit into memory.",
}


class DataFileError(ValueError):
    """A data file that cannot be used; the message is one line: what is wrong, what to do."""


@dataclass(frozen=True)
class Table:
    """Numbers of a data file, with the columns that have another role.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features, float64, in C order; sparse files stay sparse.
    names : tuple of str
        Unique names of the columns of X.
    y : ndarray or None
        The target: shape (n,) for one, (n, q) for several; numbers or text.
    target_names : tuple of str
        Names of the targets.
    ids : dict of str to ndarray
        Columns that only label the rows.
    source, format : str
        Where the data came from and how they were read.
    ignored : dict of str to str
        Columns left out of X, and why: ``"text"``, ``"dates"``, ``"on request"``, ...
    imputed : dict of str to (int, float)
        Number of missing values of each column, and the value that replaces them.
    rows : ndarray or None
        Numbers (from 0) of the rows that were kept, where rows were dropped.
    renamed : dict of str to str
        Names in the file of columns that were renamed because names must be unique.
    header : bool or None
        Whether the first line of a text file holds the names; None for other formats.
    dummies : dict of str to tuple of str
        Columns of text, and the columns of X that represent their categories.
    """

    X: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    y: np.ndarray | None
    target_names: tuple[str, ...]
    ids: dict[str, np.ndarray]
    source: str
    format: str
    ignored: dict[str, str]
    imputed: dict[str, tuple[int, float]]
    rows: np.ndarray | None
    renamed: dict[str, str] = field(default_factory=dict)
    header: bool | None = None
    dummies: dict[str, tuple[str, ...]] = field(default_factory=dict)


def as_names(names: Names, known: Sequence[str]) -> tuple[str, ...]:
    """The names that were given, or chosen from those that are known."""
    if isinstance(names, str):
        return (names,)
    return tuple(map(str, names(known) if callable(names) else names))


def quoted(text: object) -> str:
    """A name or value as it may stand in a message: quoted, escaped, not too long."""
    text = str(text)
    return repr(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")


def listed(items: Iterable[str], total: int | None = None) -> str:
    """The first few items, and how many more there are."""
    items = list(items)
    more = (len(items) if total is None else total) - MOST_NAMES
    return ", ".join(items[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def one_line(message: object) -> str:
    """Text of any kind as one printable line of bounded length."""
    text = "".join(c if c.isprintable() else " " for c in str(message))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def plural(count: int, word: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


@contextmanager
def said_of(name: str, failure: str, *kinds: type[Exception]) -> Iterator[None]:
    """Errors as one line with the name of the file, some of them reworded."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of standard output has closed it
    except DataFileError as error:
        raise DataFileError(one_line(f"{name}: {error}")) from error
    except kinds as error:
        words = f"{failure}: {getattr(error, 'strerror', None) or error}."
        if failure == UNREADABLE:
            words = next((said for kind, said in REASONS.items() if isinstance(error, kind)), words)
        raise DataFileError(one_line(f"{name}: {words}")) from error


def damaged(format: str) -> DataFileError:
    """The message about a file that cannot be parsed; the reason is the cause of the error."""
    return DataFileError(
        f"this is not {TITLES.get(format, f'{format} file')}, or it is damaged or cut off: save it "
        "again, or give its true format=."
    )


@contextmanager
def damage_of(format: str) -> Iterator[None]:
    """Turn the errors that libraries raise on damaged files into one message."""
    try:
        yield
    except (DataFileError, MemoryError):
        raise
    except Exception as error:
        if getattr(error, "errno", None) is not None:  # of the system, not of the content
            raise
        raise damaged(format) from error


# -- columns as they stand in a file ------------------------------------------------


class Described(Protocol):
    """Named columns of numbers or of something else."""

    names: tuple[str, ...]
    extras: dict[str, Any]

    def kind(self, place: int) -> str:
        """``"number"``, ``"empty"`` (no value at all), or what else the column holds."""

    def detail(self, place: int) -> str:
        """What keeps a column from being numbers, for a message; may be empty."""


class Columns(Described, Protocol):
    """The result of a reader; ``header`` is True if a text file begins with names."""

    renamed: dict[str, str]
    header: bool | None

    def numbers(self, places: Sequence[int]) -> np.ndarray | sp.csr_array:
        """Columns of numbers as one matrix, float64 in C order; nan is missing."""

    def values(self, place: int) -> np.ndarray:
        """One column: numbers (nan is missing), or objects str and None (missing)."""


@dataclass
class MatrixColumns:
    """One matrix, with text where a column is not of numbers. ``text`` maps places to arrays of str
    and None. ``extras`` stand next to the matrix and become targets or ids on request only."""

    matrix: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    text: dict[int, np.ndarray] = field(default_factory=dict)
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    header: bool | None = None

    def kind(self, place: int) -> str:
        return "text" if place in self.text else "number"

    def detail(self, place: int) -> str:
        first = next((value for value in self.text[place] if value is not None), None)
        return "" if first is None else f"such as {first!r}"

    def numbers(self, places: Sequence[int]) -> np.ndarray | sp.csr_array:
        whole = list(places) == list(range(self.matrix.shape[1]))
        part = self.matrix if whole else self.matrix[:, np.asarray(places, dtype=np.intp)]
        if sp.issparse(part):
            return sp.csr_array(part, dtype=np.float64)
        return np.ascontiguousarray(part, dtype=np.float64)

    def values(self, place: int) -> np.ndarray:
        if place in self.text:
            return self.text[place]
        column = self.matrix[:, [place]]
        return (column.toarray() if sp.issparse(column) else np.asarray(column))[:, 0]


def named_columns(
    names: Sequence[str] | None, n_columns: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Unique names if there are as many as columns, else ``x1, x2, ...``; and what was renamed."""
    if names is None or len(names) != n_columns:
        return tuple(f"x{place}" for place in range(1, n_columns + 1)), {}
    return unique_names(names)


def matrix_columns(
    matrix: np.ndarray | sp.csr_array, names: Sequence[str] | None = None, **parts: Any
) -> MatrixColumns:
    """The columns of a matrix with unique names, and text or extras next to it."""
    unique, renamed = named_columns(names, matrix.shape[1])
    return MatrixColumns(matrix, unique, renamed=renamed, **parts)


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names made distinct (a second ``a`` becomes ``a_2``, an empty one ``x`` and its place), and
    what those that changed were called."""
    taken = set(names)
    seen: set[str] = set()
    unique: list[str] = []
    renamed: dict[str, str] = {}
    for place, name in enumerate(names, start=1):
        new = name if name.strip() else f"x{place}"
        if name in seen or new != name:
            stem, count = new, 2
            while new in taken or new in seen:
                new, count = f"{stem}_{count}", count + 1
            renamed[new] = name
        seen.add(new)
        unique.append(new)
    return tuple(unique), renamed


def objects_of(values: Iterable[Any]) -> np.ndarray:
    """Values as objects: text, and None for what is missing."""
    return np.array([None if value is None else str(value) for value in values], dtype=object)


def text_array(values: np.ndarray) -> np.ndarray:
    """Text of one fixed width (missing is empty), or objects if that would be too large."""
    values = np.array(["" if value is None else str(value) for value in values], dtype=object)
    width = max(map(len, values), default=0)
    # NumPy forgets trailing zero characters of fixed-width text.
    if 4 * width * len(values) > MOST_TEXT_BYTES or any(v.endswith("\0") for v in values):
        return values
    return values.astype(np.str_)
