"""What does importing cost, next to scikit-learn's ``feature_selection``?"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from benchmarks.data import Sets
from benchmarks.measure import Row, timed

__all__ = ["TITLE", "rows"]

TITLE = "Import in a fresh interpreter (median), ratio to import sklearn.feature_selection"

REFERENCE = "import sklearn.feature_selection"
STATEMENTS = (REFERENCE, "import columnist", "from columnist import ColumnSelector")
TARGET = 1.3


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per statement; runs are interleaved, so that a busy machine hits all alike."""
    repeats = 1 if quick else 15
    for statement in STATEMENTS:
        seconds_of(statement)  # warm-up: byte code and disk cache
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for _ in range(repeats):
        for statement in STATEMENTS:
            times[statement].append(seconds_of(statement))
    return [
        {
            "statement": statement,
            "runs": repeats,
            "median [ms]": 1e3 * median(runs),
            "smallest [ms]": 1e3 * min(runs),
            "ratio of medians": median(runs) / median(times[REFERENCE]),
            "ratio of smallest": min(runs) / min(times[REFERENCE]),
            "target": "" if statement == REFERENCE else f"< {TARGET}",
        }
        for statement, runs in times.items()
    ]


def seconds_of(statement: str) -> float:
    """Seconds of a fresh interpreter that executes one statement, start-up included."""
    command = [sys.executable, "-c", statement]
    return timed(lambda: subprocess.run(command, check=True))[0]
