"""Files larger than memory as Dask collections: Parquet, Zarr, NPY and delimited text.

Only names, types and sizes are read when a file is opened. The rows are read block by block when
they are processed, with only the requested columns.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from columnist.data._parameters import StrOptions
from columnist.io._delimited import NOTHING, UTF16, layout_of
from columnist.io._header import MISSING
from columnist.io._inputs import extension_format, is_zarr_store, open_input, signature
from columnist.io._matrices import load_safely
from columnist.io._read import Request, check_roles, numeric_features
from columnist.io._table import (
    UNREADABLE,
    DataFileError,
    Names,
    as_names,
    damage_of,
    listed,
    named_columns,
    one_line,
    plural,
    quoted,
    said_of,
    unique_names,
)

FORMATS = ("parquet", "zarr", "npy", "csv")
_NEEDED = "files larger than memory need Dask: pip install 'columnist[dask]'"
_PARQUET = (".parquet", ".pq", ".parq")
# Bytes of a text file that Dask looks at by itself.
_SAMPLE = 256_000
_TOO_MANY_FIELDS = "a row has more fields than there are columns."


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
    header : bool or None
        Whether the first line of a text file holds the names; None for other formats.
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
    header: bool | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known without reading them."""
        return None if self.lengths is None else sum(self.lengths)


def open_collection(
    path: str | os.PathLike[str],
    *,
    target: Names = (),
    drop: Names = (),
    ids: Names = (),
    columns: Names | None = None,
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
    target, drop, ids : str, sequence of str or callable
        Columns that are predicted, left out, or only label the rows; or a function that chooses
        them from all names. Columns of arrays are called
        ``x1``, ``x2``, ... unless a Zarr array has an attribute ``columns``.
    columns : str, sequence of str or callable, optional
        Only these features, in this order.
    variable : str, optional
        Which array of a Zarr group; not needed if it has one matrix.
    blocksize : int or str, default="128MiB"
        Bytes of a block, about: small stored pieces are put together.
    format : {"parquet", "zarr", "npy", "csv"}, optional
        Detected by default.
    delimiter : str, optional
        What separates the columns of a text file; detected by default.
    header : bool, optional
        Whether the first line of a text file holds names; detected by default.
    non_numeric : {"refuse", "drop"}, default="refuse"
        What to do with features that are not numbers.

    Returns
    -------
    Collection
        Pass its ``X`` (and ``y``) to ``fit``.

    Raises
    ------
    DataFileError
        If the file cannot be used; the message is one line.

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
    name = os.fspath(path)
    with said_of(name, UNREADABLE, OSError):
        found = _format(name, format)
        size = _bytes(blocksize)
        opened = _opened(name, found, size, variable, delimiter=delimiter, header=header)
        known = opened.names
        request = Request(
            target=as_names(target, known), drop=as_names(drop, known), ids=as_names(ids, known),
            columns=None if columns is None else as_names(columns, known), non_numeric=non_numeric,
        )  # fmt: skip
        return _assembled(opened, request, name, found)


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
        if asked or is_zarr_store(path) or path.suffix.lower() != ".zarr":
            return asked or ("zarr" if is_zarr_store(path) else "parquet")
        raise DataFileError("no Zarr array or group: the folder has no zarr.json or .zarray.")
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


def _opened(name: str, format: str, size: int, variable: str | None, **layout: Any) -> Source:
    """What the file holds."""
    if variable is not None and format != "zarr":
        raise DataFileError(f"variable= names an array of a Zarr group; this is {format}.")
    with damage_of(format):
        try:
            if format == "parquet":
                return ParquetFiles(parquet_files(name), size)
            if format == "zarr":
                return zarr_array(name, variable, size)
            if format == "npy":
                return npy_array(name, size)
            return TextFile(name, size, **layout)
        except ImportError as error:
            raise DataFileError(f"{_NEEDED} ({one_line(error)})") from error


def _assembled(source: Source, request: Request, name: str, format: str) -> Collection:
    """The collections that were asked for."""
    places = {column: place for place, column in enumerate(source.names)}
    check_roles(request, places, source)
    features, ignored, _ = numeric_features(source, request, places)
    targets = [places[column] for column in request.target]
    return Collection(
        X=source.matrix([places[column] for column in features]),
        y=source.columns(targets) if targets else None,
        names=tuple(features),
        target_names=request.target,
        ids={column: source.labels(places[column]) for column in request.ids},
        lengths=source.lengths,
        source=name,
        format=format,
        ignored=ignored,
        header=source.header,
    )


# -- what a file holds --------------------------------------------------------------


class Source:
    """Columns of a file, of which some are wanted. See `columnist.io._table.Described`."""

    names: tuple[str, ...]
    lengths: tuple[int, ...] | None = None
    extras: dict[str, Any] = {}
    header: bool | None = None

    def kind(self, place: int) -> str:
        return "number"

    def detail(self, place: int) -> str:
        return ""

    def matrix(self, places: Sequence[int]):
        """Columns of numbers."""
        raise NotImplementedError

    def columns(self, places: Sequence[int]):
        """One column, or several, as they are stored."""
        raise NotImplementedError

    def labels(self, place: int):
        """One column, of which no character may be lost."""
        return self.columns([place])


@dataclass
class _Rows:
    """Row groups of Parquet files that make a block, by file, and their number of rows."""

    groups: dict[str, list[int]]
    count: int


def parquet_files(name: str) -> list[str]:
    """All files of a name, a folder or a pattern, in natural order (part-2 before part-10)."""
    from dask.utils import natural_sort_key

    path = Path(name)
    if path.is_dir():
        found = [
            file for file in path.rglob("*")
            if file.suffix.lower() in _PARQUET and not file.name.startswith(("_", "."))
        ]  # fmt: skip
        if not found:
            raise DataFileError("the folder has no Parquet files, and it is no Zarr store.")
        parts = {part for file in found for part in file.relative_to(path).parts[:-1]}
        if any("=" in part for part in parts):
            raise DataFileError(
                f"folders such as {quoted(sorted(parts)[0])} hold values of a column, which are "
                "not read: name the files by a pattern instead."
            )
    elif path.exists():
        found = [path]
    else:
        found = [Path(file) for file in glob.glob(name, recursive=True) if Path(file).is_file()]
        if not found:
            raise DataFileError("no file fits this pattern.")
    return sorted((str(file.absolute()) for file in found), key=natural_sort_key)


class ParquetFiles(Source):
    """Parquet files with the same columns."""

    schema: Any = None

    def __init__(self, files: Sequence[str], size: int):
        import pyarrow.parquet as pq

        stored: list[tuple[str, int, int]] = []
        for file in files:
            try:
                described = pq.ParquetFile(file)
            except Exception as error:
                what = f"{Path(file).name} is " if len(files) > 1 else ""
                raise DataFileError(f"{what}damaged: {one_line(error)[:200]}") from error
            with described:
                meta, schema = described.metadata, described.schema_arrow
                self.schema = schema if self.schema is None else self.schema
                if not self.schema.equals(schema):
                    alike = self.schema.names == schema.names
                    what = "types of columns" if alike else "columns"
                    raise DataFileError(f"{file} has other {what} than the first file.")
                heights = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
            stored += [(file, i, rows) for i, rows in enumerate(heights) if rows]
        self.names, renamed = unique_names(self.schema.names)
        if renamed:
            raise DataFileError(
                f"repeated or empty column names: {listed(map(quoted, renamed.values()))}."
            )
        width = 8 * max(1, sum(self.kind(place) == "number" for place in range(len(self.names))))
        self.pieces = _put_together(stored, size / width)
        self.lengths = tuple(piece.count for piece in self.pieces)
        if not self.pieces:
            raise DataFileError("there is not a single row of data.")

    def kind(self, place: int) -> str:
        return _arrow_kind(self.schema.field(place).type)

    def matrix(self, places: Sequence[int]):
        import pyarrow as pa

        types = [self.schema.field(place).type for place in places]
        short = all(pa.types.is_float32(t) or pa.types.is_float16(t) for t in types)
        return self._frame(places, np.dtype(np.float32 if short else np.float64))

    def columns(self, places: Sequence[int]):
        frame = self._frame(places, None)
        return frame[self.names[places[0]]] if len(places) == 1 else frame

    def _frame(self, places: Sequence[int], dtype: np.dtype | None):
        import dask
        import dask.dataframe as dd

        names = [self.names[place] for place in places]
        meta = _as_frame(self.schema.empty_table().select(names), dtype)
        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_map(_read_rows, self.pieces, columns=names, dtype=dtype, meta=meta)


def _put_together(stored: Sequence[tuple[str, int, int]], most: float) -> list[_Rows]:
    """Blocks of at most ``most`` rows, if possible, of neighbouring row groups."""
    blocks: list[_Rows] = []
    for file, group, count in stored:
        if not blocks or blocks[-1].count + count > most:
            blocks.append(_Rows({}, 0))
        blocks[-1].groups.setdefault(file, []).append(group)
        blocks[-1].count += count
    return blocks


def _read_rows(rows: _Rows, columns: list[str], dtype: np.dtype | None):
    """Some columns of some row groups; numbers of one type if one is given."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = []
    for file, groups in rows.groups.items():
        with pq.ParquetFile(file) as opened:
            part = opened.read_row_groups(groups, columns=columns, use_threads=False)
        parts.append(part.select(columns))
    return _as_frame(parts[0] if len(parts) == 1 else pa.concat_tables(parts), dtype)


def _as_frame(table, dtype: np.dtype | None):
    """A pandas frame of an Arrow table: missing numbers are nan."""
    import pyarrow as pa

    if dtype is not None:
        kind, is_truth = pa.from_numpy_dtype(dtype), pa.types.is_boolean
        columns = [c.cast(pa.int8()) if is_truth(c.type) else c for c in table.columns]
        numbers = [column.cast(kind, safe=False) for column in columns]
        table = pa.Table.from_arrays(numbers, names=table.column_names)
    # The metadata of pandas would bring back an index.
    frame = table.replace_schema_metadata(None).to_pandas(use_threads=False)
    # Objects, for text of pandas' own types does not fit into arrays.
    strange = [name for name, kind in frame.dtypes.items() if not isinstance(kind, np.dtype)]
    return frame.astype(dict.fromkeys(strange, object)) if strange else frame


def _arrow_kind(kind) -> str:
    import pyarrow.types as t

    numbers = (t.is_floating, t.is_integer, t.is_boolean, t.is_null, t.is_decimal)
    if any(test(kind) for test in numbers):
        return "number"
    if t.is_temporal(kind):
        return "dates"
    text = t.is_string(kind) or t.is_large_string(kind) or t.is_dictionary(kind)
    return "text" if text else str(kind)


# -- arrays -----------------------------------------------------------------------


class ArrayFile(Source):
    """A stored matrix."""

    def __init__(self, stored, columns: list[str] | None, chunks: tuple[int, ...], size: int):
        import dask.array as da
        from dask.base import tokenize

        _check_matrix(stored.shape, np.dtype(stored.dtype))
        width = stored.shape[1] * stored.dtype.itemsize
        # Whole chunks, of about ``size`` bytes together.
        height = chunks[0] * max(1, size // (chunks[0] * width))
        self.names, _ = named_columns(columns, stored.shape[1])
        # Nothing is read to name it; lists of columns are taken after reading.
        place = getattr(stored, "path", None), str(getattr(stored, "store", ""))
        name = f"stored-{tokenize(*place, stored.shape, str(stored.dtype))}"
        chunks = height, stored.shape[1]
        self.array = da.from_array(stored, chunks, name=name, fancy=False, inline_array=True)
        self.lengths = tuple(int(rows) for rows in self.array.chunks[0])

    def matrix(self, places: Sequence[int]):
        X = self.array
        if list(places) != list(range(X.shape[1])):
            X = X[:, list(places)]
        native = X.dtype.newbyteorder("=")
        usual = native in (np.float64, np.float32)
        return X.astype(native if usual else np.float64)

    def columns(self, places: Sequence[int]):
        return self.array[:, places[0]] if len(places) == 1 else self.array[:, list(places)]


@dataclass(frozen=True)
class _Npy:
    """An NPY file that is mapped where it is read: what travels is its name."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype

    ndim = 2

    def __getitem__(self, place):
        return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[place])


def npy_array(name: str, size: int) -> ArrayFile:
    mapped = load_safely(name, mmap_mode="r")
    if mapped.dtype.names:
        raise DataFileError("a structured array is not read in blocks: store a plain matrix.")
    stored = _Npy(str(Path(name).absolute()), mapped.shape, mapped.dtype)
    return ArrayFile(stored, None, (1,), size)


def zarr_array(name: str, variable: str | None, size: int) -> ArrayFile:
    import zarr

    stored: Any = zarr.open(str(Path(name).absolute()), mode="r")
    if not hasattr(stored, "shape"):
        stored = _member(stored, variable)
    elif variable is not None:
        raise DataFileError("variable= names an array of a group; this is an array.")
    columns = stored.attrs.get("columns")
    columns = [str(column) for column in columns] if isinstance(columns, list) else None
    return ArrayFile(stored, columns, getattr(stored, "shards", None) or stored.chunks, size)


def _member(group, variable: str | None):
    """The array of a group that is meant."""
    arrays = dict(sorted(group.arrays()))  # files come in any order
    if variable is not None:
        if variable not in arrays:
            known = ", ".join(map(quoted, arrays)) or "none"
            raise DataFileError(f"no array {quoted(variable)} in the group; there are: {known}.")
        return arrays[variable]
    matrices = {name: array for name, array in arrays.items() if len(array.shape) == 2}
    if len(matrices) != 1:
        known = ", ".join(map(quoted, matrices)) or "none"
        raise DataFileError(f"which array? name one with variable=; matrices: {known}.")
    return next(iter(matrices.values()))


def _check_matrix(shape: tuple[int, ...], dtype: np.dtype) -> None:
    if len(shape) != 2:
        raise DataFileError(f"a matrix is needed; the array has {plural(len(shape), 'dimension')}.")
    if dtype.kind not in "biuf":
        raise DataFileError(f"the array holds {dtype}, not real numbers.")
    if not shape[1]:
        raise DataFileError("the array has no columns.")
    if not shape[0]:
        raise DataFileError("there is not a single row of data.")


# -- text -------------------------------------------------------------------------


class TextFile(Source):
    """A delimited file."""

    def __init__(self, name: str, size: int, delimiter: str | None, header: bool | None):
        self.data = open_input(str(Path(name).absolute()))
        head = self.data.head
        if head.startswith(UTF16):
            raise DataFileError("text in UTF-16 is not read in blocks: convert it to UTF-8.")
        if b"\r" in head and b"\n" not in head:
            raise DataFileError("lines that end in CR alone are not read in blocks.")
        self.layout = layout_of(self.data, None, delimiter, header)
        if head.startswith(b"\xef\xbb\xbf") and not self.layout.skip:
            raise DataFileError("the file begins with a byte order mark: remove it.")
        self.names, _ = named_columns(self.layout.names, self.layout.n_columns)
        self.header = self.layout.header
        self.size = None if self.data.compressed else size

    def kind(self, place: int) -> str:
        return "text" if self.layout.text[place] else "number"

    def matrix(self, places: Sequence[int]):
        names = [self.names[place] for place in places]
        numbers = set(names)
        # All columns: pandas overlooks fields too many where it does not need all.
        frame = self._frame({n: np.float64 if n in numbers else object for n in self.names})
        return frame.map_partitions(_rectangular, names, meta=_rectangular(frame._meta, names))

    def columns(self, places: Sequence[int]):
        names = [self.names[place] for place in places]
        kinds = {self.names[p]: object if self.layout.text[p] else np.float64 for p in places}
        frame = self._frame(kinds)
        return frame[names[0]] if len(names) == 1 else frame[names]

    def labels(self, place: int):
        name = self.names[place]
        return self._frame({name: object})[name]

    def _frame(self, kinds: dict[str, Any]):
        import dask
        import dask.dataframe as dd
        import pandas as pd

        layout = self.layout
        some = [name for name in self.names if name in kinds]
        # Numbers as exactly as without Dask; from version 3 on pandas does so by itself.
        exact = {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}
        try:
            with dask.config.set({"dataframe.convert-string": False}):
                return dd.read_csv(
                    str(self.data.path), header=None, skiprows=layout.skip, skipinitialspace=True,
                    blocksize=self.size, sample=min(self.size or _SAMPLE, _SAMPLE),
                    compression="gzip" if self.data.compressed else None,
                    sep=r"\s+" if layout.blanks else layout.delimiter,
                    decimal="," if layout.decimal_comma else ".",
                    names=[*self.names, *[NOTHING] * layout.trailing],
                    usecols=some if len(some) < len(self.names) else None,
                    dtype=kinds | {NOTHING: object},
                    na_values=list(MISSING), keep_default_na=False, **exact,
                )  # fmt: skip
        except ValueError as error:
            if "Error tokenizing data" not in str(error):
                raise
            raise DataFileError(_TOO_MANY_FIELDS) from error


def _rectangular(frame, names: list[str]):
    """Columns of a frame whose rows all have as many fields as there are names."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):  # what pandas makes of fields too many
        raise DataFileError(_TOO_MANY_FIELDS)
    return frame[names]
