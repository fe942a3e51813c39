"""Generated designs: columns of an autoregression, and the case of a README."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.against.area import Area, Problem
from benchmarks.against.protocol import Contender
from benchmarks.subset.judge import OURS, Settings, area, centred, prototype, subset

__all__ = ["autoregression", "designs", "readme_case", "readme_data", "regression"]

SHAPES = ((2500, 500), (5000, 1000), (10000, 3000))
CORRELATIONS = (0.0, 0.5, 0.8, 0.9)
SIGNALS = (0.2, 1.0, 5.0)
# Fewer rows for each column: rows, columns, correlation, signal to noise.
SHORT = ((1000, 500, 0.5, 1.0), (2000, 1000, 0.5, 1.0))
DRAWS = 5
RIDGES = (0.2, 0.05, 0.01)  # as L0BnB counts them: lambda_2

DESIGNS = """Best subsets of generated columns

Neighbouring columns have the correlation of the name, distant ones its powers; k true coefficients
are 1, at equal distances, and the variance of the signal is that of the noise times "signal". Draws
differ in their seed. Error is the share of the variance that least squares on the chosen columns
leave. OKRidge is called as in its README: ridge 0.1, which is little beside the squared length of a
column (the number of rows), and a gap of 1e-4, of the variance explained, counts as a proof. Ours
and the prototypes have no ridge and prove the optimum. All gaps are shares of the error. abess
proves nothing."""

README = """The case of a README: more columns than rows

1000 rows, 10,000 columns, 10 true ones: the data of L0BnB's README, with columns and target of
length one, as it makes them. The objective is ||y - Xb||^2 + alpha ||b||^2; L0BnB's lambda_2 stands
beside half of the squares, so that alpha is twice as large. L0BnB is asked for its path up to 10
columns, where every solution is proven to 1 %, for its price of a column and within a box for the
coefficients; its answer here is the last one with at most 10 columns. Ours has no box."""


def autoregression(n: int, m: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Columns of variance one; the correlation of columns i and j is rho^|i - j|."""
    X = rng.standard_normal((n, m))
    for j in range(1, m):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return X


def true_columns(m: int, k: int) -> np.ndarray:
    """k columns at equal distances."""
    return (np.arange(k) * m) // k


def regression(
    n: int, m: int, rho: float, signal: float, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """A design and its target."""
    rng = np.random.default_rng(seed)
    X = autoregression(n, m, rho, rng)
    clean = X[:, true_columns(m, k)].sum(axis=1)
    return X, clean + np.sqrt(clean.var() / signal) * rng.standard_normal(n)


def design_problems(settings: Settings, sets: Any, quick: bool) -> Iterator[Problem]:
    """Every draw is a problem of its own: large ones do not fit in memory together."""
    cells = [(*shape, rho, s) for shape, rho, s in product(SHAPES, CORRELATIONS, SIGNALS)]
    if quick:
        cells = [(120, 30, 0.5, 1.0)]
    for n, m, rho, signal in cells if quick else [*SHORT, *cells]:
        k = 3 if quick else 10
        for draw in range(1 if quick else DRAWS):
            name = f"AR {rho:g}, signal {signal:g}, draw {draw}"
            if settings.wants(f"{name}, {n} x {m}, k = {k}"):  # before it is drawn
                yield centred(name, *regression(n, m, rho, signal, k, draw), k=k)


def design_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours, the prototype, and those who prove or splice."""
    k = dict(problem.given)
    return [
        subset(settings, problem),
        *prototype(settings, problem, "bss2", "solve2"),
        Contender("okridge", "BNBTree", "okridge.select", OURS, k | limit(settings)),
        Contender("abess", "splicing", "abess.select", OURS, k),
    ]


def limit(settings: Settings) -> dict[str, float]:
    """The seconds of a search."""
    return {"time_limit": settings.seconds}


def designs(settings: Settings) -> Area:
    """The part of the AR designs."""
    return area("designs", DESIGNS, settings, partial(design_problems, settings), design_calls)


def readme_data(n: int, m: int, k: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The numbers that L0BnB's ``gen_synthetic`` draws (no correlation, signal to noise 10)."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, m))
    rng.normal(size=(n, 1))  # a common term, whose weight is zero
    clean = X[:, true_columns(m, k)].sum(axis=1)
    return X, clean + rng.normal(size=n, scale=np.std(clean, ddof=1) / np.sqrt(10.0))


def readme_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """Columns and target of length one."""
    n, m, k = (40, 60, 3) if quick else (1000, 10_000, 10)
    X, y = readme_data(n, m, k)
    X, y = X - X.mean(axis=0), y - y.mean()
    X, y = X / np.linalg.norm(X, axis=0), y / np.linalg.norm(y)
    for ridge in RIDGES[:1] if quick else RIDGES:
        yield centred(f"README of L0BnB, lambda_2 = {ridge:g}", X, y, k=k, alpha=2.0 * ridge)


def readme_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours and L0BnB."""
    given = dict(problem.given) | limit(settings)
    return [
        subset(settings, problem),
        Contender("l0bnb", "path", "l0bnb.path", OURS, given),
    ]


def readme_case(settings: Settings) -> Area:
    """The part of L0BnB's README."""
    return area("readme_case", README, settings, readme_problems, readme_calls)
