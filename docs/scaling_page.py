"""The picture of the page "Scaling", from the stored measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import scaling
from benchmarks.store import Stored

FOLDER = Path(__file__).resolve().parent / "generated"

Row = dict[str, Any]

PICTURE = """.. figure:: /generated/scaling.svg
   :alt: Speed-up over the number of workers: measured for one and two, by the model up to 64.

   Speed-up over workers: measured (points) and by the model (lines).
"""


def write(*_: Any) -> None:
    """Draw the picture, if there is something to draw."""
    FOLDER.mkdir(exist_ok=True)
    rows = Stored("scaling").rows
    if rows:
        draw(rows).savefig(FOLDER / "scaling.svg")
    (FOLDER / "scaling_picture.inc").write_text(PICTURE if rows else "")


def draw(rows: list[Row]):
    """Speed-up over the number of workers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    workers = [1, *scaling.EXTRAPOLATED]
    ax.plot(workers, workers, color="0.8", label="one for one")
    for row in (row for row in rows if row["workers"] == 1):
        total = row["seconds"] + row["client [s]"]
        gains = [total / scaling.predicted(row, p) for p in workers]
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
