r"""Lower bounds of the errors of rows under any criterion, from blocks of rows.

Every block lists the sets of its rows that may be removed, each with the error that the other rows
of the block leave. With K_b the kept rows of block b, r components and rows about the origin or
about their own mean,

.. math:: \Theta(K)^q \ge \sum_b \Theta(K_b)^q,

where q = 2 for Schatten norms with :math:`p \le 2` (the nuclear norm among them) and q = p for
others: the scatter of all rows is at least the sum of those of the blocks, the eigenvalues behind
the r largest are those of the compression to some subspace, and on positive matrices
:math:`\|\cdot\|_s` is superadditive for :math:`s \le 1`, its power s for :math:`s \ge 1`. Under
every other criterion :math:`\Theta(K) \ge \max_b \Theta(K_b)`, since rows never lower a singular
value. A programme over the number of removals per block finds the least right-hand side. It is
positive also where r + k reaches the number of features, and the bound f of
:mod:`columnist.robust._solve` is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import ceil, comb

import numpy as np

from columnist.criteria import Criterion, is_frobenius, schatten_power
from columnist.linalg._rounding import EPS
from columnist.robust._errors import RowErrors
from columnist.robust._subspace import at_most_square
from columnist.robust._tails import least_elsewhere

# Sets in all blocks, and seconds for their singular values, which choose the size of the blocks.
_MOST_SETS, _SECONDS = 20_000, 0.4
# Rows of a block, at most: sets are bits of a number.
_MOST_ROWS = 62
# Sets that are decomposed in one go.
_TOGETHER = 2048
# Rounding of a criterion and of sums of its powers, as a share of the value.
_SLACK = 1e-12


class BlockFloors:
    """Least errors after removing k rows, for every partial choice of them.

    Parameters
    ----------
    errors : RowErrors
        Errors of all sets, under a criterion other than the squared Frobenius norm.
    k : int
        Rows to remove.
    expired : callable
        Whether to stop; sets that were not examined then have the least error there is.
    """

    def __init__(self, errors: RowErrors, k: int, expired: Callable[[], bool] = lambda: False):
        n = len(errors.rows)
        self.k, self.power = k, _power(errors.criterion)
        order = np.random.default_rng(0).permutation(n)
        blocks = [np.sort(rows) for rows in np.array_split(order, ceil(n / block_size(n, k)))]
        self.place, self.bit = np.empty((2, n), dtype=np.intp)
        masks, sizes, lows = [], [], []
        for b, rows in enumerate(blocks):
            self.place[rows], self.bit[rows] = b, np.arange(len(rows))
            for size in range(min(k, len(rows)) + 1):
                sets = np.array(list(combinations(range(len(rows)), size)), dtype=np.int64)
                masks.append(np.left_shift(np.int64(1), sets).sum(axis=1))
                sizes.append((b, size))
                lows.append(_lower_errors(errors, rows, sets, expired))
        counts = [len(part) for part in masks]
        self.sets, self.groups = np.concatenate(masks), np.array(sizes)
        self.starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.block, self.size = np.repeat(self.groups, counts, axis=0).T
        low = np.concatenate(lows)
        self.unit = float(low.max(initial=0.0)) if np.isfinite(self.power) else 1.0
        self.costs = low if self.unit in (0.0, 1.0) else low / self.unit
        if np.isfinite(self.power):
            self.costs = self.costs**self.power
        self.first = np.searchsorted(self.block, np.arange(len(blocks)))

    def floors(self, removed: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """For every candidate, what is left at least by choices of it, of the rows that are removed
        already and of other candidates; infinite where there are none."""
        must, may = self._bits(removed), self._bits(np.concatenate([removed, candidates]))
        must, may = must[self.block], may[self.block]
        listed = ((self.sets & must) == must) & ((self.sets & ~may) == 0)
        costs = np.where(listed, self.costs, np.inf)
        least = np.full((len(self.first), self.groups[:, 1].max() + 1), np.inf)
        least[tuple(self.groups.T)] = np.minimum.reduceat(costs, self.starts)
        if np.isfinite(self.power):
            others = least_elsewhere(least, self.k)[0]
            totals = costs + others[self.block, self.size]
        else:
            totals = np.maximum(costs, elsewhere_by_maximum(least, self.k)[self.block, self.size])
        through = np.empty((self.bit.max() + 1, len(self.first)))
        for bit, row in enumerate(through):
            with_it = np.where(self.sets >> bit & 1, totals, np.inf)
            row[:] = np.minimum.reduceat(with_it, self.first)
        return self._errors(through[self.bit[candidates], self.place[candidates]])

    def _bits(self, rows: np.ndarray) -> np.ndarray:
        """Some rows as bits, for every block."""
        bits = np.zeros(len(self.first), dtype=np.int64)
        np.bitwise_or.at(bits, self.place[rows], np.left_shift(np.int64(1), self.bit[rows]))
        return bits

    def _errors(self, totals: np.ndarray) -> np.ndarray:
        """Totals as errors, rounded down."""
        if not np.isfinite(self.power):
            return totals
        return self.unit * totals ** (1.0 / self.power) * (1.0 - _SLACK)


def block_size(n: int, k: int) -> int:
    """Rows of a block: as many as the number of sets and the time for them allow.

    Examples
    --------
    >>> from columnist.robust._block_floors import block_size
    >>> block_size(12, 3), block_size(60, 3), block_size(5000, 3)
    (12, 26, 4)
    """
    size = 1
    while size < min(n, _MOST_ROWS):
        rows = size + 1
        sets = ceil(n / rows) * sum(comb(rows, j) for j in range(min(k, rows) + 1))
        if sets > _MOST_SETS or sets * (5e-6 + 2e-9 * rows**3) > _SECONDS:
            break
        size = rows
    return size


def elsewhere_by_maximum(least: np.ndarray, k: int) -> np.ndarray:
    """Least of the largest costs of all blocks but one, for every block and number of removals in
    that one: :func:`columnist.robust._tails.least_elsewhere` with maxima for sums."""
    (count, width), start = least.shape, np.append(-np.inf, np.full(k, np.inf))
    behind = [start]
    for row in least[:0:-1]:
        behind.append(_joined(behind[-1], row))
    before, others = start, np.full((count, width), np.inf)
    for b, row in enumerate(least):
        after = behind[count - 1 - b]
        for j in range(min(width, k + 1)):
            others[b, j] = np.maximum(before[: k - j + 1], after[k - j :: -1]).min()
        before = _joined(before, row)
    return others


def _joined(totals: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Totals of some blocks and of one more, for every number of removals."""
    found = np.full(len(totals), np.inf)
    for j, cost in enumerate(row[: len(totals)]):
        part = np.maximum(totals[: len(totals) - j], cost)
        found[j:] = np.minimum(found[j:], part)
    return found


def _power(criterion: Criterion) -> float:
    """The power of the error that is superadditive; infinite for the largest one alone."""
    p = schatten_power(criterion)
    if p is None:
        return np.inf
    return 1.0 if is_frobenius(criterion) else max(2.0, p)


def _lower_errors(errors: RowErrors, rows: np.ndarray, sets: np.ndarray, expired) -> np.ndarray:
    """Lower bounds of the errors of a block's rows without each set."""
    criterion, block = errors.criterion, errors.short[rows]
    low = np.full(len(sets), float(criterion.value(np.zeros(1))))
    left = len(rows) - sets.shape[1]
    if left - errors.centred <= errors.n_components:
        return low
    # Rounding of what follows, and of the entries as they were given.
    off = errors.off + 4.0 * (sum(block.shape) + 20) * EPS * np.linalg.norm(errors.sizes[rows])
    block = at_most_square(block.T).T
    for start in range(0, len(sets), _TOGETHER):
        if expired():
            break
        part = sets[start : start + _TOGETHER]
        kept = np.ones((len(part), len(rows)), dtype=bool)
        np.put_along_axis(kept, part, False, axis=1)
        Z = block[np.nonzero(kept)[1].reshape(len(part), left)]
        if errors.centred:
            Z = Z - Z.mean(axis=1, keepdims=True)
        sigma = np.linalg.svd(Z, compute_uv=False)[:, errors.n_components :]
        if sigma.shape[1]:
            values = criterion.values(errors.scale * np.maximum(sigma - off, 0.0))
            low[start : start + _TOGETHER] = np.maximum(values - _SLACK * np.abs(values), low[0])
    return low
