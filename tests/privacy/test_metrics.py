"""Measures by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from columnist.privacy import linear_privacy, privacy_error, utility_error

RNG = np.random.default_rng(0)
X, Z, Y = (RNG.standard_normal((7, 3)) for _ in range(3))


def test_utility_is_the_change_of_predictions():
    model = Ridge().fit(X, Y)
    expected = np.sum((model.predict(X) - model.predict(Z)) ** 2, axis=1)
    np.testing.assert_allclose(utility_error(X, Z, model), expected)


def test_privacy_is_the_error_of_guesses():
    np.testing.assert_allclose(privacy_error(X, Z), np.linalg.norm(X - Z, axis=1) ** 2)
    np.testing.assert_allclose(privacy_error(X[:, 0], Z[:, 0]), (X[:, 0] - Z[:, 0]) ** 2)


def test_linear_privacy_counts_entries():
    worse = [[abs(Z[i, j] - X[i, j]) > abs(0.5 * j - X[i, j]) for j in range(3)] for i in range(7)]
    assert linear_privacy(X, Z, [0.0, 0.5, 1.0]) == np.mean(worse)
    assert linear_privacy(X, X, np.ones(3)) == 0.0


def test_a_guess_like_the_means_counts_half():
    mean = np.array([0.1, 0.2, 0.3])
    nearly = mean * (1.0 + 1e-15 * RNG.standard_normal((7, 3)))
    assert linear_privacy(X, nearly, mean) == 0.5


def test_bad_input():
    with pytest.raises(ValueError, match="differ in shape"):
        utility_error(X, Z[:5], np.ones(3))
    with pytest.raises(ValueError, match="2 features, but X has 3"):
        utility_error(X, Z, np.ones(2))
    with pytest.raises(ValueError, match="one value for each of the 3 secrets"):
        linear_privacy(X, Z, [1.0, 2.0])
    with pytest.raises(ValueError, match="y_guessed contains NaN"):
        privacy_error(X, np.full_like(X, np.nan))
