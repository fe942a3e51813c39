"""Tables to files: `write_table`."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from columnist.data._parameters import StrOptions
from columnist.io._arff import arff_lines
from columnist.io._atomic import atomic_path
from columnist.io._columns import text_array
from columnist.io._formats import COMPRESSIBLE, FORMATS, extension_format
from columnist.io._frames import import_polars
from columnist.io._layout import MISSING, NUMBER, TRUTH
from columnist.io._sparse import NAMES_MARK
from columnist.io._table import DataFileError, listed, one_line, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["write_table"]


@dataclass(frozen=True)
class Content:
    """What goes into a file."""

    X: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]

    @property
    def all_names(self) -> list[str]:
        """Names of all columns, in order."""
        return [*self.before, *self.names, *self.after]


def write_table(
    path: str | os.PathLike[str],
    X: np.ndarray | sp.sparray | sp.spmatrix,
    names: Sequence[str],
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    format: str | None = None,
) -> None:
    """Write a table to a file, whole or not at all.

    Numbers are written so that reading gives exactly the same values.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard output.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The numbers.
    names : sequence of str
        Names of the columns of X. NPY files have no room for them.
    before, after : mapping of str to sequence, optional
        More columns, numbers or text, such as ids and targets. NPZ and MAT store them as arrays
        of their own; NPY and Matrix Market can hold numbers only; svmlight one label in ``after``.
    format : str, optional
        One of `FORMATS`; by default the extension says it, and standard output gets CSV.

    Raises
    ------
    DataFileError
        If the file cannot be written, or the format cannot hold the table.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.io import write_table
    >>> write_table("-", np.array([[1.5, 2.0]]), ["a", "b, c"], before={"id": ["first"]})
    id,a,"b, c"
    first,1.5,2.0
    """
    name = os.fspath(path)
    format = format or ("csv" if name == "-" else extension_format(name))
    if format is None:
        endings = ", ".join(endings[0] for endings in FORMATS.values())
        raise DataFileError(f"{name}: which format? Use an extension such as {endings}.")
    StrOptions(*FORMATS).check("format", format)
    with said_of(name):
        content, buffer = checked(X, names, before or {}, after or {}), io.BytesIO()
        with opened(name, format) as file:
            WRITERS[format](content, buffer if name == "-" else file)
            file.write(buffer.getvalue())


@contextmanager
def said_of(name: str) -> Iterator[None]:
    """Say of which file an error tells."""
    try:
        yield
    except DataFileError as error:
        raise DataFileError(one_line(f"{name}: {error}")) from error
    except BrokenPipeError:
        raise  # whoever reads standard output has seen enough
    except OSError as error:
        raise DataFileError(
            one_line(f"{name}: cannot be written: {error.strerror or error}.")
        ) from error


def checked(
    X: Any, names: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Content:
    """The content, with lengths that fit and names that are unique."""
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    names = tuple(map(str, names))
    if X.ndim != 2 or X.shape[1] != len(names):
        raise ValueError(f"X of shape {X.shape} does not fit {len(names)} names.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers; its type is {X.dtype}.")
    sides = [{name: as_column(c) for name, c in side.items()} for side in (before, after)]
    for name, column in (sides[0] | sides[1]).items():
        if column.shape != (X.shape[0],):
            raise ValueError(f"column {name!r} has {len(column)} values for {X.shape[0]} rows.")
    content = Content(X, names, *sides)
    everything = content.all_names
    if len(set(everything)) < len(everything):
        repeated = sorted({name for name in everything if everything.count(name) > 1})
        raise DataFileError(f"repeated column names: {listed(map(quoted, repeated))}.")
    return content


def as_column(values: Any) -> np.ndarray:
    """Numbers as they are, anything else as text (None is missing)."""
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array
    column = np.empty(len(array), dtype=object)
    column[:] = [None if value is None else str(value) for value in array.ravel()]
    return column


def zipped(name: str, format: str) -> bool:
    """Whether the extension asks for gzip."""
    if not name.lower().endswith(".gz"):
        return False
    if format not in COMPRESSIBLE:
        raise DataFileError(f"{format} files are not gzipped.")
    return True


@contextmanager
def opened(name: str, format: str) -> Iterator[BinaryIO]:
    """A file, gzipped on request (the same bytes at any time of day), or standard output."""
    if name == "-":
        sys.stdout.flush()
        file = getattr(sys.stdout, "buffer", None) or cast(BinaryIO, Words())
        yield file
        file.flush()
        return
    with atomic_path(name) as temporary, open(temporary, "wb") as file:
        if not zipped(name, format):
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inner:
            yield cast(BinaryIO, inner)


class Words:
    """Bytes for a standard output that takes text only."""

    def write(self, content: bytes) -> int:
        """Write them as text."""
        return sys.stdout.write(bytes(content).decode())

    def flush(self) -> None:
        """See `write`."""
        sys.stdout.flush()


def frame_of(content: Content) -> pl.DataFrame:
    """All columns as a polars frame."""
    pl = import_polars()
    X = content.X.toarray() if sp.issparse(content.X) else content.X
    X = X.astype(np.uint8) if X.dtype == bool else X
    columns = [
        *(pl.Series(name, series_values(c)) for name, c in content.before.items()),
        *(pl.Series(name, X[:, place]) for place, name in enumerate(content.names)),
        *(pl.Series(name, series_values(c)) for name, c in content.after.items()),
    ]
    return pl.DataFrame(columns)


def series_values(column: np.ndarray) -> Any:
    """Numbers as an array, text as a list."""
    return column if column.dtype.kind != "O" else column.tolist()


def write_delimited(content: Content, file: BinaryIO, delimiter: str) -> None:
    """Delimited text with a header."""
    write_header(content, file, delimiter)
    write_rows(content, file, delimiter)


def write_header(content: Content, file: BinaryIO, delimiter: str) -> None:
    """The line of names."""
    header = [quoted_name(name, delimiter) for name in content.all_names]
    file.write((delimiter.join(header) + "\n").encode())


def write_rows(content: Content, file: BinaryIO, delimiter: str) -> None:
    """The lines of values."""
    # An empty field alone on its line would vanish as a blank line.
    lone = len(content.all_names) == 1
    frame_of(content).write_csv(
        file, include_header=False, separator=delimiter, null_value="NA" if lone else ""
    )


def quoted_name(name: str, delimiter: str) -> str:
    """A name as a field; quoted if it could be taken for something else."""
    special = {delimiter, '"', "\n", "\r"} & set(name)
    bare = name.strip()
    doubtful = bare in MISSING or NUMBER.fullmatch(bare) or bare.lower() in TRUTH
    doubtful = doubtful or name != bare or name[0] in "#%"
    return '"' + name.replace('"', '""') + '"' if special or doubtful else name


def write_csv(content: Content, file: BinaryIO) -> None:
    """Comma-separated text."""
    write_delimited(content, file, ",")


def write_tsv(content: Content, file: BinaryIO) -> None:
    """Tab-separated text."""
    write_delimited(content, file, "\t")


def write_parquet(content: Content, file: BinaryIO) -> None:
    """Parquet."""
    frame_of(content).write_parquet(file)


def write_feather(content: Content, file: BinaryIO) -> None:
    """Feather (Arrow IPC)."""
    frame_of(content).write_ipc(file)


def all_numbers(content: Content, format: str) -> np.ndarray | sp.csr_array:
    """All columns as one matrix of numbers."""
    sides = {**content.before, **content.after}
    text = [name for name, column in sides.items() if column.dtype.kind == "O"]
    if text:
        raise DataFileError(
            f"{format} files hold numbers only, not text ({listed(map(quoted, text))}): "
            "write CSV or Parquet."
        )
    if not sides:
        return content.X
    before = [np.asarray(column)[:, None] for column in content.before.values()]
    after = [np.asarray(column)[:, None] for column in content.after.values()]
    parts = [*before, content.X, *after]
    return sp.csr_array(sp.hstack(parts)) if sp.issparse(content.X) else np.hstack(parts)


def write_npy(content: Content, file: BinaryIO) -> None:
    """One NumPy array."""
    matrix = all_numbers(content, "NPY")
    np.save(file, matrix.toarray() if sp.issparse(matrix) else matrix, allow_pickle=False)


def stored_apart(
    content: Content, format: str, reserved: Collection[str] = ("X", "names")
) -> dict[str, np.ndarray]:
    """Columns next to X as arrays, text of fixed width."""
    apart = {**content.before, **content.after}
    taken = sorted(apart.keys() & {*reserved, "file", "allow_pickle"})
    if taken:
        raise DataFileError(f"{format} files need {listed(map(quoted, taken))} for themselves.")
    return {
        name: text_array(column) if column.dtype.kind == "O" else column
        for name, column in apart.items()
    }


def write_npz(content: Content, file: BinaryIO) -> None:
    """``X``, ``names`` and the other columns as arrays."""
    arrays = {"X": content.X}
    if sp.issparse(content.X):  # as scipy.sparse.save_npz does
        X = content.X
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays |= {"shape": np.array(X.shape), "format": np.array(b"csr")}
    arrays["names"] = text_array(np.array(content.names, dtype=object))
    apart = stored_apart(content, "NPZ", arrays)
    np.savez(file, allow_pickle=False, **arrays, **apart)


def write_mat(content: Content, file: BinaryIO) -> None:
    """``X``, ``names`` (cells) and the other columns as variables."""
    import scipy.io

    apart = stored_apart(content, "MAT")
    strange = [name for name in apart if not (name.isidentifier() and name.isascii())]
    if strange:
        raise DataFileError(f"no names of MATLAB variables: {listed(map(quoted, strange))}.")
    cells = {name: c.astype(object) if c.dtype.kind == "U" else c for name, c in apart.items()}
    X = sp.csc_array(content.X) if sp.issparse(content.X) else content.X
    variables = {"X": X, "names": np.array(content.names, dtype=object), **cells}
    # Compressed data carry a checksum.
    scipy.io.savemat(file, variables, oned_as="column", do_compression=True)


def write_mtx(content: Content, file: BinaryIO) -> None:
    """Matrix Market; the names stand in a comment."""
    import scipy.io

    matrix = all_numbers(content, "Matrix Market")
    matrix = matrix.astype(np.float64, copy=False)
    comment = " " + NAMES_MARK + json.dumps(content.all_names)
    scipy.io.mmwrite(file, matrix, comment=comment, precision=17, symmetry="general")


def write_svmlight(content: Content, file: BinaryIO) -> None:
    """Sparse rows with a label; the names stand in a comment."""
    labels = list(content.after.values())
    if content.before or len(labels) > 1 or any(c.dtype.kind == "O" for c in labels):
        raise DataFileError("svmlight files hold one column of numbers next to X, the label.")
    label = labels[0] if labels else np.zeros(content.X.shape[0])
    X = sp.csr_array(content.X)
    comment = NAMES_MARK + json.dumps(list(content.names))
    file.write(f"# {comment}\n".encode())
    places, values, starts = (X.indices + 1).tolist(), X.data.tolist(), X.indptr.tolist()
    for row, number in enumerate(label.tolist()):
        span = slice(starts[row], starts[row + 1])
        pairs = zip(places[span], values[span], strict=True)
        entries = (f"{place}:{value!r}" for place, value in pairs)
        file.write((" ".join([repr(number), *entries]) + "\n").encode())


def write_arff(content: Content, file: BinaryIO) -> None:
    """ARFF: numbers and strings."""
    X = content.X.toarray() if sp.issparse(content.X) else content.X
    columns = [
        *content.before.values(),
        *X.T,
        *content.after.values(),
    ]
    for line in arff_lines(content.all_names, columns):
        file.write((line + "\n").encode())


WRITERS: dict[str, Callable[[Content, BinaryIO], None]] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "parquet": write_parquet,
    "feather": write_feather,
    "npy": write_npy,
    "npz": write_npz,
    "mtx": write_mtx,
    "svmlight": write_svmlight,
    "arff": write_arff,
    "mat": write_mat,
}
