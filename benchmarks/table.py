"""Fixed-width tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.measure import Row

__all__ = ["fixed_width"]


def cell(value: Any) -> str:
    """A number with four digits, anything else as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e3 or abs(value) >= 1e6 else f"{value:.0f}"
    return str(value)


def grid(rows: Sequence[Row]) -> list[list[str]]:
    """Header and cells as text, padded: numbers to the right, text to the left."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = []
    for name in names:
        texts = [name, *(cell(row.get(name, "")) for row in rows)]
        width = max(map(len, texts))
        words = any(isinstance(row.get(name), str) and row[name] for row in rows)
        columns.append([text.ljust(width) if words else text.rjust(width) for text in texts])
    return [list(line) for line in zip(*columns, strict=True)]


def fixed_width(rows: Sequence[Row]) -> str:
    """The table as plain text."""
    if not rows:
        return "(nothing measured)"
    lines = ["  ".join(line).rstrip() for line in grid(rows)]
    return "\n".join([lines[0], "-" * min(max(map(len, lines)), 120), *lines[1:]])
