"""Selectors with several sources."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from columnist.knowledge import (
    KnowledgeSelector,
    MultiSourceSelector,
    Source,
    aggregate_rankings,
    propagate,
    term_relevance,
    term_similarity,
    vote,
)
from columnist.knowledge._relations import graph_similarity, mahalanobis_similarity
from columnist.spectral import FisherScore, SpectralSelector, fisher_similarity, rbf_similarity

NAMES = [f"f{i}" for i in range(8)]


@pytest.fixture
def problem():
    """Data with names, classes, a graph of the features, and terms."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 3
    X = rng.standard_normal((24, 8)) + y[:, None] * rng.standard_normal(8)
    graph = np.triu(rng.random((8, 8)), 1)
    terms = (rng.random((8, 5)) < 0.5).astype(float)
    return pd.DataFrame(X, columns=NAMES), y, graph + graph.T, terms


def test_every_way_to_rank(problem):
    X, y, graph, terms = problem
    table = pd.DataFrame(terms, NAMES, list("tuvwx"))
    start = np.isin(NAMES, ["f1", "f2"]).astype(float)
    sources = [
        Source("labels"),
        Source("feature_similarity", graph, known=["f1", "f2"], damping=0.7),
        Source("feature_similarity", graph, relevance={"f3": 2.0}),
        Source("annotation", table, known=["f1", "f2"]),
        Source("annotation", table, relevance={"w": 1.0, "t": 3.0}),
        Source("annotation", terms, relevance=[3.0, 0, 0, 1.0, 0]),
        Source("sample_similarity"),
    ]
    selector = KnowledgeSelector(4, sources=sources, aggregation="borda").fit(X, y)
    known = [1, 2]
    chosen = np.array([3.0, 0, 0, 1.0, 0])
    expected = [
        FisherScore(1).fit(X, y).scores_,
        propagate(start, graph, damping=0.7),
        propagate(2.0 * np.eye(8)[3], graph),
        vote(terms, term_relevance(terms, known)),
        vote(terms, chosen),
        vote(terms, chosen),
        MultiSourceSelector(1, sources=[Source("sample_similarity")]).fit(X, y).scores_,
    ]
    np.testing.assert_allclose(selector.source_scores_, expected, rtol=1e-9)
    np.testing.assert_allclose(selector.contributions_.sum(axis=0), selector.scores_)


@pytest.mark.parametrize("aggregation", ["em", "borda"])
def test_the_aggregate_of_the_rankings(problem, aggregation):
    X, y, graph, _ = problem
    sources = [
        Source("labels"),
        Source("sample_similarity"),
        Source("feature_similarity", graph, known=[1]),
    ]
    selector = KnowledgeSelector(4, sources=sources, aggregation=aggregation).fit(X, y)
    alone = [KnowledgeSelector(4, sources=[s]).fit(X, y).ranking_ for s in sources]
    by_hand = aggregate_rankings(alone, aggregation)
    np.testing.assert_array_equal(selector.ranking_, by_hand.ranking)
    np.testing.assert_allclose(selector.scores_, by_hand.scores)
    np.testing.assert_allclose(selector.source_weights_, by_hand.weights)
    np.testing.assert_allclose(selector.log_likelihood_, by_hand.log_likelihood)


def test_one_source_gives_its_own_ranking(problem):
    X, y, _, _ = problem
    selector = KnowledgeSelector(4, sources=Source("labels")).fit(X, y)
    np.testing.assert_array_equal(selector.ranking_, FisherScore(4).fit(X, y).ranking_)
    np.testing.assert_array_equal(selector.source_weights_, [1.0])


def test_the_order_of_features_and_sources_does_not_matter(problem):
    X, y, graph, terms = problem
    terms = terms * np.linspace(1.0, 1.1, 8)[:, None]  # no ties
    sources = [
        Source("labels"),
        Source("feature_similarity", pd.DataFrame(graph, NAMES, NAMES), known=["f1"]),
        Source("annotation", pd.DataFrame(terms, NAMES), relevance=[0.1, 1.2, 2.5, 0.7, 0.3]),
    ]
    first = KnowledgeSelector(4, sources=sources).fit(X, y)
    turned = KnowledgeSelector(4, sources=sources[::-1]).fit(X[NAMES[::-1]], y)
    np.testing.assert_allclose(turned.source_weights_[::-1], first.source_weights_, atol=1e-5)
    np.testing.assert_allclose(turned.scores_[::-1], first.scores_, atol=1e-5)


def test_known_features_choose_the_source(problem):
    X, y, graph, _ = problem
    best = FisherScore(1).fit(X, y).ranking_
    sources = [
        Source("labels", name="classes"),
        Source("feature_similarity", graph, known=[int(best[-1])]),
    ]
    selector = KnowledgeSelector(3, sources=sources, known=[NAMES[best[0]]])
    with pytest.warns(UserWarning, match="weight to ranking 'classes'"):
        selector.fit(X, y)
    assert selector.source_weights_[0] > 0.99
    assert (np.diff(selector.log_likelihood_) >= 0.0).all()


def test_sparse_data_rank_alike(problem):
    X, y, graph, _ = problem
    values = np.where(X.to_numpy() > 0, X.to_numpy(), 0.0)
    sources = [
        Source("labels"),
        Source("feature_similarity", sp.csr_array(graph), known=[1]),
        Source("sample_similarity"),
    ]
    selector = KnowledgeSelector(4, sources=sources)
    dense, sparse = (clone(selector).fit(form(values), y) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse.source_scores_, dense.source_scores_, rtol=1e-8)
    np.testing.assert_array_equal(sparse.ranking_, dense.ranking_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregation": "mean"}, "aggregation must be one of"),
        ({"sources": [Source("labels", weight=2.0)]}, "EM learns the weights, but .'labels'"),
        ({"known": ["nobody"]}, "'nobody', which X does not have"),
        ({"known": []}, "known is empty"),
        ({"aggregation": "borda", "known": [1]}, "does not learn"),
        ({"sources": [Source("annotation", np.ones((8, 2)), relevance=[1.0])]}, "for 2 terms"),
        (
            {"sources": [Source("annotation", ["f1"], relevance={"t": 1.0})]},
            "relevance names terms that source 'annotation' does not have: .'t'",
        ),
    ],
)
def test_bad_input(problem, options, message):
    X, y, _, _ = problem
    with pytest.raises(ValueError, match=message):
        KnowledgeSelector(3, **options).fit(X, y)


def test_names_of_sources_reach_the_result(problem):
    X, y, _, _ = problem
    sources = [replace(Source("labels"), name="phenotype"), Source("sample_similarity")]
    selector = KnowledgeSelector(3, sources=sources).fit(X, y)
    assert selector.source_names_ == ["phenotype", "sample_similarity"]
    assert selector.contributions_.shape == (2, 8)


MULTI_SOURCE_NAMES = [f"f{i}" for i in range(7)]


def multi_source_problem(seed: int, n: int = 20):
    """Data with names, classes, and a graph of the features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 7)) + 0.5 * y[:, None] * rng.standard_normal(7) + 2.0
    graph = np.triu(rng.random((7, 7)), 1)
    return pd.DataFrame(X, columns=MULTI_SOURCE_NAMES), y, graph + graph.T


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
    X, y, graph = multi_source_problem(seed)
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
        Source(
            "feature_similarity",
            pd.DataFrame(graph, MULTI_SOURCE_NAMES, MULTI_SOURCE_NAMES),
            weight=1.0,
        ),
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
    X, y, _ = multi_source_problem(1)
    ours = MultiSourceSelector(3, sources=[Source("labels")]).fit(X, y)
    np.testing.assert_array_equal(ours.ranking_, FisherScore(3).fit(X, y).ranking_)


@pytest.mark.parametrize(("score", "gamma"), [("phi1", "cube"), ("phi2", 2), ("phi3", "identity")])
def test_one_similarity_is_the_spectral_selector(score, gamma):
    X, y, _ = multi_source_problem(2)
    S = rbf_similarity(X)
    options = {"score": score, "gamma": gamma}
    ours = MultiSourceSelector(3, sources=[Source("sample_similarity", S)], **options).fit(X, y)
    theirs = SpectralSelector(3, similarity=S, **options).fit(X, y)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-9)
    np.testing.assert_array_equal(ours.ranking_, theirs.ranking_)


def test_auxiliary_data_are_matched_by_sample():
    X, y, _ = multi_source_problem(3)
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
    X, y, graph = multi_source_problem(4)
    sources = [Source("labels"), Source("sample_similarity"), Source("feature_similarity", graph)]
    selector = MultiSourceSelector(3, sources=sources)
    expected = clone(selector).fit(X, y)
    found = clone(selector).fit(X * scale, y)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-8)
    np.testing.assert_allclose(found.contributions_, expected.contributions_, rtol=1e-8)


def test_sparse_and_single_precision():
    X, y, graph = multi_source_problem(5)
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
    X, y, _ = multi_source_problem(6)
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
def test_bad_input_of_multi_source(options, message):
    X, y, _ = multi_source_problem(7)
    with pytest.raises(ValueError, match=message):
        MultiSourceSelector(3, **options).fit(X, y)


def test_annotated_features_are_similar_by_their_terms(problem):
    X, _, _, terms = problem
    table = pd.DataFrame(terms, NAMES, list("tuvwx")).iloc[::-1]
    for kept in (None, ["u", "x"]):
        S = term_similarity(terms if kept is None else terms[:, [1, 4]])
        given, shared = (
            Source("feature_similarity", S),
            Source("annotation_similarity", table, terms=kept),
        )
        covariance = [MultiSourceSelector(2, sources=[s]).fit(X).scores_ for s in (given, shared)]
        np.testing.assert_allclose(*covariance)
        spread = [
            KnowledgeSelector(2, sources=[replace(s, known=["f1"])]).fit(X).scores_
            for s in (given, shared)
        ]
        np.testing.assert_allclose(*spread)
        assert shared.way == "similarity" and replace(shared, known=["f1"]).way == "propagation"


def test_a_hierarchy_of_samples(problem):
    X, y, *_ = problem
    X.index = [f"s{i}" for i in range(24)]
    levels = pd.DataFrame({"broad": y > 0, "fine": y}, index=X.index).iloc[::-1]
    selector = MultiSourceSelector(2, sources=[Source("hierarchy", levels)]).fit(X)
    S = 0.5 * (fisher_similarity(y > 0).toarray() + fisher_similarity(y).toarray())
    expected = MultiSourceSelector(2, sources=[Source("sample_similarity", S)]).fit(X)
    np.testing.assert_allclose(selector.scores_, expected.scores_)
