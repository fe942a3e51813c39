"""Feature selection from several sources of knowledge about samples and features."""

from columnist.knowledge._aggregation import RankAggregation, aggregate_rankings
from columnist.knowledge._covariance import (
    commute_time_covariance,
    graph_similarity,
    mahalanobis_similarity,
)
from columnist.knowledge._knowledge_selector import KnowledgeSelector
from columnist.knowledge._multi_source import MultiSourceSelector
from columnist.knowledge._propagation import propagate, term_relevance, vote
from columnist.knowledge._source import Source

__all__ = [
    "KnowledgeSelector",
    "MultiSourceSelector",
    "RankAggregation",
    "Source",
    "aggregate_rankings",
    "commute_time_covariance",
    "graph_similarity",
    "mahalanobis_similarity",
    "propagate",
    "term_relevance",
    "vote",
]
