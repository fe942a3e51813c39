"""The three scores against their definitions (properties P2 to P6 and P15)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral import fisher_similarity, label_similarity
from columnist.spectral._graph import Graph
from columnist.spectral._scores import phi1, phi2, phi3, resolve_gamma
from tests.spectral.data import KINDS, SEEDS, similarity

IDENTITY = resolve_gamma("identity")
GAMMAS = st.sampled_from(["identity", "square", "cube", 1.5, 5, np.expm1, lambda x: x + 1.0])


def definition(X, graph, gamma, n_clusters):
    """All three scores from the full spectrum."""
    values, vectors = np.linalg.eigh(np.eye(graph.n) - graph.normalized().toarray())
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
    np.testing.assert_allclose(phi1(given_X, graph, gamma), first, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(phi2(given_X, graph, gamma), second, rtol=1e-9, atol=1e-11)
    if graph.spectrum()[0][3] - graph.spectrum()[0][2] > 1e-3:  # otherwise 3 clusters mean nothing
        np.testing.assert_allclose(phi3(given_X, graph, gamma, 3), third, rtol=1e-8, atol=1e-10)


@given(KINDS, SEEDS, st.integers(4, 12))
def test_ranges_and_invariances(kind, seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, n, rng))
    X = rng.normal(size=(n, 4))
    values = graph.spectrum()[0]
    scores = {name: f(X, graph, IDENTITY) for name, f in (("phi1", phi1), ("phi2", phi2))}
    assert (scores["phi1"] >= -1e-12).all() and (scores["phi1"] <= 2.0 + 1e-12).all()
    assert (scores["phi2"] >= values[1] - 1e-10).all()
    assert (scores["phi2"] <= values[-1] + 1e-10).all()
    scale, shift = rng.normal(size=4) * 10.0, rng.normal(size=4)
    np.testing.assert_allclose(phi1(X * scale, graph, IDENTITY), scores["phi1"], rtol=1e-9)
    moved = X * scale + shift
    np.testing.assert_allclose(phi2(moved, graph, IDENTITY), scores["phi2"], rtol=1e-8)
    third = phi3(X, graph, IDENTITY, n)
    np.testing.assert_allclose(phi3(X * scale, graph, IDENTITY, n), third, rtol=1e-9)
    trivial = np.sqrt(graph.degrees)[:, None] * X
    alpha = graph.trivial @ (trivial / np.linalg.norm(trivial, axis=0))
    np.testing.assert_allclose(third, 2.0 * (1.0 - alpha**2) - scores["phi1"], atol=1e-10)


def test_first_score_sees_shifts():
    graph = Graph.of(similarity("dense", 6, np.random.default_rng(0)))
    X = np.random.default_rng(1).normal(size=(6, 1))
    assert phi1(X + 9.0, graph, IDENTITY)[0] < 0.5 * phi1(X, graph, IDENTITY)[0]


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
    np.testing.assert_allclose(phi2(X, graph, IDENTITY), expected, rtol=1e-8)


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
    score = phi2(X, graph, IDENTITY)
    np.testing.assert_allclose(score, 1.0 / (1.0 + fisher(X, y)), rtol=1e-10)
    # All eigenvalues are 0 or 1, so powers change nothing.
    np.testing.assert_allclose(phi2(X, graph, resolve_gamma(3)), score, rtol=1e-10)
    other = Graph.of(label_similarity(y))
    np.testing.assert_allclose(
        other.normalized().toarray(), graph.normalized().toarray(), atol=1e-12
    )


@given(KINDS, SEEDS, st.booleans())
def test_constant_features_have_no_score(kind, seed, sparse):
    rng = np.random.default_rng(seed)
    graph = Graph.of(similarity(kind, 8, rng))
    X = np.column_stack([np.full(8, 0.1), rng.normal(size=8), np.zeros(8), np.full(8, 1e8 / 3)])
    X = sp.csc_matrix(X) if sparse else X
    for raw in (
        phi1(X, graph, IDENTITY),
        phi2(X, graph, IDENTITY),
        phi2(X, graph, resolve_gamma(3)),
        phi3(X, graph, IDENTITY, 3),
    ):
        np.testing.assert_array_equal(np.isnan(raw), [True, False, True, True])


def test_float32_is_summed_in_float64():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    for kind in ("sparse", "dense", "low rank"):
        graph = Graph.of(similarity(kind, 50, rng))
        for score in (phi1, phi2):
            np.testing.assert_allclose(
                score(X, graph, IDENTITY), score(X.astype(float), graph, IDENTITY), rtol=1e-12
            )


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
