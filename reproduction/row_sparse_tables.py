"""Solvers of row-sparse least squares: table 3.1 and example 16 of the book."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from columnist.spectral._features import ScaledColumns
from columnist.spectral._l21 import l21_regression
from columnist.spectral._l21_path import l21_path
from reproduction.cells import Cell, compare, not_possible, skipped
from reproduction.printed import printed
from reproduction.registry import PrintedTable, Run

__all__ = ["TABLES", "Solve", "draw", "solved"]

SHAPE, SIZE, MAX_ITER, GAP = (1000, 10_000, 10), 50, 1000, 1e-4

OTHER_DATA = "unknown; the distribution of the data is not stated, ours has uniform entries"
OTHER_STOP = "neither the stopping rule nor the distribution of the data is stated"
OTHER_MACHINE = "a time on another machine"


class Solve(NamedTuple):
    """One solution: features with a coefficient, norm of the rest, iterations and seconds."""

    features: int
    residual: float
    iterations: int
    seconds: float


@cache
def draw(n: int, m: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent uniform entries of X and Y."""
    rng = np.random.default_rng(0)
    return rng.random((n, m)), rng.random((n, q))


def solved(X: np.ndarray, Y: np.ndarray, ratio: float, solver: str) -> Solve:
    """The solution for a share of the penalty from which on all coefficients are zero.

    Without a penalty it is the shortest of those that fit exactly.
    """
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterations that run out are told by their number
        started = time.process_time()
        if ratio == 0.0:
            W, iterations = X.T @ np.linalg.solve(X @ X.T, Y), 1
        else:
            options: dict[str, Any] = {"tol": GAP, "max_iter": MAX_ITER, "solver": solver}
            found = l21_regression(X, Y, alpha_ratio=ratio, **options)
            W, iterations = found.W, found.n_iter
        seconds = time.process_time() - started
    features = int(np.count_nonzero(np.any(W != 0.0, axis=1)))
    return Solve(features, float(np.linalg.norm(Y - X @ W)), iterations, seconds)


@cache
def accelerated(ratio: float) -> Solve:
    """One accelerated solve of the printed size, cold."""
    return solved(*draw(*SHAPE), ratio, "accelerated")


def penalty_cells(run: Run) -> Iterator[Cell]:
    """Table 3.1, penalty by penalty: counts and residuals of the solution, then its cost."""
    for row in printed("zl-3.1"):
        ratio, where = float(row["penalty"]), f"penalty {row['penalty']}"
        exact = solved(*draw(*SHAPE), ratio, "coordinate")
        figures = {"features": exact.features, "residual": exact.residual}
        for what, ours in figures.items():
            units = 0 if what == "features" else 1.0
            yield compare(f"{where}, {what}", row[what], ours, units=units, why=OTHER_DATA)
        costs = {"iterations": OTHER_STOP, "seconds": OTHER_MACHINE}
        costs["seconds per iteration"] = OTHER_MACHINE
        if run.quick or ratio == 0.0:
            for what, why in costs.items():
                cell = f"{where}, {what}", row[what]
                yield skipped(*cell) if run.quick else not_possible(*cell, why)
            continue
        found = accelerated(ratio)
        per_iteration = found.seconds / found.iterations
        taken = (found.iterations, found.seconds, per_iteration)
        for (what, why), value in zip(costs.items(), taken, strict=True):
            yield not_possible(f"{where}, {what}", row[what], why, value)


def path_cells(run: Run) -> Iterator[Cell]:
    """Example 16: 50 features one by one."""
    X, Y = draw(*SHAPE)
    figures = {
        row["what"]: row["value"] for row in printed("zl-examples") if row["example"] == "16"
    }
    with threadpool_limits(1):
        started = time.process_time()
        path = l21_path(ScaledColumns.plain(X), Y, SIZE)
        seconds = time.process_time() - started
    end = path.knots[-1]
    residual = float(np.linalg.norm(Y - X[:, end.rows] @ end.coef))
    why = "ours follows the path from knot to knot, one feature at a time, without a solver"
    ours = {
        "iterations of MRSF": (len(path.knots), why),
        "seconds of MRSF": (seconds, OTHER_MACHINE),
        "residual of MRSF": (residual, OTHER_DATA),
    }
    for what, value in figures.items():
        if what == "residual of MRSF":
            yield compare(what, value, residual, why=OTHER_DATA)
        else:
            found, reason = ours.get(what, (None, why))
            yield not_possible(what, value, reason, found)
    where, said = "an accelerated solve at half of the largest penalty, in times of MRSF", "4"
    if run.quick:
        yield skipped(where, said)
    else:
        ratio = accelerated(0.5).seconds / seconds
        yield not_possible(where, said, "a ratio of times on another machine", ratio)


TABLES = (
    PrintedTable(
        "zl-3.1",
        "Accelerated gradients for row-sparse least squares",
        penalty_cells,
        "X of 1000 x 10,000 and 10 responses. Penalties are shares of the one from which on all "
        "coefficients are zero. Features and residuals are those of the solution (coordinate "
        f"descent, relative gap {GAP:g}); iterations and seconds those of the accelerated solver, "
        f"at most {MAX_ITER} iterations, one thread.",
    ),
    PrintedTable(
        "zl-ex16",
        "Fifty features by the path of MRSF",
        path_cells,
        "The data of table 3.1; processor time of one thread.",
    ),
)
