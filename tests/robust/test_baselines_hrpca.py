"""HRPCA: against a plain replay of the algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.data._validation import random_generator
from columnist.robust._baselines import HRPCA
from tests.robust.samples import contaminated, largest_angle


def trimmed_variance(X, axes, k):
    squares = np.sort((X @ axes.T) ** 2, axis=0)
    return squares[: len(X) - k].sum() / len(X)


def replay(X, r, k, seed):
    """The axes with the largest trimmed variance, every PCA from scratch."""
    rng, alive, best = random_generator(seed), list(range(len(X))), (-np.inf, None)
    for _ in range(k + 1):
        axes = np.linalg.svd(X[alive], full_matrices=False)[2][:r]
        best = max(best, (trimmed_variance(X, axes, k), axes), key=lambda pair: pair[0])
        weights = np.zeros(len(X))
        weights[alive] = ((X[alive] @ axes.T) ** 2).sum(axis=1)
        alive.remove(rng.choice(len(X), p=weights / weights.sum()))
    return best


@pytest.mark.parametrize("shape", [(30, 5), (20, 40)])
@pytest.mark.parametrize("seed", range(5))
def test_against_a_replay(shape, seed):
    X, _ = contaminated(*shape, 2, 6, np.random.default_rng(seed), kind="clustered")
    found = HRPCA(2, n_outliers=6, centering="none", random_state=seed).fit(X)
    variance, axes = replay(X, 2, 6, seed)
    assert found.trimmed_variance_ == pytest.approx(variance)
    assert largest_angle(found.components_, axes) < 1e-4
    distances = np.linalg.norm(X - X @ axes.T @ axes, axis=1)
    np.testing.assert_array_equal(found.outliers_, np.sort(np.argsort(-distances)[:6]))


def test_nothing_to_drop_is_pca():
    X = np.random.default_rng(0).standard_normal((30, 5)) * [4, 2, 1, 1, 1]
    found = HRPCA(2, n_outliers=0, location="mean", random_state=0).fit(X)
    Z = X - X.mean(axis=0)
    _, sigma, axes = np.linalg.svd(Z)
    assert largest_angle(found.components_, axes[:2]) < 1e-4
    np.testing.assert_allclose(found.explained_variance_, sigma[:2] ** 2 / 29)


def test_repeatable():
    X, _ = contaminated(40, 6, 2, 8, np.random.default_rng(0), kind="clustered")
    one, two = (HRPCA(2, n_outliers=8, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)
