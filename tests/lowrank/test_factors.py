"""Factors: what they cost, and the two ways to improve them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.lowrank._factors import (
    Factors,
    Start,
    admm,
    alternate,
    canonical,
    objective_of,
    penalty_of,
    polar,
)
from columnist.lowrank._solve import Solver
from columnist.lowrank._table import Filled, as_table
from tests.oracles.lowrank import longest_run, masked_objective, objective, robust_descent
from tests.strategies import matrices


def factors(X, Y) -> Factors:
    return Factors(X, Y, np.ones(len(Y)), 0.0, np.zeros(1), np.zeros((1, 2)), True)


@given(matrices(min_rows=3, min_columns=1, max_columns=3))
def test_polar_maximises_the_inner_product(M):
    X = polar(M)
    np.testing.assert_allclose(X.T @ X, np.eye(M.shape[1]), atol=1e-12)
    nuclear = np.linalg.svd(M, compute_uv=False).sum()
    assert np.vdot(X, M) == pytest.approx(nuclear, abs=1e-12 * (1.0 + nuclear))


def test_polar_of_a_tall_matrix_is_that_of_scipy():
    M = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(polar(M), scipy.linalg.polar(M)[0], atol=1e-13)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@given(matrices(min_rows=3, min_columns=2))
def test_turning_changes_neither_product_nor_lengths(loss, A):
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((len(A), 2)))[0]
    Y = rng.standard_normal((A.shape[1], 2)) * rng.integers(0, 2, (A.shape[1], 1))
    turned = canonical(factors(X, Y))
    np.testing.assert_allclose(turned.X @ turned.Y.T, X @ Y.T, atol=1e-12)
    np.testing.assert_array_equal(turned.Y.any(axis=1), Y.any(axis=1))
    gram = turned.Y.T @ turned.Y
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    assert gram[0, 0] >= gram[1, 1] - 1e-12
    exact = objective(A, X, Y, 0.7, loss)
    penalties = np.full(len(Y), 0.7)
    ours = objective_of(as_table(A, "none"), turned.X, turned.Y, penalties, loss)
    assert ours == pytest.approx(exact, rel=1e-10)
    if loss == "quadratic":
        sparse = objective_of(as_table(sp.csr_array(A), "none"), X, Y, penalties, loss)
        assert sparse == pytest.approx(exact, rel=1e-9)


def test_the_turn_is_fixed():
    rng = np.random.default_rng(2)
    X, Y = np.linalg.qr(rng.standard_normal((5, 2)))[0], rng.standard_normal((4, 2))
    R = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    one, other = canonical(factors(X, Y)), canonical(factors(X @ R, Y @ R))
    np.testing.assert_allclose(one.Y, other.Y, atol=1e-12)
    np.testing.assert_allclose(one.X, other.X, atol=1e-12)


def test_a_column_that_is_kept_out_costs_nothing():
    Y = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert penalty_of(Y, np.array([2.0, np.inf])) == 10.0
    assert factors(np.eye(3, 2), Y).n_active == 1


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


def sparse_factor_data(seed: int, *, n=40, p=20, rank=2, k=6, n_corrupt=0) -> np.ndarray:
    """Few columns with signal, small noise; outlying rows lie in the other columns."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((p, rank))
    Y[:k] = rng.standard_normal((k, rank))
    A = rng.standard_normal((n, rank)) @ Y.T + 0.3 * rng.standard_normal((n, p))
    A[:n_corrupt, k:] += 10.0 * rng.standard_normal((n_corrupt, p - k))
    return A


def solver(A, rank, loss, *, method="admm", tol=1e-5, n_starts=4, max_iter=3000) -> Solver:
    return Solver(
        as_table(A, "none"), rank, loss, method=method, n_starts=n_starts, tol=tol,
        max_iter=max_iter, rng=np.random.default_rng(0),
    )  # fmt: skip


@settings(max_examples=30)
@given(
    matrices(min_rows=3, min_columns=2), st.sampled_from(["quadratic", "robust"]),
    st.floats(0.0, 0.9), st.booleans(),
)  # fmt: skip
def test_the_best_point_on_the_way_is_returned(A, loss, share, holes):
    if holes:
        A = np.where(np.random.default_rng(0).random(A.shape) < 0.2, np.nan, A)
    table = as_table(A, "none")
    alpha = share * table.pull_limits(loss).max(initial=0.0)
    start = Start(np.linalg.qr(np.random.default_rng(1).standard_normal((len(A), 1)))[0])
    found = admm(table, [start], np.full(A.shape[1], alpha), loss, tol=1e-4, max_iter=60)
    scale = table.energy() if loss == "quadratic" else np.sqrt(table.energy())
    exact = masked_objective(A, found.X, found.Y, alpha, loss)
    np.testing.assert_allclose(found.objective, exact, atol=1e-10 * scale + 1e-300)
    assert found.objective <= found.history.min()
    np.testing.assert_allclose(found.X.T @ found.X, np.eye(1), atol=1e-12)
    assert found.residuals.shape == (len(found.history), 2)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_squares_agree_with_the_alternating_minimisation(share):
    A = sparse_factor_data(0)
    one, other = solver(A, 2, "quadratic"), solver(A, 2, "quadratic", method="alternate", tol=1e-8)
    alpha = share * one.top
    assert one.solve(alpha).objective == pytest.approx(other.solve(alpha).objective, rel=1e-6)


@pytest.mark.parametrize("n_corrupt", [0, 2])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_no_worse_than_long_runs_of_another_solver(share, n_corrupt):
    A = sparse_factor_data(1, n=20, p=10, k=4, n_corrupt=n_corrupt)
    ours = solver(A, 2, "robust", n_starts=10)
    alpha = share * ours.top
    found = ours.solve(alpha)
    assert found.converged
    best = longest_run(A, 2, alpha, 8, 300, np.random.default_rng(2))
    assert found.objective <= best * (1.0 + 2e-4)


def test_descent_from_our_point_finds_nothing_better():
    A = sparse_factor_data(2, n_corrupt=4)
    ours = solver(A, 2, "robust", tol=1e-6)
    alpha = 0.2 * ours.top
    found = ours.solve(alpha)
    X, Y = robust_descent(A, found.X, alpha, 3000)
    assert found.objective <= masked_objective(A, X, Y, alpha, "robust") * (1.0 + 1e-6)


def test_stationarity_in_the_loadings():
    A = sparse_factor_data(3)
    ours = solver(A, 2, "robust", tol=1e-8, max_iter=20_000)
    alpha = 0.2 * ours.top
    found = ours.solve(alpha)
    E = A - found.X @ found.Y.T
    pulls = (E / np.linalg.norm(E, axis=1, keepdims=True)).T @ found.X
    lengths = np.linalg.norm(found.Y, axis=1)
    active = lengths > 0.0
    assert 0 < active.sum() < len(active)
    expected = alpha * found.Y[active] / lengths[active, None]
    np.testing.assert_allclose(pulls[active], expected, atol=1e-4 * alpha)
    assert (np.linalg.norm(pulls[~active], axis=1) <= alpha * (1.0 + 1e-4)).all()


def test_holes_without_holes():
    A = sparse_factor_data(4)
    table = as_table(A, "none")
    full = solver(A, 2, "robust").solve(0.5)
    masked = admm(
        type(table)(A, table.center, None, np.zeros(A.shape, dtype=bool)),
        solver(A, 2, "robust").starts, np.full(20, 0.5), "robust", tol=1e-5, max_iter=3000,
    )  # fmt: skip
    assert masked.objective == pytest.approx(full.objective, rel=1e-12)


def test_the_end_of_the_iterations_is_told():
    A = sparse_factor_data(5)
    found = solver(A, 2, "robust", max_iter=2).solve(0.1)
    assert len(found.history) == 2 and not found.converged
