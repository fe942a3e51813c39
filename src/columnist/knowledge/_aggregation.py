r"""Aggregation of rankings: a mixture with learnt weights, or Borda's method.

List l ranks feature i at :math:`r_{li}` and gives it the probability

.. math:: P(r) = e^{1/r} / B, \qquad B = \sum_{j=1}^m e^{1/j},

of being the relevant one. With weights :math:`\pi` of the lists a feature has the probability
:math:`\sum_l \pi_l P(r_{li})`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.data._parameters import Number, StrOptions, checked
from columnist.linalg._ties import ranked

# How rankings are aggregated.
METHOD = StrOptions("em", "borda")

# A ranking with more than this share of the weight is reported as dominant.
_COLLAPSED = 0.99
# Rounding of a logarithm near 0, and of their mean.
_ROUNDING = 1e-15
# Weights that take no part in a step of Newton's.
_NEGLIGIBLE = 1e-8
# Growth of the steps of EM while they succeed.
_GROWTH = 1.5


@dataclass(frozen=True)
class RankAggregation:
    """Result of :func:`aggregate_rankings`."""

    features: np.ndarray
    """Features, sorted; the order of ``scores`` and of the columns of ``contributions``."""
    ranking: np.ndarray
    """Features, best first."""
    scores: np.ndarray
    """Probability (EM) or mean points (Borda) of every feature; larger is better."""
    weights: np.ndarray
    """Weights of the rankings, which sum to 1."""
    contributions: np.ndarray
    """What every ranking (row) adds to the score of every feature (column)."""
    log_likelihood: np.ndarray
    """Log-likelihood after every iteration of EM, never falling; empty for Borda."""
    gap: float
    """How much larger the log-likelihood could be at most; 0 for Borda."""


def aggregate_rankings(
    rankings: Sequence,
    method: str = "em",
    *,
    known: Sequence | None = None,
    weights: Sequence[float] | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-8,
) -> RankAggregation:
    r"""Combine several rankings into one.

    Parameters
    ----------
    rankings : sequence of sequences
        Rankings of the same features (names or numbers), best first. A list or set within a
        ranking holds features that tie.
    method : {"em", "borda"}, default="em"
        ``"em"`` learns the weights of the rankings that make the features of ``known`` most
        likely; ``"borda"`` adds up :math:`(m - r) / m`.
    known : sequence, optional
        Features known to be relevant, for ``"em"``; all features if None. The weights then favour
        rankings that agree with the others.
    weights : sequence of float, optional
        Weights of the rankings, for ``"borda"``; equal if None.
    max_iter : int, default=10000
        Iterations of EM at most.
    tol : float, default=1e-8
        EM stops when the log-likelihood is within ``tol`` of its maximum.

    Returns
    -------
    RankAggregation

    Warns
    -----
    UserWarning
        If nearly all weight goes to one ranking, which happens easily with few known features.

    Notes
    -----
    The log-likelihood is concave in the weights, so that its maximum does not depend on where EM
    starts, and the gradient bounds the distance from the maximum. Longer steps than those of EM
    and steps of Newton are tried as well, and taken if the log-likelihood does not fall.

    Ties are broken by the mean rank in all rankings, then by feature. Without ties and known
    features the weights never collapse onto one ranking unless all are equal: every ranking
    holds the same probabilities in another order, and the mean ratio of two is at least 1.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*, section 6.3.3.

    Examples
    --------
    >>> from columnist.knowledge import aggregate_rankings
    >>> lists = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["d", "c", "b", "a"]]
    >>> aggregate_rankings(lists, "borda").ranking
    array(['b', 'a', 'c', 'd'], dtype=object)
    >>> result = aggregate_rankings(lists, known=["a", "d"])
    >>> result.weights.round(2)
    array([0.5, 0. , 0.5])
    """
    features, levels = _read_rankings(rankings)
    if known is not None:
        known = _places(known, features)
    result = aggregate_levels(
        levels, method, known=known, weights=weights, max_iter=max_iter, tol=tol
    )
    objects = np.array(features, dtype=np.intp if _all_integers(features) else object)
    return replace(result, features=objects, ranking=objects[result.ranking])


@checked(method=METHOD, tol=Number(0.0))
def aggregate_levels(
    levels: np.ndarray,
    method: str = "em",
    *,
    known: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-8,
    names: Sequence[str] | None = None,
) -> RankAggregation:
    """:func:`aggregate_rankings` for levels (rows) of features (columns); equal levels tie."""
    _check_options(method, known, weights)
    n_lists, n_features = levels.shape
    names = [f"number {i}" for i in range(n_lists)] if names is None else list(names)
    mean_ranks = rankdata(levels, "average", axis=1)
    history: list[float] = []
    gap = 0.0
    if method == "borda":
        share = _shares(weights, n_lists)
        points = (n_features - mean_ranks) / n_features
    else:
        points = _probabilities(levels, mean_ranks.mean(axis=0))
        part = points if known is None else points[:, known]
        share, history, gap = _mixture_weights(part, max_iter, tol)
        _warn_of_collapse(share, names)
    contributions = share[:, None] * points
    scores = contributions.sum(axis=0)
    features = np.arange(n_features)
    order = ranked(scores)
    return RankAggregation(features, order, scores, share, contributions, np.array(history), gap)


def _probabilities(levels: np.ndarray, tie_break: np.ndarray) -> np.ndarray:
    """P(r) of every feature in every list, ties broken by ``tie_break``, then by index."""
    n_features = levels.shape[1]
    falling = np.exp(1.0 / np.arange(1, n_features + 1))
    falling /= falling.sum()
    points = np.empty(levels.shape)
    for row, level in zip(points, levels, strict=True):
        row[np.lexsort((tie_break, level))] = falling
    return points


def _mixture_weights(
    P: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, list[float], float]:
    """Weights of the rows of P that maximise the sum of log(weights @ P), by EM."""
    n_lists, n_known = P.shape
    unit = P.mean()  # near 1 logarithms are small, and so is their rounding
    P, slack = P / unit, _ROUNDING * n_known
    logs = np.full(n_lists, -np.log(n_lists))
    mixture = np.exp(logs) @ P
    history, step = [float(np.log(mixture).sum())], 1.0
    for _ in range(max_iter):
        # Mean of the responsibilities over the weight; also the gradient over n_known.
        gains = (P / mixture).mean(axis=1)
        if n_known * (gains.max() - 1.0) <= tol:
            break
        trials = [_normalized(logs + step * np.log(gains)), _newton(logs, P / mixture)]
        values = [float(np.log(np.exp(trial) @ P).sum()) for trial in trials]
        best = int(values[1] >= values[0] - slack)
        # A step of EM cannot fall but by rounding; a longer one can.
        if step > 1.0 and values[best] < history[-1] - slack:
            step = 1.0
            continue
        step = step * _GROWTH if values[0] >= history[-1] else 1.0
        logs, mixture = trials[best], np.exp(trials[best]) @ P
        history.append(max(values[best], history[-1]))
    else:
        warn_caller(
            f"EM stopped after {max_iter} iterations; the log-likelihood may be "
            f"{n_known * (gains.max() - 1.0):.1e} below its maximum. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    history = [value + n_known * np.log(unit) for value in history]
    return np.exp(logs), history, n_known * max(float(gains.max()) - 1.0, 0.0)


def _newton(logs: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Newton's step for the weights that are not nearly zero, kept positive; in logarithms."""
    weights = np.exp(logs)
    free = weights > _NEGLIGIBLE
    R, n_free = ratios[free], int(free.sum())
    system = np.ones((n_free + 1, n_free + 1))
    system[:-1, :-1], system[-1, -1] = R @ R.T, 0.0
    right = np.append(R.sum(axis=1), 0.0)
    step = np.linalg.lstsq(system, right, rcond=None)[0][:-1]
    longest = np.min(weights[free] / np.maximum(-step, weights[free]))
    moved = logs.copy()
    moved[free] = np.log(weights[free] + (1.0 if longest == 1.0 else 0.9 * longest) * step)
    return _normalized(moved)


def _normalized(logs: np.ndarray) -> np.ndarray:
    logs = logs - logs.max()
    return logs - np.log(np.exp(logs).sum())


def _warn_of_collapse(share: np.ndarray, names: Sequence[str]) -> None:
    best = int(np.argmax(share))
    if len(share) > 1 and share[best] > _COLLAPSED:
        warn_caller(
            f"EM gives {share[best]:.1%} of the weight to ranking {names[best]!r}: the others "
            "have hardly any influence. Name more known features, or use Borda."
        )


def _shares(weights: Sequence[float] | None, n_lists: int) -> np.ndarray:
    if weights is None:
        return np.full(n_lists, 1.0 / n_lists)
    if len(weights) != n_lists:
        raise ValueError(f"{n_lists} rankings need as many weights; got {len(weights)}.")
    for weight in weights:
        Number(0.0).check("weights", weight)
    total = float(sum(weights))
    if total == 0.0:
        raise ValueError("At least one weight must be positive.")
    return np.asarray(weights, dtype=np.float64) / total


def _check_options(method: str, known, weights) -> None:
    if method == "em" and weights is not None:
        raise ValueError("EM learns the weights: give none, or use method='borda'.")
    if method == "borda" and known is not None:
        raise ValueError("Borda does not learn from known features: use method='em'.")
    if known is not None and not len(known):
        raise ValueError("known is empty: name at least one feature, or pass None.")


def _read_rankings(rankings) -> tuple[list, np.ndarray]:
    """Sorted features, and their levels in every ranking."""
    rankings = list(rankings)
    if not rankings:
        raise ValueError("There are no rankings to aggregate.")
    placed = [_levels_by_name(ranking, i) for i, ranking in enumerate(rankings)]
    features = placed[0].keys()
    for i, other in enumerate(placed[1:], start=1):
        odd = sorted(map(str, features ^ other.keys()))
        if odd:
            raise ValueError(
                f"Rankings 0 and {i} are of different features: only one of them has "
                f"{', '.join(odd[:5])}{' ...' if len(odd) > 5 else ''}."
            )
    ordered = sorted(features) if _all_integers(features) else sorted(features, key=str)
    return ordered, np.array([[place[f] for f in ordered] for place in placed])


def _levels_by_name(ranking, number: int) -> dict:
    """Level of every feature in one ranking."""
    if isinstance(ranking, str) or not np.iterable(ranking):
        raise ValueError(f"Ranking {number} must be a sequence of features; got {ranking!r}.")
    levels: dict = {}
    for level, entry in enumerate(_plain(ranking)):
        for feature in entry if isinstance(entry, (list, set, frozenset)) else [entry]:
            if feature in levels:
                raise ValueError(f"Ranking {number} has {feature!r} more than once.")
            levels[feature] = level
    if not levels:
        raise ValueError(f"Ranking {number} is empty.")
    return levels


def _places(known, features: list) -> list[int]:
    place = {feature: i for i, feature in enumerate(features)}
    known = list(dict.fromkeys(_plain(known)))
    absent = [feature for feature in known if feature not in place]
    if absent:
        raise ValueError(f"known has features that no ranking has: {absent[:5]}.")
    return [place[feature] for feature in known]


def _plain(values):
    return np.asarray(values).tolist() if hasattr(values, "__array__") else values


def _all_integers(features) -> bool:
    return all(isinstance(f, (int, np.integer)) for f in features)
