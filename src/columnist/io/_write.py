"""Tables to files, at once or a few rows at a time; files appear whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from columnist.data._parameters import StrOptions
from columnist.io._arff import arff_lines
from columnist.io._frames import import_polars
from columnist.io._header import MISSING, NUMBER, TRUTH
from columnist.io._inputs import (
    FORMATS,
    READ_ONLY,
    TEXT,
    extension_format,
    is_zarr,
    is_zarr_store,
)
from columnist.io._matrices import NAMES_MARK
from columnist.io._table import DataFileError, listed, objects_of, quoted, said_of, text_array

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

STREAMED = ("csv", "tsv", "parquet", "npy", "zarr")
# Numbers, their names, and the columns before and after them.
Part = tuple[np.ndarray, list[str], dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Content:
    """The content of a file."""

    X: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]

    @property
    def all_names(self) -> list[str]:
        """Names of all columns, in order."""
        return [*self.before, *self.names, *self.after]

    @property
    def columns(self) -> list[np.ndarray]:
        """All columns, in order; those of objects are text."""
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        X = X.astype(np.uint8) if X.dtype == bool else X
        return [*self.before.values(), *X.T, *self.after.values()]

    @property
    def sides(self) -> dict[str, np.ndarray]:
        """The columns next to X."""
        return {**self.before, **self.after}


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
        One of `FORMATS`; by default it is inferred from the extension; CSV for standard output.

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
    if format in READ_ONLY:
        raise DataFileError(f"{name}: {format} files are read, but not written: choose .csv.")
    StrOptions(*FORMATS).check("format", format)
    with said_of(name, "cannot be written", OSError):
        content, buffer = checked(X, names, before or {}, after or {}), io.BytesIO()
        with opened(name, format) as file:
            WRITERS[format](content, buffer if name == "-" else file)
            file.write(buffer.getvalue())


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
    return array if array.dtype.kind in "biuf" else objects_of(array.ravel())


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
        if not name.lower().endswith(".gz"):
            yield file
            return
        if format not in TEXT:
            raise DataFileError(f"{format} files are not gzipped.")
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inner:
            yield cast(BinaryIO, inner)


class Words:
    """Bytes for a standard output that takes text only."""

    def write(self, content: bytes) -> int:
        return sys.stdout.write(bytes(content).decode())

    def flush(self) -> None:
        sys.stdout.flush()


def frame_of(content: Content) -> pl.DataFrame:
    """All columns as a polars frame."""
    pl = import_polars()
    named = zip(content.all_names, content.columns, strict=True)
    return pl.DataFrame(
        [pl.Series(name, c.tolist() if c.dtype.kind == "O" else c) for name, c in named]
    )


def write_delimited(content: Content, file: BinaryIO, delimiter: str, header: bool = True) -> None:
    """Delimited text."""
    if header:
        names = [quoted_name(name, delimiter) for name in content.all_names]
        file.write((delimiter.join(names) + "\n").encode())
    # An empty field alone on its line would vanish as a blank line.
    missing = "NA" if len(content.all_names) == 1 else ""
    frame_of(content).write_csv(file, include_header=False, separator=delimiter, null_value=missing)


def quoted_name(name: str, delimiter: str) -> str:
    """A name as a field; quoted if it could be taken for something else."""
    special = {delimiter, '"', "\n", "\r"} & set(name)
    bare = name.strip()
    doubtful = bare in MISSING or NUMBER.fullmatch(bare) or bare.lower() in TRUTH
    doubtful = doubtful or name != bare or name[0] in "#%"
    return '"' + name.replace('"', '""') + '"' if special or doubtful else name


def all_numbers(content: Content, format: str) -> np.ndarray | sp.csr_array:
    """All columns as one matrix of numbers."""
    text = [name for name, column in content.sides.items() if column.dtype.kind == "O"]
    if text:
        raise DataFileError(
            f"{format} files hold numbers only, not text ({listed(map(quoted, text))}): "
            "write CSV or Parquet."
        )
    if not content.sides:
        return content.X
    before, after = (
        [column[:, None] for column in side.values()] for side in (content.before, content.after)
    )
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
    taken = sorted(content.sides.keys() & {*reserved, "file", "allow_pickle"})
    if taken:
        raise DataFileError(f"{format} files need {listed(map(quoted, taken))} for themselves.")
    sides = content.sides.items()
    return {name: text_array(c) if c.dtype.kind == "O" else c for name, c in sides}


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
    file.writelines(f"{line}\n".encode() for line in arff_lines(content.all_names, content.columns))


WRITERS: dict[str, Callable[[Content, BinaryIO], object]] = {
    "csv": lambda content, file: write_delimited(content, file, ","),
    "tsv": lambda content, file: write_delimited(content, file, "\t"),
    "parquet": lambda content, file: frame_of(content).write_parquet(file),
    "feather": lambda content, file: frame_of(content).write_ipc(file),
    "npy": write_npy,
    "npz": write_npz,
    "mtx": write_mtx,
    "svmlight": write_svmlight,
    "arff": write_arff,
    "mat": write_mat,
}


# -- a few rows at a time -----------------------------------------------------------


def streamed_format(name: str) -> str:
    """The format of a file that is written a few rows at a time."""
    format = "zarr" if is_zarr(name) else "csv" if name == "-" else extension_format(name)
    if format not in STREAMED:
        raise DataFileError(
            "this format is not written block by block; use .csv, .tsv, .parquet, .npy or .zarr."
        )
    return format


def write_parts(path: str | os.PathLike[str], parts: Iterator[Part], n_rows: int) -> None:
    """Write a table of ``n_rows`` rows that comes in parts, whole or not at all. The path may be
    the folder of a Zarr array, or ``"-"`` for standard output. Formats that cannot grow take a
    table that comes in one part."""
    name = os.fspath(path)
    X, names, before, after = first = next(parts)
    if X.shape[0] == n_rows and not is_zarr(name):
        write_table(path, X, names, before=before, after=after)
        return
    with said_of(name, "cannot be written", OSError):
        start = checked(*first)
        with OPENERS[streamed_format(name)](name, start, n_rows) as take:
            take(start)
            for part in parts:
                take(checked(*part))


Take = Callable[[Content], None]


@contextmanager
def open_text(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    """Delimited text, with the names on top."""
    delimiter = "\t" if streamed_format(name) == "tsv" else ","
    with opened(name, "csv") as file:
        yield lambda content: write_delimited(content, file, delimiter, content is start)


@contextmanager
def open_parquet(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    """Parquet, a row group for each part."""
    import pyarrow.parquet as pq

    schema = arrow_of(start).schema
    with atomic_path(name) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        yield lambda content: writer.write_table(arrow_of(content).cast(schema))


def arrow_of(content: Content) -> pa.Table:
    """An Arrow table; text is text even where all of it is missing."""
    import pyarrow as pa

    table = frame_of(content).to_arrow()
    for name, column in content.sides.items():
        if column.dtype.kind == "O":
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


@contextmanager
def open_npy(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    """One NumPy array, mapped into memory."""
    width = all_numbers(start, "NPY").shape[1]
    with atomic_path(name) as temporary:
        array = np.lib.format.open_memmap(temporary, "w+", np.float64, (n_rows, width))
        yield filling(array, "NPY")
        array.flush()


@contextmanager
def open_zarr(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    """A Zarr array with the names as an attribute; only an existing Zarr store is replaced."""
    import zarr

    numbers = all_numbers(start, "Zarr")
    if Path(name).exists() and not is_zarr_store(Path(name)):
        raise DataFileError("there is something else than a Zarr store in its place.")
    with atomic_folder(name) as temporary:
        array = zarr.open(
            str(temporary), mode="w", shape=(n_rows, numbers.shape[1]),
            chunks=(max(1, len(numbers)), numbers.shape[1]), dtype="f8",
        )  # fmt: skip
        array.attrs["columns"] = start.all_names
        yield filling(array, "Zarr")


def filling(array: Any, format: str) -> Take:
    """Fills an array from the top."""
    place = 0

    def take(content: Content) -> None:
        nonlocal place
        numbers = all_numbers(content, format)
        array[place : place + len(numbers)] = numbers
        place += len(numbers)

    return take


OPENERS: dict[str, Callable[[str, Content, int], AbstractContextManager[Take]]] = {
    "csv": open_text,
    "tsv": open_text,
    "parquet": open_parquet,
    "npy": open_npy,
    "zarr": open_zarr,
}


# -- whole or not at all ------------------------------------------------------------


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write to a temporary neighbour that takes the place of ``path`` at the end.

    Parameters
    ----------
    path : str or path
        The file to write; its folder must exist. A symbolic link is followed.

    Yields
    ------
    Path
        An empty temporary file in the same folder, with the same extensions. It is moved to
        ``path`` when the block ends well and removed when it raises: then an older file at
        ``path`` stays as it was.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from columnist.io import atomic_path
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder) / "note.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:40]}.", suffix="".join(target.suffixes[-2:]), dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, mode_of(target))
        sync(temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    with suppress(OSError):  # not every file system lets a folder be synchronised
        sync(target.parent)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a folder: an older one at ``path`` stays until the new one is complete."""
    target = Path(os.path.realpath(path))
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))
    older = temporary.with_name(f"{temporary.name}.older")
    try:
        yield temporary
        os.chmod(temporary, mode_of(target, 0o777))
        if target.exists():
            os.rename(target, older)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        if older.exists() and not target.exists():
            os.rename(older, target)
        raise
    shutil.rmtree(older, ignore_errors=True)


def mode_of(target: Path, usual: int = 0o666) -> int:
    """Permissions of the file that is replaced, or those a new file would get."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return usual & ~mask


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
