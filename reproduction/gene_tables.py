"""Knowledge-oriented gene selection: tables 6.5 and 6.6 of the book, which cannot be repeated."""

from __future__ import annotations

from collections.abc import Iterator

from reproduction.cells import Cell, not_possible
from reproduction.printed import printed
from reproduction.registry import PrintedTable, Run

__all__ = ["TABLES"]

NO_DATA = (
    "needs the samples GSE2604 and the pathway, ontology and cancer annotations of the time, which "
    "are not at hand"
)


def measure_cells(run: Run) -> Iterator[Cell]:
    """Table 6.5, figure by figure."""
    for row in printed("zl-6.5"):
        for what, value in row.items():
            if what != "method":
                yield not_possible(f"{row['method']}, {what}", value, NO_DATA)


def gene_cells(run: Run) -> Iterator[Cell]:
    """Table 6.6, gene by gene."""
    for row in printed("zl-6.6"):
        yield not_possible(f"rank {row['rank']}", f"{row['gene']}, {row['group']}", NO_DATA)


TABLES = (
    PrintedTable("zl-6.5", "Gene rankings of several knowledge sources", measure_cells),
    PrintedTable("zl-6.6", "Relevant genes among the first fifty", gene_cells),
)
