"""Selections of more than one size: the fewest columns for a tolerance, and all up to a size."""

from __future__ import annotations

import time
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist.criteria import is_frobenius
from columnist.data import Matrices
from columnist.linalg._reduce import Reduced
from columnist.search._interrupts import expired
from columnist.search._log import Progress
from columnist.selection._columns import column_problem, forward_order
from columnist.selection._duplicates import distinct_columns
from columnist.selection._task import Options, Outcome, choose, total_error, unsearched

__all__ = ["Sizes"]

# Operations from which errors of a path are computed together once its time is over.
_LONG_WORK = 1e9


@dataclass(frozen=True)
class Sizes:
    """One problem, solved for several sizes. No input validation.

    Attributes
    ----------
    matrices, reduced : Matrices and Reduced
        The data.
    options : Options
        Everything else; the deadline is for all sizes together.
    include, exclude : sequence of int
        Columns that must, or must not, be selected.
    """

    matrices: Matrices
    reduced: Reduced
    options: Options
    include: Sequence[int]
    exclude: Sequence[int]

    # -- the fewest columns ---------------------------------------------------------

    def fewest(self, tol: float) -> Outcome:
        """The smallest size whose relative error is at most ``tol``."""
        limit = tol * total_error(self.matrices, self.reduced, self.options)
        available = self.matrices.n_features - len(self.exclude)
        order = self._reaching(limit)
        proven, size = True, self._smallest
        while True:
            late = expired(self.options.deadline)
            last = late or size >= len(order)
            proven &= not (late and size < len(order))  # sizes that nobody looked at
            size = max(size, len(order)) if late else size
            if last or self._problem(size).root_bounds()[0] <= limit:
                step = self.options if last else _until_impossible(self.options, limit)
                outcome = self._choose(size, step, [order[:size]])
                if outcome.certificate.error <= limit or size >= available:
                    break
                proven &= outcome.certificate.lower_bound > limit
            proven &= not late
            size += 1
        if outcome.certificate.error > limit:
            warnings.warn(
                f"No selection reaches tol={tol:g}; all {available} columns are selected.",
                UserWarning,
                stacklevel=5,
            )
        elif not proven:
            warnings.warn(
                f"{size} columns reach tol={tol:g}, but the time limit left open whether fewer do.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return outcome

    def _reaching(self, limit: float) -> list[int]:
        """Forward selection, no longer than it takes to reach the limit."""
        shortest, available = self._smallest, self.matrices.n_features - len(self.exclude)
        if self.reduced.exact and not self.exclude:  # more columns than dimensions are no use
            available = min(available, max(self.reduced.rank, shortest))
        longest, order = min(max(16, shortest), available), list(self.include)

        def reaches(size: int) -> bool:
            return self._problem(size).value(order[:size]) <= limit

        while True:
            order = self._order(order, longest)
            if longest == available or reaches(longest):
                sizes = list(range(shortest, longest + 1))
                if expired(self.options.deadline):  # a rough answer: three sizes are looked at
                    sizes = sizes[:: -max(len(sizes) // 8, 1)][::-1]
                return order[: sizes[min(bisect_left(sizes, True, key=reaches), len(sizes) - 1)]]
            shortest, longest = longest + 1, min(2 * longest, available)

    # -- every size -------------------------------------------------------------------

    def up_to(self, largest: int) -> list[Outcome]:
        """One outcome for each size; what easy sizes leave over goes to the hard ones."""
        options, order = self.options, self._order(self.include, largest)
        errors = cache(lambda: self._errors_along(order))
        outcomes: list[Outcome] = []
        late = 0.0  # seconds that the last size took beyond its share, to confirm what it found
        for size in range(self._smallest, largest + 1):
            now = time.perf_counter()
            share = now + max((options.deadline - now) / (largest + 1 - size) - late, 0.0)
            known: list[Sequence[int]] = [order[:size]]
            if now < options.deadline:
                known += [subset for outcome in outcomes[-1:] for _, subset in outcome.solutions]
            late_now = share <= now or expired(share)
            if late_now and options.exhaustive and options.n_solutions == 1:
                outcome = self._unsearched(order[:size], errors(), order, outcomes[-1:])
            else:
                outcome = self._choose(size, replace(options, deadline=share), known)
            outcomes.append(outcome)
            late = max(time.perf_counter() - share, 0.0) if np.isfinite(share) else 0.0
        return outcomes

    def _unsearched(self, first, errors, order: list[int], before: list[Outcome]) -> Outcome:
        """Without a search: the first ones of an order, or what the last size had and one more."""
        data = self.matrices, self.reduced, self.options
        error = None if errors is None else float(errors[len(first)])
        outcome = unsearched(*data, first, self.include, error)
        for last in (smaller.solutions[0][1] for smaller in before):
            if set(last) != set(first[:-1]):
                # A larger choice is no worse than a smaller one.
                more = [*last, next(column for column in order if column not in last)]
                other = unsearched(*data, more, self.include)
                outcome = min(outcome, other, key=lambda one: one.solutions[0])
        return outcome

    def _errors_along(self, order: list[int]) -> np.ndarray | None:
        """Errors of the beginnings of an order together, where one by one is long work."""
        m, n = self.matrices.target.shape
        one_by_one = float(m) * n * len(order) ** 2 > _LONG_WORK
        plain = is_frobenius(self.options.criterion) and self.options.n_components == 0
        together = one_by_one and plain and not self.matrices.gram
        return self.matrices.errors_along(order) if together else None

    # -- what both need -----------------------------------------------------------------

    @property
    def _smallest(self) -> int:
        return max(1, len(self.include))

    @cached_property
    def _distinct(self) -> np.ndarray:
        """Columns that may be added, but for copies and zeros."""
        allowed = self._allowed([*self.include, *self.exclude])
        return distinct_columns(self.reduced.columns, allowed, self.matrices.X)

    def _allowed(self, others: Sequence[int]) -> np.ndarray:
        return np.setdiff1d(np.arange(self.matrices.n_features), others)

    def _order(self, chosen: Sequence[int], size: int) -> list[int]:
        """Forward selection: a first choice of every size, and a cheap one."""
        allowed = self._allowed([*chosen, *self.exclude])
        return forward_order(self.reduced, chosen, allowed, size, self.options.deadline)

    def _problem(self, size: int):
        options = self.options
        return column_problem(
            self.reduced, size, criterion=options.criterion, n_components=options.n_components
        )

    def _choose(self, size: int, options: Options, start: Sequence[Sequence[int]]) -> Outcome:
        return choose(
            self.matrices, self.reduced, size, options, self.include, self.exclude,
            quiet=True, start=start, distinct=self._distinct,
        )  # fmt: skip


def _until_impossible(options: Options, limit: float) -> Options:
    """Options that stop a size once no selection of it can reach the limit.

    A size also leaves half of the time to the larger ones.
    """
    user = options.callback

    def callback(progress: Progress) -> bool:
        stop = user is not None and bool(user(progress))
        return stop or progress.bound > limit

    now = time.perf_counter()
    return replace(options, callback=callback, deadline=now + (options.deadline - now) / 2)
