"""Greedy removal under Schatten quasi-norms: planted subspaces, the threshold, the rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._removal import remove_rows
from columnist.robust._schatten import SchattenPCA, apparent_rank
from columnist.robust._subspace import fit_subspace
from tests.robust.samples import contaminated, largest_angle

CENTERINGS = ("optimal", "mean", "none")


def line(noise, seed=0, reach=1.0):
    """Ten outliers, then fifty points of a line in the plane; its direction."""
    rng = np.random.default_rng(seed)
    along = np.array([0.8, 0.6])
    inliers = np.outer(rng.uniform(-reach, reach, 50), along)
    X = np.vstack([rng.uniform(-1.0, 1.0, (10, 2)), inliers])
    return X + noise * rng.standard_normal(X.shape), along[None]


@pytest.mark.parametrize("seed", range(3))
def test_outliers_of_an_exact_line(seed):
    """Figure 8.2: the sum falls by almost a dimension when the last outlier goes."""
    X, along = line(0.0, seed)
    found = SchattenPCA(15, centering="none").fit(X)
    assert set(found.removal_order_[:10]) == set(range(10))
    np.testing.assert_array_equal(found.outliers_, np.arange(10))
    np.testing.assert_array_equal(found.predict(X)[:10], -1)
    assert found.components_.shape == (1, 2)
    assert largest_angle(found.components_, along) < 1e-6
    drops = -np.diff(found.schatten_path_)
    assert np.argmax(drops) == 9 and drops[9] > 0.5
    assert drops[np.arange(15) != 9].max() < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_outliers_of_a_noisy_line(seed):
    X, along = line(0.01, seed)
    found = SchattenPCA(15, centering="none").fit(X)
    assert largest_angle(found.components_, along) < 1.0
    clear = np.abs(X[:10] @ [-0.6, 0.8]) > 0.06
    assert set(np.flatnonzero(clear)) <= set(found.outliers_)
    assert len(found.outliers_) < 15


def test_a_large_exponent_prefers_long_rows():
    X, _ = line(0.0, reach=10.0)
    small, large = (SchattenPCA(15, p=p, centering="none").fit(X) for p in (0.1, 0.7))
    assert set(range(10)) <= set(small.removal_order_)
    assert not set(range(10)) & set(large.removal_order_)


@pytest.mark.parametrize("centering", CENTERINGS)
def test_removal_and_return(centering):
    """What goes is what the kernel says; what returns is near the others' subspace."""
    X, _ = contaminated(60, 6, 2, 5, np.random.default_rng(0))
    mean = {"optimal": None, "mean": X.mean(axis=0), "none": np.zeros(6)}[centering]
    found = SchattenPCA(12, n_components=2, centering=centering).fit(X)
    removed = remove_rows(X, 12, 0.1, mean=mean).order
    np.testing.assert_array_equal(found.removal_order_, removed)
    before = fit_subspace(np.delete(X, removed, axis=0), 2, mean)
    distances = before.orthogonal_distances(X[removed])
    assert set(range(5)) <= set(found.outliers_) <= set(removed)
    stayed = np.isin(removed, found.outliers_)
    assert distances[~stayed].max() < distances[stayed].min()
    after = fit_subspace(np.delete(X, found.outliers_, axis=0), 2, mean)
    np.testing.assert_allclose(found.components_, after.components, atol=1e-12)
    np.testing.assert_allclose(found.mean_, after.mean)


def test_no_outliers_at_all():
    X = np.random.default_rng(0).standard_normal((50, 2)) @ [[1.0, 2, 3, 4], [4.0, -3, 2, 1]]
    found = SchattenPCA(0.2).fit(X)
    assert len(found.removal_order_) == 10 and len(found.outliers_) == 0
    assert found.n_components_ == 2
    nothing = SchattenPCA(0).fit(X)
    assert len(nothing.removal_order_) == 0 and len(nothing.schatten_path_) == 1


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_affine_subspaces(offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + offset
    X[:30] += rng.standard_normal((30, 12))
    found = SchattenPCA(0.6).fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(30))
    assert found.n_components_ == 3 and found.error_ < 1e-18 * max(offset, 1.0) ** 2


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_motions_and_permutations(seed):
    rng = np.random.default_rng(seed)
    X, _ = contaminated(40, 5, 2, 4, rng)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    order = rng.permutation(40)
    plain = SchattenPCA(6, n_components=2).fit(X)
    moved = SchattenPCA(6, n_components=2).fit((X @ turn + 7.0)[order])
    np.testing.assert_array_equal(order[moved.removal_order_], plain.removal_order_)
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    np.testing.assert_allclose(moved.schatten_path_, plain.schatten_path_)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_path_scales_with_the_data(scale):
    X, _ = line(0.01)
    plain, scaled = SchattenPCA(15).fit(X), SchattenPCA(15).fit(X * scale)
    np.testing.assert_array_equal(scaled.removal_order_, plain.removal_order_)
    np.testing.assert_allclose(scaled.schatten_path_, plain.schatten_path_ * scale**0.1)


@pytest.mark.parametrize(
    ("sigma", "rank"),
    [
        ([5.0, 4.0, 3.0, 0.0, 0.0], 3),
        ([5.0, 4.0, 0.2, 0.15, 0.1], 2),
        ([5.0, 4.0, 3.0, 2.0, 1e-3], 4),
        ([9.0, 8.0, 1.0, 0.9, 0.8, 0.7, 0.6, 1e-5], 2),
        ([5.0, 0.1], 1),
        ([5.0], 1),
        ([0.0, 0.0], 1),
    ],
)
def test_apparent_rank(sigma, rank):
    rng = np.random.default_rng(0)
    n = len(sigma)
    Q, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    X = (Q * sigma) @ V
    assert apparent_rank(X, np.zeros(n)) == rank
    # The same rows and their opposites have mean zero.
    assert apparent_rank(np.vstack([X, -X])) == rank


def test_given_components():
    X, _ = line(0.0)
    found = SchattenPCA(10, n_components=2).fit(X)
    assert found.components_.shape == (2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0.0}, "p must be a number > 0 and <= 1"),
        ({"p": 1.5}, "p must be a number > 0 and <= 1"),
        ({"centering": "median"}, "centering must be one of 'optimal', 'mean', 'none'"),
        ({"n_components": 3}, "n_components=3 is too large"),
        ({"n_components": 0}, "n_components must be an integer >= 1"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SchattenPCA(3, **options).fit(line(0.0)[0])
