"""The bias trick: the printed example, the limit, and exhaustive search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA

from columnist.robust._baselines import CoherencePursuit, TrimmedPCA
from columnist.robust._bias import BiasCentered
from columnist.robust._pursuit import OutlierPursuit
from tests.robust.samples import contaminated, largest_angle


class UncentredPCA(BaseEstimator):
    """A user's own method."""

    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, X, y=None):
        self.components_ = np.linalg.svd(X)[2][: self.n_components]
        return self


class Exhaustive(BaseEstimator):
    """The best rows to remove before uncentred PCA, by trying all."""

    def __init__(self, n_components, n_outliers):
        self.n_components = n_components
        self.n_outliers = n_outliers

    def fit(self, X, y=None):
        r = self.n_components
        self.outliers_ = best_outliers(X, r, self.n_outliers, center=False)
        kept = np.delete(X, self.outliers_, axis=0)
        self.components_ = np.linalg.svd(kept, full_matrices=False)[2][:r]
        return self


def best_outliers(X, r, k, *, center):
    def error(outliers):
        kept = np.delete(X, outliers, axis=0)
        kept = kept - kept.mean(axis=0) if center else kept
        return np.sum(np.linalg.svd(kept, compute_uv=False)[r:] ** 2)

    return min(map(list, combinations(range(len(X)), k)), key=error)


def test_printed_example():
    """Figure 5.3 of the source: three points, b = 100."""
    X = np.array([[1.0, 3.0], [2.0, 0.0], [3.0, 0.0]])
    found = BiasCentered(UncentredPCA(1), gamma=100 / np.linalg.norm(X)).fit(X)
    assert found.bias_ == pytest.approx(100.0)
    np.testing.assert_allclose(found.estimator_.components_.shape, (2, 3))
    np.testing.assert_allclose(found.components_, [[-0.4718, 0.8816]], atol=1e-4)
    np.testing.assert_allclose(found.mean_, [2.0, 1.0], atol=1e-3)
    assert found.explained_variance_[0] * 2 == pytest.approx(7.6055, abs=1e-4)
    assert found.error_ == pytest.approx(0.3944, abs=1e-4)


def test_centred_pca_is_the_limit():
    X = np.random.default_rng(0).standard_normal((30, 5)) * [3, 2, 1, 1, 1] + 4.0
    theirs = PCA(2).fit(X)
    exact = np.sum((X - theirs.inverse_transform(theirs.transform(X))) ** 2)
    errors, means = [], []
    for gamma in (0.1, 1.0, 10.0, 100.0):
        found = BiasCentered(UncentredPCA(2), gamma=gamma).fit(X)
        errors.append(found.error_ - exact)
        means.append(np.linalg.norm(found.mean_ - theirs.mean_))
    assert errors[0] > errors[1] > errors[2] > -1e-9 * exact
    assert means[0] > means[1] > means[2]
    assert errors[2] < 1e-6 * exact
    assert means[3] < 1e-5
    np.testing.assert_allclose(found.explained_variance_, theirs.explained_variance_)


@pytest.mark.parametrize("seed", range(5))
def test_exhaustive_becomes_centred(seed):
    X = np.random.default_rng(seed).standard_normal((9, 3)) + np.array([9.0, 0.0, 0.0])
    found = BiasCentered(Exhaustive(1, 2)).fit(X)
    np.testing.assert_array_equal(found.outliers_, best_outliers(X, 1, 2, center=True))


@pytest.mark.parametrize(
    "estimator",
    [
        TrimmedPCA(2, n_outliers=8),
        CoherencePursuit(2, n_outliers=8),
        OutlierPursuit(n_outliers=8, n_components=2),
    ],
)
def test_around_our_own(estimator):
    X, truth = contaminated(60, 10, 2, 8, np.random.default_rng(1))
    found = BiasCentered(estimator).fit(X + 5.0)
    assert found.estimator_.centering == "none"
    assert found.estimator_.n_components == 3
    assert found.components_.shape == (2, 10)
    np.testing.assert_array_equal(found.outliers_, np.arange(8))
    assert largest_angle(found.components_, truth) < 5.0


def test_trimmed_agrees_with_optimal_centring():
    X, _ = contaminated(60, 10, 2, 8, np.random.default_rng(2))
    ours = TrimmedPCA(2, n_outliers=8).fit(X + 5.0)
    biased = BiasCentered(TrimmedPCA(2, n_outliers=8)).fit(X + 5.0)
    np.testing.assert_array_equal(biased.outliers_, ours.outliers_)
    assert biased.error_ == pytest.approx(ours.error_, rel=1e-5)
    assert biased.error_ >= ours.error_ * (1 - 1e-12)


def test_an_estimator_that_centres_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match="ignores the constant feature"):
        BiasCentered(PCA(2)).fit(X)


def test_bad_gamma():
    with pytest.raises(ValueError, match="gamma must be a number > 0"):
        BiasCentered(UncentredPCA(1), gamma=0).fit(np.eye(4))
