"""Anderson's mixing: solves affine maps, and never harms."""

from __future__ import annotations

import numpy as np

from columnist.selection._robust_l21 import Anderson


def affine_map(seed: int, size: int, largest: float):
    """A contraction v -> Mv + b and its fixed point."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((size, size)))[0]
    M = (Q * np.linspace(0.1, largest, size)) @ Q.T
    b = rng.standard_normal(size)
    return lambda v: M @ v + b, np.linalg.solve(np.eye(size) - M, b)


def test_beats_the_plain_iteration():
    plain_map, fixed = affine_map(4, 8, 0.97)
    plain = mixed = np.zeros(8)
    mixer = Anderson()
    for _ in range(60):
        plain = plain_map(plain)
        mixed = mixer.next(mixed, plain_map(mixed) - mixed)
    assert np.linalg.norm(mixed - fixed) < 1e-6 * np.linalg.norm(plain - fixed)


def test_memory_of_the_dimension_solves_an_affine_map():
    plain_map, fixed = affine_map(0, 3, 0.95)
    v, mixer = np.zeros(3), Anderson(memory=3, period=4)
    for _ in range(12):
        v = mixer.next(v, plain_map(v) - v)
    np.testing.assert_allclose(v, fixed, rtol=1e-4)


def test_shape_of_the_points_does_not_matter():
    plain_map, _ = affine_map(1, 6, 0.9)
    v, flat = np.zeros((3, 2)), np.zeros(6)
    mixer, flat_mixer = Anderson(), Anderson()
    for _ in range(20):
        v = mixer.next(v, (plain_map(v.ravel()) - v.ravel()).reshape(3, 2))
        flat = flat_mixer.next(flat, plain_map(flat) - flat)
        np.testing.assert_array_equal(v.ravel(), flat)


def test_goes_back_where_it_would_do_harm():
    """A map that jumps: extrapolation misleads, the plain iteration converges."""

    def step(v):
        return np.where(np.abs(v) > 1.0, -0.5 * v, -0.9 * v + 1e-3 * np.sin(50.0 * v))

    v, mixer = np.full(3, 7.0), Anderson(period=2)
    for _ in range(400):
        v = mixer.next(v, step(v))
    assert np.abs(step(v)).max() < 1e-6


def test_an_attempt_that_does_not_shorten_the_step_is_taken_back():
    """Steps of length one that turn: extrapolation sees a centre where there is none."""
    v, mixer, points, steps = np.zeros(2), Anderson(period=4), [], []
    for k in range(5):
        points.append(v)
        steps.append(np.array([np.cos(0.3 * k), np.sin(0.3 * k)]))
        v = mixer.next(v, steps[-1])
    plain = points[3] + steps[3]
    assert np.linalg.norm(points[4] - plain) > 0.1
    np.testing.assert_array_equal(v, plain)
    assert mixer.count == 0


def test_a_steady_drift_is_skipped_until_it_ends():
    """Ten thousand steps to a wall, and back from where the wall was jumped."""

    def step(v):
        return np.array([1.0 if v[0] < 1e4 else 0.5 * (1e4 - v[0])])

    v, mixer, n_iter = np.zeros(1), Anderson(), 0
    while abs(v[0] - 1e4) > 1e-9:
        v, n_iter = mixer.next(v, step(v)), n_iter + 1
    assert n_iter < 1000


def test_at_the_fixed_point_nothing_moves():
    v, mixer = np.ones(2), Anderson(period=1)
    for _ in range(5):
        v = mixer.next(v, np.zeros(2))
    np.testing.assert_array_equal(v, 1.0)


def test_forgets_on_demand():
    mixer = Anderson(period=1)
    for _ in range(4):
        mixer.next(np.ones(2), 0.1 * np.ones(2))
    mixer.forget()
    np.testing.assert_array_equal(mixer.next(np.ones(2), np.ones(2)), 2.0)
