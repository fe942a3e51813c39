"""Covariances of features: random walks, signs of eigenvectors, and Mahalanobis distances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from columnist.knowledge._covariance import (
    commute_time_covariance,
    graph_similarity,
    mahalanobis_similarity,
)


def connected_graph(seed: int, m: int) -> np.ndarray:
    """Random weights, with a path through all features."""
    rng = np.random.default_rng(seed)
    S = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.4), 1)
    S[np.arange(m - 1), np.arange(1, m)] += 0.2
    return S + S.T


def commute_times(S: np.ndarray) -> np.ndarray:
    """Expected steps from i to j and back, from the equations of the walk."""
    m = len(S)
    P = S / S.sum(axis=1, keepdims=True)
    hitting = np.zeros((m, m))
    for j in range(m):
        rest = np.delete(np.arange(m), j)
        hitting[rest, j] = np.linalg.solve(np.eye(m - 1) - P[np.ix_(rest, rest)], np.ones(m - 1))
    return hitting + hitting.T


graphs = st.tuples(st.integers(0, 10**6), st.integers(2, 10))


@given(graphs)
@settings(max_examples=50)
def test_covariance_gives_the_commute_times(graph):
    S = connected_graph(*graph)
    C = commute_time_covariance(S)
    own = np.diagonal(C)
    times = S.sum() * (own[:, None] + own - 2.0 * C)
    np.testing.assert_allclose(times, commute_times(S), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(commute_time_covariance(sp.csr_array(S)), C, atol=1e-12)


def printed_covariance(S: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Proposition 1 of the book, with eigenvectors of the given signs."""
    values, U = np.linalg.eigh(np.diag(S.sum(axis=1)) - S)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-10)
    U, root = U * signs, np.sqrt(inverse)
    middle = np.diag(inverse) - np.outer(root, root) / len(S)
    return U @ middle @ U.T


def test_the_printed_covariance_depends_on_signs_and_ours_does_not():
    S = connected_graph(3, 8)
    signs = np.ones(8)
    before = printed_covariance(S, signs)
    signs[3] = -1.0
    assert np.linalg.norm(printed_covariance(S, signs) - before) > 0.05 * np.linalg.norm(before)
    order = np.random.default_rng(0).permutation(8)
    C = commute_time_covariance(S)
    shuffled = commute_time_covariance(S[np.ix_(order, order)])
    np.testing.assert_allclose(shuffled, C[np.ix_(order, order)], atol=1e-12)


@given(graphs, st.sampled_from([np.asarray, sp.csr_array]))
@settings(max_examples=50)
def test_graph_similarity_is_mahalanobis_with_that_covariance(graph, form):
    S = connected_graph(*graph)
    rng = np.random.default_rng(graph[0])
    X = rng.standard_normal((6, len(S)))
    fast = graph_similarity(form(X), form(S)).toarray()
    slow = mahalanobis_similarity(X, commute_time_covariance(S), ridge=0.0).toarray()
    np.testing.assert_allclose(fast, slow, atol=1e-9)
    squares = [[0.5 * (S * np.subtract.outer(a - b, a - b) ** 2).sum() for b in X] for a in X]
    by_hand = graph_similarity(X, S, width=1.5).toarray()
    np.testing.assert_allclose(by_hand, np.exp(-np.array(squares) / 4.5), atol=1e-10)


@given(st.integers(0, 10**6), st.integers(3, 12), st.integers(1, 8), st.floats(0.01, 2.0))
@settings(max_examples=50)
def test_sample_covariance_against_scipy(seed, n, m, ridge):
    X = np.random.default_rng(seed).standard_normal((n, m)) + 3.0
    C = np.atleast_2d(np.cov(X, rowvar=False))
    inverse = np.linalg.inv(C + ridge * np.trace(C) / m * np.eye(m))
    distances = squareform(pdist(X, "mahalanobis", VI=inverse))
    expected = np.exp(-(distances**2) / 8.0)
    for form in (np.asarray, sp.csr_array):
        found = mahalanobis_similarity(form(X), ridge=ridge, width=2.0).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-8)
    given_covariance = mahalanobis_similarity(X, C, ridge=ridge, width=2.0).toarray()
    np.testing.assert_allclose(given_covariance, expected, atol=1e-8)


def test_many_features_make_all_samples_equally_distant_without_a_ridge():
    X = np.random.default_rng(0).standard_normal((8, 30))
    flat = mahalanobis_similarity(X, ridge=0.0).toarray()[np.triu_indices(8, 1)]
    np.testing.assert_allclose(flat, np.exp(-0.5), rtol=1e-8)
    assert np.ptp(mahalanobis_similarity(X).toarray()[np.triu_indices(8, 1)]) > 0.01


def test_equal_samples_are_as_similar_as_can_be():
    np.testing.assert_allclose(mahalanobis_similarity(np.ones((3, 4))).toarray(), 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mahalanobis_similarity(np.eye(3), np.eye(2)), "of 2 features, but X has 3"),
        (lambda: mahalanobis_similarity(np.eye(3), -np.eye(3)), "negative eigenvalues"),
        (lambda: mahalanobis_similarity(np.eye(3), ridge=-1.0), "ridge"),
        (lambda: mahalanobis_similarity(np.eye(3), width=0.0), "width"),
        (lambda: graph_similarity(np.eye(3), np.eye(2)), "of 2 features, but X has 3"),
        (lambda: graph_similarity(np.eye(2), -np.eye(2)), "negative"),
        (lambda: commute_time_covariance([[0, 1], [2, 0]]), "symmetric"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
