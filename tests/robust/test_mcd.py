"""MCD: against enumeration, scikit-learn, and unbiasedness at a Gaussian."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.covariance import MinCovDet

from columnist.robust._mcd import (
    _tightest,
    consistency_factor,
    mcd,
    small_sample_factor,
    subset_size,
    univariate_mcd,
)


def univariate(y, h):
    """The definition, one column, by enumeration of the subsets."""
    best = min(combinations(sorted(y), h), key=np.var)
    mean, n = np.mean(best), len(y)
    residuals = (y - mean) ** 2
    raw = np.sort(residuals)[h - 1] / chi2.ppf(h / n, 1)
    near = y[residuals <= raw * chi2.ppf(0.975, 1)]
    return near.mean(), near.std(ddof=1)


@given(st.integers(0, 2**32 - 1), st.integers(5, 8))
def test_one_dimension_by_enumeration(seed, h):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((9, 4)) * [1, 1e-3, 1e3, 1] + [0, 1, 5, 1e4]
    Y[:3, 0] += 20.0
    location, scale = univariate_mcd(Y, h)
    expected = np.array([univariate(y, h) for y in Y.T]).T
    np.testing.assert_allclose(location, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scale, expected[1], rtol=1e-7)


def test_equal_values_have_no_scale():
    y = np.array([[1.0], [1.0], [1.0], [1.0], [9.0], [2.0]])
    assert [float(part[0]) for part in univariate_mcd(y, 4)] == [1.0, 0.0]


def test_all_values():
    y = np.arange(6.0)[:, None]
    location, scale = univariate_mcd(y, 6)
    assert (location[0], scale[0]) == (2.5, pytest.approx(np.std(y, ddof=1)))


@pytest.mark.parametrize("seed", range(4))
def test_subset_by_enumeration(seed):
    """The weights of the best subset: the reweighted estimate follows from them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    X[:3] += 30.0
    h = 7
    best = min(combinations(range(11), h), key=lambda c: np.linalg.det(np.cov(X[list(c)].T)))
    mean, raw = X[list(best)].mean(axis=0), np.cov(X[list(best)].T)
    raw *= consistency_factor(h / 11, 2) * small_sample_factor("raw", 11, 2, 0.5)
    near = np.einsum("ij,jk,ik->i", X - mean, np.linalg.inv(raw), X - mean) <= chi2.ppf(0.975, 2)
    assert subset_size(11, 2, 0.5) == h
    found = mcd(X, 0.5, rng)
    np.testing.assert_array_equal(found.support, np.flatnonzero(near))
    np.testing.assert_allclose(found.location, X[near].mean(axis=0))
    factor = consistency_factor(near.mean(), 2) * small_sample_factor("reweighted", 11, 2, 0.5)
    np.testing.assert_allclose(found.covariance, factor * np.cov(X[near].T))


def test_like_scikit_learn_on_many_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3)) @ np.diag([3.0, 2.0, 1.0])
    ours = mcd(X, 0.75, rng, n_starts=50)
    theirs = MinCovDet(support_fraction=0.75, random_state=0).fit(X)
    np.testing.assert_allclose(ours.location, theirs.location_, atol=0.05)
    np.testing.assert_allclose(ours.covariance, theirs.covariance_, rtol=0.05, atol=0.1)


def test_shape_is_not_that_of_the_outliers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3)) @ np.diag([3.0, 2.0, 1.0])
    X[:60] += 15.0
    found = mcd(X, 0.75, rng, n_starts=50)
    assert not set(range(60)) & set(found.support)
    # The share of weight one counts the outliers too, so only the shape is unbiased.
    shape = found.covariance / found.covariance[2, 2]
    np.testing.assert_allclose(shape, np.cov(X[60:].T) / X[60:, 2].var(), atol=0.8)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_unbiased_for_small_samples(d):
    """The small sample factors make the mean of det^(1/d) one."""
    rng, n = np.random.default_rng(0), 40
    sizes = [
        np.linalg.det(mcd(rng.standard_normal((n, d)), 0.75, rng, n_starts=20).covariance)
        for _ in range(150)
    ]
    assert np.mean(np.power(sizes, 1 / d)) == pytest.approx(1.0, abs=0.05)


def test_consistency_by_simulation():
    X = np.random.default_rng(0).standard_normal((100_000, 3))
    squares = np.einsum("ij,ij->i", X, X)
    central = X[squares <= np.quantile(squares, 0.7)]
    assert consistency_factor(0.7, 3) * central.var() == pytest.approx(1.0, rel=0.01)
    assert consistency_factor(1.0, 3) == 1.0


@pytest.mark.parametrize("kind", ["raw", "reweighted"])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_small_sample_factors_fade(kind, d):
    factors = [small_sample_factor(kind, n, d, 0.75) for n in (100, 1000, 100_000)]
    assert factors[0] > factors[1] > factors[2] > 1.0
    assert factors[2] == pytest.approx(1.0, abs=2e-3)
    assert small_sample_factor(kind, 50, d, 1.0) == pytest.approx(1.0)


def test_affine_equivariance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    X[:10] += 8.0
    A = rng.standard_normal((3, 3))
    one = mcd(X, 0.75, np.random.default_rng(1))
    two = mcd(X @ A + 5.0, 0.75, np.random.default_rng(1))
    np.testing.assert_array_equal(one.support, two.support)
    np.testing.assert_allclose(two.location, one.location @ A + 5.0)
    np.testing.assert_allclose(two.covariance, A.T @ one.covariance @ A, atol=1e-10)


def test_rows_in_a_hyperplane():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    X[:25, 2] = X[:25, 0] + X[:25, 1]
    assert mcd(X, 0.75, rng) is None
    assert mcd(np.ones((10, 2)), 0.75, rng) is None


@pytest.mark.parametrize(("n", "d", "alpha", "size"), [
    (178, 2, 0.75, 134), (569, 6, 0.75, 428), (214, 9, 0.75, 163), (10, 1, 0.5, 6),
    (10, 1, 1.0, 10), (4, 6, 0.5, 4),
])  # fmt: skip
def test_subset_size(n, d, alpha, size):
    assert subset_size(n, d, alpha) == size


@pytest.mark.parametrize("seed", range(5))
def test_one_column_is_exact(seed):
    """The tightest neighbours, where random starts would end in a local optimum."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 1))
    X[:10] += 6.0
    h, y = subset_size(50, 1, 0.75), np.sort(X[:, 0])
    tightest = min((y[i : i + h] for i in range(50 - h + 1)), key=np.var)
    raw = tightest.var(ddof=1) * consistency_factor(h / 50, 1)
    raw *= small_sample_factor("raw", 50, 1, 0.75)
    near = (X[:, 0] - tightest.mean()) ** 2 <= raw * chi2.ppf(0.975, 1)
    found = mcd(X, 0.75, rng, n_starts=1)
    np.testing.assert_array_equal(found.support, np.flatnonzero(near))


def test_nothing_left_out_is_the_plain_covariance():
    grid = np.array([[i, j] for i in (-1.0, 0.0, 1.0) for j in (-1.0, 0.0, 1.0)])
    found = mcd(grid, 0.75, np.random.default_rng(0))
    assert len(found.support) == 9
    np.testing.assert_allclose(found.covariance, np.cov(grid.T), atol=1e-15)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_no_looser_than_the_subset_of_scikit_learn(d):
    rng = np.random.default_rng(d)
    h = subset_size(60, d, 0.75)
    for seed in range(5):
        X = rng.standard_normal((60, d)) * np.arange(1, d + 1)
        X[:12] += 8.0 * rng.standard_normal(d)
        theirs = MinCovDet(support_fraction=h / 60, random_state=seed).fit(X).raw_support_
        assert theirs.sum() == h
        ours, other = (
            np.linalg.slogdet(np.cov(X[rows].T))[1]
            for rows in (_tightest(X, h, rng, 250, None), theirs)
        )
        assert ours <= other + 1e-9
