"""Columns that explain targets.

Error is the share of the targets' squared norm that a least-squares fit on the chosen columns
leaves, means removed; "above the bound" as for columns, or above the optimum that leaps proves.
Exact searches are ColumnSelector, which takes several targets and says how far it got, and leaps,
which takes one target and gives no answer before it is done. The sequential selector of
scikit-learn is asked for the error on the rows of the fit, so that it solves the same problem; it
fits every model anew. These two are asked about 100 columns at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import PolynomialFeatures, scale

from benchmarks.against.area import Area, Problem, check_choice
from benchmarks.against.columns import CERTIFIED, FORWARD, against_bound, limited
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row

__all__ = ["AREA"]

PURSUIT = "OMP"
FEW = 100  # columns that slow programs are asked about


def problems(sets, quick: bool) -> Iterator[Problem]:
    """One target, then several."""
    X, y = load_breast_cancer(return_X_y=True)
    yield centred("wdbc, malignant or not", X, y, 8)
    if quick:
        return
    X, y = load_diabetes(return_X_y=True)
    yield centred("diabetes with products", products(X), y, 8)
    yield centred("generated, correlated", *correlated(500, 40, 1), 10)
    yield centred("generated, correlated", *correlated(1000, 300, 1), 15)
    for name, X, Y in sets.labelled("emotions"):
        yield centred(name, np.asarray(X, dtype=float), Y, 10)
    yield centred("generated, correlated", *correlated(2000, 1000, 20), 20)


def centred(name: str, X: np.ndarray, y: np.ndarray, k: int) -> Problem:
    """A problem on standardised columns and targets without means."""
    y = np.asarray(y, dtype=float)
    return Problem(name, [{"X": scale(X), "y": y - y.mean(axis=0)}], {"k": k})


def products(X: np.ndarray) -> np.ndarray:
    """Columns, squares and products of two; the square of a column of two values says nothing."""
    made = PolynomialFeatures(2, include_bias=False).fit(scale(X))
    powers = made.powers_
    two_valued = np.array([len(np.unique(column)) == 2 for column in X.T])
    dull = (powers[:, two_valued] == 2).any(axis=1)
    return made.transform(scale(X))[:, ~dull]


def correlated(n: int, m: int, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring columns have correlation 0.7; a twentieth of the columns matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m))
    for j in range(1, m):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.7**2) * X[:, j]
    relevant = rng.choice(m, max(m // 20, 8), replace=False)
    coef = np.zeros((m, n_targets))
    coef[relevant] = rng.standard_normal((len(relevant), n_targets))
    Y = X @ coef
    Y += rng.standard_normal(Y.shape) * Y.std(axis=0)
    return X, Y[:, 0] if n_targets == 1 else Y


def contenders(problem: Problem, quick: bool) -> list[Contender]:
    """Ours, then the others; some take one target only."""
    k = dict(problem.given)
    X, y = problem.cases[0]["X"], problem.cases[0]["y"]
    found = [
        Contender("columnist", FORWARD, "ours.select", FORWARD, k | {"selector": FORWARD}),
        Contender(
            "columnist",
            "ExchangeSelector",
            "ours.select",
            FORWARD,
            k | {"selector": "ExchangeSelector"},
        ),
        Contender("columnist", CERTIFIED, "ours.certified", CERTIFIED, limited(k, quick)),
        Contender("fastcan", "forward", "fastcan.select", FORWARD, k),
        Contender("fastcan", "forward, eta", "fastcan.select", FORWARD, k | {"eta": True}),
        Contender("fastcan", "beam of 10", "fastcan.select", FORWARD, k | {"beam_width": 10}),
        Contender("abess", "splicing", "abess.select", "ExchangeSelector", k),
    ]
    if y.ndim > 1:
        return found
    found.append(Contender("scikit-learn", PURSUIT, "sklearn.pursuit", FORWARD, k))
    if X.shape[1] <= FEW:
        found += [
            Contender("scikit-learn", "sequential", "sklearn.sequential", FORWARD, k),
            Contender("leaps", "exhaustive, exact", "leaps.select", CERTIFIED, k),
        ]
    return found


def check(problem: Problem, answer: Mapping[str, Any]) -> None:
    """k different columns."""
    check_choice(answer["columns"], problem.given["k"], problem.cases[0]["X"].shape[1])


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Errors of all choices."""
    case = problem.cases[0]
    return against_bound(case["X"], case["y"].reshape(len(case["y"]), -1), outcomes)


AREA = Area(
    "target",
    "Columns that explain targets",
    (__doc__ or "").partition("\n\n")[2].strip(),
    problems,
    contenders,
    check,
    judge,
    ("error [%]", "above the bound [%]"),
)
