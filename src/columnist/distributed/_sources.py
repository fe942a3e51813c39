"""What a file larger than memory holds, and how its blocks are read."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from columnist.io._arrays import load_safely
from columnist.io._columns import numbered_names, unique_names
from columnist.io._delimited import UTF16, check_text, decoded, sample
from columnist.io._inputs import open_input
from columnist.io._layout import MISSING, Layout, find_layout
from columnist.io._table import DataFileError, listed, one_line, plural, quoted

__all__ = ["ParquetFiles", "Source", "TextFile", "npy_array", "parquet_files", "zarr_array"]

_PARQUET = (".parquet", ".pq", ".parq")
# Bytes of a text file that Dask looks at by itself.
_SAMPLE = 256_000
# The column that delimiters at the end of each row make.
_NOTHING = "\0nothing"


class Source:
    """Columns of a file, of which some are wanted. See `columnist.io._columns.Columns`."""

    names: tuple[str, ...]
    lengths: tuple[int, ...] | None = None
    extras: dict[str, Any] = {}

    def kind(self, place: int) -> str:
        """What a column holds."""
        return "number"

    def detail(self, place: int) -> str:
        """What keeps a column from being numbers."""
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


# -- Parquet ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Row groups of Parquet files that make a block."""

    groups: tuple[tuple[str, tuple[int, ...]], ...]


def parquet_files(name: str) -> list[str]:
    """All files behind a name, a folder or a pattern, in the order in which people count."""
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
                self._check_schema(file, described.schema_arrow)
                meta = described.metadata
                heights = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
            stored += [(file, i, rows) for i, rows in enumerate(heights) if rows]
        self.names, renamed = unique_names(self.schema.names)
        if renamed:
            raise DataFileError(
                f"repeated or empty column names: {listed(map(quoted, renamed.values()))}."
            )
        width = 8 * max(1, sum(self.kind(place) == "number" for place in range(len(self.names))))
        blocks = _put_together([rows for *_, rows in stored], width, size)
        self.pieces = [_Rows(_grouped([stored[i][:2] for i in block])) for block in blocks]
        self.lengths = tuple(sum(stored[i][2] for i in block) for block in blocks)
        if not blocks:
            raise DataFileError("there is not a single row of data.")

    def _check_schema(self, file: str, schema) -> None:
        if self.schema is None:
            self.schema = schema
        elif not self.schema.equals(schema):
            alike = self.schema.names == schema.names
            what = "types of columns" if alike else "columns"
            raise DataFileError(f"{file} has other {what} than the first file.")

    def kind(self, place: int) -> str:
        """See `Source`."""
        return _arrow_kind(self.schema.field(place).type)

    def matrix(self, places: Sequence[int]):
        """See `Source`."""
        import pyarrow as pa

        types = [self.schema.field(place).type for place in places]
        short = all(pa.types.is_float32(t) or pa.types.is_float16(t) for t in types)
        return self._frame(places, np.dtype(np.float32 if short else np.float64))

    def columns(self, places: Sequence[int]):
        """See `Source`."""
        frame = self._frame(places, None)
        return frame[self.names[places[0]]] if len(places) == 1 else frame

    def _frame(self, places: Sequence[int], dtype: np.dtype | None):
        import dask
        import dask.dataframe as dd

        names = [self.names[place] for place in places]
        meta = _as_frame(self.schema.empty_table().select(names), dtype)
        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_map(_ReadRows(dtype), self.pieces, columns=names, meta=meta)


class _ReadRows:
    """Reads some columns of some row groups; numbers of one type if one is given."""

    def __init__(self, dtype: np.dtype | None):
        self.dtype = dtype

    def __call__(self, rows: _Rows, columns: list[str]):
        import pyarrow as pa
        import pyarrow.parquet as pq

        parts = []
        for file, groups in rows.groups:
            with pq.ParquetFile(file) as opened:
                part = opened.read_row_groups(list(groups), columns=columns, use_threads=False)
            parts.append(part.select(columns))
        table = parts[0] if len(parts) == 1 else pa.concat_tables(parts)
        return _as_frame(table, self.dtype)


def _as_frame(table, dtype: np.dtype | None):
    """A pandas frame of an Arrow table: missing numbers are nan."""
    import pyarrow as pa

    if dtype is not None:
        kind = pa.from_numpy_dtype(dtype)
        arrays = [_numbers(table.column(i), kind) for i in range(table.num_columns)]
        table = pa.Table.from_arrays(arrays, names=table.column_names)
    # The metadata of pandas would bring back an index.
    frame = table.replace_schema_metadata(None).to_pandas(use_threads=False)
    # Objects, for text of pandas' own types does not fit into arrays.
    strange = [name for name, kind in frame.dtypes.items() if not isinstance(kind, np.dtype)]
    return frame.astype(dict.fromkeys(strange, object)) if strange else frame


def _numbers(column, kind):
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return column.cast(kind, safe=False)


def _arrow_kind(kind) -> str:
    import pyarrow as pa

    t = pa.types
    if t.is_floating(kind) or t.is_integer(kind) or t.is_boolean(kind) or t.is_null(kind):
        return "number"
    if t.is_decimal(kind):
        return "number"
    if t.is_temporal(kind):
        return "dates"
    if t.is_string(kind) or t.is_large_string(kind) or t.is_dictionary(kind):
        return "text"
    return str(kind)


def _put_together(heights: Sequence[int], width: int, size: int) -> list[list[int]]:
    """Neighbours that make blocks of about ``size`` bytes, ``width`` bytes a row."""
    blocks: list[list[int]] = []
    rows = 0
    for place, height in enumerate(heights):
        if blocks and (rows + height) * width <= size:
            blocks[-1].append(place)
            rows += height
        else:
            blocks.append([place])
            rows = height
    return blocks


def _grouped(pairs: Sequence[tuple[str, int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    files: dict[str, list[int]] = {}
    for file, group in pairs:
        files.setdefault(file, []).append(group)
    return tuple((file, tuple(groups)) for file, groups in files.items())


# -- arrays -----------------------------------------------------------------------


class ArrayFile(Source):
    """A stored matrix."""

    def __init__(self, stored, names: tuple[str, ...], height: int):
        import dask.array as da

        self.names = names
        # Nothing is read to name it; lists of columns are taken after reading.
        self.array = da.from_array(
            stored, chunks=(height, stored.shape[1]), name=_token(stored), fancy=False,
            inline_array=True,
        )  # fmt: skip
        self.lengths = tuple(int(rows) for rows in self.array.chunks[0])

    def matrix(self, places: Sequence[int]):
        """See `Source`."""
        X = self.array
        if list(places) != list(range(X.shape[1])):
            X = X[:, list(places)]
        native = X.dtype.newbyteorder("=")
        usual = native in (np.float64, np.float32)
        return X.astype(native if usual else np.float64)

    def columns(self, places: Sequence[int]):
        """See `Source`."""
        return self.array[:, places[0]] if len(places) == 1 else self.array[:, list(places)]


def _token(stored) -> str:
    from dask.base import tokenize

    place = getattr(stored, "path", None), str(getattr(stored, "store", ""))
    return f"stored-{tokenize(*place, stored.shape, str(stored.dtype))}"


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
    shape = _checked_matrix(mapped)
    stored = _Npy(str(Path(name).absolute()), shape, mapped.dtype)
    height = _height(1, shape[1] * mapped.dtype.itemsize, size)
    return ArrayFile(stored, numbered_names(shape[1]), height)


def zarr_array(name: str, variable: str | None, size: int) -> ArrayFile:
    import zarr

    stored: Any = zarr.open(str(Path(name).absolute()), mode="r")
    if not hasattr(stored, "shape"):
        stored = _member(stored, variable)
    elif variable is not None:
        raise DataFileError("variable= names an array of a group; this is an array.")
    shape = _checked_matrix(stored)
    names = stored.attrs.get("columns")
    if not isinstance(names, list) or len(names) != shape[1]:
        names = numbered_names(shape[1])
    names, _ = unique_names([str(column) for column in names])
    chunk = getattr(stored, "shards", None) or stored.chunks
    height = _height(chunk[0], shape[1] * stored.dtype.itemsize, size)
    return ArrayFile(stored, names, height)


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


def _checked_matrix(stored) -> tuple[int, int]:
    if len(stored.shape) != 2:
        sides = plural(len(stored.shape), "dimension")
        raise DataFileError(f"a matrix is needed; the array has {sides}.")
    if np.dtype(stored.dtype).kind not in "biuf":
        raise DataFileError(f"the array holds {stored.dtype}, not real numbers.")
    if not stored.shape[1]:
        raise DataFileError("the array has no columns.")
    if not stored.shape[0]:
        raise DataFileError("there is not a single row of data.")
    return int(stored.shape[0]), int(stored.shape[1])


def _height(chunk: int, width: int, size: int) -> int:
    """Rows of a block: whole chunks, of about ``size`` bytes together."""
    return chunk * max(1, size // (chunk * width))


# -- text -------------------------------------------------------------------------


class TextFile(Source):
    """A delimited file."""

    def __init__(self, name: str, size: int, delimiter: str | None, header: bool | None):
        self.data = open_input(str(Path(name).absolute()))
        self.layout = self._found_layout(delimiter, header)
        names, _ = unique_names(self.layout.names or numbered_names(self.layout.n_columns))
        self.names = names
        self.size = None if self.data.compressed else size

    def _found_layout(self, delimiter: str | None, header: bool | None) -> Layout:
        head = self.data.head
        if head.startswith(UTF16):
            raise DataFileError("text in UTF-16 is not read in blocks: convert it to UTF-8.")
        if b"\r" in head and b"\n" not in head:
            raise DataFileError("lines that end in CR alone are not read in blocks.")
        head, whole = sample(self.data, None)
        check_text(head)
        layout = find_layout(decoded(head, whole), whole, delimiter, header)
        if head.startswith(b"\xef\xbb\xbf") and not layout.skip:
            raise DataFileError("the file begins with a byte order mark: remove it.")
        return layout

    def kind(self, place: int) -> str:
        """See `Source`."""
        return "text" if self.layout.text[place] else "number"

    def matrix(self, places: Sequence[int]):
        """See `Source`."""
        names = [self.names[place] for place in places]
        numbers = set(names)
        # All columns: pandas overlooks fields too many where it does not need all.
        frame = self._frame({n: np.float64 if n in numbers else object for n in self.names})
        check = _Rectangular(names)
        return frame.map_partitions(check, meta=check(frame._meta))

    def columns(self, places: Sequence[int]):
        """See `Source`."""
        names = [self.names[place] for place in places]
        kinds = {self.names[p]: object if self.layout.text[p] else np.float64 for p in places}
        frame = self._frame(kinds)
        return frame[names[0]] if len(names) == 1 else frame[names]

    def labels(self, place: int):
        """See `Source`."""
        name = self.names[place]
        return self._frame({name: object})[name]

    def _frame(self, kinds: dict[str, Any]):
        import dask
        import dask.dataframe as dd

        layout = self.layout
        everything = [*self.names, *([_NOTHING] if layout.trailing else [])]
        some = [name for name in self.names if name in kinds]
        with dask.config.set({"dataframe.convert-string": False}), _plain_errors():
            return dd.read_csv(
                str(self.data.path),
                blocksize=self.size,
                sample=min(self.size or _SAMPLE, _SAMPLE),
                compression="gzip" if self.data.compressed else None,
                sep=r"\s+" if layout.blanks else layout.delimiter,
                header=None,
                names=everything,
                usecols=some if len(some) < len(self.names) else None,
                skiprows=layout.skip,
                dtype=kinds | {_NOTHING: object},
                decimal="," if layout.decimal_comma else ".",
                na_values=list(MISSING),
                keep_default_na=False,
                skipinitialspace=True,
                **_to_the_last_digit(),
            )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Say in our words what pandas says about the first rows."""
    try:
        yield
    except ValueError as error:
        if "Error tokenizing data" not in str(error):
            raise
        raise DataFileError("a row has more fields than there are columns.") from error


def _to_the_last_digit() -> dict[str, Any]:
    """What makes pandas read numbers as exactly as they are read without Dask."""
    import pandas as pd

    # From version 3 on it does so by itself.
    return {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}


class _Rectangular:
    """Takes columns of a frame whose rows all have as many fields as there are names."""

    def __init__(self, names: list[str]):
        self.names = names

    def __call__(self, frame):
        import pandas as pd

        if not isinstance(frame.index, pd.RangeIndex):  # what pandas makes of fields too many
            raise DataFileError("a row has more fields than there are columns.")
        return frame[self.names]
