"""Selectors that rank features by several sources: MSFS adds up similarities, KOFS rankings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_consistent_length

from columnist.data._parameters import Number
from columnist.data._target import is_classes
from columnist.knowledge._aggregation import METHOD, aggregate_levels
from columnist.knowledge._sources import Source, Study, named_sources
from columnist.linalg._ties import levels
from columnist.spectral._base import RankingSelector
from columnist.spectral._graph import Graph
from columnist.spectral._scatter import weighted_sums, without_rounding
from columnist.spectral._similarity import weighted_similarity
from columnist.spectral._spec import ScoreParameter, SpectralSelector
from columnist.spectral._symmetric import SymmetricMatrix


class _SourceSelector(ScoreParameter, RankingSelector):
    """Ranks features by the sources in ``sources``."""

    def fit(self, X, y=None):
        """Rank the features of X by the sources and select the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data. Frames have names that sources are matched with.
        y : array-like of shape (n_samples,), optional
            Class labels, for a source ``Source("labels")``.

        Returns
        -------
        self
        """
        samples = X.index.tolist() if hasattr(X, "iloc") and hasattr(X, "index") else None
        X, size = self._begin(X)
        if y is not None:
            check_consistent_length(X, y)
        features = getattr(self, "feature_names_in_", None)
        study = Study(X, y, samples, None if features is None else features.tolist())
        sources = self.sources
        if sources is None:
            classes = [] if y is None or not is_classes(y) else [Source("labels")]
            sources = [*classes, Source("sample_similarity")]
        named = named_sources(sources, type(self).__name__)
        self.source_names_ = [str(source.name) for source in named]
        self._keep(self._fuse(named, study), size)
        return self

    @abstractmethod
    def _fuse(self, sources: list[Source], study: Study) -> np.ndarray:
        """Score of every feature from all sources; keeps weights and contributions."""

    def _spectral(self, similarity: SymmetricMatrix, study: Study) -> SpectralSelector:
        """Scores of the features by a similarity of samples."""
        options = {"score": vars(self)["score"], "gamma": self.gamma, "n_clusters": self.n_clusters}
        selector = SpectralSelector(1, similarity=similarity, **options)
        return selector.fit(study.X, study.y)


def _weights(sources: list[Source]) -> list[float]:
    return [1.0 if source.weight is None else source.weight for source in sources]


class MultiSourceSelector(_SourceSelector):
    r"""Select the features that agree with several sources of knowledge about the samples.

    Every source is turned into a similarity :math:`S_l` of the samples, and the features are
    scored by the graph of :math:`\sum_l a_l S_l` (MSFS). Labels make samples of a class similar;
    similarities of features give a covariance and so a Mahalanobis distance of the samples;
    annotations and interactions define the features by which samples are compared.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    sources : list of Source, optional
        Sources of knowledge. By default the similarity of the rows of X and, if y holds classes,
        the classes.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        As in :class:`~columnist.spectral.SpectralSelector`.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        As there.
    n_clusters : int, optional
        As there.
    balance : bool, default=True
        Scale every similarity to a mean degree of 1, so that the weights compare sources and not
        their units. Otherwise similarities add up as they are: beside a Gaussian kernel, whose
        degrees grow with the number of samples, labels (degree 1) have almost no influence.

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
        Names of the columns, if X has any.

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

    def _fuse(self, sources: list[Source], study: Study) -> np.ndarray:
        parts = [study.similarity(source) for source in sources]
        given = _weights(sources)
        if not sum(given):
            raise ValueError("All sources have weight 0: give at least one a positive weight.")
        self.source_weights_ = np.asarray(given, dtype=np.float64) / sum(given)
        scaled = self.source_weights_
        if self.balance:
            degrees = [_mean_degree(S, n) for S, n in zip(parts, self.source_names_, strict=True)]
            scaled = scaled / np.array(degrees)
        combined = weighted_similarity(parts, scaled.tolist())
        self.contributions_ = _agreement(study.X, parts, scaled, Graph.of(combined))
        return self._spectral(combined, study).raw_scores_

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


class KnowledgeSelector(_SourceSelector):
    r"""Select the features that rank high by several sources of knowledge.

    Every source ranks all features in its own way: classes by the Fisher score; similarities of
    samples by a spectral score; annotations by voting; relations of features by propagation
    (KOFS). The rankings are then aggregated, with weights that are learnt or given.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    sources : list of Source, optional
        Sources of knowledge. By default the similarity of the rows of X and, if y holds classes,
        the classes.
    aggregation : {"em", "borda"}, default="em"
        How rankings become one; see :func:`aggregate_rankings`. ``"em"`` learns weights, so that
        sources must not have any.
    known : sequence of feature names or indices, optional
        Features known to be relevant, for ``"em"``: the weights that make them most likely.
        Without, the weights make all features most likely. Do not pass features that a source
        already starts from: it would get all the weight.
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
        Names of the columns, if X has any.

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

    def _fuse(self, sources: list[Source], study: Study) -> np.ndarray:
        weights = None if self.aggregation == "em" else _weights(sources)
        weighted = [source.name for source in sources if source.weight is not None]
        if weighted and weights is None:
            raise ValueError(
                f"EM learns the weights, but {weighted} have some: remove them, or use "
                "aggregation='borda'."
            )
        self.source_scores_ = np.array(
            [study.scores(s, lambda S: self._spectral(S, study).scores_) for s in sources]
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
