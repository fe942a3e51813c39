"""SPEC, alone or with a few labels, and the Laplacian score: features on a graph."""

from __future__ import annotations

from inspect import signature
from typing import ClassVar

import numpy as np
from scipy.special import entr
from sklearn.utils.validation import check_consistent_length, column_or_1d

from columnist.data._parameters import Integer, Number, Other, StrOptions
from columnist.data._target import resolve_classes
from columnist.linalg._passes import column_blocks, columns_of, squared_norms
from columnist.linalg._ties import ranked
from columnist.spectral._base import ScoreSelector
from columnist.spectral._graph import Graph, phi, resolve_gamma
from columnist.spectral._scatter import class_scatter
from columnist.spectral._similarity import resolve_similarity

# Clusters to look for at most when their number is read off the spectrum.
_MOST_CLUSTERS = 20
# Smaller eigenvalues are zero but for rounding.
_ZERO = 1e-10
# Weights among which the cut value chooses.
_WEIGHTS = np.linspace(0.0, 1.0, 11)
# Cut values closer than this are equal: iterations find eigenvalues not much better.
_SAME_CUT = 1e-8


class GraphSelector(ScoreSelector):
    """Scores features against a graph; has the parameters of a similarity."""

    _on_blocks = True

    def _graph(self, X, y) -> Graph:
        options = self._similarity_options()
        return Graph.of(resolve_similarity(self.similarity, X, y, **options))

    def _requires_y(self) -> bool:
        return self._needs_classes or self._learns_from_classes()


class ScoreParameter:
    """Mixin for a selector with a parameter ``score``. scikit-learn takes an attribute of that name
    for the method that scores predictions, so it can be set, and read by ``get_params``, but is no
    attribute."""

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
    r"""Select the features that agree best with a graph of the samples.

    A feature is good if it takes similar values at similar samples. With the normalised
    Laplacian of the graph, its eigenpairs :math:`(\lambda_j, \xi_j)` in ascending order, and
    :math:`\alpha_j` the cosine between :math:`\xi_j` and the feature (weighted by
    :math:`D^{1/2}`),

    .. math::
       \varphi_1 = \sum_j \alpha_j^2 \gamma(\lambda_j), \quad
       \varphi_2 = \frac{\sum_{j \ge 2} \alpha_j^2 \gamma(\lambda_j)}{\sum_{j \ge 2} \alpha_j^2},
       \quad
       \varphi_3 = \sum_{j=2}^{k} \alpha_j^2 (\gamma(2) - \gamma(\lambda_j)).

    The similarity determines the information that is used: neighbours in X (unsupervised), classes
    (``similarity="fisher"`` or ``"label"``), or any other similarity of samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        ``"phi1"`` also rewards a feature for being nearly constant; ``"phi2"`` does not and is
        the Laplacian score; ``"phi3"`` uses only the k leading eigenvectors and is most robust to
        noise.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        Increasing function of the eigenvalues: a name, an exponent, or a function. High powers
        reduce the influence of noise.
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
        Names of the columns, if X has any.

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
    Functions and ``"relief"`` gather the data; so do powers of ``gamma`` above 1 and similarities
    that are n x n, some columns at a time.

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
        self.score = score
        self.gamma = gamma
        self.n_clusters = n_clusters
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if vars(self)["score"] == "phi3" and self.n_clusters is not None:
            Integer(2).check("n_clusters", self.n_clusters)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        gamma, graph = resolve_gamma(self.gamma), self._graph(X, y)
        if not self._is_larger_better():
            return phi(vars(self)["score"], X, graph, gamma)
        self.n_clusters_ = self._count_clusters(graph, y)
        return phi("phi3", X, graph, gamma, self.n_clusters_)

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
        Names of the columns, if X has any.

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
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        return phi("phi2", X, self._graph(X, y), resolve_gamma("identity"))


class SemiSupervisedSelector(SpectralSelector):
    r"""Select features that agree with a graph of all samples and with the classes of some.

    .. math:: \lambda\,\varphi_u + (1 - \lambda)\,\varphi_s,

    where :math:`\varphi_u` is a score of :class:`SpectralSelector` on a graph of all samples, and
    :math:`\varphi_s` the same score on the labelled samples, with similarity :math:`1/n_l` within
    class l and 0 between classes, so that it ranks as the Fisher score of those samples does.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    weight : float, array-like of float or "cut", default="cut"
        :math:`\lambda`, in [0, 1]: 1 ignores the labels, 0 the unlabelled samples. Among several
        weights (``"cut"``: 0, 0.1, ..., 1), the one is chosen whose features give the graph with
        the smallest cut value, that is, the clearest clusters; of equal ones, the one closest to
        1/2. Every different selection costs one more graph.
    supervised : {"fisher", "mutual_information"}, default="fisher"
        The score on the labelled samples: ``"mutual_information"`` replaces the score on the
        labelled samples by the information about the class that lies in the side of its mean (of
        all samples) on which a value is; see Notes.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        Score; see :class:`SpectralSelector`.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        Increasing function of the eigenvalues.
    n_clusters : int, optional
        k of ``"phi3"`` on the graph of all samples; the number of classes in y if None.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        Similarity of all samples: ``"knn"``, ``"rbf"``, ``"linear"``, ``"polynomial"``,
        ``"cosine"``, a function from X to a similarity, or (for a single weight) a matrix.
    n_neighbors : int, default=5
        Neighbours of ``"knn"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    raw_scores_ : ndarray of shape (n_features,)
        The weighted sum; NaN for a constant feature, which ranks last.
    scores_ : ndarray of shape (n_features,)
        Larger is better: the raw score, with its sign changed unless the score is ``"phi3"``.
    ranking_ : ndarray of shape (n_features,)
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    weight_ : float
        :math:`\lambda`.
    weights_, cut_values_ : ndarray
        Weights to choose from and the cut value of the graph of each one's features; only if
        there is a choice.
    classes_ : ndarray
        Classes in y.
    n_labelled_ : int
        Number of labelled samples.
    n_clusters_ : int
        k, for ``"phi3"``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    SpectralSelector : Either part alone.

    Notes
    -----
    In y, -1 marks an unlabelled sample, as elsewhere in scikit-learn; so do None and NaN, and
    ``"-1"`` among strings, which is what NumPy makes of it there.

    Both parts have the same scale. With d the share of a feature's variation that is within
    the labelled classes (``"fisher"``), or one minus twice the mutual information of feature and
    class over the sum of their entropies (``"mutual_information"``),
    :math:`\varphi_s = \gamma(0) + (\gamma(1) - \gamma(0))\,d` for the first two scores, and
    :math:`\varphi_s = (\gamma(2) - \gamma(0))(1 - d)` for the third, where large is good. The
    labels are not informative about a feature that is constant on the labelled samples: d = 1.

    The supervised part takes time proportional to the number of labelled samples times the
    number of features.

    References
    ----------
    Zhao, Z. and Liu, H. (2007). Semi-supervised feature selection via spectral analysis. *SIAM
    International Conference on Data Mining*.

    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*, section 2.5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import SemiSupervisedSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> partly = np.where(np.arange(len(y)) % 20 == 0, y, -1)
    >>> selector = SemiSupervisedSelector(4).fit(X, partly)
    >>> selector.n_labelled_, selector.weight_
    (9, 0.9)
    """

    _needs_classes: ClassVar[bool] = True
    _on_blocks = False

    _parameter_constraints = {
        "weight": StrOptions("cut") | Other("a number or several"),
        "supervised": StrOptions("fisher", "mutual_information"),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        weight="cut",
        supervised: str = "fisher",
        score: str = "phi2",
        gamma="identity",
        n_clusters: int | None = None,
        similarity="knn",
        n_neighbors: int = 5,
        width: float | str = "auto",
        n_jobs: int | None = None,
    ):
        self.weight = weight
        self.supervised = supervised
        self.score = score
        self.gamma = gamma
        self.n_clusters = n_clusters
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._learns_from_classes():
            raise ValueError(
                f"similarity={self.similarity!r} is made of classes, which some samples lack; "
                "SemiSupervisedSelector needs one of all samples, such as 'knn' or 'rbf'."
            )
        weights = self._weights()
        named = isinstance(self.similarity, str) or callable(self.similarity)
        if len(weights) > 1 and not named:
            raise ValueError(
                "Choosing the weight takes a graph of the selected features: pass similarity as "
                "a name or a function, or one number as weight."
            )

    def _weights(self) -> np.ndarray:
        """Weights to choose from."""
        if isinstance(self.weight, str):
            return _WEIGHTS
        weights = np.atleast_1d(np.asarray(self.weight, dtype=object))
        if weights.ndim != 1 or not len(weights):
            raise ValueError(f"weight must be 'cut', a number or several; got {self.weight!r}.")
        for weight in weights:
            Number(0.0, 1.0).check("weight", weight)
        return weights.astype(np.float64)

    def _classes(self, y, n_samples: int) -> np.ndarray:
        """Code of every sample's class, -1 if it has none."""
        name = type(self).__name__
        labels, labelled = _split_labels(y, n_samples, name)
        self.n_labelled_ = int(labelled.sum())
        codes = np.full(n_samples, -1)
        if len(np.unique(labels)) < 2:
            self.classes_, codes[labelled] = np.unique(labels), 0
        else:
            self.classes_, codes[labelled] = resolve_classes(labels, None, name)
        if (self._weights() < 1.0).any():
            _check_labels(len(labels), len(self.classes_), name, self.supervised)
        return codes

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        weights = self._weights()
        unsupervised = super()._raw_scores(X, None, size)
        supervised = self._supervised_scores(X, y) if (weights < 1.0).any() else 0.0
        sums = [weight * unsupervised + (1.0 - weight) * supervised for weight in weights]
        chosen = self._choose(X, weights, sums, size) if len(weights) > 1 else 0
        self.weight_ = float(weights[chosen])
        return sums[chosen]

    def _count_clusters(self, graph: Graph, y) -> int:
        if self.n_clusters is None and len(self.classes_) > 1:
            return len(self.classes_)
        return super()._count_clusters(graph, y)

    def _supervised_scores(self, X, codes: np.ndarray) -> np.ndarray:
        """The score of every feature on the labelled samples."""
        labelled = codes >= 0
        part, codes = X if labelled.all() else X[labelled], codes[labelled]
        if self.supervised == "fisher":
            apart = _fisher_distances(part, codes, vars(self)["score"])
        else:
            apart = _information_distances(part, codes, np.asarray(X.mean(axis=0)).ravel())
        low, middle, high = resolve_gamma(self.gamma)(np.array([0.0, 1.0, 2.0]))
        if self._is_larger_better():
            return (high - low) * (1.0 - apart)
        return low + (middle - low) * apart

    def _choose(self, X, weights: np.ndarray, sums: list[np.ndarray], size: int) -> int:
        """The weight whose features have the smallest cut value; keeps all cut values."""
        known: dict[tuple[int, ...], float] = {}
        self.weights_, self.cut_values_ = weights, np.empty(len(weights))
        for i, values in enumerate(sums):
            best = ranked(values if self._is_larger_better() else -values)[:size]
            key = tuple(np.sort(best))
            if key not in known:
                known[key] = self._graph(X[:, list(key)], None).cut_value()
            self.cut_values_[i] = known[key]
        near = np.flatnonzero(self.cut_values_ <= self.cut_values_.min() + _SAME_CUT)
        return int(near[np.argmin(np.abs(weights[near] - 0.5))])


def _split_labels(y, n_samples: int, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the labelled samples, and which samples those are."""
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None.")
    # Read as objects, a list keeps what marks its unlabelled samples.
    y = column_or_1d(y if hasattr(y, "dtype") else np.asarray(y, dtype=object), warn=True)
    check_consistent_length(y, np.empty(n_samples))
    if y.dtype.kind == "O":
        labelled = np.array([not _is_unlabelled(label) for label in y], dtype=bool)
        # NumPy finds the type that the labels have in common.
        return np.array(list(y[labelled])), labelled
    labelled = ~((y == "-1") if y.dtype.kind in "US" else (y == -1) | (y != y))
    return y[labelled], labelled


def _is_unlabelled(label) -> bool:
    # pandas' mark of a missing value equals nothing, and has no truth value either.
    missing = label is None or type(label).__name__ == "NAType"
    return missing or bool(label != label) or bool(label == -1) or bool(label == "-1")


def _check_labels(n_labelled: int, n_classes: int, caller: str, supervised: str) -> None:
    """Raise unless the labels are informative."""
    if n_classes < 2:
        found = "no sample is labelled" if n_classes == 0 else "the labelled ones have one class"
        raise ValueError(
            f"{caller} needs labelled samples of at least two classes, but {found}. Samples "
            "with y = -1 are unlabelled: if that is a class, give it another number. To do "
            "without labels, set weight=1."
        )
    if supervised == "fisher" and n_classes == n_labelled:
        raise ValueError(
            f"Every class has one labelled sample: {caller} needs variation within classes. "
            "Label more samples, or use supervised='mutual_information' or weight=1."
        )


def _fisher_distances(X, codes: np.ndarray, score: str) -> np.ndarray:
    """Share of every column that the classes do not explain; 1 for a constant column."""
    scatter = class_scatter(X, codes)
    total = scatter.total if score == "phi2" else squared_norms(X)
    above = total - scatter.between if score == "phi3" else scatter.within
    return np.divide(above, total, out=np.ones(X.shape[1]), where=scatter.total > 0.0)


def _information_distances(X, codes: np.ndarray, means: np.ndarray) -> np.ndarray:
    """:math:`1 - 2 I(b, y) / (H(b) + H(y))` with b = 1 where a column exceeds its mean, else 0."""
    n, members = len(codes), np.eye(codes.max() + 1)[codes]
    of_classes = members.mean(axis=0)
    distances = np.empty(X.shape[1])
    for columns in column_blocks(X.shape[1], n):
        above = members.T @ (columns_of(X, columns) > means[columns]) / n
        below = np.maximum(of_classes[:, None] - above, 0.0)
        split = entr(above.sum(axis=0)) + entr(below.sum(axis=0))
        both = entr(above).sum(axis=0) + entr(below).sum(axis=0)
        entropies = split + entr(of_classes).sum()
        distances[columns] = 1.0 - 2.0 * (entropies - both) / entropies
    return distances
