"""How many samples can a spectral score take?

One long run: 200,000 x 500 in single precision, 10 approximate neighbours. Memory is the largest
resident size before the graph and at the end, so their difference is what graph and score took
beside the data; a dense graph would take 320 GB.
"""

from __future__ import annotations

import resource

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.spectral import LaplacianScore, knn_similarity

__all__ = ["TITLE", "rows"]

TITLE = "A Laplacian score of many samples (one thread)"


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row."""
    try:
        with threadpool_limits(1):
            return [large(*((2000, 20) if quick else (200_000, 500)))]
    except ImportError as error:
        sets.say(f"skipped the large graph: {error}")
        return []


def clusters(n: int, m: int, dtype=np.float64) -> np.ndarray:
    """Samples of ten kinds, told apart by a tenth of the features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m), dtype=np.float32).astype(dtype, copy=False)
    informative = m // 10
    X[:, :informative] += 3.0 * rng.standard_normal((10, informative))[rng.integers(0, 10, n)]
    return X


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
