"""Ratios of the variation between classes to that within classes, for features and for sets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from columnist.data._parameters import StrOptions
from columnist.linalg._ties import ranked
from columnist.spectral._base import ScoreSelector
from columnist.spectral._scatter import class_scatter, column_scatter
from columnist.spectral._spec import GraphSelector


class FisherScore(ScoreSelector):
    r"""Select the features whose class means differ most, relative to the spread within classes.

    .. math:: \frac{\sum_j n_j (\mu_j - \mu)^2}{\sum_j n_j \sigma_j^2}

    with the size :math:`n_j`, mean :math:`\mu_j` and variance :math:`\sigma_j^2` (divided by
    :math:`n_j`) of the feature in class j.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.

    Attributes
    ----------
    scores_, raw_scores_ : ndarray of shape (n_features,)
        The Fisher score, larger is better; infinite if the feature is constant within every
        class, NaN (and last) if it is constant.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    sklearn.feature_selection.f_classif : The same times (n - c) / (c - 1), with p-values.
    TraceRatio : The same ratio for a set of features.

    Notes
    -----
    Takes one pass over the data, whatever the number of classes. With the similarity 1 / n_j
    between the samples of class j, 1 / (1 + score) is the Laplacian score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FisherScore(2).fit(X, y)
    >>> selector.selected_
    array([2, 3])
    >>> selector.scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _needs_classes: ClassVar[bool] = True
    # The pass that sums up the classes looks at all entries.
    _looks: ClassVar[bool] = False
    _on_blocks = True

    def __init__(self, n_features_to_select: int | float | None = None):
        self.n_features_to_select = n_features_to_select

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        if len(self.classes_) == X.shape[0]:
            raise ValueError(
                "Every class in y has one sample: FisherScore needs variation within classes."
            )
        scatter = class_scatter(X, y, look=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return scatter.between / scatter.within


class TraceRatio(GraphSelector):
    r"""Select the set of features with the largest ratio of two sums of variations.

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
        Names of the columns, if X has any.

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
        self.laplacian = laplacian
        self.scaling = scaling
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        between, within = self._variations(X, y)
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
            self._undo_scale()

    def _requires_y(self) -> bool:
        return self.laplacian == "supervised"


def maximize_trace_ratio(
    between: np.ndarray, within: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Scores whose largest make the set of the best ratio of sums, and the ratios on the way.
    Terms :math:`b_j` and :math:`w_j` of the two sums are not negative; NaN in ``between`` marks a
    feature that takes no part. Scores are :math:`b_j - \lambda w_j` at the largest ratio
    :math:`\lambda`; if that is infinite, :math:`b_j` where :math:`w_j` is zero, else -inf."""
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
