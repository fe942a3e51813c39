"""Similarities against their formulas."""

from __future__ import annotations

import itertools
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise
from sklearn.neighbors import KNeighborsTransformer

from columnist.spectral import (
    cosine_similarity,
    fisher_similarity,
    hsic_similarity,
    knn_similarity,
    label_similarity,
    linear_similarity,
    polynomial_similarity,
    rbf_similarity,
    resolve_similarity,
    weighted_similarity,
)
from columnist.spectral._neighbors import neighbor_distances
from columnist.spectral._symmetric import LowRankMatrix, SparseMatrix
from tests.spectral.data import SEEDS


@pytest.fixture(params=["tall", "wide", "sparse"])
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 9) if request.param == "wide" else (9, 5))
    return sp.csr_matrix(np.where(X > 0, X, 0.0)) if request.param == "sparse" else X


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def test_kernels(X):
    A = dense(X)
    np.testing.assert_allclose(
        linear_similarity(X, constant=2.0).toarray(), A @ A.T + 2.0, atol=1e-12
    )
    np.testing.assert_allclose(linear_similarity(X).toarray(), A @ A.T, atol=1e-12)
    np.testing.assert_allclose(
        polynomial_similarity(X, degree=3, scale=0.5, constant=1.5).toarray(),
        pairwise.polynomial_kernel(A, degree=3, gamma=0.5, coef0=1.5),
    )
    np.testing.assert_allclose(
        rbf_similarity(X, width=1.5).toarray(), pairwise.rbf_kernel(A, gamma=1 / 4.5), atol=1e-12
    )
    np.testing.assert_allclose(
        cosine_similarity(X).toarray(), pairwise.cosine_similarity(A), atol=1e-12
    )


def test_automatic_width_is_the_median_distance():
    X = np.array([[0.0], [1.0], [3.0], [3.0]])
    distances = [1.0, 3.0, 3.0, 2.0, 2.0]
    expected = rbf_similarity(X, width=np.median(distances)).toarray()
    np.testing.assert_allclose(rbf_similarity(X).toarray(), expected)
    np.testing.assert_array_equal(rbf_similarity(np.ones((3, 2))).toarray(), 1.0)


@given(SEEDS, st.floats(1e-100, 1e100))
def test_automatic_widths_do_not_depend_on_the_unit(seed, unit):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    for build in (rbf_similarity, knn_similarity):
        np.testing.assert_allclose(
            build(unit * X).toarray(), build(X).toarray(), rtol=1e-6, atol=1e-12
        )


def brute_force_graph(X, k, width):
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    S = np.zeros_like(distances)
    for i in range(len(X)):
        others = [j for j in np.argsort(distances[i], kind="stable") if j != i]
        for j in others[:k]:
            S[i, j] = S[j, i] = np.exp(-(distances[i, j] ** 2) / (2 * width**2))
    return S


@pytest.mark.parametrize("n_neighbors", [1, 4, 11])
@pytest.mark.parametrize("n_features", [3, 20])
def test_neighbour_graph(n_neighbors, n_features):
    X = np.random.default_rng(3).normal(size=(12, n_features))
    expected = brute_force_graph(X, n_neighbors, 0.7)
    S = knn_similarity(X, n_neighbors=n_neighbors, width=0.7)
    assert isinstance(S, SparseMatrix)
    np.testing.assert_allclose(S.toarray(), expected, atol=1e-12)
    sparse = knn_similarity(sp.csr_matrix(X), n_neighbors=n_neighbors, width=0.7)
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-9)


def test_close_samples_far_from_zero():
    """Neighbours 1e-4 apart among clusters 1e4 apart: inner products alone lose the distances."""
    rng = np.random.default_rng(0)
    X = 1e4 * np.repeat(rng.normal(size=(5, 20)), 4, axis=0) + 1e-4 * rng.normal(size=(20, 20))
    distances = neighbor_distances(X, 3)
    rows = np.repeat(np.arange(20), 3)
    expected = np.linalg.norm(X[rows] - X[distances.indices], axis=1)
    np.testing.assert_allclose(distances.data, expected, rtol=1e-6)
    np.testing.assert_array_equal(rows // 4, distances.indices // 4)


def test_equal_samples_are_neighbours_of_weight_one():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [6.0]])
    S = knn_similarity(X, n_neighbors=2, width=1.0).toarray()
    np.testing.assert_array_equal(S[:3, :3], 1.0 - np.eye(3))
    np.testing.assert_array_equal(
        knn_similarity(np.ones((4, 1)), n_neighbors=3).toarray() > 0, ~np.eye(4, dtype=bool)
    )


def test_neighbours_from_elsewhere():
    X = np.random.default_rng(4).normal(size=(30, 3))
    expected = knn_similarity(X, n_neighbors=4).toarray()
    transformer = KNeighborsTransformer(n_neighbors=4, mode="distance")
    found = knn_similarity(X, n_neighbors=4, neighbors=transformer)
    np.testing.assert_allclose(found.toarray(), expected)


@pytest.mark.skipif(find_spec("faiss") is None, reason="faiss-cpu is not installed")
def test_approximate_neighbours_are_nearly_all_true():
    X = np.random.default_rng(4).normal(size=(500, 20))
    exact = knn_similarity(X, n_neighbors=4).matrix
    found = knn_similarity(X, n_neighbors=4, neighbors="approximate").matrix
    assert found.multiply(exact).nnz > 0.98 * exact.nnz
    again = knn_similarity(X, n_neighbors=4, neighbors="approximate").matrix
    assert (found != again).nnz == 0
    with pytest.raises(ValueError, match="needs dense X"):
        knn_similarity(sp.csr_matrix(X), neighbors="approximate")


def test_approximate_neighbours_need_a_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(ImportError, match=r"columnist\[neighbors\]"):
        knn_similarity(np.eye(5), n_neighbors=2, neighbors="approximate")


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=15).filter(lambda y: len(set(y)) > 1))
def test_labels(y):
    same = np.equal.outer(np.array(y), np.array(y)).astype(float)
    S = label_similarity(y)
    assert isinstance(S, LowRankMatrix)
    np.testing.assert_array_equal(S.toarray(), same)
    fisher = fisher_similarity(y).toarray()
    np.testing.assert_allclose(fisher, same / same.sum(axis=1), atol=1e-15)
    np.testing.assert_allclose(fisher @ fisher, fisher, atol=1e-14)
    np.testing.assert_allclose(fisher.sum(axis=0), 1.0)


def unbiased_hsic(K, L):
    """Mean over all ordered quadruples of different samples."""
    n, total = len(K), 0.0
    for i, j, q, r in itertools.permutations(range(n), 4):
        total += K[i, j] * (L[i, j] + L[q, r] - 2.0 * L[i, q])
    return total / (n * (n - 1) * (n - 2) * (n - 3))


@given(SEEDS, st.integers(4, 6))
def test_hsic_is_the_mean_over_quadruples(seed, n):
    rng = np.random.default_rng(seed)
    A, f = rng.normal(size=(n, n)), rng.normal(size=n)
    K = A + A.T
    S = hsic_similarity(K)
    expected = unbiased_hsic(K, np.outer(f, f))
    assert f @ S.times(f) == pytest.approx(expected, abs=1e-10)
    np.testing.assert_allclose(S.toarray() @ np.ones(n), 0.0, atol=1e-12)


def test_weighted_sum():
    y = [0, 1, 1]
    parts = [label_similarity(y).toarray(), sp.eye(3)]
    np.testing.assert_allclose(weighted_similarity(parts).toarray(), 0.5 * (parts[0] + np.eye(3)))
    with pytest.raises(ValueError, match="at least one similarity"):
        weighted_similarity([])
    with pytest.raises(ValueError, match="different numbers of samples"):
        weighted_similarity([np.eye(2), np.eye(3)])
    with pytest.raises(ValueError, match="2 similarities need as many weights; got 1"):
        weighted_similarity(parts, [1.0])
    with pytest.raises(ValueError, match="weights must be a number >= 0"):
        weighted_similarity(parts, [1.0, -1.0])


def test_names_functions_and_matrices():
    X = np.random.default_rng(5).random((8, 3))
    y = np.arange(8) % 2
    for name in ("knn", "rbf", "linear", "polynomial", "cosine", "label", "fisher", "relief"):
        assert resolve_similarity(name, X, y, n_neighbors=2).n == 8
    assert resolve_similarity(lambda X: X @ X.T, X).n == 8
    assert resolve_similarity(sp.eye(8), X).n == 8


@pytest.mark.parametrize(
    ("similarity", "options", "message"),
    [
        ("heat", {}, "similarity must be one of 'knn', 'rbf'"),
        ("label", {}, "requires y to be passed"),
        ("knn", {"n_neighbors": 8}, "n_neighbors=8 needs more than 8 samples; n_samples = 8"),
        ("knn", {"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
        ("knn", {"width": -1.0}, "width must be 'auto' or a number > 0"),
        ("rbf", {"width": "wide"}, "width must be 'auto' or a number > 0"),
        (np.eye(7), {}, "7 samples, but X has 8 rows"),
        (lambda X: X, {}, "square matrix"),
    ],
)
def test_bad_similarities(similarity, options, message):
    with pytest.raises(ValueError, match=message):
        resolve_similarity(similarity, np.random.default_rng(0).random((8, 3)), **options)


def test_bad_options():
    X = np.eye(4)
    with pytest.raises(ValueError, match="degree must be an integer >= 1"):
        polynomial_similarity(X, degree=0)
    with pytest.raises(ValueError, match="neighbors must be one of 'exact', 'approximate'"):
        knn_similarity(X, n_neighbors=2, neighbors="fast")
    with pytest.raises(ValueError, match="at least 4 samples; got 3"):
        hsic_similarity(np.eye(3))
    with pytest.raises(ValueError, match="needs class labels in y"):
        label_similarity([0.1, 0.2, 0.35])
    with pytest.raises(ValueError, match="got one class"):
        fisher_similarity([1, 1])


def test_a_kernel_that_does_not_fit(monkeypatch):
    monkeypatch.setattr("columnist.linalg._memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"similarity='rbf' of 50 samples.*similarity='knn'"):
        rbf_similarity(np.ones((50, 1)))
