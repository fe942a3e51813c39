r"""The column-selection problem with constraints, for every criterion.

A node is divided in two: a unit (a column or a group, with the columns that it requires) is chosen,
or it is left out. At every node, the consequences of the constraints are applied first: columns
that must be selected too, and columns that are no longer possible. How many columns may still be
added, t, is a linear score like any other (:mod:`columnist.selection._rules`), and the bounds of
:mod:`columnist.selection._columns` hold for up to t columns. Under the squared Frobenius norm the
relaxation comes before them (:mod:`columnist.selection._unit_relaxation`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from columnist.criteria import is_frobenius
from columnist.linalg._rounding import UNIT, above
from columnist.linalg._secular import downdated_eigenvalues
from columnist.linalg._ties import TIE
from columnist.search._downdates import Moment
from columnist.search._interrupts import expired
from columnist.search._problem import Branches, Demand, Part, Step, Trace
from columnist.selection._columns import InvariantColumns
from columnist.selection._feasible import Feasible
from columnist.selection._logistic import LogisticColumns
from columnist.selection._rules import Maximum, Possible, Rules
from columnist.selection._unit_relaxation import UnitRelaxation

# Share of the time for the first choice.
_FIRST_SHARE = 0.25
# Up to so many columns to add, candidates are examined one by one.
_FEW = 4
_DIRECTIONS, _RELAXATION = "unconstrained directions", "relaxation"


class Looked(NamedTuple):
    """What a bound says of a node: the bound, the candidates that are left out and those that are
    chosen, as booleans, how much each promises, what to start from, bounds with each one, if they
    are better, and the z of a relaxation."""

    bound: float
    dropped: np.ndarray
    fixed: np.ndarray
    promise: np.ndarray
    hint: np.ndarray | None = None
    with_it: np.ndarray | None = None
    z: np.ndarray | None = None


class Constrained:
    """A problem with constraints, for :mod:`columnist.search`.

    Parameters
    ----------
    problem : object
        The same without: it measures choices.
    rules : Rules
        Constraints.
    """

    def __init__(self, problem: Any, rules: Rules):
        self.problem, self.rules = problem, rules
        self.n_items, self.exact, self.least = problem.n_items, problem.exact, problem.least
        self.size = rules.n_features if rules.size is None else rules.size
        self._include, self.candidates = problem.root()
        self.feasible = Feasible(problem, rules)
        self._rng = np.random.default_rng(0)

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Included columns and candidates."""
        return self._include, self.candidates

    def root_bounds(self) -> tuple[float, float]:
        """Lower bound of all choices, and the error of the included columns."""
        return self.problem.root_bounds()

    @property
    def nothing(self) -> str:
        """What to say if there is no complete choice."""
        return self.rules.nothing

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice."""
        return self.problem.value(subset)

    def interval(self, subset: Sequence[int], limit: float = np.inf) -> tuple[float, float]:
        """Where the error of a complete choice lies."""
        return self.problem.interval(subset, limit)

    def estimate(self, subset: Sequence[int]) -> float:
        """About the error of a complete choice."""
        return self.problem.estimate(subset)

    def completion_errors(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Error of ``chosen`` and each one of the candidates."""
        return self.problem.completion_errors(chosen, candidates)

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        return 1e-3 + 2.0 * self.problem.cost()

    # -- complete choices -------------------------------------------------------------

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Greedy by gain, and by gain for the cost, and what exchanges make of them."""
        now = time.perf_counter()
        deadline = now + _FIRST_SHARE * (deadline - now) if np.isfinite(deadline) else deadline
        for exponent in self.feasible.exponents:
            first = self.feasible.complete(chosen, candidates, exponent, deadline)
            if first is not None:
                yield first
                yield self.feasible.improved(first, chosen, candidates, deadline)
            if expired(deadline):
                return

    def improve(self, known, operations: float, deadline: float) -> list[int] | None:
        """Another start: a part of the best choice, filled up and improved."""
        known = np.asarray(known, dtype=np.int32)
        free = np.setdiff1d(known, self._include)
        if not len(free):
            return None
        out = self._rng.choice(free, size=min(len(free), 1 + len(free) // 4), replace=False)
        rest = [i for i in known.tolist() if not set(self.rules.unit(i).tolist()) & set(out)]
        start = np.union1d(rest, self._include).astype(np.int32)
        others = np.setdiff1d(self.candidates, [*start, out[0]]).astype(np.int32)
        exponent = self._rng.choice(self.feasible.exponents)
        found = self.feasible.complete(start, others, float(exponent), deadline)
        if found is None:
            return None
        return self.feasible.improved(found, self._include, self.candidates, deadline)

    def completed(self, subset: Sequence[int], deadline: float) -> list[int] | None:
        """A complete choice that contains a part, or None."""
        if self.rules.obeys(subset):
            return list(subset)
        part = np.union1d(subset, self._include).astype(np.int32)
        others = np.setdiff1d(self.candidates, part).astype(np.int32)
        return self.feasible.complete(part, others, deadline=deadline)

    def neighbours(self, subset: Sequence[int]) -> Iterator[list[int]]:
        """Complete choices that differ in a unit."""
        return self.feasible.neighbours(subset, self._include, self.candidates)

    def every(self, limit: int) -> list[list[int]] | None:
        """All complete choices, if they are few."""
        return self.feasible.every(self._include, self.candidates, limit)

    def prefer_smaller(self, subset: Sequence[int], deadline: float) -> tuple[int, ...]:
        """Among equally good choices that differ in a unit, the one with smaller indices."""
        best, again = tuple(sorted(int(i) for i in subset)), True
        error = self.value(best)
        size = above(error, self.least)
        best = self._without_idle(best, error + TIE * size)
        while again:
            again = False
            for trial in self.neighbours(best):
                if expired(deadline):
                    return best
                if tuple(trial) < best and self.value(trial) <= error + TIE * size:
                    best, again = tuple(trial), True
                    break
        return best

    def _without_idle(self, subset: tuple[int, ...], error: float) -> tuple[int, ...]:
        """Without columns that add nothing, where any number may be chosen."""
        if self.rules.size is not None:
            return subset
        for column in reversed(subset):
            out = {i for i in subset if column in self.rules.unit(i)}
            rest = tuple(i for i in subset if i not in out)
            kept = not out & set(self._include.tolist())
            if kept and self.rules.obeys(rest) and self.value(rest) <= error:
                subset = rest
        return subset

    # -- nodes ------------------------------------------------------------------------

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """The parts of a node, with the unit of its last candidate and without."""
        branch, nodes = -1, [(chosen, candidates, None)]  # type: list[tuple[Any, Any, Any]]
        if demand.hint is not None:
            branch, rest = int(candidates[-1]), (candidates[:-1], demand.hint[:-1])
            nodes = [(np.append(chosen, candidates[-1]), *rest), (chosen, *rest)]
        tally: dict[str, tuple[int, int]] = {}
        parts: list[Part] = []
        goals: list[tuple[float, tuple[int, ...]]] = []
        chains: list[tuple[bool, list[Step]]] = []
        for inside, free, start in nodes:
            steps: list[Step] = []
            part = self._shrunk(inside, free, start, demand, goals, tally, steps)
            chains.append((part is not None, steps))
            if part is not None:
                parts.append(part)
        return Branches(
            min((part.bound for part in parts), default=np.inf), goals=sorted(goals), parts=parts,
            explored=sum(count for count, _ in tally.values()), tally=tally,
            trace=Trace(branch, chains) if demand.trace else None,
        )  # fmt: skip

    def _shrunk(
        self, chosen, candidates, hint, demand: Demand, goals, tally, steps: list[Step]
    ) -> Part | None:
        """A node without what is decided; None if nothing is left of it but the goals. The steps
        to it are noted."""
        bound = -np.inf
        while True:
            given = candidates
            narrowed = self.rules.narrowed(chosen, candidates)
            if narrowed is None:
                return None
            inside, free = narrowed
            hint = None if hint is None else _kept(candidates, hint, free)
            chosen, candidates = inside, free
            if self._ends(chosen, candidates, demand, goals):
                return None
            node = self.rules.node(chosen, candidates)
            if node.needed is not None and node.most_columns < node.needed:
                return None
            looked = self._look(node, demand.threshold, hint, tally)
            bound = max(bound, looked.bound)
            step = _step(given, node, looked, bound >= demand.threshold)
            if demand.trace and (step.marks is None or step.marks.any()):
                steps.append(step)
            if bound >= demand.threshold:
                return None
            if node.most_columns <= 1:
                self._last(node, looked, demand, goals)
                return None
            hint = looked.hint
            if not (looked.dropped.any() or looked.fixed.any()):
                break
            chosen = np.union1d(chosen, candidates[looked.fixed]).astype(np.int32)
            left = ~(looked.dropped | looked.fixed)
            hint = None if hint is None else hint[left]
            candidates = candidates[left]
        last = int(np.argmax(looked.promise))
        order = np.append(np.delete(np.arange(len(candidates)), last), last)
        start = np.ones(len(candidates), dtype=np.float32) if hint is None else hint
        return Part(chosen, candidates[order], bound, start[order])

    def _ends(self, chosen, candidates, demand: Demand, goals) -> bool:
        """Whether one choice is the best of a node: all its columns, if that obeys."""
        if len(candidates) and demand.n_best > 1:
            return False
        everything = np.union1d(chosen, candidates)
        if len(candidates) and not self.rules.obeys(everything):
            return False
        self._goal(everything, self.problem.interval, demand, goals)
        return True

    def _goal(self, subset, lower, demand: Demand, goals) -> None:
        """Note a choice if it is complete, with a bound or what tells it."""
        subset = tuple(sorted(int(i) for i in subset))
        if self.rules.obeys(subset):
            low = lower(subset, demand.threshold)[0] if callable(lower) else float(lower)
            if low < demand.threshold:
                goals.append((low, subset))

    def _last(self, node: Possible, looked: Looked, demand: Demand, goals) -> None:
        """The choices of a node to which one column can be added at most."""
        self._goal(node.chosen, self.problem.interval, demand, goals)
        bounds = np.full(len(node.candidates), max(looked.bound, self.least))
        bounds = bounds if looked.with_it is None else np.maximum(bounds, looked.with_it)
        for item, bound in zip(node.candidates, bounds, strict=True):
            self._goal([*node.chosen, item], bound, demand, goals)

    def _look(self, node: Possible, threshold: float, hint, tally) -> Looked:
        """The bound of a node."""
        raise NotImplementedError


class ConstrainedColumns(Constrained):
    """Columns with constraints, under any criterion, with or without components."""

    problem: InvariantColumns

    def root_bounds(self) -> tuple[float, float]:
        """Lower bound of all choices, and the error of the included columns."""
        return self._root

    @cached_property
    def _root(self) -> tuple[float, float]:
        """What as many columns as may be added, or all candidates, leave at least."""
        low, high = self.problem.root_bounds()
        if not len(self.candidates):
            return low, high
        spanned = self._spanned(self.rules.node(*self.root()), -np.inf)
        return max(low, spanned.bound), high

    def __init__(self, problem: InvariantColumns, rules: Rules):
        super().__init__(problem, rules)
        self._relaxation: UnitRelaxation | None = None
        if is_frobenius(problem.criterion) and problem.n_components == 0:
            relaxation = UnitRelaxation(problem.reduced, rules.labels)
            self._relaxation = relaxation if relaxation.usable else None

    def _look(self, node: Possible, threshold: float, hint, tally) -> Looked:
        """By relaxation, then by unconstrained directions where few columns may be added, or the
        relaxation says nothing."""
        looked = None
        if self._relaxation is not None and node.most_columns > 1:
            looked = self._relaxed(node, threshold, hint)
            if looked is not None:
                _count(tally, _RELAXATION, looked.bound >= threshold)
                if looked.bound >= threshold or node.most_columns > _FEW:
                    return looked
        spanned = self._spanned(node, threshold)
        _count(tally, _DIRECTIONS, spanned.bound >= threshold)
        if looked is None:
            return spanned
        return Looked(
            max(looked.bound, spanned.bound), looked.dropped | spanned.dropped, looked.fixed,
            looked.promise, looked.hint, spanned.with_it, looked.z,
        )  # fmt: skip

    def _relaxed(self, node: Possible, threshold: float, hint) -> Looked | None:
        """The bound by relaxation, and what it decides."""
        assert self._relaxation is not None
        unit = self.problem.scale**2
        found = self._relaxation.evaluate(node, threshold / unit, hint)
        if found is None:
            return None
        dropped, fixed = _decided(found.most, found.bound, threshold / unit, node)
        promise = found.promise[node.units]
        return Looked(unit * found.bound, dropped, fixed, promise, found.z, z=found.given)

    def _spanned(self, node: Possible, threshold: float) -> Looked:
        """The bound by unconstrained directions, of the node and with each candidate."""
        problem, t, r = self.problem, node.most_columns, self.problem.n_components
        n, nothing = len(node.candidates), np.zeros(len(node.candidates), dtype=bool)
        moment = problem.moment(node.chosen, node.candidates)
        promise = np.square(moment.Z).sum(axis=1)
        promise = np.bincount(node.units, promise)[node.units]
        if moment.doubtful:
            return Looked(self.least, nothing, nothing, promise)
        untouched = moment.untouched(np.arange(n))[r:]
        bound = problem.node_bound(moment, untouched, t)
        if bound >= threshold or t == 0:
            return Looked(bound, nothing, nothing, promise)
        with_it = np.maximum(_with_each(problem, moment, t - 1), bound)
        return Looked(bound, with_it >= threshold, nothing, promise, with_it=with_it)


def _with_each(problem: InvariantColumns, moment: Moment, t: int) -> np.ndarray:
    """Bounds of a node with each candidate, and up to t more."""
    lam, Z = moment.lam, moment.Z
    if is_frobenius(problem.criterion):  # all but the leading ones: the trace tells their sum
        top = downdated_eigenvalues(lam, Z, 0, min(t + problem.n_components, len(lam)))
        left = lam.sum() - np.einsum("ij,ij->i", Z, Z) - top.sum(axis=1)
        return problem.scale**2 * np.maximum(left - len(lam) * moment.charges, 0.0)
    roots = downdated_eigenvalues(lam, Z, *problem.counted(t, len(lam)))
    return problem.errors(np.maximum(roots - moment.charges[:, None], 0.0))


class ConstrainedClasses(Constrained):
    """Columns with constraints under the log-loss: nodes by relaxation alone.

    The bound of :mod:`columnist.selection._logistic` holds for choices of any number of columns:
    the most that their g reach within the constraints takes the place of the largest.
    """

    problem: LogisticColumns

    def _look(self, node: Possible, threshold: float, hint, tally) -> Looked:
        """The bound of the relaxation for as many columns as may be added."""
        form, t = self.problem.form, node.most_columns
        chosen, candidates = (self.problem.places(c) for c in (node.chosen, node.candidates))
        start = None if hint is None or hint.ndim == 1 else hint
        relaxed = form.relax(chosen, candidates, max(t, 1), threshold, start)
        g = relaxed.g * (1.0 + 4.0 * UNIT)
        most = node.maximum(g)
        bound = relaxed.base - most.value
        dropped, fixed = _decided(most, bound, threshold, node)
        _count(tally, _RELAXATION, bound >= threshold)
        promise = np.bincount(node.units, relaxed.z * g)[node.units]
        return Looked(bound, dropped, fixed, promise, relaxed.start, relaxed.base - g)


def _decided(most: Maximum, bound: float, threshold: float, node: Possible):
    """Candidates of units that no good choice contains, and that every one contains."""
    room = threshold - bound
    dropped, fixed = most.loss_in >= room, most.loss_out >= room
    return dropped[node.units], (fixed & ~dropped)[node.units]


def _step(given: np.ndarray, node: Possible, looked: Looked, closed: bool) -> Step:
    """What a bound says of all candidates that were given, before what follows was drawn."""
    z, marks = np.ones(len(given)), np.full(len(given), 2, dtype=np.uint8)
    marks[np.isin(given, node.chosen)] = 1
    order = np.argsort(given)
    order = order[np.isin(given[order], node.candidates)]
    marks[order] = np.where(looked.fixed, 1, 2 * looked.dropped)
    if looked.z is not None:
        z[order] = looked.z
    return Step(given, z, None if closed else marks)


def _kept(candidates: np.ndarray, hint: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """What belongs to some of the candidates, which come in ascending order."""
    order = np.argsort(candidates, kind="stable")
    return hint[order[np.searchsorted(candidates, kept, sorter=order)]]


def _count(tally: dict[str, tuple[int, int]], kind: str, closed: bool) -> None:
    bounded, so_far = tally.get(kind, (0, 0))
    tally[kind] = bounded + 1, so_far + int(closed)
