"""HSIC against its definition, as sums over quadruples, and greedy search done naively."""

from __future__ import annotations

from itertools import combinations, permutations
from math import perm

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from columnist.spectral._ratios import FisherScore
from columnist.spectral._sequential import HSIC
from columnist.spectral._similarity import (
    fisher_similarity,
    hsic_similarity,
    knn_similarity,
    label_similarity,
    rbf_similarity,
)
from tests.spectral.test_ratios import FORMS, labelled


def estimate(K, L) -> float:
    """The unbiased estimator, from matrices without diagonals."""
    K, L = (M - np.diag(np.diag(M)) for M in (K, L))
    n = len(K)
    middle = K.sum() * L.sum() / ((n - 1) * (n - 2))
    return (np.trace(K @ L) + middle - 2.0 / (n - 2) * (K @ L).sum()) / (n * (n - 3))


def gaussian(X, columns, width=1.0) -> np.ndarray:
    """Kernel of a set of standardised columns, whose width grows with the set."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    differences = Z[:, None, list(columns)] - Z[None, :, list(columns)]
    squares = np.square(differences).sum(axis=2)
    return np.exp(-squares / (2.0 * width**2 * len(columns)))


def test_estimator_is_the_mean_over_quadruples():
    rng = np.random.default_rng(0)
    K, L = (M + M.T for M in rng.standard_normal((2, 6, 6)))
    total = 0.0
    for i, j, q, r in permutations(range(6), 4):
        total += K[i, j] * (L[i, j] + L[q, r] - 2.0 * L[i, q])
    assert estimate(K, L) == pytest.approx(total / perm(6, 4), rel=1e-12)


@settings(max_examples=50)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["label", "fisher", "rbf", "knn", "own"]),
    st.sampled_from(["unit", "none"]),
    st.sampled_from(FORMS),
)
def test_linear_scores_by_definition(seed, similarity, scaling, form):
    X, y = labelled(seed, n=15)
    own = np.random.default_rng(seed).standard_normal((15, 15))
    K = {
        "label": lambda: label_similarity(y).toarray(),
        "fisher": lambda: fisher_similarity(y).toarray(),
        "rbf": lambda: rbf_similarity(X).toarray(),
        "knn": lambda: knn_similarity(X).toarray(),
        "own": lambda: own + own.T,
    }[similarity]()
    fitted = HSIC(2, scaling=scaling, similarity=K if similarity == "own" else similarity)
    fitted.fit(form(X), y)
    Z = X / np.linalg.norm(X - X.mean(axis=0), axis=0) if scaling == "unit" else X
    expected = np.array([estimate(np.outer(f, f), K) for f in Z.T])
    slack = 1e-10 * np.abs(expected).max()
    np.testing.assert_allclose(fitted.raw_scores_, expected, rtol=1e-8, atol=slack)
    np.testing.assert_array_equal(fitted.scores_, fitted.raw_scores_)
    np.testing.assert_array_equal(fitted.ranking_, np.argsort(-fitted.scores_))
    F = fitted.selected_
    assert fitted.criterion_ == pytest.approx(estimate(Z[:, F] @ Z[:, F].T, K), abs=10 * slack)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_constant_and_shift(seed):
    X, y = labelled(seed, n=12)
    S = hsic_similarity(label_similarity(y))
    np.testing.assert_allclose(S.forms(np.ones((12, 1))), 0.0, atol=1e-13)
    np.testing.assert_allclose(S.forms(X + 3.0), S.forms(X), atol=1e-11)
    for scaling in ("unit", "none"):
        plain = HSIC(scaling=scaling).fit(X, y).raw_scores_
        moved = HSIC(scaling=scaling).fit(X + 1e6, y).raw_scores_
        np.testing.assert_allclose(moved, plain, rtol=1e-6, atol=1e-8 * np.abs(plain).max())


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_linear_search_is_separable(seed, size):
    X, y = labelled(seed, n=20)
    forward, backward = (HSIC(size, direction=d).fit(X, y) for d in ("forward", "backward"))
    np.testing.assert_array_equal(forward.ranking_, backward.ranking_)
    # The best set of all, by the criterion of the sum of kernels.
    Z = X / np.linalg.norm(X - X.mean(axis=0), axis=0)
    K = label_similarity(y).toarray()
    values = {F: estimate(Z[:, F] @ Z[:, F].T, K) for F in combinations(range(6), size)}
    assert forward.criterion_ == pytest.approx(max(values.values()), abs=1e-14)
    assert tuple(sorted(forward.selected_)) == max(values, key=values.get)


def test_near_fisher_for_balanced_classes():
    X, y = load_iris(return_X_y=True)
    for similarity in ("label", "fisher"):
        hsic = HSIC(similarity=similarity).fit(X, y)
        np.testing.assert_array_equal(hsic.ranking_, FisherScore().fit(X, y).ranking_)


def forward_by_hand(X, K, size, width):
    order, values = [], {}
    for _ in range(size):
        values = {
            j: estimate(gaussian(X, [*order, j], width), K)
            for j in range(X.shape[1])
            if j not in order
        }
        order.append(max(values, key=values.get))
    return order, values[order[-1]]


def backward_by_hand(X, K, width):
    left, removed = list(range(X.shape[1])), []
    while len(left) > 1:
        values = {j: estimate(gaussian(X, [i for i in left if i != j], width), K) for j in left}
        worst = max(values, key=values.get)
        left.remove(worst)
        removed.insert(0, worst)
    return left + removed


@settings(max_examples=30)
@given(
    st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.5, 1.0]), st.booleans(),
    st.sampled_from(FORMS),
)  # fmt: skip
def test_gaussian_search_by_definition(seed, size, width, supervised, form):
    X, y = labelled(seed, n=12, m=5)
    X *= 10.0 ** np.arange(-2, 3)  # units do not matter
    K = label_similarity(y).toarray() if supervised else rbf_similarity(X).toarray()
    y = y if supervised else None
    options = {"kernel": "rbf", "kernel_width": width}
    forward = HSIC(size, **options).fit(form(X), y)
    order, value = forward_by_hand(X, K, size, width)
    np.testing.assert_array_equal(forward.selected_, order)
    assert forward.criterion_ == pytest.approx(value, rel=1e-9)
    backward = HSIC(size, direction="backward", **options).fit(form(X), y)
    np.testing.assert_array_equal(backward.ranking_, backward_by_hand(X, K, width))
    for fitted in (forward, backward):
        F = list(fitted.selected_)
        for i, j in enumerate(F):
            expected = estimate(gaussian(X, F[: i + 1], width), K)
            assert fitted.raw_scores_[j] == pytest.approx(expected, rel=1e-8, abs=1e-14)
        assert fitted.criterion_ == fitted.raw_scores_[F[-1]]
        np.testing.assert_array_equal(np.argsort(-fitted.scores_), fitted.ranking_)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_gaussian_kernel_sees_features_that_matter_together(direction):
    X = np.random.default_rng(0).standard_normal((120, 5))
    y = np.where(X[:, 1] * X[:, 3] > 0, "same", "different")
    assert set(HSIC(2, kernel="rbf", direction=direction).fit(X, y).selected_) == {1, 3}
    assert set(HSIC(2).fit(X, y).selected_) != {1, 3}


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "direction": "backward"}]
)
@pytest.mark.parametrize("form", FORMS)
def test_constant_features_rank_last(options, form):
    X, y = labelled(3, n=20)
    X[:, 1], X[:, 2] = 0.0, 0.3
    fitted = HSIC(4, **options).fit(form(X), y)
    assert np.isnan(fitted.scores_[[1, 2]]).all()
    assert np.isnan(fitted.raw_scores_[[1, 2]]).all()
    assert list(fitted.ranking_[-2:]) == [1, 2]
    with pytest.warns(UserWarning, match="2 of 6 features without a score"):
        HSIC(6, **options).fit(form(X), y)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"scaling": "none"}])
@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_scales(options, factor):
    X, y = labelled(4, n=20)
    for given_y in (y, None):
        plain, moved = (HSIC(3, **options).fit(Z, given_y) for Z in (X, factor * X))
        np.testing.assert_array_equal(moved.ranking_, plain.ranking_)
        unit = factor**2 if options.get("scaling") == "none" else 1.0
        np.testing.assert_allclose(moved.raw_scores_, unit * plain.raw_scores_, rtol=1e-6)
        assert moved.criterion_ == pytest.approx(unit * plain.criterion_, rel=1e-6)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}])
def test_float32(options):
    X, y = labelled(5, n=20)
    X = X.astype(np.float32)
    wide = HSIC(3, **options).fit(X.astype(np.float64), y).raw_scores_
    for form in FORMS:
        narrow = HSIC(3, **options).fit(form(X), y).raw_scores_
        np.testing.assert_allclose(narrow, wide, rtol=1e-6, atol=1e-8 * np.abs(wide).max())


def test_kernels_of_classes_stay_small(monkeypatch):
    """No n x n matrix for classes: neither of 20,000 samples fits into what is left."""
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((20_000, 3)), rng.integers(0, 3, 20_000)
    monkeypatch.setattr("columnist.linalg._memory.available_memory", lambda: 10**6)
    HSIC(1).fit(X, y)
    for call in (lambda: HSIC(1, kernel="rbf").fit(X, y), lambda: HSIC(1).fit(X)):
        with pytest.raises(MemoryError, match="20000 samples needs about"):
            call()


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"direction": "foward"}, np.eye(5), None, "direction must be one of"),
        ({"kernel": "gauss"}, np.eye(5), None, "kernel must be one of"),
        ({"scaling": "std"}, np.eye(5), None, "scaling must be one of"),
        ({"kernel_width": 0.0}, np.eye(5), None, "kernel_width must be a number > 0"),
        ({"similarity": "rgb"}, np.eye(5), None, "similarity must be one of"),
        ({"similarity": "label"}, np.eye(5), None, "requires y"),
        ({"similarity": np.eye(4)}, np.eye(5), None, "4 samples, but X has 5 rows"),
        ({}, np.eye(3), [0, 1, 0], "minimum of 4"),
        ({}, np.eye(5), [0.5, 1.5, 0.1, 2.5, 0.2], "class labels"),
        ({}, np.ones((5, 2)), [0, 1, 0, 1, 1], "All features are constant"),
        ({}, sp.csr_array(np.full((5, 2), np.nan)), [0, 1, 0, 1, 1], "NaN"),
    ],
)
def test_bad_input(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        HSIC(**options).fit(X, y)
