"""What does `read_table` cost on a large CSV file, next to ``polars.read_csv`` itself?"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, timed

__all__ = ["TITLE", "rows"]

TITLE = "Reading a CSV file of normal deviates (median), ratio to polars.read_csv"

SHAPES = ((100_000, 20), (100_000, 200), (1_000, 10_000))
QUICK_SHAPES = ((1_000, 20),)
TARGET = 3.0


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per shape; runs are interleaved, so that a busy machine hits all alike."""
    with TemporaryDirectory() as folder:
        return [row(Path(folder), shape, quick) for shape in (QUICK_SHAPES if quick else SHAPES)]


def row(folder: Path, shape: tuple[int, int], quick: bool) -> Row:
    """Both readers on the same file, whose numbers must come out the same."""
    import polars

    from columnist.io import read_table, write_table

    X = np.random.default_rng(0).normal(size=shape)
    path = folder / f"{shape[0]}x{shape[1]}.csv"
    write_table(path, X, [f"sensor {place}" for place in range(shape[1])])
    alone, ours = [], []
    for _ in range(1 if quick else 7):
        alone.append(timed(lambda: polars.read_csv(path))[0])
        seconds, table = timed(lambda: read_table(path))
        ours.append(seconds)
    return {
        "rows": shape[0],
        "columns": shape[1],
        "polars.read_csv [s]": median(alone),
        "read_table [s]": median(ours),
        "ratio": median(ours) / median(alone),
        "target": f"< {TARGET}",
        "same numbers": bool(np.array_equal(table.X, X)),
    }
