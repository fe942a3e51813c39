"""A selection of a given size, also where the columns run out of rank."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from columnist.linalg.passes import others
from columnist.linalg.residual import graded_basis
from columnist.selection.task import Outcome, confirmed_error, solve

__all__ = ["choose"]


def choose(
    matrices, reduced, size, options, include, exclude, *, quiet=False, start=(), distinct=None
) -> Outcome:
    """Solve for one size; where the columns run out of rank, fill up with the first ones.

    A pool is searched at its full size, so that the sets that explain less than everything stand
    in it where they belong. ``quiet`` leaves out the warning about the rank; ``start`` holds known
    selections; ``distinct`` is as in :func:`columnist.selection.task.solve`. No input validation.
    """
    allowed = others(matrices.n_features, [*include, *exclude])
    enough = _useful_size(reduced, size, include, allowed)
    if enough < size and not quiet:
        warnings.warn(
            f"{enough} columns explain everything that {size} could: the others are filled up "
            "with the first columns left.",
            UserWarning,
            stacklevel=4,
        )
    solved = partial(
        solve, matrices, reduced, options=options, include=include, exclude=exclude,
        distinct=distinct,
    )  # fmt: skip
    if enough == size or options.n_solutions > 1:
        return solved(size, start=start)
    outcome = solved(enough)
    return _fill_up(outcome, size, allowed, matrices, options)


def _useful_size(reduced, size, include, allowed) -> int:
    usable = np.concatenate([np.asarray(include, dtype=np.intp), allowed])
    rank = reduced.rank if len(usable) == reduced.n_items else _rank(reduced, usable)
    useless = len(include) - _rank(reduced, include)
    return max(min(size, rank + useless), len(include), 1)


def _rank(reduced, chosen) -> int:
    """How many of the columns are independent; all of them where that is in doubt."""
    lengths = np.linalg.norm(reduced.columns, axis=1)
    basis = graded_basis(reduced.columns, chosen, lengths, reduced.power)
    return len(chosen) if basis.doubtful else basis.Q.shape[1]


def _fill_up(outcome: Outcome, size, allowed, matrices, options) -> Outcome:
    """The best set filled up to ``size``: if it leaves nothing that any columns could explain, the
    others add nothing; if the search had to stop before, they may."""
    error, subset = outcome.solutions[0]
    spare = [int(i) for i in allowed if i not in set(subset)]
    filled = tuple(sorted([*subset, *spare[: size - len(subset)]]))
    certificate = outcome.certificate
    if certificate.status != "optimal":
        error = min(error, confirmed_error(matrices, options, filled, error))
    certificate = replace(
        certificate,
        error=error,
        lower_bound=min(certificate.lower_bound, error),
        selection=filled,
        names=options.names and tuple(options.names[i] for i in filled),
    )
    return replace(outcome, solutions=[(error, filled)], certificate=certificate)
