"""Tables and figure of the page "Which one should I use?", from the benchmark results.

``write`` reads what ``benchmarks/compare.py`` stored: one row per data set and selector. It puts a
table per data set and one picture into ``docs/generated``; without rows, a line that says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.store import Stored

HOME = Path(__file__).resolve().parent
FOLDER = HOME / "generated"

Row = dict[str, Any]

MISSING = """.. note::

   The comparison has not been measured in this checkout: ``make bench BENCH_ARGS=compare`` does it.
"""
PICTURE = """.. figure:: /generated/comparison.svg
   :alt: Error against time of every selector, one panel per data set.

   Error against time. No selector can be below the proven bound; filled points reach it.
"""


def write(*_: Any) -> None:
    """Write the parts of the page that come from measurements."""
    FOLDER.mkdir(exist_ok=True)
    sets: dict[str, list[Row]] = {}
    for row in Stored("compare").rows:
        sets.setdefault(row["set"], []).append(row)
    text = MISSING
    if sets:
        draw(sets).savefig(FOLDER / "comparison.svg")
        text = "\n".join([PICTURE, *map(table, sets.values())])
    (FOLDER / "comparison.inc").write_text(text)


def table(rows: Sequence[Row]) -> str:
    """One data set as a list-table."""
    first = rows[0]
    known = "optimum" if first["optimum known"] else "lower bound"
    lines = [
        f".. list-table:: {first['set']}, {first['shape']}, k = {first['k']}",
        "   :header-rows: 1",
        "   :widths: 30 12 14 12 32",
        "",
    ]
    header = ["selector", "error [%]", f"above the {known} [%]", "time [ms]", "guarantee"]
    for cells in (header, *map(cells_of, rows)):
        lines += [f"   {'  -' if i else '* -'} {cell}" for i, cell in enumerate(cells)]
    return "\n".join(lines) + "\n"


def cells_of(row: Row) -> list[str]:
    """A row as text; the class of the selector becomes a link."""
    name = row["selector"].split(".")[0].split(",")[0]
    home = "columnist" if name == "ColumnSelector" else "columnist.selection"
    rest = row["selector"].removeprefix(name)
    link = f":class:`~{home}.{name}`" + (f"\\ {rest}" if rest else "")
    figures = 100 * row["relative error"], row["above [%]"], row["ms"]
    guarantee = re.sub(r"(\w+_)(?!\w)", r"``\1``", row["guarantee"])  # attributes
    return [link, *(f"{figure:.3g}" for figure in figures), guarantee]


def draw(sets: dict[str, list[Row]]):
    """A figure with one panel per data set."""
    from matplotlib.figure import Figure

    from columnist.plotting import ComparisonDisplay

    n_lines = (len(sets) + 1) // 2
    height = 4.8 * n_lines
    figure = Figure(figsize=(13, height))
    # No layout engine: it would move the points of a panel when the next one is drawn.
    figure.subplots_adjust(0.06, 0.6 / height, 0.99, 1 - 0.4 / height, wspace=0.13, hspace=0.25)
    panels = figure.subplots(n_lines, 2, squeeze=False).ravel()
    for ax, rows in zip(panels, sets.values(), strict=False):
        ax.set_title(f"{rows[0]['set']}, {rows[0]['shape']}, k = {rows[0]['k']}")
        ComparisonDisplay(
            [short(row["selector"]) for row in rows],
            [row["relative error"] for row in rows],
            [row["ms"] / 1e3 for row in rows],
            bound=rows[0]["relative error"] / (1 + rows[0]["above [%]"] / 100),
            total=1.0,
        ).plot(ax, label_kw={"fontsize": 8})
        ax.set_ylabel("relative error (%)")
    for ax in panels[len(sets) :]:
        ax.set_visible(False)
    return figure


def short(selector: str) -> str:
    """A name that fits beside a point."""
    if selector == "ColumnSelector":
        return selector
    for long, brief in (("TwoStageSelector.", "two-stage "), ("Selector", ""), ("Sampler", "")):
        selector = selector.replace(long, brief)
    return selector
