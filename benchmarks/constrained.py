"""What does greedy selection lose within a budget, and what does a proof cost?

Costs are made up: whole numbers from 1 to 9, drawn once for each set. Greedy selection takes the
column of the largest gain that still fits, or of the largest gain for its cost, until nothing fits;
"loses" is by how much the better of the two exceeds the error that is proven, or found within 1000
nodes. Budgets are shares of the cost of all columns. Seconds are processor time of one thread.

The second table selects whole groups for a target by least squares: sequential selection of mlxtend
(``feature_groups``, no cross-validation), where it is installed, and the search with a proof.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures, scale
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist import ColumnSelector, SubsetRegressor
from columnist.constraints import Budget, Groups
from columnist.criteria import Frobenius
from columnist.linalg._reduce import reduce_data
from columnist.selection._columns import InvariantColumns
from columnist.selection._feasible import Feasible
from columnist.selection._rules import Rules

__all__ = ["TITLE", "rows", "tables"]

TITLE = "Selections within a budget, and of whole groups"

SHARES = (0.1, 0.2, 0.4)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set and budget, and one per problem with groups."""
    limit = 50 if quick else 1000
    with threadpool_limits(1, user_api="blas"):
        found = [
            within(name, X, y, share, limit)
            for name, X, y in problems(quick)
            for share in SHARES[: 1 if quick else None]
        ]
        return found + [row for name, *data in grouped(quick) for row in by_groups(name, *data)]


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """Budgets and groups."""
    return {
        "Within a budget": [row for row in rows if "budget" in row],
        "Whole groups": [row for row in rows if "groups" in row],
    }


def problems(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray | None]]:
    """Sets that come with scikit-learn, standardised; with and without a target."""
    wine, cancer, diabetes = load_wine(), load_breast_cancer(), load_diabetes()
    yield "wine", scale(wine.data), None
    if not quick:
        yield "wdbc", scale(cancer.data), None
        yield "wdbc, target", scale(cancer.data), cancer.target[:, None] - cancer.target.mean()
        products = PolynomialFeatures(2, include_bias=False).fit_transform(diabetes.data)
        y = diabetes.target[:, None] - diabetes.target.mean()
        yield "diabetes, products", scale(products), y


def within(name: str, X: np.ndarray, y: np.ndarray | None, share: float, limit: int) -> Row:
    """Greedy selections and the certified one."""
    n = X.shape[1]
    costs = np.random.default_rng(0).integers(1, 10, n)
    budget = Budget(costs.tolist(), float(round(share * costs.sum())))
    greedy = [greedy_error(X, y, budget, exponent) for exponent in (0.0, 1.0)]
    seconds, selector = timed(
        lambda: ColumnSelector(constraints=[budget], max_nodes=limit, time_limit=None).fit(X, y),
        time.process_time,
    )
    certificate, total = selector.certificate_, selector.error_ / selector.relative_error_
    best = min(greedy)
    return {
        "set": name, "columns": n, "budget": budget.budget, "selected": len(selector.selected_),
        "error [%]": 100 * selector.relative_error_, "gap [%]": 100 * certificate.gap,
        "by gain [%]": 100 * greedy[0] / total, "gain for cost [%]": 100 * greedy[1] / total,
        "loses [%]": round(100 * (best / selector.error_ - 1.0), 6) + 0.0,
        "nodes": certificate.nodes_generated, "seconds": seconds,
    }  # fmt: skip


def greedy_error(X: np.ndarray, y: np.ndarray | None, budget: Budget, exponent: float) -> float:
    """Error of the greedy selection that divides gains by a power of the cost."""
    reduced = reduce_data(X, y)
    problem = InvariantColumns(reduced, X.shape[1], Frobenius(), 0, (), None)
    rules = Rules.of([budget], X.shape[1], None)
    subset = Feasible(problem, rules).complete(*problem.root(), exponent)
    assert subset is not None
    return problem.value(subset)


def grouped(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray, list[int], int]]:
    """Three columns of each measurement (mean, standard error, worst), and products by column."""
    cancer, diabetes = load_breast_cancer(), load_diabetes()
    thirds = [j % 10 for j in range(30)]
    yield "wdbc", scale(cancer.data), cancer.target.astype(float), thirds, 3
    if not quick:
        features = PolynomialFeatures(3, include_bias=False, interaction_only=False)
        powers = features.fit(diabetes.data).powers_
        alone = np.flatnonzero((powers > 0).sum(axis=1) == 1)
        X = scale(features.transform(diabetes.data)[:, alone])
        yield "diabetes, powers", X, diabetes.target, powers[alone].argmax(axis=1).tolist(), 4


def by_groups(name: str, X: np.ndarray, y: np.ndarray, labels: Sequence[int], k: int) -> list[Row]:
    """The certified search, and sequential selection where it is installed."""
    given = {"set": name, "groups": len(set(labels)), "k": k}
    total = float(np.square(y - y.mean()).sum())
    model = SubsetRegressor(k, constraints=[Groups(labels)])
    seconds, fitted = timed(lambda: model.fit(X, y), time.process_time)
    found = [
        {**given, "program": "SubsetRegressor", "unexplained [%]": 100 * fitted.error_ / total,
         "status": fitted.certificate_.status, "seconds": seconds}
    ]  # fmt: skip
    try:
        from mlxtend.feature_selection import SequentialFeatureSelector
    except ImportError:
        return found
    members = [[j for j, label in enumerate(labels) if label == one] for one in sorted(set(labels))]
    sequential = SequentialFeatureSelector(
        LinearRegression(), k_features=k, feature_groups=members, cv=0, scoring="r2"
    )
    seconds, _ = timed(lambda: sequential.fit(X, y), time.process_time)
    left = 100.0 * (1.0 - float(sequential.k_score_))
    row = {"program": "mlxtend, sequential", "unexplained [%]": left, "status": "–"}
    return [*found, {**given, **row, "seconds": seconds}]
