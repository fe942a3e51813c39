r"""Screening: which rows can be exchanged in a better choice, and a bound on the improvement.

A few numbers per row bound the improvement of any other choice over a given one.

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
only the rows whose bounds still overlap can change places: these are left to a proof by blocks,
beside a handful of rows with the same moments as all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from columnist.linalg._moments import Moments
from columnist.linalg._reduce import power_of_two
from columnist.linalg._rounding import AGREEMENT, EPS, allowance
from columnist.robust._block_proof import BlockProof, Incumbent
from columnist.robust._conditioned import Seen, conditioned
from columnist.robust._errors import WeightedErrors, all_but
from columnist.robust._passes import BASE, CHOSEN, GONE
from columnist.robust._row_data import KeptRows, RowData
from columnist.robust._subspace import rows_about
from columnist.search._run import Run, Strategy

# Ratio of the ends of an interval of s, also where so many rows take long; most intervals.
_RATIO, _COARSE, _LONG = 0.97, 0.7, 1_000_000
_INTERVALS = 600
# Share of what counts as equally good that intervals of the screening, and rounding, may leave.
_SLACK, _HIDDEN = 0.1, 0.01


class Screening(Strategy):
    """Bounds all choices by a few numbers a row; errors are multiplied by ``square``. Where the
    error drowns beside leading directions these are shortened first, unless rows are to be taken as
    they are (``plain``, which says in the end whether they were)."""

    seen: Seen  # the rows as the screening saw them
    kept: KeptRows  # the choice that it compared all others with
    found: Screened  # what it found

    def __init__(self, seen: Seen, n_components: int, square: float, *, plain: bool = False):
        self.seen, self.n_components, self.square = seen, n_components, square
        self.plain = plain

    def steps(self, run: Run) -> Iterator[None]:
        self._run = run
        removed = np.array(run.pool.entries[0][1], dtype=np.intp)
        self.kept = self.seen.without(removed, self.n_components)
        hidden = 0.0 < self.kept.error * _HIDDEN * AGREEMENT < self.kept.rounding
        if hidden and not self.plain:
            self._look_closer(removed)
        self.plain = self.plain or not hidden
        kept, off = self.kept, self.seen.off(self.kept.removed)
        lowest = max(math.sqrt(max(kept.error - kept.rounding, 0.0)) - off, 0.0) ** 2
        slack = _SLACK * max(AGREEMENT, run.limits.max_gap) * lowest
        self.found = screen(screen_rows(self.seen, kept), lowest, slack)
        run.prove(self.proven(self.found.lower_bound))
        run.report(new=True)
        yield

    def finished(self) -> bool:
        return self._run.is_proven()

    def proven(self, bound: float) -> float:
        """What a bound of the rows as they are seen says, in the unit of the run."""
        return self.square * bound / self.seen.stretch

    def blocks(self, incumbent: Callable[..., Incumbent]) -> BlockProof:
        """Blocks of the undecided rows, and a few that represent the others.

        ``incumbent(errors, n_removed, fixed)`` makes their problem.
        """
        seen, kept, found = self.seen, self.kept, self.found
        left = Undecided.of(seen.data, kept, found.free)
        unit, off = power_of_two(left.rows), seen.off(left.gone)

        def proven(bound: float) -> float:
            least = seen.proven(unit * unit * bound - kept.rounding, off) * seen.stretch
            return self.proven(min(least, found.settled_bound))

        errors = WeightedErrors(left.rows / unit, self.n_components, left.weights)
        best = incumbent(errors, len(left.incumbent), left.fixed)
        best.offer_removed(left.incumbent)
        return BlockProof(best, left.removed, proven)

    def _look_closer(self, removed: np.ndarray) -> None:
        """Shorten the leading directions, beside which the error drowns."""
        before, closer = self.seen, conditioned(self.seen.data, self.kept)
        noise = closer.noise + math.sqrt(closer.stretch) * before.noise
        self.seen = replace(closer, noise=noise, stretch=closer.stretch * before.stretch)
        self.kept = self.seen.without(removed, self.n_components)


def screen_rows(seen: Seen, kept: KeptRows) -> Rows:
    """All rows as a choice of them sees them."""
    off, data = seen.off(kept.removed), seen.data
    measured = data.measure_turns(kept, off)
    removed = ~all_but(data.shape[0], kept.removed)
    gaps, free = kept.eigenvalue_gaps(off), kept.subspace.free_mean
    size = measured.lengths + 2.0 * np.linalg.norm(kept.subspace.mean)
    noise = (data.shape[1] + 16) * EPS * size + seen.noise
    return Rows(
        measured.orthogonal, measured.slopes, measured.lengths, noise, removed,
        float(gaps.min(initial=np.inf)), 1.0 / math.sqrt(kept.moments.count) if free else 0.0,
        removed_turn(data.moments, kept, gaps),
    )  # fmt: skip


def removed_turn(everything: Moments, kept: KeptRows, gaps: np.ndarray) -> float:
    r"""How much a turn moves all removed rows together, the root of :math:`\lambda_1(H)`.

    Their inner products within the subspace are those of all rows less those of the kept ones.
    """
    subspace = kept.subspace
    if not (gaps > 0.0).all():
        return math.inf
    units = 1.0 / np.sqrt(gaps)
    if subspace.free_mean:
        units = np.append(units, 1.0 / math.sqrt(kept.moments.count))

    def products(moments: Moments) -> np.ndarray:
        centre = subspace.components @ (moments.mean - subspace.mean)
        root = math.sqrt(moments.count)
        rows = np.vstack([moments.factor() @ subspace.components.T, root * centre])
        if subspace.free_mean:
            column = np.zeros(len(rows))
            column[-1] = root
            rows = np.column_stack([rows, column])
        return rows.T @ rows * np.outer(units, units)

    total, stays = products(everything), products(kept.moments)
    if not total.size:
        return 0.0
    rounding = allowance(8 * len(total), float(np.trace(total)))
    return math.sqrt(max(float(np.linalg.eigvalsh(total - stays)[-1]), 0.0) + rounding)


# -- the bound ----------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows measured from the subspace of a choice."""

    distances: np.ndarray  # (n,), d
    slopes: np.ndarray  # (n,), h
    lengths: np.ndarray  # (n,), distances from the centre
    noise: np.ndarray  # (n,), rounding of the distances and lengths
    removed: np.ndarray  # mask of rows that the choice removes
    gap: float  # the smallest difference of eigenvalues (infinite without components)
    drift: float  # largest movement of the centre for every unit of s: 1 / sqrt(kept rows), or 0
    turn: float = math.inf  # root of the largest eigenvalue of H for all removed rows

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
    """What is known of all choices."""

    lower_bound: float  # no choice has a smaller error
    settled_bound: float  # no choice has one that differs in rows other than the ``free`` ones
    # Rows that a choice better than that may keep or remove; it has all others where they are.
    free: np.ndarray


def screen(rows: Rows, error: float, slack: float) -> Screened:
    """Bound the errors of all choices that remove as many rows as the one with this error.

    The error is not rounded up; differences up to ``slack`` do not matter.
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
    """No better choice has a subspace farther away than this. With at most ``swaps`` rows of K
    given up, s is at most the root of the sum of their d'^2; by Minkowski's inequality s <= |d| + s
    |h| and s <= |x - m| + s |drift|, each over the rows where the terms are largest."""

    def size(values: np.ndarray) -> float:
        return float(np.linalg.norm(_largest(values[~rows.removed], swaps)))

    if swaps == 0:
        return 0.0
    found = math.inf
    parts = ((rows.distances, size(rows.slopes)), (rows.lengths, math.sqrt(swaps) * rows.drift))
    for values, share in parts:
        if share < 1.0:
            found = min(found, size(values + rows.noise) / (1.0 - share))
    return found * (1.0 + AGREEMENT)


class _Swaps:
    """F(s), for s that only falls, and ``count`` swaps at most."""

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


# -- what is left open ----------------------------------------------------------------


@dataclass(frozen=True)
class Undecided:
    """The undecided rows, and a few more with the inner products of all that surely stay. All are
    about the centre of the choice. Those that surely stay have moments; a factor of their scatter
    has no part in the mean, and one row more, their mean, has the weight of all of them (see
    :func:`columnist.robust._subspace.about_mean`)."""

    rows: np.ndarray  # first those that must stay
    fixed: np.ndarray  # mask of these
    numbers: np.ndarray  # of the undecided rows among all
    gone: np.ndarray  # numbers of the rows that surely go
    incumbent: np.ndarray  # rows the choice removes, as positions in ``rows``
    weights: np.ndarray | None  # of the rows; None about a given centre

    @classmethod
    def of(cls, data: RowData, kept: KeptRows, free: np.ndarray) -> Undecided:
        """Rows of a choice, some of which are free to stay or go."""
        place = np.full(data.shape[0], BASE, dtype=np.int8)
        place[kept.removed] = GONE
        place[free] = CHOSEN
        found = data.sorted_out(place)
        centre = kept.subspace.mean
        base = rows_about(found.moments, centre)
        weights = None
        if kept.subspace.free_mean:
            weights = np.ones(len(base) + len(found.rows))
            weights[: len(base)] = 0.0
            weights[len(base) - 1] = math.sqrt(found.moments.count)
        rows = np.vstack([base, found.rows - centre])
        removed = np.flatnonzero(np.isin(found.numbers, kept.removed)) + len(base)
        return cls(
            rows, np.arange(len(rows)) < len(base), found.numbers,
            np.flatnonzero(place == GONE), removed, weights,
        )  # fmt: skip

    def removed(self, kept: np.ndarray) -> np.ndarray:
        """Numbers, among all rows, of those that a choice of these rows (a mask) removes."""
        chosen = self.numbers[~kept[~self.fixed]]
        return np.sort(np.concatenate([self.gone, chosen]))
