"""A search problem that has nothing to do with matrices: weighted coverage.

Item i covers a set of points; the error of a choice is the weight it leaves uncovered. Gains
only shrink as a choice grows, so the error minus the t largest gains is a lower bound.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from columnist.search._problem import Branches


class Coverage:
    """Choose ``size`` items that cover most.

    With ``blur`` below 1 everything the search sees is a lower bound only: complete sets are
    judged by a share of their error that differs from set to set.
    """

    def __init__(self, covers, weights, size, *, include=(), blur=1.0, seed=0):
        self.covers = np.asarray(covers, dtype=bool)
        self.weights = np.asarray(weights, dtype=float)
        self.n_items, self.size = len(self.covers), size
        self.include = np.array(sorted(include), dtype=np.int32)
        self.blur, self.seed = blur, seed
        self.exact = blur == 1.0
        self.interrupt_at = None
        self.n_calls = 0

    @classmethod
    def random(cls, seed, n=8, size=3, points=12, **options):
        """Small integer weights: ties are common."""
        rng = np.random.default_rng(seed)
        covers = rng.random((n, points)) < 0.35
        return cls(covers, rng.integers(1, 5, points), size, seed=seed, **options)

    def root(self):
        everything = np.arange(self.n_items)
        return self.include, np.setdiff1d(everything, self.include).astype(np.int32)

    def root_bounds(self):
        chosen, candidates = self.root()
        error = self.value(chosen)
        gains = error - self._errors(chosen, candidates)
        return self.blur * self._f(error, gains, self.size - len(chosen)), error

    @staticmethod
    def _f(error, gains, left):
        return max(error - np.sort(gains)[::-1][:left].sum(), 0.0)

    def value(self, subset):
        covered = self.covers[list(subset)].any(axis=0) if len(subset) else False
        return float(self.weights[~np.broadcast_to(covered, self.weights.shape)].sum())

    def completion_errors(self, chosen, candidates):
        return np.array([self.lower([*chosen, i]) for i in candidates], dtype=float)

    def _errors(self, chosen, candidates):
        return np.array([self.value([*chosen, i]) for i in candidates], dtype=float)

    def lower(self, subset):
        """What the search sees of a set."""
        if self.exact:
            return self.value(subset)
        mixed = np.random.default_rng([self.seed, *sorted(int(i) for i in subset)])
        return self.value(subset) * mixed.uniform(self.blur, 1.0)

    def expand(self, chosen, candidates, demand, worker):
        self.n_calls += 1
        if self.n_calls == self.interrupt_at:
            raise KeyboardInterrupt
        left = self.size - len(chosen)
        if left == 0:
            value = self.value(chosen)
            goals = [(self.lower(chosen), tuple(chosen.tolist()))]
            return Branches(np.inf, goals=goals if value < demand.threshold else [])
        u = self.completion_errors(chosen, candidates)
        if left == 1:
            sets = [(*chosen.tolist(), int(i)) for i in candidates]
            goals = sorted((self.lower(subset), subset) for subset in sets)
            return Branches(np.inf, goals=[g for g in goals if g[0] < demand.threshold][
                : demand.n_best])  # fmt: skip
        f = np.array([self._child_bound(chosen, candidates, i, left) for i in candidates])
        keep = self.blur * f < demand.threshold
        if keep.sum() < left:
            return Branches(np.inf)
        weight = u[keep] if demand.weight == "u" else np.empty(0)
        return Branches(
            self.blur * f.min(), np.asarray(candidates)[keep], self.blur * f[keep], weight
        )

    def _child_bound(self, chosen, candidates, item, left):
        taken = [*chosen, item]
        others = [i for i in candidates if i != item]
        error = self.value(taken)
        return self._f(error, error - self._errors(taken, others), left - 1)

    def cost(self):
        return 1.0

    def ranked(self):
        """Errors and sets of all complete choices, best first."""
        chosen, candidates = self.root()
        sets = combinations(candidates.tolist(), self.size - len(chosen))
        complete = (tuple(sorted([*chosen.tolist(), *rest])) for rest in sets)
        return sorted((self.value(subset), subset) for subset in complete)
