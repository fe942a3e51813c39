"""A selection of a given size, also where the columns run out of rank."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from columnist.linalg.residual import chosen_basis
from columnist.selection.columns import column_problem
from columnist.selection.task import Outcome, solve

__all__ = ["choose"]

# Sets tried to complete a pool of selections that explain everything.
_MOST_FILLED = 5000


def choose(matrices, reduced, size, options, include, exclude, *, quiet=False, start=()) -> Outcome:
    """Solve for one size; where the columns run out of rank, fill up with the first ones.

    ``quiet`` leaves out the warning about that; ``start`` holds known selections.
    No input validation.
    """
    allowed = np.setdiff1d(np.arange(matrices.n_features), [*include, *exclude])
    enough = _useful_size(reduced, size, include, allowed)
    if enough == size:
        return solve(
            matrices, reduced, size, options, include=include, exclude=exclude, start=start
        )
    if not quiet:
        warnings.warn(
            f"{enough} columns explain everything that {size} could: the others are filled up "
            "with the first columns left.",
            UserWarning,
            stacklevel=3,
        )
    single = replace(options, n_solutions=1)
    outcome = solve(matrices, reduced, enough, single, include=include, exclude=exclude)
    problem = column_problem(
        reduced, enough, criterion=options.criterion, n_components=options.n_components
    )
    return _fill_up(outcome, size, include, allowed, options.n_solutions, problem.value)


def _useful_size(reduced, size, include, allowed) -> int:
    usable = np.concatenate([np.asarray(include, dtype=np.intp), allowed])
    if len(usable) == reduced.n_items:
        rank = reduced.rank
    else:
        rank = chosen_basis(reduced.columns, usable).shape[1]
    useless = len(include) - chosen_basis(reduced.columns, include).shape[1]
    return max(min(size, rank + useless), len(include), 1)


def _fill_up(outcome: Outcome, size, include, allowed, n_solutions: int, error_of) -> Outcome:
    """The best set filled up to ``size``; for a pool, every way to be as good.

    The filled set leaves nothing that any columns could explain, so all sets of its error
    are equally good, and there is none better.
    """
    error, subset = outcome.solutions[0]
    spare = [int(i) for i in allowed if i not in set(subset)]
    filled = tuple(sorted([*subset, *spare[: size - len(subset)]]))
    solutions = [(error, filled)]
    if n_solutions > 1:
        rows = combinations([int(i) for i in allowed], size - len(include))
        sets = (tuple(sorted([*include, *row])) for row in islice(rows, _MOST_FILLED))
        others = sorted((error_of(s), s) for s in sets if s != filled)
        solutions += others[: n_solutions - 1]
    certificate = replace(outcome.certificate, selection=filled, names=None)
    return replace(outcome, solutions=solutions, certificate=certificate)
