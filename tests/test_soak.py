"""The soak itself: its arithmetic, what it detects, and a short run."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tests import soak
from tests.soak.check import faults, truth_of
from tests.soak.criteria import BUILT_IN, formula
from tests.soak.problems import KINDS, Problem, draw, target_matrix
from tests.soak.run import Answer, ask
from tests.soak.shrink import shrunk
from tests.soak.store import as_code, as_dict, of_dict
from tests.soak.work import numbered


def exact_error(problem: Problem, columns: tuple[int, ...]) -> float:
    """Error of a selection, or of the rows left, with 60 digits."""
    with mpmath.workdps(60):
        if problem.is_rows:
            R = _centred(mpmath.matrix(np.delete(problem.X, columns, axis=0).tolist()))
        else:
            R = _residual(problem, columns)
        wide = R if R.rows >= R.cols else R.T
        s = np.array(sorted((float(x) for x in mpmath.svd_r(wide, compute_uv=False)), reverse=True))
    return float(formula(problem.criterion)(s[problem.option("n_components", 0) :]))


def _residual(problem: Problem, columns) -> mpmath.matrix:
    X = mpmath.matrix(problem.X.tolist())
    y = target_matrix(problem.y)
    T = X.copy() if y is None else mpmath.matrix(y.tolist())
    if problem.option("centering") == "mean":
        X, T = _centred(X), _centred(T)
    basis = []
    for j in columns:
        v = X[:, j]
        for _ in range(2):
            for q in basis:
                v -= q * (q.T * v)[0]
        if mpmath.norm(v) > mpmath.mpf(10) ** -40 * mpmath.norm(X[:, j]):
            basis.append(v / mpmath.norm(v))
    for q in basis:
        T -= q * (q.T * T)
    return T


def _centred(A: mpmath.matrix) -> mpmath.matrix:
    A = A.copy()
    for j in range(A.cols):
        mean = mpmath.fsum(A[:, j]) / A.rows
        for i in range(A.rows):
            A[i, j] -= mean
    return A


HOSTILE = ["near_copies", "near_dependent", "long_columns", "offsets", "dominating_direction"]


@pytest.mark.parametrize("kind", [*HOSTILE, "heavy_rows", "rows_direction", "rows_long_columns"])
def test_errors_have_all_their_digits(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        problem = draw(kind, rng)
        options = {"n_components": seed % 2, "centering": "optimal" if "rows" in kind else "none"}
        if kind == "offsets":
            options["centering"] = "mean"
        task = "outliers" if "rows" in kind else "select"
        criterion = str(rng.choice(BUILT_IN))
        problem = replace(
            problem, task=task, options=options, criterion=criterion, form="dense",
            size=problem.size or 2, constraints=(), weights=None,
        )  # fmt: skip
        truth = truth_of(problem, problem.size)
        truth.best()
        for columns in [truth.best_set(), truth.sets[0], truth.sets[-1]]:
            low, high = truth.of(columns)
            exact = exact_error(problem, columns)
            assert low * (1.0 - 1e-10) <= exact <= high * (1.0 + 1e-10)
            assert exact >= truth.low.min() * (1.0 - 1e-10)


def test_directions_of_rounding_have_two_readings():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9, 5))
    X[:, 4] = X[:, 0] * 0.3
    problem = Problem("rounded_copies", "select", X, 2, y=rng.standard_normal(9))
    exact, cut = (truth_of(problem, 2, exact=view) for view in (True, False))
    assert cut.rounded
    np.testing.assert_allclose(exact.of((0, 4))[0], exact_error(problem, (0, 4)), rtol=1e-10)
    alone = exact_error(problem, (0,))
    np.testing.assert_allclose(cut.of((0, 4))[0], alone, rtol=1e-10)
    assert exact.of((0, 4))[1] < 0.999 * alone


def test_best_sets_are_those_of_plain_enumeration():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8, 6))
    truth = truth_of(Problem("gaussian", "select", X, 3), 3)
    errors = []
    for columns in combinations(range(6), 3):
        Q = np.linalg.qr(X[:, columns])[0]
        errors.append(np.square(X - Q @ (Q.T @ X)).sum())
    np.testing.assert_allclose(truth.best(5), np.sort(errors)[:5], rtol=1e-9)


@pytest.fixture
def answered() -> tuple[Problem, Answer]:
    X = np.random.default_rng(0).standard_normal((9, 6))
    problem = Problem("gaussian", "select", X, 2, options={"n_solutions": 3}, decidable=True)
    answer = ask(problem)
    assert faults(problem, answer) == []
    return problem, answer


def _altered(answer: Answer, **changes) -> Answer:
    claim = answer.claims[0]
    certificate = {k: changes.pop(k) for k in ("status", "lower_bound", "error") if k in changes}
    claim = replace(claim, certificate=replace(claim.certificate, **certificate), **changes)
    return replace(answer, claims=[claim])


def _words(problem: Problem, answer: Answer) -> set[str]:
    return {fault.split(":")[0] for fault in faults(problem, answer)}


def test_a_false_bound_is_detected(answered):
    problem, answer = answered
    bound = answer.claims[0].certificate.error * (1.0 + 1e-8)
    assert _words(problem, _altered(answer, lower_bound=bound)) == {"bound"}


def test_a_false_optimum_is_detected(answered):
    problem, answer = answered
    claim = answer.claims[0]
    second = _altered(answer, sets=claim.sets[1:], errors=claim.errors[1:], error=claim.errors[1])
    assert "optimal" in _words(problem, second)


def test_a_false_pool_is_detected(answered):
    problem, answer = answered
    claim, truth = answer.claims[0], truth_of(problem, 2)
    worst = truth.sets[int(np.argmax(truth.high))]
    sets = (*claim.sets[:2], worst)
    errors = (*claim.errors[:2], truth.of(worst)[0])
    assert _words(problem, _altered(answer, sets=sets, errors=errors)) == {"pool"}


def test_a_false_error_is_detected(answered):
    problem, answer = answered
    claim = answer.claims[0]
    errors = (claim.errors[0] * (1.0 - 1e-7), *claim.errors[1:])
    assert _words(problem, _altered(answer, errors=errors)) == {"error"}


@pytest.mark.parametrize("status", ["gap_reached", "time_limit", "interrupted", "precision_limit"])
def test_a_false_status_is_detected(answered, status):
    problem, answer = answered
    words = _words(problem, _altered(answer, status=status))
    assert words <= {"status", "caution"} and "caution" in words


def test_files_keep_every_bit():
    for kind in KINDS:
        problem = draw(kind, np.random.default_rng(1))
        again = of_dict(as_dict(problem))
        np.testing.assert_array_equal(again.X, problem.X)
        assert as_code(again) == as_code(problem)


def test_failures_are_shrunk():
    X = np.arange(40.0).reshape(8, 5)
    problem = Problem("integers", "path", X, 3, form="csr", options={"exclude": [1]})

    def check(problem: Problem) -> list[str]:
        return ["large: yes"] if (problem.X > 38.0).any() else []

    small = shrunk(problem, "large", check)
    assert (small.task, small.form, small.size, small.X.shape) == ("select", "dense", 1, (2, 2))


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_short_run(first):
    for index in range(first, first + 10):
        problem = numbered(tuple(KINDS), 15, index)
        assert faults(problem, ask(problem)) == [], as_code(problem)


def test_the_stored_run_is_long_and_clean():
    stored = json.loads((Path(soak.__file__).parent / "result.json").read_text(encoding="utf-8"))
    assert stored["problems"] >= 100_000
    assert (stored["violations"], stored["examples"], stored["lost_workers"]) == (0, [], [])
    assert set(KINDS) <= set(stored["kinds"])
    assert sum(kind["problems"] for kind in stored["kinds"].values()) == stored["problems"]
