"""Proof for a few rows: all sets are searched, depth first.

See :mod:`columnist.robust._few_rows`. No input validation.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from columnist.criteria import Frobenius
from columnist.robust._errors import RowErrors
from columnist.robust._few_rows import MOST_ROWS, best_removal
from columnist.robust._prove import TOLERANCE, Proof
from columnist.search._log import Progress

__all__ = ["SECONDS", "prove_few"]

# Seconds worth spending before the proof by blocks is the better bet.
SECONDS = 0.25


def prove_few(
    X: np.ndarray,
    n_components: int,
    n_removed: int,
    *,
    centred: bool,
    errors: RowErrors | None = None,
    seconds: float = SECONDS,
    callback: Callable[[Progress], object] | None = None,
) -> Proof | None:
    """The best rows to remove and their proof; None if that would take too long.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, safe to square.
    n_components, n_removed : int
        Dimension of the subspace; rows to remove.
    centred : bool
        Whether the subspace passes through the mean of the kept rows, or the origin.
    errors : RowErrors, optional
        Errors of sets, of these rows unless given.
    seconds : float
        What is too long, about.
    callback : callable, optional
        Receives the :class:`columnist.search.Progress` at the end.

    Returns
    -------
    Proof or None

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust._few import prove_few
    >>> X = np.vstack([np.outer(np.arange(9.0), [3.0, 4.0]), [[60.0, 0.0]]])
    >>> prove_few(X, 1, 1, centred=True).removed
    array([9])
    """
    started = time.perf_counter()
    n, p = X.shape
    if n > MOST_ROWS:
        return None
    if errors is None:
        errors = RowErrors(X, n_components, Frobenius(), "optimal" if centred else "none")
    rows = errors.rows
    nodes = int(seconds / (2e-6 + 6e-10 * n**3))
    gram = np.ascontiguousarray(rows @ rows.T)
    # An entry of the rows is rounded by a unit or two, one of their products p times.
    bound, removed, visited, finished = best_removal(
        gram, n_components, n_removed, centred, np.inf, nodes, p + 6
    )
    if not finished or removed is None:
        return None
    kept = np.setdiff1d(np.arange(n), removed)
    found = errors.evaluate(kept)
    if found.value > 0.0 and errors.affordable(kept, SECONDS):
        found = errors.exact(kept)  # once more, independently and in better arithmetic
    error, bound = found.value, max(bound, 0.0)
    if bound < found.high * (1.0 - TOLERANCE):  # too much was lost to rounding
        return None
    progress = Progress(1, 0, min(bound, error), error, time.perf_counter() - started, True)
    if callback is not None:
        callback(progress)
    return Proof(
        error, min(bound, error), removed, True, "optimal", kept, removed, 1, visited,
        [progress.entry()],
    )  # fmt: skip
