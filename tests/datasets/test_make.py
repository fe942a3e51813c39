"""Generators: what they have in common, and what each of them makes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import kstest

from columnist import datasets
from columnist.datasets import (
    make_box_classes,
    make_line_and_outliers,
    make_low_rank_outliers,
    make_multilabel_low_rank,
    make_phase_transition,
    make_private_outputs,
    make_redundant_columns,
    make_sparse_loadings,
    make_three_clusters,
    make_two_stars,
    make_wide_sparse,
)
from columnist.privacy import NullSpaceCleaner
from columnist.robust import SchattenPCA
from columnist.spectral import cut, normalized_cut

SMALL = {
    "make_wide_sparse": {"n_samples": 50, "n_features": 2000},
    "make_phase_transition": {"n": 20},
}
GENERATORS = [name for name in datasets.__all__ if name.startswith("make_")]
RANDOM = [name for name in GENERATORS if name != "make_two_stars"]


def made(name: str, random_state):
    return getattr(datasets, name)(**SMALL.get(name, {}), random_state=random_state)


def dense(parts) -> list[np.ndarray]:
    return [part.toarray() if sp.issparse(part) else part for part in parts]


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_decides_all(name):
    for first, second in zip(dense(made(name, 3)), dense(made(name, 3)), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(dense(made(name, 3))[0], dense(made(name, 4))[0])


@pytest.mark.parametrize("name", RANDOM)
def test_every_kind_of_random_state(name):
    made(name, None)
    state = np.random.RandomState(0)
    first, second = (dense(made(name, state))[0] for _ in range(2))
    assert not np.array_equal(first, second)
    rng = np.random.default_rng(0)
    first, second = (dense(made(name, rng))[0] for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", RANDOM)
def test_the_global_generator_is_left_alone(name):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    made(name, 0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("name", GENERATORS)
def test_counts_are_checked(name):
    parameters = inspect.signature(getattr(datasets, name)).parameters
    first = next(iter(parameters))
    for wrong in (0, -1, 2.5, "many", True):
        with pytest.raises(ValueError, match=first):
            getattr(datasets, name)(**{first: wrong})


@pytest.mark.parametrize("name", RANDOM)
def test_values_are_finite(name):
    X = made(name, 0)[0]
    assert X.dtype == np.float64
    assert np.isfinite(X.data if sp.issparse(X) else X).all()


# -- rows near a subspace, and rows that are not----------------------------------


@given(
    st.integers(1, 30),
    st.integers(1, 20),
    st.integers(1, 6),
    st.integers(0, 30),
    st.sampled_from(["added", "replaced"]),
    st.integers(0, 1000),
)
def test_only_outliers_leave_the_subspace(n, p, rank, k, kind, seed):
    k = min(k, n)
    X, y = make_low_rank_outliers(n, p, rank=rank, n_outliers=k, outliers=kind, random_state=seed)
    assert X.shape == (n, p) and (y < 0).sum() == k and (y[:k] < 0).all()
    if k < n:
        assert np.linalg.matrix_rank(X[y > 0]) == min(rank, p, n - k)
    assert np.linalg.matrix_rank(X) == min(n, p, rank + k)


def test_replaced_rows_are_as_long_as_the_others():
    X, y = make_low_rank_outliers(
        2000, 50, rank=8, n_outliers=1000, outliers="replaced", random_state=0
    )
    energy = np.sum(X * X, axis=1)
    assert 0.95 < energy[y < 0].mean() / energy[y > 0].mean() < 1.05


def test_noise_is_on_top():
    clean, _ = make_low_rank_outliers(400, 100, random_state=0)
    noisy, _ = make_low_rank_outliers(400, 100, noise=0.5, random_state=0)
    assert abs((noisy - clean).std() - 0.5) < 0.01


def test_phase_transition_in_shares():
    X, y = make_phase_transition(50, rank=0.2, outliers=0.3, random_state=0)
    assert X.shape == (50, 50) and (y < 0).sum() == 15
    assert np.linalg.matrix_rank(X[y > 0]) == 10


def test_an_easy_cell_is_solved():
    X, y = make_phase_transition(40, rank=0.1, outliers=0.4, random_state=0)
    found = SchattenPCA(16, p=0.1, n_components=1, centering="none").fit(X)
    assert set(found.removal_order_) == set(np.flatnonzero(y < 0))


def test_line():
    X, y = make_line_and_outliers(70, n_outliers=20, noise=0.0, random_state=0)
    np.testing.assert_allclose(X[y > 0] @ [-0.6, 0.8], 0.0, atol=1e-12)
    assert (y < 0).sum() == 20 and np.abs(X[y < 0]).max() <= 1.0
    assert np.abs(X[y > 0] @ [0.8, 0.6]).max() > 4.0


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_low_rank_outliers, {"rank": 0}, "rank"),
        (make_low_rank_outliers, {"n_outliers": 101}, "n_outliers"),
        (make_low_rank_outliers, {"outliers": "add"}, "outliers"),
        (make_low_rank_outliers, {"noise": -1.0}, "noise"),
        (make_line_and_outliers, {"n_outliers": 61}, "n_outliers"),
        (make_phase_transition, {"rank": 0.0}, "rank"),
        (make_phase_transition, {"outliers": 1.5}, "outliers"),
    ],
)
def test_wrong_options(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)


# -- columns that stand for one another, and columns that matter------------------


@given(st.integers(1, 5), st.integers(1, 4), st.booleans(), st.integers(0, 1000))
def test_without_noise_groups_are_copies(n_groups, size, shuffle, seed):
    X, groups = make_redundant_columns(
        20, n_groups, group_size=size, noise=0.0, shuffle=shuffle, random_state=seed
    )
    assert X.shape == (20, n_groups * size)
    assert np.linalg.matrix_rank(X) == n_groups
    assert (np.bincount(groups) == size).all()
    for group in range(n_groups):
        assert np.linalg.matrix_rank(X[:, groups == group]) == 1
    if not shuffle:
        assert (np.diff(groups) >= 0).all()


def test_noise_is_relative():
    X, groups = make_redundant_columns(20_000, 2, group_size=2, noise=0.5, random_state=0)
    correlation = np.abs(np.corrcoef(X.T))
    same = groups[:, None] == groups
    np.testing.assert_allclose(correlation[same & ~np.eye(4, dtype=bool)], 0.8, atol=0.02)
    np.testing.assert_allclose(correlation[~same], 0.0, atol=0.03)


def test_loadings_are_the_truth():
    X, loadings = make_sparse_loadings(5000, 12, rank=2, n_informative=4, random_state=0)
    assert loadings.shape == (12, 2) and (loadings[4:] == 0.0).all() and loadings[:4].all()
    covariance = X.T @ X / len(X)
    np.testing.assert_allclose(covariance, loadings @ loadings.T + 0.16 * np.eye(12), atol=0.25)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_redundant_columns, {"noise": -0.1}, "noise"),
        (make_redundant_columns, {"group_size": 0}, "group_size"),
        (make_sparse_loadings, {"n_informative": 41}, "n_informative"),
        (make_sparse_loadings, {"rank": 0}, "rank"),
    ],
)
def test_wrong_options_of_columns(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)


# -- toys of spectral feature selection-------------------------------------------


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
def test_wrong_options_of_clusters(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)


# -- features with several outputs------------------------------------------------


def test_labels_depend_on_the_informative_features_only():
    X, Y, informative = make_multilabel_low_rank(4000, 20, noise=0.0, random_state=0)
    correlation = np.abs(np.corrcoef(X.T, Y.T)[:20, 20:])
    others = np.setdiff1d(np.arange(20), informative)
    assert correlation[others].max() < 0.06 < correlation[informative].max(axis=1).min()


@given(st.integers(2, 60), st.integers(1, 5), st.floats(0.01, 1.0), st.integers(0, 100))
def test_every_label_applies_as_often_as_asked(n, n_labels, share, seed):
    _, Y, _ = make_multilabel_low_rank(
        n, 6, n_labels=n_labels, rank=1, n_informative=2, share=share, random_state=seed
    )
    assert Y.shape == (n, n_labels)
    assert (Y.sum(axis=0) == min(n - 1, max(1, round(share * n)))).all()


def test_low_rank_without_noise():
    """Labels of rank one that agree in sign are equal, the others apply at the other end."""
    _, Y, _ = make_multilabel_low_rank(
        100, 10, n_labels=5, rank=1, n_informative=3, noise=0.0, random_state=0
    )
    assert len(np.unique(Y, axis=1).T) <= 2


@pytest.mark.parametrize("overlap", [0.0, 0.4, 1.0])
def test_overlap_is_the_cosine(overlap):
    _, desired, confidential = make_private_outputs(overlap=overlap, random_state=0)
    np.testing.assert_allclose(desired @ desired.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(confidential, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(confidential @ desired.T, axis=1), overlap, atol=1e-8)


def test_without_overlap_cleaning_hides_it_all():
    X, desired, confidential = make_private_outputs(overlap=0.0, random_state=0)
    cleaned = NullSpaceCleaner(desired, centering="none").fit(X).transform(X)
    np.testing.assert_allclose(cleaned @ desired.T, X @ desired.T, atol=1e-8)
    np.testing.assert_allclose(cleaned @ confidential.T, 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_multilabel_low_rank, {"rank": 7}, "rank"),
        (make_multilabel_low_rank, {"n_informative": 2}, "n_informative"),
        (make_multilabel_low_rank, {"n_features": 5}, "n_features"),
        (make_multilabel_low_rank, {"share": 0.0}, "share"),
        (make_private_outputs, {"n_features": 3}, "n_features"),
        (make_private_outputs, {"overlap": 1.1}, "overlap"),
    ],
)
def test_wrong_options_of_targets(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)


# -- very wide sparse data--------------------------------------------------------


@given(st.integers(1, 20), st.integers(2, 300), st.integers(1, 30), st.integers(0, 1000))
def test_zeros_and_ones(n, m, per_row, seed):
    X, y, informative = make_wide_sparse(n, m, per_row=per_row, n_informative=1, random_state=seed)
    assert X.shape == (n, m) and X.format == "csc" and X.has_canonical_format
    assert (X.data == 1.0).all() and X.sum(axis=1).max() <= per_row
    assert set(y) <= {0, 1} and 0 <= informative[0] < m


def test_popularity_falls_like_the_rank():
    """Without repetitions in a row the j-th column gets a share log((j + 1)/j) / log m."""
    X, _, _ = make_wide_sparse(200_000, 1000, per_row=1, random_state=0)
    shares = X.sum(axis=0) / X.shape[0]
    ranks = np.arange(1, 1001)
    expected = np.log1p(1.0 / ranks) / np.log(1000)
    assert np.abs(shares - expected).max() < 5.0 * np.sqrt(expected.max() / 200_000)


def test_classes_depend_on_the_informative_columns():
    X, y, informative = make_wide_sparse(4000, 5000, per_row=40, random_state=0)
    assert abs(y.mean() - 0.5) < 0.01
    frequent = X[:, :200].toarray()
    correlation = np.abs(np.corrcoef(frequent.T, y)[-1, :-1])
    others = np.setdiff1d(np.arange(200), informative)
    assert np.median(correlation[informative]) > 3.0 * np.median(correlation[others])


def test_room_for_the_informative_columns():
    with pytest.raises(ValueError, match="n_features must be an integer >= 40"):
        make_wide_sparse(10, 39)
