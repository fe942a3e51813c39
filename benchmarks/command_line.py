"""What does ``columnist select`` cost beyond reading a CSV file with polars and fitting?

Every run is a fresh interpreter. The reference imports, reads and fits, and says nothing; the
command also finds out delimiter and header, checks the columns, and tells its result.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, timed

__all__ = ["TITLE", "rows"]

TITLE = "columnist select on a CSV file, ratio to polars.read_csv and fit in a fresh interpreter"

SHAPE, QUICK_SHAPE = (100_000, 200), (2_000, 50)
SIZE = 5
TIME_LIMIT = 60
TARGET = 3.0
REFERENCE = """
import polars
from columnist import ColumnSelector
X = polars.read_csv({path!r}).to_numpy()
ColumnSelector({size}, time_limit={limit}).fit(X)
"""


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """Reference and command, interleaved, so that a busy machine hits both alike."""
    shape, repeats = (QUICK_SHAPE, 1) if quick else (SHAPE, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(Path(folder) / "data.csv", shape)
        code = REFERENCE.format(path=path, size=SIZE, limit=TIME_LIMIT)
        select = [sys.executable, "-m", "columnist.cli", "select", path, "-k", str(SIZE)]
        select += ["--time-limit", str(TIME_LIMIT)]
        kept = str(Path(folder) / "kept.csv")
        commands = {
            "polars.read_csv, ColumnSelector.fit": [sys.executable, "-c", code],
            "columnist select": select,
            "columnist select --scale --center": [*select, "--scale", "--center"],
            "columnist select --out": [*select, "--out", kept],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for run in range(repeats + 1):
            for name, command in commands.items():
                seconds = seconds_of(command)
                times[name] += [seconds] if run else []  # the first warms the disk cache
    first = next(iter(times.values()))
    return [
        {
            "command": name,
            "rows": shape[0],
            "columns": shape[1],
            "runs": repeats,
            "median [s]": median(runs),
            "smallest [s]": min(runs),
            "ratio of medians": median(runs) / median(first),
            "ratio of smallest": min(runs) / min(first),
            "target": "" if runs is first else f"< {TARGET}",
        }
        for name, runs in times.items()
    ]


def seconds_of(command: list[str]) -> float:
    """Seconds of a process from start to end."""
    return timed(lambda: subprocess.run(command, check=True, capture_output=True))[0]


def write_csv(path: Path, shape: tuple[int, int]) -> str:
    """Numbers of about five digits, mixed from few sources so that a proof is quick."""
    import polars

    n, m = shape
    rng = np.random.default_rng(0)
    sources = rng.standard_normal((n, 8)) * 2.0 ** -np.arange(8)
    X = sources @ rng.standard_normal((8, m)) + 0.02 * rng.standard_normal((n, m))
    frame = polars.DataFrame(X.round(5), schema=[f"c{i}" for i in range(m)])
    frame.write_csv(path)
    return str(path)
