"""Columnar files read by polars: Parquet and Feather, and the columns of any frame."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from columnist.io._inputs import Input
from columnist.io._table import DataFileError, damaged, objects_of, one_line, unique_names

if TYPE_CHECKING:
    import polars as pl


class FrameColumns:
    """The columns of a polars frame."""

    def __init__(self, frame: pl.DataFrame, details: dict[str, str] | None = None) -> None:
        self.frame = frame
        self.details = details or {}
        self.extras: dict[str, np.ndarray] = {}
        self.names, self.renamed = unique_names(frame.columns)
        self.header: bool | None = None

    def kind(self, place: int) -> str:
        return kind_of(self.frame.dtypes[place])

    def detail(self, place: int) -> str:
        name = self.frame.columns[place]
        if name in self.details:
            return self.details[name]
        values = self.frame.to_series(place).drop_nulls().head(1).to_list()
        return f"such as {one_line(repr(values[0]))[:60]}" if values else ""

    def numbers(self, places: Sequence[int]) -> np.ndarray:
        pl = import_polars()
        frame = self.frame
        if list(places) != list(range(frame.width)):
            frame = frame.select([frame.columns[place] for place in places])
        odd = [name for name, dtype in frame.schema.items() if dtype != pl.Float64]
        if odd:
            frame = frame.with_columns(pl.col(odd).cast(pl.Float64))
        # Missing becomes nan.
        return np.ascontiguousarray(frame.to_numpy(order="c"))

    def values(self, place: int) -> np.ndarray:
        pl = import_polars()
        series = self.frame.to_series(place)
        if self.kind(place) != "number":
            return as_text(series)
        if series.dtype == pl.Boolean:
            series = series.cast(pl.Int64)
        if series.dtype.is_integer() and not series.null_count():
            return series.to_numpy()
        return series.cast(pl.Float64).to_numpy()


def kind_of(dtype: Any) -> str:
    """What a polars type holds; a column of nothing counts as numbers, all missing."""
    pl = import_polars()
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return "number"
    if dtype.is_temporal():
        return "dates"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return str(dtype.base_type()).lower()


def as_text(series: pl.Series) -> np.ndarray:
    """Values of any kind as an array of str and None."""
    pl = import_polars()
    with suppress(pl.exceptions.PolarsError):
        series = series.cast(pl.String)
    return objects_of(series.to_list())


def import_polars() -> Any:
    """Polars, or what to do without it."""
    try:
        import polars
    except ImportError as error:
        raise DataFileError(
            "CSV, TSV, Parquet and Feather files need polars: "
            'pip install "columnist[io]" (NPY, NPZ, MAT, MTX, svmlight and ARFF do not).'
        ) from error
    return polars


@contextmanager
def guarded(format: str) -> Iterator[None]:
    """Turn the errors of polars into one type."""
    pl = import_polars()
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError, MemoryError) as error:
        raise damaged(format) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # not an Exception, yet an error
            raise
        raise damaged(format) from error


def read_parquet(data: Input) -> FrameColumns:
    """Columns of a Parquet file."""
    pl = import_polars()
    whole = data.plain_path or io.BytesIO(data.read())
    with guarded("parquet"):
        return FrameColumns(pl.read_parquet(whole, glob=False))


def read_feather(data: Input) -> FrameColumns:
    """Columns of a Feather (Arrow IPC) file."""
    pl = import_polars()
    # Not by its path: a file mapped into memory could change while it is used.
    whole = io.BytesIO(data.read())
    with guarded("feather"):
        return FrameColumns(pl.read_ipc(whole))
