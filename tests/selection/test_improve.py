"""Exchanges with a memory against explicit least squares and against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist.criteria import Frobenius
from columnist.linalg._reduce import reduce_data
from columnist.search import Limits, search
from columnist.search._policies import Policy
from columnist.selection import _improve
from columnist.selection._columns import column_problem
from columnist.selection._improve import GramImprover, improve_by_gram
from columnist.selection._swaps import add_columns, exchange_columns
from tests.examples import examples
from tests.oracles.brute_force import subset_error


def correlated(m, n, rng):
    """Columns that share a few factors, where exchanges of one column get stuck."""
    factors = rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))
    return factors + 0.3 * rng.standard_normal((m, n))


def problem(seed, m=20, n=12, n_targets=1):
    """Data, and the targets; without any, the data themselves."""
    rng = np.random.default_rng(seed)
    X = correlated(m, n, rng)
    Y = X @ rng.standard_normal((n, n_targets)) + rng.standard_normal((m, n_targets))
    return X, Y if n_targets else X


def error(X, Y, subset):
    return subset_error(X, list(subset), Frobenius(), Y=Y)


def least(X, Y, subsets):
    """Error of the best of many subsets, all at once."""
    U, s, _ = np.linalg.svd(X[:, np.array(subsets)].transpose(1, 0, 2), full_matrices=False)
    U *= (s > 1e-10 * s[:, :1])[:, None, :]
    return np.sum(Y**2) - np.square(U.transpose(0, 2, 1) @ Y).sum(axis=(1, 2)).max()


def improved(X, Y, size, **options):
    return improve_by_gram(X.T @ X, X.T @ Y, size, **options)


@pytest.mark.parametrize("n_targets", [0, 1, 3, 9])
def test_figures_are_least_squares(n_targets):
    X, Y = problem(0, n=8, n_targets=n_targets)
    improver = GramImprover(X.T @ X, X.T @ Y, 4, [1], [0, 2, 3, 5, 6, 7])
    improver._current = [1, 5, 0, 6]
    fit = improver._fit(improver._current)
    before = error(X, Y, improver._current)
    assert np.sum(Y**2) - fit.energy == pytest.approx(before)
    gains = improver._gains(fit)
    assert np.isneginf(gains[0]).all()  # column 1 stays
    assert np.isneginf(gains[:, [0, 1, 4, 5, 6]]).all()
    for position in (1, 2, 3):
        for item in (2, 3, 7):
            trial = improver._current.copy()
            trial[position] = item
            assert gains[position, item] == pytest.approx(before - error(X, Y, trial), abs=1e-8)


@pytest.mark.parametrize("n_targets", [0, 1, 3])
def test_finds_what_exchanges_of_one_column_miss(n_targets):
    """Every optimum is found; single exchanges miss some."""
    missed = 0
    for seed in range(12):
        X, Y = problem(seed, n_targets=n_targets)
        best = least(X, Y, list(combinations(range(12), 5)))
        found = improved(X, Y, 5, budget=1e8)
        assert error(X, Y, found) == pytest.approx(best)
        reduced = reduce_data(X, Y if n_targets else None)
        columns, weights = reduced.columns, reduced.weights
        start = add_columns(columns, weights, [], np.arange(12), 5)
        single = exchange_columns(columns, weights, start)[0]
        missed += error(X, Y, single) > best * (1 + 1e-6)
    assert missed > 0


def test_never_worse_than_any_start():
    for seed in range(examples(50)):
        X, Y = problem(seed, n=15, n_targets=seed % 3)
        rng = np.random.default_rng(seed)
        starts = [rng.choice(15, 6, replace=False).tolist() for _ in range(3)]
        found = improved(X, Y, 6, starts=starts, budget=3e7)
        assert len(set(found)) == 6
        best = min(error(X, Y, start) for start in starts)
        assert error(X, Y, found) <= best * (1 + 1e-9)


def test_columns_that_must_and_must_not_be_chosen():
    for seed in range(examples(50)):
        X, Y = problem(seed, n_targets=seed % 3)
        rng = np.random.default_rng(seed)
        order = rng.permutation(12)
        include, exclude, candidates = order[:2], order[2:4], order[4:]
        # A start may ignore them.
        found = improved(
            X, Y, 5, include=include, candidates=candidates, starts=[order[2:7]], budget=1e8
        )
        assert len(set(found)) == len(found) == 5
        assert set(include) <= set(found)
        assert not set(exclude) & set(found)
        best = least(X, Y, [[*include, *some] for some in combinations(candidates, 3)])
        assert error(X, Y, found) == pytest.approx(best)


@pytest.mark.parametrize("n_targets", [0, 1])
def test_copies_zeros_and_sums(n_targets):
    """Columns that depend on others take no room while there are better ones."""
    for seed in range(examples(30)):
        X, Y = problem(seed, n=8, n_targets=n_targets)
        copies = X[:, :3], np.zeros(20), 1e-3 * X[:, 3], X[:, 0] + X[:, 4]
        X = np.column_stack([X, *copies])
        Y = Y if n_targets else X
        found = improved(X, Y, 4, starts=[[0, 8, 11, 12]], budget=1e8)
        assert len(set(found)) == 4
        best = least(X, Y, list(combinations(range(14), 4)))
        assert error(X, Y, found) == pytest.approx(best)


def test_more_columns_than_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3)) @ rng.standard_normal((3, 9))
    X[:, 4] = 0.0
    found = improved(X, X, 6, include=[4, 0, 1, 2, 3], budget=1e7)
    assert set(found) > {0, 1, 2, 3, 4}
    assert len(found) == 6
    assert len(improved(np.zeros((5, 4)), np.zeros((5, 2)), 3)) == 3


def test_near_copies_do_no_harm():
    for seed in range(examples(30)):
        X, Y = problem(seed, n=8)
        rng = np.random.default_rng(seed)
        near = X[:, :4] + 10.0 ** rng.uniform(-9, -3, 4) * rng.standard_normal((20, 4))
        X = np.column_stack([X, near])
        start = rng.choice(8, 4, replace=False)
        found = improved(X, Y, 4, starts=[start], budget=1e8)
        assert len(set(found)) == 4
        assert error(X, Y, found) <= error(X, Y, start) * (1 + 1e-6)


def test_one_set_is_completed_without_time():
    X, Y = problem(0)
    assert len(improved(X, Y, 5, budget=1.0, deadline=-np.inf)) == 5


def test_goes_on_where_it_stopped():
    X, Y = problem(1, m=30, n=25, n_targets=2)
    improver = GramImprover(X.T @ X, X.T @ Y, 8, [], np.arange(25))
    errors = [error(X, Y, improver.run(1e6)) for _ in range(30)]
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    assert errors[-1] == pytest.approx(error(X, Y, improved(X, Y, 8, budget=1e8)))


# --- columns in reduced coordinates -----------------------------------------------------------


def columns_of(X, Y, size, **options):
    reduced = reduce_data(X, None if Y is X else Y)
    return column_problem(reduced, size, criterion=Frobenius(), **options)


@pytest.mark.parametrize("listed", [6, 1000])
@pytest.mark.parametrize("n_targets", [0, 1, 3])
def test_problems_improve_what_they_know(n_targets, listed, monkeypatch):
    """Of a long list, some columns take part; what must or must not be chosen is."""
    monkeypatch.setattr(_improve, "_LISTED", listed)
    X, Y = problem(3, n_targets=n_targets)
    options = {"include": [4], "candidates": np.array([0, 1, 2, 3, 5, 6, 7, 8, 9])}
    columns = columns_of(X, Y, 4, **options)
    known = (0, 1, 2, 4)
    assert columns.improve(known, 10.0, np.inf) is None  # too little for the inner products
    found = columns.improve(known, 1e8, np.inf)
    assert len(set(found)) == 4
    assert 4 in found
    assert not {10, 11} & set(found)
    assert columns.value(found) <= columns.value(known) * (1 + 1e-9)
    if listed == 1000:
        best = least(X, Y, [[4, *some] for some in combinations(options["candidates"], 3)])
        assert columns.value(found) == pytest.approx(best)
    again = columns.improve(tuple(found), 1e6, np.inf)
    assert columns.value(again) == pytest.approx(columns.value(found))


def test_open_searches_improve_their_sets():
    """Stopped after a few nodes, most searches know the best set, whatever the threads."""
    better = 0
    for seed in range(12):
        X, _ = problem(seed, m=40, n=24, n_targets=0)
        columns = columns_of(X, X, 10)
        known = [*columns.incumbents(*columns.root(), np.inf)][-1]
        limits, policy = Limits(max_nodes=40), Policy("optimal")
        results = [search(columns_of(X, X, 10), policy, limits, n_jobs=n_jobs) for n_jobs in (1, 2)]
        assert results[0].solutions[0][1] == results[1].solutions[0][1]
        better += results[0].solutions[0][0] < columns.value(known) * (1 - 1e-6)
    assert better > 0
