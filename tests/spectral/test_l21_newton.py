"""The curvature against the whole Hessian, and the solver by its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._prox import row_norms
from columnist.spectral._l21_newton import Curvature, optimality, solve_rows
from tests.oracles.row_sparse import coordinate_descent, subgradient_error
from tests.strategies import matrices


def hessian(G, W, t):
    """The second derivative as a matrix of all entries of W, row by row."""
    q = W.shape[1]
    H = np.kron(G, np.eye(q))
    for i, w in enumerate(W):
        length = np.linalg.norm(w)
        block = slice(i * q, (i + 1) * q)
        H[block, block] += t / length * (np.eye(q) - np.outer(w, w) / length**2)
    return H


@pytest.mark.parametrize("rows", [3, 10])  # G is singular in the first case
@pytest.mark.parametrize("q", [1, 4])
def test_curvature_inverts_the_hessian(rows, q):
    if rows == 3 and q == 1:
        return  # one response and dependent features: the Hessian G is singular
    rng = np.random.default_rng(rows + q)
    X = rng.standard_normal((rows, 5))
    W, t = rng.standard_normal((5, q)) * np.geomspace(1e-3, 1.0, 5)[:, None], 0.7
    R = rng.standard_normal((5, q))
    U = W / row_norms(W)[:, None]
    found = Curvature(X.T @ X, W, U, t).inverse(R)
    expected = np.linalg.solve(hessian(X.T @ X, W, t), R.ravel()).reshape(R.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_a_zero_row_moves_along_its_direction():
    """The limit of a row that shrinks to zero."""
    rng = np.random.default_rng(0)
    X, W, t = rng.standard_normal((9, 4)), rng.standard_normal((4, 3)), 0.5
    U, R = W / row_norms(W)[:, None], rng.standard_normal((4, 3))
    W[2] = 0.0
    found = Curvature(X.T @ X, W, U, t).inverse(R)
    np.testing.assert_allclose(np.cross(found[2], U[2]), 0.0, atol=1e-13)
    W[2] = 1e-9 * U[2]
    expected = np.linalg.solve(hessian(X.T @ X, W, t), R.ravel()).reshape(R.shape)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_dependent_rows_have_a_least_squares_inverse():
    """Two copies with the same direction: the curvature is singular, the step still finite."""
    G, W = np.ones((2, 2)), np.ones((2, 1))
    step = Curvature(G, W, np.ones((2, 1)), 1.0).inverse(np.ones((2, 1)))
    np.testing.assert_allclose(G @ step, 1.0)


@settings(max_examples=60)
@given(matrices(min_rows=2), st.integers(1, 3), st.floats(0.02, 1.2), st.integers(0, 2**32 - 1))
def test_solver_meets_the_optimality_conditions(X, q, share, seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((len(X), q))
    t = share * np.linalg.norm(X.T @ Y, axis=1).max() or 1.0
    start = rng.standard_normal((X.shape[1], q)) * rng.choice([0.0, 0.1, 10.0])
    W = solve_rows(X.T @ X, X.T @ Y, start, t)
    scale = 1 + np.abs(X).max() ** 2 * np.abs(W).sum() / t
    assert subgradient_error(W, X.T @ (X @ W - Y), t) < 1e-12 * scale + 1e-10
    oracle = coordinate_descent(X, Y, 2 * t)
    # Coefficients need not be unique, but the fit is.
    np.testing.assert_allclose(X @ W, X @ oracle, atol=1e-5 * (1 + np.abs(Y).max()))


def test_optimality_is_the_distance_to_the_subgradients():
    W = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    Q = np.array([[1.2, 1.6], [3.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(optimality(W, Q, 2.0), [0.0, 0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(optimality(-W, Q, 2.0)[0], 2.0)
