"""How much faster than the textbook search?

Reference: ``tests/oracles/textbook.py``, the textbook A* in plain NumPy, dense eigenvalues
of every child. Both prove the same optimum. Processor time on one thread each (more threads
only slow down the small eigenproblems of the textbook); ours is timed as a whole ``fit``
and, by the wall clock, as the search alone.
"""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, fit
from tests.oracles.textbook import textbook_astar

__all__ = ["SIZES", "TITLE", "compare", "rows"]

TITLE = "Speed against the textbook A* (plain NumPy, dense eigenvalues of every child)"

SIZES = {"wdbc": (2, 3, 4), "libras": (2, 3)}
QUICK_SIZES = {"wdbc": (2, 3), "libras": (2,)}
# The issue asks for at least these ratios of the whole fit.
TARGETS = {("wdbc", 4): 300, ("libras", 3): 1000}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set and size."""
    sizes = QUICK_SIZES if quick else SIZES
    return [compare(name, X, k, quick) for name, X in sets.these(*sizes) for k in sizes[name]]


def compare(name: str, X: np.ndarray, k: int, quick: bool = False) -> Row:
    """Both searches on one problem: best of several runs each, the textbook's long ones once."""
    fit(X, k)  # warm-up
    clock = time.process_time
    seconds, selector = best_of(lambda: fit(X, k), 0.2 if quick else 2.0, least=5, clock=clock)
    with threadpool_limits(1, user_api="blas"):
        book_seconds, book = best_of(
            lambda: textbook_astar(X, k), budget=0.2 if quick else 8.0, clock=clock
        )
    certificate = selector.certificate_
    return {
        "set": name,
        "columns": X.shape[1],
        "k": k,
        "textbook nodes": book.n_expanded,
        "textbook [ms]": 1e3 * book_seconds,
        "our nodes": certificate.nodes_expanded,
        "fit [ms]": 1e3 * seconds,
        "search [ms]": 1e3 * certificate.elapsed,
        "ratio fit": book_seconds / seconds,
        "ratio search": book_seconds / certificate.elapsed,
        "target": TARGETS.get((name, k), ""),
        "same optimum": bool(np.isclose(book.error, selector.error_, rtol=1e-9)),
    }
