"""Which selector should I use? Error, time, distance to the optimum and guarantee of each.

Columns that approximate the matrix itself, squared Frobenius norm; wdbc is standardised, the others
are raw. "Above" is the distance of the error to the least one that is possible: to the proven
optimum, or, where ``ColumnSelector`` did not finish in 20 s, to its lower bound (then marked
"at most", for the optimum itself may lie above the bound). Random selectors: mean of ten draws.
Milliseconds are processor time of one thread, the whole fit with the recomputed error.

For labels: columns that approximate the class indicators, means removed; "above" is again the
distance to what ``ColumnSelector`` found or proved in 20 s.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist import ColumnSelector
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    MultiLabelInformedSelector,
    NormSampler,
    PivotedQRSelector,
    RobustL21Selector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)

__all__ = ["GUARANTEES", "TITLE", "rows", "tables"]

TITLE = "Which selector should I use?"
SIZES = {"wdbc": 10, "digits": 10, "libras": 10, "madelon": 20, "isolet5": 20}
DRAWS = 10

Maker = Callable[[int, int], Any]
# Name -> how to make it for a size and a seed; random ones are drawn several times.
PLAIN: dict[str, Maker] = {
    "ForwardSelector": lambda k, seed: ForwardSelector(k),
    "ExchangeSelector": lambda k, seed: ExchangeSelector(k),
    "ExchangeSelector, 10 starts": lambda k, seed: ExchangeSelector(
        k, n_starts=10, random_state=seed
    ),
    "StrongRRQRSelector": lambda k, seed: StrongRRQRSelector(k),
    "GKSSelector": lambda k, seed: GKSSelector(k, random_state=seed),
    "PivotedQRSelector": lambda k, seed: PivotedQRSelector(k),
}
RANDOM: dict[str, Maker] = {
    "TwoStageSelector.lev_ge": lambda k, seed: TwoStageSelector.lev_ge(k, random_state=seed),
    "TwoStageSelector.fkv_ge": lambda k, seed: TwoStageSelector.fkv_ge(k, random_state=seed),
    "VolumeSampler": lambda k, seed: VolumeSampler(k, random_state=seed),
    "LeverageSampler": lambda k, seed: LeverageSampler(k, random_state=seed),
    "NormSampler": lambda k, seed: NormSampler(k, random_state=seed),
    "UniformSampler": lambda k, seed: UniformSampler(k, random_state=seed),
}
LABELS: dict[str, Maker] = {
    "ForwardSelector": lambda k, seed: ForwardSelector(k),
    "ExchangeSelector": lambda k, seed: ExchangeSelector(k),
    "TwoStageSelector, filter and forward": lambda k, seed: TwoStageSelector(
        MatchingFilter(), ForwardSelector(k)
    ),
    "MatchingFilter": lambda k, seed: MatchingFilter(k),
    "CorrelationFilter": lambda k, seed: CorrelationFilter(k),
    "RobustL21Selector": lambda k, seed: RobustL21Selector(k, alpha=1.0, tol=1e-4),
    "MultiLabelInformedSelector": lambda k, seed: MultiLabelInformedSelector(k, tol=1e-4),
}
GUARANTEES = {
    "ColumnSelector": "the optimum, or a proven gap",
    "ForwardSelector": "best single addition at every step",
    "ExchangeSelector": "no single exchange improves",
    "ExchangeSelector, 10 starts": "no single exchange improves",
    "StrongRRQRSelector": "spectral norm within sqrt(1 + f²k(n - k)) of rank k",
    "GKSSelector": "none in this norm",
    "PivotedQRSelector": "none in this norm",
    "TwoStageSelector.lev_ge": "error_bound_, computed for the selection",
    "TwoStageSelector.fkv_ge": "error_bound_, computed for the selection",
    "VolumeSampler": "expected error at most (k + 1) times that of rank k",
    "LeverageSampler": "with enough draws, in expectation",
    "NormSampler": "additive, in expectation",
    "UniformSampler": "none",
    "TwoStageSelector, filter and forward": "best addition among the candidates",
    "MatchingFilter": "best columns, each on its own",
    "CorrelationFilter": "best columns, each on its own",
    "RobustL21Selector": "duality gap of its own objective",
    "MultiLabelInformedSelector": "stationary point of its own objective",
}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set and selector."""
    limit, draws = (1.0, 2) if quick else (20.0, DRAWS)
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rank, convergence
        for name, X in sets.these(*(list(SIZES)[:1] if quick else SIZES)):
            found += problem(name, X, None, SIZES[name], PLAIN | RANDOM, limit, draws)
        for name, X, y in labelled()[: 1 if quick else None]:
            makers = {key: make for key, make in LABELS.items() if fits(key, y)}
            found += problem(f"{name} labels", X, y, 10, makers, limit, 1)
    return found


def fits(selector: str, y: np.ndarray) -> bool:
    """Whether a selector takes as many targets as there are."""
    return selector != "CorrelationFilter" or y.shape[1] == 1


def labelled() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Standardised sets with class indicators without means."""
    found = []
    for name, load in (("wdbc", load_breast_cancer), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        classes = np.unique(y)
        # One of two classes says it all.
        Y = (y[:, None] == classes[len(classes) == 2 :]).astype(float)
        found.append((name, scale(X[:, np.ptp(X, axis=0) > 0.0]), Y - Y.mean(axis=0)))
    return found


def problem(name, X, y, k: int, makers: dict[str, Maker], limit: float, draws: int) -> list[Row]:
    """All selectors on one set, and the certified search that they are measured against."""
    certified = timed(lambda: ColumnSelector(k, time_limit=limit).fit(X, y), time.process_time)
    best = certified[1]
    certificate = best.certificate_
    total = certificate.error / best.relative_error_
    found = [row_of(name, X, k, "ColumnSelector", [certified], certificate, total)]
    for selector, make in makers.items():
        times = draws if selector in RANDOM else 1
        runs = [
            timed(lambda make=make, seed=seed: make(k, seed).fit(X, y), time.process_time)
            for seed in range(times)
        ]
        found.append(row_of(name, X, k, selector, runs, certificate, total))
    return [row | {"share of time": row["ms"] / found[0]["ms"]} for row in found]


def row_of(name, X, k: int, selector: str, runs, certificate, total: float) -> Row:
    """Mean error and time of the runs, beside what is proven."""
    error = float(np.mean([fitted.error_ for _, fitted in runs]))
    row = {
        "set": name,
        "shape": f"{X.shape[0]} x {X.shape[1]}",
        "k": k,
        "selector": selector,
        "relative error": error / total,
        "above [%]": 100.0 * (error / certificate.lower_bound - 1.0),
        "optimum known": certificate.is_optimal,
        "ms": 1e3 * float(np.mean([seconds for seconds, _ in runs])),
        "guarantee": GUARANTEES[selector],
    }
    print(f"  {name} {selector}: {row['above [%]']:.2f}% {row['ms']:.1f} ms", file=sys.stderr)
    return row


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """One table per set."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        proven = "optimum" if row["optimum known"] else "lower bound"
        caption = f"{row['set']}, {row['shape']}, k = {row['k']}: above the {proven}"
        line = {key: row[key] for key in ("selector", "relative error", "above [%]", "ms")}
        found.setdefault(caption, []).append(line | {"guarantee": row["guarantee"]})
    return found
