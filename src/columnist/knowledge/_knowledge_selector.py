"""KOFS: one ranking of the features per source, then one ranking of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columnist.data._parameters import Number
from columnist.knowledge._aggregation import METHOD, aggregate_levels
from columnist.knowledge._base import SourceSelector
from columnist.knowledge._convert import feature_scores
from columnist.knowledge._source import Source
from columnist.knowledge._study import Study
from columnist.linalg._ties import levels

__all__ = ["KnowledgeSelector"]


class KnowledgeSelector(SourceSelector):
    r"""Select the features that rank high by several sources of knowledge.

    Every source ranks all features in its own way: classes by the Fisher score; similarities of
    samples by a spectral score; annotations by voting; relations of features by propagation
    (KOFS). The rankings are then aggregated, with weights that are learnt or given.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    sources : list of Source, optional
        What is known. By default the similarity of the rows of X and, if y holds classes, the
        classes.
    aggregation : {"em", "borda"}, default="em"
        How rankings become one; see :func:`aggregate_rankings`. ``"em"`` learns weights, so that
        sources must not have any.
    known : sequence of feature names or indices, optional
        Features known to be relevant, for ``"em"``: the weights that make them most likely.
        Without, the weights make all features most likely. Do not give features that a source
        starts from already: that source would win.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        Score by a similarity of samples, as in :class:`~columnist.spectral.SpectralSelector`.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        As there.
    n_clusters : int, optional
        As there.
    max_iter : int, default=10000
        Iterations of EM at most.
    tol : float, default=1e-8
        EM stops when the log-likelihood is within ``tol`` of its maximum.

    Attributes
    ----------
    source_names_ : list of str
        Names of the sources.
    source_weights_ : ndarray of shape (n_sources,)
        Their weights, which sum to 1.
    source_scores_ : ndarray of shape (n_sources, n_features)
        Score of every feature by every source alone; larger is better, NaN is last.
    contributions_ : ndarray of shape (n_sources, n_features)
        What each source adds to the score of each feature; the columns sum to ``scores_``.
    scores_, raw_scores_ : ndarray of shape (n_features,)
        Probability of being relevant (``"em"``), or mean points (``"borda"``).
    log_likelihood_ : ndarray
        Log-likelihood after every iteration of EM; it never falls. Empty for ``"borda"``.
    n_iter_ : int
        Its iterations.
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
    MultiSourceSelector : Adds up similarities of the samples instead of rankings.
    aggregate_rankings : The last step alone.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*, section 6.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.knowledge import KnowledgeSelector, Source
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> pairs = [("petal length (cm)", "petal width (cm)")]
    >>> related = Source("interaction", pairs, known=["petal width (cm)"])
    >>> selector = KnowledgeSelector(2, sources=[Source("labels"), related]).fit(X, y)
    >>> selector.selected_
    array([2, 3])
    >>> selector.source_names_, selector.source_weights_.round(2)
    (['labels', 'interaction'], array([0.5, 0.5]))
    """

    _parameter_constraints = {"aggregation": METHOD, "tol": Number(0.0)}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        sources: list[Source] | None = None,
        aggregation: str = "em",
        known: Sequence | None = None,
        score: str = "phi2",
        gamma="identity",
        n_clusters: int | None = None,
        max_iter: int = 10_000,
        tol: float = 1e-8,
    ):
        self.n_features_to_select = n_features_to_select
        self.sources = sources
        self.aggregation = aggregation
        self.known = known
        self.score = score
        self.gamma = gamma
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol

    def _fuse(self, sources: dict[str, Source], study: Study) -> np.ndarray:
        weights = self._weights(sources)
        by_similarity = lambda S: self._spectral(S).fit(study.X, study.y).scores_  # noqa: E731
        self.source_scores_ = np.array(
            [feature_scores(source, study, n, by_similarity) for n, source in sources.items()]
        )
        result = aggregate_levels(
            np.array([levels(scores) for scores in self.source_scores_]),
            self.aggregation,
            known=None if self.known is None else study.places(self.known, "known"),
            weights=weights,
            max_iter=self.max_iter,
            tol=self.tol,
            names=self.source_names_,
        )
        self.source_weights_ = result.weights
        self.contributions_ = result.contributions
        self.log_likelihood_ = result.log_likelihood
        self.n_iter_ = max(1, len(result.log_likelihood))
        return result.scores

    def _weights(self, sources: dict[str, Source]) -> list[float] | None:
        weighted = [name for name, source in sources.items() if source.weight is not None]
        if self.aggregation == "em":
            if weighted:
                raise ValueError(
                    f"EM learns the weights, but {weighted} have some: remove them, or use "
                    "aggregation='borda'."
                )
            return None
        return [1.0 if source.weight is None else source.weight for source in sources.values()]
