"""Tables to files, a few rows at a time: `write_parts`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from columnist.io._atomic import atomic_folder, atomic_path
from columnist.io._formats import extension_format
from columnist.io._table import DataFileError
from columnist.io._write import (
    Content,
    all_numbers,
    checked,
    frame_of,
    opened,
    said_of,
    write_header,
    write_rows,
    write_table,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "is_zarr", "streamed_format", "write_parts"]

STREAMED = ("csv", "tsv", "parquet", "npy", "zarr")
DELIMITERS = {"csv": ",", "tsv": "\t"}
# Numbers, their names, and the columns before and after them.
Part = tuple[np.ndarray, list[str], dict[str, Any], dict[str, Any]]
Take = Callable[[Content], None]


def is_zarr(name: str) -> bool:
    """Whether the extension says so."""
    return name.lower().rstrip("/").endswith(".zarr")


def streamed_format(name: str) -> str:
    """The format of a file that is written a few rows at a time."""
    format = "csv" if name == "-" else extension_format(name)
    if is_zarr(name):
        format = "zarr"
    if format not in STREAMED:
        raise DataFileError(
            "this format is not written block by block; use .csv, .tsv, .parquet, .npy or .zarr."
        )
    return format


def write_parts(path: str | os.PathLike[str], parts: Iterator[Part], n_rows: int) -> None:
    """Write a table that comes in parts, whole or not at all.

    Formats that cannot grow take a table that comes in one part.

    Parameters
    ----------
    path : str or path
        The file, or the folder of a Zarr array; ``"-"`` is standard output.
    parts : iterator of tuple
        Some rows each: a matrix, the names of its columns, columns before and after them.
    n_rows : int
        Number of all rows.

    Raises
    ------
    DataFileError
        If the file cannot be written, or the format cannot hold the table.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.io._stream import write_parts
    >>> rows = [(np.array([[1.5], [i]]), ["a"], {"id": [i, i]}, {}) for i in range(2)]
    >>> write_parts("-", iter(rows), 4)
    id,a
    0,1.5
    0,0.0
    1,1.5
    1,1.0
    """
    name = os.fspath(path)
    X, names, before, after = first = next(parts)
    if X.shape[0] == n_rows and not is_zarr(name):
        write_table(path, X, names, before=before, after=after)
        return
    with said_of(name):
        start = checked(*first)
        with _OPENERS[streamed_format(name)](name, start, n_rows) as take:
            take(start)
            for part in parts:
                take(checked(*part))


@contextmanager
def _open_text(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    delimiter = DELIMITERS[streamed_format(name)]
    with opened(name, "csv") as file:
        write_header(start, file, delimiter)
        yield lambda content: write_rows(content, file, delimiter)


@contextmanager
def _open_parquet(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    import pyarrow.parquet as pq

    schema = _arrow(start).schema
    with atomic_path(name) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        yield lambda content: writer.write_table(_arrow(content).cast(schema))


def _arrow(content: Content) -> pa.Table:
    """An Arrow table; text is text even where all of it is missing."""
    import pyarrow as pa

    table = frame_of(content).to_arrow()
    for name, column in {**content.before, **content.after}.items():
        if column.dtype.kind == "O":
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


@contextmanager
def _open_npy(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    width = all_numbers(start, "NPY").shape[1]
    with atomic_path(name) as temporary:
        array = np.lib.format.open_memmap(temporary, "w+", np.float64, (n_rows, width))
        yield _Filling(array, "NPY")
        array.flush()


@contextmanager
def _open_zarr(name: str, start: Content, n_rows: int) -> Iterator[Take]:
    import zarr

    numbers = all_numbers(start, "Zarr")
    with _replacing_zarr(name) as temporary:
        array = zarr.open(
            str(temporary), mode="w", shape=(n_rows, numbers.shape[1]),
            chunks=(max(1, len(numbers)), numbers.shape[1]), dtype="f8",
        )  # fmt: skip
        array.attrs["columns"] = start.all_names
        yield _Filling(array, "Zarr")


def _replacing_zarr(name: str) -> AbstractContextManager[Path]:
    target = Path(name)
    marks = ("zarr.json", ".zarray", ".zgroup")
    if target.exists() and not any((target / mark).is_file() for mark in marks):
        raise DataFileError("there is something else than a Zarr store in its place.")
    return atomic_folder(name)


class _Filling:
    """Fills an array from the top."""

    def __init__(self, array: Any, format: str):
        self.array, self.format, self.place = array, format, 0

    def __call__(self, content: Content) -> None:
        numbers = all_numbers(content, self.format)
        end = self.place + len(numbers)
        self.array[self.place : end] = numbers
        self.place = end


_OPENERS: dict[str, Callable[[str, Content, int], AbstractContextManager[Take]]] = {
    "csv": _open_text,
    "tsv": _open_text,
    "parquet": _open_parquet,
    "npy": _open_npy,
    "zarr": _open_zarr,
}
