"""Coordinate descent against a plain NumPy one, sweep by sweep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral._l21_coordinate import descend_columns, descend_gram
from tests.oracles.row_sparse import coordinate_descent, subgradient_error
from tests.strategies import matrices


def by_gram(X, Y, t, sweeps, tol=0.0):
    W = np.zeros((X.shape[1], Y.shape[1]))
    Q = X.T @ Y
    made = descend_gram(X.T @ X, Q, W, t, np.empty(Y.shape[1]), tol, sweeps)
    np.testing.assert_allclose(
        Q, X.T @ (Y - X @ W), atol=1e-11 * (1 + np.abs(X).max(initial=0.0) ** 2)
    )
    return W, made


def by_columns(X, Y, t, sweeps, tol=0.0):
    W = np.zeros((X.shape[1], Y.shape[1]))
    R = Y.T.copy()
    columns, squares = np.ascontiguousarray(X.T), np.einsum("ij,ij->j", X, X)
    made = descend_columns(columns, squares, R, W, t, np.empty((2, Y.shape[1])), tol, sweeps)
    np.testing.assert_allclose(R.T, Y - X @ W, atol=1e-11 * (1 + np.abs(X).max(initial=0.0)))
    return W, made


@pytest.mark.parametrize("descend", [by_gram, by_columns])
@given(matrices(), st.integers(1, 3), st.integers(1, 5), st.floats(0.01, 1.1))
def test_sweeps_are_those_of_plain_coordinate_descent(descend, X, q, sweeps, share):
    """The oracle's objective has no factor 1/2, so its penalty is twice ours."""
    Y = np.random.default_rng(0).standard_normal((len(X), q))
    t = share * (np.linalg.norm(X.T @ Y, axis=1).max() or 1.0)
    W, _ = descend(X, Y, t, sweeps)
    expected = coordinate_descent(X, Y, 2 * t, sweeps=sweeps)
    np.testing.assert_allclose(W, expected, atol=1e-10 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("descend", [by_gram, by_columns])
def test_converges_to_the_minimum_and_stops(descend):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((30, 12)), rng.standard_normal((30, 4))
    t = 0.3 * np.linalg.norm(X.T @ Y, axis=1).max()
    W, made = descend(X, Y, t, 10_000, 1e-13)
    assert made < 1000
    assert 0 < np.count_nonzero(np.linalg.norm(W, axis=1)) < 12
    assert subgradient_error(W, X.T @ (X @ W - Y), t) < 1e-10


@pytest.mark.parametrize("descend", [by_gram, by_columns])
def test_zero_columns_and_nothing_at_all(descend):
    X, Y = np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones((2, 1))
    W, _ = descend(X, Y, 0.0, 10)
    np.testing.assert_array_equal(W, [[1.0], [0.0]])
    W, made = descend(np.zeros((2, 0)), Y, 1.0, 10)
    assert W.shape == (0, 1) and made == 0


def test_a_row_that_is_too_short_becomes_zero():
    W = np.array([[5.0, 5.0]])
    Q = np.array([[1.0, 0.0]]) - W
    descend_gram(np.eye(1), Q, W, 1.0, np.empty(2), 0.0, 1)
    np.testing.assert_array_equal(W, 0.0)
    np.testing.assert_array_equal(Q, [[1.0, 0.0]])
