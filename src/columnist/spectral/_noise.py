"""Noise in the data of a graph and in its Laplacian: random noise, and worst-case bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import brentq
from sklearn.utils.validation import check_array

from columnist.data._parameters import Integer, Number, checked
from columnist.data._validation import random_generator
from columnist.spectral._graph import Graph
from columnist.spectral._similarity import resolve_similarity

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
    """Add noise to data until the normalised Laplacian of their graph changes by a given level.

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
    clean = Graph.of(resolve_similarity(similarity, X, **options)).laplacian()
    size = spectral_norm(clean)

    def noisy(share: float) -> NoisyGraph:
        data = blurred(X, share, draw)
        graph = Graph.of(resolve_similarity(similarity, data, **options))
        change = graph.laplacian() - clean
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
    clean = graph.laplacian()
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


def spectral_norm(A: np.ndarray) -> float:
    """Spectral norm of a symmetric matrix."""
    return float(np.abs(scipy.linalg.eigvalsh(A, check_finite=False)).max())


def check_rebuilt(similarity) -> None:
    if not isinstance(similarity, str) and not callable(similarity):
        raise ValueError(
            "Noise in the data takes new similarities: pass similarity as a name or a function."
        )


@checked(noise=Number(0.0))
def weyl_bound(L, noise: float) -> np.ndarray:
    r"""Limits of the eigenvalues of a symmetric matrix under noise.

    Weyl: the j-th smallest eigenvalues of :math:`\mathcal L` and :math:`\mathcal L + E` differ by
    at most :math:`\|E\|_2`.

    Parameters
    ----------
    L : array-like or sparse matrix of shape (n, n), or array-like of shape (n,)
        Symmetric matrix, or its eigenvalues.
    noise : float
        :math:`\|E\|_2`.

    Returns
    -------
    ndarray of shape (n, 2)
        Smallest and largest possible value of every eigenvalue, in ascending order.

    Examples
    --------
    >>> from columnist.spectral.stability import weyl_bound
    >>> weyl_bound([0.0, 0.5, 1.0], 0.1)
    array([[-0.1,  0.1],
           [ 0.4,  0.6],
           [ 0.9,  1.1]])
    """
    return _eigenvalues(L)[:, None] + noise * np.array([-1.0, 1.0])


@checked(noise=Number(0.0))
def eigengap_bound(L, noise: float) -> np.ndarray:
    r"""Limits of the rotation of the eigenvectors of a symmetric matrix under noise.

    With the gap :math:`g_j` between the j-th eigenvalue and its nearest neighbour and
    :math:`\theta_j` the angle between the j-th eigenvectors of :math:`\mathcal L` and
    :math:`\mathcal L + E`,

    .. math:: \sin\theta_j \le \sin\left(\tfrac12 \arcsin\frac{2\|E\|_2}{g_j}\right)
              \quad\text{if } 2\|E\|_2 < g_j.

    Parameters
    ----------
    L : array-like or sparse matrix of shape (n, n), or array-like of shape (n,)
        Symmetric matrix, or its eigenvalues.
    noise : float
        :math:`\|E\|_2`.

    Returns
    -------
    ndarray of shape (n,)
        Bounds of :math:`\sin\theta_j`; 1, the trivial bound, where the gap is too small.

    Notes
    -----
    The inequality :math:`\tfrac12\sin 2\theta_j \le \|E\|_2 / g_j` (Davis and Kahan) also
    holds for angles close to a right one. Those are excluded if :math:`2\|E\|_2 < g_j`: then the
    eigenvalue stays simple along :math:`\mathcal L + tE`, the eigenvector follows continuously
    from :math:`\theta_j = 0`, and :math:`\tfrac12 \sin 2\theta_j < \tfrac12` all the way, so that
    the angle never passes :math:`\pi/4`. The gap may be that of either matrix.

    Examples
    --------
    >>> from columnist.spectral.stability import eigengap_bound
    >>> eigengap_bound([0.0, 0.1, 1.0, 1.01], 0.02).round(3)
    array([0.204, 0.204, 1.   , 1.   ])
    """
    values = _eigenvalues(L)
    # What rounding may have made of equal eigenvalues is no gap.
    rounding = 4.0 * len(values) * np.finfo(np.float64).eps * np.abs(values).max()
    apart = np.diff(values, prepend=-np.inf, append=np.inf) - rounding
    return turn(np.minimum(apart[:-1], apart[1:]), noise)


@checked(noise=Number(0.0), feature_noise=Number(0.0), power=Integer(1), n_pairs=Integer(1) | None)
def score_bound(
    L,
    noise: float,
    *,
    n_pairs: int | None = None,
    power: int = 1,
    feature_noise: float = 0.0,
) -> float:
    r"""Limit of the change of a sum of squared cosines times powers of eigenvalues.

    For unit vectors f and :math:`\tilde f` with :math:`\|\tilde f - f\| \le \epsilon`, and
    :math:`\alpha_j`, :math:`\tilde\alpha_j` their cosines with the j-th eigenvectors of
    :math:`\mathcal L` and :math:`\mathcal L + E`,

    .. math::
       \Big|\sum_{j \le q} \tilde\alpha_j^2 \tilde\lambda_j^r -
       \sum_{j \le q} \alpha_j^2 \lambda_j^r\Big| \le
       \sum_{j \le q} \Big[(\lambda_j + \|E\|)^r - \lambda_j^r
       + \lambda_j^r (s_j + 2\epsilon + \epsilon^2)\Big]

    with :math:`s_j` the :func:`eigengap_bound`.

    Parameters
    ----------
    L : array-like or sparse matrix of shape (n, n), or array-like of shape (n,)
        Symmetric matrix without negative eigenvalues, or its eigenvalues.
    noise : float
        :math:`\|E\|_2`.
    n_pairs : int, optional
        q, the number of leading eigenpairs; all if None.
    power : int, default=1
        r.
    feature_noise : float, default=0.0
        :math:`\epsilon`.

    Returns
    -------
    float

    Notes
    -----
    Proof: one term changes by :math:`\tilde\alpha_j^2(\tilde\lambda_j^r - \lambda_j^r) +
    \lambda_j^r(\tilde\alpha_j^2 - \alpha_j^2)`. By Weyl and since :math:`x^r` is convex,
    :math:`|\tilde\lambda_j^r - \lambda_j^r| \le (\lambda_j + \|E\|)^r - \lambda_j^r`, also if
    :math:`\tilde\lambda_j` is negative. The projectors onto two unit vectors at angle
    :math:`\theta` differ by :math:`\sin\theta` in norm, so turning the eigenvector changes the
    squared cosine by at most :math:`s_j`, and moving f by at most
    :math:`2\epsilon + \epsilon^2`.

    For r = 1 this is theorem 2.6.3 of the book. Theorem 2.6.4, for higher powers, has
    :math:`\|E\|\,((\rho+1)^r - 1)/\rho\;\lambda_j^{r-1}` with
    :math:`\rho\lambda_j \ge \tilde\lambda_j - \lambda_j` for all j in place of the first
    difference. No such :math:`\rho` exists if a zero eigenvalue grows, and the inequality fails
    for even powers if an eigenvalue becomes negative; the form above needs neither.

    The sum over all pairs is :math:`f^T \mathcal L^r f`, which needs no gaps: its change is at
    most :math:`(\lambda_n + \|E\|)^r - \lambda_n^r + \lambda_n^r(2\epsilon + \epsilon^2)`. The
    smaller bound is returned.

    Examples
    --------
    >>> from columnist.spectral.stability import score_bound
    >>> round(score_bound([0.0, 0.1, 1.0, 1.01], 0.02, n_pairs=2), 4)
    0.0604
    """
    values = _eigenvalues(L)
    if values[0] < -1e-10 * max(1.0, values[-1]):
        raise ValueError(f"L has the negative eigenvalue {values[0]:.3g}; a Laplacian has none.")
    values = np.maximum(values, 0.0)
    q = len(values) if n_pairs is None else n_pairs
    if q > len(values):
        raise ValueError(f"n_pairs must be at most the size of L, {len(values)}; got {q}.")
    turns = eigengap_bound(values, noise) + feature_noise * (2.0 + feature_noise)
    by_pair = growth(values, noise, power) + turns * values**power
    bound = float(by_pair[:q].sum())
    if q < len(values):
        return bound
    top, moved = values[-1], feature_noise * (2.0 + feature_noise)
    return min(bound, float(growth(top, noise, power) + moved * top**power))


def growth(values, noise: float, power: int):
    """(values + noise)^power - values^power."""
    return (values + noise) ** power - values**power


def turn(gaps, noise: float) -> np.ndarray:
    """Bound of the sine of an angle, for every gap."""
    gaps = np.asarray(gaps, dtype=np.float64)
    ratio = np.divide(2.0 * noise, gaps, out=np.ones_like(gaps), where=gaps > 0.0)
    return np.where(ratio < 1.0, np.sin(0.5 * np.arcsin(np.minimum(ratio, 1.0))), 1.0)


def _eigenvalues(L) -> np.ndarray:
    """Ascending eigenvalues of a symmetric matrix; or they themselves."""
    L = L.toarray() if sp.issparse(L) else np.asarray(L, dtype=np.float64)
    if L.ndim == 1 and len(L):
        return np.sort(check_array(L[:, None], input_name="L").ravel())
    L = check_array(L, dtype=np.float64, input_name="L")
    if L.shape[0] != L.shape[1] or abs(L - L.T).max() > 1e-8 * abs(L).max():
        raise ValueError(f"L must be a symmetric matrix, or its eigenvalues; got shape {L.shape}.")
    return scipy.linalg.eigvalsh(L)
