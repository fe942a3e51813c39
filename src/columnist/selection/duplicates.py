"""Columns that say the same thing: copies, or zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["distinct_columns"]

# Reduced columns that differ by more than this are no copies of each other.
_PARALLEL = 1e-12


def distinct_columns(
    columns: np.ndarray, allowed: np.ndarray, needed: int, are_copies: Callable[[int, int], bool]
) -> np.ndarray:
    """One column, the first, of every group of copies; zero columns left out.

    Choosing a copy beside a column is never better than the column alone, and which one makes no
    difference, so a search for one best set needs only the first. That holds for exact copies:
    how much a difference in the last digit matters depends on the other columns. If fewer
    than ``needed`` would remain, all are returned.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    allowed : ndarray of int
        Columns to consider, ascending.
    needed : int
        How many must remain.
    are_copies : callable
        Whether two columns of the data are the same up to a factor; asked of those whose reduced
        columns nearly are.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection.duplicates import distinct_columns
    >>> columns = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> same = lambda i, j: np.array_equal(np.abs(columns[i]), np.abs(columns[j]))
    >>> distinct_columns(columns, np.arange(3), 1, same)
    array([0, 1])
    """
    lengths = np.linalg.norm(columns[allowed], axis=1)
    nonzero = lengths > 0.0
    units = columns[allowed][nonzero] / lengths[nonzero, None]
    names = [int(i) for i in allowed[nonzero]]
    # Copies agree, up to sign, in any projection: sort by one and compare neighbours.
    rng = np.random.default_rng(0)
    probe = units @ rng.standard_normal((columns.shape[1], 2))
    projection = probe[:, 1] * np.where(probe[:, 0] < 0.0, -1.0, 1.0)
    order = np.argsort(projection, kind="stable")
    duplicate = np.zeros(len(units), dtype=bool)
    close = np.diff(projection[order]) <= 10 * _PARALLEL
    for group in np.split(order, np.flatnonzero(~close) + 1):
        for i in sorted(group.tolist()) if len(group) > 1 else ():
            earlier = group[(group < i) & ~duplicate[group]]
            duplicate[i] = any(are_copies(names[j], names[i]) for j in earlier)
    kept = allowed[nonzero][~duplicate]
    return kept if len(kept) >= needed else allowed
