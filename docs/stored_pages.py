"""Tables of the documentation, generated from the stored measurements (``benchmarks.store``).

``write`` puts one file per benchmark into ``docs/generated``: ``stored_<name>.inc`` with the note,
the facts of its runs, and its tables. A page includes the files it shows; a benchmark of which
nothing is stored has a line that says so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent
if str(HOME.parent) not in sys.path:
    sys.path.insert(0, str(HOME.parent))

from benchmarks.shown import Shown, shown  # noqa: E402
from benchmarks.store import Stored  # noqa: E402

GENERATED = HOME / "generated"
QUIET = 0.5
"""Load of a machine that has nothing else to do; above it, a page says so."""

Row = Mapping[str, Any]


def write(*_: Any) -> None:
    """Write every file that a page includes."""
    GENERATED.mkdir(exist_ok=True)
    for name in included():
        (GENERATED / f"stored_{name}.inc").write_text(section(Stored(name)), encoding="utf-8")


def included() -> list[str]:
    """Names of the benchmarks that pages show."""
    found = [
        name
        for page in sorted(HOME.rglob("*.rst"))
        if GENERATED not in page.parents
        for name in re.findall(r"generated/stored_([\w-]+)\.inc", page.read_text("utf-8"))
    ]
    return list(dict.fromkeys(found))


def section(stored: Stored) -> str:
    """Note, tables and facts."""
    if not stored.rows:
        return f".. note::\n\n   {stored.name} has not been measured in this checkout.\n"
    found = shown(stored)
    return "\n\n".join([found.note, *tables_of(found), facts(stored)]) + "\n"


def tables_of(found: Shown) -> Iterable[str]:
    """All tables, and what failed."""
    yield from (table(caption, rows) for caption, rows in found.tables.items() if rows)
    if found.failures:
        yield "*Without an answer*\n\n" + "\n".join(f"* {escaped(line)}" for line in found.failures)
    yield from (folded(caption, table("", rows)) for caption, rows in found.folded.items() if rows)


def facts(stored: Stored) -> str:
    """How, when and on what the rows were measured, folded away; in the open if it was busy."""
    versions = {row["program"]: row["version"] for row in stored.rows if row.get("version")}
    lines = [fact_line(run) for run in stored.runs]
    if versions:
        lines.append(", ".join(f"{key} {value}" for key, value in versions.items()))
    text = "\n".join(f"* {escaped(line)}" for line in lines)
    return folded(f"How it was measured{busy(stored.runs)}", text)


def busy(runs: Sequence[Row]) -> str:
    """Whether the machine had other work, for the line that is always seen."""
    loads = [run["load"] for run in runs]
    known = [max(filter(None, load), default=0.0) for load in loads if isinstance(load, list)]
    if len(known) < len(runs):
        return " (on a machine with other work)"
    return "" if max(known) <= QUIET else f" (beside other work: load up to {max(known):g})"


def fact_line(run: Row) -> str:
    """The facts of one run."""
    load = run["load"]
    if isinstance(load, list):
        load = " to ".join(f"{value:g}" for value in load if value is not None)
    named = {"load": load or "not recorded", "commit": run["commit"], "date": run["date"]}
    rest = {key: value for key, value in run.items() if key not in (*named, "command", "remark")}
    words = [f"{key} {value}" for key, value in (named | rest).items() if value is not None]
    return f"{run['command']}: {', '.join(words)}"


def table(caption: str, rows: Sequence[Row]) -> str:
    """A list-table; columns without any entry are left out."""
    heads = [name for name in rows[0] if any(row.get(name) not in (None, "") for row in rows)]
    lines = [f".. list-table:: {escaped(caption)}".rstrip(), "   :header-rows: 1", ""]
    for cells in (map(escaped, heads), *([cell(row.get(name)) for name in heads] for row in rows)):
        lines += [f"   {'  -' if i else '* -'} {text}".rstrip() for i, text in enumerate(cells)]
    return "\n".join(lines) + "\n"


def cell(value: Any) -> str:
    """A number with four digits, anything else as text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e3 or abs(value) >= 1e6 else f"{value:.0f}"
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
        f"{body}\n\n.. raw:: html\n\n   </details>\n"
    )


README = re.compile(r"(<!-- figures: readme -->\n).*?(\n<!-- end -->)", re.DOTALL)
CERTIFICATE = """
```text
Certificate
status       optimal (no other choice has a smaller error)
error        {error:.4f} (frobenius, target X)
lower bound  {bound:.4f}
gap          0%
search       {expanded:,} expanded, {generated:,} generated nodes, {seconds:.3g} s
```

<!-- figures: readme -->

The error of forward selection is {larger:.1f} % larger here.
"""


def with_figures(text: str) -> str:
    """The README with the figures that are stored."""
    (row,) = Stored("readme").find(set="wdbc, k = 11")
    figures = CERTIFICATE.format(
        error=row["error"],
        bound=row["lower bound"],
        expanded=row["expanded"],
        generated=row["generated"],
        seconds=row["seconds"],
        larger=row["forward larger [%]"],
    )
    return README.sub(lambda found: found[1] + figures + found[2], text)


if __name__ == "__main__":
    path = HOME.parent / "README.md"
    path.write_text(with_figures(path.read_text(encoding="utf-8")), encoding="utf-8")
