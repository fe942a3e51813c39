"""The best complete sets that a search has met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columnist.linalg._rounding import is_trusted
from columnist.search._problem import SubsetProblem


class Pool:
    """The best complete sets, each one once, and a lower bound of all others that were seen.
    ``entries`` and ``threshold`` change in one assignment each, so that they are whole whenever the
    search is interrupted."""

    def __init__(self, problem: SubsetProblem, capacity: int):
        self.problem, self.capacity = problem, capacity
        self.least = getattr(problem, "least", -np.inf)
        self.entries: list[tuple[float, tuple[int, ...]]] = []
        self.threshold = np.inf  # error, rounding included, that a further set must stay below
        self.floor = np.inf  # no complete set that was seen and is not an entry has less
        self._low: dict[tuple[int, ...], float] = {}  # of all that were entries once
        self._high: dict[tuple[int, ...], float] = {}  # of the entries

    @property
    def best(self) -> float:
        return self.entries[0][0] if self.entries else np.inf

    @property
    def best_high(self) -> float:
        """What the best set has at most."""
        return self._high[self.entries[0][1]] if self.entries else np.inf

    @property
    def low(self) -> float:
        """Least error that an entry can have, of those that are not known well."""
        unsure = (
            self._low[subset]
            for _, subset in self.entries
            if not is_trusted(self._low[subset], self._high[subset], self.least)
        )
        return min(unsure, default=np.inf)

    def pass_over(self, lower: float) -> None:
        """Note a complete set, or a bound of several, that is not evaluated."""
        self.floor = min(self.floor, max(lower, self.least))

    def offer(self, lower: float, subset: Sequence[int] | np.ndarray) -> bool:
        """Evaluate a complete set; True if it is the best so far."""
        subset = tuple(sorted(int(i) for i in subset))
        if not self.problem.exact:
            self.pass_over(lower)
        if subset in self._low:
            return False
        low, high = self._interval(subset)
        error, best = low + 0.5 * (high - low) if high > low else low, self.best
        if low >= self.threshold:
            return False
        self._low[subset], self._high[subset] = low, high
        entries = sorted([*self.entries, (error, subset)])
        for _, dropped in entries[self.capacity :]:
            self.pass_over(self._low[dropped])
            del self._high[dropped]
        self.entries = entries[: self.capacity]
        if len(self.entries) == self.capacity:
            self.threshold = min(self.threshold, max(self._high.values()))
        return error < best

    def least_of_others(self) -> float:
        """Least error of the sets that were entries once and are no longer."""
        kept = {subset for _, subset in self.entries}
        others = (low for subset, low in self._low.items() if subset not in kept)
        return min(others, default=np.inf)

    def _interval(self, subset: tuple[int, ...]) -> tuple[float, float]:
        interval = getattr(self.problem, "interval", None)
        if interval is not None:
            return interval(subset, self.threshold)
        error = self.problem.value(subset)
        return error, error
