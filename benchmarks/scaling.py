"""Work, traffic and time over the number of workers: counted, computed, measured, extrapolated.

Operations are multiplications inside the blocks, bytes are results brought together; both are
counted by the code while it runs. "Book" is the leading term of chapter 5 of the book on spectral
feature selection, all constants one, summed over its processes; "ours" is what the steps that we
take should cost. Counted operations are compared with both: the first ratio tells whether we do
what the book does, the second whether the code does what we say. Time is the
wall clock of the passes, on 1 and 2 worker processes of one thread each (least of the repeats),
data in their memory; the last columns extrapolate: operations divided by the workers, and results
sent along a binary tree through a network of 10 Gbit/s with 1 ms a message. What the client does
alone is not divided.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.clusters import local_cluster
from benchmarks.data import Sets
from benchmarks.measure import Row

__all__ = ["TITLE", "Job", "jobs", "predicted", "rows", "tables"]

TITLE = "One worker, two, and sixty-four"
WORKERS = (1, 2)
EXTRAPOLATED = (2, 4, 8, 16, 32, 64)
# Bytes a second and seconds a message of the network that is assumed.
BANDWIDTH, LATENCY = 1.25e9, 1e-3
# Results that one merge takes, as in columnist.distributed.
_FAN_IN = 8


@dataclass(frozen=True)
class Job:
    """Something to run on rows, and what it should cost.

    ``operations(n, m, blocks, given)`` are the multiplications of all blocks, and ``numbers`` of
    the same the numbers brought together; ``given`` is what ``prepare`` makes of the rows.
    """

    name: str
    equation: str
    shape: tuple[int, int, int]  # samples, features, blocks
    run: Callable[[Any, Any], Any]
    operations: Callable[[int, int, int, Any], float]
    numbers: Callable[[int, int, int, Any], float]
    prepare: Callable[[Any], Any] = lambda X: None


def merged_results(blocks: int) -> int:
    """Results that a tree over the blocks brings together, all levels added up."""
    total, level = 0, blocks
    while level > 1:
        full, rest = divmod(level, _FAN_IN)
        total += level - (rest == 1)
        level = full + (rest > 0)
    return total


def jobs(quick: bool) -> list[Job]:
    """What is measured."""
    tall = (20_000, 10, 8) if quick else (1_000_000, 100, 40)
    graph = (600, 8, 4) if quick else (20_000, 50, 16)
    return [*_row_jobs(tall), *_graph_jobs(graph)]


def _row_jobs(shape: tuple[int, int, int]) -> list[Job]:
    """Sums over samples."""
    from benchmarks.reductions import least_squares, randomized_svd
    from columnist import ColumnSelector
    from columnist.spectral import MRSF, FisherScore

    w = min(15, shape[1])  # directions of the randomized decomposition

    def moments(extra: int) -> Callable[..., float]:
        return lambda n, m, p, _: merged_results(p) * ((m + extra) ** 2 + m + extra)

    return [
        Job(
            "ColumnSelector(5)", "5.3", shape,
            lambda X, _: ColumnSelector(5, time_limit=5.0).fit(X),
            lambda n, m, p, _: n * m**2, moments(0),
        ),
        Job(
            "least_squares, 2 targets", "5.3", shape,
            lambda X, _: least_squares(X, X[:, :2]),
            lambda n, m, p, _: n * (m + 2) ** 2, moments(2),
        ),
        Job(
            "randomized_svd, 5 values", "5.8", shape,
            lambda X, _: randomized_svd(X, 5, random_state=0),
            lambda n, m, p, _: 4 * 2 * n * m * w + n * w * (m + w),
            lambda n, m, p, _: merged_results(p) * (4 * (m + 1) * (w + 1) + w**2 + w),
        ),
        Job(
            "FisherScore, 3 classes", "5.11", shape,
            lambda X, y: FisherScore(5).fit(X, y),
            lambda n, m, p, _: 2 * n * m, lambda n, m, p, _: merged_results(p) * (3 + 6 * m + 1),
            _classes,
        ),
        Job(
            "MRSF(5), 3 classes", "5.38", shape,
            lambda X, y: MRSF(5, response="lda").fit(X, y),
            lambda n, m, p, _: n * (m + 3) ** 2, moments(3), _classes,
        ),
    ]  # fmt: skip


def _graph_jobs(shape: tuple[int, int, int]) -> list[Job]:
    """Sums over pairs of samples."""
    from columnist.spectral import MCSF, LaplacianScore, SpectralSelector, knn_similarity

    return [
        Job(
            "knn_similarity, 5 neighbours", "5.7", shape,
            lambda X, _: knn_similarity(X, n_neighbors=5),
            lambda n, m, p, _: float(n) * n * m, lambda n, m, p, _: 2.0 * 5 * n * (p + 1),
        ),
        Job(
            "SpectralSelector(5), that graph", "5.9", shape,
            lambda X, S: SpectralSelector(5, similarity=S).fit(X),
            lambda n, m, p, S: S.matrix.nnz * m + 5 * n * m,
            lambda n, m, p, _: p * (p + 1) / 2 * m + merged_results(p) * (4 * m + 2), _graph,
        ),
        Job(
            "LaplacianScore(5), that graph", "5.9", shape,
            lambda X, S: LaplacianScore(5, similarity=S).fit(X),
            lambda n, m, p, S: S.matrix.nnz * m + 5 * n * m,
            lambda n, m, p, _: p * (p + 1) / 2 * m + merged_results(p) * (4 * m + 2), _graph,
        ),
        Job(
            "MCSF(5), that graph", "5.46", shape,
            lambda X, S: MCSF(5, similarity=S).fit(X),
            lambda n, m, p, S: n * m**2 + S.matrix.nnz * m / 2 + n * m * (p + 1) / 2,
            lambda n, m, p, _: p * (p + 1) / 2 * m + merged_results(p) * (m**2 + 3 * m), _graph,
        ),
    ]  # fmt: skip


def _classes(X) -> np.ndarray:
    """Three classes that the first two columns tell apart."""
    first = X[:, :2].compute()
    return (first[:, 0] > 0).astype(int) + (first[:, 1] > 0)


def _graph(X):
    """The graph of neighbours, found in memory."""
    from columnist.spectral import knn_similarity

    return knn_similarity(X.compute(), n_neighbors=5)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per job and number of workers."""
    found = []
    for workers in WORKERS:
        with local_cluster(workers) as client:
            found += [measure(job, client, workers, 1 if quick else 3) for job in jobs(quick)]
    return sorted(found, key=lambda row: (row["job"], row["workers"]))


def measure(job: Job, client, workers: int, repeats: int) -> Row:
    """Count and time one job."""
    from distributed import wait

    from benchmarks.counting import count_cost

    n, m, blocks = job.shape
    X = client.persist(data(n, m, blocks))
    wait(X)
    given = job.prepare(X)
    job.run(X, given)  # workers import what they need
    best: Row = {}
    for _ in range(repeats):
        started = time.perf_counter()
        with count_cost() as cost:
            job.run(X, given)
        total = time.perf_counter() - started
        if not best or cost.seconds < best["seconds"]:
            best = {"seconds": cost.seconds, "client [s]": total - cost.seconds}
    results = cost.visits + cost.merges
    return {
        "set": f"{job.name}, {workers}",
        "job": job.name,
        "equation": job.equation,
        "samples": n,
        "features": m,
        "blocks": blocks,
        "workers": workers,
        **best,
        "passes": cost.passes,
        "operations": cost.operations,
        "formula": float(job.operations(n, m, blocks, given)),
        "MB reduced": cost.reduced / 1e6,
        "MB formula": 8.0 * job.numbers(n, m, blocks, given) / 1e6,
        "MB broadcast": cost.broadcast / 1e6,
        "bytes a result": cost.reduced / max(results - cost.passes, 1),
    }


def data(n: int, m: int, blocks: int):
    """Rows around a few directions; the same for every number of blocks is not needed here."""
    import dask.array as da

    height = -(-n // blocks)
    draw = partial(_block, width=m)
    return da.map_blocks(
        draw, da.arange(blocks, chunks=1), height, n, dtype=float,
        chunks=(tuple(min(height, n - i * height) for i in range(blocks)), (m,)), new_axis=1,
    )  # fmt: skip


def _block(index, height: int, n: int, width: int) -> np.ndarray:
    index = int(index[0])
    rng = np.random.default_rng([3, index])
    turn = np.random.default_rng(3).standard_normal((5, width))
    m = min(height, n - index * height)
    return rng.standard_normal((m, 5)) @ turn + rng.standard_normal((m, width))


def predicted(row: Row, workers: int) -> float:
    """Seconds on more workers, from a row that was measured on one."""
    steps = math.ceil(math.log2(workers)) if workers > 1 else 0
    sent = row["bytes a result"] + 1e6 * row["MB broadcast"] / max(row["passes"], 1)
    network = row["passes"] * steps * (sent / BANDWIDTH + LATENCY)
    return row["seconds"] / workers + network + row["client [s]"]


def tables(measured: list[Row]) -> dict[str, list[Row]]:
    """Counters against formulas, and time against workers."""
    first = [row for row in measured if row["workers"] == 1]
    return {
        "Operations: the book's formula, ours, and counted": [_operations(row) for row in first],
        "Transmissions: ours, and counted": [_counted(row) for row in first],
        "Time over workers": [_times(row, measured) for row in first],
    }


K = SELECTED = 5
"""Neighbours of the graphs, and features to be selected, of every job."""

BOOK: dict[str, Callable[[int, int, int], float]] = {
    "5.3": lambda n, m, p: n * m**2 + p * m**3,
    "5.7": lambda n, m, p: (m + math.log2(K)) * n**2,
    "5.9": lambda n, m, p: m * n**2 + p * m * n * math.log2(p),
    "5.11": lambda n, m, p: m * n**2 + p * m * n * math.log2(p),
    "5.46": lambda n, m, p: (n + SELECTED) * (m * n + p * m * math.log2(p)),
}
"""Operations by the book, of all p processes; (5.8) and (5.38) count iterations that differ."""

DIFFERENCE = {
    "5.3": "the book factorises m x m on every process, we once on the client (not counted)",
    "5.7": "we multiply blocks and keep k of each row without counting comparisons",
    "5.8": "the book restarts Lanczos an unknown number of times; ours is a randomized iteration",
    "5.9": "the book multiplies with a dense similarity, we with its links only",
    "5.11": "the book forms the class similarity, we need sums by class only",
    "5.38": "the book passes over the rows in every iteration, we once",
    "5.46": "the book passes over a dense similarity for every feature, we over its links once",
}


def _operations(row: Row) -> Row:
    n, m, p, equation = (row[key] for key in ("samples", "features", "blocks", "equation"))
    book = BOOK[equation](n, m, p) if equation in BOOK else None
    shown = ("job", "equation", "samples", "features", "blocks")
    return {key: row[key] for key in shown} | {
        "book": book,
        "ours": row["formula"],
        "counted": row["operations"],
        "counted / book": row["operations"] / book if book else None,
        "counted / ours": row["operations"] / row["formula"],
        "why they differ": DIFFERENCE[equation],
    }


def _counted(row: Row) -> Row:
    return {key: row[key] for key in ("job", "passes")} | {
        "MB ours": row["MB formula"],
        "MB reduced": row["MB reduced"],
        "MB counted / ours": row["MB reduced"] / row["MB formula"],
        "MB broadcast": row["MB broadcast"],
    }


def _times(row: Row, measured: list[Row]) -> Row:
    two = next(r for r in measured if r["job"] == row["job"] and r["workers"] == 2)
    total = row["seconds"] + row["client [s]"]
    line = {"job": row["job"], "client [s]": row["client [s]"], "1 worker [s]": total}
    line["2 workers [s]"] = two["seconds"] + two["client [s]"]
    line |= {f"model, {p} [s]": predicted(row, p) for p in EXTRAPOLATED}
    return line | {"speed-up, 64": total / predicted(row, 64)}
