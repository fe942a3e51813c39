"""MSFS: one similarity of samples from many sources, then a spectral score."""

from __future__ import annotations

import numpy as np

from columnist.knowledge._base import SourceSelector
from columnist.knowledge._convert import sample_similarity
from columnist.knowledge._source import Source
from columnist.knowledge._study import Study
from columnist.spectral._graph import Graph
from columnist.spectral._scatter import weighted_sums, without_rounding
from columnist.spectral._similarity import weighted_similarity
from columnist.spectral._symmetric import SymmetricMatrix

__all__ = ["MultiSourceSelector"]


class MultiSourceSelector(SourceSelector):
    r"""Select the features that agree with what several sources say about the samples.

    Every source is turned into a similarity :math:`S_l` of the samples, and the features are
    scored by the graph of :math:`\sum_l a_l S_l` (MSFS). Labels make samples of a class similar;
    similarities of features give a covariance and so a Mahalanobis distance of the samples;
    annotations and interactions tell which features to compare samples by.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    sources : list of Source, optional
        What is known. By default the similarity of the rows of X and, if y holds classes, the
        classes.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        As in :class:`~columnist.spectral.SpectralSelector`.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        As there.
    n_clusters : int, optional
        As there.
    balance : bool, default=True
        Scale every similarity to a mean degree of 1, so that the weights compare sources and not
        their units. Otherwise similarities add up as they are: beside a Gaussian kernel, whose
        degrees grow with the number of samples, labels (degree 1) have next to no say.

    Attributes
    ----------
    source_names_ : list of str
        Names of the sources.
    source_weights_ : ndarray of shape (n_sources,)
        Their weights, which sum to 1.
    contributions_ : ndarray of shape (n_sources, n_features)
        How much of the agreement of a feature with all sources is due to each: with f centred and
        D the degrees of the sum, :math:`a_l f^T S_l f / f^T D f`. The columns sum to
        :math:`1 - \varphi_2` for the identity gamma.
    raw_scores_, scores_ : ndarray of shape (n_features,)
        The spectral score; larger is better in ``scores_``. NaN for a constant feature.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    KnowledgeSelector : Ranks by each source alone and aggregates the rankings.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*, section 6.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.knowledge import MultiSourceSelector, Source
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> petals = Source("annotation", ["petal length (cm)"], name="of interest", weight=3)
    >>> selector = MultiSourceSelector(2, sources=[Source("labels"), petals]).fit(X, y)
    >>> selector.selected_
    array([2, 3])
    >>> selector.source_weights_
    array([0.25, 0.75])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        sources: list[Source] | None = None,
        score: str = "phi2",
        gamma="identity",
        n_clusters: int | None = None,
        balance: bool = True,
    ):
        self.n_features_to_select = n_features_to_select
        self.sources = sources
        self.score = score
        self.gamma = gamma
        self.n_clusters = n_clusters
        self.balance = balance

    def _fuse(self, sources: dict[str, Source], study: Study) -> np.ndarray:
        parts = [sample_similarity(source, study, name) for name, source in sources.items()]
        given = [1.0 if source.weight is None else source.weight for source in sources.values()]
        if not sum(given):
            raise ValueError("All sources have weight 0: give at least one a positive weight.")
        self.source_weights_ = np.asarray(given, dtype=np.float64) / sum(given)
        scaled = self.source_weights_
        if self.balance:
            degrees = [_mean_degree(S, n) for S, n in zip(parts, sources, strict=True)]
            scaled = scaled / np.array(degrees)
        combined = weighted_similarity(parts, scaled.tolist())
        self.contributions_ = _agreement(study.X, parts, scaled, Graph.of(combined))
        return self._spectral(combined).fit(study.X, study.y).raw_scores_

    def _is_larger_better(self) -> bool:
        return vars(self)["score"] == "phi3"


def _mean_degree(S: SymmetricMatrix, name: str) -> float:
    degree = float(S.sums().mean())
    if not degree > 0.0:
        raise ValueError(
            f"Source {name!r} makes no two samples similar: its similarities add to 0."
        )
    return degree


def _agreement(X, parts: list[SymmetricMatrix], weights: np.ndarray, graph: Graph) -> np.ndarray:
    """Share of every source in 1 - phi2 of every feature; NaN for constant ones."""
    sums = weighted_sums(X, graph.degrees)
    energy = without_rounding(sums.within, sums.lengths)
    means = sums.center()
    forms = np.array([w * S.forms(X, means) for w, S in zip(weights, parts, strict=True)])
    return np.divide(forms, energy, out=np.full(forms.shape, np.nan), where=energy > 0.0)
