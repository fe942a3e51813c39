r"""The constraints of a search together: feasible candidates, and upper bounds on linear scores.

A *unit* is what is chosen at a time: a column, or a whole group. The number of units, where it is
given, is a constraint like the others. For any prices :math:`\lambda \ge 0` of the budgets
:math:`\sum_{i \in S} c_i \le b`,

.. math:: \max_S \sum_{i \in S} s_i \le \lambda b + \max_S \sum_{i \in S} (s_i - \lambda c_i),

where S on the right obeys the other constraints, or any of them alone. The best price is found by
golden sections; every price gives a valid bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from columnist.constraints import Budget, Constraint, Groups, Requires
from columnist.data._validation import resolve_size
from columnist.linalg._rounding import UNIT

# Steps of the search for the best price.
_STEPS = 12
# Shares of a budget that count as nothing.
_NOTHING = 1e-12
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


class Rules:
    """The constraints of a search.

    Parameters
    ----------
    constraints : sequence of Constraint
        Resolved.
    n_features : int
        Number of columns.
    size : int or None
        Units that a complete choice has; None for any number, one at least.
    """

    def __init__(self, constraints: Sequence[Constraint], n_features: int, size: int | None):
        self.constraints, self.n_features, self.size = tuple(constraints), n_features, size
        # As messages show them.
        self.given = self.constraints
        self.names: Sequence[str] | None = None
        groups = [c for c in self.constraints if isinstance(c, Groups)]
        if len(groups) > 1:
            raise ValueError("constraints holds several Groups: give every column one label.")
        self.grouped = bool(groups)
        self.labels = groups[0].numbers if groups else np.arange(n_features)
        self.budgets = [c for c in self.constraints if isinstance(c, Budget)]
        # Constraints that are expressed by required columns need no check at nodes.
        self._asked = [c for c in self.constraints if not isinstance(c, Groups | Requires)]
        self.others = [c for c in self._asked if not isinstance(c, Budget)]

    @classmethod
    def of(cls, constraints: Sequence[Constraint], n_features: int, names) -> Rules:
        """From constraints as a user gives them, for any number of units."""
        rules = cls([c.resolve(n_features, names) for c in constraints], n_features, None)
        rules.given, rules.names = tuple(constraints), names
        return rules

    def asked(self, size, name: str = "n_features_to_select") -> Rules:
        """The same for what ``n_features_to_select`` asks for: None is any number with a budget,
        else half."""
        if size is None and self.budgets:
            return self
        what = "groups" if self.grouped else "features"
        return self.sized(resolve_size(size, self.n_units, name=name, what=what))

    def sized(self, size: int | None) -> Rules:
        """The same with another number of units."""
        other = copy(self)
        other.size = size
        return other

    def around(self, subset: Sequence[int]) -> Rules:
        """The same for choices that compete with a given one: of its size, or of any within a
        budget; an error if it does not obey."""
        rules = self.sized(None if self.budgets else len(np.unique(self.labels[list(subset)])))
        for given, constraint in zip(self.given, self.constraints, strict=True):
            if not constraint.obeys(list(subset)):
                raise ValueError(f"columns do not obey {given.describe(self.names)}.")
        return rules

    @property
    def n_units(self) -> int:
        """Number of columns, or of groups."""
        return len(np.unique(self.labels))

    @cached_property
    def closures(self) -> np.ndarray | None:
        """Row j: the columns that every choice contains which contains j; None if j alone."""
        n = self.n_features
        found = np.eye(n, dtype=bool)
        for row in found:
            self._close(row)
        return None if found.sum() == n else found

    def _close(self, inside: np.ndarray) -> None:
        """Add what the constraints force."""
        before = -1
        while (count := int(inside.sum())) != before:
            before = count
            for constraint in self.constraints:
                inside[constraint.forced(np.flatnonzero(inside))] = True

    def count(self, columns: Sequence[int] | np.ndarray) -> int:
        """How many units these columns, each given once, belong to."""
        return len(np.unique(self.labels[columns])) if self.grouped else len(columns)

    def unit(self, column: int) -> np.ndarray:
        """A column with the columns that it requires."""
        if self.closures is None:
            return np.array([column], dtype=np.int32)
        return np.flatnonzero(self.closures[column]).astype(np.int32)

    # -- what is possible -------------------------------------------------------------

    def obeys(self, subset: Sequence[int] | np.ndarray) -> bool:
        """Whether a complete choice obeys all constraints."""
        subset = list(dict.fromkeys(int(i) for i in subset))
        n_units = self.count(subset)
        if n_units == 0 or (self.size is not None and n_units != self.size):
            return False
        return all(constraint.obeys(subset) for constraint in self.constraints)

    def narrowed(
        self, chosen: np.ndarray, candidates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """What is chosen and what may be added, once all that follows is drawn; None if no choice
        between the two obeys."""
        inside, free = np.zeros((2, self.n_features), dtype=bool)
        inside[chosen], free[candidates] = True, True
        before = None
        while (state := (int(inside.sum()), int(free.sum()))) != before:
            before = state
            if not (self._take_forced(inside, free) and self._drop(inside, free)):
                return None
        found = np.flatnonzero(inside).astype(np.int32), np.flatnonzero(free).astype(np.int32)
        return found if len(found[1]) or self.obeys(found[0]) else None

    def _take_forced(self, inside: np.ndarray, free: np.ndarray) -> bool:
        """Choose what is forced; False if that is not there."""
        there = inside | free
        if self.closures is not None:
            inside |= self.closures[inside].any(axis=0)
            # A column whose company is gone is gone, too.
            free &= ~self.closures[:, ~there].any(axis=1)
        for constraint in self._asked:
            inside[constraint.forced(np.flatnonzero(inside))] = True
        free &= ~inside
        return not (inside & ~there).any()

    def _drop(self, inside: np.ndarray, free: np.ndarray) -> bool:
        """Leave out candidates that may not be added; False if nothing obeys."""
        chosen = np.flatnonzero(inside)
        for constraint in self._asked:
            items = np.flatnonzero(free)
            allowed = constraint.allowed(chosen, items)
            if allowed is None:
                return False
            free[items[~np.asarray(allowed, dtype=bool)]] = False
        if self.size is None:
            needed = 0
        else:
            needed = self.size - self.count(chosen)
            n_free = self.count(np.flatnonzero(free))
            if needed < 0 or n_free < needed:
                return False
            if needed == 0:
                free[:] = False
            elif n_free == needed:
                inside |= free
                free[:] = False
        return all(self._affordable(budget, inside, free, needed) for budget in self.budgets)

    def _affordable(self, budget: Budget, inside, free, needed: int) -> bool:
        """Leave out what cannot be paid, the cheapest others that are needed included."""
        left, items = budget.left(np.flatnonzero(inside)), np.flatnonzero(free)
        if left < 0.0 or not len(items):
            return left >= 0.0
        costs = budget.prices[items]
        if self.closures is not None:
            costs = self.closures[items] @ np.where(inside, 0.0, budget.prices)
        free[items[costs > left]] = False
        if needed < 2:
            return True
        _, where = np.unique(self.labels[items], return_inverse=True)
        units = np.bincount(where, budget.prices[items])
        order = np.sort(units)
        rest = float(order[: needed - 1].sum()) * (1.0 - 1e-12)
        free[items[((units > order[needed - 1]) & (units + rest > left))[where]]] = False
        return float(order[:needed].sum()) * (1.0 - 1e-12) <= left

    # -- conflicts --------------------------------------------------------------------

    def check(self, include: Sequence[int], exclude: Sequence[int], names) -> None:
        """Raise an error that names what makes every choice impossible, as far as that is easy to
        see."""
        shown = [str(i) if names is None else str(names[i]) for i in range(self.n_features)]
        free = np.ones(self.n_features, dtype=bool)
        free[list(exclude)] = False
        given, inside = np.array(sorted(include), dtype=np.int32), ~np.ones_like(free)
        inside[given] = True
        self._close(inside)
        for whole in (given, np.flatnonzero(inside)):
            for constraint in self.constraints:
                conflict = constraint.conflict(whole, np.flatnonzero(free), shown)
                if conflict:
                    raise ValueError(conflict)
        self._check_size(inside, free, len(include))
        free[given] = False
        if self.narrowed(given, np.flatnonzero(free).astype(np.int32)) is None:
            raise ValueError(self.nothing)

    def _check_size(self, inside: np.ndarray, free: np.ndarray, n_included: int) -> None:
        """The same for the number of units."""
        if self.size is None:
            return
        what = "groups" if self.grouped else "columns"
        asked, there = (len(np.unique(self.labels[mask])) for mask in (inside, free))
        if asked > self.size:
            raise ValueError(
                f"include asks for {asked} {what} with all that they bring along, but only "
                f"{self.size} are to be selected: raise n_features_to_select or include fewer."
            )
        if there < self.size:
            raise ValueError(
                f"exclude leaves {there} {what}, but {self.size} are to be selected: lower "
                "n_features_to_select or exclude fewer."
            )
        columns = np.flatnonzero(free)
        units, where = np.unique(self.labels[columns], return_inverse=True)
        for budget in self.budgets:
            cheapest = np.sort(np.bincount(where, budget.prices[columns]))[: self.size].sum()
            if len(units) and cheapest > budget.limit:
                raise ValueError(
                    f"Budget of {budget.budget:g} cannot pay for {self.size} {what}: the cheapest "
                    f"cost {cheapest:g}. Lower n_features_to_select, or raise the budget."
                )
        if not self.grouped:
            self._check_room(columns, self.size)

    def _check_room(self, columns: np.ndarray, size: int) -> None:
        """The same for one constraint and the number of columns."""
        nothing = np.empty(0, dtype=np.intp)
        for given, constraint in zip(self.given, self.constraints, strict=True):
            if constraint not in self.others:
                continue
            most = constraint.most(np.ones(len(columns)), nothing, columns, len(columns))
            if int(most + 1e-6) < size:
                raise ValueError(
                    f"There is room for {int(most + 1e-6)} columns with "
                    f"{given.describe(self.names)}, but {size} are to be selected: lower "
                    "n_features_to_select, or relax it."
                )

    @property
    def words(self) -> str:
        """What a choice has to obey, for messages."""
        named = ", ".join(given.describe(self.names) for given in self.given)
        if self.size is None:
            return f"obeys {named}"
        return f"of {self.size} {'groups' if self.grouped else 'columns'} obeys {named}"

    @property
    def nothing(self) -> str:
        """What to say if there is no choice."""
        return f"No selection {self.words}, or none was found: relax one of them."

    # -- linear scores ----------------------------------------------------------------

    def node(self, chosen: np.ndarray, candidates: np.ndarray) -> Possible:
        """What may be added at a node."""
        return Possible(self, chosen, candidates)


class Maximum(NamedTuple):
    """The most that a linear score can reach; for every unit of the candidates, by how much less
    that is if it is among those added, and if it is not; what a unit costs, and what there is."""

    value: float
    loss_in: np.ndarray
    loss_out: np.ndarray
    prices: np.ndarray
    capacity: float


class Possible:
    """A node as linear scores see it.

    Attributes
    ----------
    units : ndarray of int
        Number of the unit of each candidate, from 0 on.
    most_columns : int
        How many candidates can be added at most.
    needed : int or None
        Units that have to be added.
    """

    def __init__(self, rules: Rules, chosen: np.ndarray, candidates: np.ndarray):
        self.rules, self.chosen, self.candidates = rules, chosen, candidates
        self.n_units, self.units = len(candidates), np.arange(len(candidates))
        if rules.grouped:
            labels, self.units = np.unique(rules.labels[candidates], return_inverse=True)
            self.n_units = len(labels)
        self.needed = None
        if rules.size is not None:
            self.needed = rules.size - rules.count(chosen)
        self.limit = self.n_units if self.needed is None else min(self.needed, self.n_units)
        self._budgets = [_shares(b, chosen, candidates) for b in rules.budgets]
        self.most_columns = len(candidates)
        most = self.maximum(np.ones(len(candidates))).value
        self.most_columns = min(int(most + 1e-6), len(candidates))

    def maximum(self, scores: np.ndarray) -> Maximum:
        """The most that scores of the candidates, none negative, can reach."""
        best, found = np.inf, None
        for left, costs in self._budgets or [(0.0, np.zeros(len(scores)))]:
            price = self._price(scores, left, costs)
            value = self._value(scores, left, costs, price)
            if found is None or value < best:
                best, found = value, (price, left, costs)
        assert found is not None
        return self._with_losses(scores, best, *found)

    def _value(self, scores, left: float, costs, price: float) -> float:
        """The bound at a price, rounding included."""
        tilted = scores - price * costs
        value = _top(self._sums(tilted), self.limit)
        for constraint in self.rules.others:
            own = constraint.most(tilted, self.chosen, self.candidates, self.most_columns)
            value = min(value, float(own))
        return price * left + value + self._rounding(scores, left, costs, price)

    def _sums(self, scores: np.ndarray) -> np.ndarray:
        """Sums of the units."""
        return np.bincount(self.units, scores) if self.rules.grouped else scores

    def _rounding(self, scores, left: float, costs, price: float) -> float:
        paid = price * (left + float(costs.sum()))
        return 8.0 * (len(scores) + 8) * UNIT * (paid + float(scores.sum()))

    def _price(self, scores, left: float, costs) -> float:
        """The best price of a budget, about."""
        if not costs.any() or left >= costs.sum():
            return 0.0
        paid = costs > 0.0
        high = float((scores[paid] / costs[paid]).max())
        if self.n_units == len(scores) and not self.rules.others:
            order = np.argsort(-scores[paid] / costs[paid], kind="stable")
            at = int(np.searchsorted(np.cumsum(costs[paid][order]), left))
            high = float((scores[paid] / costs[paid])[order[min(at, len(order) - 1)]])
            if np.count_nonzero(scores > high * costs) <= self.limit:
                return high
        return self._golden(scores, left, costs, high)

    def _golden(self, scores, left: float, costs, high: float) -> float:
        a, b = 0.0, high

        def value(price: float) -> float:
            return self._value(scores, left, costs, price)

        x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        at_x, at_y = value(x), value(y)
        for _ in range(_STEPS):
            if at_x <= at_y:
                b, y, at_y = y, x, at_x
                x = b - _GOLDEN * (b - a)
                at_x = value(x)
            else:
                a, x, at_x = x, y, at_y
                y = a + _GOLDEN * (b - a)
                at_y = value(y)
        return min((0.0, x, y, high), key=value)

    def _with_losses(self, scores, best: float, price: float, left: float, costs) -> Maximum:
        """What units lose, by the number of units and the price alone."""
        sums = self._sums(scores - price * costs)
        order = np.sort(np.maximum(sums, 0.0))[::-1]
        last = float(order[self.limit - 1])
        beyond = float(order[self.limit]) if self.limit < self.n_units else 0.0
        top = price * left + _top(sums, self.limit)
        # Where the others say more, nothing is lost at first.
        slack = max(top + self._rounding(scores, left, costs, price) - best, 0.0)
        loss_in = np.maximum(last - sums, 0.0) - slack
        loss_out = np.maximum(sums - beyond, 0.0) - slack
        prices = price * self._sums(costs) + beyond
        return Maximum(best, loss_in, loss_out, prices, price * left + beyond * self.limit)


def _shares(budget: Budget, chosen, candidates) -> tuple[float, np.ndarray]:
    """What is left of a budget, as 1, and what each candidate takes of it, not more than it does:
    next to nothing counts as nothing."""
    left, costs = budget.left(chosen), budget.prices[candidates]
    if left <= 0.0:
        return 0.0, np.zeros(len(costs))
    return 1.0, np.where(costs > _NOTHING * left, costs / left * (1.0 - 4.0 * UNIT), 0.0)


def _top(sums: np.ndarray, limit: int) -> float:
    """The largest sum of at most ``limit`` numbers."""
    positive = np.maximum(sums, 0.0)
    if limit < len(positive):
        positive = np.partition(positive, len(positive) - max(limit, 1))[len(positive) - limit :]
    return float(positive.sum())
