"""KOFS: every way to rank by a source, their aggregate, and what fusing is good for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from columnist.knowledge import (
    KnowledgeSelector,
    MultiSourceSelector,
    Source,
    aggregate_rankings,
    propagate,
    term_relevance,
    vote,
)
from columnist.spectral import FisherScore

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
