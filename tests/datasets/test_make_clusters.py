"""Toys of spectral feature selection."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest

from columnist.datasets import make_box_classes, make_three_clusters, make_two_stars
from columnist.spectral import cut, normalized_cut


def test_three_clusters_lie_where_they_should():
    X, y = make_three_clusters(2000, n_irrelevant=3, random_state=0)
    assert X.shape == (6000, 5)
    for label, centre in enumerate([(5, 0), (0, 5), (5, 5)]):
        np.testing.assert_allclose(X[y == label, :2].mean(axis=0), centre, atol=0.1)
        np.testing.assert_allclose(X[y == label, :2].std(axis=0), 1.0, atol=0.1)


@pytest.mark.parametrize(("kind", "law"), [("uniform", "uniform"), ("normal", "norm")])
def test_irrelevant_features_do_not_know_the_classes(kind, law):
    X, y = make_three_clusters(500, n_irrelevant=2, irrelevant=kind, scale=2.0, random_state=0)
    for label in range(3):
        assert kstest(X[y == label, 2] / 2.0, law).pvalue > 1e-3


def test_more_irrelevant_features_change_no_other():
    few, _ = make_three_clusters(n_irrelevant=0, random_state=0)
    many, _ = make_three_clusters(n_irrelevant=100, random_state=0)
    np.testing.assert_array_equal(many[:, :2], few)


def test_all_three_features_of_the_box_are_needed():
    X, y = make_box_classes(200, random_state=0)
    assert X.shape == (1600, 15)
    centres = np.array([X[y == label].mean(axis=0) for label in range(8)])
    for column, distance in ((0, 6.0), (1, 6.0), (2, 3.0)):
        others = [other for other in range(3) if other != column]
        gaps = cdist(centres[:, others], centres[:, others]) + 9.0 * np.eye(8)
        np.testing.assert_allclose(gaps.min(axis=1), 0.0, atol=0.6)  # a pair looks alike
        assert abs(np.ptp(centres[:, column]) - distance) < 0.6


@pytest.mark.parametrize(("repeated", "count"), [("copies", 2), ("sum", 1), ("three sums", 3)])
def test_what_is_repeated(repeated, count):
    X, _ = make_box_classes(100, repeated=repeated, n_irrelevant=0, random_state=0)
    assert X.shape[1] == 3 + count
    a, b = X[:, 0], X[:, 1]
    if repeated == "copies":
        np.testing.assert_allclose((X[:, 3:] - X[:, :2]).std(axis=0), 0.3, atol=0.05)
    else:
        np.testing.assert_allclose(
            X[:, 3:], np.column_stack([a + b, a - b, 2 * a + b])[:, :count], atol=1e-12
        )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_cuts_of_two_stars(n):
    S, parts = make_two_stars(n)
    np.testing.assert_array_equal(S, S.T)
    assert np.count_nonzero(S) == 2 * (2 * (n - 1) + 2)
    between, lonely = cut(S, parts == 0), cut(S, parts == 2)
    assert np.isclose(between, np.exp(-0.5)) and np.isclose(lonely, np.exp(-9 / 8))
    # The normalised cut prefers to part the stars, unless they are single samples.
    assert (normalized_cut(S, parts == 0) < normalized_cut(S, parts == 2)) == (n > 1)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_three_clusters, {"irrelevant": "gaussian"}, "irrelevant"),
        (make_three_clusters, {"scale": -1}, "scale"),
        (make_box_classes, {"repeated": "copy"}, "repeated"),
        (make_box_classes, {"n_irrelevant": -1}, "n_irrelevant"),
    ],
)
def test_wrong_options(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)
