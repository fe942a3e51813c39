"""ROBPCA: close to the truth, its pieces by definition, and equivariant."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.stats import chi2
from sklearn.covariance import MinCovDet
from sklearn.datasets import load_iris, load_wine

from columnist.robust._robpca import (
    ROBPCA,
    _tightest,
    consistency_factor,
    mcd,
    small_sample_factor,
    subset_size,
    univariate_mcd,
)
from tests.real_data import load_samples
from tests.robust.samples import contaminated, largest_angle


@pytest.mark.parametrize("kind", ["clustered", "scattered"])
@pytest.mark.parametrize("size", [(100, 10, 2, 20), (200, 50, 3, 40), (100, 150, 3, 20)])
def test_as_good_as_pca_of_the_good_rows(size, kind):
    for seed in range(3):
        X, truth = contaminated(*size, np.random.default_rng(seed), kind=kind)
        found = ROBPCA(size[2], random_state=seed).fit(X)
        good = X[size[3] :]
        best = np.linalg.svd(good - good.mean(axis=0), full_matrices=False)[2][: size[2]]
        assert largest_angle(found.components_, truth) < largest_angle(best, truth) + 1.5
        assert set(range(size[3])) <= set(found.outliers_)
        assert np.all(found.predict(X[: size[3]]) == -1)


def test_size_of_the_subset():
    X, _ = load_wine(return_X_y=True)
    assert ROBPCA(2, random_state=0).fit(X).h_ == 134
    assert ROBPCA(2, alpha=1.0, random_state=0).fit(X).h_ == 178
    assert ROBPCA(2, alpha=0.5, random_state=0).fit(X).h_ == 90
    # The MCD alone works in all dimensions that the rows span.
    assert ROBPCA(2, random_state=0).fit(X[:, :8]).h_ == 135
    assert ROBPCA(2, random_state=0, mcd=False).fit(X[:, :8]).h_ == 134


def test_mcd_of_iris_by_rrcov():
    """Printed by ``PcaHubert(X, k = 2, alpha = 0.75)`` of rrcov 1.7-2."""
    X, _ = load_iris(return_X_y=True)
    found = ROBPCA(2, random_state=0, cutoff="classical").fit(X)
    np.testing.assert_allclose(found.explained_variance_, [4.654235107333, 0.253085313742])
    axes = [[-0.342447793176, 0.104444130153, -0.858714330709, -0.366647829478],
            [-0.66165546296, -0.731142144807, 0.164433236658, 0.024595184569]]  # fmt: skip
    assert largest_angle(found.components_, np.array(axes)) < 1e-8
    mean = [5.776428571429, 3.060714285714, 3.639285714286, 1.154285714286]
    np.testing.assert_allclose(found.mean_, mean)
    np.testing.assert_array_equal(found.outliers_, [15, 62, 87, 100, 114, 117, 122, 131, 136, 148])
    assert found.score_cutoff_ == pytest.approx(2.716203031481)
    assert found.orthogonal_cutoff_ == pytest.approx(0.58624800924, rel=2e-6)  # 1.4826


def test_projection_pursuit_of_wine_by_rrcov():
    """Every ninth wine, so that all pairs of rows are directions; ``mcd = FALSE``."""
    X = load_wine().data[::9]
    found = ROBPCA(2, mcd=False, random_state=0, cutoff="classical").fit(X)
    np.testing.assert_allclose(found.explained_variance_, [110711.19676080247, 128.534332177899])
    assert found.mean_[[0, 4, 12]] == pytest.approx(
        [12.91808130865, 98.61369467631, 660.8896914838]
    )
    assert abs(found.components_[0, 12]) == pytest.approx(0.999392228197)
    assert abs(found.components_[1, 4]) == pytest.approx(0.9989687960147)
    np.testing.assert_array_equal(found.outliers_, [2, 3, 17, 19])
    assert found.orthogonal_cutoff_ == pytest.approx(4.541595635095, rel=2e-6)  # 1.4826


def test_few_dimensions_are_left_to_the_mcd():
    X = np.random.default_rng(0).standard_normal((1500, 4)) * [4, 3, 1, 1]
    found = ROBPCA(2, random_state=0).fit(X)
    theirs = MinCovDet(support_fraction=found.h_ / 1500, random_state=0).fit(X)
    values, vectors = np.linalg.eigh(theirs.covariance_)
    # Versions of scikit-learn scale their covariance in different ways; its shape is the same.
    ratios = found.explained_variance_ / values[:1:-1]
    assert ratios[0] == pytest.approx(ratios[1], rel=0.01)
    np.testing.assert_allclose(found.explained_variance_, [16, 9], rtol=0.1)
    assert largest_angle(found.components_, vectors[:, :1:-1].T) < 1.0
    np.testing.assert_allclose(found.mean_, theirs.location_, atol=0.05)


@pytest.mark.parametrize("mcd", [True, False])
def test_variances_of_a_gaussian(mcd):
    variances = [
        ROBPCA(2, mcd=mcd, random_state=0)
        .fit(np.random.default_rng(seed).standard_normal((150, 6)) * [4, 3, 1, 1, 1, 1])
        .explained_variance_
        for seed in range(20)
    ]
    np.testing.assert_allclose(np.mean(variances, axis=0), [16.0, 9.0], rtol=0.12)


def test_all_pairs_where_they_are_few():
    robpca, rng = ROBPCA(1), np.random.default_rng(0)
    assert len(robpca._pairs(22, rng)) == 231
    pairs = robpca._pairs(40, rng)
    assert pairs.shape == (250, 2)
    assert np.all(pairs[:, 0] != pairs[:, 1])
    assert (pairs.min(), pairs.max()) == (0, 39)


def test_own_directions():
    X, truth = contaminated(40, 30, 1, 8, np.random.default_rng(0), kind="clustered")
    pairs = ROBPCA(1)._pairs(40, np.random.default_rng(7))
    asked = []

    class Given(ROBPCA):
        def _pairs(self, n, rng):
            asked.append(n)
            return pairs

    one, two = (Given(1, random_state=seed).fit(X) for seed in (0, 1))
    assert asked == [40, 40]
    assert largest_angle(one.components_, truth) < 6.0
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-12)


@pytest.mark.parametrize("mcd", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_motions_and_permutations(mcd, seed):
    rng = np.random.default_rng(seed)
    X, _ = contaminated(22, 4, 2, 4, rng)
    plain = ROBPCA(2, mcd=mcd, random_state=0).fit(X)
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    order = rng.permutation(22)
    moved = ROBPCA(2, mcd=mcd, random_state=0).fit((X @ turn + 3.0)[order])
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    np.testing.assert_allclose(moved.mean_, plain.mean_ @ turn + 3.0, atol=1e-8)
    np.testing.assert_allclose(moved.explained_variance_, plain.explained_variance_, rtol=1e-8)
    assert largest_angle(moved.components_ @ turn.T, plain.components_) < 1e-4


def test_classical_flags_are_its_outliers():
    X, _ = contaminated(80, 12, 2, 10, np.random.default_rng(1))
    found = ROBPCA(2, random_state=0, cutoff="classical").fit(X)
    np.testing.assert_array_equal(np.flatnonzero(found.predict(X) == -1), found.outliers_)


def test_repeatable():
    X, _ = contaminated(80, 30, 2, 10, np.random.default_rng(1))
    one, two = (ROBPCA(2, random_state=5).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)


@pytest.mark.filterwarnings("ignore:ROBPCA. the kept rows vary")
def test_singular_data_still_give_an_answer():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 5)).astype(float)
    X[:, 4] = X[:, 0] + X[:, 1]
    X[:50, 3] = 1.0
    for r in range(1, 6):
        found = ROBPCA(r, random_state=0).fit(X)
        np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(r), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.4}, "alpha must be a number >= 0.5 and <= 1"),
        ({"mcd": "no"}, "mcd must be True or False"),
        ({"n_directions": 0}, "n_directions must be an integer >= 1"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        ROBPCA(1, **options).fit(np.eye(5))


# -- minimum covariance determinant --------------------------------------------------


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


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_an_exact_fit_takes_all_rows_of_the_hyperplane(scale):
    """The covariance of the rows that share a value, however the columns are centred and scaled."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [3.0, 2.0, 1.0, 1.0]
    X[:50, 3] = 0.0
    X[50:, 3] = 5.0
    Z = scale * (X - X.mean(axis=0)) / X.std(axis=0)
    assert mcd(Z, 0.75, rng) is None
    found = ROBPCA(2, random_state=0).fit(Z)
    assert set(range(50, 60)) <= set(found.outliers_)
    _, sigma, Vt = np.linalg.svd(Z[:50] - Z[:50].mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.mean_, Z[:50].mean(axis=0), atol=1e-10 * scale)
    angles = subspace_angles(found.components_.T, Vt[:2].T)
    assert np.degrees(angles).max() < 1e-5
    np.testing.assert_allclose(found.explained_variance_, sigma[:2] ** 2 / 49, rtol=1e-8)


@pytest.mark.data
@pytest.mark.parametrize("n_components", [2, 4])
def test_standardised_glass_is_an_exact_fit(n_components):
    """Most samples have no barium, more than h: R's rrcov ends in their hyperplane."""
    X = load_samples("glass")
    barium = X[:, 7]
    found = ROBPCA(n_components, random_state=0).fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert found.h_ <= np.count_nonzero(barium == 0.0)
    np.testing.assert_allclose(found.components_[:, 7], 0.0, atol=1e-9)
    assert found.mean_[7] == pytest.approx(-barium.mean() / barium.std())


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
