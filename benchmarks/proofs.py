"""What proofs cost: size, time of the search with a proof, and time of the check.

``python -m benchmarks.proofs [name ...]``; without names all cases. Every case is stored as soon as
it is measured (:mod:`benchmarks.store`). Times are processor times; those with a proof and of the
check are shares of that of the search. A search that may meet its limit of time is stopped after a
number of nodes instead, the same with and without a proof.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.preprocessing import PolynomialFeatures, scale

from benchmarks import table
from benchmarks.measure import Row
from benchmarks.store import FOLDER, Stored
from columnist import ColumnSelector, SubsetRegressor, datasets, verify
from columnist.robust import RobustPCA

TITLE = "What proofs cost"

_SECONDS = 30.0
# Nodes of problems that are not solved within that time.
_NODES = {("libras", 8): 3000}
# Cases with fewer processor seconds than this are repeated until they take as many.
_SHORT = 0.1

# What is fitted, with or without a proof, the data, and a target or None.
Case = tuple[str, str, Callable[[Path | None], Any], np.ndarray, np.ndarray | None]


def _standardized(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    return scale(X[:, X.std(axis=0) > 0.0])


def _columns(name: str, X: np.ndarray, k: int, criterion: str = "frobenius") -> Case:
    nodes = _NODES.get((name, k))
    seconds = _SECONDS if nodes is None else None

    def fit(proof: Path | None):
        return ColumnSelector(
            k, criterion=criterion, proof=proof, time_limit=seconds, max_nodes=nodes
        ).fit(X)

    return name, f"k = {k}", fit, X, None


def _target(name: str, X: np.ndarray, y: np.ndarray, k: int, alpha: float = 0.0) -> Case:
    def fit(proof: Path | None):
        return SubsetRegressor(k, alpha=alpha, proof=proof, time_limit=_SECONDS).fit(X, y)

    return name, f"k = {k}" + (f", ridge {alpha:g}" if alpha else ""), fit, X, y


def _rows(name: str, X: np.ndarray, r: int, k: int, centering: str = "optimal") -> Case:
    def fit(proof: Path | None):
        model = RobustPCA(
            r, n_outliers=k, centering=centering, proof=proof, time_limit=_SECONDS, random_state=0
        )
        return model.fit(X)

    return name, f"r = {r}, {k} rows, {centering}", fit, X, None


def cases() -> Iterator[Case]:
    """All cases."""
    wdbc = _standardized(load_breast_cancer().data)
    digits = _standardized(load_digits().data)
    for k in range(1, wdbc.shape[1]):
        yield _columns("wdbc", wdbc, k)
    for name, largest in (("vehicle", None), ("libras", 8)):
        try:
            X = _standardized(datasets.fetch(name).data)
        except (OSError, ValueError, AttributeError) as error:
            print(f"{name}: left out ({error})")
            continue
        for k in range(1, (largest or X.shape[1] - 1) + 1):
            yield _columns(name, X, k)
    for k in range(1, 9):
        yield _columns("digits", digits, k)
    for criterion in ("nuclear", "schatten:0.5"):
        for k in (3, 25):
            yield _columns(f"wdbc, {criterion}", wdbc, k, criterion)
    X, y = load_diabetes(return_X_y=True)
    for k in (3, 5):
        yield _target("diabetes", X, y, k)
    products = _standardized(PolynomialFeatures(2, include_bias=False).fit_transform(X))
    for k, alpha in ((4, 0.0), (6, 0.0), (6, 10.0)):
        yield _target("diabetes, products", products, y, k, alpha)
    wine, iris = scale(load_wine().data), scale(load_iris().data)
    for centering in ("optimal", "mean", "none"):
        yield _rows("wine, rows", wine, 2, 13, centering)
    yield _rows("wine, rows", wine, 2, 2)
    yield _rows("iris, rows", iris, 2, 10)
    yield _rows("wdbc, rows", wdbc, 3, 5)


def _measured(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and processor seconds; the least of several runs of what is short."""
    first, least = time.process_time(), float("inf")
    while True:
        started = time.process_time()
        result = work()
        passed = time.process_time()
        least = min(least, passed - started)
        if passed - first >= _SHORT:
            return result, least


def _written(fit: Callable[[Path | None], Any], path: Path) -> Any:
    """A fit that writes a new file."""
    path.unlink(missing_ok=True)
    return fit(path)


def measure(case: Case, path: Path) -> dict[str, Any]:
    """What one case costs."""
    name, what, fit, X, y = case
    _, search = _measured(lambda: fit(None))
    model, with_proof = _measured(lambda: _written(fit, path))
    verdict, check = _measured(lambda: verify(path, X, y=y))
    claim = verdict.claim
    return {
        "data": name, "shape": list(X.shape), "problem": what,
        "status": model.certificate_.status, "error": claim["error"],
        "proven_bound": claim["lower_bound"], "bytes": path.stat().st_size, "search": search,
        "with_proof": with_proof, "check": check, "holds": verdict.holds,
        "statement": verdict.statement, "rules": verdict.rules, "exact": verdict.exact,
    }  # fmt: skip


def line(r: Row) -> Row:
    """What the documentation shows of a case."""
    return {
        "data": r["data"],
        "problem": r["problem"],
        "status": r["status"],
        "bytes": r["bytes"],
        "search [s]": r["search"],
        "with proof": r["with_proof"] / r["search"],
        "check": r["check"] / r["search"],
        "verdict": "holds" if r["holds"] else r["statement"],
    }


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """One line per case."""
    return {"": [line(row) for row in rows]}


def main(names: list[str], folder: Path | None = FOLDER) -> None:
    """Measure cases one by one; those that were stored before and are not asked for stay."""
    stored = Stored("proofs", folder)
    with tempfile.TemporaryDirectory() as place:
        for case in cases():
            if names and case[0] not in names:
                continue
            found = measure(case, Path(place, "p"))
            stored.put([found], by=("data", "problem"))
            print(table.fixed_width([line(found)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
