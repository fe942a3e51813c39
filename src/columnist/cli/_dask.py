"""``--dask``: files larger than memory, read in blocks by workers.

The rows stay in the file, in blocks that workers read. One pass over them gives means and inner
products: preparing columns, most selectors and all reports need no more than these.
"""

from __future__ import annotations

import importlib.util
import logging
import signal
import threading
from collections.abc import Collection as AnyNames
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

import dask.array as da
import distributed
import numpy as np

from columnist.cli._errors import BadInput, Failed
from columnist.cli._options import ADDRESS, LOCAL, Reading
from columnist.cli._prepared import Columns, Data
from columnist.cli._row_labels import HEAD_ROWS, candidates, merged_steps, named_kinds, steps_of
from columnist.cli._scan import Labels, Preparation, all_facts, merged_facts, merged_scans, scan
from columnist.cli._screen import Screen
from columnist.data._blocks import as_rows
from columnist.data._target import open_target
from columnist.distributed import ClusterError
from columnist.distributed._blocks import DaskRows
from columnist.distributed._files import Collection, open_collection
from columnist.io import DataFileError, Table
from columnist.io._read import Filling, find_gaps, merged_gaps, plan_filling
from columnist.io._table import one_line
from columnist.linalg._memory import check_memory
from columnist.linalg._moments import Moments

# Bytes of a block.
BLOCKSIZE = "128MiB"
# Seconds to wait for a scheduler, and for its first worker.
_PATIENCE = 10


def open_in_blocks(reading: Reading) -> Collection:
    """The file that was named, opened for reading in blocks."""
    if reading.file == "-":
        raise BadInput("--dask reads a file in blocks; standard input cannot be read so.")
    if reading.missing in ("median", "drop"):
        raise BadInput(
            f"--missing {reading.missing} needs all rows at once; with --dask use --missing mean."
        )
    how = reading.read_as()
    how["format"] = "csv" if reading.format == "tsv" else reading.format
    return open_collection(
        reading.file, non_numeric=reading.non_numeric, blocksize=BLOCKSIZE, **how,
    )  # fmt: skip


class DataInBlocks(Data):
    """A file whose rows stay in it."""

    in_memory = False
    raw: DaskRows

    def __init__(self, collection: Collection, missing: str):
        n = len(collection.names)
        what, remedy = f"The inner products of {n} columns", "Name fewer columns, or --drop some."
        check_memory(32.0 * n * n, what, remedy)
        self._collection = collection
        with _said_of(collection.source):
            self._look_aside()
            filling = Filling(np.arange(n))
            if missing == "mean":
                gaps = as_rows(collection.X).fold(find_gaps, merged_gaps)
                filling = plan_filling(collection.names, gaps, missing)
        self.fill, self._places = filling.values, filling.places
        self._take(self._header(filling))

    def _take(self, table: Table) -> None:
        self.table, self.names = table, table.names
        self.raw = self.some(range(len(self._places)))

    def labels_rows(self, spared: AnyNames[str]) -> dict[str, str]:
        with _said_of(self.table.source):
            head = self.raw.first(_head)
            places = [] if hasattr(head, "toarray") else candidates(head, self.names, spared)
            if not places:
                return {}
            return named_kinds(
                self.names_of(places), self.some(places).fold(steps_of, merged_steps)
            )

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        kept = [i for i, name in enumerate(self.names) if name not in reasons]
        self._places = self._places[kept]
        self.fill = None if self.fill is None else self.fill[kept]
        super().leave_out(reasons)

    def _look_aside(self) -> None:
        """Find out what targets and ids hold, and the rows of every block."""
        collection = self._collection
        y, names = collection.y, collection.target_names
        self.lengths, self.facts = collection.lengths, {}
        sides = [*([] if y is None else [y]), *collection.ids.values()]
        if sides:
            first, *others = map(as_rows, sides)
            visit = partial(all_facts, read_text=collection.format == "csv")
            facts, lengths = first.fold(visit, merged_facts, *others)
            self.facts = dict(zip((*names, *collection.ids), facts, strict=True))
            self.lengths = tuple(lengths)
        self.ids = {name: self._array(column) for name, column in collection.ids.items()}
        self._y = None if y is None else self._array(y)
        self.targets = {names[0]: self._y} if len(names) == 1 else {
            name: self._y[:, i] for i, name in enumerate(names)
        }  # fmt: skip
        for name in names:
            if self.facts[name].missing:
                raise DataFileError(
                    f"missing values in target column {name!r} ({self.facts[name].missing}); "
                    "a target is never imputed: remove these rows first."
                )
            if self.facts[name].infinite:
                raise DataFileError(f"infinite values in target column {name!r}.")

    def _header(self, filling: Filling) -> Table:
        """Everything about the file but its rows."""
        collection = self._collection
        return Table(
            X=np.zeros((0, len(filling.places))), y=None, ids={}, rows=None,
            names=tuple(collection.names[i] for i in filling.places),
            target_names=collection.target_names, source=collection.source,
            format=collection.format, ignored=collection.ignored | filling.ignored,
            imputed=filling.imputed, header=collection.header,
        )  # fmt: skip

    def _array(self, column) -> da.Array:
        """A Dask array of a Dask series, frame or array."""
        if isinstance(column, da.Array):
            return column
        return column.to_dask_array(lengths=self.lengths and list(self.lengths))

    def some(self, columns: Sequence[int]) -> DaskRows:
        X, places = self._collection.X, [int(self._places[i]) for i in columns]
        if places != list(range(X.shape[1])):  # of a frame no others are read
            is_array = isinstance(X, da.Array)
            X = X[:, places] if is_array else X[[self._collection.names[i] for i in places]]
        return DaskRows(self._array(X))

    def target(self, read: Labels) -> da.Array:
        """A target that workers keep, for it is small and needed again."""
        meta = np.empty((0,) * self._y.ndim, dtype=read.dtype)
        return self._y.map_blocks(read, dtype=read.dtype, meta=meta).persist()

    def columns(self, y: Any) -> Columns:
        """One pass over all rows, whose sums are kept."""
        names = self.table.names
        rows = self._mapped(Preparation(self.fill))
        with _said_of(self.table.source):
            along, read = (None, None) if y is None else open_target(y, rows)
            sides = [] if along is None else [along]
            gaps, sums, lengths = rows.fold(partial(scan, read=read), merged_scans, *sides)
            if not gaps.count:
                raise DataFileError("there is not a single row of data.")
            plan_filling(names, gaps, "refuse")
        self.lengths = tuple(lengths)
        self.raw = self.some(range(len(names)))
        self._target, self._sums = None if y is None else y.name, settled(sums, gaps.constant)
        features = features_of(self._sums, len(names))
        deviation = np.sqrt(np.diag(features.covariance()).clip(min=0.0))
        size = np.sqrt(np.diag(features.gram()).clip(min=0.0))
        return Columns(features.mean, deviation, size, gaps.constant, gaps.low)

    def features(self, prepare: Preparation) -> Summed:
        known = prepared_moments(self._sums, len(self._places), prepare)
        return Summed(self._mapped(prepare).data, known, self._target)

    def _mapped(self, visit: Preparation) -> DaskRows:
        return DaskRows(self.raw.data.map_blocks(visit, dtype=np.float64, meta=np.empty((0, 0))))

    def fill_values(self) -> np.ndarray | None:
        return features_of(self._sums, len(self._places)).mean if self.missing == "mean" else None


def _head(X):
    """The first rows of a block."""
    return X[:HEAD_ROWS]


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """Add the name of the file to an error, in the words of this package."""
    try:
        yield
    except ValueError as error:
        words = str(error)
        if "could not convert string to float" in words:
            words = f"text further down in a column of numbers ({error}): correct it, or drop= it."
        if "Error tokenizing data" in words:
            words = "a row has more fields than there are columns."
        raise DataFileError(one_line(f"{name}: {words}")) from error


# -- sums -------------------------------------------------------------------------


class Summed(DaskRows):
    """Blocks whose moments, and those with their target, are known."""

    def __init__(self, data: da.Array, known: Moments, target: str | None):
        super().__init__(data)
        self._known, self._target = known, target

    def moments(self, y=None, read=None, weights=None) -> Moments:
        """See `RowBlocks`: no pass where it is known already."""
        if weights is not None:
            return super().moments(y, read, weights)
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


# -- the cluster ------------------------------------------------------------------


@contextmanager
def on_cluster(address: str, screen: Screen) -> Iterator[None]:
    """Dask computes there, until the end of the block."""
    if address != LOCAL and not ADDRESS.fullmatch(address):
        raise BadInput(f"--dask takes an address such as tcp://127.0.0.1:8786; got {address!r}.")
    with ExitStack() as stack:
        # What goes wrong is said once, by an exception.
        logger = logging.getLogger("distributed")
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL + 1)
        scheduler: Any = address
        if address == LOCAL:
            with _interrupts_later():
                scheduler = stack.enter_context(_local_cluster())
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE))
        except (OSError, TimeoutError, ValueError) as error:
            raise BadInput(f"--dask {address}: no Dask scheduler answers there.") from error
        if address == LOCAL:
            client.register_plugin(_Deaf())
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise BadInput(f"--dask {address}: the scheduler has no workers; start some.") from None
        services = client.scheduler_info().get("services", {})
        if "dashboard" in services and importlib.util.find_spec("bokeh") is not None:
            screen.aside("dashboard", client.dashboard_link)
        try:
            yield
        except ClusterError as error:
            raise Failed(str(error)) from error


def _local_cluster() -> distributed.LocalCluster:
    """One process per core, of one thread each, not reachable from other machines."""
    own_port = "127.0.0.1:0"
    try:
        return distributed.LocalCluster(
            threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=own_port,
            worker_dashboard_address=own_port, silence_logs=logging.CRITICAL + 1,
        )  # fmt: skip
    except (OSError, RuntimeError) as error:
        raise Failed(f"no Dask cluster could be started here: {error}") from error


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Block Ctrl-C: processes that start meanwhile ignore it, and what was opened can be closed
    when it is handled, at the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    mask = getattr(signal, "pthread_sigmask", None)  # not on Windows
    if mask is not None:
        resource_tracker.ensure_running()  # it would lift the mask
        mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if mask is not None:
            mask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


class _Deaf(distributed.WorkerPlugin):
    """For workers that share a terminal with this process: Ctrl-C is not meant for them."""

    name = "columnist-deaf"

    def setup(self, worker) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
