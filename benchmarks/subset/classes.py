"""Two classes: generated designs with a proof, and held-out accuracy on real tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.against.area import Area, Problem
from benchmarks.against.calls.subset import tuned
from benchmarks.against.columns import distance
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row
from benchmarks.subset.generated import autoregression, true_columns
from benchmarks.subset.judge import ROUNDING, Settings, area, certificate, check
from benchmarks.subset.real import tables

__all__ = ["accuracy", "classes", "log_loss", "two_classes"]

OURS = "SubsetClassifier"
DRAWS = 5
SETS = ("ionosphere", "spectf", "colon", "madelon")
ALPHAS = (0.1, 1.0, 10.0, 100.0)
KS = (5, 10, 20)

CLASSES = """Two classes, with a proof

The objective is the sum of the log losses plus alpha ||b||^2, its intercept free. 1000 rows, 1000
columns of an autoregression, k = 10 true coefficients of 1; alpha is the one of 0.1, 1, 10, 100
with the least log loss on rows left out, five folds. Error is the share of the objective of an
intercept alone; abess has no ridge and its choice is judged with it."""

ACCURACY = """Two classes, rows left out

Share of held-out rows that are classified correctly, five folds. Number of columns (5, 10, 20) and
alpha, and the weight of scikit-learn's L1 penalty (liblinear), are chosen within the training rows
by three folds; ours has a second for each of these fits. "Size" is the mean number of columns."""


def two_classes(n: int, m: int, rho: float, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A design and its classes, drawn from the logistic model."""
    rng = np.random.default_rng(seed)
    X = autoregression(n, m, rho, rng)
    odds = X[:, true_columns(m, k)].sum(axis=1)
    return X, (rng.random(n) < expit(odds)).astype(int)


def design_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """Designs at the ridge of the least log loss on rows left out."""
    n, m, k = (80, 15, 2) if quick else (1000, 1000, 10)
    for rho in (0.0,) if quick else (0.0, 0.5):
        for draw in range(1 if quick else DRAWS):
            X, y = two_classes(n, m, rho, k, draw)
            X = X - X.mean(axis=0)
            with threadpool_limits(1):
                found = tuned(X, y, [k], ALPHAS, 1.0, 2 if quick else 5)
            given = {"k": k, "alpha": found.best_params_["alpha"]}
            yield Problem(f"AR {rho:g}, draw {draw}", [{"X": X, "y": y}], given)


def design_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours and splicing."""
    given = dict(problem.given) | {"time_limit": settings.seconds}
    return [
        Contender("columnist", OURS, "subset.classify", OURS, given),
        Contender("abess", "splicing", "abess.classify", OURS, {"k": problem.given["k"]}),
    ]


def log_loss(X: np.ndarray, y: np.ndarray, columns: np.ndarray, alpha: float) -> float:
    """Least sum of log losses plus alpha ||b||^2, b on the columns; the intercept is free."""
    model = LogisticRegression(C=0.5 / alpha, tol=1e-10, max_iter=10_000)
    model.fit(X[:, columns], y)
    margin = np.where(y == 1, 1.0, -1.0) * model.decision_function(X[:, columns])
    return float(np.logaddexp(0.0, -margin).sum() + alpha * (model.coef_**2).sum())


def judge_loss(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Objectives of all choices."""
    X, y = problem.cases[0]["X"], problem.cases[0]["y"]
    share = y.mean()
    alone = -len(y) * float(share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    values = {
        name: log_loss(X, y, np.asarray(one.answers[0]["columns"], int), problem.given["alpha"])
        for name, one in outcomes.items()
    }
    least = min(values.values(), default=0.0)
    return {
        name: {
            "error [%]": 100.0 * value / alone,
            "above the best [%]": distance(value, least),
            **certificate(name, outcomes[name].answers[0], least + ROUNDING * alone),
        }
        for name, value in values.items()
    }


def classes(settings: Settings) -> Area:
    """The part of generated classes."""
    return area(
        "classes", CLASSES, settings, design_problems, design_calls,
        checks=check, judges=judge_loss,
    )  # fmt: skip


def folds(name: str, X: np.ndarray, y: np.ndarray, n_folds: int) -> Problem:
    """Training rows and new rows, standardised by the former; the judge also has the classes."""
    cases, truth = [], []
    deal = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for train, test in deal.split(X, y):
        scaler = StandardScaler().fit(X[train])
        cases.append(
            {"X": scaler.transform(X[train]), "y": y[train], "new": scaler.transform(X[test])}
        )
        truth.append(y[test])
    return Problem(name, cases, {}, truth)


def real_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """Tables of two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    yield folds("wdbc", X[:, :5] if quick else X, y, 2 if quick else 5)
    for name, X, y in () if quick else tables(sets, *SETS):
        yield folds(name, X, y, 5)


def real_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours and the L1 penalty."""
    given = {"sizes": KS, "alphas": ALPHAS, "time_limit": 1.0}
    if quick:
        given |= {"sizes": (2,), "alphas": ALPHAS[1:2]}
    return [
        Contender("columnist", OURS, "subset.labels", OURS, given),
        Contender("scikit-learn", "L1, liblinear", "sklearn.lasso_labels", OURS),
    ]


def check_labels(problem: Problem, answer: Mapping[str, Any]) -> None:
    """One class for each new row of some fold."""
    if len(answer["labels"]) not in {len(y) for y in problem.truth}:
        raise ValueError("classes of other rows")


def judge_labels(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Accuracy and number of columns."""
    return {
        name: {
            "accuracy [%]": 100.0
            * float(
                np.mean(
                    [
                        np.mean(np.asarray(answer["labels"]) == y)
                        for answer, y in zip(found.answers, problem.truth, strict=True)
                    ]
                )
            ),
            "size": float(np.mean([answer["size"] for answer in found.answers])),
        }
        for name, found in outcomes.items()
    }


def accuracy(settings: Settings) -> Area:
    """The part of real classes."""
    return area(
        "accuracy", ACCURACY, settings, real_problems, real_calls,
        ("accuracy [%]", "size"), check_labels, judge_labels,
    )  # fmt: skip
