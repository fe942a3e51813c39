"""How much does a path of row-sparse least squares cost, compared with full solves?

X of 1000 x 10,000 and 10 responses, as in the third document's table 3.1 (``python -m reproduction
zl-3.1`` compares with its figures), which does not say how its data were drawn. Uniform entries,
not centred, give about its numbers of features and iterations; standard normal ones are much
easier for gradient steps.

50 features, one by one, against one full solve at the penalty where the path ends, cold
start, at several gaps (at 1e-12 the optimality conditions hold about as well as along the path).
"Search" is what asking for a number of features takes with full solves: bisection of the penalty,
warm starts. scikit-learn: ``MultiTaskLasso`` at the same penalty, which skips features that are
provably zero. Processor time of one thread each; 1000 gradient evaluations at most.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import MultiTaskLasso
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, timed
from columnist.linalg._prox import row_norms
from columnist.spectral._features import ScaledColumns
from columnist.spectral._l21 import l21_regression
from columnist.spectral._l21_path import l21_path
from reproduction.row_sparse_tables import MAX_ITER, SHAPE, SIZE

__all__ = ["TITLE", "rows"]

TITLE = "Row-sparse least squares: the path against full solves"

QUICK_SHAPE, QUICK_SIZE = (60, 150, 3), 8
GAPS = (1e-4, 1e-8, 1e-12)
# What is asked for: the ratio of one full solve to the path.
TARGET = 4


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """The path and full solves, for two kinds of entries."""
    shape, size = (QUICK_SHAPE, QUICK_SIZE) if quick else (SHAPE, SIZE)
    found: list[Row] = []
    with threadpool_limits(1, user_api="blas"):
        for kind in ("uniform", "normal"):
            X, Y = draw(kind, *shape)
            found += compare(kind, X, Y, size)
    return found


def draw(kind: str, n: int, m: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent entries of X and Y."""
    rng = np.random.default_rng(0)
    entries = rng.random if kind == "uniform" else rng.standard_normal
    return entries((n, m)), entries((n, q))


def compare(kind: str, X: np.ndarray, Y: np.ndarray, size: int) -> Iterator[Row]:
    """The path, and full solves at its end."""
    clock = time.process_time
    seconds, path = best_of(
        lambda: l21_path(ScaledColumns.plain(X), Y, size), 2.0, least=2, clock=clock
    )
    end = path.knots[-1]
    W = np.zeros((X.shape[1], Y.shape[1]))
    W[end.rows] = end.coef

    def row(how: str, spent: float, other: np.ndarray, kkt, iterations) -> Row:
        return {
            "entries": kind,
            "asked": size,
            "how": how,
            "seconds": spent,
            "ratio to the path": spent / seconds,
            "target": f">= {TARGET}" if how.startswith("accelerated") and size == SIZE else "",
            "iterations": iterations,
            "features": count(other),
            "KKT violation": kkt,
            "distance": float(np.abs(other - W).max()),
        }

    yield row("path", seconds, W, max(knot.kkt for knot in path.knots), len(path.knots))
    for solver in ("accelerated", "coordinate"):
        for gap in GAPS:
            spent, found = timed(lambda s=solver, g=gap: solve(X, Y, s, g, alpha=end.alpha), clock)
            yield row(f"{solver}, gap {gap:g}", spent, found.W, found.kkt, found.n_iter)
            if not found.converged:
                break
    if kind == "normal":
        spent, (steps, found) = timed(lambda: search(X, Y, size), clock)
        yield row(f"search, {steps} solves, gap {GAPS[0]:g}", spent, found.W, found.kkt, "")
    spent, model = timed(lambda: peer(X, Y, end.alpha), clock)
    yield row("MultiTaskLasso, tol 1e-8", spent, model.coef_.T, "", int(model.n_iter_))


def solve(X, Y, solver: str, gap: float, *, alpha: float):
    """One cold solve; at the strictest gap rounding may keep it from the end, which is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return l21_regression(X, Y, alpha=alpha, solver=solver, tol=gap, max_iter=MAX_ITER)


def search(X: np.ndarray, Y: np.ndarray, size: int):
    """Bisection of the penalty until the solution has as many features as asked for."""
    low, high, start, steps, features = 0.0, 1.0, None, 0, -1
    while features != size and steps < 40:
        ratio, steps = 0.5 * (low + high), steps + 1
        found = l21_regression(X, Y, alpha_ratio=ratio, start=start, tol=GAPS[0], max_iter=MAX_ITER)
        start, features = found.W, count(found.W)
        low, high = (ratio, high) if features > size else (low, ratio)
    return steps, found


def peer(X: np.ndarray, Y: np.ndarray, alpha: float) -> MultiTaskLasso:
    """scikit-learn's solution for the same penalty."""
    model = MultiTaskLasso(alpha=alpha / len(X), fit_intercept=False, tol=1e-8, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, Y)


def count(W: np.ndarray) -> int:
    """Features with a coefficient."""
    return int(np.count_nonzero(row_norms(W)))
