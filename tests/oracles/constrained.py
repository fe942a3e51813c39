"""Constraints written out as conditions, and the best choices that obey them, by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, combinations

from columnist.constraints import AtMost, Budget, Constraint, Groups, Requires

__all__ = ["best_choices", "every_choice", "obeys"]


def obeys(constraint: Constraint, subset: frozenset[int]) -> bool:
    """Whether a choice obeys a constraint with indices."""
    if isinstance(constraint, Groups):
        return all(
            (i in subset) == (j in subset)
            for i, one in enumerate(constraint.labels)
            for j, other in enumerate(constraint.labels)
            if one == other
        )
    if isinstance(constraint, Budget):
        return sum(constraint.costs[i] for i in subset) <= constraint.budget * (1 + 1e-9)
    if isinstance(constraint, AtMost):
        return len(subset & set(constraint.columns)) <= constraint.m
    if isinstance(constraint, Requires):
        return constraint.column not in subset or subset >= set(constraint.others)
    return constraint.obeys(sorted(subset))


def count(subset: Iterable[int], constraints: Sequence[Constraint]) -> int:
    """Columns, or groups."""
    for constraint in constraints:
        if isinstance(constraint, Groups):
            return len({constraint.labels[i] for i in subset})
    return len(set(subset))


def every_choice(
    n: int,
    constraints: Sequence[Constraint],
    size: int | None,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
) -> list[tuple[int, ...]]:
    """All choices of ``size`` units, or of any number, that obey."""
    given, gone = set(include), set(exclude)
    subsets = chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1))
    return [
        s
        for s in subsets
        if given <= set(s)
        and not gone & set(s)
        and (size is None or count(s, constraints) == size)
        and all(obeys(constraint, frozenset(s)) for constraint in constraints)
    ]


def best_choices(
    error: Callable[[tuple[int, ...]], float], choices: Sequence[tuple[int, ...]], n_solutions: int
) -> list[tuple[float, tuple[int, ...]]]:
    """The best (error, columns), ascending."""
    return sorted((error(choice), choice) for choice in choices)[:n_solutions]
