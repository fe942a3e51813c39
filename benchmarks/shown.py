"""What the documentation shows of stored rows: a title, a note, and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from benchmarks.against.area import Area, summary
from benchmarks.against.run import AREAS, details, failures, filled
from benchmarks.measure import Row
from benchmarks.store import Stored
from benchmarks.subset.judge import Settings
from benchmarks.subset.run import PARTS, over_draws

__all__ = ["Shown", "shown"]


@dataclass(frozen=True)
class Shown:
    """One section; ``folded`` tables open with a click."""

    title: str
    note: str
    tables: Mapping[str, Sequence[Row]]
    folded: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    failures: Sequence[str] = ()


def shown(stored: Stored) -> Shown:
    """The section of a stored benchmark."""
    kind, _, part = stored.name.partition("-")
    if kind == "peers":
        return beside_others(AREAS[part], stored.rows)
    if kind == "subset":
        return beside_others(PARTS[part](Settings()), stored.rows)
    module = import_module(f"benchmarks.{stored.name}")
    condense = getattr(module, "tables", None)
    note = (module.__doc__ or "").strip()
    return Shown(module.TITLE, note, condense(stored.rows) if condense else {"": stored.rows})


def beside_others(area: Area, rows: Sequence[Row]) -> Shown:
    """A comparison with other programs."""
    # Reasons stand below the table: they are long, and often the same.
    lines = [
        {key: line[key] for key in line if key != "failures"}
        for line in filled(summary(area, rows))
    ]
    drawn = any(", draw " in row["set"] for row in rows)
    every = over_draws(rows) if drawn else details(rows)
    return Shown(area.title, area.note, {"": lines}, {"Set by set": every}, failures(rows))
