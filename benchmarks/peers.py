"""How fast is forward selection next to other programs?

Processor time of one thread for every program, smallest of several runs, random data; the
whole call with its checks of the input. "Faster" is that time divided by ours, in the same run.

Choosing 50 of 500 columns to approximate X itself: SciPy's pivoted QR is timed as the
cheapest call that yields the pivots (mode "r"), and with the basis (mode "economic").
fastcan makes its targets orthonormal, so that with X itself as the target every column is
equally good: it answers the same question in form only, and its error shows it. Its manual
proposes principal components as targets instead; 50 of them, their computation included,
give a sensible choice of a related problem. The demand is read as X for the target and the
faster of fastcan's two algorithms (eta); against the components with eta the factor is about
twenty, not fifty.

Choosing 20 of 1000 columns for 20 targets: abess swaps columns after its first choice, which
is more than a forward selection does; on these data both end at the same error.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of
from columnist.selection import ForwardSelector

__all__ = ["TITLE", "rows"]

TITLE = "Forward selection against other programs (one thread, processor time)"


@dataclass(frozen=True)
class Contender:
    """A program: its package, how it is called, and the factor by which we must be faster."""

    package: str
    call: str
    choose: Callable[[], Any]
    demand: str = ""


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per program and problem."""
    shrink, budget = (10, 0.0) if quick else (1, 1.0)
    with threadpool_limits(1):
        return [
            *itself(2000 // shrink, 500 // shrink, 50 // shrink, budget, sets.say),
            *many_targets(2000 // shrink, 1000 // shrink, 20, 20 // shrink, budget, sets.say),
        ]


def itself(m: int, n: int, k: int, budget: float, say) -> list[Row]:
    """Columns that approximate the matrix they are part of."""
    X = decaying(m, n)
    contenders = [
        Contender("columnist", "ForwardSelector", lambda: ForwardSelector(k).fit(X).selected_),
        Contender("scipy", 'qr, pivoting, mode "r"', lambda: pivots(X, k, "r"), ">= 1"),
        Contender("scipy", 'qr, pivoting, "economic"', lambda: pivots(X, k, "economic")),
        Contender("fastcan", "target X, eta", lambda: fastcan(X, X, k, eta=True), ">= 50"),
        Contender("fastcan", "target X", lambda: fastcan(X, X, k)),
        Contender("fastcan", f"{k} components, eta", lambda: fastcan(X, components(X, k), k, True)),
        Contender("fastcan", f"{k} components", lambda: fastcan(X, components(X, k), k)),
    ]
    return compare(f"X, {m} x {n}, k = {k}", X, X, contenders, budget, say)


def many_targets(m: int, n: int, n_targets: int, k: int, budget: float, say) -> list[Row]:
    """Columns that approximate several targets."""
    X, Y = regression(m, n, n_targets)
    contenders = [
        Contender("columnist", "ForwardSelector", lambda: ForwardSelector(k).fit(X, Y).selected_),
        Contender("abess", "MultiTaskRegression", lambda: abess(X, Y, k), ">= 1"),
        Contender("abess", "searches all columns", lambda: abess(X, Y, k, important_search=0)),
    ]
    return compare(f"{n_targets} targets, {m} x {n}, k = {k}", X, Y, contenders, budget, say)


def compare(name: str, X, Y, contenders: list[Contender], budget: float, say) -> list[Row]:
    """Times and errors; the first contender is ours."""
    found: list[Row] = []
    for contender in contenders:
        try:
            release = version(contender.package)
        except PackageNotFoundError:
            say(f"skipped {contender.package}: not installed")
            continue
        import_module(contender.package)
        seconds, chosen = best_of(contender.choose, budget, least=1, clock=time.process_time)
        found.append(
            {
                "set": name,
                "program": f"{contender.package} {release}",
                "call": contender.call,
                "ms": 1e3 * seconds,
                "faster": seconds / (found[0]["ms"] / 1e3) if found else 1.0,
                "demand": contender.demand,
                "relative error": relative_error(X, Y, chosen),
            }
        )
    return found


def decaying(m: int, n: int) -> np.ndarray:
    """Centred columns whose singular values decay slowly."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = (rng.standard_normal((m, n)) * np.arange(1, n + 1) ** -0.5) @ rotation
    return X - X.mean(axis=0)


def regression(m: int, n: int, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Centred data and targets that depend on a twenty-fifth of the columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    coef = np.zeros((n, n_targets))
    coef[rng.choice(n, n // 25, replace=False)] = rng.standard_normal((n // 25, n_targets))
    Y = X @ coef + 5.0 * rng.standard_normal((m, n_targets))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def relative_error(X: np.ndarray, Y: np.ndarray, chosen: np.ndarray) -> float:
    """Share of the target's squared norm that the chosen columns leave."""
    Q = np.linalg.qr(X[:, chosen])[0]
    return float(((Y - Q @ (Q.T @ Y)) ** 2).sum() / (Y**2).sum())


def pivots(X: np.ndarray, k: int, mode: str) -> np.ndarray:
    """The first columns of a pivoted QR."""
    return scipy.linalg.qr(X, mode=mode, pivoting=True)[-1][:k]


def components(X: np.ndarray, k: int) -> np.ndarray:
    """The leading principal components of centred data."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, :k] * s[:k]


def fastcan(X: np.ndarray, Y: np.ndarray, k: int, eta: bool = False) -> np.ndarray:
    """Columns that fastcan selects."""
    from fastcan import FastCan

    return FastCan(k, eta=eta, verbose=0).fit(X, Y).indices_


def abess(X: np.ndarray, Y: np.ndarray, k: int, **options: Any) -> np.ndarray:
    """Columns that abess selects."""
    from abess import MultiTaskRegression

    model = MultiTaskRegression(support_size=k, fit_intercept=False, thread=1, **options)
    return np.flatnonzero(np.abs(model.fit(X, Y).coef_).sum(axis=1))
