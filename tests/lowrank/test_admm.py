from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.lowrank._admm import admm
from columnist.lowrank._factors import Start
from columnist.lowrank._solve import Solver
from columnist.lowrank._table import as_table
from tests.oracles.lowrank import longest_run, masked_objective, robust_descent
from tests.strategies import matrices


def sparse_factor_data(seed: int, *, n=40, p=20, rank=2, k=6, n_corrupt=0) -> np.ndarray:
    """Few columns with signal, small noise; outlying rows lie in the other columns."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((p, rank))
    Y[:k] = rng.standard_normal((k, rank))
    A = rng.standard_normal((n, rank)) @ Y.T + 0.3 * rng.standard_normal((n, p))
    A[:n_corrupt, k:] += 10.0 * rng.standard_normal((n_corrupt, p - k))
    return A


def solver(A, rank, loss, *, method="admm", tol=1e-5, n_starts=4, max_iter=3000) -> Solver:
    return Solver.of(
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
