"""Feature selection from several sources of knowledge about samples and features."""

from columnist.knowledge._aggregation import RankAggregation, aggregate_rankings
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
from columnist.knowledge._selectors import KnowledgeSelector, MultiSourceSelector
from columnist.knowledge._sources import Source

__all__ = [
    "KnowledgeSelector",
    "MultiSourceSelector",
    "RankAggregation",
    "Source",
    "aggregate_rankings",
    "commute_time_covariance",
    "graph_similarity",
    "hierarchy_similarity",
    "mahalanobis_similarity",
    "propagate",
    "term_relevance",
    "term_similarity",
    "vote",
]
