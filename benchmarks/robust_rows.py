"""Outliers among many rows: a certified robust PCA against one bare pass.

2,000,000 x 50 numbers, kept in the memory of two worker processes of one thread each; five strong
directions, and 200 rows that stick out of these. "planted" asks for as many rows as there are;
"none" asks for 200 where nothing was planted, so that the rows to remove hardly differ from others.
A "pass" takes means and inner products of all rows; "fit" is
``RobustPCA(5, n_outliers=200).fit(X)`` with its cut-offs, which takes that many "passes". Times are
processor time of all processes, so that other work on the machine does not count; "waited" is
by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.clusters import local_cluster
from benchmarks.data import Sets
from benchmarks.measure import Row, timed

__all__ = ["TITLE", "measure", "rows"]

TITLE = "Robust PCA of many rows"
# Rows, columns, rows of a block, outliers.
FULL = (2_000_000, 50, 100_000, 200)
SMALL = (20_000, 10, 4_000, 20)
_SPREAD = (9.0, 7.0, 5.0, 4.0, 3.0)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """A row with planted outliers, and one without."""
    try:
        with _workers(quick) as clock:
            size = SMALL if quick else FULL
            return [measure(kind, *size, clock) for kind in ("planted", "none")]
    except ImportError as error:
        sets.say(f"skipped many rows: {error}")
        return []


@contextmanager
def _workers(quick: bool) -> Iterator[Callable[[], float]]:
    """Two processes of one thread, or threads of this process if quick; their clock."""
    import dask

    if quick:
        with dask.config.set(scheduler="threads"):
            yield time.process_time
        return
    with local_cluster(2, "4GiB") as client:
        yield lambda: time.process_time() + sum(client.run(time.process_time).values())


def block_of(start: int, height: int, width: int, every: int) -> np.ndarray:
    """Rows of one block; every so many is an outlier, or none if ``every`` is 0."""
    rng = np.random.default_rng(start)
    X = rng.standard_normal((height, width))
    X[:, : len(_SPREAD)] *= _SPREAD
    if every:
        outliers = (np.arange(start, start + height) % every) == 0
        X[outliers] += 9.0 * (np.arange(width) % 3 == 1)
    return X


def measure(kind: str, n: int, p: int, height: int, k: int, clock: Callable[[], float]) -> Row:
    """One fit."""
    import dask
    import dask.array as da

    from benchmarks.counting import count_cost
    from columnist.distributed import moments
    from columnist.robust import RobustPCA

    every = n // k if kind == "planted" else 0
    parts = [
        da.from_delayed(dask.delayed(block_of)(i, height, p, every), (height, p), np.float64)
        for i in range(0, n, height)
    ]
    X = da.concatenate(parts).persist()
    timed(lambda: moments(X))  # the blocks are made here
    one_pass = min(timed(lambda: moments(X), clock)[0] for _ in range(3))
    estimator = RobustPCA(5, n_outliers=k, random_state=0)
    with count_cost() as cost:
        waited, (seconds, _) = timed(lambda: timed(lambda: estimator.fit(X), clock))
    certificate = estimator.certificate_
    return {
        "set": f"{n} x {p}, {kind}",
        "k": k,
        "planted found": int(np.count_nonzero(estimator.outliers_ % every == 0)) if every else "-",
        "passes": cost.passes,
        "pass [s]": one_pass,
        "fit [s]": seconds,
        "fit / pass": seconds / one_pass,
        "waited [s]": waited,
        "status": certificate.status,
        "gap [%]": 100 * certificate.gap,
    }
