"""Files larger than memory as Dask collections: Parquet, Zarr, NPY and delimited text.

Only what describes a file is read here: names, types and sizes. The rows are read block by block
where they are visited, and of them only the columns that are wanted.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from columnist.data._parameters import StrOptions
from columnist.distributed._sources import (
    ParquetFiles,
    Source,
    TextFile,
    npy_array,
    parquet_files,
    zarr_array,
)
from columnist.io._assemble import Request, check_roles, numeric_features
from columnist.io._formats import extension_format, signature
from columnist.io._inputs import open_input
from columnist.io._read import as_names, reason
from columnist.io._table import DataFileError, one_line

__all__ = ["Collection", "open_collection"]

FORMATS = ("parquet", "zarr", "npy", "csv")
_NEEDED = "files larger than memory need Dask: pip install 'columnist[dask]'"
# Files that make a folder a Zarr array or group, of version 3 and 2.
_ZARR_MARKS = ("zarr.json", ".zarray", ".zgroup")


@dataclass(frozen=True)
class Collection:
    """A file as Dask collections.

    Attributes
    ----------
    X : dask DataFrame or Array
        The features: a dataframe of a file with names, an array of an array.
    y : dask DataFrame, Series or Array, or None
        The target, one-dimensional if there is one.
    names : tuple of str
        Names of the columns of X.
    target_names : tuple of str
        Names of the targets.
    ids : dict of str to dask Series or Array
        Columns that only label the rows.
    lengths : tuple of int or None
        Rows of every block, if they are known without reading the rows.
    source, format : str
        Where the data come from and how they are read.
    ignored : dict of str to str
        Columns left out of X, and why.
    """

    X: Any
    y: Any
    names: tuple[str, ...]
    target_names: tuple[str, ...]
    ids: dict[str, Any]
    lengths: tuple[int, ...] | None
    source: str
    format: str
    ignored: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known without reading them."""
        return None if self.lengths is None else sum(self.lengths)


def open_collection(
    path: str | os.PathLike[str],
    *,
    target: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    ids: str | Iterable[str] = (),
    columns: str | Iterable[str] | None = None,
    variable: str | None = None,
    blocksize: int | str = "128MiB",
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    non_numeric: str = "refuse",
) -> Collection:
    """Open a file that may be larger than memory.

    Parquet (a file, a folder or a pattern such as ``"part-*.parquet"``; whole row groups make a
    block), Zarr (versions 2 and 3; whole stored chunks make a block), NPY (mapped into memory,
    never a pickle) and delimited text. The rows are read when they are visited.

    Parameters
    ----------
    path : str or path
        The file, folder or pattern. Workers on other machines must see it under the same name.
    target, drop, ids : str or sequence of str
        Columns that are predicted, left out, or only label the rows. Columns of arrays are called
        ``x1``, ``x2``, ... unless a Zarr array has an attribute ``columns``.
    columns : str or sequence of str, optional
        Only these features, in this order.
    variable : str, optional
        Which array of a Zarr group; not needed if it has one matrix.
    blocksize : int or str, default="128MiB"
        Bytes of a block, about: small stored pieces are put together.
    format : {"parquet", "zarr", "npy", "csv"}, optional
        Found out by default.
    delimiter : str, optional
        What separates the columns of a text file; found out by default.
    header : bool, optional
        Whether the first line of a text file holds names; found out by default.
    non_numeric : {"refuse", "drop"}, default="refuse"
        What to do with features that are not numbers.

    Returns
    -------
    Collection
        Pass its ``X`` (and ``y``) to ``fit``.

    Raises
    ------
    DataFileError
        Whatever is wrong with the file, in one line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.distributed import open_collection
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.npy"
    ...     np.save(path, np.random.default_rng(0).standard_normal((1000, 6)))
    ...     data = open_collection(path, drop="x6", blocksize=20_000)
    ...     selector = ColumnSelector(2).fit(data.X)
    >>> data.n_rows, data.names, data.X.numblocks
    (1000, ('x1', 'x2', 'x3', 'x4', 'x5'), (3, 1))
    >>> len(selector.selected_)
    2
    """
    StrOptions("refuse", "drop").check("non_numeric", non_numeric)
    if format is not None:
        StrOptions(*FORMATS).check("format", format)
    request = Request(
        target=as_names(target), drop=as_names(drop), ids=as_names(ids),
        columns=None if columns is None else as_names(columns), non_numeric=non_numeric,
    )  # fmt: skip
    name = os.fspath(path)
    try:
        found = _format(name, format)
        size = _bytes(blocksize)
        opened = _opened(name, found, size, variable, delimiter, header)
        return _assembled(opened, request, name, found)
    except DataFileError as error:
        raise DataFileError(one_line(f"{name}: {error}")) from error
    except OSError as error:
        raise DataFileError(one_line(f"{name}: {reason(error)}")) from error


def _bytes(blocksize: int | str) -> int:
    try:
        from dask.utils import parse_bytes
    except ImportError as error:
        raise DataFileError(_NEEDED) from error
    try:
        size = parse_bytes(blocksize)
    except (ValueError, TypeError):
        size = 0
    if size < 1:
        raise ValueError(f"blocksize must be bytes such as 2**27 or '128MiB'; got {blocksize!r}.")
    return int(size)


def _format(name: str, asked: str | None) -> str:
    """The format, from the request, a folder's content, the extension, or the first bytes."""
    path = Path(name)
    if path.is_dir():
        return asked or _folder_format(path)
    if glob.has_magic(name) and not path.exists():
        return asked or "parquet"
    start = open_input(name).start
    if not start:
        raise DataFileError("the file is empty.")
    by_content, by_name = signature(start), extension_format(name)
    if asked is None and by_name is None and path.suffix.lower() == ".zarr":
        raise DataFileError("a Zarr store is a folder, this is a file.")
    found = asked or by_content or by_name or "csv"
    found = "csv" if found == "tsv" else found
    if found not in FORMATS:
        raise DataFileError(
            f"{found} files are not read in blocks: write it as Parquet, Zarr, NPY or CSV first."
        )
    expected = asked or by_name
    if by_content != (None if found == "csv" else found):
        raise DataFileError(f"this is not a {expected} file, or it is damaged.")
    if by_content is not None and expected not in (None, by_content):
        raise DataFileError(f"the content is {by_content}, but the extension says {expected}.")
    return found


def _folder_format(path: Path) -> str:
    if any((path / mark).is_file() for mark in _ZARR_MARKS):
        return "zarr"
    if path.suffix.lower() == ".zarr":
        raise DataFileError("no Zarr array or group: the folder has no zarr.json or .zarray.")
    return "parquet"


def _opened(
    name: str,
    format: str,
    size: int,
    variable: str | None,
    delimiter: str | None,
    header: bool | None,
) -> Source:
    """What the file holds; libraries fail in many ways on damaged files."""
    if variable is not None and format != "zarr":
        raise DataFileError(f"variable= names an array of a Zarr group; this is {format}.")
    try:
        if format == "parquet":
            return ParquetFiles(parquet_files(name), size)
        if format == "zarr":
            return zarr_array(name, variable, size)
        if format == "npy":
            return npy_array(name, size)
        return TextFile(name, size, delimiter, header)
    except (DataFileError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise DataFileError(f"{_NEEDED} ({one_line(error)})") from error
    except Exception as error:
        raise DataFileError(
            f"damaged, or not a {format} file ({one_line(error)[:200]})."
        ) from error


def _assembled(source: Source, request: Request, name: str, format: str) -> Collection:
    """The collections that were asked for."""
    places = {column: place for place, column in enumerate(source.names)}
    check_roles(request, places, source)
    features, ignored = numeric_features(source, request, places)
    y = None
    if request.target:
        y = source.columns([places[column] for column in request.target])
    return Collection(
        X=source.matrix([places[column] for column in features]),
        y=y,
        names=tuple(features),
        target_names=request.target,
        ids={column: source.labels(places[column]) for column in request.ids},
        lengths=source.lengths,
        source=name,
        format=format,
        ignored=ignored,
    )
