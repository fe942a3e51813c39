"""The best threshold of a score for each label."""

from __future__ import annotations

import numpy as np

__all__ = ["optimal_thresholds"]

# Scores closer than this share of the largest differ by rounding only: no cut goes between.
_TIED = 1e-12
# Where a threshold of scores that estimate 0 and 1 is expected.
_MIDDLE = 0.5


def optimal_thresholds(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Thresholds t such that ``scores > t`` makes the fewest mistakes on each label.

    The c lowest scores are called negative, for every c that separates distinct scores; a
    cumulative sum over the sorted scores counts the mistakes of all cuts at once. Among equally
    good cuts the one whose interval of thresholds holds 0.5 wins, else the one nearest to it.
    The threshold is the middle of its interval. When calling everything negative (or positive)
    is best it is still finite: 0.5 if that is beyond all scores, else half of the range of the
    scores beyond the last of them. No input validation.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite scores.
    labels : ndarray of shape (n_samples, n_labels)
        Zeros and ones.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._thresholds import optimal_thresholds
    >>> scores = np.array([[0.1], [0.2], [0.4], [0.3]])
    >>> optimal_thresholds(scores, np.array([[0], [0], [1], [1]]))
    array([0.25])
    """
    # One row per label: its scores lie side by side.
    scores = np.ascontiguousarray(scores.T)
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    mistakes = _mistakes(np.take_along_axis(labels.T > 0, order, axis=1))
    rounding = _TIED * np.maximum(-scores[:, :1], scores[:, -1:])
    mistakes[:, 1:-1][scores[:, 1:] - scores[:, :-1] <= rounding] = np.iinfo(np.intp).max
    low, high = _intervals(scores)
    beyond = np.maximum(np.maximum(low - _MIDDLE, _MIDDLE - high), 0.0)
    beyond[mistakes > mistakes.min(axis=1, keepdims=True)] = np.inf
    cut = np.arange(len(scores)), beyond.argmin(axis=1)
    return _middle(low[cut], high[cut], scores[:, -1] - scores[:, 0])


def _intervals(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the thresholds below which 0, 1, ..., all of the sorted scores fall."""
    end = np.full((len(scores), 1), np.inf)
    return np.hstack([-end, scores]), np.hstack([scores, end])


def _mistakes(positive: np.ndarray) -> np.ndarray:
    """Mistakes when the c first samples are called negative, c = 0, 1, ..., all."""
    start = np.count_nonzero(~positive, axis=1, keepdims=True)
    return np.hstack([start, start + np.cumsum(np.where(positive, 1, -1), axis=1)])


def _middle(low: np.ndarray, high: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """A finite number in each interval [low, high), its middle unless an end is infinite."""
    margin = np.where(spread > 0.0, 0.5 * spread, 0.5)
    above = np.where(low < _MIDDLE, _MIDDLE, low + margin)
    below = np.where(high > _MIDDLE, _MIDDLE, high - margin)
    bounded = np.where(np.isinf(high), above, np.where(np.isinf(low), below, 0.0))
    finite = np.isfinite(low) & np.isfinite(high)
    middle = 0.5 * np.where(finite, low, 0.0) + 0.5 * np.where(finite, high, 0.0)
    return np.where(finite, middle, bounded)
