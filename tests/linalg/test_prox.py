"""Proximal maps by their definition, and the solver on top of them by its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from columnist.linalg._prox import (
    l21_norm,
    minimize_l21,
    nuclear_norm,
    quadratic_gap,
    row_norms,
    row_shrink,
    singular_value_shrink,
)
from tests.examples import examples
from tests.oracles.row_sparse import coordinate_descent, subgradient_error
from tests.strategies import matrices

thresholds = st.one_of(st.just(0.0), st.floats(1e-3, 10.0))


# --- maps ------------------------------------------------------------------------------------


def test_norms():
    W = np.random.default_rng(0).standard_normal((6, 4))
    assert l21_norm(W) == pytest.approx(sum(np.linalg.norm(row) for row in W))
    assert nuclear_norm(W) == pytest.approx(np.linalg.norm(W, "nuc"))
    np.testing.assert_allclose(row_norms(W), np.linalg.norm(W, axis=1))
    assert l21_norm(np.zeros((0, 3))) == 0.0


@given(matrices(), thresholds)
def test_row_shrink_by_subgradients(M, t):
    """(M - Z)/t is the direction of every nonzero row of Z, and no longer than 1 elsewhere."""
    Z = row_shrink(M, t)
    for m, z in zip(M, Z, strict=True):
        if z.any():
            scale = np.linalg.norm(m)
            np.testing.assert_allclose(m - z, t * z / np.linalg.norm(z), atol=1e-12 * scale)
        else:
            assert np.linalg.norm(m) <= t * (1 + 1e-12)


@given(matrices(), thresholds)
def test_row_shrink_is_moreau_dual_to_the_projection_on_balls(M, t):
    norms = row_norms(M)
    inside = M * np.minimum(1.0, t / np.where(norms > 0.0, norms, 1.0))[:, None]
    np.testing.assert_allclose(row_shrink(M, t) + inside, M, atol=1e-12 * np.abs(M).max())


@given(matrices(), thresholds)
def test_singular_value_shrink_is_moreau_dual_to_the_projection_on_the_spectral_ball(M, t):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    inside = (U * np.minimum(s, t)) @ Vt
    shrunk, values = singular_value_shrink(M, t)
    np.testing.assert_allclose(shrunk + inside, M, atol=1e-11 * s[0])
    # A singular value at the threshold itself may be kept at the level of rounding.
    clear = np.abs(s - t) > 1e-11 * s[0]
    assert (s > t)[clear].sum() <= len(values) <= (s > t)[clear].sum() + (~clear).sum()
    expected = np.maximum(s - t, 0.0)[: len(values)]
    np.testing.assert_allclose(values, expected, atol=1e-11 * s[0])


@given(matrices(), thresholds, st.integers(0, 2**32 - 1))
def test_maps_do_not_expand(A, t, seed):
    B = A + np.random.default_rng(seed).standard_normal(A.shape)
    distance = np.linalg.norm(A - B) + 1e-10 * (np.linalg.norm(A) + np.linalg.norm(B))
    assert np.linalg.norm(row_shrink(A, t) - row_shrink(B, t)) <= distance
    difference = singular_value_shrink(A, t)[0] - singular_value_shrink(B, t)[0]
    assert np.linalg.norm(difference) <= distance


@pytest.mark.parametrize("t", [0.3, 1.5])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
@pytest.mark.parametrize("rows", [True, False])
def test_maps_minimise(shape, t, rows):
    """A general minimiser that sees only values, of norms smoothed by delta, finds the same."""
    M = np.random.default_rng(1).standard_normal(shape)
    shrunk = row_shrink(M, t) if rows else singular_value_shrink(M, t)[0]
    delta = 1e-3

    def objective(z, delta):
        Z = z.reshape(shape)
        lengths = row_norms(Z) if rows else np.linalg.svd(Z, compute_uv=False)
        return 0.5 * np.sum((Z - M) ** 2) + t * np.sqrt(lengths**2 + delta**2).sum()

    best = minimize(objective, M.ravel(), args=(delta,), method="BFGS").fun
    ours = objective(shrunk.ravel(), 0.0)
    assert ours <= best + 1e-9 <= ours + 4 * t * delta + 1e-6


def test_row_shrink_takes_a_threshold_per_row():
    M = np.random.default_rng(0).standard_normal((5, 3))
    t = np.array([0.0, 0.1, 0.2, np.inf, 1.0])
    expected = [row_shrink(row[None], float(a))[0] for row, a in zip(M, t, strict=True)]
    np.testing.assert_array_equal(row_shrink(M, t), expected)
    np.testing.assert_array_equal(row_shrink(M, t)[3], 0.0)
    np.testing.assert_array_equal(row_shrink(np.zeros((2, 2)), 0.0), 0.0)


@pytest.mark.parametrize("shape", [(60, 7), (7, 60), (60, 50)])
@pytest.mark.parametrize("t", [0.0, 1e-10, 1e-4, 0.1])
def test_singular_value_shrink_of_a_wide_spectrum(shape, t):
    """The shortcut through the smaller Gram matrix must not cost small singular values."""
    rng = np.random.default_rng(2)
    r = min(shape)
    U = np.linalg.qr(rng.standard_normal((shape[0], r)))[0]
    V = np.linalg.qr(rng.standard_normal((shape[1], r)))[0]
    s = np.geomspace(1.0, 1e-9, r)
    shrunk, values = singular_value_shrink((U * s) @ V.T, t)
    np.testing.assert_allclose(shrunk, (U * np.maximum(s - t, 0.0)) @ V.T, atol=1e-12)
    np.testing.assert_allclose(values, (s - t)[s > t], atol=1e-13)


# --- solver ----------------------------------------------------------------------------------


def least_squares(A, C):
    def smooth(W):
        R = A @ W - C
        return float(np.vdot(R, R)), 2.0 * A.T @ R

    return smooth


def regression(seed, shape, share, q=3):
    """A problem and its penalty, a share of the one from which on W is zero."""
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal(shape), rng.standard_normal((shape[0], q))
    return A, C, share * row_norms(2 * A.T @ C).max()


def solve(A, C, t, **options):
    return minimize_l21(
        least_squares(A, C),
        np.zeros((A.shape[1], C.shape[1])),
        t,
        gap=lambda W, value, gradient: quadratic_gap(W, value, gradient, t),
        **({"max_iter": 50000, "tol": 1e-14} | options),
    )


@pytest.mark.parametrize("shape", [(30, 6), (8, 15)])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.99])
@pytest.mark.parametrize("options", [{}, {"quadratic": True}], ids=str)
def test_equals_coordinate_descent(shape, share, options):
    A, C, t = regression(2, shape, share)
    found = solve(A, C, t, **options)
    W = coordinate_descent(A, C, t)
    smooth = least_squares(A, C)
    assert found.objective == pytest.approx(smooth(W)[0] + t * l21_norm(W), rel=1e-12)
    assert found.objective == pytest.approx(smooth(found.W)[0] + t * l21_norm(found.W), rel=1e-13)
    np.testing.assert_allclose(found.W, W, atol=1e-6)
    assert subgradient_error(found.W, smooth(found.W)[1], t) < 1e-5


@pytest.mark.parametrize("quadratic", [False, True])
def test_any_first_step_length_will_do(quadratic):
    A, C, t = regression(3, (20, 8), 0.1)
    constant = 2.0 * np.linalg.norm(A, 2) ** 2
    best = solve(A, C, t, quadratic=quadratic).objective
    for lipschitz in (1e-6 * constant, constant, 30.0 * constant):
        found = solve(A, C, t, quadratic=quadratic, lipschitz=lipschitz, tol=1e-10)
        assert found.converged
        assert found.objective == pytest.approx(best, rel=1e-10)
        if lipschitz == constant and quadratic:
            assert found.lipschitz == constant  # a true bound is never enlarged


def test_one_evaluation_a_step_where_the_gradient_is_affine():
    A, C, t = regression(4, (40, 10), 0.05)
    constant = 2.0 * np.linalg.norm(A, 2) ** 2
    options = {"tol": 1e-10, "lipschitz": constant}
    once, twice = (solve(A, C, t, quadratic=quadratic, **options) for quadratic in (True, False))
    assert once.n_iter < 0.7 * twice.n_iter


def test_a_function_that_is_not_quadratic():
    """Multi-task logistic regression, by its optimality conditions."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 7))
    signs = np.where(A[:, :2] @ rng.standard_normal((2, 3)) > 0.0, 1.0, -1.0)

    def smooth(W):
        margins = signs * (A @ W)
        slopes = -signs / (1.0 + np.exp(margins))
        return float(np.logaddexp(0.0, -margins).sum()), A.T @ slopes

    t = 0.2 * row_norms(smooth(np.zeros((7, 3)))[1]).max()
    found = minimize_l21(smooth, np.zeros((7, 3)), t, tol=1e-12, max_iter=20000)
    assert found.converged
    assert 0 < np.count_nonzero(row_norms(found.W)) < 7
    assert subgradient_error(found.W, smooth(found.W)[1], t) < 1e-6


@settings(max_examples=50)
@given(matrices(min_rows=2), st.floats(0.01, 1.5), st.integers(0, 2**32 - 1))
def test_gap_bounds_the_excess(A, share, seed):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((len(A), 2))
    constant = rng.choice([0.0, 3.0])
    smooth = least_squares(A, C)
    t = share * row_norms(2 * A.T @ C).max() or 1.0
    W = coordinate_descent(A, C, t, sweeps=300)
    best = smooth(W)[0] + t * l21_norm(W)
    trial = W + rng.standard_normal(W.shape) * rng.choice([0.0, 1e-3, 1.0])
    value, gradient = smooth(trial)
    gap = quadratic_gap(trial, value + constant, gradient, t)
    assert value + t * l21_norm(trial) - best <= gap + 1e-9 * (best + constant)


def test_gap_vanishes_at_the_minimum():
    A, C, t = regression(6, (20, 8), 0.3)
    W = coordinate_descent(A, C, t)
    value, gradient = least_squares(A, C)(W)
    assert quadratic_gap(W, value, gradient, t) < 1e-11 * value


def test_starts_where_it_is_told():
    A, C, t = regression(7, (20, 8), 0.1)
    smooth = least_squares(A, C)
    best = solve(A, C, t)
    again = minimize_l21(
        smooth, best.W, t, gap=lambda W, v, g: quadratic_gap(W, v, g, t), tol=1e-12
    )
    assert again.converged and again.n_iter <= 2
    np.testing.assert_array_equal(again.W, best.W)


@pytest.mark.parametrize("quadratic", [False, True])
def test_the_objective_never_rises(quadratic):
    A, C, t = regression(1, (12, 10), 0.01)
    A = A * np.geomspace(1.0, 0.03, 10)
    limits = range(1, examples(199) + 1)
    values = [solve(A, C, t, quadratic=quadratic, max_iter=n).objective for n in limits]
    assert (np.diff(values) <= 1e-14 * values[0]).all()


def test_without_a_gap_the_step_length_decides():
    A, C, t = regression(8, (20, 8), 0.1)
    found = minimize_l21(
        least_squares(A, C), np.zeros((8, 3)), t, quadratic=True, tol=1e-10, max_iter=5000
    )
    assert found.converged
    np.testing.assert_allclose(found.W, coordinate_descent(A, C, t), atol=1e-8)


def test_evaluations_are_limited():
    A, C, _ = regression(9, (20, 10), 1.0)
    A = A * np.geomspace(1, 1e-3, 10)
    for quadratic in (False, True):
        found = minimize_l21(
            least_squares(A, C), np.zeros((10, 3)), 1e-6, max_iter=9, tol=1e-14, quadratic=quadratic
        )
        assert not found.converged
        assert 9 <= found.n_iter <= 10


def test_nothing_to_do():
    A = np.zeros((4, 3))
    found = solve(A, np.ones((4, 2)), 1.0)
    np.testing.assert_array_equal(found.W, 0.0)
    assert found.converged and found.objective == 8.0
