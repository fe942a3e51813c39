"""What blocks of rows add to the bound under other criteria than the squared Frobenius norm.

The same search, standardised rows, one component, for so many nodes at most, with the bound by
interlacing alone and with that by blocks as well. Gaps do not depend on the load of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist import Certificate
from columnist.robust import RobustPCA
from columnist.robust._solve import RemovedRows

__all__ = ["TITLE", "rows"]

TITLE = "Outliers under other criteria: the bound with and without blocks"

CRITERIA = ("nuclear", "schatten:0.5", "schatten:3", "spectral")
NODES, QUICK_NODES = 200, 3


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per problem and criterion."""
    iris, wine = load_iris().data, load_wine().data
    problems = {
        "iris, every third row": (iris[::3], 4),
        "iris": (iris, 4),
        "wine, every third row": (wine[::3], 4),
    }
    names = list(problems)[:1] if quick else list(problems)
    nodes = QUICK_NODES if quick else NODES
    return [
        row
        for name in names
        for row in compare(name, scale(problems[name][0]), problems[name][1], nodes)
    ]


def compare(name: str, X: np.ndarray, k: int, nodes: int) -> Iterator[Row]:
    """Every criterion, both ways."""
    for criterion in CRITERIA:
        with patch.object(RemovedRows, "add_floors", lambda self, expired: None):
            plain_seconds, plain = searched(X, k, criterion, nodes)
        seconds, found = searched(X, k, criterion, nodes)
        yield {
            "set": f"{name}, {X.shape[0]} x {X.shape[1]}",
            "k": k,
            "criterion": criterion,
            "nodes": found.nodes_expanded,
            "gap without blocks [%]": 100.0 * plain.gap,
            "gap with blocks [%]": 100.0 * found.gap,
            "without [s]": plain_seconds,
            "with [s]": seconds,
        }


def searched(X: np.ndarray, k: int, criterion: str, nodes: int) -> tuple[float, Certificate]:
    """Processor seconds, and what is proven."""
    model = RobustPCA(
        1, n_outliers=k, criterion=criterion, max_nodes=nodes, time_limit=None, random_state=0
    )
    seconds, fitted = timed(lambda: model.fit(X), time.process_time)
    return seconds, fitted.certificate_
