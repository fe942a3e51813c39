"""What do blocks of columns gain, in threads and on a cluster?

MRSF on normal entries, with a response that is given and with principal components, whose Lanczos
iteration multiplies with all features. "Seconds" are wall time, the least of the repeats, which
other work on the machine makes longer; "cores" is how many the process used on average.
"Longest path" is processor time: that of the calling thread, and for each product shared out that
of the thread which worked most on it. It is what the clock would show on idle cores, and "faster"
is its ratio to one thread. "Dask" cuts the same data, which lie in memory, into blocks of columns,
so its time includes the cut. "Distance" is the largest difference of a coefficient from one
thread's.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from threading import get_ident
from typing import Any

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, busy
from columnist.linalg._threads import Threads, single_threaded_blas
from columnist.spectral import MRSF, _mrsf

__all__ = ["TITLE", "rows"]

TITLE = "MRSF by blocks of columns"

SHAPE, SIZE, BUDGET = (1000, 50_000, 10), 50, 20.0
QUICK_SHAPE, QUICK_SIZE, QUICK_BUDGET = (60, 5_000, 3), 8, 0.0


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One, two and four threads, and Dask."""
    (n, m, q), size = (QUICK_SHAPE, QUICK_SIZE) if quick else (SHAPE, SIZE)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, m)), rng.standard_normal((n, q))
    budget, found = QUICK_BUDGET if quick else BUDGET, []
    with single_threaded_blas():
        for name, response in (("given", Y), ("pca", "pca")):
            found += compare(X, name, MRSF(size, response=response), budget)
    return found


def compare(X: np.ndarray, name: str, selector: MRSF, budget: float) -> Iterator[Row]:
    """The same fit in several ways; the first one is the reference."""
    import dask.array as da

    ways = [(f"{jobs} thread{'s'[: jobs > 1]}", X, jobs) for jobs in (1, 2, 4)]
    ways.append(("Dask", da.from_array(X, chunks=(len(X) // 4, -1)), 1))
    reference = None
    for how, data, jobs in ways:
        selector.set_params(n_jobs=jobs)
        seconds, (_, cores, path) = best_of(
            lambda data=data: busy(lambda: longest_path(lambda: selector.fit(data))), budget, most=5
        )
        found = path, selector.coef_.copy(), selector.selected_
        reference = reference or found
        here = how != "Dask"  # whose threads are its own
        yield {
            "set": f"{X.shape[0]} x {X.shape[1]}, {name} response",
            "how": how,
            "features": len(found[2]),
            "seconds": seconds,
            "cores": cores,
            "longest path [s]": path if here else None,
            "faster": reference[0] / path if here else None,
            "same features": bool(np.array_equal(found[2], reference[2])),
            "distance": float(np.abs(found[1] - reference[1]).max()),
        }


class ClockedThreads(Threads):
    """Notes the processor time of the thread that works most on what is shared out."""

    waited = 0.0

    def map(self, work: Callable[..., Any], *arguments: Sequence) -> list:
        spent: defaultdict[int, float] = defaultdict(float)

        def clocked(*parts):
            started = time.thread_time()
            result = work(*parts)
            spent[get_ident()] += time.thread_time() - started
            return result

        found = super().map(clocked, *arguments)
        spent.pop(get_ident(), None)  # what the caller did itself, its own clock knows
        ClockedThreads.waited += max(spent.values(), default=0.0)
        return found


def longest_path(call: Callable[[], object]) -> float:
    """Seconds that a call would take if every thread had a core of its own."""
    ClockedThreads.waited, started = 0.0, time.thread_time()
    before, _mrsf.Threads = _mrsf.Threads, ClockedThreads
    try:
        call()
    finally:
        _mrsf.Threads = before
    return time.thread_time() - started + ClockedThreads.waited
