r"""Ascent on the multipliers of blocks, which raises the bound.

The bound is a concave function of the matrices R_b, which may move as long as their sum stays
(see :mod:`columnist.robust._blocks`). With P_b the projector onto the leading eigenvectors of the
set that the programme picks in block b, I - P_b is a supergradient. Steps go along

    G_b = c_b (sum c P / sum c - P_b),   D = G + momentum * D,

c_b the size of R_b: large blocks move in large steps. Their length is Polyak's, a share of the
distance to a point beyond the target over the squared norm; the share is halved whenever the bound
stops rising.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from columnist.linalg._threads import Threads
from columnist.robust._blocks import Blocks
from columnist.robust._deal import evaluation_seconds
from columnist.robust._tails import BlockTables

_MOMENTUM = 0.9
_PATIENCE = 10
# The bound rises if it gains this share of its distance to the target within _PATIENCE steps.
_GAIN = 3e-3
# Aimed at itself, a target within reach is neared for ever: aim beyond it by this share of the
# largest distance seen.
_BEYOND = 0.1
_SMALLEST_STEP = 0.02
_LEAST_WEIGHT = 1e-3
# Seconds between two looks at the clock.
_SLICE = 0.05
# Seconds of work below which sharing it out only costs.
_SHORT = 1e-3


class Team(Threads):
    """Threads that share out the blocks of a proof; how many they are changes no result."""

    def share(self, count: int, seconds: float, work: Callable[[int, int, int], object]) -> None:
        """Call ``work(start, stop, worker)`` on parts of a range that takes so many seconds."""
        parts = min(self.n_jobs, count)
        if seconds < _SHORT or parts < 2:
            work(0, count, 0)
            return
        ends = [count * part // parts for part in range(parts + 1)]
        self.map(work, ends[:-1], ends[1:], range(parts))


@dataclass
class Ascent:
    """Ascent on the multipliers of blocks."""

    expired: Callable[[], bool]  # whether to stop
    step: float = 1.0  # share of Polyak's step; small once the bound has stopped rising
    team: Team = field(default_factory=Team, repr=False)
    # The last direction, with which the next run goes on if it has as many blocks.
    direction: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def exhausted(self) -> bool:
        """Whether steps have become too small to matter."""
        return self.step < _SMALLEST_STEP

    def run(self, blocks: Blocks, target: float, iterations: int) -> tuple[float, np.ndarray]:
        """Raise the bound towards ``target``; the blocks get the best matrices. Returns the bound
        (a total of tail sums, not yet charged with the imbalance) and the sets picked there, one
        per block; no picks if stopped before the first bound."""
        tables = blocks.tables(self.team.n_jobs)
        if np.isneginf(tables.bounds).any() and not refresh(tables, self.expired, self.team):
            blocks.update(tables)
            return -np.inf, np.zeros(0, dtype=np.int64)
        best, picks = self._climb(tables, blocks.k, target, iterations)
        blocks.update(tables)
        return best, picks - tables.starts[:-1] if len(picks) else picks

    def _climb(self, tables: BlockTables, k: int, target: float, iterations: int):
        now = tables.matrices.copy()
        best_matrices = now
        weights = np.linalg.norm(now, axis=(1, 2))
        weights = np.maximum(weights / weights.mean(), _LEAST_WEIGHT)[:, None, None]
        projectors, direction = np.empty_like(now), self.direction
        if direction.shape != now.shape:
            direction = np.zeros_like(now)
        best, best_picks = -np.inf, np.zeros(0, dtype=np.int64)
        milestone, waited, aim = -np.inf, 0, target
        for _ in range(iterations):
            value, picks, exact = self._minimise(tables, k)
            aim = max(aim, target + _BEYOND * (target - value))
            if value > best:
                best, best_picks, best_matrices = value, picks, now
            if not exact or best >= target or len(picks) == 0 or self.expired():
                break
            waited += 1
            if best > milestone + _GAIN * (target - best):
                milestone, waited = best, 0
            elif waited > _PATIENCE:
                self.step /= 2.0
                if self.exhausted:
                    break
                waited = 0
            self._share(tables, partial(tables.top_projectors, picks, projectors), 3.0)
            mean = (weights * projectors).sum(axis=0) / weights.sum()
            direction = weights * (mean - projectors) + _MOMENTUM * direction
            length = np.sum(direction * direction / weights)
            if length == 0.0:
                break
            now = now + self.step * (aim - value) / length * direction
            self._share(tables, partial(tables.shift, now))
        self.direction = direction
        self._share(tables, partial(tables.shift, best_matrices))
        return best, best_picks

    def _share(self, tables: BlockTables, work: Callable, weight: float = 1.0) -> None:
        """Let the team work on all blocks, as long each as some tail sums."""
        count, d = tables.matrices.shape[:2]
        self.team.share(count, weight * count * evaluation_seconds(d), work)

    def _minimise(self, tables: BlockTables, k: int):
        """The programme's least total, with a look at the clock now and then."""
        budget = int(_SLICE / evaluation_seconds(tables.matrices.shape[1])) + 1
        evaluate = None
        if self.team.n_jobs > 1:

            def evaluate(picks: np.ndarray) -> None:
                self._share(tables, partial(tables.evaluate_picks, picks))

        while True:
            value, picks, exact = tables.minimise(k, budget, evaluate)
            if exact or self.expired():
                return value, picks, exact


def refresh(tables: BlockTables, expired: Callable[[], bool], team: Team | None = None) -> bool:
    """Bring all bounds up to date; False if stopped before the end."""
    team = team or Team()
    seconds = evaluation_seconds(tables.matrices.shape[1])
    chunk = team.n_jobs * (int(_SLICE / seconds) + 1)
    for b in range(len(tables.matrices)):
        for start in range(tables.starts[b], tables.starts[b + 1], chunk):
            count = int(min(chunk, tables.starts[b + 1] - start))

            def work(first, last, worker, b=b, start=start):
                tables.evaluate(b, start + first, start + last, worker)

            team.share(count, count * seconds, work)
            if expired():
                return False
    return True
