"""ROBPCA: close to the truth, its pieces by definition, and equivariant."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import MinCovDet
from sklearn.datasets import load_iris, load_wine

from columnist.robust._robpca import ROBPCA
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
