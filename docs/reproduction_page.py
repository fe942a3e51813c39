"""The page "Reproducing the published results", from the results stored in ``reproduction``.

``write`` puts the summary into ``docs/generated``; ``publish`` adds the page with every figure to
the built documentation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction import VERDICTS, Reproduction, stored

HOME = Path(__file__).resolve().parent
FOLDER = HOME / "generated"
PAGE = "reproduction-page.html"


def write(*_: Any) -> None:
    """Write the summary."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "reproduction.inc").write_text(summary(stored()), encoding="utf-8")


def publish(app: Any, error: Exception | None) -> None:
    """Write the page with every figure beside the built ones."""
    if error is None and app.builder.name == "html":
        Path(app.outdir, PAGE).write_text(stored().to_html(), encoding="utf-8")


def summary(result: Reproduction) -> str:
    """Counts of all tables, one list-table per document."""
    counts = ", ".join(f"{number:,} {name}" for name, number in result.counts.items() if number)
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    other = ", ".join(f"{number} {name}" for name, number in result.uncounted.items())
    parts = [f"All together: {counts}. Not counted: {other}. Computed with {versions}.", ""]
    documents: dict[str, list[list[str]]] = {}
    for part in result.tables:
        numbers = [str(part.counts[verdict] or "") for verdict in VERDICTS]
        row = [part.name, part.table.title, *numbers]
        documents.setdefault(part.table.document, []).append(row)
    for document, rows in documents.items():
        parts.append(list_table(document, ["table", "what it shows", *VERDICTS], rows))
    return "\n".join(parts)


def list_table(title: str, heads: list[str], rows: list[list[str]]) -> str:
    """A list-table; columns without any entry are left out."""
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    widths = " ".join(str({0: 12, 1: 40}.get(i, 10)) for i in kept)
    lines = [f".. list-table:: {title}", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in [heads, *rows]:
        lines += [f"   {'  -' if n else '* -'} {row[i]}" for n, i in enumerate(kept)]
    return "\n".join(lines) + "\n"
