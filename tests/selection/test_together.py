"""Constraints, weights, pools and limits at once, against enumeration over repeated rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from columnist import (
    ColumnSelector,
    SubsetRegressor,
    certify,
    column_verdicts,
    selection_path,
)
from columnist.constraints import Groups
from columnist.criteria import get_criterion
from tests.examples import slow_if
from tests.oracles.brute_force import subset_error
from tests.oracles.constrained import every_choice
from tests.strategies import KINDS, random_constraints, random_matrix, random_size, tolerance

CRITERIA = ("frobenius", "frobenius", "spectral", "nuclear", "schatten:0.5", "kyfan:2")
# Nodes after which a search stops; None for never.
LIMITS = (0, 1, 2, 4, 8, 16, None)
# Problems of a test, and tests: the first ones are fast.
PROBLEMS, BLOCKS = 20, 25
BLOCK = pytest.mark.parametrize(
    "block", [pytest.param(i, marks=slow_if(i > 0)) for i in range(BLOCKS)]
)
CONFLICT = r"Budget|AtMost|requires|include|exclude|number of|relax|groups|columns"


class Problem:
    """A small hostile problem with everything, and the errors of all choices that it allows."""

    def __init__(self, seed: int, *, regression: bool = False):
        rng = self.rng = np.random.default_rng(seed)
        m, n = int(rng.integers(3, 10)), int(rng.integers(3, 8))
        X = random_matrix(KINDS[rng.integers(len(KINDS))], m, n, rng)
        if rng.random() < 0.3:  # a constant, or a near copy of another column
            X[:, -1] = 1.0 if rng.random() < 0.5 else X[:, 0] * (1.0 + 1e-4 * rng.random(m))
        Y = rng.standard_normal((m, int(rng.integers(1, 4))))
        self.X, self.Y = X, Y if regression or rng.random() < 0.5 else None
        self.weights = rng.integers(0, 4, m) if rng.random() < 0.6 else None
        if self.weights is not None:
            self.weights[:2] += 1
        self.constraints = random_constraints(rng, n) if rng.random() < 0.7 else []
        order, given = rng.permutation(n), rng.integers(0, 2, 2)
        self.include, self.exclude = order[: given[0]].tolist(), order[2 : 2 + given[1]].tolist()
        self.size: Any = random_size(rng, self.constraints, n)
        if not self.constraints:
            self.size = min(self.size, n - len(self.exclude))
        self.center = bool(rng.random() < 0.4)
        self.criterion, self.n_components = "frobenius", 0
        self.alpha = float(rng.choice([0.0, 0.5])) if regression else 0.0
        if not regression:
            self.criterion = CRITERIA[rng.integers(len(CRITERIA))]
            self.n_components = int(rng.choice([0, 0, 1]))
        self.pool: dict[str, Any] = [
            {}, {"n_solutions": 3}, {"solution_tol": 0.1}, {"solution_tol": 0.5},
        ][rng.integers(4)]  # fmt: skip
        self.choices = self.of_size(self.size)
        theta = get_criterion(self.criterion)
        self.margin = tolerance(theta, self.X_rows if self.Y is None else self.Y_rows)

    def of_size(self, size: int | None) -> dict[tuple[int, ...], float]:
        """All choices of a size with their errors."""
        weights = np.ones(len(self.X), int) if self.weights is None else self.weights
        self.X_rows = self._centred(np.repeat(self.X, weights, axis=0))
        self.Y_rows = None if self.Y is None else self._centred(np.repeat(self.Y, weights, axis=0))
        subsets = every_choice(self.X.shape[1], self.constraints, size, self.include, self.exclude)
        return {subset: self.error(subset) for subset in subsets}

    def _centred(self, T: np.ndarray) -> np.ndarray:
        T = T - T.mean(axis=0) if self.center else T
        return np.where(np.abs(T) < 1e-14 * np.abs(T).max(initial=0.0), 0.0, T)

    def error(self, subset: tuple[int, ...]) -> float:
        """The error over repeated rows."""
        X, Y = self.X_rows, self.Y_rows
        if self.alpha:
            assert Y is not None
            X = np.vstack([X, np.sqrt(self.alpha) * np.eye(X.shape[1])])
            Y = np.vstack([Y, np.zeros((X.shape[1], Y.shape[1]))])
        return subset_error(X, subset, get_criterion(self.criterion), self.n_components, Y)

    @property
    def given(self) -> dict[str, Any]:
        """What selectors and functions are told."""
        means = {"centering": "mean" if self.center else "none"}
        return {
            "criterion": self.criterion, "n_components": self.n_components,
            "include": self.include, "exclude": self.exclude, "constraints": self.constraints,
            "time_limit": None, **means,
        }  # fmt: skip

    def check(self, certificate, choices: dict[tuple[int, ...], float]) -> None:
        """Nothing forbidden, and bound <= optimum <= incumbent."""
        best = min(choices.values())
        assert certificate.selection in choices
        assert certificate.lower_bound <= best + self.margin
        assert certificate.error == pytest.approx(
            choices[certificate.selection], rel=1e-7, abs=self.margin
        )
        if certificate.status == "optimal":
            assert certificate.error <= best + self.margin

    def check_pool(self, model) -> None:
        """A complete list has all that it should, any list nothing that it should not."""
        found = [tuple(solution) for solution in model.solutions_]
        errors = np.array([solution.error for solution in model.solutions_])
        assert len(set(found)) == len(found)
        assert set(found) <= set(self.choices)
        assert (np.diff(errors) >= -self.margin).all()
        for subset, error in zip(found, errors, strict=True):
            assert error == pytest.approx(self.choices[subset], rel=1e-7, abs=self.margin)
        ranked, best = sorted(self.choices.values()), min(self.choices.values())
        if "solution_tol" not in self.pool:
            if model.certificate_.status == "optimal":
                due = ranked[: self.pool.get("n_solutions", 1)]
                assert errors == pytest.approx(due, rel=1e-7, abs=self.margin)
            return
        limit, slack = (1.0 + self.pool["solution_tol"]) * best, self.margin + 1e-8 * best
        assert (errors <= (1.0 + self.pool["solution_tol"]) * errors[0] + slack).all()
        if model.certificate_.list_complete:
            assert {s for s, error in self.choices.items() if error <= limit - slack} <= set(found)


def quiet(call):
    """Without warnings of ranks, scales and lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def fitted(problem: Problem, model):
    """The fitted model, or None if it says rightly that nothing obeys."""
    if problem.choices:
        return quiet(lambda: model.fit(problem.X, problem.Y, sample_weight=problem.weights))
    with pytest.raises(ValueError, match=CONFLICT):
        model.fit(problem.X, problem.Y, sample_weight=problem.weights)
    return None


@BLOCK
def test_selectors(block):
    for seed in range(PROBLEMS * block, PROBLEMS * (block + 1)):
        problem = Problem(seed)
        for limit in LIMITS:
            model = ColumnSelector(problem.size, **problem.given, **problem.pool, max_nodes=limit)
            if fitted(problem, model) is None:
                break
            problem.check(model.certificate_, problem.choices)
            problem.check_pool(model)
            if limit is None:
                assert model.certificate_.status in ("optimal", "precision_limit")


@BLOCK
def test_regression(block):
    for seed in range(PROBLEMS * block, PROBLEMS * (block + 1)):
        problem = Problem(seed, regression=True)
        if problem.size is None:
            continue
        for limit in LIMITS:
            model = SubsetRegressor(
                problem.size, alpha=problem.alpha, fit_intercept=problem.center,
                include=problem.include, exclude=problem.exclude, time_limit=None,
                constraints=problem.constraints, max_nodes=limit, **problem.pool,
            )  # fmt: skip
            if fitted(problem, model) is None:
                break
            problem.check(model.certificate_, problem.choices)
            problem.check_pool(model)


@BLOCK
def test_certificates_of_given_columns(block):
    for seed in range(PROBLEMS * block, PROBLEMS * (block + 1)):
        problem = Problem(seed)
        if not problem.choices:
            continue
        at = int(problem.rng.integers(len(problem.choices)))
        columns = list(problem.choices)[at]
        choices = problem.choices
        if not problem.constraints or problem.size is None:
            rivals = problem.of_size(None)
            size = None if problem.constraints else len(columns)
            choices = {s: e for s, e in rivals.items() if size in (None, len(s))}
        if any(hasattr(one, "budget") for one in problem.constraints):
            choices = problem.of_size(None)
        for limit in LIMITS:
            found = quiet(lambda: certify(
                problem.X, columns, y=problem.Y, sample_weight=problem.weights,  # noqa: B023
                max_nodes=limit, **problem.given,  # noqa: B023
            ))  # fmt: skip
            best = min(choices.values())
            assert found.selection == columns
            assert found.error == pytest.approx(choices[columns], rel=1e-7, abs=problem.margin)
            assert found.lower_bound <= best + problem.margin
            assert found.status != "optimal" or found.error <= best + problem.margin
            assert found.better is None or choices[found.better] < found.error + problem.margin


@BLOCK
def test_paths(block):
    for seed in range(PROBLEMS * block, PROBLEMS * (block + 1)):
        problem = Problem(seed)
        largest = problem.size or 3
        limit = LIMITS[seed % len(LIMITS)]
        sizes = {k: c for k in range(1, largest + 1) if (c := problem.of_size(k))}

        def path():
            return selection_path(
                problem.X, largest, y=problem.Y, sample_weight=problem.weights,  # noqa: B023
                max_nodes=limit, **problem.given,  # noqa: B023
            )  # fmt: skip

        if not sizes:
            with pytest.raises(ValueError, match=CONFLICT):
                path()
            continue
        steps = list(quiet(path))
        assert len(steps) == len(sizes)
        for step, choices in zip(steps, sizes.values(), strict=True):
            problem.check(step.certificate, choices)


@BLOCK
def test_verdicts(block):
    """What is proven of columns, and of whole groups, where only some sets obey."""
    for seed in range(PROBLEMS * block, PROBLEMS * (block + 1)):
        problem = Problem(seed)
        if not problem.choices:
            continue
        tol, most = float(problem.rng.choice([0.0, 0.1, 0.5])), int(problem.rng.choice([1, 2, 3]))
        for limit in (None, 0, 1, 3, 8):
            found = quiet(lambda: column_verdicts(
                problem.X, problem.size, y=problem.Y, sample_weight=problem.weights,  # noqa: B023
                tol=tol, n_solutions=most, max_nodes=limit, **problem.given,  # noqa: B023
            ))  # fmt: skip
            problem.check(found.certificate, problem.choices)
            check_verdicts(problem, found, tol, complete=limit is None)


def check_verdicts(problem: Problem, found, tol: float, *, complete: bool) -> None:
    """No verdict is wrong, and none is left open but by a limit or rounding."""
    best = min(problem.choices.values())
    limit, slack = (1.0 + tol) * best, problem.margin + 1e-8 * best
    surely = {s for s, error in problem.choices.items() if error <= limit - slack}
    every = {s for s, error in problem.choices.items() if error <= limit + slack}
    for j, verdict in enumerate(found.verdicts):
        certain, possible = ({j in subset for subset in sets} for sets in (surely, every))
        if verdict == "necessary":
            assert False not in certain
        elif verdict == "useless":
            assert True not in certain
        elif verdict == "replaceable":
            assert len(possible) == 2
        elif complete:
            assert certain != possible or not surely
        for i, ends in enumerate((found.error_with, found.error_without)):
            errors = [e for s, e in problem.choices.items() if (j in s) == (i == 0)]
            least = min(errors, default=np.inf)
            assert ends[j][0] <= least + slack
            assert least <= ends[j][1] + slack
    for group in [c for c in problem.constraints if isinstance(c, Groups)]:
        for label in set(group.labels):
            alike = [v for v, one in zip(found.verdicts, group.labels, strict=True) if one == label]
            assert len(set(alike)) == 1
