"""The trace ratio criterion: the best set of features by a ratio of sums."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import StrOptions
from columnist.data._validation import resolve_size
from columnist.linalg._ties import ranked
from columnist.spectral._scatter import class_scatter, column_scatter
from columnist.spectral._spec import GraphSelector

__all__ = ["TraceRatio", "maximize_trace_ratio"]


class TraceRatio(GraphSelector):
    r"""Keep the set of features with the largest ratio of two sums of variations.

    .. math:: \max_{|F| = k} \frac{\sum_{j \in F} f_j^T L_b f_j}{\sum_{j \in F} f_j^T L_w f_j}

    With classes, :math:`f^T L_b f` is the variation of a feature between them and
    :math:`f^T L_w f` that within. Without, :math:`L_w` is the Laplacian of a neighbourhood graph
    with degrees D, which measures variation among neighbours, and
    :math:`L_b = D - D11^T D / 1^T D 1` that among all samples.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    laplacian : {"auto", "supervised", "unsupervised"}, default="auto"
        Use the classes in y or the graph of X; ``"auto"`` uses y if ``fit`` gets one.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        The graph, if y is not used: a name, a function from X to a matrix of samples, or that
        matrix.
    n_neighbors : int, default=5
        Neighbours of a sample, for ``similarity="knn"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    scaling : {"unit", "none"}, default="unit"
        ``"unit"`` divides every feature by its length without the mean, ``"none"`` takes the
        features as they are.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        :math:`f_j^T (L_b - \lambda L_w) f_j` at the optimal ratio :math:`\lambda`, larger is
        better; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        The same.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    criterion_ : float
        The ratio :math:`\lambda` of the selected set, which no other set of this size exceeds;
        infinite if the selected features do not vary within classes.
    history_ : ndarray
        Ratios of the sets on the way, increasing.
    n_iter_ : int
        How many these are.
    classes_ : ndarray
        Classes in y, if used.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    FisherScore : The ratio of every feature alone.
    LaplacianScore : The same without classes.

    Notes
    -----
    For a given :math:`\lambda` the best set has the largest scores, and its ratio is the next
    :math:`\lambda` [1]_; that grows until it is the global optimum, in a few steps that take
    time proportional to the number of features. Only two numbers per feature are needed from
    the data.

    A feature in larger units counts for more in both sums. With ``scaling="none"`` the selection
    therefore depends on the units: of the features above the final ratio it prefers those that
    vary most, of those below it the ones that vary least. That is the criterion of [1]_ to the
    letter, and right where all features are measured alike (pixels, spectra). The default is
    free of units; with classes its sets are those of the Fisher score, for every size.

    References
    ----------
    .. [1] F. Nie, S. Xiang, Y. Jia, C. Zhang, S. Yan, "Trace ratio criterion for feature
       selection", AAAI 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import TraceRatio
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = TraceRatio(3).fit(X, y)
    >>> selector.selected_
    array([ 6, 12, 11])
    >>> round(selector.criterion_, 3)
    2.395
    >>> TraceRatio(3, scaling="none").fit(X, y).selected_
    array([ 6,  7, 10])
    """

    _parameter_constraints = {"laplacian": StrOptions("auto", "supervised", "unsupervised")}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        laplacian: str = "auto",
        similarity="knn",
        n_neighbors: int = 5,
        width: float | str = "auto",
        scaling: str = "unit",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.laplacian = laplacian
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.width = width
        self.scaling = scaling
        self.n_jobs = n_jobs

    def _raw_scores(self, X, y) -> np.ndarray:
        between, within = self._variations(X, y)
        size = resolve_size(self.n_features_to_select, X.shape[1])
        scores, self.history_ = maximize_trace_ratio(between, within, size)
        self.n_iter_ = len(self.history_)
        self.criterion_ = float(self.history_[-1])
        return scores

    def _variations(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """f'L_b f (NaN if constant) and f'L_w f of every feature, scaled as asked."""
        if self.laplacian == "supervised" or (self.laplacian == "auto" and y is not None):
            scatter = class_scatter(X, self._classes(y, X.shape[0]))
            between, within, lengths = scatter.between, scatter.within, scatter.total
        else:
            graph, lengths = self._graph(X, y), column_scatter(X)
            between = column_scatter(X, graph.degrees)
            within = np.maximum(graph.laplacian_forms(X), 0.0)
        constant = (lengths == 0.0) | (between + within == 0.0)
        if constant.all():
            raise ValueError("All features are constant: there is no ratio of variations.")
        between[constant] = np.nan
        lengths[constant] = 1.0
        return (
            (between, within) if self.scaling == "none" else (between / lengths, within / lengths)
        )

    def _keep(self, raw: np.ndarray, size: int) -> None:
        super()._keep(raw, size)
        if self.scaling == "none":
            with np.errstate(over="ignore"):
                self.raw_scores_ = self.scores_ = self._scale * (self._scale * raw)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.laplacian == "supervised"
        return tags


def maximize_trace_ratio(
    between: np.ndarray, within: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Scores whose largest make the set of the best ratio of sums, and the ratios on the way.

    Terms :math:`b_j` and :math:`w_j` of the two sums are not negative; NaN in ``between`` marks a
    feature that takes no part. Scores are :math:`b_j - \lambda w_j` at the largest ratio
    :math:`\lambda`; if that is infinite, :math:`b_j` where :math:`w_j` is zero, else -inf.
    """
    size = min(size, int(np.isfinite(between).sum()))
    history: list[float] = []
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = between / within
    while True:
        chosen = np.sort(ranked(scores)[:size])
        total = within[chosen].sum()
        ratio = between[chosen].sum() / total if total > 0.0 else np.inf
        if history and ratio <= history[-1]:
            return scores, np.array(history)
        history.append(float(ratio))
        if np.isinf(ratio):
            scores = np.where(within > 0.0, -np.inf, between)
            return scores, np.array(history)
        scores = between - ratio * within
