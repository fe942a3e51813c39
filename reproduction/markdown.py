"""A reproduction as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from reproduction.cells import VERDICTS, ours_text, within
from reproduction.results import Reproduction, TableResult

__all__ = ["TITLE", "markdown", "state_of"]

TITLE = "Reproducing the published results"


def markdown(result: Reproduction) -> str:
    """A summary, then every table with its cells."""
    parts = [f"# {TITLE}", state_of(result)]
    parts += [f"- {module} could not be read: {why}" for module, why in result.broken.items()]
    heads = ["table", "what it shows", *VERDICTS, "seconds"]
    parts.append(rows_of(heads, [summary_row(part) for part in result.tables]))
    parts += [part_text(part) for part in result.tables]
    return "\n\n".join(parts) + "\n"


def state_of(result: Reproduction) -> str:
    """One sentence on the whole run."""
    counts = ", ".join(f"{number} {verdict}" for verdict, number in result.counts.items() if number)
    mode = "quick" if result.quick else "full"
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    other = ", ".join(f"{number} {name}" for name, number in result.uncounted.items() if number)
    state = f" Not counted: {other}." if other else ""
    state += "" if result.complete else " Incomplete: see the tables marked so."
    tables = "1 table" if len(result.tables) == 1 else f"{len(result.tables)} tables"
    return (
        f"{tables}, {mode} mode, {result.seconds:.0f} seconds: {counts or 'no figures'}.{state} "
        f"Versions: {versions}."
    )


def summary_row(part: TableResult) -> list[Any]:
    """The counts of one table."""
    return [part.label, part.table.title, *part.counts.values(), f"{part.seconds:.1f}"]


def facts(part: TableResult) -> str:
    """The command that computes a table again, and what its figures depend on."""
    run = part.run
    lines = [f"python -m reproduction {part.name}"]
    if run:
        where = str(run.get("remark") or "")
        if run["load"]:
            load = " to ".join(f"{value:g}" for value in run["load"] if value is not None)
            where = f"{run['cores']} cores of {run['processor']}, load {load}"
        lines.append(f"# commit {run['commit']}, {run['date']}, {part.seconds:.0f} s, {where}")
    return "\n".join(lines)


def part_text(part: TableResult) -> str:
    """One table with its cells."""
    parts = [f"## {part.name}: {part.table.title}", part.table.document + ". " + part.table.note]
    parts.append(f"```console\n{facts(part)}\n```")
    if not part.complete:
        parts.append(f"**Incomplete.** {part.error or 'Interrupted.'}")
    rows = [
        [
            cell.where,
            cell.printed,
            ours_text(cell),
            within(cell),
            cell.whose if cell.kind == "figure" else cell.kind,
            cell.verdict,
            cell.why,
            cell.detail,
        ]
        for cell in part.cells
    ]
    heads = ["where", "printed", "ours", "within", "whose", "verdict", "why", "detail"]
    return "\n\n".join([*parts, rows_of(heads, rows)])


def rows_of(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    cells = (
        [escape(str(cell), quote=False).replace("|", r"\|") for cell in line] for line in lines
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
