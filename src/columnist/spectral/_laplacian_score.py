"""The Laplacian score."""

from __future__ import annotations

import numpy as np

from columnist.spectral._gamma import resolve_gamma
from columnist.spectral._scores import phi2
from columnist.spectral._spec import GraphSelector

__all__ = ["LaplacianScore"]


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

    def _raw_scores(self, X, y) -> np.ndarray:
        return phi2(X, self._graph(X, y), resolve_gamma("identity"))
