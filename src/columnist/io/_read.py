"""The front door for data files: `read_table`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, BinaryIO

from columnist.data._parameters import StrOptions
from columnist.io._arff import read_arff_columns
from columnist.io._assemble import Request, assemble
from columnist.io._delimited import read_delimited
from columnist.io._frames import read_feather, read_parquet
from columnist.io._inputs import FORMATS, TEXT, Input, open_input, sniffed_format
from columnist.io._matrices import read_mat, read_mtx, read_npy, read_npz, read_svmlight
from columnist.io._table import UNREADABLE, Columns, DataFileError, Table, damage_of, said_of

__all__ = ["read_table"]


def read_table(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    variable: str | None = None,
    target: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    ids: str | Iterable[str] = (),
    columns: str | Iterable[str] | Callable[[tuple[str, ...]], Iterable[str]] | None = None,
    fill: Iterable[float] | None = None,
    non_numeric: str = "refuse",
    missing: str = "refuse",
) -> Table:
    """Read a table of numbers from a file.

    CSV, TSV and text separated by blanks (delimiter, header, decimal comma and missing
    values are found out), Parquet, Feather, NPY, NPZ, Matrix Market, svmlight, ARFF and MAT up to
    version 7; text may be gzipped. Pickled objects are never loaded.

    Parameters
    ----------
    source : str, path or binary stream
        The file; ``"-"`` is standard input.
    format : str, optional
        One of `FORMATS`; by default the extension says it, without one the content.
    delimiter : str, optional
        What separates the columns of a text file: one character, or ``" "`` for blanks.
    header : bool, optional
        Whether the first row of a text file holds the names; by default found out.
    variable : str, optional
        Which array of an NPZ or MAT file to read. Not needed if it is called ``X``, ``fea``
        or ``data`` or is the only matrix of numbers. Vectors next to it with one value a row can
        be named as ``target`` or ``ids``; an array ``names`` names the columns.
    target, drop, ids : str or sequence of str
        Columns that are predicted, left out, or only label the rows. The labels of an svmlight
        file are called ``label``; they count only as target or id.
    columns : str, sequence of str or callable, optional
        Read only these features, in this order; or what a function makes of all names.
    fill : sequence of float, optional
        With ``columns``, what stands for a missing value of each.
    non_numeric : {"refuse", "drop"}
        What to do with features that are not numbers.
    missing : {"refuse", "mean", "median", "drop"}
        Missing feature values are an error, are replaced, or drop their rows. A missing target
        is an error unless rows are dropped.

    Returns
    -------
    Table
        The matrix ``X`` with ``names``, the target ``y``, ``ids``, and what was ignored or
        imputed. Columns without a name are ``x1``, ``x2``, ...; repeated names get a suffix.

    Raises
    ------
    DataFileError
        Whatever is wrong with the file, in one line.

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
    StrOptions("refuse", "drop").check("non_numeric", non_numeric)
    StrOptions("refuse", "mean", "median", "drop").check("missing", missing)
    if format is not None:
        StrOptions(*FORMATS).check("format", format)
    if fill is not None and columns is None:
        raise ValueError("fill goes with columns: one value for each of them.")
    request = Request(
        target=as_names(target),
        drop=as_names(drop),
        ids=as_names(ids),
        columns=None if columns is None or callable(columns) else as_names(columns),
        non_numeric=non_numeric,
        missing=missing,
        fill=None if fill is None else tuple(fill),
    )
    name = source if isinstance(source, str) else str(getattr(source, "name", source))
    with said_of(name, UNREADABLE, OSError):
        data = open_input(source)
    with said_of(data.name, UNREADABLE, OSError, MemoryError):
        found = checked_format(data, format)
        options = {"delimiter": delimiter, "header": header, "variable": variable}
        with damage_of(found):
            content = READERS[found](data, options | {"ids": request.ids})
        if callable(columns):
            request = replace(request, columns=as_names(columns(content.names)))
        return assemble(content, request, data.name, found)


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names)


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


def read_text(data: Input, options: dict[str, Any], usual: str | None = None) -> Columns:
    """A delimited file."""
    delimiter = options["delimiter"] or usual
    return read_delimited(data, delimiter, options["header"], options["ids"])


READERS: dict[str, Callable[[Input, dict[str, Any]], Columns]] = {
    "csv": read_text,
    "tsv": lambda data, options: read_text(data, options, "\t"),
    "parquet": lambda data, options: read_parquet(data),
    "feather": lambda data, options: read_feather(data),
    "npy": lambda data, options: read_npy(data),
    "npz": lambda data, options: read_npz(data, options["variable"]),
    "mat": lambda data, options: read_mat(data, options["variable"]),
    "mtx": lambda data, options: read_mtx(data),
    "svmlight": lambda data, options: read_svmlight(data),
    "arff": lambda data, options: read_arff_columns(data),
}
