"""Proximal maps by their definition, and the solver on top of them by its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg.anderson import Anderson
from columnist.linalg.prox import (
    l21_norm,
    minimize_l21,
    nuclear_norm,
    quadratic_gap,
    row_norms,
    row_shrink,
    singular_value_shrink,
)

SEEDS = st.integers(0, 2**32 - 1)


def random_pair(seed: int, shape=(5, 3)):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * rng.exponential(size=(shape[0], 1)), rng


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.floats(0.0, 3.0))
def test_row_shrink_minimises(seed, t):
    M, rng = random_pair(seed)
    Z = row_shrink(M, t)

    def objective(A):
        return 0.5 * np.vdot(A - M, A - M) + t * l21_norm(A)

    for size in (1e-3, 0.1, 1.0):
        assert objective(Z) <= objective(Z + size * rng.standard_normal(Z.shape)) + 1e-12
    # Subgradient: (M - Z)/t is the direction of a nonzero row, and no longer than one otherwise.
    for m, z in zip(M, Z, strict=True):
        if z.any():
            np.testing.assert_allclose(m - z, t * z / np.linalg.norm(z), atol=1e-12)
        else:
            assert np.linalg.norm(m) <= t * (1 + 1e-12)


def test_row_shrink_takes_a_threshold_per_row():
    M, _ = random_pair(0)
    t = np.array([0.0, 0.1, 0.2, 5.0, 1.0])
    expected = [row_shrink(row[None], float(a))[0] for row, a in zip(M, t, strict=True)]
    np.testing.assert_allclose(row_shrink(M, t), expected)
    np.testing.assert_array_equal(row_shrink(np.zeros((2, 2)), 0.0), 0.0)


@settings(max_examples=50, deadline=None)
@given(SEEDS, SEEDS, st.floats(0.0, 3.0))
def test_maps_do_not_expand(one, other, t):
    A, B = random_pair(one)[0], random_pair(other)[0]
    distance = np.linalg.norm(A - B) * (1 + 1e-12)
    assert np.linalg.norm(row_shrink(A, t) - row_shrink(B, t)) <= distance
    difference = singular_value_shrink(A, t)[0] - singular_value_shrink(B, t)[0]
    assert np.linalg.norm(difference) <= distance + 1e-12


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.floats(0.01, 3.0))
def test_moreau(seed, t):
    """What is left over is the projection on the dual ball."""
    M, _ = random_pair(seed)
    rest = M - row_shrink(M, t)
    norms = row_norms(M)
    expected = M * np.minimum(1.0, t / np.where(norms > 0.0, norms, 1.0))[:, None]
    np.testing.assert_allclose(rest, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (12, 4), (4, 12), (4, 4)])
@pytest.mark.parametrize("t", [1e-9, 0.05, 0.7, 1e3])
def test_singular_value_shrink_by_its_definition(shape, t):
    M = np.random.default_rng(1).standard_normal(shape)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    shrunk, values = singular_value_shrink(M, t)
    np.testing.assert_allclose(shrunk, (U * np.maximum(s - t, 0.0)) @ Vt, atol=1e-12)
    np.testing.assert_allclose(values, (s - t)[s > t], atol=1e-12)
    assert nuclear_norm(shrunk) == pytest.approx(values.sum(), abs=1e-12)


def least_squares(A, C):
    def smooth(W):
        R = A @ W - C
        return float(np.vdot(R, R)), 2.0 * A.T @ R

    return smooth


def coordinate_descent(A, C, t, sweeps=3000):
    """An independent solver: exact block coordinate descent on an orthogonalised row at a time."""
    W = np.zeros((A.shape[1], C.shape[1]))
    R = C.copy()
    for _ in range(sweeps):
        for j in range(A.shape[1]):
            a = A[:, j]
            length = a @ a
            if length == 0.0:
                continue
            new = row_shrink((a @ R + length * W[j])[None] / length, t / (2 * length))[0]
            R -= np.outer(a, new - W[j])
            W[j] = new
    return W


@pytest.mark.parametrize("shape", [(30, 6), (8, 15)])
@pytest.mark.parametrize("share", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("quadratic", [False, True])
def test_minimum_equals_coordinate_descent(shape, share, quadratic):
    rng = np.random.default_rng(2)
    A, C = rng.standard_normal(shape), rng.standard_normal((shape[0], 3))
    smooth = least_squares(A, C)
    largest = row_norms(2 * A.T @ C).max()
    t = share * largest
    found = minimize_l21(
        smooth, np.zeros((shape[1], 3)), t, quadratic=quadratic, max_iter=20000, tol=1e-10,
        gap=lambda W, value, gradient: quadratic_gap(W, value, gradient, t),
    )  # fmt: skip
    assert found.converged
    W = coordinate_descent(A, C, t)
    best = smooth(W)[0] + t * l21_norm(W)
    assert found.objective <= best * (1 + 1e-9)
    if share >= 1.0:
        np.testing.assert_array_equal(found.W, 0.0)
    gradient = smooth(found.W)[1]
    for g, w in zip(gradient, found.W, strict=True):
        if w.any():
            np.testing.assert_allclose(-g, t * w / np.linalg.norm(w), atol=2e-3 * t)
        else:
            assert np.linalg.norm(g) <= t * (1 + 1e-4)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.floats(0.01, 1.0))
def test_gap_bounds_the_excess(seed, share):
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal((9, 4)), rng.standard_normal((9, 2))
    smooth = least_squares(A, C)
    t = share * row_norms(2 * A.T @ C).max()
    W = coordinate_descent(A, C, t, sweeps=200)
    best = smooth(W)[0] + t * l21_norm(W)
    trial = W + rng.standard_normal(W.shape) * rng.choice([0.0, 1e-3, 1.0])
    value, gradient = smooth(trial)
    excess = value + t * l21_norm(trial) - best
    assert excess <= quadratic_gap(trial, value, gradient, t) + 1e-9 * best


def test_without_a_gap_the_step_length_decides():
    C = np.array([[3.0, 4.0], [0.0, 2.0]])
    found = minimize_l21(lambda W: (np.sum((W - C) ** 2), 2 * (W - C)), 0 * C, 5.0, tol=1e-12)
    assert found.converged
    np.testing.assert_allclose(found.W, [[1.5, 2.0], [0.0, 0.0]], atol=1e-9)


def test_iterations_are_limited():
    rng = np.random.default_rng(3)
    A, C = rng.standard_normal((20, 10)) @ np.diag(np.geomspace(1, 1e-3, 10)), np.ones((20, 1))
    found = minimize_l21(least_squares(A, C), np.zeros((10, 1)), 1e-6, max_iter=5, tol=1e-14)
    assert not found.converged
    assert found.n_iter <= 8


def test_anderson_beats_the_plain_iteration():
    rng = np.random.default_rng(4)
    Q = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    M = (Q * np.linspace(0.1, 0.97, 8)) @ Q.T
    b = rng.standard_normal(8)
    fixed = np.linalg.solve(np.eye(8) - M, b)
    plain = accelerated = np.zeros(8)
    mixer = Anderson()
    for _ in range(60):
        plain = M @ plain + b
        accelerated = mixer.next(accelerated, M @ accelerated + b - accelerated)
    assert np.linalg.norm(accelerated - fixed) < 1e-3 * np.linalg.norm(plain - fixed)


def test_anderson_goes_back_where_it_would_do_harm():
    """A map that jumps: extrapolation misleads, the plain iteration converges."""

    def step(v):
        return np.where(np.abs(v) > 1.0, -0.5 * v, -0.9 * v + 1e-3 * np.sin(50.0 * v))

    v, mixer = np.full(3, 7.0), Anderson(period=2)
    for _ in range(400):
        v = mixer.next(v, step(v))
    assert np.abs(step(v)).max() < 1e-6
