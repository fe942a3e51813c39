"""Going through all sets of a few rows, depth first, as a strategy.

See :mod:`columnist.robust._few_rows`. No input validation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from columnist.robust._errors import RowErrors
from columnist.robust._few_rows import MOST_ROWS, best_removal
from columnist.search._run import Run, Strategy

__all__ = ["SECONDS", "AllSets"]

# Seconds worth spending before the proof by blocks is the better bet.
SECONDS = 0.25


class AllSets(Strategy):
    """All sets of rows to remove, if that does not take too long.

    Parameters
    ----------
    errors : RowErrors
        The rows.
    n_removed : int
        Rows to remove.
    seconds : float
        What is too long, about.
    """

    def __init__(self, errors: RowErrors, n_removed: int, seconds: float = SECONDS):
        self.errors, self.n_removed, self.seconds = errors, n_removed, seconds

    def steps(self, run: Run) -> Iterator[None]:
        errors, (n, p) = self.errors, self.errors.rows.shape
        if n > MOST_ROWS or self.seconds <= 0.0 or run.limits.max_nodes <= 0:
            return
        nodes = int(self.seconds / (2e-6 + 6e-10 * n**3))
        gram = np.ascontiguousarray(errors.rows @ errors.rows.T)
        # An entry of the rows is rounded by a unit or two, one of their products p times.
        bound, removed, visited, finished = best_removal(
            gram, errors.n_components, self.n_removed, errors.centred, np.inf, nodes, p + 6
        )
        if not finished or removed is None:
            return
        run.offer(removed)
        run.prove(max(bound, 0.0) * errors.scale**2)
        if run.is_proven():  # else too much was lost to rounding
            run.expanded, run.generated = 1, visited
            run.report(new=True)
        yield

    def finished(self) -> bool:
        return True
