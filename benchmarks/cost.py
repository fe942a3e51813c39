"""What do a node and an open node cost?

The cost of a node is given as a ratio to one ``numpy.linalg.eigh`` of the reduced problem's
size, measured in the same run (processor time); the memory twice, as the engine accounts
for it and as ``tracemalloc`` sees it when most nodes were open.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, dense_seconds, timed
from columnist.criteria import Frobenius
from columnist.linalg._reduce import reduce_data
from columnist.search._engine import search
from columnist.search._log import Progress
from columnist.search._policies import get_policy
from columnist.search._run import Limits, SearchResult
from columnist.selection._columns import column_problem

__all__ = ["TITLE", "rows"]

TITLE = "Cost per node and memory per open node (one thread, Frobenius)"

SIZES = {"wdbc": 15, "libras": 8, "spectf": 10}
QUICK_SIZES = {"wdbc": 8, "libras": 5, "spectf": 6}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per problem."""
    sizes = QUICK_SIZES if quick else SIZES
    return [cost(name, X, sizes[name], 5.0 if quick else 120.0) for name, X in sets.these(*sizes)]


def cost(name: str, X: np.ndarray, k: int, limit: float) -> Row:
    """Two runs of the engine: one for the time, one with ``tracemalloc`` for the memory."""
    seconds, result = timed(lambda: run(X, k, limit), time.process_time)
    tracer = Tracer()
    tracemalloc.start()
    try:
        run(X, k, limit, tracer)
    finally:
        tracemalloc.stop()
    most_open = max(moment["open"] for moment in result.history)
    per_node = seconds / result.expanded
    return {
        "set": name,
        "k": k,
        "status": result.status,
        "seconds": seconds,
        "expanded": result.expanded,
        "generated": result.generated,
        "us per expanded": 1e6 * per_node,
        "us per generated": 1e6 * seconds / result.generated,
        "expanded / eigh": per_node / dense_seconds(min(X.shape)),
        "most open": int(most_open),
        "bytes per open": result.peak_memory / max(most_open, 1),
        "traced per open": tracer.bytes_per_open,
    }


def run(X: np.ndarray, k: int, limit: float, callback=None) -> SearchResult:
    """The engine on the whole problem, without the estimator around it."""
    problem = column_problem(reduce_data(X), k, criterion=Frobenius())
    limits = Limits(deadline=time.perf_counter() + limit)
    return search(problem, get_policy("auto"), limits, callback=callback)


class Tracer:
    """A callback that notes the allocated bytes when most nodes were open.

    The first report comes before the first node is expanded: it is the zero.
    """

    def __init__(self) -> None:
        self.zero: int | None = None
        self.most_open = self.bytes = 0

    def __call__(self, progress: Progress) -> None:
        now, _ = tracemalloc.get_traced_memory()
        if self.zero is None:
            self.zero = now
        if progress.open > self.most_open:
            self.most_open, self.bytes = progress.open, now - self.zero

    @property
    def bytes_per_open(self) -> float:
        """Bytes for each node open at that moment."""
        return self.bytes / max(self.most_open, 1)
