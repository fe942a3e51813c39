"""Fixed-width tables, and the results as JSON and Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Row

__all__ = ["fixed_width", "markdown", "merge", "read", "write"]


def cell(value: Any) -> str:
    """A number with four digits, anything else as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e3 or abs(value) >= 1e6 else f"{value:.0f}"
    return str(value)


def grid(rows: Sequence[Row]) -> list[list[str]]:
    """Header and cells as text, padded: numbers to the right, text to the left."""
    names = list(rows[0])
    columns = []
    for name in names:
        texts = [name, *(cell(row[name]) for row in rows)]
        width = max(map(len, texts))
        words = any(isinstance(row[name], str) and row[name] for row in rows)
        columns.append([text.ljust(width) if words else text.rjust(width) for text in texts])
    return [list(line) for line in zip(*columns, strict=True)]


def fixed_width(rows: Sequence[Row]) -> str:
    """The table as plain text."""
    if not rows:
        return "(nothing measured)"
    lines = ["  ".join(line).rstrip() for line in grid(rows)]
    return "\n".join([lines[0], "-" * min(max(map(len, lines)), 120), *lines[1:]])


def markdown(title: str, note: str, tables: Mapping[str, Sequence[Row]]) -> str:
    """A section with its tables."""
    parts = [f"## {title}", note]
    for caption, rows in tables.items():
        parts += [f"### {caption}"] if caption else []
        parts.append(markdown_table(rows))
    return "\n\n".join(parts)


def markdown_table(rows: Sequence[Row]) -> str:
    """The table as Markdown."""
    if not rows:
        return "(nothing measured)"
    cells = [[*line[:-1], line[-1].strip()] for line in grid(rows)]  # the last may be long
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    rule = "|" + "|".join("-" * (len(text) + 2) for text in cells[0]) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def read(path: Path) -> dict[str, Any]:
    """Results of earlier runs, if there are any."""
    return json.loads(path.read_text()) if path.is_file() else {}


def merge(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """The new rows in place of the old ones of the same set; sets keep their order."""
    fresh: dict[Any, list[Row]] = {}
    for row in new:
        fresh.setdefault(row.get("set"), []).append(row)
    merged: list[Row] = []
    for row in old:
        if row.get("set") not in fresh:
            merged.append(row)
        elif not any(kept.get("set") == row.get("set") for kept in merged):
            merged += fresh[row.get("set")]
    known = {row.get("set") for row in old}
    return merged + [row for row in new if row.get("set") not in known]


def one_line_per_row(results: Mapping[str, Any]) -> str:
    """JSON whose changes are easy to read: one line per row of a table."""
    parts = []
    for name, value in results.items():
        text = json.dumps(value)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(f"  {json.dumps(row)}" for row in value) + "\n ]"
        parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(path: Path, results: Mapping[str, Any], text: str) -> None:
    """The results as JSON, and the report beside it."""
    path.write_text(one_line_per_row(results))
    path.with_suffix(".md").write_text(text)
