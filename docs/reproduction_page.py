"""The page "Reproducing the published results", from the results stored in ``reproduction``.

``write`` puts the summary into ``docs/generated``; ``publish`` adds the page with every figure to
the built documentation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.store import Stored
from reproduction import VERDICTS, Reproduction, stored
from reproduction.experiments import EXPERIMENTS, Trial, groups
from reproduction.experiments import FOLDER as STORED_TRIALS

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
    parts.append(list_table("All documents", ["document", "", *VERDICTS], by_document(result)))
    documents: dict[str, list[list[str]]] = {}
    for part in result.tables:
        numbers = [str(part.counts[verdict] or "") for verdict in VERDICTS]
        row = [part.name, part.table.title, *numbers]
        documents.setdefault(part.table.document, []).append(row)
    for document, rows in documents.items():
        parts.append(list_table(document, ["table", "what it shows", *VERDICTS], rows))
    parts.append(experiments())
    return "\n".join(parts)


def by_document(result: Reproduction) -> list[list[str]]:
    """Counts of every document, and of all."""
    rows = []
    for document in dict.fromkeys(part.table.document for part in result.tables):
        counts = [part.counts for part in result.tables if part.table.document == document]
        rows.append([document, "", *(str(sum(c[v] for c in counts) or "") for v in VERDICTS)])
    return [*rows, ["all", "", *(str(number or "") for number in result.counts.values())]]


def experiments() -> str:
    """What other settings give, group by group."""
    rows = []
    for name in EXPERIMENTS:
        trials = [Trial(**row) for row in Stored(name, STORED_TRIALS).rows]
        for group, found in groups(trials).items():
            met = f"{len(found.met)} of {found.size}"
            rows.append([group, found.best, met, str(found.settings)])
    heads = ["figures of", "the setting that gives most", "figures given", "settings tried"]
    return list_table("Settings that were tried where figures differ", heads, rows)


def list_table(title: str, heads: list[str], rows: list[list[str]]) -> str:
    """A list-table; columns without any entry are left out."""
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    widths = " ".join(str({0: 12, 1: 40}.get(i, 10)) for i in kept)
    lines = [f".. list-table:: {title}", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in [heads, *rows]:
        lines += [f"   {'  -' if n else '* -'} {row[i]}" for n, i in enumerate(kept)]
    return "\n".join(lines) + "\n"
