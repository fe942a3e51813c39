"""Run printed tables again."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from types import SimpleNamespace

from benchmarks.store import load, run_facts
from columnist.datasets import data_home as find_data_home
from reproduction.catalogue import catalogue
from reproduction.cells import Cell
from reproduction.data import Data
from reproduction.experiments import explained
from reproduction.registry import PrintedTable, Run
from reproduction.results import Reproduction, TableResult

__all__ = ["list_tables", "reproduce"]


def list_tables() -> list[PrintedTable]:
    """Printed tables and figures that can be computed again, document by document.

    Returns
    -------
    list of PrintedTable

    Examples
    --------
    >>> from reproduction import list_tables
    >>> [table.name for table in list_tables() if table.name.startswith("xu-5")]
    ['xu-5.2', 'xu-5.3', 'xu-5.4', 'xu-5.5']
    """
    return list(catalogue().tables.values())


def reproduce(
    tables: str | Iterable[str] = ("all",),
    *,
    quick: bool = False,
    data_home: str | PathLike | None = None,
    on_table: Callable[[PrintedTable], None] | None = None,
    on_cell: Callable[[PrintedTable, Cell], None] | None = None,
) -> Reproduction:
    """Run printed tables again and compare every figure with ours.

    A set that is not in the data home costs only its own rows, a table that breaks off only
    itself. Ctrl-C keeps what is done.

    Parameters
    ----------
    tables : str or iterable of str, default=("all",)
        Names of tables (``"he-3.2"``), documents (``"he"``) or patterns (``"he-3.*"``).
    quick : bool, default=False
        Leave out what takes longer than seconds.
    data_home : path or None, default=None
        Folder of the data sets; :func:`columnist.datasets.data_home` by default.
    on_table : callable, optional
        Called with each table before it is run.
    on_cell : callable, optional
        Called with the table and each cell as soon as it is known.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> from reproduction import reproduce
    >>> result = reproduce("he-sec3.2.1")
    >>> result.counts["reproduced"]
    10
    """
    known = catalogue()
    chosen = known.chosen(tables)
    run = Run(Data(find_data_home(data_home)), quick)
    result = Reproduction(quick=quick, broken=known.broken)
    facts = run_facts()
    with watched_interrupts() as watch:
        for table in chosen:
            part = TableResult(table, run=facts | {"load": [load(), None]})
            result.tables.append(part)
            try:
                if on_table:
                    on_table(table)
                fill(part, run, on_cell, watch)
                part.run["load"][1] = load()
            except KeyboardInterrupt:
                result.interrupted = True
                break
    return result


def fill(
    part: TableResult,
    run: Run,
    on_cell: Callable[[PrintedTable, Cell], None] | None,
    watch: SimpleNamespace,
) -> None:
    """Run one table; an error ends it, and is kept."""
    start = time.perf_counter()
    try:
        for cell in part.table.cells(run):
            if watch.interrupted:
                raise KeyboardInterrupt  # a search gave in to it: its answer is not the real one
            cell = explained(part.name, cell)
            part.cells.append(cell)
            if on_cell:
                on_cell(part.table, cell)
        if part.table.panels and not run.quick:
            part.panels = list(part.table.panels(run))
        part.complete = True
    except Exception as error:
        part.error = f"{part.name} could not be run to its end: {type(error).__name__}: {error}"
    finally:
        part.seconds = time.perf_counter() - start


@contextmanager
def watched_interrupts() -> Iterator[SimpleNamespace]:
    """Remember Ctrl-C: searches answer it with the best they have and go on."""
    watch = SimpleNamespace(interrupted=False)

    def remember(number: int, frame: object) -> None:
        watch.interrupted = True
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, previous)
