"""Columns that say the same thing: parallel or zero."""

from __future__ import annotations

import numpy as np

__all__ = ["distinct_columns"]

_PARALLEL = 1e-12


def distinct_columns(columns: np.ndarray, allowed: np.ndarray, needed: int) -> np.ndarray:
    """One column, the first, of every group of parallel ones; zero columns left out.

    Choosing two parallel columns is never better than one, and which one makes no
    difference, so a search for one best set needs only the first. If fewer than
    ``needed`` would remain, all are returned.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    allowed : ndarray of int
        Columns to consider, ascending.
    needed : int
        How many must remain.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection.duplicates import distinct_columns
    >>> distinct_columns(np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.0]]), np.arange(3), 1)
    array([0, 1])
    """
    lengths = np.linalg.norm(columns[allowed], axis=1)
    nonzero = lengths > 0.0
    units = columns[allowed][nonzero] / lengths[nonzero, None]
    # Parallel units agree, up to sign, in any projection: sort by one and compare neighbours.
    rng = np.random.default_rng(0)
    probe = units @ rng.standard_normal((columns.shape[1], 2))
    sign = np.where(probe[:, 0] < 0.0, -1.0, 1.0)
    projection = probe[:, 1] * sign
    order = np.argsort(projection, kind="stable")
    duplicate = np.zeros(len(units), dtype=bool)
    close = np.diff(projection[order]) <= 10 * _PARALLEL
    for group in np.split(order, np.flatnonzero(~close) + 1):
        for i in sorted(group.tolist()) if len(group) > 1 else ():
            earlier = group[(group < i) & ~duplicate[group]]
            gaps = np.linalg.norm(units[earlier] * sign[earlier, None] - units[i] * sign[i], axis=1)
            duplicate[i] = (gaps <= _PARALLEL).any()
    kept = allowed[nonzero][~duplicate]
    return kept if len(kept) >= needed else allowed
