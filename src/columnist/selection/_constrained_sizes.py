"""Selections with constraints for one or several sizes, from validated data to certificates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.selection._columns import InvariantColumns, check_scale
from columnist.selection._constrained import Constrained, ConstrainedColumns
from columnist.selection._rules import Rules
from columnist.selection._sizes import BestSize
from columnist.selection._task import Options, Outcome, Sizes


class SizesWithRules(Sizes):
    """The problem with constraints; a size counts units: columns, or groups."""

    rules: Rules

    def best(
        self, size: int | None, *, quiet: bool = False, start: Sequence[Sequence[int]] = ()
    ) -> Outcome:
        """Solve for one size, or for any if that is None."""
        return self.choose(size, self.options, start)

    def choose(self, size: int | None, options: Options, start: Sequence[Sequence[int]]) -> Outcome:
        """The same with other options."""
        return self._solve(size, options, start)  # type: ignore[arg-type] # of this class

    def up_to(self, largest: int) -> list[Outcome]:
        """One outcome for each size that the constraints allow."""
        found = {size: self.some(size) for size in range(1, largest + 1)}
        firsts = {size: first for size, (first, _) in found.items() if first}
        if not firsts:
            raise ValueError(self.rules.sized(largest).nothing)
        open_sizes = [str(size) for size, (first, certain) in found.items() if not certain]
        if open_sizes:
            warn_caller(
                "For some sizes no selection that obeys the constraints was found, though there "
                f"may be one. They are left out: {', '.join(open_sizes)}.",
                ConvergenceWarning,
            )
        options, outcomes = self.options, []
        for at, (size, first) in enumerate(firsts.items()):
            now = time.perf_counter()
            share = now + max((options.deadline - now) / (len(firsts) - at), 0.0)
            outcomes.append(self.choose(size, replace(options, deadline=share), [first]))
        return outcomes

    def some(self, size: int | None) -> tuple[list[int] | None, bool]:
        """A selection of this size, None if none was found; and whether that is certain."""
        problem = self.problem(size)
        found = problem.completed(self.include, self.options.deadline)
        return found, found is not None or not problem.feasible.gave_up

    def unit(self, column: int) -> set[int]:
        """A column with the columns that it requires."""
        return set(self.rules.unit(column).tolist())

    def problem(self, size: int | None) -> Constrained:
        """The problem of a size, without errors from the data."""
        return self._searched(size, self.options, None)  # type: ignore[arg-type] # None: any


@dataclass(frozen=True)
class ConstrainedSizes(SizesWithRules):
    """The same under a criterion of the singular values."""

    rules: Rules

    @property
    def _wide(self) -> None:
        return None

    def _searched(self, size: int | None, options: Options, interval) -> Constrained:
        rules = self.rules.sized(size)
        include = np.array(sorted(self.include), dtype=np.int32)
        most = len(include)
        if len(self._allowed):
            most += rules.node(include, self._allowed).most_columns
        check_scale(self.reduced, options.criterion)
        problem = InvariantColumns(
            self.reduced, most, options.criterion, options.n_components, self.include,
            self._allowed, interval,
        )  # fmt: skip
        return ConstrainedColumns(problem, rules)


class ConstrainedBestSize(BestSize):
    """The size with the least criterion: here a larger choice may have a larger optimum."""

    search: Any  # with rules

    def _look(self, largest: int) -> None:
        """Some choice of every size."""
        self.known = {}
        for size in range(self.search.smallest, largest + 1):
            first, certain = self.search.some(size)
            if first is not None:
                self.known[size] = (self.search.error(first), tuple(sorted(first)))
            self.cut_short |= not certain
        if not self.known:
            raise ValueError(self.search.rules.sized(largest).nothing)

    def _raise_bounds(self, k: int, bound: float) -> None:
        self.bounds[k] = max(self.bounds[k], bound)

    def _extend(self) -> None:
        """Do nothing: a smaller selection with one more column may violate the constraints."""
