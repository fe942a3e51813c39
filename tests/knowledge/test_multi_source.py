"""MSFS against dense definitions and the selectors that it contains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from columnist.knowledge._covariance import graph_similarity, mahalanobis_similarity
from columnist.knowledge._multi_source import MultiSourceSelector
from columnist.knowledge._source import Source
from columnist.spectral import FisherScore, SpectralSelector, fisher_similarity, rbf_similarity

NAMES = [f"f{i}" for i in range(7)]


def problem(seed: int, n: int = 20):
    """Data with names, classes, and a graph of the features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 7)) + 0.5 * y[:, None] * rng.standard_normal(7) + 2.0
    graph = np.triu(rng.random((7, 7)), 1)
    return pd.DataFrame(X, columns=NAMES), y, graph + graph.T


def phi2(X: np.ndarray, S: np.ndarray) -> np.ndarray:
    """The score from its definition, one feature at a time."""
    d = S.sum(axis=1)
    scores = []
    for f in X.T:
        f = f - d @ f / d.sum()
        scores.append((f @ (np.diag(d) - S) @ f) / (f @ (d * f)))
    return np.array(scores)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=25)
def test_combined_similarity_from_its_definition(seed, balance):
    X, y, graph = problem(seed)
    values = X.to_numpy()
    parts = [
        fisher_similarity(y).toarray(),
        rbf_similarity(values).toarray(),
        rbf_similarity(values[:, [1, 4]]).toarray(),
        rbf_similarity(values[:, [0, 3, 5]]).toarray(),
        graph_similarity(values, graph).toarray(),
        mahalanobis_similarity(values).toarray(),
    ]
    weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.25]
    sources = [
        Source("labels", weight=1.0),
        Source("sample_similarity", weight=2.0),
        Source("annotation", ["f1", "f4"], weight=0.5),
        Source("interaction", [("f0", "f3"), ("f3", "f5")], weight=3.0),
        Source("feature_similarity", pd.DataFrame(graph, NAMES, NAMES), weight=1.0),
        Source("feature_similarity", weight=0.25),
    ]
    selector = MultiSourceSelector(3, sources=sources, balance=balance).fit(X, y)
    scale = [len(y) / S.sum() if balance else 1.0 for S in parts]
    total = sum(w * c * S for w, c, S in zip(weights, scale, parts, strict=True))
    np.testing.assert_allclose(selector.raw_scores_, phi2(values, total), rtol=1e-8)
    np.testing.assert_allclose(selector.source_weights_, np.array(weights) / sum(weights))
    agreement = selector.contributions_.sum(axis=0)
    np.testing.assert_allclose(agreement, 1.0 + selector.scores_, rtol=1e-8)
    assert selector.source_names_[-1] == "feature_similarity 2"


def test_labels_alone_rank_as_the_fisher_score():
    X, y, _ = problem(1)
    ours = MultiSourceSelector(3, sources=[Source("labels")]).fit(X, y)
    np.testing.assert_array_equal(ours.ranking_, FisherScore(3).fit(X, y).ranking_)


@pytest.mark.parametrize(("score", "gamma"), [("phi1", "cube"), ("phi2", 2), ("phi3", "identity")])
def test_one_similarity_is_the_spectral_selector(score, gamma):
    X, y, _ = problem(2)
    S = rbf_similarity(X)
    options = {"score": score, "gamma": gamma}
    ours = MultiSourceSelector(3, sources=[Source("sample_similarity", S)], **options).fit(X, y)
    theirs = SpectralSelector(3, similarity=S, **options).fit(X, y)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-9)
    np.testing.assert_array_equal(ours.ranking_, theirs.ranking_)


def test_auxiliary_data_are_matched_by_sample():
    X, y, _ = problem(3)
    X.index = [f"s{i}" for i in range(len(X))]
    other = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)) + y[:, None], X.index)
    plain = MultiSourceSelector(3, sources=[Source("auxiliary", other.to_numpy())]).fit(X)
    named = MultiSourceSelector(3, sources=[Source("auxiliary", other.sample(frac=1.0))]).fit(X)
    np.testing.assert_allclose(named.scores_, plain.scores_, rtol=1e-12)
    np.testing.assert_allclose(
        plain.raw_scores_, phi2(X.to_numpy(), rbf_similarity(other.to_numpy()).toarray())
    )


@pytest.mark.parametrize("scale", [1e-150, 1e150, 3.0])
def test_scales_of_the_data(scale):
    X, y, graph = problem(4)
    sources = [Source("labels"), Source("sample_similarity"), Source("feature_similarity", graph)]
    selector = MultiSourceSelector(3, sources=sources)
    expected = clone(selector).fit(X, y)
    found = clone(selector).fit(X * scale, y)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-8)
    np.testing.assert_allclose(found.contributions_, expected.contributions_, rtol=1e-8)


def test_sparse_and_single_precision():
    X, y, graph = problem(5)
    values = np.where(X.to_numpy() > 2.0, X.to_numpy(), 0.0)
    sources = [
        Source("labels"),
        Source("sample_similarity"),
        Source("feature_similarity", sp.csr_array(graph)),
        Source("feature_similarity"),
        Source("annotation", [1, 2]),
    ]
    selector = MultiSourceSelector(3, sources=sources)
    expected = clone(selector).fit(values, y)
    for form in (sp.csr_array, sp.csc_array):
        found = clone(selector).fit(form(values), y)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-8)
        np.testing.assert_allclose(found.contributions_, expected.contributions_, rtol=1e-8)
    single = clone(selector).fit(values.astype(np.float32), y)
    np.testing.assert_allclose(single.scores_, expected.scores_, rtol=1e-3)


def test_a_constant_feature_is_last():
    X, y, _ = problem(6)
    X["f2"] = 7.0
    selector = MultiSourceSelector(3).fit(X, y)
    assert selector.ranking_[-1] == 2
    assert np.isnan(selector.scores_[2])
    assert np.isnan(selector.contributions_[:, 2]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sources": []}, "needs at least one source"),
        ({"sources": [Source("labels", weight=0.0)]}, "weight 0"),
        ({"sources": [Source("sample_similarity", np.zeros((20, 20)))]}, "no two samples similar"),
        ({"sources": [Source("sample_similarity", np.eye(19))]}, "19 samples"),
        ({"sources": [Source("annotation", np.zeros((7, 2)))]}, "relates to no feature"),
        ({"sources": [Source("sample_similarity", similarity="nope")]}, "similarity must be"),
        ({"score": "phi4"}, "score must be one of"),
    ],
)
def test_bad_input(options, message):
    X, y, _ = problem(7)
    with pytest.raises(ValueError, match=message):
        MultiSourceSelector(3, **options).fit(X, y)
