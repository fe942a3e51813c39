"""A reproduction as one HTML page."""

from __future__ import annotations

from itertools import groupby

from columnist.report import Code, KeyFigure, Note, Section, Table, Text, Verdict
from columnist.report import page as report_page
from columnist.report._blocks import Block
from reproduction.cells import VERDICTS, Cell, ours_text, within
from reproduction.curves import panel_figure
from reproduction.markdown import TITLE, facts, state_of
from reproduction.results import Reproduction, TableResult

__all__ = ["page"]

SIGNS = {"reproduced": "✓", "better": "▲", "different": "≠", "not possible": "∅", "skipped": "…"}
HEADS = [
    ("Where", "text"),
    ("Printed", "figure"),
    ("Ours", "figure"),
    ("Within", "text"),
    ("Whose", "text"),
    ("Verdict", "text"),
    ("Why, or what is proven", "text"),
]


def page(result: Reproduction) -> str:
    """The page: a summary, what differs, then every table with its figures."""
    sections = [Section("Summary", summary(result))]
    differing = [(name, cell) for name, cell in result.cells() if cell.verdict == "different"]
    if differing:
        rows = [[name, *cell_row(cell)] for name, cell in differing]
        caption = "Figures that differ from print, and why"
        table = Table(caption, [("Table", "text"), *HEADS], rows)
        sections.append(Section("What differs", [table]))
    sections += [
        Section(f"{part.name}: {part.table.title}", blocks(part)) for part in result.tables
    ]
    return report_page(
        TITLE,
        sections,
        kicker="Columnist reproduction",
        lead=state_of(result),
        verdict=conclusion(result),
        figures=[
            KeyFigure(signed(verdict), f"{number:,}", VERDICTS[verdict])
            for verdict, number in result.counts.items()
        ],
    )


def signed(verdict: str) -> str:
    """A verdict in words, behind its sign."""
    return f"{SIGNS[verdict]} {verdict}"


def conclusion(result: Reproduction) -> Verdict:
    """The outcome in one sentence."""
    if not result.complete:
        left = [part.name for part in result.tables if not part.complete] + list(result.broken)
        return Verdict("open", f"Not all of it was run to the end: {', '.join(left)}.")
    if result.unexplained:
        names = sorted({name for name, _ in result.unexplained})
        return Verdict("open", f"Some differences have no explanation yet: {', '.join(names)}.")
    return Verdict(
        "proven", "Every figure that differs from print says why, or that this is unknown."
    )


def summary(result: Reproduction) -> list[Table | Note]:
    """The counts of all tables, one document after the other."""
    columns = [("Table", "text")]
    columns += [(signed(verdict), "count") for verdict in VERDICTS]
    columns += [("Seconds", "number")]
    found: list[Table | Note] = [
        Note(f"The tables in {module} could not be read: {why}")
        for module, why in result.broken.items()
    ]
    for document, parts in groupby(result.tables, key=lambda part: part.table.document):
        rows = [[part.label, *part.counts.values(), round(part.seconds, 1)] for part in parts]
        found.append(Table(document, columns, rows))
    return found


def blocks(part: TableResult) -> list[Block]:
    """The section of one table."""
    found: list[Block] = [Note(part.table.document), Code(facts(part))]
    if part.table.note:
        found.append(Text(part.table.note))
    if not part.complete:
        found.append(Verdict("open", part.error or "Interrupted before its end."))
    found += [panel_figure(panel) for panel in part.panels]
    if part.cells:
        found.append(Table(part.table.title, HEADS, [cell_row(cell) for cell in part.cells]))
    return found


def cell_row(cell: Cell) -> list[str | None]:
    """One line of a table; None where there is nothing to show."""
    verdict = signed(cell.verdict)
    remark = "; ".join(filter(None, (cell.why, cell.detail)))
    whose = cell.whose if cell.kind == "figure" else cell.kind
    ours = ours_text(cell) or None
    return [cell.where, cell.printed, ours, within(cell) or None, whose, verdict, remark or None]
