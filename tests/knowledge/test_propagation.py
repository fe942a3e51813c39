"""Propagation against its series and a random walk, voting against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.knowledge._propagation import propagate, term_relevance, vote


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
def test_bad_input(relevance, similarity, damping, message):
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
