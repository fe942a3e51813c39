"""Tables and picture of the page "Scaling", from the benchmark results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent
RESULTS = HOME.parent / "benchmarks" / "results.json"
FOLDER = HOME / "generated"

Row = dict[str, Any]

MISSING = """.. note::

   Not measured in this checkout: ``make bench BENCH_ARGS={name}`` does it.
"""
PICTURE = """.. figure:: /generated/scaling.svg
   :alt: Speed-up over the number of workers: measured for one and two, by the model up to 64.

   Speed-up over workers: measured (points) and by the model (lines).
"""
# Section of the results -> headline of its part of the page.
LARGE = {
    "out_of_core": "Larger than memory",
    "wide_dask": "Very wide",
    "robust_rows": "Outliers among millions of rows",
}


def write(*_: Any) -> None:
    """Write the parts of the page that come from measurements."""
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "scaling.inc").write_text(scaling(results.get("scaling", [])))
    parts = [part(name, title, results.get(name, [])) for name, title in LARGE.items()]
    (FOLDER / "out_of_core.inc").write_text("\n".join(parts))


def scaling(rows: list[Row]) -> str:
    """Counters, times and the picture."""
    if not rows:
        return MISSING.format(name="scaling")
    module = benchmark("scaling")
    draw(rows, module).savefig(FOLDER / "scaling.svg")
    parts = [table(caption, lines) for caption, lines in module.tables(rows).items()]
    return "\n".join([note(module), parts[0], PICTURE, *parts[1:]])


def part(name: str, title: str, rows: list[Row]) -> str:
    """One headline with what the benchmark says of itself and its table."""
    head = f"{title}\n{'-' * len(title)}\n"
    if not rows:
        return f"{head}\n{MISSING.format(name=name)}"
    module = benchmark(name)
    condense = getattr(module, "tables", None)
    tables = condense(rows) if condense else {"": rows}
    return "\n".join([head, note(module), *(table(c, lines) for c, lines in tables.items())])


def benchmark(name: str):
    """The module that measured; its docstring says what the columns mean."""
    import importlib
    import sys

    if str(HOME.parent) not in sys.path:
        sys.path.insert(0, str(HOME.parent))
    return importlib.import_module(f"benchmarks.{name}")


def note(module) -> str:
    """What a benchmark says of itself, without its first line."""
    return module.__doc__.strip().split("\n", 2)[2] + "\n"


def table(caption: str, rows: Sequence[Row]) -> str:
    """Rows as a list-table."""
    header = list(rows[0])
    lines = [f".. list-table:: {caption}".rstrip(), "   :header-rows: 1", ""]
    for cells in (header, *([cell(row.get(key)) for key in header] for row in rows)):
        lines += [f"   {'  -' if i else '* -'} {text}" for i, text in enumerate(cells)]
    return "\n".join(lines) + "\n"


def cell(value: Any) -> str:
    """A number in four digits, anything else as it is."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None else str(value)


def draw(rows: list[Row], module):
    """Speed-up over the number of workers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    workers = [1, *module.EXTRAPOLATED]
    ax.plot(workers, workers, color="0.8", label="one for one")
    for row in (row for row in rows if row["workers"] == 1):
        total = row["seconds"] + row["client [s]"]
        gains = [total / module.predicted(row, p) for p in workers]
        line = ax.plot(workers, gains, label=row["job"])[0]
        two = next(r for r in rows if r["job"] == row["job"] and r["workers"] == 2)
        measured = total / (two["seconds"] + two["client [s]"])
        ax.plot([2], [measured], marker="o", color=line.get_color(), linestyle="none")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(workers, [str(p) for p in workers])
    ax.set_yticks(workers, [str(p) for p in workers])
    ax.set(xlabel="workers", ylabel="speed-up")
    ax.legend(frameon=False, fontsize=8)
    return figure
