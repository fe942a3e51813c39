"""The outlier problem against enumeration: every criterion, centring and stopping point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.criteria import Frobenius, Nuclear, Schatten, Spectral, is_frobenius
from columnist.robust import _block_floors
from columnist.robust._block_floors import BlockFloors
from columnist.robust._errors import RowErrors
from columnist.robust._solve import RemovedRows, Scatter
from columnist.search._engine import search
from columnist.search._policies import get_policy
from columnist.search._problem import Demand
from columnist.search._run import Limits
from tests.oracles.outliers import best_rows, row_errors
from tests.strategies import CRITERIA, matrices, tolerance


def removed_rows(X, r, k, criterion, centred=True, most_sets=None):
    """The problem; with bounds by blocks that list so many sets, if there is a number."""
    problem = RemovedRows(RowErrors(X, r, criterion, "optimal" if centred else "none"), k)
    if most_sets is not None and not is_frobenius(criterion):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_block_floors, "_MOST_SETS", most_sets)
            problem.blocks = BlockFloors(problem.row_errors, k)
    return problem


@st.composite
def cases(draw, max_rows=9):
    """A problem, its data and how it is centred."""
    X = draw(matrices(min_rows=3, max_rows=max_rows, max_columns=5))
    k = draw(st.integers(0, min(4, len(X) - 2)))
    r = draw(st.integers(0, min(2, len(X) - k, X.shape[1])))
    criterion, centred = draw(st.sampled_from(CRITERIA)), draw(st.booleans())
    most_sets = draw(st.sampled_from([None, 0, 30, 60, 10**4]))
    problem = removed_rows(X, r, k, criterion, centred, most_sets)
    return problem, X, "optimal" if centred else "none"


def enumerated(problem, X, centering):
    return row_errors(
        X, problem.n_components, problem.size, criterion=problem.criterion, centering=centering
    )


@settings(max_examples=150)
@given(cases())
def test_search_finds_the_optimum(case):
    problem, X, centering = case
    result = search(problem, get_policy("optimal"))
    optimum = min(enumerated(problem, X, centering).values())
    tol = tolerance(problem.criterion, X)
    assert result.status == "optimal"
    assert result.solutions[0][0] == pytest.approx(optimum, abs=tol)
    assert result.bound <= optimum + tol


@settings(max_examples=100)
@given(cases(), st.integers(0, 6), st.sampled_from(["optimal", "weighted", "greedy", "optimistic"]))
def test_bounds_hold_wherever_the_search_stops(case, nodes, order):
    problem, X, centering = case
    result = search(problem, get_policy(order, "u", 0.7), Limits(max_nodes=nodes))
    optimum = min(enumerated(problem, X, centering).values())
    tol = tolerance(problem.criterion, X)
    assert result.bound <= optimum + tol
    assert result.solutions[0][0] >= optimum - tol
    for entry in result.history:
        assert entry["bound"] <= optimum + tol


@settings(max_examples=100)
@given(cases(max_rows=7), st.booleans(), st.sampled_from([None, "u"]))
def test_no_set_below_the_threshold_is_lost(case, shortcut, weight):
    problem, X, centering = case
    errors = enumerated(problem, X, centering)
    tol = tolerance(problem.criterion, X)
    threshold = float(np.median(list(errors.values())))
    demand = Demand(threshold, weight, n_best=1000, shortcut=shortcut)
    chosen, candidates = problem.root()
    branches = problem.expand(chosen, candidates, demand, 0)
    goals = {tuple(sorted(subset)) for _, subset in branches.goals}
    places = {int(item): at for at, item in enumerate(branches.items)}
    for removed, error in errors.items():
        if error >= threshold - tol or removed in goals:
            continue
        assert set(removed) <= places.keys()  # so it lies below one of the children
        below = branches.f[[places[i] for i in removed]]
        assert branches.bound <= error + tol
        assert np.all(below[np.isfinite(below)] <= error + tol)


@settings(max_examples=60)
@given(cases())
def test_completion_errors_are_those_of_the_sets(case):
    problem, X, centering = case
    if problem.size == 0:
        return
    chosen = np.arange(problem.size - 1, dtype=np.int32)
    candidates = np.arange(problem.size - 1, len(X), dtype=np.int32)
    found = problem.completion_errors(chosen, candidates)
    errors = enumerated(problem, X, centering)
    exact = [errors[(*chosen.tolist(), int(i))] for i in candidates]
    # Eigenvalues of a scatter have half the digits of its singular values.
    slack = 1e-3 if isinstance(problem.criterion, Schatten) else 1e-6
    np.testing.assert_allclose(
        found, exact, atol=slack * problem.criterion.value([1 + abs(X).sum()])
    )


@pytest.mark.parametrize("centred", [False, True])
def test_scatter_after_removals(centred):
    X = np.random.default_rng(0).standard_normal((9, 4)) + 3.0
    removed = np.zeros(9, dtype=bool)
    removed[[2, 5]] = True
    candidates = np.array([0, 1, 3, 7, 8])
    moment = Scatter(X, removed, candidates, centred)

    def eigenvalues(rows):
        Z = X[rows] - (X[rows].mean(axis=0) if centred else 0.0)
        return np.linalg.eigvalsh(Z.T @ Z)[::-1]

    stay = np.flatnonzero(~removed)
    np.testing.assert_allclose(moment.lam, eigenvalues(stay), atol=1e-12 * moment.lam[0])
    for at, row in enumerate(candidates):
        one = np.diag(moment.lam) - np.outer(moment.Z[at], moment.Z[at])
        expected = eigenvalues(np.setdiff1d(stay, row))
        np.testing.assert_allclose(np.linalg.eigvalsh(one)[::-1], expected, atol=1e-10)
    three, _ = moment.after(np.array([0, 2, 4]))
    expected = eigenvalues(np.setdiff1d(stay, candidates[[0, 2, 4]]))
    np.testing.assert_allclose(np.linalg.eigvalsh(three)[::-1], expected, atol=1e-10)
    certain = np.setdiff1d(stay, candidates[[1, 2]])
    np.testing.assert_allclose(moment.untouched(np.array([1, 2])), eigenvalues(certain), atol=1e-10)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("width", [2, 3])
def test_products_tell_no_less_than_a_tuple_takes(centred, width):
    X = np.random.default_rng(1).standard_normal((8, 3)) + 2.0
    everyone = np.arange(8)
    moment = Scatter(X, np.zeros(8, dtype=bool), everyone, centred)
    cosines, inner = moment.products(everyone, width)
    assert np.array_equal(cosines, np.eye(8))
    some = np.array([0, 3, 6])[:width]
    taken = moment.lam.sum() - np.trace(moment.after(some)[0])
    assert taken <= inner[some, some].sum() * (1 + 1e-12)
    if not centred:
        assert taken == pytest.approx(inner[some, some].sum(), rel=1e-12)


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear(), Spectral()])
def test_more_dimensions_than_rows(criterion):
    X = np.random.default_rng(2).standard_normal((8, 40))
    problem = removed_rows(X, 2, 3, criterion)
    assert problem.rows.shape == (8, 8)
    result = search(problem, get_policy("optimal"))
    error, removed = best_rows(X, 2, 3, criterion=criterion)
    assert result.solutions[0][0] == pytest.approx(error, rel=1e-10)
    assert result.solutions[0][1] == removed


def test_workers_do_not_change_the_result():
    X = np.random.default_rng(3).standard_normal((24, 12))
    runs = [
        search(removed_rows(X, 1, 4, Nuclear()), get_policy("optimal"), n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert runs[0].solutions == runs[1].solutions
    assert runs[0].expanded == runs[1].expanded


def test_large_problems_skip_the_slow_starts(monkeypatch):
    X = np.random.default_rng(4).standard_normal((30, 3))
    problem = removed_rows(X, 1, 4, Nuclear())
    assert len(list(problem.incumbents(*problem.root(), np.inf))) == 3
    monkeypatch.setattr("columnist.robust._solve._MOST_WORK", 1.0)
    assert len(list(problem.incumbents(*problem.root(), np.inf))) == 1
