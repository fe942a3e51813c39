"""Columns that represent the whole matrix.

Error is the share of the squared norm that the chosen columns leave, "above the bound" its distance
from the least error that any choice can have: the optimum where ColumnSelector proves it within 30
s by the clock, its lower bound elsewhere (then no time is compared with that of its search).
fastcan asks for targets: the leading principal components, as its manual proposes (their
computation included), or the matrix itself; it makes targets orthonormal, so that in the second
case all columns look alike to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.against.area import Area, Problem, check_choice
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row

__all__ = ["AREA", "against_bound"]

SIZES = {"wdbc": 10, "digits": 10, "libras": 10, "isolet5": 20}
CERTIFIED = "ColumnSelector"
FORWARD = "ForwardSelector"
EXACT = ", exact"  # how the calls of other exact searches end


def problems(sets, quick: bool) -> Iterator[Problem]:
    """Standardised wdbc, the others raw; and generated columns with a slow decay."""
    for name, X in sets.these(*(list(SIZES)[:1] if quick else SIZES)):
        yield Problem(name, [{"X": np.asarray(X, dtype=float)}], {"k": SIZES[name]})
    if not quick:
        yield Problem("generated", [{"X": decaying(2000, 500)}], {"k": 50})


def decaying(n: int, m: int) -> np.ndarray:
    """Centred columns whose singular values decay slowly."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((m, m)))[0]
    X = (rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.5) @ rotation
    return X - X.mean(axis=0)


def contenders(problem: Problem, quick: bool) -> list[Contender]:
    """Ours, then the others; exact search by others is for few columns."""
    k = dict(problem.given)
    found = [
        Contender("columnist", FORWARD, "ours.select", FORWARD, k | {"selector": FORWARD}),
        *(
            Contender("columnist", name, "ours.select", FORWARD, k | {"selector": name})
            for name in ("ExchangeSelector", "PivotedQRSelector")
        ),
        Contender("columnist", CERTIFIED, "ours.certified", CERTIFIED, limited(k, quick)),
        Contender("scipy", "qr, pivoting", "scipy.pivots", "PivotedQRSelector", k),
        Contender("fastcan", "components, eta", "fastcan.unsupervised", FORWARD, k),
        Contender("fastcan", "X itself, eta", "fastcan.itself", FORWARD, k),
        Contender("scikit-matter", "CUR", "matter.select", FORWARD, k | {"selector": "CUR"}),
        Contender("scikit-matter", "FPS", "matter.select", FORWARD, k | {"selector": "FPS"}),
    ]
    if problem.cases[0]["X"].shape[1] <= 64:
        found.append(Contender("subselect", "eleaps, exact", "subselect.select", CERTIFIED, k))
    return found


def limited(given: Mapping[str, Any], quick: bool) -> dict[str, Any]:
    """The seconds that a certified search has."""
    return {**given, "time_limit": 1.0 if quick else 30.0}


def check(problem: Problem, answer: Mapping[str, Any]) -> None:
    """k different columns."""
    check_choice(answer["columns"], problem.given["k"], problem.cases[0]["X"].shape[1])


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Errors of all choices."""
    X = problem.cases[0]["X"]
    return against_bound(X, X, outcomes)


def against_bound(X: np.ndarray, Y: np.ndarray, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Relative errors, and their distance to the best bound that is proven.

    A bound comes with the answer of the certified search; the error of an exact search is one too.
    """
    answers = {name: outcome.answers[0] for name, outcome in outcomes.items()}
    errors = {
        name: relative_error(X, Y, np.asarray(answer["columns"], dtype=int))
        for name, answer in answers.items()
    }
    bounds = {name: answer["bound"] for name, answer in answers.items() if "bound" in answer}
    bounds |= {name: error for name, error in errors.items() if name.endswith(EXACT)}
    best = max(bounds.values(), default=None)
    found: dict[str, Row] = {}
    for name, error in errors.items():
        above = distance(error, best) if best else None
        found[name] = {"error [%]": 100.0 * error, "above the bound [%]": above}
        if name in bounds:
            proven = name.endswith(EXACT) or answers[name]["proven"]
            gap = distance(error, bounds[name])
            found[name]["proven"] = "optimal" if proven else f"within {gap:.2g}%"
    return found


def distance(error: float, bound: float) -> float:
    """How far an error is above a bound, in percent; rounding counts for nothing."""
    return max(100.0 * (error / bound - 1.0), 0.0)


def relative_error(X: np.ndarray, Y: np.ndarray, chosen: np.ndarray) -> float:
    """Share of the target's squared norm that the span of the chosen columns leaves."""
    U, s, _ = np.linalg.svd(X[:, chosen], full_matrices=False)
    Q = U[:, s > s[0] * 1e-12]
    return float(((Y - Q @ (Q.T @ Y)) ** 2).sum() / (Y**2).sum())


AREA = Area(
    "columns",
    "Columns that represent the whole matrix",
    (__doc__ or "").partition("\n\n")[2].strip(),
    problems,
    contenders,
    check,
    judge,
    ("error [%]", "above the bound [%]"),
)
