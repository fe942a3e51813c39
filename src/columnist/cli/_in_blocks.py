"""A file larger than memory: ``--dask``.

The rows stay in the file, in blocks that workers read. One pass over them gives means and inner
products: preparing columns, most selectors and all reports need no more than these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np

from columnist.cli._errors import BadInput
from columnist.cli._inputs import as_delimiter
from columnist.cli._options import Reading
from columnist.cli._prepared import Columns, File
from columnist.cli._scan import FactFinder, Labels, Preparation, Scan, merged_facts, merged_scans
from columnist.data._blocks import as_rows
from columnist.data._target import open_target
from columnist.distributed._files import Collection, open_collection
from columnist.distributed._rows import DaskRows
from columnist.io import DataFileError, Table
from columnist.io._gaps import Filling, find_gaps, merged_gaps, plan_filling
from columnist.io._table import one_line
from columnist.linalg._memory import check_memory
from columnist.linalg._moments import Moments

__all__ = ["FileInBlocks", "open_in_blocks"]

# Bytes of a block.
BLOCKSIZE = "128MiB"


def open_in_blocks(reading: Reading) -> Collection:
    """The file that was named, opened for reading in blocks."""
    if reading.file == "-":
        raise BadInput("--dask reads a file in blocks; standard input cannot be read so.")
    if reading.missing in ("median", "drop"):
        raise BadInput(
            f"--missing {reading.missing} needs all rows at once; with --dask use --missing mean."
        )
    format = "csv" if reading.format == "tsv" else reading.format
    return open_collection(
        reading.file, format=format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=reading.target or (),
        drop=reading.drop or (), ids=reading.id or (), non_numeric=reading.non_numeric,
        blocksize=BLOCKSIZE,
    )  # fmt: skip


class FileInBlocks(File):
    """A file whose rows stay in it.

    Parameters
    ----------
    collection : Collection
        The file, opened.
    missing : {"refuse", "mean"}
        What to do about missing values.
    """

    raw: DaskRows

    def __init__(self, collection: Collection, missing: str):
        n = len(collection.names)
        check_memory(
            32.0 * n * n,
            f"The inner products of {n} columns",
            "Name fewer columns, or --drop some.",
        )
        self._collection = collection
        with _said_of(collection.source):
            self._look_aside()
            filling = self._filled(missing)
        self.fill, self._places = filling.values, filling.places
        self.table = self._header(filling)
        self.raw = self.some(range(len(self._places)))

    def _look_aside(self) -> None:
        """Find out what targets and ids hold, and the rows of every block."""
        collection = self._collection
        y, names = collection.y, collection.target_names
        self.lengths, self.facts = collection.lengths, {}
        sides = [*([] if y is None else [y]), *collection.ids.values()]
        if sides:
            first, *others = map(as_rows, sides)
            visit = FactFinder(collection.format == "csv")
            facts, lengths = first.fold(visit, merged_facts, *others)
            self.facts = dict(zip((*names, *collection.ids), facts, strict=True))
            self.lengths = tuple(lengths)
        self.ids = {name: self._array(column) for name, column in collection.ids.items()}
        self.y = None if y is None else self._array(y)
        self.targets = {names[0]: self.y} if len(names) == 1 else {
            name: self.y[:, i] for i, name in enumerate(names)
        }  # fmt: skip
        for name in names:
            if self.facts[name].missing:
                raise DataFileError(
                    f"missing values in target column {name!r} ({self.facts[name].missing}); "
                    "a target is never imputed: remove these rows first."
                )
            if self.facts[name].infinite:
                raise DataFileError(f"infinite values in target column {name!r}.")

    def _filled(self, missing: str) -> Filling:
        names = self._collection.names
        if missing != "mean":
            return Filling(np.arange(len(names)))
        gaps = as_rows(self._collection.X).fold(find_gaps, merged_gaps)
        return plan_filling(names, gaps, missing)

    def _header(self, filling: Filling) -> Table:
        """Everything about the file but its rows."""
        collection = self._collection
        return Table(
            X=np.zeros((0, len(filling.places))),
            names=tuple(collection.names[i] for i in filling.places),
            y=None,
            target_names=collection.target_names,
            ids={},
            source=collection.source,
            format=collection.format,
            ignored=collection.ignored | filling.ignored,
            imputed=filling.imputed,
            rows=None,
        )

    def _array(self, column) -> da.Array:
        """A Dask array of a Dask series, frame or array."""
        if isinstance(column, da.Array):
            return column
        lengths = None if self.lengths is None else list(self.lengths)
        return column.to_dask_array(lengths=lengths)

    def some(self, columns: Sequence[int]) -> DaskRows:
        X, places = self._collection.X, [int(self._places[i]) for i in columns]
        if places != list(range(X.shape[1])):  # of a frame no others are read
            is_array = isinstance(X, da.Array)
            X = X[:, places] if is_array else X[[self._collection.names[i] for i in places]]
        return DaskRows(self._array(X))

    def target(self, read: Labels) -> da.Array:
        """A target that workers keep, for it is small and needed again."""
        meta = np.empty((0,) * self.y.ndim, dtype=read.dtype)
        return self.y.map_blocks(read, dtype=read.dtype, meta=meta).persist()

    def columns(self, y: Any) -> Columns:
        """One pass over all rows, whose sums are kept."""
        names = self.table.names
        rows = self._mapped(Preparation(self.fill))
        with _said_of(self.table.source):
            along, read = (None, None) if y is None else open_target(y, rows)
            visits = rows.fold(Scan(read), merged_scans, *([] if along is None else [along]))
            gaps, sums, lengths = visits
            if not gaps.count:
                raise DataFileError("there is not a single row of data.")
            plan_filling(names, gaps, "refuse")
        self.lengths = tuple(lengths)
        self.raw = self.some(range(len(names)))
        self._target, self._sums = None if y is None else y.name, settled(sums, gaps.constant)
        features = features_of(self._sums, len(names))
        deviation = np.sqrt(np.diag(features.covariance()).clip(min=0.0))
        size = np.sqrt(np.diag(features.gram()).clip(min=0.0))
        return Columns(features.mean, deviation, size, gaps.constant)

    def features(self, prepare: Preparation) -> Summed:
        known = prepared_moments(self._sums, len(self._places), prepare)
        return Summed(self._mapped(prepare).data, known, self._target)

    def _mapped(self, visit: Preparation) -> DaskRows:
        return DaskRows(self.raw.data.map_blocks(visit, dtype=np.float64, meta=np.empty((0, 0))))

    def fill_values(self, missing: str) -> np.ndarray | None:
        return features_of(self._sums, len(self._places)).mean if missing == "mean" else None


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """Say of which file an error tells, and in words."""
    try:
        yield
    except ValueError as error:
        raise DataFileError(one_line(f"{name}: {_in_words(error)}")) from error


def _in_words(error: ValueError) -> str:
    if "could not convert string to float" in str(error):
        return f"text further down in a column of numbers ({error}): correct it, or drop= it."
    if "Error tokenizing data" in str(error):
        return "a row has more fields than there are columns."
    return str(error)


# -- sums -------------------------------------------------------------------------


class Summed(DaskRows):
    """Blocks whose moments, and those with their target, are known."""

    def __init__(self, data: da.Array, known: Moments, target: str | None):
        super().__init__(data)
        self._known, self._target = known, target

    def moments(self, y=None, read=None) -> Moments:
        """See `RowBlocks`: no pass where it is known already."""
        if y is None:
            return features_of(self._known, self.n_features)
        if isinstance(y, DaskRows) and y.data.name == self._target:
            return self._known
        return super().moments(y, read)


def features_of(moments: Moments, n: int) -> Moments:
    """Moments of the first columns."""
    scatter = None if moments.scatter is None else moments.scatter[:n, :n]
    rest, low = moments.rest[:, :n], moments.low[:n]
    return Moments(moments.count, moments.mean[:n], scatter, rest, low)


def settled(sums: Moments, constant: np.ndarray) -> Moments:
    """Moments in which constant columns have no scatter: their sums are rounded."""
    varies = np.ones(len(sums.mean))
    varies[: len(constant)] = ~constant
    scatter = None if sums.scatter is None else sums.scatter * np.outer(varies, varies)
    return replace(sums, scatter=scatter, rest=sums.rest * varies)


def prepared_moments(sums: Moments, n: int, prepare: Preparation) -> Moments:
    """Moments after the columns were shifted and divided; those of a target stay."""
    shift, divisor = np.zeros(len(sums.mean)), np.ones(len(sums.mean))
    if prepare.mean is not None:
        shift[:n] = prepare.mean
    if prepare.scale is not None:
        divisor[:n] = prepare.scale
    scatter = None if sums.scatter is None else sums.scatter / divisor / divisor[:, None]
    return replace(
        sums, mean=(sums.mean - shift) / divisor, scatter=scatter, rest=sums.rest / divisor
    )
