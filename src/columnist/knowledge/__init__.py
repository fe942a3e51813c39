"""Feature selection from several sources of knowledge about samples and features."""

from columnist.knowledge._aggregation import RankAggregation, aggregate_rankings
from columnist.knowledge._covariance import (
    commute_time_covariance,
    graph_similarity,
    mahalanobis_similarity,
)
from columnist.knowledge._evidence import (
    annotation_similarity,
    count_hits,
    nearest_accuracy,
    significant_features,
)
from columnist.knowledge._generate import GeneStudy, make_gene_study
from columnist.knowledge._knowledge_selector import KnowledgeSelector
from columnist.knowledge._multi_source import MultiSourceSelector
from columnist.knowledge._propagation import propagate, term_relevance, vote
from columnist.knowledge._source import Source

__all__ = [
    "GeneStudy",
    "KnowledgeSelector",
    "MultiSourceSelector",
    "RankAggregation",
    "Source",
    "aggregate_rankings",
    "annotation_similarity",
    "commute_time_covariance",
    "count_hits",
    "graph_similarity",
    "mahalanobis_similarity",
    "make_gene_study",
    "nearest_accuracy",
    "propagate",
    "significant_features",
    "term_relevance",
    "vote",
]
