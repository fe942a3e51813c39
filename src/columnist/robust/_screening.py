"""Screening as a strategy: which rows can change places at all, and how much that could gain.

See :mod:`columnist.robust._screen` for the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from columnist.linalg._moments import Moments
from columnist.linalg._rounding import AGREEMENT, EPS, allowance
from columnist.robust._conditioned import Seen, conditioned
from columnist.robust._row_data import KeptRows
from columnist.robust._screen import Rows, Screened, screen
from columnist.search._run import Run, Strategy

__all__ = ["Screening", "screen_rows"]

# Share of what counts as equally good that intervals of the screening, and rounding, may leave.
_SLACK, _HIDDEN = 0.1, 0.01


class Screening(Strategy):
    """Bounds all choices by a few numbers a row.

    Parameters
    ----------
    seen : Seen
        The rows.
    n_components : int
        Dimension of the subspace.
    square : float
        Factor of errors.
    plain : bool, default=False
        Whether to take the rows as they are, also where the error drowns beside leading directions.

    Attributes
    ----------
    seen : Seen
        The rows as the screening saw them.
    kept : KeptRows
        The choice that it compared all others with.
    found : Screened
        What it found.
    plain : bool
        Whether the rows were taken as they are.
    """

    found: Screened

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
        self.found = self._screened(max(AGREEMENT, run.limits.max_gap))
        run.prove(self.proven(self.found.lower_bound))
        run.report(new=True)
        yield

    def finished(self) -> bool:
        return self._run.is_proven()

    def proven(self, bound: float) -> float:
        """What a bound of the rows as they are seen says, in the unit of the run."""
        return self.square * bound / self.seen.stretch

    def _look_closer(self, removed: np.ndarray) -> None:
        """Shorten the leading directions, beside which the error drowns."""
        before, closer = self.seen, conditioned(self.seen.data, self.kept)
        noise = closer.noise + math.sqrt(closer.stretch) * before.noise
        self.seen = replace(closer, noise=noise, stretch=closer.stretch * before.stretch)
        self.kept = self.seen.without(removed, self.n_components)

    def _screened(self, tolerance: float) -> Screened:
        kept, off = self.kept, self.seen.off(self.kept.removed)
        lowest = max(math.sqrt(max(kept.error - kept.rounding, 0.0)) - off, 0.0) ** 2
        return screen(screen_rows(self.seen, kept), lowest, _SLACK * tolerance * lowest)


def screen_rows(seen: Seen, kept: KeptRows) -> Rows:
    """All rows as a choice of them sees them."""
    off, data = seen.off(kept.removed), seen.data
    measured = data.measure_turns(kept, off)
    removed = np.zeros(data.shape[0], dtype=bool)
    removed[kept.removed] = True
    gaps, free = kept.eigenvalue_gaps(off), kept.subspace.free_mean
    size = measured.lengths + 2.0 * np.linalg.norm(kept.subspace.mean)
    noise = (data.shape[1] + 16) * EPS * size + seen.noise
    return Rows(
        measured.orthogonal, measured.slopes, measured.lengths, noise, removed,
        float(gaps.min(initial=np.inf)), 1.0 / math.sqrt(kept.moments.count) if free else 0.0,
        removed_turn(data.moments, kept, gaps),
    )  # fmt: skip


def removed_turn(everything: Moments, kept: KeptRows, gaps: np.ndarray) -> float:
    """How much a turn moves all removed rows together: see :mod:`columnist.robust._screen`.

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
