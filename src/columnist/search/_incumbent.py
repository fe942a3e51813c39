"""A good first choice: greedy, then exchanges until none improves it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from columnist.linalg._rounding import above
from columnist.linalg._ties import TIE
from columnist.search._interrupts import expired
from columnist.search._problem import SubsetProblem

Items = Sequence[int] | np.ndarray
# Errors that may turn out to be equal when they are computed with care.
_NEAR = 1e-9


def _first_best(errors: np.ndarray) -> int:
    """Index of the smallest error, the first one among near ties."""
    best = errors.min()
    return int(np.argmax(errors <= best + TIE * abs(best)))


def _without(items: np.ndarray, taken: Items, n: int) -> np.ndarray:
    """Items that are not taken, all of them below n."""
    free = np.ones(n, dtype=bool)
    free[taken] = False
    return items[free[items]]


def greedy(
    problem: SubsetProblem, chosen: Items, candidates: np.ndarray, *, deadline: float = np.inf
) -> list[int]:
    """Add the item that lowers the error most, until ``problem.size`` are chosen; once the time is
    up, the items that looked best last fill the choice."""
    chosen = [int(i) for i in chosen]
    left = np.sort(np.asarray(candidates, dtype=np.int32))
    seconds, errors = 0.0, np.zeros(len(left))
    while len(chosen) < problem.size:
        started = time.perf_counter()
        if expired(deadline - seconds):  # the next step takes as long as the last one
            order = left[np.argsort(errors, kind="stable")]
            return chosen + [int(i) for i in order[: problem.size - len(chosen)]]
        errors = problem.completion_errors(np.asarray(chosen, dtype=np.int32), left)
        at = _first_best(errors)
        chosen.append(int(left[at]))
        left, errors = np.delete(left, at), np.delete(errors, at)
        seconds = time.perf_counter() - started
    return chosen


def exchange(
    problem: SubsetProblem,
    subset: Sequence[int],
    fixed: Items,
    candidates: np.ndarray,
    *,
    deadline: float = np.inf,
) -> list[int]:
    """Replace one item, but for ``fixed`` ones, by the best other one, until no single exchange
    improves. Never worse than ``subset``, as far as the problem's estimates tell."""
    subset = [int(i) for i in subset]
    value = getattr(problem, "estimate", problem.value)
    error = value(subset)
    movable = [i for i in range(len(subset)) if subset[i] not in set(fixed)]
    allowed = np.sort(np.asarray(candidates, dtype=np.int32))
    n = 1 + max([*subset, int(allowed.max(initial=0))])
    stale, seconds = 0, 0.0
    while movable and stale < len(movable):
        position = movable.pop(0)
        movable.append(position)
        started = time.perf_counter()
        if expired(deadline - seconds):
            break
        rest = np.array(subset[:position] + subset[position + 1 :], dtype=np.int32)
        others = _without(allowed, rest, n)
        errors = problem.completion_errors(rest, others)
        at = _first_best(errors)
        stale += 1
        if errors[at] < error - TIE * abs(error):
            trial = [*subset[:position], int(others[at]), *subset[position + 1 :]]
            measured = value(trial)
            if measured < error:
                subset, error, stale = trial, measured, 0
        seconds = time.perf_counter() - started
    return subset


def incumbents(
    problem: SubsetProblem, chosen: Items, candidates: np.ndarray, deadline: float
) -> Iterator[list[int]]:
    """Better and better complete sets: the problem's own, or greedy and then exchanges."""
    own = getattr(problem, "incumbents", None)
    if own is not None:
        yield from own(chosen, candidates, deadline)
        return
    subset = greedy(problem, chosen, candidates, deadline=deadline)
    yield subset
    yield exchange(problem, subset, chosen, candidates, deadline=deadline)


def prefer_smaller(
    problem: SubsetProblem,
    subset: Sequence[int],
    fixed: Items,
    candidates: np.ndarray,
    *,
    deadline: float = np.inf,
) -> tuple[int, ...]:
    """Among equally good single exchanges, move to smaller indices (ties, duplicates)."""
    if (own := getattr(problem, "prefer_smaller", None)) is not None:
        return own(subset, deadline)
    subset = sorted(int(i) for i in subset)
    error = problem.value(subset)
    size = above(error, getattr(problem, "least", -np.inf))
    allowed = np.sort(np.asarray(candidates, dtype=np.int32))
    n = 1 + max([*subset, int(allowed.max(initial=0))])
    for item in list(subset):
        if item in set(fixed) or expired(deadline):
            continue
        rest = [i for i in subset if i != item]
        smaller = _without(allowed[allowed < item], rest, n)
        if smaller.size == 0:
            continue
        errors = problem.completion_errors(np.array(rest, dtype=np.int32), smaller)
        for other in smaller[errors <= error + _NEAR * abs(error)]:
            trial = sorted([*rest, int(other)])
            if problem.value(trial) <= error + TIE * size:
                subset = trial
                break
    return tuple(subset)
