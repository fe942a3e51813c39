"""Relations of features: relevance that spreads, and distances of samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from columnist.knowledge._relations import (
    commute_time_covariance,
    graph_similarity,
    hierarchy_similarity,
    mahalanobis_similarity,
    propagate,
    term_relevance,
    term_similarity,
    vote,
)
from columnist.spectral import fisher_similarity


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


def random_graph(seed: int, m: int, density: float = 0.4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    S = np.triu(rng.random((m, m)) * (rng.random((m, m)) < density))
    return S + np.triu(S, 1).T


seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 12), st.floats(0.05, 0.9), st.sampled_from([np.asarray, sp.csr_array]))
@settings(max_examples=60)
def test_propagation_is_its_series(seed, m, damping, form):
    S = random_graph(seed, m)
    r = np.random.default_rng(seed + 1).random(m)
    sums = S.sum(axis=1, keepdims=True)
    P = np.divide(S, sums, out=np.zeros_like(S), where=sums > 0)
    series, term = np.zeros(m), r
    for _ in range(400):
        series, term = series + term, damping * P @ term
    np.testing.assert_allclose(propagate(r, form(S), damping=damping), series, rtol=1e-9)


@given(seeds, st.integers(2, 12), st.floats(0.05, 0.99))
def test_constant_relevance_stays_constant(seed, m, damping):
    S = random_graph(seed, m) + 0.1
    spread = propagate(np.ones(m), S, damping=damping)
    np.testing.assert_allclose(spread, 1.0 / (1.0 - damping), rtol=1e-9)


def test_a_lonely_feature_keeps_its_relevance():
    S = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(propagate([0, 0, 5.0], form(S)), [0, 0, 5.0])


@given(seeds, st.integers(2, 12), st.floats(0.05, 0.9), st.floats(1e-100, 1e100))
@settings(max_examples=30)
def test_the_unit_of_the_similarity_does_not_matter(seed, m, damping, unit):
    S, r = random_graph(seed, m), np.arange(m, dtype=float)
    np.testing.assert_allclose(
        propagate(r, unit * S, damping=damping), propagate(r, S, damping=damping), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("relevance", "similarity", "damping", "message"),
    [
        ([1, 0], np.eye(2), 1.0, "< 1"),
        ([1, 0], np.eye(2), 0.0, "damping must be"),
        ([1, 0, 0], np.eye(2), 0.5, "3 entries for 2 features"),
        ([1, np.nan], np.eye(2), 0.5, "NaN"),
        ([1, 0], -np.eye(2), 0.5, "negative"),
        ([1, 0], [[0, 1], [0, 0]], 0.5, "symmetric"),
        ([1, 0], [[0, 1, 2], [0, 0, 1]], 0.5, "square"),
    ],
)
def test_bad_input_of_propagation(relevance, similarity, damping, message):
    with pytest.raises(ValueError, match=message):
        propagate(relevance, similarity, damping=damping)


@given(seeds, st.integers(1, 8), st.integers(1, 6), st.sampled_from([np.asarray, sp.csr_array]))
def test_votes_and_shares_by_counting(seed, m, n_terms, form):
    rng = np.random.default_rng(seed)
    V = (rng.random((m, n_terms)) < 0.4).astype(float)
    relevance, known = rng.random(n_terms), np.flatnonzero(rng.random(m) < 0.5)
    expected = [sum(relevance[t] for t in range(n_terms) if V[i, t]) for i in range(m)]
    np.testing.assert_allclose(vote(form(V), relevance), expected, atol=1e-15)
    shares = []
    for t in range(n_terms):
        having = [i for i in range(m) if V[i, t]]
        shares.append(len(set(having) & set(known)) / len(having) if having else 0.0)
    np.testing.assert_allclose(term_relevance(form(V), known), shares)


def test_voting_needs_a_number_per_term():
    with pytest.raises(ValueError, match="1 entries for 2 terms"):
        vote(np.ones((3, 2)), [1.0])


def test_similarity_by_shared_terms_term_by_term():
    V = np.random.default_rng(0).random((9, 5)) < 0.4
    V[:, 0] = True  # says nothing
    weights = np.log(9 / np.maximum(V.sum(axis=0), 1))
    for form in (np.asarray, sp.csr_array):
        S = term_similarity(form(V.astype(float))).toarray()
        for i in range(9):
            for j in range(9):
                both, either = weights[V[i] & V[j]].sum(), weights[V[i] | V[j]].sum()
                assert S[i, j] == pytest.approx(both / either if both else 0.0)


def test_similarity_by_a_hierarchy_level_by_level():
    rng = np.random.default_rng(1)
    levels = np.array([["ab"[i], "xyz"[j]] for i, j in rng.integers(0, (2, 3), (12, 2))])
    S = hierarchy_similarity(levels).toarray()
    paths = [[tuple(row[: depth + 1]) for row in levels] for depth in range(2)]
    for i in range(12):
        for j in range(12):
            parts = [(p[i] == p[j]) / p.count(p[i]) for p in paths]
            assert S[i, j] == pytest.approx(np.mean(parts))
    flat = hierarchy_similarity(levels[:, :1]).toarray()
    np.testing.assert_allclose(flat, fisher_similarity(levels[:, 0]).toarray())
    with pytest.raises(ValueError, match="one row of categories"):
        hierarchy_similarity(["a", "b"])
