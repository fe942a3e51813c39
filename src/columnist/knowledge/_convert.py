"""From sources of knowledge to similarities of samples, and to scores of features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from columnist.knowledge._covariance import graph_similarity, mahalanobis_similarity
from columnist.knowledge._propagation import propagate, term_relevance, vote
from columnist.knowledge._source import Source
from columnist.knowledge._study import Study
from columnist.knowledge._tables import read_table
from columnist.spectral._ratios import FisherScore
from columnist.spectral._similarity import fisher_similarity, resolve_similarity
from columnist.spectral._symmetric import SymmetricMatrix

__all__ = ["feature_scores", "sample_similarity"]


def sample_similarity(source: Source, study: Study, name: str) -> SymmetricMatrix:
    """What a source says about the similarity of the samples."""
    return _TO_SIMILARITY[source.kind](source, study, name)


def feature_scores(
    source: Source,
    study: Study,
    name: str,
    by_similarity: Callable[[SymmetricMatrix], np.ndarray],
) -> np.ndarray:
    """What a source says about the relevance of the features; larger is better.

    ``by_similarity`` scores the features by a similarity of samples.
    """
    if source.way == "classes":
        return FisherScore(1).fit(study.X, study.labels(source, name)).scores_
    if source.way == "propagation":
        graph = study.features_square(source, name)
        return propagate(study.relevance(source, name), graph, damping=source.damping)
    if source.way == "voting":
        members, terms = study.membership(source, name)
        return vote(members, _relevance_of_terms(source, study, name, members, terms))
    return by_similarity(sample_similarity(source, study, name))


def _relevance_of_terms(source: Source, study: Study, name: str, members, terms) -> np.ndarray:
    if source.known is not None:
        return term_relevance(members, study.places(source.known, "known"))
    table = read_table(source.relevance)
    if table.rows is None:
        return table.values
    place = {term: i for i, term in enumerate(terms or [])}
    unknown = [term for term in table.rows if term not in place]
    if unknown:
        raise ValueError(
            f"relevance names terms that source {name!r} does not have: {unknown[:5]}."
        )
    relevance = np.zeros(members.shape[1])
    relevance[[place[term] for term in table.rows]] = table.values
    return relevance


def _from_labels(source: Source, study: Study, name: str) -> SymmetricMatrix:
    return fisher_similarity(study.labels(source, name))


def _from_samples(source: Source, study: Study, name: str) -> SymmetricMatrix:
    if source.data is None:
        return resolve_similarity(source.similarity, study.X, study.y)
    return study.samples_square(source, name)


def _from_auxiliary(source: Source, study: Study, name: str) -> SymmetricMatrix:
    return resolve_similarity(source.similarity, study.samples_table(source, name), study.y)


def _from_feature_similarity(source: Source, study: Study, name: str) -> SymmetricMatrix:
    if source.data is None:
        return mahalanobis_similarity(study.X)
    return graph_similarity(study.X, study.features_square(source, name))


def _from_annotation(source: Source, study: Study, name: str) -> SymmetricMatrix:
    members, _ = study.membership(source, name)
    return _filtered(source, study, name, members)


def _from_interaction(source: Source, study: Study, name: str) -> SymmetricMatrix:
    return _filtered(source, study, name, study.features_square(source, name))


def _filtered(source: Source, study: Study, name: str, members) -> SymmetricMatrix:
    """Similarity of the samples by the features that have any entry in ``members``."""
    related = np.flatnonzero(np.asarray((members != 0.0).sum(axis=1)).ravel())
    if not len(related):
        raise ValueError(f"Source {name!r} relates to no feature of X.")
    X = study.X[:, related]
    return resolve_similarity(source.similarity, X.tocsr() if sp.issparse(X) else X, study.y)


_TO_SIMILARITY: dict[str, Callable[[Source, Study, str], SymmetricMatrix]] = {
    "labels": _from_labels,
    "sample_similarity": _from_samples,
    "auxiliary": _from_auxiliary,
    "feature_similarity": _from_feature_similarity,
    "annotation": _from_annotation,
    "interaction": _from_interaction,
}
