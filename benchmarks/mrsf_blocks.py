"""What do blocks of columns gain, in threads and on a cluster?

MRSF on normal entries, with a response that is given and with principal components, whose Lanczos
iteration multiplies with all features. Wall time, the least of the repeats; "cores" is how many the
process used on average, which other work on the machine lowers. "Dask" cuts the same data, which
lie in memory, into blocks of columns, so its time includes the cut. "Distance" is the largest
difference of a coefficient from one thread's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, busy
from columnist.linalg._threads import single_threaded_blas
from columnist.spectral import MRSF

__all__ = ["TITLE", "rows"]

TITLE = "MRSF by blocks of columns"

SHAPE, SIZE, BUDGET = (1000, 50_000, 10), 50, 20.0
QUICK_SHAPE, QUICK_SIZE, QUICK_BUDGET = (60, 5_000, 3), 8, 0.0


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One, two and four threads, and Dask."""
    (n, m, q), size = (QUICK_SHAPE, QUICK_SIZE) if quick else (SHAPE, SIZE)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, m)), rng.standard_normal((n, q))
    found: list[Row] = []
    with single_threaded_blas():
        for name, response in (("given", Y), ("pca", "pca")):
            found += compare(
                X, name, MRSF(size, response=response), QUICK_BUDGET if quick else BUDGET
            )
    return found


def compare(X: np.ndarray, name: str, selector: MRSF, budget: float) -> Iterator[Row]:
    """The same fit in several ways; the first one is the reference."""
    import dask.array as da

    ways = [(f"{jobs} thread{'s'[: jobs > 1]}", X, jobs) for jobs in (1, 2, 4)]
    ways.append(("Dask", da.from_array(X, chunks=(len(X) // 4, -1)), 1))
    reference = None
    for how, data, jobs in ways:
        selector.set_params(n_jobs=jobs)
        seconds, (_, cores, fitted) = best_of(
            lambda data=data: busy(lambda: selector.fit(data)), budget, most=5
        )
        found = seconds, fitted.coef_.copy(), fitted.selected_
        reference = reference or found
        yield {
            "set": f"{X.shape[0]} x {X.shape[1]}, {name} response",
            "how": how,
            "features": len(found[2]),
            "seconds": seconds,
            "cores": cores,
            "faster": reference[0] / seconds,
            "same features": bool(np.array_equal(found[2], reference[2])),
            "distance": float(np.abs(found[1] - reference[1]).max()),
        }
