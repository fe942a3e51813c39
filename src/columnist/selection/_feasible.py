"""Heuristics for selections with constraints: greedy, by gain and by gain per cost, and exchanges.

No proof rests on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from columnist.linalg._ties import TIE
from columnist.search._interrupts import expired
from columnist.selection._rules import Rules

# Steps back from dead ends, at most.
_DEAD_ENDS = 3000
# Exponents of the cost by which gains are divided.
_EXPONENTS = (0.0, 1.0, 0.5)


class Feasible:
    """Feasible selections.

    Parameters
    ----------
    problem : object
        Measures choices: ``completion_errors(chosen, candidates)`` and ``estimate(subset)``.
    rules : Rules
        Constraints.
    """

    def __init__(self, problem, rules: Rules):
        self.problem, self.rules = problem, rules
        self.gave_up = False  # whether the last search was stopped by the limit of steps
        self._costs: np.ndarray | None = None
        if rules.budgets:
            shares = [b.prices / max(b.budget, 1e-300) for b in rules.budgets]
            self._costs = np.sum(shares, axis=0)

    @property
    def exponents(self) -> tuple[float, ...]:
        """Exponents of the costs."""
        return _EXPONENTS if self._costs is not None else _EXPONENTS[:1]

    def complete(
        self, chosen, candidates, exponent: float = 0.0, deadline: float = np.inf
    ) -> list[int] | None:
        """A complete choice between the two, each unit the best next one; None if there is none,
        or too many steps back were needed."""
        self.gave_up = False
        stack, dead_ends = [(np.asarray(chosen), np.asarray(candidates))], 0
        while stack and dead_ends <= _DEAD_ENDS:
            node = self.rules.narrowed(*stack.pop())
            if node is None:
                dead_ends += 1
                continue
            inside, free = node
            if not len(free):
                return inside.tolist()
            column, unit = self._best(inside, free, exponent, deadline)
            # A failed candidate is not tried again, but the columns that it requires are.
            stack.append((inside, np.setdiff1d(free, [column])))
            stack.append((np.union1d(inside, unit), np.setdiff1d(free, unit)))
        self.gave_up = bool(stack)
        return None

    def ordered(self, chosen, candidates) -> list[int]:
        """The same choice in the order in which columns came in."""
        found, order = self._some(chosen, candidates), [int(i) for i in chosen]
        left = np.setdiff1d(np.array(found, dtype=np.int32), order)
        while len(left):
            _, unit = self._best(np.array(order, dtype=np.int32), left, 0.0, np.inf)
            order += [int(i) for i in unit]
            left = np.setdiff1d(left, unit)
        return order

    def _best(self, chosen, candidates, exponent: float, deadline: float) -> tuple[int, np.ndarray]:
        """The column that gains most with its unit, for the cost, and that unit."""
        if expired(deadline):
            return int(candidates[0]), self._new(int(candidates[0]), chosen)
        errors, columns, units = self._errors(chosen, candidates)
        before = self._error(chosen)
        gains = np.maximum(before - errors, 0.0) + 1e-12 * abs(before)
        if self._costs is not None and exponent:
            costs = np.array([self._costs[unit].sum() for unit in units])
            gains = gains / np.maximum(costs, 1e-9) ** exponent
        at = int(np.argmax(gains >= gains.max() * (1.0 - TIE)))
        return columns[at], units[at]

    def _new(self, column: int, chosen) -> np.ndarray:
        return np.setdiff1d(self.rules.unit(column), chosen).astype(np.int32)

    def _errors(self, chosen, candidates) -> tuple[np.ndarray, list[int], list[np.ndarray]]:
        """Errors with the unit of each candidate, one candidate for each unit, and the units."""
        if self.rules.closures is None:
            errors = self.problem.completion_errors(chosen, candidates)
            return errors, candidates.tolist(), [candidates[i : i + 1] for i in range(len(errors))]
        found = {tuple(self._new(int(i), chosen)): int(i) for i in candidates}
        columns = {unit: found[unit] for unit in sorted(found)}
        units = [np.array(unit, dtype=np.int32) for unit in columns]
        errors = [self._error(np.union1d(chosen, unit)) for unit in units]
        return np.array(errors), list(columns.values()), units

    def _error(self, subset) -> float:
        return float(self.problem.estimate([int(i) for i in subset]))

    # -- better ones ------------------------------------------------------------------

    def improved(
        self, subset, fixed, candidates, deadline: float = np.inf, most: float = np.inf
    ) -> list[int]:
        """Take one unit out and fill up again, until that improves no more, or ``most`` times."""
        return self.improvements(subset, fixed, candidates, deadline, most)[0]

    def improvements(self, subset, fixed, candidates, deadline=np.inf, most=np.inf):
        """The same, and the errors from the start on."""
        subset, error = np.sort(np.asarray(subset, dtype=np.int32)), self._error(subset)
        errors, again = [error], True
        while again:
            again = False
            for column in subset.tolist():
                if expired(deadline) or column not in subset or len(errors) > most:
                    break
                for trial in self._without(column, subset, fixed, candidates, deadline):
                    measured = self._error(trial)
                    if measured < error - TIE * abs(error):
                        subset, error, again = np.array(trial, dtype=np.int32), measured, True
                        errors.append(error)
                        break
        return subset.tolist(), errors

    def random(self, chosen, candidates, rng: np.random.RandomState) -> list[int]:
        """A complete choice by chance."""
        return self.around(rng.permutation(candidates).tolist(), chosen, candidates)

    def around(self, given: Sequence[int], chosen, candidates) -> list[int]:
        """A complete choice with as many of the given columns, in their order, as fit."""
        inside, free = np.asarray(chosen), np.asarray(candidates)
        for column in given:
            trial = np.union1d(inside, self.rules.unit(int(column)))
            node = self.rules.narrowed(trial, np.setdiff1d(free, trial))
            if column in free and node is not None and np.isin(trial, [*inside, *free]).all():
                inside, free = node
        return self._some(inside, free)

    def _some(self, chosen, candidates) -> list[int]:
        """A complete choice, or an error."""
        found = self.complete(chosen, candidates)
        if found is None:
            raise ValueError(self.rules.nothing)
        return found

    def _without(self, column: int, subset, fixed, candidates, deadline) -> Iterator[list[int]]:
        """Complete choices without a column, and without what requires it."""
        out = np.array([i for i in subset if column in self.rules.unit(int(i))])
        if np.isin(out, fixed).any():
            return
        rest = np.setdiff1d(subset, out).astype(np.int32)
        others = np.setdiff1d(candidates, [*rest, *out]).astype(np.int32)
        for exponent in self.exponents:
            trial = self.complete(rest, others, exponent, deadline)
            if trial is not None:
                yield trial

    def neighbours(self, subset, fixed, candidates) -> Iterator[list[int]]:
        """Complete choices that differ in a unit."""
        subset = np.asarray(subset, dtype=np.int32)
        there = {*np.asarray(fixed).tolist(), *np.asarray(candidates).tolist()}
        for column in subset.tolist():
            out = [i for i in subset.tolist() if column in self.rules.unit(i)]
            if set(out) & set(np.asarray(fixed).tolist()):
                continue
            rest = np.setdiff1d(subset, out).astype(np.int32)
            for other in np.setdiff1d(candidates, subset).tolist():
                trial = np.union1d(rest, self.rules.unit(other)).tolist()
                if column not in trial and there.issuperset(trial) and self.rules.obeys(trial):
                    yield trial

    def every(self, chosen, candidates, limit: int) -> list[list[int]] | None:
        """All complete choices if they are no more than ``limit``; else None."""
        found: list[list[int]] = []
        stack, looks = [(np.asarray(chosen), np.asarray(candidates))], 0
        while stack:
            looks += 1
            if looks > 4 * limit or len(found) > limit:
                return None
            node = self.rules.narrowed(*stack.pop())
            if node is None:
                continue
            inside, free = node
            if not len(free):
                found.append(inside.tolist())
                continue
            unit = self._new(int(free[0]), inside)
            stack.append((inside, free[1:]))
            stack.append((np.union1d(inside, unit), np.setdiff1d(free, unit)))
        return found
