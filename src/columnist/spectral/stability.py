r"""Robustness of rankings of features to noise.

Noise turns the normalised Laplacian :math:`\mathcal L` of a graph into
:math:`\tilde{\mathcal L} = \mathcal L + E`; its *level* is
:math:`\alpha = \|E\|_2 / \|\mathcal L\|_2`. Its effect is measured in two ways:

- in the worst case: :func:`weyl_bound`, :func:`eigengap_bound` and :func:`score_bound` limit
  the change of eigenvalues, eigenvectors and scores, and :func:`noise_threshold` is a level
  below which no noise can make a feature of a set change places with one outside;
- by simulation: :func:`inject_noise` and :func:`perturb_laplacian` draw noise of a given level, and
  :func:`ranking_stability` reports the level at which the features change places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from sklearn.utils.validation import check_array, check_consistent_length

from columnist.data._parameters import Integer, StrOptions, checked
from columnist.data._validation import random_generator, resolve_columns
from columnist.linalg._passes import column_blocks, columns_of
from columnist.linalg._reduce import squaring_scale
from columnist.spectral._graph import Gamma, Graph, phi, resolve_gamma
from columnist.spectral._noise import (
    SHARES,
    NoisyGraph,
    blur,
    blurred,
    check_rebuilt,
    eigengap_bound,
    growth,
    inject_noise,
    perturb_laplacian,
    score_bound,
    spectral_norm,
    turn,
    weyl_bound,
)
from columnist.spectral._similarity import resolve_similarity
from columnist.spectral._spec import SpectralSelector

__all__ = [
    "NoisyGraph",
    "RankingStability",
    "ScoreStability",
    "blur",
    "eigengap_bound",
    "inject_noise",
    "noise_threshold",
    "perturb_laplacian",
    "ranking_stability",
    "score_bound",
    "weyl_bound",
]

_SCORES = ("phi1", "phi2", "phi3")
# Scores are computed to about this accuracy; smaller margins prove nothing.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ScoreStability:
    """Robustness of the ranking by one score to noise.

    Attributes
    ----------
    score : str
        The score.
    guaranteed : float
        Level below which no noise that keeps the degrees mixes up the features.
    levels, shares : ndarray of shape (n_repeats,)
        Level of the Laplacian's noise, and share of noise in the data, at which the features
        were first mixed up; those of the most noise that was tried if they never were.
    survived : float
        Share of the draws in which they never were.
    """

    score: str
    guaranteed: float
    levels: np.ndarray = field(repr=False)
    shares: np.ndarray = field(repr=False)
    survived: float

    @property
    def observed(self) -> float:
        """Mean level."""
        return float(self.levels.mean())

    @property
    def observed_share(self) -> float:
        """Mean share."""
        return float(self.shares.mean())


@dataclass(frozen=True)
class RankingStability:
    """Result of :func:`ranking_stability`.

    Attributes
    ----------
    features : tuple of int
        Features that should rank before all others.
    results : tuple of ScoreStability
        One per score; ``stability["phi2"]`` finds one by name.
    n_repeats : int
        Draws of noise.
    """

    features: tuple[int, ...]
    results: tuple[ScoreStability, ...]
    n_repeats: int

    def __getitem__(self, score: str) -> ScoreStability:
        for result in self.results:
            if result.score == score:
                return result
        raise KeyError(score)

    def __repr__(self) -> str:
        lines = [
            f"Noise until features {list(self.features)} mix with others ({self.n_repeats} draws)",
            "score  guaranteed  observed  share of noise  survived",
        ]
        for row in self.results:
            lines.append(
                f"{row.score:<5}  {row.guaranteed:10.4f}  {row.observed:8.3f}  "
                f"{row.observed_share:14.3f}  {row.survived:8.0%}"
            )
        return "\n".join(lines)


@checked(score=StrOptions(*_SCORES))
def noise_threshold(
    X,
    features,
    *,
    score: str = "phi2",
    gamma="identity",
    n_clusters: int | None = None,
    similarity="knn",
    n_neighbors: int = 5,
    width: float | str = "auto",
) -> float:
    r"""Level of noise below which no feature of a set can rank below one outside it.

    The guarantee is for every symmetric E that keeps the degrees of the samples, that is,
    :math:`E \xi_1 = 0` for the trivial eigenvector.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    features : sequence of int
        The set.
    score : {"phi1", "phi2", "phi3"}, default="phi2"
        Score; see :class:`~columnist.spectral.SpectralSelector`.
    gamma : {"identity", "square", "cube"} or int, default="identity"
        Power of the eigenvalues, an integer.
    n_clusters : int, optional
        k of ``"phi3"``; chosen as by :class:`~columnist.spectral.SpectralSelector` if None.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        Similarity of the samples.
    n_neighbors, width
        Options of the similarity.

    Returns
    -------
    float
        Level :math:`\alpha = \|E\|_2 / \|\mathcal L\|_2`; 0 if the set is not ahead as it is.

    Notes
    -----
    Every score is a quadratic form :math:`g^T M g`, M a function of the Laplacian and g a
    prepared feature without its trivial part, so that the difference of two features changes by at
    most :math:`\|\tilde M - M\|_2 \|g_a g_a^T - g_b g_b^T\|_*`, with the sum of singular values
    :math:`\sqrt{(\|g_a\|^2 + \|g_b\|^2)^2 - 4(g_a^T g_b)^2}`. For the first two scores and
    :math:`\gamma(\lambda) = \lambda^r`, :math:`\|\tilde M - M\|_2 \le (\lambda_n + \|E\|)^r -
    \lambda_n^r`. For r = 1 nothing is lost: a larger E can swap two features. For
    the third score there is the turning of the leading eigenvectors as well, at most
    :math:`\sin(\tfrac12\arcsin(2\|E\|/(\lambda_{k+1} - \lambda_k)))` times
    :math:`2^r - \lambda_2^r`.

    Takes all eigenvalues of the Laplacian.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral.stability import noise_threshold
    >>> X = load_iris().data
    >>> round(noise_threshold(X, [2, 3]), 3)
    0.004
    """
    X = _data(X)
    features = _checked_set(features, X.shape[1])
    S = resolve_similarity(similarity, X, n_neighbors=n_neighbors, width=width)
    spectrum = _Spectrum.of(Graph.of(S), n_clusters)
    return _guarantee(X, features, spectrum, score, resolve_gamma(gamma))


@checked(n_repeats=Integer(1))
def ranking_stability(
    X,
    features,
    *,
    graph_data=None,
    scores: str | Sequence[str] = _SCORES,
    gamma="identity",
    n_clusters: int | None = None,
    similarity="knn",
    n_neighbors: int = 5,
    width: float | str = "auto",
    shares: Sequence[float] | None = None,
    n_repeats: int = 20,
    random_state=None,
) -> RankingStability:
    """Level of noise at which the ranking of features changes.

    The data behind the graph are blurred more and more, and the features scored on the new graph,
    until one of the set ranks behind one outside.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features to rank; no noise is added to them.
    features : sequence of int
        Those that should rank before all others.
    graph_data : array-like of shape (n_samples, n_columns), optional
        Data that the graph is made of, to which noise is added; X if None.
    scores : str or sequence of {"phi1", "phi2", "phi3"}
        Scores to compare; all by default.
    gamma : {"identity", "square", "cube"} or int, default="identity"
        Power of the eigenvalues, an integer.
    n_clusters : int, optional
        k of ``"phi3"``; chosen as by :class:`~columnist.spectral.SpectralSelector`, without
        noise, if None.
    similarity : str or callable, default="knn"
        Similarity of the samples: a name, or a function of the data.
    n_neighbors, width
        Options of the similarity.
    shares : sequence of float, optional
        Shares of noise to try, ascending; 0.025, 0.05, ..., 1 if None.
    n_repeats : int, default=20
        Draws of noise.
    random_state : int, RandomState or None, default=None
        For repeatable noise.

    Returns
    -------
    RankingStability
        With a guaranteed level and an observed one per score.

    Notes
    -----
    The guarantee (:func:`noise_threshold`) is for the worst noise that keeps the degrees. Noise in
    the data is usually less harmful, and also changes the degrees: the guarantee is not a bound for
    what is observed, though usually below it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral.stability import ranking_stability
    >>> ranking_stability(load_iris().data, [2, 3], scores=["phi2"], n_repeats=5, random_state=0)
    Noise until features [2, 3] mix with others (5 draws)
    score  guaranteed  observed  share of noise  survived
    phi2       0.0040     0.655           0.755        0%
    """
    X = _data(X)
    features = _checked_set(features, X.shape[1])
    scores = [scores] if isinstance(scores, str) else list(scores)
    for score in scores:
        StrOptions(*_SCORES).check("scores", score)
    check_rebuilt(similarity)
    levels = _checked_shares(shares)
    Z = _graph_data(X, graph_data)
    gamma, rng = resolve_gamma(gamma), random_generator(random_state)
    options: dict[str, Any] = {"n_neighbors": n_neighbors, "width": width}

    def graph_of(data) -> Graph:
        return Graph.of(resolve_similarity(similarity, data, **options))

    spectrum = _Spectrum.of(graph_of(Z), n_clusters)
    guaranteed = [_guarantee(X, features, spectrum, score, gamma) for score in scores]
    found = np.empty((n_repeats, len(scores), 3))
    for draw in found:
        noise = rng.standard_normal(Z.shape)
        graphs = ((share, graph_of(blurred(Z, share, noise))) for share in levels)
        draw[:] = _first_swaps(X, features, spectrum, scores, gamma, graphs)
    per_score = zip(scores, guaranteed, np.moveaxis(found, 0, 2), strict=True)
    results = (
        ScoreStability(score, least, level, share, float(survived.mean()))
        for score, least, (level, share, survived) in per_score
    )
    return RankingStability(tuple(features), tuple(results), n_repeats)


@dataclass(frozen=True)
class _Spectrum:
    """A graph, its Laplacian's eigenvalues but the trivial one, and the number of clusters."""

    graph: Graph
    values: np.ndarray
    n_clusters: int
    laplacian: np.ndarray

    @classmethod
    def of(cls, graph: Graph, n_clusters: int | None) -> _Spectrum:
        if n_clusters is not None:
            Integer(2).check("n_clusters", n_clusters)
        count = SpectralSelector(n_clusters=n_clusters)._count_clusters(graph, None)
        return cls(graph, graph.spectrum()[0][1:], count, graph.laplacian())

    @property
    def size(self) -> float:
        """Norm of the Laplacian."""
        return float(np.abs(self.values).max())


def _first_swaps(
    X, features, clean: _Spectrum, scores, gamma, graphs: Iterator[tuple[float, Graph]]
) -> np.ndarray:
    """Per score: level and share of noise at the first swap (or the end), and whether none was."""
    found = np.full((len(scores), 3), np.nan)
    found[:, 2] = 1.0
    for share, graph in graphs:
        open_ones = np.flatnonzero(found[:, 2])
        if not len(open_ones):
            break
        level = None
        for i in open_ones:
            values = _oriented(X, graph, scores[i], gamma, clean.n_clusters)
            found[i, 1] = share
            if not _ahead(values, features):
                found[i, 2] = 0.0
                level = _level(clean, graph) if level is None else level
                found[i, 0] = level
        last = graph
    for i in np.flatnonzero(found[:, 2]):
        found[i, 0] = _level(clean, last)
    return found


def _ahead(values: np.ndarray, features: list[int]) -> bool:
    """Whether all features of the set rank before all others; larger is better, NaN is last."""
    others = np.delete(values, features)
    others = others[~np.isnan(others)]
    return bool(values[features].min() > others.max(initial=-np.inf))


def _oriented(X, graph: Graph, score: str, gamma: Gamma, n_clusters: int) -> np.ndarray:
    """Scores, larger is better."""
    values = phi(score, X, graph, gamma, n_clusters)
    return values if score == "phi3" else -values


def _guarantee(X, features: list[int], spectrum: _Spectrum, score: str, gamma: Gamma) -> float:
    """The level of :func:`noise_threshold`."""
    if gamma.power is None:
        raise ValueError("A guarantee needs an integer power of the eigenvalues as gamma.")
    values = _oriented(X, spectrum.graph, score, gamma, spectrum.n_clusters)
    if np.isnan(values[features]).any():
        raise ValueError("A feature of the set is constant and has no score: leave it out.")
    allowed = _smallest_ratio(X, features, spectrum.graph, score, values)
    if allowed == np.inf:
        return np.inf
    return _noise_for(allowed, spectrum, score, gamma.power) / spectrum.size


def _smallest_ratio(X, features: list[int], graph: Graph, score: str, values) -> float:
    """Least margin over nuclear norm, of pairs of a feature inside and one outside; 0 if none."""
    inside = _prepared(columns_of(X, features), graph, score)
    own, least = np.square(inside).sum(axis=0)[:, None], np.inf
    outside = np.setdiff1d(np.flatnonzero(~np.isnan(values)), features)
    for columns in column_blocks(len(outside), X.shape[0]):
        which = outside[columns]
        part = _prepared(columns_of(X, which), graph, score)
        sums = own + np.square(part).sum(axis=0)
        nuclear = np.sqrt(np.maximum(sums**2 - 4.0 * np.square(inside.T @ part), 0.0))
        margins = values[features][:, None] - values[which] - _ROUNDING
        if (margins <= 0.0).any():
            return 0.0
        with np.errstate(divide="ignore"):
            least = min(least, float((margins / nuclear).min(initial=np.inf)))
    return least


def _prepared(part: np.ndarray, graph: Graph, score: str) -> np.ndarray:
    """Features without their trivial part; of unit length with it, or (phi2) without it."""
    weighted = np.sqrt(graph.degrees)[:, None] * part
    centred = np.sqrt(graph.degrees)[:, None] * graph.centred(part)
    return centred / np.linalg.norm(centred if score == "phi2" else weighted, axis=0)


def _noise_for(allowed: float, spectrum: _Spectrum, score: str, power: int) -> float:
    """Largest noise that changes the matrix of a score by no more than is allowed."""
    values, top = spectrum.values, spectrum.size
    plain = (top**power + allowed) ** (1.0 / power) - top
    if score != "phi3":
        return plain
    k = spectrum.n_clusters
    if k > len(values):
        # All vectors are leading ones, and none can turn out of all space.
        return plain
    gap = values[k - 1] - values[k - 2]
    most = np.abs(2.0**power - values**power).max()

    def excess(noise: float) -> float:
        return growth(top, noise, power) + most * float(turn(gap, noise)) - allowed

    # At half the gap the bound on the turning ends.
    end = min(plain, gap / 2.0 * (1.0 - 1e-9))
    if end <= 0.0 or excess(end) <= 0.0:
        return max(end, 0.0)
    return brentq(excess, 0.0, end, xtol=1e-15 * max(top, 1.0)) * (1.0 - 1e-9)


def _level(clean: _Spectrum, graph: Graph) -> float:
    return spectral_norm(graph.laplacian() - clean.laplacian) / clean.size


def _data(X):
    floats = [np.float64, np.float32]
    X = check_array(X, accept_sparse="csc", dtype=floats, ensure_min_samples=2, input_name="X")
    return _squarable(X)


def _squarable(X):
    """The same data, in other units if their squares could overflow or vanish."""
    scale = squaring_scale(X)
    return X if scale == 1.0 else X / scale


def _graph_data(X, graph_data) -> np.ndarray:
    if graph_data is None and sp.issparse(X):
        raise ValueError("Noise makes sparse data dense: pass dense X, or dense graph_data.")
    if graph_data is None:
        return X.astype(np.float64, copy=False)
    Z = check_array(graph_data, dtype=np.float64, input_name="graph_data")
    check_consistent_length(X, Z)
    return _squarable(Z)


def _checked_set(features, n_features: int) -> list[int]:
    features = resolve_columns("features", features, n_features, None)
    if not 0 < len(features) < n_features:
        raise ValueError(
            f"features must name some of the {n_features} features, but not all; "
            f"got {len(features)}."
        )
    return features


def _checked_shares(shares) -> np.ndarray:
    if shares is None:
        return SHARES
    shares = np.asarray(shares, dtype=np.float64)
    inside = shares.ndim == 1 and len(shares) and (shares >= 0.0).all() and (shares <= 1.0).all()
    if not inside or (np.diff(shares) <= 0.0).any():
        raise ValueError(f"shares must be ascending numbers in [0, 1]; got {shares!r}.")
    return shares
