"""Clocks and fits that the benchmarks share."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

from columnist import ColumnSelector

__all__ = ["Row", "best_of", "busy", "dense_seconds", "fit", "machine", "timed"]

Row = dict[str, Any]


Clock = Callable[[], float]


def timed(function: Callable[[], Any], clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """Seconds of one call, and its result.

    With ``time.process_time`` as the clock, other processes on the machine do not count: the
    fair clock for two programs of one thread each.
    """
    started = clock()
    result = function()
    return clock() - started, result


def best_of(
    function: Callable[[], Any],
    budget: float = 1.0,
    least: int = 1,
    most: int = 200,
    clock: Clock = time.perf_counter,
) -> tuple[float, Any]:
    """Smallest seconds and its result: repeats until ``budget`` seconds are spent."""
    runs = [timed(function, clock)]
    while len(runs) < most and (len(runs) < least or sum(run[0] for run in runs) < budget):
        runs.append(timed(function, clock))
    return min(runs, key=lambda run: run[0])


def busy(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds of one call, how many cores it had on average, and its result.

    A share well below the number of threads tells that something else ran beside it.
    """
    seconds, (used, result) = timed(lambda: timed(function, time.process_time))
    return seconds, used / seconds, result


def fit(X: np.ndarray, k: int, **options: Any) -> ColumnSelector:
    """A fitted selector; what it warns of (columns beyond the rank) is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ColumnSelector(k, **options).fit(X)


def dense_seconds(n: int, repeats: int = 50) -> float:
    """Least processor seconds of ``numpy.linalg.eigh``, n x n matrix, one BLAS thread."""
    A = np.random.default_rng(0).standard_normal((n, n))
    A = A + A.T
    with threadpool_limits(1, user_api="blas"):
        return min(timed(lambda: np.linalg.eigh(A), time.process_time)[0] for _ in range(repeats))


def machine() -> Row:
    """What the figures depend on."""
    return {
        "cores": os.cpu_count(),
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "eigh 300 x 300 [ms]": round(1e3 * dense_seconds(300), 2),
    }


def processor() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.is_file() else []
    found = [line.split(":", 1)[1].strip() for line in names if line.startswith("model name")]
    return found[0] if found else platform.processor() or "unknown"
