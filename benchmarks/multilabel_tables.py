"""Multi-label forward selection: are the printed losses and curves met?

Tables 7.2 and 7.3: the training parts of the sets, 5 folds, shuffled twice (printed: ten times),
columns chosen on the training rows of each fold. All methods end in the same model: linear
regression with an intercept on the first k columns and the best thresholds. The least mean loss
over k (up to 100) and parameters is given, as in the print; it is optimistic, most for those with
many combinations. The printed grid of ten values is coarsened: four for RFS, two by two by
three for MIFS. Both get standardised columns (medical: as they are) and labels without means.
The seconds are processor time of one thread, all sizes included.

The two tables print RFS and MIFS in opposite orders on emotions and scene, so one of them
mixed up the names; no order of ours can agree with both. As printed, the powers win on emotions and
scene, clearly on scene. On emotions and yeast the methods lie within 0.005 of each other, less than
the choice of parameters on the same folds gives away; on yeast the powers do not help, against
the print. The 0.044 of RFS on medical is worse than calling every label absent (0.0277); ours has
0.0277 at alpha = 0.01 but 0.0106 at alpha = 1.

Figures 7.4 and 7.6: curves of forward selection by the number of columns, for each degree; powers
of binary data are the data. Figures 8.4 to 8.7: all rows, ten folds, change of the loss against
Frobenius; fewer exponents than drawn.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from itertools import groupby, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.linalg.passes import columns_of
from columnist.selection import (
    MultiLabelForwardClassifierCV,
    MultiLabelInformedSelector,
    RobustL21Selector,
)
from columnist.selection.multilabel import _LinearPath
from columnist.selection.thresholds import optimal_thresholds
from tests.reference.printed import table

__all__ = ["TITLE", "ranked_losses", "rows", "tables"]

TITLE = (
    "Multi-label selection (first document, tables 7.2 and 7.3, figures 7.4, 7.6 and 8.4 to 8.7)"
)

# Of each method the figures of table 7.2, then of table 7.3.
PRINTED = table("""
set,MIFS,RFS,FS,improved FS
emotions,0.197 0.211,0.215 0.199,0.207 0.211,0.198
medical,0.009,0.044,0.010,
scene,0.109 0.129,0.120 0.113,0.107 0.111,0.099
yeast,0.197 0.199,0.197 0.198,0.203 0.206,0.202
""")
# Rows (the training parts), and the degree of the improved selection; binary data have no powers.
TRAINING = {"emotions": (391, 2), "medical": (978, 1), "scene": (1211, 2), "yeast": (1500, 3)}
REPEATS = 2
MOST = 100
# Some of the printed values 0.0001, 0.001, 0.01, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 10.
ALPHAS = (0.01, 0.1, 1.0, 10.0)
COARSE, GAMMAS = (0.01, 1.0), (0.1, 1.0, 10.0)

# Figures 8.4 to 8.7: sizes, and exponents beside the 2 of Frobenius.
SCHATTEN = {
    "emotions": ((4, 8, 12, 16, 20, 30), (0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.0, 4.8, 6.0)),
    "scene": ((4, 8, 16, 32, 50), (0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.8, 6.0)),
    "medical": ((10, 20, 40, 60, 75), (0.8, 1.6, 3.2, 4.8)),
    "enron": ((4, 8, 14, 20), (0.8, 1.6, 3.2, 4.8)),
}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set, method, its parameters and size."""
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # too few columns with a coefficient
        for name, X, Y in sets.labelled(*(["emotions"] if quick else TRAINING)):
            n_rows = TRAINING[name][0]
            folds = RepeatedKFold(n_splits=5, n_repeats=1 if quick else REPEATS, random_state=0)
            data = X[:n_rows], Y[:n_rows], folds
            found += forward(name, *data, degrees=(1, 2) if quick else (1, 2, 3))
            found += penalised(name, *data, quick)
        for name, X, Y in sets.labelled(*(["emotions"] if quick else SCHATTEN)):
            found += exponents(name, X, Y, quick)
    return found


def forward(name: str, X, Y: np.ndarray, folds, degrees) -> list[Row]:
    """Losses of forward selection for every size and degree."""
    found = []
    for degree in degrees if TRAINING[name][1] > 1 else (1,):
        most = X.shape[1] if degree == 1 and not sp.issparse(X) else min(X.shape[1], MOST)
        model = MultiLabelForwardClassifierCV(most, degrees=(degree,), cv=folds)
        seconds, results = timed(lambda model=model: model.fit(X, Y).cv_results_, time.process_time)
        say(name, f"FS degree {degree}", seconds, results["mean_hamming_loss"])
        found += [
            row_of(name, "FS", f"degree {degree}", int(k), loss, seconds)
            for k, loss in zip(
                results["n_features_to_select"], results["mean_hamming_loss"], strict=True
            )
        ]
    return found


def penalised(name: str, X, Y: np.ndarray, folds, quick: bool) -> list[Row]:
    """Losses of RFS and MIFS over their parameters: the best size of each combination."""
    X, centred = standardised(X), Y - Y.mean(axis=0)
    found = []
    for method, label, selector in grid(X.shape[1], quick):
        started = time.process_time()
        losses = [
            ranked_losses(selector.fit(X[train], centred[train]).selected_, X, Y, train, test)
            for train, test in folds.split(X)
        ]
        losses = np.mean([np.pad(loss, (0, MOST - len(loss)), "edge") for loss in losses], axis=0)
        seconds = time.process_time() - started
        say(name, f"{method} {label}", seconds, losses)
        best = int(losses.argmin())
        found.append(row_of(name, method, label, best + 1, losses[best], seconds))
    return found


def grid(n_features: int, quick: bool) -> Iterator[tuple[str, str, Any]]:
    """Selectors with their parameters."""
    most = min(n_features, MOST)
    for alpha in ALPHAS[-2:] if quick else ALPHAS:
        yield "RFS", f"alpha {alpha:g}", RobustL21Selector(most, alpha=alpha, tol=1e-4)
    for alpha, beta, gamma in [(1.0, 1.0, 1.0)] if quick else product(COARSE, COARSE, GAMMAS):
        options = {"alpha": alpha, "beta": beta, "gamma": gamma, "tol": 1e-4}
        label = f"alpha {alpha:g}, beta {beta:g}, gamma {gamma:g}"
        yield "MIFS", label, MultiLabelInformedSelector(most, **options)


def standardised(X):
    """Dense columns with mean 0 and deviation 1; binary sparse ones as they are."""
    return sp.csc_array(X) if sp.issparse(X) else scale(X)


def ranked_losses(ranking, X, Y: np.ndarray, train, test) -> np.ndarray:
    """Hamming loss of linear models on the first 1, 2, ... columns, with the best thresholds."""
    chosen = columns_of(X, ranking)
    path = _LinearPath(chosen[train], Y[train], 1, center=True)
    return np.array(
        [
            np.mean((held_out > optimal_thresholds(fitted, Y[train])) != Y[test])
            for fitted, held_out in path.scores(chosen[test])
        ]
    )


def exponents(name: str, X, Y: np.ndarray, quick: bool) -> list[Row]:
    """Losses of forward selection under Schatten norms, ten folds."""
    sizes, powers = SCHATTEN[name]
    found = []
    for p in (2.0, *(powers[1:3] if quick else powers)):
        criterion = "frobenius" if p == 2.0 else f"schatten:{p:g}"
        folds = KFold(3 if quick else 10, shuffle=True, random_state=0)
        model = MultiLabelForwardClassifierCV(sizes, degrees=(1,), criteria=(criterion,), cv=folds)
        seconds, results = timed(lambda model=model: model.fit(X, Y).cv_results_, time.process_time)
        losses = results["mean_hamming_loss"]
        say(name, criterion, seconds, losses)
        found += [
            row_of(name, "Schatten", f"p {p:g}", k, loss, seconds)
            for k, loss in zip(sizes, losses, strict=True)
        ]
    return found


def say(name: str, method: str, seconds: float, losses: np.ndarray) -> None:
    """One line as it goes."""
    best = int(np.argmin(losses))
    print(f"  {name} {method}: {losses[best]:.4f} ({best}) in {seconds:.1f} s", file=sys.stderr)


def row_of(name: str, method: str, label: str, k: int, loss: float, seconds: float) -> Row:
    """A row; the seconds are those of the whole validation."""
    return {
        "set": name,
        "method": method,
        "parameters": label,
        "k": k,
        "Hamming loss": float(loss),
        "seconds": seconds,
    }


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """One table for each of the document."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    by_set = {name: [row for row in rows if row["set"] == name] for name in names}
    chapter7 = {n: group for n, group in by_set.items() if any(r["method"] == "RFS" for r in group)}
    chapter8 = {
        n: chosen
        for n, group in by_set.items()
        if (chosen := [row for row in group if row["method"] == "Schatten"])
    }
    return {
        "Tables 7.2 and 7.3: least Hamming loss (printed), and how": [
            line for name, group in chapter7.items() for line in method_lines(name, group)
        ],
        "Figures 7.4 and 7.6: Hamming loss by number of features": [
            line for name, group in chapter7.items() for line in curve_lines(name, group)
        ],
        "Figures 8.4 to 8.7: Hamming loss under Schatten norms, change in %": [
            line for name, group in chapter8.items() for line in exponent_lines(name, group)
        ],
    }


def method_lines(name: str, group: list[Row]) -> Iterator[Row]:
    """The best of every method on one set."""
    improved = f"degree {TRAINING[name][1]}"
    methods = {
        "MIFS": [row for row in group if row["method"] == "MIFS"],
        "RFS": [row for row in group if row["method"] == "RFS"],
        "FS": [row for row in group if row["parameters"] == "degree 1"],
        "improved FS": [row for row in group if row["parameters"] == improved != "degree 1"],
    }
    printed = next(row for row in PRINTED if row["set"] == name)
    for method, found in methods.items():
        if found:
            best = min(found, key=lambda row: row["Hamming loss"])
            yield {
                "set": name,
                "method": method,
                "printed": printed[method].replace(" ", " and "),
                "Hamming loss": best["Hamming loss"],
                "k": best["k"],
                "parameters": best["parameters"],
                "combinations": len({row["parameters"] for row in found}),
                "s per fold": best["seconds"] / (5 * REPEATS),
            }


def curve_lines(name: str, group: list[Row]) -> Iterator[Row]:
    """The curves of one set, one line per degree."""
    chosen = (row for row in group if row["method"] == "FS")
    for label, curve in groupby(chosen, key=lambda row: row["parameters"]):
        losses = {row["k"]: row["Hamming loss"] for row in curve}
        best = min(losses, key=losses.get)
        yield {
            "set": name,
            "powers": label,
            "best k": best,
            "loss": losses[best],
            **{f"k = {k}": losses.get(k, "") for k in (1, 5, 10, 20, 40, 60)},
            "largest k": max(losses),
            "its loss": losses[max(losses)],
        }


def exponent_lines(name: str, group: list[Row]) -> Iterator[Row]:
    """Change against Frobenius, one line per size."""
    losses = {(row["k"], row["parameters"]): row["Hamming loss"] for row in group}
    for k in sorted({k for k, _ in losses}):
        base = losses[k, "p 2"]
        change = {
            label.removeprefix("p "): 100.0 * (loss / base - 1.0)
            for (size, label), loss in losses.items()
            if size == k and label != "p 2"
        }
        best = min(change, key=change.get)
        yield {
            "set": name,
            "k": k,
            "Frobenius": base,
            "best p": best,
            "its change [%]": change[best],
            "p: change [%]": ", ".join(f"{p}: {value:+.1f}" for p, value in change.items()),
        }
