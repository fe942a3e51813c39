"""SPEC and the Laplacian score: features that vary slowly along a graph of the samples."""

from __future__ import annotations

from inspect import signature

import numpy as np

from columnist.data._parameters import Integer
from columnist.spectral._base import ScoreSelector
from columnist.spectral._graph import Graph, phi1, phi2, phi3, resolve_gamma
from columnist.spectral._similarity import resolve_similarity

__all__ = ["GraphSelector", "LaplacianScore", "ScoreParameter", "SpectralSelector"]

# Clusters to look for at most when their number is read off the spectrum.
_MOST_CLUSTERS = 20
# Smaller eigenvalues are zero but for rounding.
_ZERO = 1e-10


class GraphSelector(ScoreSelector):
    """Scores features against a graph; has the parameters of a similarity."""

    _on_blocks = True

    def _graph(self, X, y) -> Graph:
        options = self._similarity_options()
        return Graph.of(resolve_similarity(self.similarity, X, y, **options))

    def _requires_y(self) -> bool:
        return self._needs_classes or self._learns_from_classes()


class ScoreParameter:
    """Mixin for a selector with a parameter ``score``.

    scikit-learn takes an attribute of that name for the method that scores predictions, so it
    can be set, and read by ``get_params``, but is no attribute.
    """

    @property
    def score(self):
        raise AttributeError("read the parameter 'score' with get_params()['score']")

    @score.setter
    def score(self, value):
        vars(self)["score"] = value

    def get_params(self, deep: bool = True) -> dict:
        """Parameters of this selector, by name."""
        return {name: vars(self)[name] for name in signature(type(self)).parameters}


class SpectralSelector(ScoreParameter, GraphSelector):
    r"""Select the features that agree best with the structure of a graph of the samples.

    A feature is good if it takes similar values at similar samples. With the normalised
    Laplacian of the graph, its eigenpairs :math:`(\lambda_j, \xi_j)` in ascending order, and
    :math:`\alpha_j` the cosine between :math:`\xi_j` and the feature (weighted by
    :math:`D^{1/2}`),

    .. math::
       \varphi_1 = \sum_j \alpha_j^2 \gamma(\lambda_j), \quad
       \varphi_2 = \frac{\sum_{j \ge 2} \alpha_j^2 \gamma(\lambda_j)}{\sum_{j \ge 2} \alpha_j^2},
       \quad
       \varphi_3 = \sum_{j=2}^{k} \alpha_j^2 (\gamma(2) - \gamma(\lambda_j)).

    The similarity decides what is learnt from: neighbours in X (unsupervised), classes
    (``similarity="fisher"`` or ``"label"``), or whatever else says which samples belong together.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        ``"phi1"`` also rewards a feature for being nearly constant; ``"phi2"`` does not and is
        the Laplacian score; ``"phi3"`` looks at the k leading eigenvectors only and withstands
        noise best.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        Increasing function of the eigenvalues: a name, an exponent, or a function. High powers
        count noise less.
    n_clusters : int, optional
        k of ``"phi3"``; the number of classes if the similarity comes from y, otherwise read off
        the largest relative gap among the leading eigenvalues.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        ``"knn"``, ``"rbf"``, ``"linear"``, ``"polynomial"``, ``"cosine"``; with y ``"label"``,
        ``"fisher"``, ``"relief"``; a function from X to a similarity; or a symmetric matrix of
        samples.
    n_neighbors : int, default=5
        Neighbours of ``"knn"`` and ``"relief"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    raw_scores_ : ndarray of shape (n_features,)
        The score as defined above; NaN for a constant feature, which ranks last.
    scores_ : ndarray of shape (n_features,)
        Larger is better: the raw score, with its sign changed for the first two.
    ranking_ : ndarray of shape (n_features,)
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    n_clusters_ : int
        k, for ``"phi3"``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    LaplacianScore : The same as ``score="phi2"``.
    FisherScore : Ranks as ``score="phi2", similarity="fisher"`` does.
    MRSF, MCSF : The same agreement for sets of features, which avoids redundant ones.

    Notes
    -----
    A Dask collection is visited chunk by chunk. The similarity lives in this process, as it does
    in memory: sparse, of low rank, or n x n. ``"linear"`` and ``"cosine"`` stay on the chunks,
    and their eigenvectors take three passes (for many features, two for each Lanczos step).
    Functions and ``"relief"`` gather the data; so
    do powers of ``gamma`` above 1 and similarities that are n x n, some columns at a time.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*, chapter 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral import SpectralSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> SpectralSelector(2).fit(X).selected_
    array([2, 3])
    >>> SpectralSelector(2, similarity="fisher").fit(X, y).selected_
    array([2, 3])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        score: str = "phi2",
        gamma="identity",
        n_clusters: int | None = None,
        similarity="knn",
        n_neighbors: int = 5,
        width: float | str = "auto",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.score = score
        self.gamma = gamma
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.width = width
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if vars(self)["score"] == "phi3" and self.n_clusters is not None:
            Integer(2).check("n_clusters", self.n_clusters)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        gamma, graph = resolve_gamma(self.gamma), self._graph(X, y)
        name = vars(self)["score"]
        if name == "phi3":
            self.n_clusters_ = self._count_clusters(graph, y)
            return phi3(X, graph, gamma, self.n_clusters_)
        return (phi1 if name == "phi1" else phi2)(X, graph, gamma)

    def _count_clusters(self, graph: Graph, y) -> int:
        if self.n_clusters is not None:
            return min(self.n_clusters, graph.n)
        if self._learns_from_classes():
            return len(np.unique(y))
        values, _ = graph.eigenpairs(min(_MOST_CLUSTERS, graph.n - 1))
        if len(values) < 2:
            return 2
        # k clusters leave k eigenvalues, the trivial one among them, far below the next.
        values = np.maximum(values, _ZERO)
        return int(np.argmax(values[1:] / values[:-1])) + 2

    def _is_larger_better(self) -> bool:
        return vars(self)["score"] == "phi3"


class LaplacianScore(GraphSelector):
    r"""Select the features that preserve the neighbourhoods of the samples.

    .. math:: \frac{\tilde f^T L \tilde f}{\tilde f^T D \tilde f}, \quad
              \tilde f = f - \frac{f^T D 1}{1^T D 1} 1,

    for the Laplacian L and the degrees D of a graph of the samples; small is good. It is
    :math:`\varphi_2` of :class:`SpectralSelector`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        Similarity of the samples; see :class:`SpectralSelector`.
    n_neighbors : int, default=5
        Neighbours of ``"knn"`` and ``"relief"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    raw_scores_ : ndarray of shape (n_features,)
        Laplacian score: small is good; NaN for a constant feature, which ranks last.
    scores_ : ndarray of shape (n_features,)
        Larger is better: the same with its sign changed.
    ranking_ : ndarray of shape (n_features,)
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    Notes
    -----
    A Dask collection is visited in pairs of chunks, once for the graph of neighbours and once
    for the sums along its edges. The graph itself lives in this process.

    References
    ----------
    He, X., Cai, D. and Niyogi, P. (2005). Laplacian score for feature selection. *NIPS*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral import LaplacianScore
    >>> X = load_iris().data
    >>> selector = LaplacianScore(2).fit(X)
    >>> selector.selected_
    array([2, 3])
    """

    _larger_is_better = False

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        similarity="knn",
        n_neighbors: int = 5,
        width: float | str = "auto",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.width = width
        self.n_jobs = n_jobs

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        return phi2(X, self._graph(X, y), resolve_gamma("identity"))
