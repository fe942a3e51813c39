"""Verdicts on columns, on the screen and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from columnist._text import between, count
from columnist.cli._text import listed, percent

if TYPE_CHECKING:
    from columnist.cli._screen import Screen
    from columnist.selection import ColumnVerdicts

# Rows of the table, and useless columns that are named.
_MOST_ROWS, _MOST_NAMES = 60, 30


def verdicts_json(found: ColumnVerdicts, names: Sequence[str]) -> dict[str, Any]:
    """The verdicts by name, and the sets within the tolerance."""

    def ends(values) -> dict[str, list[float]]:
        return {name: pair.tolist() for name, pair in zip(names, values, strict=True)}

    return {
        "tolerance": found.tol,
        "complete": bool(found.certificate.list_complete),
        "columns": dict(zip(names, found.verdicts, strict=True)),
        "replaceable": {
            names[j]: [names[i] for i in by] for j, by in found.replaceable.items()
        },
        "error_with": ends(found.error_with),
        "error_without": ends(found.error_without),
        "solutions": [
            {"columns": [names[j] for j in s], "error": s.error} for s in found.solutions
        ],
    }  # fmt: skip


def show_verdicts(screen: Screen, found: ColumnVerdicts, names: Sequence[str]) -> None:
    """A table of the columns that are of use, and the names of the others."""
    screen.heading("Verdicts on the columns")
    sets = count(len(found.solutions), "set")
    known = "all of them are known" if found.certificate.list_complete else "there may be more"
    screen.line(f"{sets} within {percent(found.tol)} of the best error; {known}.")
    useless = set(found.useless.tolist())
    shown = [j for j in found.order if j not in useless]
    rows = [
        [
            screen.short(names[j]),
            found.verdicts[j],
            between(*found.error_with[j]),
            between(*found.error_without[j]),
            ", ".join(screen.short(names[i]) for i in found.replaceable.get(j, ())),
        ]
        for j in shown[:_MOST_ROWS]
    ]
    screen.table(["column", "verdict", "error with it>", "without it>", "replaced by"], rows)
    if len(shown) > _MOST_ROWS:
        screen.line(f"{len(shown) - _MOST_ROWS} more are not listed.")
    if useless:
        screen.line(f"Useless: {listed([names[j] for j in sorted(useless)], _MOST_NAMES)}")
