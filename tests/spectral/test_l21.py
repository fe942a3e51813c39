"""Row-sparse least squares: both solvers against each other, scikit-learn and the conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso

from columnist.spectral._l21 import l21_regression
from tests.oracles.row_sparse import subgradient_error
from tests.strategies import matrices

SOLVERS = ["accelerated", "coordinate"]


def problem(seed, n=40, m=15, q=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)), rng.standard_normal((n, q))


def objective(X, Y, W, alpha):
    return 0.5 * np.sum((Y - X @ W) ** 2) + alpha * np.linalg.norm(W, axis=1).sum()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "m"), [(40, 15), (20, 60)])
@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.95])
def test_equals_scikit_learn(solver, n, m, ratio):
    X, Y = problem(n, n, m)
    found = l21_regression(X, Y, alpha_ratio=ratio, solver=solver, tol=1e-13, max_iter=100_000)
    lasso = MultiTaskLasso(
        alpha=found.alpha / n, fit_intercept=False, tol=1e-13, max_iter=200_000
    ).fit(X, Y)
    np.testing.assert_allclose(found.W, lasso.coef_.T, atol=1e-5)
    assert found.converged and found.kkt < 1e-4
    assert found.objective <= objective(X, Y, lasso.coef_.T, found.alpha) * (1 + 1e-12)


@settings(max_examples=40)
@given(matrices(min_rows=2), st.integers(1, 3), st.floats(0.05, 1.2), st.integers(0, 2**32 - 1))
def test_solvers_agree(X, q, ratio, seed):
    Y = np.random.default_rng(seed).standard_normal((len(X), q))
    options = {"alpha_ratio": ratio, "tol": 1e-11, "max_iter": 100_000}
    first, second = (l21_regression(X, Y, solver=solver, **options) for solver in SOLVERS)
    assert first.alpha == second.alpha
    assert first.objective == pytest.approx(second.objective, rel=1e-10)
    # Coefficients need not be unique, but the fit is.
    np.testing.assert_allclose(X @ first.W, X @ second.W, atol=1e-4 * np.linalg.norm(Y))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_gap_is_a_proof(solver):
    X, Y = problem(1)
    best = l21_regression(X, Y, alpha_ratio=0.2, solver=solver, tol=1e-14, max_iter=100_000)
    for max_iter in (1, 3, 10):
        with pytest.warns(ConvergenceWarning, match="duality gap"):
            found = l21_regression(
                X, Y, alpha_ratio=0.2, solver=solver, tol=1e-14, max_iter=max_iter
            )
        assert not found.converged
        assert found.objective == pytest.approx(objective(X, Y, found.W, found.alpha))
        assert 0 < found.objective - best.objective <= found.gap


@pytest.mark.parametrize("solver", SOLVERS)
def test_optimality_conditions(solver):
    X, Y = problem(2)
    found = l21_regression(X, Y, alpha_ratio=0.3, solver=solver, tol=1e-14, max_iter=100_000)
    error = subgradient_error(found.W, X.T @ (X @ found.W - Y), found.alpha)
    assert error < 1e-6
    assert found.kkt == pytest.approx(max(error, 0.0), abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_from_the_largest_penalty_on(solver):
    X, Y = problem(3)
    largest = np.linalg.norm(X.T @ Y, axis=1).max()
    for alpha in (largest * (1 + 1e-12), 2 * largest):
        found = l21_regression(X, Y, alpha=alpha, solver=solver)
        np.testing.assert_array_equal(found.W, 0.0)
        assert found.kkt == 0.0 and found.gap == 0.0
    assert l21_regression(X, Y, alpha=0.99 * largest, solver=solver).W.any()
    assert l21_regression(X, Y, alpha_ratio=0.5).alpha == pytest.approx(0.5 * largest)


@pytest.mark.parametrize("solver", SOLVERS)
def test_starts_where_it_is_told(solver):
    X, Y = problem(4)
    options = {"alpha_ratio": 0.1, "solver": solver, "tol": 1e-10}
    cold = l21_regression(X, Y, **options)
    warm = l21_regression(X, Y, start=cold.W, **options)
    assert warm.n_iter <= 2 < cold.n_iter
    np.testing.assert_allclose(warm.W, cold.W, rtol=1e-12)
    near = l21_regression(X, Y, alpha_ratio=0.11, solver=solver, tol=1e-10).W
    start = near.copy()
    assert l21_regression(X, Y, start=near, **options).n_iter <= cold.n_iter
    np.testing.assert_array_equal(near, start)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, lambda X: X.astype(np.float32)])
def test_other_kinds_of_matrices(solver, form):
    X, Y = problem(5)
    X = np.round(X, 1) * (np.abs(X) > 0.7)
    X = X.astype(np.float32).astype(np.float64)
    options = {"alpha_ratio": 0.3, "solver": solver, "tol": 1e-12}
    dense, other = l21_regression(X, Y, **options), l21_regression(form(X), Y, **options)
    np.testing.assert_allclose(other.W, dense.W, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales_do_not_matter(scale):
    X, Y = problem(6)
    plain = l21_regression(X, Y, alpha_ratio=0.3)
    for solver in SOLVERS:
        found = l21_regression(scale * X, Y, alpha_ratio=0.3, solver=solver)
        np.testing.assert_allclose(found.W * scale, plain.W, atol=1e-4)
        found = l21_regression(X, scale * Y, alpha=plain.alpha * scale, solver=solver)
        np.testing.assert_allclose(found.W / scale, plain.W, atol=1e-4)


def test_one_response_may_be_a_vector():
    X, Y = problem(7, q=1)
    vector, matrix = (l21_regression(X, y, alpha_ratio=0.3) for y in (Y[:, 0], Y))
    np.testing.assert_array_equal(vector.W, matrix.W)
    again = l21_regression(X, Y, alpha_ratio=0.3, start=vector.W[:, 0])
    assert again.n_iter <= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either alpha or alpha_ratio"),
        ({"alpha": 1.0, "alpha_ratio": 0.5}, "either alpha or alpha_ratio"),
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"alpha": np.nan}, "alpha must be a number > 0"),
        ({"alpha_ratio": -1.0}, "alpha_ratio must be a number > 0"),
        ({"alpha": 1.0, "solver": "newton"}, "solver must be one of"),
        ({"alpha": 1.0, "tol": -1}, "tol must be"),
        ({"alpha": 1.0, "max_iter": 0}, "max_iter must be"),
        ({"alpha": 1.0, "start": np.zeros((3, 3))}, "start must have one row per feature"),
    ],
)
def test_bad_options(options, message):
    X, Y = problem(8)
    with pytest.raises(ValueError, match=message):
        l21_regression(X, Y, **options)


def test_bad_data():
    X, Y = problem(9)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        l21_regression(X, Y[1:], alpha=1.0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        l21_regression(X, Y, alpha=1.0)
