"""What became of the printed figures."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduction.cells import VERDICTS, Cell
from reproduction.curves import Panel
from reproduction.experiments import explained
from reproduction.reasons import is_honest
from reproduction.registry import PrintedTable

__all__ = ["STORED", "Reproduction", "TableResult", "stored"]

STORED = Path(__file__).with_name("results.json")
"""A full run, kept for the documentation."""


@dataclass
class TableResult:
    """One table, computed again.

    Attributes
    ----------
    table : PrintedTable
        Name, title, document and note.
    cells : list of Cell
        Its printed figures, in printed order.
    seconds : float
        Time it took.
    complete : bool
        False if it was interrupted or broke off: cells are missing then.
    error : str
        Why it broke off; empty otherwise.
    run : dict
        What the figures depend on: commit, date, command, processor, memory, load, versions.
    panels : list of Panel
        Our curves.
    """

    table: PrintedTable
    cells: list[Cell] = field(default_factory=list)
    seconds: float = 0.0
    complete: bool = False
    error: str = ""
    run: dict[str, Any] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.table.name

    @property
    def label(self) -> str:
        """Name of the table, and whether it is incomplete."""
        return self.name if self.complete else f"{self.name} (incomplete)"

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by verdict."""
        return counted(self.cells)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain numbers and text."""
        return {
            "name": self.name,
            "document": self.table.document,
            "title": self.table.title,
            "note": self.table.note,
            "seconds": round(self.seconds, 3),
            "complete": self.complete,
            "error": self.error,
            "run": self.run,
            "counts": self.counts,
            "panels": [panel.to_dict() for panel in self.panels],
            "cells": [{**asdict(cell), "ours": plain(cell.ours)} for cell in self.cells],
        }


@dataclass
class Reproduction:
    """Printed tables, computed again and compared cell by cell.

    Attributes
    ----------
    tables : list of TableResult
        The tables, in the order of their documents.
    quick : bool
        Whether long computations were left out.
    complete : bool
        Whether every table ran to its end.
    interrupted : bool
        Whether the run was stopped by Ctrl-C; what was done is kept.
    broken : dict
        Modules of tables that could not be imported, and why.
    versions : dict
        Versions of what computed the figures.
    """

    tables: list[TableResult] = field(default_factory=list)
    quick: bool = False
    interrupted: bool = False
    broken: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=lambda: installed_versions())

    @property
    def complete(self) -> bool:
        """Whether every table ran to its end."""
        return not (self.interrupted or self.broken) and all(t.complete for t in self.tables)

    @property
    def failed(self) -> list[TableResult]:
        """Tables that broke off with an error."""
        return [result for result in self.tables if result.error]

    @property
    def seconds(self) -> float:
        """Time of all tables."""
        return sum(result.seconds for result in self.tables)

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by verdict."""
        return counted([cell for _, cell in self.cells()])

    @property
    def uncounted(self) -> dict[str, int]:
        """Sizes and statements: how many there are, and how many agree."""
        return uncounted([cell for _, cell in self.cells()])

    @property
    def unexplained(self) -> list[tuple[str, Cell]]:
        """Cells that cannot be computed without a reason, or differ without one that says whether
        it was tested; with the table's name."""
        return [(name, cell) for name, cell in self.cells() if lacks_reason(cell)]

    def cells(self) -> Iterator[tuple[str, Cell]]:
        """Every cell with the name of its table."""
        for result in self.tables:
            yield from ((result.name, cell) for cell in result.cells)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain numbers and text."""
        return {
            "quick": self.quick,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "broken": self.broken,
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
            "counts": self.counts,
            "uncounted": self.uncounted,
            "tables": [result.to_dict() for result in self.tables],
        }

    def replaced(self, newer: Reproduction) -> Reproduction:
        """This result with the complete tables of a newer one in place of its own."""
        from reproduction.catalogue import catalogue

        tables = {part.name: part for part in self.tables}
        tables |= {part.name: part for part in newer.tables if part.complete}
        order = [tables[name] for name in catalogue().tables if name in tables]
        return Reproduction(order, False, False, {}, newer.versions)

    def to_json(self) -> str:
        """The result as JSON text, one line per cell."""
        content = self.to_dict()
        tables = content.pop("tables")
        head = [f" {as_json(key)}: {as_json(value)}" for key, value in content.items()]
        parts = ",\n".join(map(table_json, tables))
        return ",\n".join([*head, f' "tables": [\n{parts}\n ]']).join(("{\n", "\n}\n"))

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Reproduction:
        """The result that :meth:`to_dict` wrote; tables that are no longer known are left out."""
        from reproduction.catalogue import catalogue

        known = catalogue().tables
        tables = [
            TableResult(
                replace(known[part["name"]], note=part["note"]),  # that of these figures
                [Cell(**cell) for cell in part["cells"]],
                part["seconds"],
                part["complete"],
                part["error"],
                part.get("run", {}),
                [Panel(**panel) for panel in part.get("panels", [])],
            )
            for part in found["tables"]
            if part["name"] in known
        ]
        return cls(
            tables,
            found["quick"],
            found["interrupted"],
            dict(found["broken"]),
            dict(found["versions"]),
        )

    def to_markdown(self) -> str:
        """The result as Markdown text."""
        from reproduction.markdown import markdown

        return markdown(self)

    def to_html(self) -> str:
        """The result as one page that needs no other file; jinja2 is needed (extra ``report``)."""
        from reproduction.page import page

        return page(self)


def lacks_reason(cell: Cell) -> bool:
    """Whether a cell needs a reason that it does not have."""
    if cell.verdict == "different":
        return not is_honest(cell.why)
    return cell.verdict == "not possible" and not cell.why


def installed_versions() -> dict[str, str]:
    """Versions of the programs at work."""
    names = ("columnist", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def stored() -> Reproduction:
    """The full run that is kept with the code, with what experiments say of its differences."""
    found = Reproduction.from_dict(json.loads(STORED.read_text(encoding="utf-8")))
    for part in found.tables:
        part.cells = [explained(part.name, cell) for cell in part.cells]
    return found


def table_json(table: dict[str, Any]) -> str:
    """One table of :meth:`TableResult.to_dict` as JSON, one line per cell."""
    cells = ",\n".join(f"   {as_json(cell)}" for cell in table["cells"])
    head = as_json({**table, "cells": []}).removesuffix("]}")
    return f"  {head}\n{cells}\n  ]}}" if cells else f"  {head}]}}"


def as_json(value: Any) -> str:
    """Strict JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def uncounted(cells: list[Cell]) -> dict[str, int]:
    """Cells that are no printed figures, and those of them that agree."""
    other = [cell for cell in cells if cell.kind != "figure" and cell.verdict != "not possible"]
    return {
        f"{kind}s{ending}": sum(cell.kind == kind and holds(cell) for cell in other)
        for kind in ("size", "statement")
        for ending, holds in (("", bool), (" that agree", lambda c: c.verdict == "reproduced"))
    }


def counted(cells: list[Cell]) -> dict[str, int]:
    """Printed figures by verdict, all verdicts in their order."""
    counts = Counter(cell.verdict for cell in cells if cell.kind == "figure")
    return {verdict: counts[verdict] for verdict in VERDICTS}


def plain(value: Any) -> float | str | None:
    """A figure that JSON can hold."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return number if math.isfinite(number) else str(number)
