"""Noise: its expected effect on the outputs."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.privacy import laplace_noise, utility_error

A = np.random.default_rng(0).standard_normal((3, 8))


def test_expected_change_of_outputs():
    X = np.zeros((40_000, 8))
    errors = utility_error(X, laplace_noise(X, A, 0.3, random_state=1), A)
    # Five standard errors of the mean.
    assert abs(errors.mean() - 0.3) < 5 * errors.std() / np.sqrt(len(X))


def test_scale_of_the_noise():
    X = np.zeros((20_000, 8))
    noise = laplace_noise(X, A, 0.3, random_state=1)
    scale = np.sqrt(0.3 / 2) / np.linalg.norm(A)
    np.testing.assert_allclose(np.abs(noise).mean(), scale, rtol=0.02)  # E|n| = b


def test_random_state_and_type():
    X = np.ones((5, 8), dtype=np.float32)
    first, second = (laplace_noise(X, A, 0.1, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(laplace_noise(X, A, 0.0), X)


def test_bad_input():
    with pytest.raises(ValueError, match="utility must be"):
        laplace_noise(np.ones((2, 8)), A, -0.1)
    with pytest.raises(ValueError, match="8 features, but X has 7"):
        laplace_noise(np.ones((2, 7)), A, 0.1)
    with pytest.raises(ValueError, match="all zero"):
        laplace_noise(np.ones((2, 8)), 0.0 * A, 0.1)
