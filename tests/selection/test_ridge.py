"""The ridge bound against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import columnist.selection._columns as module
from columnist.criteria import Frobenius
from columnist.linalg._reduce import reduce_data
from columnist.linalg._residual import blocked_energy, chosen_basis
from columnist.search._engine import search
from columnist.search._policies import get_policy
from columnist.search._run import Limits
from columnist.selection._columns import column_problem
from columnist.selection._ridge import own_noise, ridge_bounds


def factor_model(seed: int, n: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((30, 3)) @ rng.standard_normal((3, n))
    return factors + noise * rng.standard_normal((30, n))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.sampled_from([1e-3, 0.1, 1.0]))
def test_noise_is_contained_in_the_gram_matrix(seed, n, noise):
    X = factor_model(seed, n, noise)
    D = own_noise(np.ascontiguousarray(X.T))
    K = X.T @ X
    assert np.linalg.eigvalsh(K - np.diag(D))[0] >= -1e-12 * np.trace(K)
    assert (D > 0.0).all()


def test_dependent_columns_have_no_noise_of_their_own():
    X = factor_model(0, 5, 1.0)
    assert own_noise(np.ascontiguousarray(np.column_stack([X, X[:, 0]]).T)) is None
    assert own_noise(np.ones((4, 2))) is None


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(4, 8),
    st.integers(1, 4),
    st.sampled_from([0.03, 0.3, 1.0, 3.0]),
)
def test_bounds_hold_for_every_selection(seed, n, t, noise):
    reduced = reduce_data(factor_model(seed, n, noise))
    columns, weights = reduced.columns, reduced.weights
    D = own_noise(columns)
    bound, through = ridge_bounds(float(weights.sum()), weights, columns.T.copy(), D, t)
    target = np.diag(np.sqrt(weights))
    errors = {
        s: blocked_energy(target, chosen_basis(columns, s)) for s in combinations(range(n), t)
    }
    slack = 1e-9 * weights.sum()
    assert bound <= min(errors.values()) + slack
    for i in range(n):
        assert through[i] <= min(e for s, e in errors.items() if i in s) + slack
    assert bound <= through.min() + slack


def test_better_than_free_directions_on_noisy_columns():
    reduced = reduce_data(factor_model(1, 12, 1.0))
    weights = reduced.weights
    D = own_noise(reduced.columns)
    bound, _ = ridge_bounds(float(weights.sum()), weights, reduced.columns.T.copy(), D, 5)
    assert bound > 1.02 * weights[5:].sum()


def test_nothing_is_said_of_lists_as_short_as_the_selection():
    bound, through = ridge_bounds(1.0, np.ones(3), np.eye(3), np.full(3, 0.5), 3)
    assert bound == -np.inf
    assert (through == -np.inf).all()


@pytest.mark.parametrize("seed", range(12))
def test_in_the_search(seed, monkeypatch):
    monkeypatch.setattr(module, "_RIDGED", 4)
    monkeypatch.setattr(module, "_WORTHWHILE", 0.0)
    reduced = reduce_data(factor_model(seed, 10, 0.7))
    problem = column_problem(reduced, 5, criterion=Frobenius())
    best = min(problem.value(s) for s in combinations(range(10), 5))
    for limit in (0, 1, 3, np.inf):
        result = search(problem, get_policy("optimal"), Limits(max_nodes=limit))
        assert result.bound <= best * (1 + 1e-9)
    assert result.solutions[0][0] == pytest.approx(best, rel=1e-9)
