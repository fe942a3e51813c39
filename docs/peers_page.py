"""Tables of the page "Comparison with other programs", from ``benchmarks/peers.json``.

``write`` puts into ``docs/generated`` one file per area, ``peers_<area>.inc``: the text, the table,
the failures, and every set folded away; and ``peers_facts.inc`` with machine and versions. Without
results, each file holds a line that says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent
RESULTS = HOME.parent / "benchmarks" / "peers.json"
FOLDER = HOME / "generated"
AREAS = ("columns", "target", "scores", "robust")

Row = dict[str, Any]

MISSING = """.. note::

   The comparison has not been measured in this checkout: ``make bench-peers`` does it.
"""


def write(*_: Any) -> None:
    """Write the parts of the page that come from measurements."""
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    FOLDER.mkdir(exist_ok=True)
    for name, text in parts(results).items():
        (FOLDER / f"peers_{name}.inc").write_text(text)


def parts(results: dict[str, Any]) -> dict[str, str]:
    """Text of every file by the end of its name."""
    found = {"facts": facts(results) if results else MISSING}
    for area in AREAS:
        found[area] = section(results, area) if results.get(area) else MISSING
    return found


def facts(results: dict[str, Any]) -> str:
    """Machine and versions."""
    machine = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    programs = ", ".join(f"{key} {value}" for key, value in results["programs"].items())
    return (
        f"{escaped(results['note'])}\n\n*Machine:* {escaped(machine)}.\n\n*Programs:* {programs}.\n"
    )


def section(results: dict[str, Any], area: str) -> str:
    """Text, table, failures and all sets of an area."""
    text = results[f"{area} text"]
    # Reasons stand below the table: they are long, and often the same.
    lines = [
        {key: row[key] for key in row if key != "failures"} for row in results[f"{area} summary"]
    ]
    failures = [f"* {escaped(line)}" for line in results[f"{area} failures"]]
    return "\n\n".join(
        [
            escaped(text["note"]),
            table(text["title"], lines),
            "No failures." if not failures else "*Failures*\n\n" + "\n".join(failures),
            folded("Set by set", table("", results[f"{area} details"])),
        ]
    )


def table(caption: str, rows: Sequence[Row]) -> str:
    """A list-table."""
    lines = [f".. list-table:: {caption}".rstrip(), "   :header-rows: 1", ""]
    for cells in (list(rows[0]), *(row.values() for row in rows)):
        lines += [
            f"   {'  -' if i else '* -'} {cell(value)}".rstrip() for i, value in enumerate(cells)
        ]
    return "\n".join(lines) + "\n"


def cell(value: Any) -> str:
    """A number with three digits, anything else as text."""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1e3 else f"{value:.3g}"
    return escaped(str(value))


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    for mark in ("\\", "*", "`", "|", "_"):
        text = text.replace(mark, f"\\{mark}")
    return text


def folded(summary: str, body: str) -> str:
    """Something that opens with a click."""
    return (
        f".. raw:: html\n\n   <details><summary>{summary}</summary>\n\n"
        f"{body}\n.. raw:: html\n\n   </details>\n"
    )
