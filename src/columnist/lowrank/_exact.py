"""The penalty that leaves a given number of columns. No input validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from columnist.linalg._ties import ranked
from columnist.lowrank._factors import Factors, Start
from columnist.lowrank._solve import Solver

__all__ = ["Choice", "fit_exactly"]

# Width of the bracket, relative to the largest penalty, at which the number is said to jump.
_NARROW = 1e-6
# The smallest penalty that leaves the number is known once it is known so well, relative to itself.
_CLOSE = 0.05
# Halvings of the penalty, at most, that bring back columns lost by solving without the others.
_RETRIES = 40


@dataclass(frozen=True)
class Choice:
    """Factors with a given number of columns.

    Attributes
    ----------
    factors : Factors
        They have loadings in that many columns, or in fewer if there are no more.
    alpha : float
        The penalty, in balanced units.
    jumped : bool
        Whether no penalty was found that leaves this number: then the longest loadings of the
        next larger number were kept, and the problem solved again for these columns alone.
    """

    factors: Factors
    alpha: float
    jumped: bool


def fit_exactly(solver: Solver, size: int) -> Choice:
    """Bisect the penalty until ``size`` columns have loadings.

    The number falls as the penalty grows, though not strictly; of the penalties that leave it
    the smallest is approached, for it shortens the loadings least. Each solution starts from the
    one at the next smaller penalty: on the way down from a large one the iteration may be
    caught at zero.

    Parameters
    ----------
    solver : Solver
        The problem.
    size : int
        Number of columns.

    Returns
    -------
    Choice
    """
    if size >= np.count_nonzero(solver.limits):
        return Choice(solver.solve(0.0), 0.0, False)
    low, high = 0.0, solver.top
    below: Factors | None = None
    hit: Choice | None = None
    guess = None
    while high - low > max(_NARROW * solver.top, _CLOSE * high if hit else 0.0):
        alpha = guess if guess is not None else 0.5 * (low + high)
        found = solver.solve(alpha, starts=_warm(below))
        if found.n_active > size:
            low, below = alpha, found
        else:
            high = alpha
        if found.n_active == size:
            hit = Choice(found, alpha, False)
        known = solver.method == "alternate" and guess is None and hit is None
        guess = _between(found, size, low, high) if known else None
    if hit is not None:
        return hit
    if below is None:
        low, below = 0.0, solver.solve(0.0)
    if below.n_active <= size:
        return Choice(below, low, False)
    return _restricted(solver, below, low, size)


def _warm(found: Factors | None) -> list[Start] | None:
    return None if found is None else [Start(found.X, found.Y)]


def _between(found: Factors, size: int, low: float, high: float) -> float | None:
    """Penalty between the wanted and the next column if scores did not move; None if useless."""
    pulls = np.sort(found.pulls)[::-1]
    guess = float(pulls[size - 1] + pulls[size])
    return guess if low < guess < high else None


def _restricted(solver: Solver, found: Factors, alpha: float, size: int) -> Choice:
    """Keep the columns with the longest loadings, and solve for these alone."""
    columns = ranked(found.pulls)[:size]
    for _ in range(_RETRIES):
        smaller = solver.solve(alpha, starts=_warm(found), columns=columns)
        if smaller.n_active == size:
            break
        alpha *= 0.5
    return Choice(smaller, alpha, True)
