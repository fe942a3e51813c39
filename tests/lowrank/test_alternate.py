from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.lowrank._alternate import alternate
from columnist.lowrank._table import Filled, as_table
from tests.oracles.lowrank import masked_objective, objective
from tests.strategies import matrices


def scores(n: int, rank: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, rank)))[0]


def run(A, rank, share, *, tol=1e-4, max_iter=200):
    table = as_table(A, "none")
    alpha = share * table.pull_limits("quadratic").max()
    penalties = np.full(A.shape[1], alpha)
    return alpha, alternate(table, scores(len(A), rank), penalties, tol=tol, max_iter=max_iter)


@given(matrices(min_rows=2, min_columns=2), st.floats(0.0, 1.0), st.integers(0, 2**16))
def test_the_objective_never_rises(A, share, seed):
    holes = np.random.default_rng(seed).random(A.shape) < 0.2
    for data in (A, np.where(holes, np.nan, A)):
        alpha, found = run(data, 2, share)
        energy = np.nansum(A**2) + 1e-300
        assert (np.diff(found.history) <= 1e-12 * energy).all()
        exact = masked_objective(data, found.X, found.Y, alpha, "quadratic")
        np.testing.assert_allclose(found.history[-1], exact, atol=1e-12 * energy)
        np.testing.assert_allclose(found.X.T @ found.X, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_stationarity(share):
    A = np.random.default_rng(3).standard_normal((12, 9)) @ np.diag(np.arange(1.0, 10.0))
    alpha, found = run(A, 3, share, tol=1e-9, max_iter=20_000)
    assert found.converged
    X, Y = found.X, found.Y
    pulls = A.T @ X
    lengths = np.linalg.norm(Y, axis=1)
    active = lengths > 0.0
    assert 0 < active.sum() <= 9
    rebuilt = Y[active] * (1.0 + alpha / (2.0 * lengths[active]))[:, None]
    np.testing.assert_allclose(rebuilt, pulls[active], rtol=1e-10)
    assert (np.linalg.norm(pulls[~active], axis=1) <= alpha / 2.0).all()
    S = X.T @ A @ Y
    np.testing.assert_allclose(S, S.T, atol=1e-6 * np.abs(S).max())
    assert np.linalg.eigvalsh(0.5 * (S + S.T))[0] >= -1e-6 * np.abs(S).max()


def test_infinite_penalties_keep_columns_out():
    A = np.random.default_rng(4).standard_normal((10, 6))
    penalties = np.array([0.0, np.inf, 0.0, np.inf, 0.0, 0.0])
    found = alternate(as_table(A, "none"), scores(10, 2), penalties, tol=1e-9, max_iter=5000)
    kept = [0, 2, 4, 5]
    assert not found.Y[[1, 3]].any()
    left = np.linalg.svd(A[:, kept], compute_uv=False)[2:]
    assert found.objective == pytest.approx(np.sum(left**2) + np.sum(A[:, [1, 3]] ** 2))


def test_the_last_allowed_iteration_is_counted():
    A = np.random.default_rng(5).standard_normal((10, 6))
    alpha, found = run(A, 2, 0.1, tol=1e-15, max_iter=3)
    assert len(found.history) == 3 and not found.converged
    assert found.objective == pytest.approx(objective(A, found.X, found.Y, alpha, "quadratic"))


def test_holes_follow_the_model():
    A = np.array([[1.0, np.nan], [np.nan, 2.0]])
    filled = Filled(as_table(A, "none"))
    X, Y = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    assert filled.follow(X, Y) == (1.0 - 3.0) ** 2 + (2.0 - 8.0) ** 2
    np.testing.assert_array_equal(filled.table.values, [[1.0, 4.0], [6.0, 2.0]])
    assert np.isnan(A).sum() == 2
