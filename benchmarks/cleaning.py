"""How fast are rows cleaned?

A cleaned row costs two thin products, one with the rows and one back: cleaning is compared with
these, and with one square product. Seconds are processor time of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of
from columnist.privacy import NullSpaceCleaner

__all__ = ["TITLE", "rows"]

TITLE = "Cleaning rows against the products that it cannot do without"

SHAPE, QUICK_SHAPE = (100_000, 300), (10_000, 300)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per type, number of outputs and tolerance."""
    with threadpool_limits(1):
        return speed_rows(QUICK_SHAPE if quick else SHAPE)


def speed_rows(shape: tuple[int, int]) -> list[Row]:
    """Cleaning against the products that it cannot do without."""
    rng, found = np.random.default_rng(0), []
    for dtype in (np.float64, np.float32):
        X = rng.standard_normal(shape, dtype=dtype)
        square = rng.standard_normal((shape[1], shape[1]), dtype=dtype)
        full = seconds_of(lambda X=X, M=square: X @ M)
        for n_outputs in (1, 10, 50):
            A = rng.standard_normal((n_outputs, shape[1]))
            narrow = A.astype(dtype)
            thin = seconds_of(lambda X=X, M=narrow: (X @ M.T) @ M)
            for utility in (0.0, 10.0):
                cleaner = NullSpaceCleaner(A, utility=utility).fit(X[:1000])
                seconds = seconds_of(lambda X=X, clean=cleaner.transform: clean(X))
                found.append(
                    {
                        "set": f"{shape[0]} x {shape[1]}",
                        "type": np.dtype(dtype).name, "outputs": n_outputs, "utility": utility,
                        "seconds": seconds, "two thin products": thin,
                        "ratio": seconds / thin, "ratio to a square product": seconds / full,
                    }
                )  # fmt: skip
    return found


def seconds_of(function: Callable[[], np.ndarray]) -> float:
    """Least processor seconds; what is computed is thrown away, lest memory count."""
    return best_of(lambda: function() is None, least=5, clock=time.process_time)[0]
