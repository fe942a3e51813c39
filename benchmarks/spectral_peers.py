"""How fast are the spectral scores next to skfeature-chappers, and how large can data be?

The Laplacian score and the second SPEC score of 2000 x 1000 data with a graph of 5 neighbours,
the graph included: processor time of one thread, smallest of several runs (one run for SPEC of
skfeature, which takes long). "Faster" is that time divided by ours, in the same run. skfeature's
SPEC builds its own dense kernel, so it is also given our graph. "Same ranking" tells whether its
Laplacian score ranks as ours does on the same graph (its SPEC ranks backwards and is not compared).

The last row is one long run: 200,000 x 500 in single precision, 10 approximate neighbours. Memory
is the largest resident size before the graph and at the end, so their difference is what graph and
score took beside the data; a dense graph would take 320 GB.
"""

from __future__ import annotations

import resource
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, timed
from columnist.spectral import LaplacianScore, SpectralSelector, knn_similarity

__all__ = ["TITLE", "rows", "tables"]

TITLE = "Spectral scores against skfeature-chappers (one thread, processor time)"


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per program and score."""
    n, m, budget = (200, 50, 0.0) if quick else (2000, 1000, 2.0)
    X = clusters(n, m)
    with threadpool_limits(1):
        found = ours(X, budget)
        try:
            release = version("skfeature-chappers")
        except PackageNotFoundError:
            sets.say("skipped skfeature-chappers: not installed")
        else:
            found += theirs(X, f"skfeature-chappers {release}", found, budget)
        try:
            found.append(large(*((2000, 20) if quick else (200_000, 500))))
        except ImportError as error:
            sets.say(f"skipped the large graph: {error}")
    return found


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """The comparison, and the long run."""
    parts = {"": [row for row in rows if "edges" not in row]}
    long = [row for row in rows if "edges" in row]
    return {**parts, "Many samples": long} if long else parts


def clusters(n: int, m: int, dtype=np.float64) -> np.ndarray:
    """Samples of ten kinds, told apart by a tenth of the features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m), dtype=np.float32).astype(dtype, copy=False)
    informative = m // 10
    X[:, :informative] += 3.0 * rng.standard_normal((10, informative))[rng.integers(0, 10, n)]
    return X


def ours(X: np.ndarray, budget: float) -> list[Row]:
    """Our two rows; the second differs from the first by its name only."""
    found = []
    for call, selector in (
        ("LaplacianScore", LaplacianScore()),
        ("SpectralSelector, phi2", SpectralSelector(score="phi2")),
    ):
        seconds, _ = best_of(lambda s=selector: s.fit(X), budget, clock=time.process_time)
        found.append(row(X, "columnist", call, seconds))
    return found


def theirs(X: np.ndarray, program: str, found: list[Row], budget: float) -> list[Row]:
    """The same by skfeature: its graph and Laplacian score, and its SPEC on two graphs."""
    from skfeature.function.similarity_based import SPEC, lap_score
    from skfeature.utility.construct_W import construct_W

    laplacian, spectral = found
    options = {"neighbor_mode": "knn", "weight_mode": "heat_kernel", "k": 5, "t": 1000.0}

    def graph_and_score():
        W = construct_W(X, metric="euclidean", **options)
        return W, lap_score.lap_score(X, mode="index", W=W)

    seconds, (W, ranking) = best_of(graph_and_score, budget, clock=time.process_time)
    same = bool((LaplacianScore(similarity=W).fit(X).ranking_ == ranking).all())
    rows = [row(X, program, "construct_W, lap_score", seconds, laplacian, ">= 3", same)]
    graph = knn_similarity(X).matrix
    for call, given in (("SPEC, own kernel", {}), ("SPEC, our graph", {"W": graph})):
        seconds, _ = timed(
            lambda given=given: SPEC.spec(X, mode="raw", style=0, **given), time.process_time
        )
        rows.append(row(X, program, call, seconds, spectral, ">= 40"))
    return rows


def large(n: int, m: int) -> Row:
    """One run on many samples."""
    X = clusters(n, m, np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, S = timed(lambda: knn_similarity(X, n_neighbors=10, neighbors="approximate", n_jobs=1))
    score_seconds, selector = timed(lambda: LaplacianScore(m // 10, similarity=S).fit(X))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "set": f"{n} x {m}",
        "program": "columnist",
        "call": "10 approximate neighbours, LaplacianScore",
        "ms": 1e3 * (seconds + score_seconds),
        "score ms": 1e3 * score_seconds,
        "edges": S.matrix.nnz // 2,
        "MB data": X.nbytes / 1e6,
        "MB peak above": (after - before) / 1e3,
        "informative": float((selector.selected_ < m // 10).mean()),
    }


def row(
    X: np.ndarray,
    program: str,
    call: str,
    seconds: float,
    reference: Row | None = None,
    demand: str = "",
    same: bool | None = None,
) -> Row:
    """A line of the table; ``reference`` is our line for the same score."""
    return {
        "set": f"{X.shape[0]} x {X.shape[1]}",
        "program": program,
        "call": call,
        "ms": 1e3 * seconds,
        "faster": 1e3 * seconds / reference["ms"] if reference else 1.0,
        "demand": demand,
        "same ranking": same,
    }
