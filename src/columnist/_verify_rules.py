r"""Constraints, as a checker of proofs reads them: NumPy and the standard library alone.

A *unit* is what is selected at a time: a column, or a whole group. A *row* a with a limit b stands
for a budget (costs) or for "at most m of some columns" (ones). For any prices
:math:`\lambda \ge 0` of the rows, scores :math:`s_i \ge 0` and every selection A that obeys,

.. math:: \sum_{i \in A} s_i \le \lambda^Tb + \sum_{i \in A} (s_i - \lambda^Ta_i),

and the last sum is at most that of the best units, as many as may be selected. What a column
requires is drawn at every node, and does not count here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

UNIT = 2.0**-53
# Share by which costs may exceed a budget: they are often rounded decimals.
_OVER = 1e-9
# Share that rounding of sums of costs stays below, and most constraints of a proof.
_ROUNDED, _MOST = 1e-12, 10_000
# Prices that are tried at a time, and how often they are narrowed down.
_PRICES, _TURNS = 17, 4


def are_known(constraints: Any, n: int) -> bool:
    """Whether these are constraints on n columns; types and ranges alone."""
    if type(constraints) is not list or len(constraints) > _MOST:
        return False
    grouped = sum(given["kind"] == "groups" for given in constraints)
    return grouped <= 1 and all(_is_known(n, **given) for given in constraints)


def _is_known(n: int, kind: str, **given: Any) -> bool:
    if kind == "groups":
        return _are_columns(given.pop("labels"), n, n) and not given
    if kind == "budget":
        amounts = [*given.pop("costs"), given.pop("budget")]
        sizes = all(type(x) in (int, float) and 0.0 <= x <= 1e100 for x in amounts)
        return sizes and len(amounts) == n + 1 and not given
    some, number = {"at most": ("columns", "m"), "requires": ("others", "column")}[kind]
    columns, one = given.pop(some), given.pop(number)
    most = 2**31 if kind == "at most" else n
    return _are_columns(columns, n) and _are_columns([one], most) and not given


def _are_columns(columns: Any, n: int, count: int | None = None) -> bool:
    whole = type(columns) is list and all(type(j) is int and 0 <= j < n for j in columns)
    return whole and (len(set(columns)) if count is None else count) == len(columns)


class Most(NamedTuple):
    """The most that a sum of scores can be, and how much less at least with each candidate among
    those added, and without it."""

    value: float
    into: np.ndarray
    out: np.ndarray


class Constraints:
    """The selections of a problem that obey its constraints; how many columns these have varies."""

    varies = True

    def __init__(self, problem: dict[str, Any]):
        n = problem["shape"][1]
        self.n, self.size = n, problem["size"]
        self.labels, self.needs = np.arange(n), np.zeros((n, n), dtype=bool)
        rows: list[tuple[np.ndarray, float]] = []
        for given in problem["constraints"]:
            if given["kind"] == "groups":
                self.labels = np.array(given["labels"])
            elif given["kind"] == "requires":
                self.needs[given["column"], given["others"]] = True
            elif given["kind"] == "budget":
                rows.append((np.array(given["costs"], dtype=float), float(given["budget"])))
            else:
                rows.append((np.isin(np.arange(n), given["columns"]) * 1.0, float(given["m"])))
        self.rows = np.array([row for row, _ in rows]).reshape(len(rows), n)
        self.limits = np.array([limit * (1.0 + _OVER) for _, limit in rows])
        self.needed_by = self.needs.any(axis=0).any()

    def obeys(self, subset) -> bool:
        """Whether a selection obeys."""
        there = np.isin(np.arange(self.n), list(subset))
        units = np.unique(self.labels[there])
        if not len(units) or (self.size is not None and len(units) != self.size):
            return False
        if (np.isin(self.labels, units) & ~there).any():
            return False
        paid = zip(self.rows, self.limits, strict=True)
        if any(math.fsum(row[there]) > limit for row, limit in paid):
            return False
        return not (self.needs[there].any(axis=0) & ~there).any()

    def between(self, chosen, added) -> Iterator[tuple[int, ...]]:
        """The selections that obey with all of some columns, and any of others."""
        counts = range(len(added) + 1)
        for more in chain.from_iterable(combinations(added, count) for count in counts):
            if self.obeys(subset := (*chosen, *more)):
                yield subset

    # -- what follows -------------------------------------------------------------------

    def narrowed(self, chosen, candidates) -> tuple[np.ndarray, np.ndarray] | None:
        """All columns that the selections between have, and those that they may have; None if
        nothing obeys."""
        inside, free = np.isin(np.arange(self.n), chosen), np.isin(np.arange(self.n), candidates)
        before = None
        while before != (before := (int(inside.sum()), int(free.sum()))):
            there, n = inside | free, before[0]
            inside |= np.isin(self.labels, self.labels[inside])
            free &= ~np.isin(self.labels, self.labels[~there])
            if self.needed_by:
                inside |= self.needs[inside].any(axis=0)
                free &= ~self.needs[:, ~there].any(axis=1)
            free &= ~inside
            if (inside & ~there).any():
                return None
            # Units are whole once nothing more is forced.
            if inside.sum() == n and not self._drop(inside, free):
                return None
        # Without candidates there is one selection.
        chosen = np.flatnonzero(inside)
        return (chosen, np.flatnonzero(free)) if free.any() or self.obeys(chosen) else None

    def _drop(self, inside: np.ndarray, free: np.ndarray) -> bool:
        """Drop what there is no room for, or choose what is needed; False if nothing obeys."""
        units, where = np.unique(self.labels[free], return_inverse=True)
        needed = 0
        if self.size is not None:
            needed = self.size - len(np.unique(self.labels[inside]))
            if not 0 <= needed <= len(units):
                return False
            if needed in (0, len(units)):
                inside |= free & (needed > 0)
                free[:] = False
                return True
        fits, first = np.ones(len(units), dtype=bool), max(needed, 1) - 1
        for row, room in zip(self.rows, self._room(inside), strict=True):
            costs = np.bincount(where, row[free], len(units))
            order = np.append(np.sort(costs), np.inf)
            if room < 0.0 or order[:needed].sum() * (1.0 - _ROUNDED) > room:
                return False
            # Beside a unit that is none of the cheapest, these have to be paid.
            beside = np.where(costs > order[first], order[:first].sum(), 0.0)
            fits &= (costs + beside) * (1.0 - _ROUNDED) <= room
        free[free] = fits[where]
        return True

    def _room(self, inside: np.ndarray) -> np.ndarray:
        """What is left of the limits, not less than it is."""
        spent = (self.rows * inside).sum(axis=1)
        return self.limits - spent + _ROUNDED * (self.limits + spent)

    # -- linear scores ------------------------------------------------------------------

    def left(self, chosen, candidates) -> int:
        """At most how many columns can be added at a node."""
        n = len(candidates)
        return min(int(self.most(np.ones(n), chosen, candidates).value), n)

    def most(self, scores: np.ndarray, chosen, candidates) -> Most:
        """The most that scores of the candidates, none negative, can add up to."""
        units, where = np.unique(self.labels[candidates], return_inverse=True)
        count = len(units)
        if self.size is not None:
            count = min(count, max(self.size - len(np.unique(self.labels[chosen])), 0))
        room = np.maximum(self._room(np.isin(np.arange(self.n), chosen)), 0.0)
        costs = self.rows[:, candidates]
        binds = costs.sum(axis=1) > room
        room, costs = room[binds], costs[binds]
        own = np.bincount(where, scores, len(units))
        paid = np.array([np.bincount(where, row, len(units)) for row in costs])
        paid = paid.reshape(len(room), len(units))
        prices = self._prices(own, paid, room, count)
        value, sums = _at(prices[None], own, paid, room, count)
        total = float(scores.sum() + prices @ (room + costs.sum(axis=1)))
        charge = 8 * (len(scores) + len(room) + 8) * UNIT * total
        order = np.append(np.sort(np.maximum(sums[0], 0.0))[::-1], 0.0)
        into = np.maximum(order[max(count - 1, 0)] - sums[0], 0.0) - charge
        out = np.maximum(sums[0] - order[count], 0.0) - charge
        return Most(float(value[0]) + charge, into[where], out[where])

    def _prices(self, own, paid, room, count: int) -> np.ndarray:
        """About the best prices, one after the other; any would do."""
        prices = np.zeros(len(room))
        for at in [*range(len(room))] * (1 if len(room) == 1 else 2):
            some = paid[at] > 0.0
            low, high = 0.0, float((own[some] / paid[at, some]).max(initial=0.0))
            for _ in range(_TURNS):
                grid = np.linspace(low, high, _PRICES)
                trial = np.repeat(prices[None], _PRICES, axis=0)
                trial[:, at] = grid
                best = int(np.argmin(_at(trial, own, paid, room, count)[0]))
                low, high = grid[max(best - 1, 0)], grid[min(best + 1, _PRICES - 1)]
            prices[at] = grid[best]
        return prices


def _at(prices, own, paid, room, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The bound at each of some prices, and what is left of the units' scores."""
    sums = own - prices @ paid
    best = np.sort(np.maximum(sums, 0.0), axis=1)[:, ::-1][:, :count]
    return prices @ room + best.sum(axis=1), sums
