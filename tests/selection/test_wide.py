"""Searches by relaxation alone against enumeration: nodes, children, every stopping point."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist import SubsetRegressor
from columnist.data import Matrices
from columnist.search._problem import Demand, check_problem
from columnist.selection import _wide
from tests.examples import examples
from tests.oracles.best_subset import best_of_size, subset_error, subset_errors


@pytest.fixture(autouse=True, params=["as is", "short chains", "one form"])
def wide(request, monkeypatch):
    """Every problem is one of many columns, with each of the ways to branch."""
    monkeypatch.setattr(_wide, "_MANY", 0)
    if request.param == "short chains":
        monkeypatch.setattr(_wide, "_CHAIN", 2)
    if request.param == "one form":
        monkeypatch.setattr(_wide, "_SMALL", 0)


def problem(seed: int, p: int):
    """Correlated columns, little signal: nodes that do not close at once."""
    rng = np.random.default_rng(seed)
    n, q = p + int(rng.integers(4, 20)), int(rng.choice([1, 1, 2]))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.integers(-3, 4, p)
    Y = (X / np.linalg.norm(X, axis=0)) @ (rng.standard_normal((p, q)) * (rng.random((p, 1)) < 0.4))
    Y += rng.uniform(0.1, 1.0) * rng.standard_normal((n, q))
    return X, Y, float(rng.choice([0.0, 0.0, 1.0])), rng


def wide_problem(X, Y, alpha: float, size: int, include=()):
    matrices = Matrices(X, Y).with_ridge(alpha)
    allowed = np.setdiff1d(np.arange(X.shape[1]), include)
    data = _wide.wide_data(matrices, include, allowed, distinct=True)
    assert data is not None

    def interval(subset, limit=np.inf):
        error = subset_error(X, Y, subset, alpha)
        return error, error

    return data.problem(size, include, interval)


def check_node(seed: int) -> bool:
    """Whether a node was left open, and nothing below the threshold is lost by its expansion."""
    X, Y, alpha, rng = problem(seed, 6 + seed % 5)
    p = X.shape[1]
    order = rng.permutation(p).astype(np.int32)
    m = int(rng.integers(0, p - 4))
    chosen, candidates = order[:m], np.sort(order[m : m + int(rng.integers(4, p - m + 1))])
    t = int(rng.integers(1, len(candidates)))
    whole = wide_problem(X, Y, alpha, m + t)
    check_problem(whole)
    errors = {
        added: subset_error(X, Y, [*chosen.tolist(), *added], alpha)
        for added in combinations(candidates.tolist(), t)
    }
    best = min(errors.values())
    threshold = float(rng.choice([1.001 * best, 1.2 * best, np.median(list(errors.values()))]))
    demand = Demand(threshold)
    found = whole.expand(chosen, candidates, demand, 0)
    slack = 1e-9 * best
    fixed, goals = set(found.fixed.tolist()), {frozenset(s): e for e, s in found.goals}
    place = {int(item): i for i, item in enumerate(found.items)}
    assert len(place) == len(found.items)
    for added, error in errors.items():
        if error >= threshold - slack:
            continue
        complete = frozenset([*chosen.tolist(), *added])
        if complete in goals:
            assert goals[complete] <= error + slack, seed
            continue
        assert found.bound <= error + slack, seed
        assert fixed <= set(added), seed
        rest = set(added) - fixed
        assert rest <= set(place), seed
        assert found.f[max(place[item] for item in rest)] <= error + slack, seed
    return bool(np.isfinite(found.f).any())


def test_expansions_lose_nothing():
    seeds = range(examples(300))
    assert sum(check_node(seed) for seed in seeds) > 0.1 * len(seeds)


def test_searches_against_enumeration():
    for seed in range(examples(150)):
        X, Y, alpha, rng = problem(seed, 10)
        k, n_solutions = int(rng.integers(2, 8)), int(rng.choice([1, 4]))
        include = [int(rng.integers(10))] if rng.random() < 0.3 else []
        model = SubsetRegressor(
            k, alpha=alpha, include=include, n_solutions=n_solutions, time_limit=None,
            fit_intercept=bool(seed % 2),
        ).fit(X, Y)  # fmt: skip
        every = subset_errors(X, Y, k, alpha, center=bool(seed % 2), include=include)
        expected = [error for error, _ in every[:n_solutions]]
        found = [solution.error for solution in model.solutions_]
        np.testing.assert_allclose(found, expected, rtol=1e-8, err_msg=str(seed))
        assert model.certificate_.status == "optimal"
        assert model.certificate_.lower_bound <= expected[0] * (1 + 1e-8)


def test_every_stopping_point():
    stopped = 0
    for seed in range(examples(25)):
        X, Y, alpha, rng = problem(seed, 12)
        k = int(rng.integers(4, 8))
        best = best_of_size(X, Y, k, alpha)
        bounds = []
        for limit in range(1, 12):
            model = SubsetRegressor(k, alpha=alpha, max_nodes=limit, time_limit=None).fit(X, Y)
            certificate = model.certificate_
            assert certificate.lower_bound <= best * (1 + 1e-9), seed
            assert best <= certificate.error * (1 + 1e-9), seed
            bounds.append(certificate.lower_bound)
            if certificate.is_optimal:
                assert certificate.error == pytest.approx(best, rel=1e-8)
                break
            stopped += 1
        assert np.all(np.diff(bounds) >= -1e-9 * best), seed
    assert stopped > 0


def test_copies_are_one_column_unless_they_are_worth_something():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    X[:, 5], X[:, 7] = X[:, 1], -2.0 * X[:, 3]
    Y = X[:, [1, 3, 4]].sum(axis=1, keepdims=True) + rng.standard_normal((40, 1))
    for alpha, n_solutions in ((0.0, 1), (30.0, 1), (30.0, 3)):
        model = SubsetRegressor(4, alpha=alpha, n_solutions=n_solutions, time_limit=None).fit(X, Y)
        every = subset_errors(X, Y, 4, alpha)
        found = [solution.error for solution in model.solutions_]
        np.testing.assert_allclose(found, [e for e, _ in every[:n_solutions]], rtol=1e-8)
        assert model.certificate_.is_optimal


def test_workers_change_nothing():
    X, Y, alpha, _ = problem(3, 12)
    one, two = (
        SubsetRegressor(5, alpha=alpha, n_jobs=n, time_limit=None).fit(X, Y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.selected_, two.selected_)
    assert one.certificate_.lower_bound == pytest.approx(two.certificate_.lower_bound)


def test_when_there_is_nothing_to_relax():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6, 8)), rng.standard_normal((6, 1))
    every = np.arange(8)
    assert _wide.wide_data(Matrices(X), [], every, distinct=True) is None  # no target
    assert _wide.wide_data(Matrices(X, Y), [], every, distinct=True) is None  # dependent
    assert _wide.wide_data(Matrices(X, Y).with_ridge(0.1), [], every, distinct=True) is not None
