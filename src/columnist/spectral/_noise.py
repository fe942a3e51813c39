"""Noise: in the data behind a graph, and in its Laplacian."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from sklearn.utils.validation import check_array

from columnist.data._parameters import Number, checked
from columnist.data._validation import random_generator
from columnist.spectral._graph import Graph
from columnist.spectral._similarity import resolve_similarity

__all__ = [
    "SHARES",
    "NoisyGraph",
    "blur",
    "blurred",
    "check_rebuilt",
    "inject_noise",
    "normalized_laplacian",
    "perturb_laplacian",
    "spectral_norm",
]

# Shares of noise that are tried.
SHARES = np.arange(1, 41) / 40


@checked(share=Number(0.0, 1.0))
def blur(X, share: float, *, random_state=None) -> np.ndarray:
    r"""Data of which a share is noise: :math:`\bar x + (1 - t)(x_i - \bar x) + t\,\sigma z_i`.

    :math:`\bar x` and :math:`\sigma` are the means and standard deviations of the features, and
    :math:`z_i` is standard normal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data.
    share : float
        t, from 0 (the data) to 1 (only noise of the same means and spreads).
    random_state : int, RandomState or None, default=None
        For repeatable noise.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> from columnist.spectral.stability import blur
    >>> blur([[0.0], [1.0], [5.0]], 0.1, random_state=0).round(2)
    array([[0.21],
           [1.43],
           [4.69]])
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    return blurred(X, share, random_generator(random_state).standard_normal(X.shape))


@dataclass(frozen=True)
class NoisyGraph:
    """Result of :func:`inject_noise`.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        Data with noise.
    graph : Graph
        Their graph.
    share : float
        Share of noise in the data.
    level : float
        Level of noise in the normalised Laplacian.
    """

    data: np.ndarray = field(repr=False)
    graph: Graph = field(repr=False)
    share: float
    level: float


@checked(level=Number(0.0))
def inject_noise(
    X,
    level: float,
    *,
    similarity="rbf",
    n_neighbors: int = 5,
    width: float | str = "auto",
    random_state=None,
) -> NoisyGraph:
    """Blur data until the normalised Laplacian of their graph has changed by a given level.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data.
    level : float
        Change of the normalised Laplacian over its norm, in the spectral norm.
    similarity : str or callable, default="rbf"
        Similarity of the samples. It should depend continuously on the data, as ``"rbf"``
        does: a graph of neighbours changes by jumps, and then the level is not met exactly.
    n_neighbors, width
        Options of the similarity.
    random_state : int, RandomState or None, default=None
        For repeatable noise.

    Returns
    -------
    NoisyGraph

    See Also
    --------
    blur : The same noise, measured in the data.
    perturb_laplacian : Noise in the Laplacian itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral.stability import inject_noise
    >>> noisy = inject_noise(load_iris().data, 0.3, width=0.5, random_state=0)
    >>> round(noisy.level, 6)
    0.3
    """
    X = check_array(X, dtype=np.float64, ensure_min_samples=2, input_name="X")
    check_rebuilt(similarity)
    options: dict[str, Any] = {"n_neighbors": n_neighbors, "width": width}
    draw = random_generator(random_state).standard_normal(X.shape)
    clean = normalized_laplacian(Graph.of(resolve_similarity(similarity, X, **options)))
    size = spectral_norm(clean)

    def noisy(share: float) -> NoisyGraph:
        data = blurred(X, share, draw)
        graph = Graph.of(resolve_similarity(similarity, data, **options))
        change = normalized_laplacian(graph) - clean
        return NoisyGraph(data, graph, share, spectral_norm(change) / size)

    before = noisy(0.0)
    # Rounding alone may make a level that is hardly above zero.
    if before.level >= level:
        return before
    most = 0.0
    for share in SHARES:
        after = noisy(share)
        if after.level >= level:
            at = brentq(lambda t: noisy(t).level - level, before.share, after.share, xtol=1e-14)
            return noisy(at)
        before, most = after, max(most, after.level)
    raise ValueError(f"Blurring these data changes their Laplacian by {most:.3g} at most.")


@checked(level=Number(0.0))
def perturb_laplacian(S, level: float, *, random_state=None) -> np.ndarray:
    r"""Normalised Laplacian plus random symmetric noise of a given level.

    The noise keeps the trivial eigenpair, so the degrees stay the same; similarities may become
    negative.

    Parameters
    ----------
    S : Graph, SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity, or its graph.
    level : float
        :math:`\|E\|_2 / \|\mathcal L\|_2`.
    random_state : int, RandomState or None, default=None
        For repeatable noise.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral import laplacian, rbf_similarity
    >>> from columnist.spectral.stability import perturb_laplacian
    >>> S = rbf_similarity(np.arange(6.0)[:, None], width=1.0)
    >>> L = laplacian(S, normalized=True)
    >>> noisy = perturb_laplacian(S, 0.2, random_state=0)
    >>> round(float(np.linalg.norm(noisy - L, 2) / np.linalg.norm(L, 2)), 12)
    0.2
    """
    graph = S if isinstance(S, Graph) else Graph.of(S)
    if graph.n < 2:
        raise ValueError("Noise that keeps the degrees takes at least two samples; got one.")
    clean = normalized_laplacian(graph)
    E = random_generator(random_state).standard_normal(clean.shape)
    E = E + E.T
    along = graph.trivial
    E -= np.outer(along, along @ E)
    E -= np.outer(E @ along, along)
    E = (E + E.T) / 2.0
    return clean + E * (level * spectral_norm(clean) / spectral_norm(E))


def blurred(X: np.ndarray, share: float, noise: np.ndarray) -> np.ndarray:
    means = X.mean(axis=0)
    return means + (1.0 - share) * (X - means) + share * X.std(axis=0) * noise


def normalized_laplacian(graph: Graph) -> np.ndarray:
    return np.eye(graph.n) - graph.normalized().toarray()


def spectral_norm(A: np.ndarray) -> float:
    """Spectral norm of a symmetric matrix."""
    return float(np.abs(scipy.linalg.eigvalsh(A, check_finite=False)).max())


def check_rebuilt(similarity) -> None:
    if not isinstance(similarity, str) and not callable(similarity):
        raise ValueError(
            "Noise in the data takes new similarities: pass similarity as a name or a function."
        )
