"""The path by its optimality conditions at every knot; its solver against the whole Hessian."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import MultiTaskLasso, lars_path

from columnist.linalg._prox import row_norms
from columnist.spectral._features import ScaledColumns
from columnist.spectral._l21_path import Curvature, l21_path, optimality, solve_rows
from tests.oracles.row_sparse import coordinate_descent, subgradient_error
from tests.strategies import matrices


def follow(X, Y, size):
    return l21_path(ScaledColumns.plain(X), Y, size)


def whole(knot, m, q):
    W = np.zeros((m, q))
    W[knot.rows] = knot.coef
    return W


def check(path, X, Y, size):
    """What every path must satisfy."""
    knots = path.knots
    alphas, residuals = [k.alpha for k in knots], [k.residual for k in knots]
    assert (np.diff(alphas) <= 0).all()
    assert (np.diff(residuals) <= 1e-9 * np.linalg.norm(Y)).all()
    inside = []
    for knot in knots:
        for j in knot.left:
            inside.remove(j)
        assert list(knot.rows) == inside
        inside += knot.entered
        W = whole(knot, X.shape[1], Y.shape[1])
        R = Y - X @ W
        assert knot.residual == pytest.approx(np.linalg.norm(R), abs=1e-12 * np.linalg.norm(Y))
        if knot.alpha > 0.0:
            assert subgradient_error(W, -X.T @ R, knot.alpha) < 1e-8
            assert knot.kkt < 1e-8
    assert len(knots[-1].rows) <= size
    assert knots[-1].entered == ()
    np.testing.assert_allclose(path.pulls, np.linalg.norm(X.T @ R, axis=1), atol=1e-9 * alphas[0])


@settings(max_examples=80)
@given(
    matrices(min_rows=2, max_rows=12, max_columns=14),
    st.integers(1, 3),
    st.integers(1, 14),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_optimal_at_every_knot(X, q, size, ties, seed):
    """Any shape: fewer rows than columns, copies, zero columns, dependencies, ties."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(-2, 3, (len(X), q)).astype(float) if ties else rng.standard_normal((len(X), q))
    size = min(size, X.shape[1])
    check(follow(X, Y, size), X, Y, size)


def random_problem(seed, n, m, q):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)), rng.standard_normal((n, q))


@pytest.mark.parametrize(
    ("n", "m", "q", "size"), [(60, 20, 3, 15), (30, 80, 4, 25), (40, 25, 2, 25)]
)
def test_coefficients_at_knots_are_those_of_a_full_solve(n, m, q, size):
    X, Y = random_problem(n, n, m, q)
    path = follow(X, Y, size)
    check(path, X, Y, size)
    for knot in path.knots[1::4] + path.knots[-1:]:
        lasso = MultiTaskLasso(
            alpha=knot.alpha / n, fit_intercept=False, tol=1e-13, max_iter=200_000
        ).fit(X, Y)
        W = whole(knot, m, q)
        np.testing.assert_allclose(W, lasso.coef_.T, atol=1e-6 * np.abs(W).max())
        assert set(np.flatnonzero(np.linalg.norm(lasso.coef_.T, axis=1) > 1e-6)) <= set(knot.rows)


@pytest.mark.parametrize("seed", range(5))
def test_one_response_is_the_lasso(seed):
    """The path of a single response is piecewise linear and known from least angle regression."""
    X, Y = random_problem(seed, 30, 12, 1)
    path = follow(X, Y, 12)
    alphas, order, coefs = lars_path(X, Y[:, 0], method="lasso")
    ours = [knot for knot in path.knots if knot.entered]
    entries = 30 * alphas
    for knot in ours:
        i = int(np.argmin(np.abs(entries - knot.alpha)))
        assert entries[i] == pytest.approx(knot.alpha, rel=1e-9)
        np.testing.assert_allclose(whole(knot, 12, 1)[:, 0], coefs[:, i], atol=1e-9)
    assert list(path.knots[-1].rows) == list(order)


@pytest.mark.parametrize("size", range(1, 26))
def test_exactly_as_many_as_asked_for(size):
    X, Y = random_problem(9, 30, 60, 3)
    knot = follow(X, Y, size).knots[-1]
    assert len(knot.rows) == size
    assert (np.linalg.norm(knot.coef, axis=1) > 0.0).all()


def test_rows_leave_and_come_back():
    """A problem, found by trial, in which coefficients return to zero on the way."""
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, 6)) @ rng.standard_normal((6, 15))
        Y = rng.standard_normal((12, 2))
        path = follow(X, Y, 8)
        check(path, X, Y, 8)
        found += any(knot.left for knot in path.knots)
    assert found > 1


def test_the_first_knot_is_where_all_is_zero():
    X, Y = random_problem(2, 20, 9, 3)
    pulls = np.linalg.norm(X.T @ Y, axis=1)
    first = follow(X, Y, 3).knots[0]
    assert first.alpha == pytest.approx(pulls.max())
    assert first.entered == (int(np.argmax(pulls)),)
    assert len(first.rows) == 0 and first.residual == pytest.approx(np.linalg.norm(Y))


def test_copies_never_enter():
    X, Y = random_problem(3, 20, 5, 2)
    X = X[:, [0, 1, 0, 2, 3, 1, 4, 0]]
    path = follow(X, Y, 8)
    check(path, X, Y, 8)
    assert sorted(path.knots[-1].rows) == [0, 1, 3, 4, 6]


def test_features_that_tie_enter_in_order_of_their_index():
    path = follow(np.eye(6), np.ones((6, 2)), 3)
    assert [knot.entered for knot in path.knots] == [(0,), (1,), (2,), ()]
    assert path.knots[-1].alpha == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize("Y", [np.zeros((4, 2)), np.array([[0.0], [0.0], [0.0], [1.0]])])
def test_nothing_to_explain(Y):
    X = np.array([[1.0, 2.0], [1.0, 0.0], [3.0, 1.0], [0.0, 0.0]])
    path = follow(X, Y, 2)
    assert len(path.knots) == 1 and len(path.knots[0].rows) == 0


def test_an_explained_response_ends_the_path():
    X, _ = random_problem(4, 30, 10, 1)
    Y = X[:, [2, 7]] @ np.array([[3.0, 1.0], [1.0, -2.0]])
    path = follow(X, Y, 10)
    check(path, X, Y, 10)
    end = path.knots[-1]
    assert set(end.rows) == {2, 7}
    assert end.residual < 1e-4 * np.linalg.norm(Y)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_scales_do_not_matter(scale):
    X, Y = random_problem(5, 20, 30, 2)
    plain, scaled = follow(X, Y, 10), follow(scale * X, Y, 10)
    np.testing.assert_array_equal(plain.knots[-1].rows, scaled.knots[-1].rows)
    np.testing.assert_allclose(scaled.knots[-1].coef * scale, plain.knots[-1].coef, rtol=1e-9)


@pytest.mark.parametrize("form", [sp.csc_matrix, lambda X: X.astype(np.float32)])
def test_other_kinds_of_matrices(form):
    X, Y = random_problem(6, 25, 40, 3)
    X = np.round(X, 1) * (np.abs(X) > 0.8)
    X = X.astype(np.float32).astype(np.float64)
    dense, other = follow(X, Y, 12), follow(form(X), Y, 12)
    np.testing.assert_array_equal(dense.knots[-1].rows, other.knots[-1].rows)
    np.testing.assert_allclose(dense.knots[-1].coef, other.knots[-1].coef, atol=1e-9)


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
