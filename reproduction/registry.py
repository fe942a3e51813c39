"""The printed tables and figures that can be computed again.

Rules that every table keeps:

- Each printed figure is one cell, in printed order. Figures that are input (toy data) and a dash
  in print have none.
- Data sizes are compared with ``units=0`` and are of kind "size"; statements are claims. Neither
  counts.
- Figures of random runs are compared with ``random=True``; our own spread decides nothing.
- ``whose`` says whether a figure is of the document's method, of a competitor, or of a search that
  need not find the optimum. Methods have one setting everywhere: :mod:`reproduction.settings`.
- Errors are compared with ``better="smaller"``, accuracies with ``better="larger"``.
- Times on a machine that is not stated are not possible to compare; ours are shown beside them.
- Methods that are not defined well enough and data that is not at hand are not possible.
- A cell that is different or not possible says why, in one sentence. Where it is different, that
  begins with "tested", if a computation shows it (:mod:`reproduction.reasons`); "unknown" is put
  before any other reason.
- The figures stand in ``printed/<table>.csv``, in our own layout and as text; ``set`` names a
  matrix of :data:`reproduction.sources.SOURCES`, or the printed set where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from reproduction.cells import Cell, not_possible
from reproduction.curves import Panel
from reproduction.data import Data, MissingData

__all__ = ["DOCUMENTS", "PrintedTable", "Run", "by_set"]

DOCUMENTS = {
    "xu": "Xu, dissertation, 2017",
    "he": "He, dissertation, 2020",
    "zl": "Zhao and Liu, book, 2012",
    "glrm": "Huang, report, 2019",
    "wastar": "Arai et al., paper, 2016",
}


@dataclass(frozen=True)
class Run:
    """What a table needs to be run.

    Attributes
    ----------
    data : Data
        The matrices.
    quick : bool
        Leave out what takes longer than seconds; all quick runs together take under five minutes.
    """

    data: Data
    quick: bool


@dataclass(frozen=True)
class PrintedTable:
    """A printed table or figure and how to run it again.

    Attributes
    ----------
    name : str
        Key of its document, a dash, its number: ``"he-3.2"``; figures ``"he-fig5.1"``.
    title : str
        What it shows, in one line.
    cells : callable
        ``cells(run)`` yields the cells in printed order, one data set after the other
        (:func:`by_set`).
    note : str
        Conventions and reasons that hold for the whole table.
    panels : callable, optional
        ``panels(run)`` gives our curves of a figure; the quick mode has none.
    """

    name: str
    title: str
    cells: Callable[[Run], Iterator[Cell]]
    note: str = ""
    panels: Callable[[Run], Iterable[Panel]] | None = None

    @property
    def document(self) -> str:
        """The document it stands in."""
        return DOCUMENTS[self.name.partition("-")[0]]


def by_set(
    rows: Sequence[Mapping[str, str]],
    compute: Callable[[str, list[Mapping[str, str]]], Iterator[Cell]],
    listed: Callable[[Mapping[str, str]], Iterable[tuple[str, str]]],
) -> Iterator[Cell]:
    """Cells of a table, one data set after the other; a missing set costs only its own rows.

    Parameters
    ----------
    rows : sequence of mappings
        Rows of the printed table, with a column ``set``; equal names stand together.
    compute : callable
        ``compute(name, rows)`` yields the cells of one set. It asks for its data first.
    listed : callable
        ``listed(row)`` yields ``(where, printed)`` of the cells of one row.
    """
    for name, group in groupby(rows, key=lambda row: row["set"]):
        part = list(group)
        try:
            yield from compute(name, part)
        except MissingData as missing:
            for row in part:
                yield from (not_possible(*cell, str(missing)) for cell in listed(row))
