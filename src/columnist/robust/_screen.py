r"""How much better than a given choice any other can be, from a few numbers a row.

Let K be the n - k rows that a choice keeps, L their best r-dimensional (affine) subspace,
:math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of their scatter, E their error. Let K' be
any other n - k rows, with best subspace L'. Turn from L to L': with :math:`w_j` the squared part of
the j-th axis of L outside the directions of L', and :math:`\delta` the distance of the mean of K
from L' within the directions orthogonal to L' (zero if the centre is given), rows of K lie from L'

.. math::

    \sum_K d'^2 \ge E + s^2, \qquad
    s^2 = \sum_{j \le r} (\lambda_j - \lambda_{r+1}) w_j + |K| \delta^2,

because the other axes hold at most :math:`\lambda_{r+1}` each. A row at the distance d from L, with
coordinates t within it, has from L' the distance d' with

.. math::

    \sqrt{1 - s^2 / (\lambda_r - \lambda_{r+1})}\; d - h s \;\le\; d' \;\le\; d + h s, \qquad
    h^2 = \sum_{j \le r} \frac{t_j^2}{\lambda_j - \lambda_{r+1}} + \frac{1}{|K|},

by Cauchy's inequality (without the last term if the centre is given); and d' is at most
:math:`|x - m| + \delta`. Now K' differs from K by swaps: it gives up rows of K and takes as many
removed ones. So

.. math:: E' \ge E + s^2 - F(s), \qquad F(s) = \max_j \; (A_j - B_j)_+,

where :math:`A_j` bounds the sum of d'^2 over any j rows of K from above, and :math:`B_j` that over
any j removed rows from below. There are two such bounds, and the better one counts. One adds up
the largest, or smallest, bounds on d' of single rows. But many rows cannot all see the worst turn
at once: with H the sum of :math:`\hat h \hat h^T` over the rows, :math:`\hat h` being the vector
whose norm is h, the turn moves the root of their sum of d'^2 by at most
:math:`s \sqrt{\lambda_1(H)}`.

F grows with s, so going through intervals of s gives a bound for all choices; and where E' < E is
to hold, s is at most such that F(s) exceeds :math:`s^2`. With many rows h is tiny (the root of a
leverage), F(s) falls below :math:`s^2` for all s, and the choice is proven optimal; otherwise
only the rows whose bounds still overlap can change places.

No input validation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from columnist.linalg._rounding import AGREEMENT

__all__ = ["Rows", "Screened", "screen"]

# Ratio of the ends of an interval of s, also where so many rows take long; most intervals.
_RATIO, _COARSE, _LONG = 0.97, 0.7, 1_000_000
_INTERVALS = 600


@dataclass(frozen=True)
class Rows:
    """Rows measured from the subspace of a choice.

    Attributes
    ----------
    distances, slopes, lengths : ndarray of shape (n,)
        d and h as above, and distances from the centre.
    noise : ndarray of shape (n,)
        Rounding of the distances and lengths.
    removed : ndarray of bool
        Rows that the choice removes.
    gap : float
        The smallest difference of eigenvalues (infinite without components).
    drift : float
        Largest movement of the centre for every unit of s: 1 / sqrt(kept rows), or 0.
    turn : float
        Root of the largest eigenvalue of H for all removed rows, or infinity.
    """

    distances: np.ndarray
    slopes: np.ndarray
    lengths: np.ndarray
    noise: np.ndarray
    removed: np.ndarray
    gap: float
    drift: float
    turn: float = math.inf

    def of(self, which: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(
            self.distances[which], self.slopes[which], self.lengths[which], self.noise[which],
            self.removed[which], self.gap, self.drift, self.turn,
        )  # fmt: skip

    def upper(self, s: float) -> np.ndarray:
        """Largest distances from a subspace that is s away."""
        turned = self.distances + self.slopes * s
        return np.minimum(turned, self.lengths + self.drift * s) + self.noise

    def lower(self, s: float) -> np.ndarray:
        """Smallest distances."""
        shrunk = self.shrinkage(s) * (self.distances - self.noise)
        return np.maximum(shrunk - self.slopes * s, 0.0)

    def shrinkage(self, s: float) -> float:
        """What a turn leaves of a distance, at least."""
        return math.sqrt(max(1.0 - s * s / self.gap, 0.0)) if self.gap > 0.0 else 0.0


@dataclass(frozen=True)
class Screened:
    """What is known of all choices.

    Attributes
    ----------
    lower_bound : float
        No choice has a smaller error.
    settled_bound : float
        No choice has one that differs in rows other than the ``free`` ones.
    free : ndarray of bool
        Rows that a choice better than ``settled_bound`` may keep or remove; it has all others
        where they are.
    """

    lower_bound: float
    settled_bound: float
    free: np.ndarray


def screen(rows: Rows, error: float, slack: float) -> Screened:
    """Bound the errors of all choices that remove as many rows.

    Parameters
    ----------
    rows : Rows
        All rows, as the choice sees them.
    error : float
        Error of the choice, not rounded up.
    slack : float
        Differences of errors up to this do not matter.

    Returns
    -------
    Screened
    """
    k = int(np.count_nonzero(rows.removed))
    s = _farthest_subspace(rows, min(k, len(rows.removed) - k))
    if not math.isfinite(s):
        return Screened(0.0, error, np.ones(len(rows.removed), dtype=bool))
    settled, still_open, reach = 0.0, 0.0, 0.0
    swaps = _Swaps(rows, min(k, len(rows.removed) - k))
    for last in (*[False] * _INTERVALS, True):
        gain = swaps.gain(s)
        # The last interval holds the subspaces next to that of the choice itself.
        least = 0.0 if last or gain <= slack else s * swaps.ratio
        loss = gain - least * least
        if loss <= slack and not reach:
            settled = max(settled, loss)
        else:
            reach, still_open = reach or s, max(still_open, loss)
        if least == 0.0:
            break
        s = least
    lowest = max(error - max(settled, still_open), 0.0)
    free = _undecided(rows, k, reach) if reach else np.zeros(len(rows.removed), dtype=bool)
    return Screened(lowest, max(error - settled, 0.0), free)


def _farthest_subspace(rows: Rows, swaps: int) -> float:
    """No better choice has a subspace farther away than this.

    With at most ``swaps`` rows of K given up, s is at most the root of the sum of their d'^2;
    by Minkowski's inequality s <= |d| + s |h| and s <= |x - m| + s |drift|, each over the rows
    where the terms are largest.
    """

    def size(values: np.ndarray) -> float:
        return float(np.linalg.norm(_largest(values[~rows.removed], swaps)))

    if swaps == 0:
        return 0.0
    found = math.inf
    parts = (
        (rows.distances, size(rows.slopes)),
        (rows.lengths, math.sqrt(swaps) * rows.drift),
    )
    for values, share in parts:
        if share < 1.0:
            found = min(found, size(values + rows.noise) / (1.0 - share))
    return found * (1.0 + AGREEMENT)


class _Swaps:
    """F(s), for s that only falls.

    Parameters
    ----------
    rows : Rows
        All rows.
    count : int
        Most swaps.
    """

    def __init__(self, rows: Rows, count: int):
        self._count, self._shrinkage = count, rows.shrinkage
        self._removed, self._kept = rows.of(rows.removed), rows.of(~rows.removed)
        far = _largest(self._kept.distances + self._kept.noise, count)
        near = np.maximum(self._removed.distances - self._removed.noise, 0.0)
        self._far, self._near = _running(far), _running(np.sort(near)[:count])
        self._kept_turn = _running(_largest(self._kept.slopes, count))
        turn = _running(_largest(self._removed.slopes, count))
        self._removed_turn = np.minimum(turn, rows.turn)
        # Rows that cannot reach this are not among the farthest; a margin for rounding.
        self._floor = (1.0 - AGREEMENT) * far[-1] if count else math.inf

    @property
    def ratio(self) -> float:
        """Ratio of the ends of the next interval."""
        return _RATIO if len(self._kept.removed) <= _LONG else _COARSE

    def gain(self, s: float) -> float:
        """F(s)."""
        upper = self._kept.upper(s)
        relevant = upper >= self._floor
        self._kept, upper = self._kept.of(relevant), upper[relevant]
        gained = np.cumsum(_largest(upper, self._count) ** 2)
        gained = np.minimum(gained, (self._far + s * self._kept_turn) ** 2)
        left = self._shrinkage(s) * self._near - s * self._removed_turn
        lost = np.cumsum(np.sort(self._removed.lower(s))[: self._count] ** 2)
        lost = np.maximum(lost, np.maximum(left, 0.0) ** 2)
        return float(np.max(gained - lost, initial=0.0))


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """The largest values, descending."""
    if count == 0:
        return values[:0]
    start = len(values) - count
    return np.sort(np.partition(values, start)[start:])[::-1]


def _running(values: np.ndarray) -> np.ndarray:
    """Roots of the sums of the first squares."""
    return np.sqrt(np.cumsum(values**2))


def _undecided(rows: Rows, k: int, s: float) -> np.ndarray:
    """Rows that may be among the k farthest, but need not."""
    upper, lower = rows.upper(s), rows.lower(s)
    n = len(upper)
    surely = np.partition(lower, n - k)[n - k]
    possibly = np.partition(upper, n - k - 1)[n - k - 1]
    return np.where(rows.removed, lower <= possibly, upper >= surely)
