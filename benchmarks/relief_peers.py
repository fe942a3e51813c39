"""How fast is ReliefF next to other programs, and do they agree?

Random data with a few informative features, classes of unequal size, ten neighbours. fast-select
compiles at its first call, which is not counted; from then on the two programs take turns, and the
smallest times count. "Faster" is the time of fast-select divided by ours. It computes in single
precision, which bounds the agreement of the scores: differences are divided by the largest score.

scikit-rebate gives all other classes the same weight, so it is compared where that makes no
difference: on classes of equal size.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.spectral.relief import ReliefF

__all__ = ["TITLE", "rows"]

TITLE = "ReliefF against other programs"
# Samples, features, classes.
SHAPES = [(1000, 200, 3), (500, 5000, 2), (5000, 50, 4)]
QUICK_SHAPES = [(120, 10, 3)]
N_NEIGHBORS = 10


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per shape, number of threads and program."""
    found: list[Row] = []
    with threadpool_limits(1, user_api="blas"):
        if known("fast-select", sets.say):
            for shape in QUICK_SHAPES if quick else SHAPES:
                X, y = labelled(*shape)
                for threads in (1, 2):
                    found += against("fast-select", fast_select, X, y, threads, 1 if quick else 10)
        if known("skrebate", sets.say):
            X, y = labelled(*((60, 5, 3) if quick else (300, 20, 3)), balanced=True)
            found += against("skrebate", skrebate, X, y, 1, 1)
    return found


def known(package: str, say: Callable[[str], object]) -> bool:
    """Whether a package is installed; says so if not."""
    try:
        version(package)
    except PackageNotFoundError:
        say(f"skipped {package}: not installed")
        return False
    return True


def against(package: str, scores: Callable, X, y, threads: int, repeats: int) -> list[Row]:
    """Our row and theirs."""
    calls = {
        "columnist": lambda: ReliefF(n_neighbors=N_NEIGHBORS, n_jobs=threads).fit(X, y).scores_,
        f"{package} {version(package)}": lambda: scores(X, y, threads),
    }
    for call in calls.values():
        call()
    runs: dict[str, list[tuple]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            runs[name].append(clocks(call))
    best = {name: [least(values) for values in zip(*runs[name], strict=True)] for name in calls}
    our_wall, our_processor, expected = best["columnist"]
    return [
        {
            "set": f"{X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes",
            "threads": threads,
            "program": name,
            "wall [ms]": 1e3 * wall,
            "processor [ms]": 1e3 * processor,
            "faster, wall": wall / our_wall,
            "faster, processor": processor / our_processor,
            "difference": float(np.abs(result - expected).max() / np.abs(expected).max()),
        }
        for name, (wall, processor, result) in best.items()
    ]


def clocks(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds, processor seconds and result of a call."""
    wall, (processor, result) = timed(lambda: timed(call, time.process_time))
    return wall, processor, result


def least(values):
    """The smallest time; of results, which are all the same, the first."""
    return min(values) if isinstance(values[0], float) else values[0]


def labelled(n: int, m: int, c: int, balanced: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian samples of c classes, told apart by a tenth of the features."""
    rng = np.random.default_rng(0)
    shares = np.ones(c) if balanced else np.arange(1.0, c + 1.0)
    edges = np.round(n * np.cumsum(shares) / shares.sum())
    y = np.searchsorted(edges, np.arange(n), side="right")
    X = rng.standard_normal((n, m))
    X[:, : m // 10] += rng.standard_normal((c, m // 10))[y]
    return X, y


def fast_select(X: np.ndarray, y: np.ndarray, threads: int) -> np.ndarray:
    """Scores of fast-select; no feature counts as discrete."""
    from fast_select import ReliefF as Peer

    peer = Peer(1, discrete_limit=0, n_neighbors=N_NEIGHBORS, backend="cpu", n_jobs=threads)
    return peer.fit(X, y).feature_importances_


def skrebate(X: np.ndarray, y: np.ndarray, threads: int) -> np.ndarray:
    """Scores of scikit-rebate, which shifts and scales the data it is given."""
    from skrebate import ReliefF as Peer

    peer = Peer(1, n_neighbors=N_NEIGHBORS, n_jobs=threads)
    return peer.fit(X.copy(), y).feature_importances_
