"""Degrees, Laplacians, cuts and spectra (properties P1, P2 and P7 of the common form)."""

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
    knn_similarity,
    label_similarity,
    laplacian,
    leading_eigenpairs,
    normalized_cut,
)
from columnist.spectral._graph import Graph
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
    matrix = np.eye(n) - graph.normalized().toarray()
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
    residual = vectors - graph.normalized().times(vectors) - vectors * values
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
