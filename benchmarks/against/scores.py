"""Features for a classifier.

Accuracy is that of a linear support vector machine on the k features, standardised, three folds;
features are chosen within the training rows of a fold, and time is that of one fold. "In common" is
the share of the features that our counterpart also chooses. fast-select compiles itself at its
first call, which is not counted. skfeature's SPEC can rank large scores first where small ones are
good: it is asked as shipped, and with its order turned round. Laplacian score and SPEC do not see
the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from benchmarks.against.area import Area, Problem, check_choice
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row

__all__ = ["AREA"]

PRINTED = {"lung_small": 20, "warppie10p": 20}
RELIEF = {"n_neighbors": 10}


def problems(sets, quick: bool) -> Iterator[Problem]:
    """Bundled, generated and printed sets."""
    yield folds("wine", *load_wine(return_X_y=True), 4, quick)
    if quick:
        return
    yield folds("generated", *clusters(600, 500), 20, quick)
    yield folds("wdbc", *load_breast_cancer(return_X_y=True), 5, quick)
    yield folds("digits", *load_digits(return_X_y=True), 15, quick)
    for name, X, y in sets.labelled(*PRINTED):
        yield folds(name, np.asarray(X, dtype=float), y.ravel(), PRINTED[name], quick)


def folds(name: str, X: np.ndarray, y: np.ndarray, k: int, quick: bool) -> Problem:
    """Training rows are cases; the judge also has the others."""
    X = scale(X[:, np.ptp(X, axis=0) > 0.0])
    y = np.unique(y, return_inverse=True)[1]
    deal = StratifiedKFold(2 if quick else 3, shuffle=True, random_state=0)
    splits = list(deal.split(X, y))
    cases = [{"X": X[train], "y": y[train]} for train, _ in splits]
    return Problem(name, cases, {"k": k}, (X, y, splits))


def clusters(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of five kinds, told apart by a tenth of the features, each of which comes twice."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    X = rng.standard_normal((n, m))
    half = m // 20
    X[:, :half] += 0.7 * rng.standard_normal((5, half))[y]
    X[:, half : 2 * half] = X[:, :half] + 0.1 * rng.standard_normal((n, half))
    return X, y


def contenders(problem: Problem, quick: bool) -> list[Contender]:
    """Ours, then the others; all rank with the same options where they have them."""
    k = dict(problem.given)
    return [
        *(
            Contender("columnist", name, "ours.rank", name, k | {"selector": name} | options)
            for name, options in {
                "FisherScore": {},
                "TraceRatio": {},
                "ReliefF": RELIEF,
                "MRMR": {},
                "MRSF": {},
                "LaplacianScore": {"labels": False},
                "SpectralSelector": {"labels": False},
            }.items()
        ),
        Contender("scikit-learn", "f_classif", "sklearn.f_test", "FisherScore", k),
        Contender("scikit-learn", "mutual_info_classif", "sklearn.information", "MRMR", k),
        Contender("skfeature-chappers", "fisher_score", "skfeature.fisher", "FisherScore", k),
        Contender("skfeature-chappers", "trace_ratio", "skfeature.trace_ratio", "TraceRatio", k),
        Contender("skfeature-chappers", "reliefF", "skfeature.relief", "ReliefF", k | RELIEF),
        Contender("fast-select", "ReliefF", "fast_select.relief", "ReliefF", k | RELIEF, True),
        Contender("skrebate", "ReliefF", "skrebate.relief", "ReliefF", k | RELIEF),
        Contender("mrmr-selection", "mrmr_classif", "mrmr.select", "MRMR", k),
        Contender("skfeature-chappers", "lap_score", "skfeature.laplacian", "LaplacianScore", k),
        Contender("skfeature-chappers", "SPEC", "skfeature.spec", "SpectralSelector", k),
        Contender(
            "skfeature-chappers",
            "SPEC, turned round",
            "skfeature.spec",
            "SpectralSelector",
            k | {"reverse": True},
        ),
        Contender("scikit-learn", "all features", "sklearn.everything", "", k),
    ]


def check(problem: Problem, answer: Mapping[str, Any]) -> None:
    """Different features; fewer than k are fair, more are the row with all of them."""
    m = problem.cases[0]["X"].shape[1]
    k = m if len(answer["features"]) == m else problem.given["k"]
    check_choice(answer["features"], k, m, at_most=True)


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Accuracy, and what is shared with our counterpart."""
    X, y, splits = problem.truth
    counterparts = {c.program + ": " + c.call: c.ours for c in contenders(problem, False)}
    found: dict[str, Row] = {}
    for name, outcome in outcomes.items():
        chosen = [np.asarray(answer["features"], dtype=int) for answer in outcome.answers]
        correct = [accuracy(X, y, *split, pick) for split, pick in zip(splits, chosen, strict=True)]
        ours = outcomes.get(f"columnist: {counterparts[name]}")
        shared = None
        if ours and not name.startswith("columnist"):
            shared = 100.0 * float(
                np.mean(
                    [
                        len(np.intersect1d(pick, answer["features"])) / len(answer["features"])
                        for pick, answer in zip(chosen, ours.answers, strict=True)
                    ]
                )
            )
        found[name] = {"accuracy [%]": 100.0 * float(np.mean(correct)), "in common [%]": shared}
    return found


def accuracy(X: np.ndarray, y: np.ndarray, train, test, features: np.ndarray) -> float:
    """Share of the test rows that the classifier gets right."""
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    return model.fit(X[train][:, features], y[train]).score(X[test][:, features], y[test])


AREA = Area(
    "scores",
    "Features for a classifier",
    (__doc__ or "").partition("\n\n")[2].strip(),
    problems,
    contenders,
    check,
    judge,
    ("accuracy [%]", "in common [%]"),
)
