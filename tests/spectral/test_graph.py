"""Graphs and the three scores against their definitions (properties P2 to P6 and P15)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from columnist.spectral import (
    cut,
    cut_value,
    degrees,
    fisher_similarity,
    knn_similarity,
    label_similarity,
    laplacian,
    leading_eigenpairs,
    normalized_cut,
)
from columnist.spectral._graph import Graph, phi, resolve_gamma
from tests.spectral.data import KINDS, SEEDS, example_8, similarity


@given(KINDS, SEEDS, st.integers(3, 12))
def test_laplacian(kind, seed, n):
    rng = np.random.default_rng(seed)
    S = similarity(kind, n, rng)
    A = S.toarray()
    d = A.sum(axis=1)
    np.testing.assert_allclose(degrees(S), d, rtol=1e-12)
    L = laplacian(S)
    L = L.toarray() if sp.issparse(L) else L
    np.testing.assert_allclose(L, np.diag(d) - A, atol=1e-12 * d.max())
    np.testing.assert_allclose(L @ np.ones(n), 0.0, atol=1e-12 * d.max())
    normalized = laplacian(S, normalized=True)
    normalized = normalized.toarray() if sp.issparse(normalized) else normalized
    np.testing.assert_allclose(normalized, L / np.sqrt(np.outer(d, d)), atol=1e-12)
    np.testing.assert_allclose(normalized @ np.sqrt(d), 0.0, atol=1e-12 * np.sqrt(d.max()))
    values = np.linalg.eigvalsh(normalized)
    assert values.min() > -1e-12
    assert values.max() < 2.0 + 1e-12


@given(KINDS, SEEDS, st.integers(3, 12))
def test_quadratic_form_is_a_sum_over_edges(kind, seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    A = graph.similarity.toarray()
    X = rng.normal(size=(n, 4))
    differences = np.square(X[:, None] - X[None])
    expected = 0.5 * np.einsum("ij,ijk->k", A, differences)
    forms = graph.laplacian_forms(X)
    np.testing.assert_allclose(forms, expected, rtol=1e-10)
    np.testing.assert_allclose(graph.laplacian_forms(X + 3.0), expected, rtol=1e-10)
    np.testing.assert_allclose(graph.laplacian_forms(np.asfortranarray(X)), expected, rtol=1e-10)
    sparse = sp.csc_matrix(X)
    np.testing.assert_allclose(graph.laplacian_forms(sparse), expected, rtol=1e-9)


@given(KINDS, SEEDS, st.integers(3, 12))
def test_spectrum(kind, seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    values, vectors = graph.spectrum()
    matrix = np.eye(n) - graph.normalized.toarray()
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, matrix, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-11)
    np.testing.assert_allclose(vectors[:, 0], graph.trivial)
    assert values[0] == 0.0
    some, along = graph.eigenpairs(2)
    np.testing.assert_allclose(some, values[1:3])
    np.testing.assert_allclose(np.abs(along), np.abs(vectors[:, 1:3]))


@pytest.mark.parametrize("n_neighbors", [3, 10])
def test_lanczos_finds_the_leading_pairs(n_neighbors):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    graph = Graph.of(knn_similarity(X, n_neighbors=n_neighbors))
    values, vectors = graph.eigenpairs(6)
    everything, _ = graph.spectrum()
    np.testing.assert_allclose(values, everything[1:7], atol=1e-10)
    residual = vectors - graph.normalized.times(vectors) - vectors * values
    assert np.abs(residual).max() < 1e-8
    assert np.abs(graph.trivial @ vectors).max() < 1e-8


def test_a_graph_in_pieces_has_as_many_zero_eigenvalues():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(120, 2)) + 100.0 * i for i in range(3)])
    S = knn_similarity(X, n_neighbors=5)
    assert csgraph.connected_components(S.matrix)[0] == 3
    values, _ = leading_eigenpairs(S, 3)
    np.testing.assert_allclose(values[:2], 0.0, atol=1e-10)
    assert values[2] > 1e-3
    assert abs(cut_value(S)) < 1e-10


def test_a_sample_that_is_similar_to_none():
    S = np.zeros((4, 4))
    S[:3, :3] = 1.0
    graph = Graph.of(S)
    np.testing.assert_allclose(graph.spectrum()[0], [0.0, 1.0, 1.0, 1.0], atol=1e-12)
    assert graph.laplacian_forms(np.array([[1.0], [1.0], [1.0], [9.0]]))[0] == pytest.approx(0.0)


@given(SEEDS, st.integers(2, 10))
def test_cuts_are_quadratic_forms(seed, n):
    rng = np.random.default_rng(seed)
    S = similarity("dense", n, rng)
    side = np.arange(n) < rng.integers(1, n)
    d, L = degrees(S), laplacian(S)
    signs = np.where(side, 1.0, -1.0)
    assert cut(S, side) == pytest.approx(signs @ L @ signs / 4.0)
    inside, outside = d[side].sum(), d[~side].sum()
    indicator = np.where(side, 1.0, -inside / outside)
    expected = indicator @ L @ indicator / (indicator @ (d * indicator))
    assert normalized_cut(S, side) == pytest.approx(expected)
    assert normalized_cut(S, ~side) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "first", "second"), [(1, 1.4830, 1.2111), (2, 0.4565, 1.0641)])
def test_example_8(n, first, second):
    """Figures of the book's example 8: which cut is better depends on how it is measured."""
    S, one, two = example_8(n)
    assert cut(S, one) == pytest.approx(0.6065, abs=5e-5)
    assert cut(S, two) == pytest.approx(0.3247, abs=5e-5)
    assert normalized_cut(S, one) == pytest.approx(first, abs=5e-5)
    assert normalized_cut(S, two) == pytest.approx(second, abs=5e-5)


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (-np.ones((3, 3)), "3 samples have a negative degree"),
        (np.zeros((3, 3)), "All similarities are zero"),
        (np.full((3, 3), 1e308), "overflows"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_graphs_without_a_spectrum(S, message):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
        Graph.of(S)


@pytest.mark.parametrize("side", [[True, True], [False, False]])
def test_a_cut_needs_two_sides(side):
    with pytest.raises(ValueError, match="both sides"):
        cut(np.ones((2, 2)), side)


def test_a_cut_that_isolates():
    S = np.zeros((3, 3))
    S[:2, :2] = 1.0
    with pytest.raises(ValueError, match="no similarity to any"):
        normalized_cut(S, [False, False, True])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        cut(S, [True, False])


def test_labels_are_never_square():
    y = np.arange(100_000) % 3
    values, _ = leading_eigenpairs(label_similarity(y), 2)
    np.testing.assert_allclose(values, 0.0, atol=1e-10)
    assert scipy.linalg.norm(degrees(label_similarity(y)) - 100_000 / 3) < 1e3


def test_pieces_are_seen_without_iteration(monkeypatch):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 100.0])
    apart = knn_similarity(X, n_neighbors=5)
    whole = knn_similarity(X[:150], n_neighbors=5, width=1.0)
    assert cut_value(whole) == pytest.approx(Graph.of(whole).spectrum()[0][1], abs=1e-10)
    monkeypatch.setattr(Graph, "eigenpairs", None)
    assert cut_value(apart) == 0.0
    # A sample without any similarity is no piece of the graph.
    alone = sp.block_diag([whole.matrix, [[0.0]]]).tocsr()
    with pytest.raises(TypeError):
        cut_value(alone)


IDENTITY = resolve_gamma("identity")
GAMMAS = st.sampled_from(["identity", "square", "cube", 1.5, 5, np.expm1, lambda x: x + 1.0])


def definition(X, graph, gamma, n_clusters):
    """All three scores from the full spectrum."""
    values, vectors = np.linalg.eigh(np.eye(graph.n) - graph.normalized.toarray())
    F = np.sqrt(graph.degrees)[:, None] * X
    alpha = np.square(vectors.T @ (F / np.linalg.norm(F, axis=0)))
    weights = gamma(values)
    first = weights @ alpha
    second = weights[1:] @ alpha[1:] / alpha[1:].sum(axis=0)
    third = (gamma(np.array([2.0])) - weights[1:n_clusters]) @ alpha[1:n_clusters]
    return first, second, third


@given(KINDS, SEEDS, st.integers(4, 12), GAMMAS, st.booleans())
def test_scores_are_those_of_the_spectrum(kind, seed, n, gamma, sparse):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    X = rng.normal(size=(n, 5))
    gamma = resolve_gamma(gamma)
    first, second, third = definition(X, graph, gamma, 3)
    given_X = sp.csc_matrix(X) if sparse else X
    np.testing.assert_allclose(phi("phi1", given_X, graph, gamma), first, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(phi("phi2", given_X, graph, gamma), second, rtol=1e-9, atol=1e-11)
    if graph.spectrum()[0][3] - graph.spectrum()[0][2] > 1e-3:  # otherwise 3 clusters mean nothing
        np.testing.assert_allclose(
            phi("phi3", given_X, graph, gamma, 3), third, rtol=1e-8, atol=1e-10
        )


@given(KINDS, SEEDS, st.integers(4, 12))
def test_ranges_and_invariances(kind, seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    X = rng.normal(size=(n, 4))
    values = graph.spectrum()[0]
    scores = {name: phi(name, X, graph, IDENTITY) for name in ("phi1", "phi2")}
    assert (scores["phi1"] >= -1e-12).all() and (scores["phi1"] <= 2.0 + 1e-12).all()
    assert (scores["phi2"] >= values[1] - 1e-10).all()
    assert (scores["phi2"] <= values[-1] + 1e-10).all()
    scale, shift = rng.normal(size=4) * 10.0, rng.normal(size=4)
    np.testing.assert_allclose(phi("phi1", X * scale, graph, IDENTITY), scores["phi1"], rtol=1e-9)
    moved = X * scale + shift
    np.testing.assert_allclose(phi("phi2", moved, graph, IDENTITY), scores["phi2"], rtol=1e-8)
    third = phi("phi3", X, graph, IDENTITY, n)
    np.testing.assert_allclose(phi("phi3", X * scale, graph, IDENTITY, n), third, rtol=1e-9)
    trivial = np.sqrt(graph.degrees)[:, None] * X
    alpha = graph.trivial @ (trivial / np.linalg.norm(trivial, axis=0))
    np.testing.assert_allclose(third, 2.0 * (1.0 - alpha**2) - scores["phi1"], atol=1e-10)


def test_first_score_sees_shifts():
    graph = Graph.of(similarity("dense", 6, np.random.default_rng(0)))
    X = np.random.default_rng(1).normal(size=(6, 1))
    assert phi("phi1", X + 9.0, graph, IDENTITY)[0] < 0.5 * phi("phi1", X, graph, IDENTITY)[0]


@given(KINDS, SEEDS, st.integers(3, 12))
def test_parallel_form_of_the_second_score(kind, seed, n):
    """Equation 5.9, second line, whose parts are sums over samples."""
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    X = rng.normal(size=(n, 4))
    S, d = graph.similarity.toarray(), graph.degrees
    energy, along = d @ np.square(X), d @ X
    volume = d.sum()
    expected = volume * (energy - np.diag(X.T @ S @ X)) / (volume * energy - along**2)
    np.testing.assert_allclose(phi("phi2", X, graph, IDENTITY), expected, rtol=1e-8)


def fisher(X, y):
    total, within = X.mean(axis=0), 0.0
    between = 0.0
    for label in np.unique(y):
        part = X[y == label]
        between = between + len(part) * np.square(part.mean(axis=0) - total)
        within = within + len(part) * part.var(axis=0)
    return between / within


@given(SEEDS, st.integers(2, 4))
def test_classes_give_the_fisher_score(seed, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.permutation(
        np.concatenate([np.arange(n_classes)] * 2 + [rng.integers(0, n_classes, 9)])
    )
    X = rng.normal(size=(len(y), 5))
    graph = Graph.of(fisher_similarity(y))
    np.testing.assert_allclose(graph.degrees, 1.0)
    values, _ = graph.spectrum()
    expected = np.repeat([0.0, 1.0], [n_classes, len(y) - n_classes])
    np.testing.assert_allclose(values, expected, atol=1e-12)
    score = phi("phi2", X, graph, IDENTITY)
    np.testing.assert_allclose(score, 1.0 / (1.0 + fisher(X, y)), rtol=1e-10)
    # All eigenvalues are 0 or 1, so powers change nothing.
    np.testing.assert_allclose(phi("phi2", X, graph, resolve_gamma(3)), score, rtol=1e-10)
    other = Graph.of(label_similarity(y))
    np.testing.assert_allclose(other.normalized.toarray(), graph.normalized.toarray(), atol=1e-12)


@given(KINDS, SEEDS, st.booleans())
def test_constant_features_have_no_score(kind, seed, sparse):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, 8, rng))
    X = np.column_stack([np.full(8, 0.1), rng.normal(size=8), np.zeros(8), np.full(8, 1e8 / 3)])
    X = sp.csc_matrix(X) if sparse else X
    for raw in (
        phi("phi1", X, graph, IDENTITY),
        phi("phi2", X, graph, IDENTITY),
        phi("phi2", X, graph, resolve_gamma(3)),
        phi("phi3", X, graph, IDENTITY, 3),
    ):
        np.testing.assert_array_equal(np.isnan(raw), [True, False, True, True])


def test_float32_is_summed_in_float64():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    for kind in ("sparse", "dense", "low rank"):
        graph = Graph.of(similarity(kind, 50, rng))
        for score in ("phi1", "phi2"):
            double = phi(score, X.astype(float), graph, IDENTITY)
            np.testing.assert_allclose(phi(score, X, graph, IDENTITY), double, rtol=1e-12)


@pytest.mark.parametrize(
    ("gamma", "message"),
    [
        ("log", "gamma must be one of 'identity', 'square', 'cube', an exponent > 0"),
        (0, "exponent > 0"),
        (-1.0, "exponent > 0"),
        (True, "exponent > 0"),
        (None, "exponent > 0"),
        (lambda x: -x, "must be increasing"),
        (lambda x: np.log(x), "finite values"),
        (lambda x: 1.0, "array of eigenvalues"),
    ],
)
def test_bad_gamma(gamma, message):
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
        resolve_gamma(gamma)
