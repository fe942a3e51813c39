"""Columns that say the same thing: copies, or zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from columnist.linalg.passes import column_blocks, columns_of, squared_norms

__all__ = ["distinct_columns", "shared_by_copies"]

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


def shared_by_copies(X, W: np.ndarray) -> np.ndarray:
    """Coefficients of which equal columns have equal shares: the mean of theirs.

    Parameters
    ----------
    X : ndarray, CSC matrix or ColumnParts of shape (m, n)
        Data.
    W : ndarray of shape (n, q)
        Coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection.duplicates import shared_by_copies
    >>> shared_by_copies(np.array([[1.0, 2.0, 1.0]]), np.array([[3.0], [4.0], [1.0]])).ravel()
    array([2., 4., 2.])
    """
    which = _first_copies(X)
    copies = np.flatnonzero(which != np.arange(len(which)))
    if not len(copies):
        return W
    sums, counts = np.zeros_like(W), np.bincount(which, minlength=len(W))
    np.add.at(sums, which, W)
    return np.where((counts[which] > 1)[:, None], (sums / np.maximum(counts, 1)[:, None])[which], W)


def _first_copies(X) -> np.ndarray:
    """The first column that equals each, by fingerprints of those with a length in common."""
    n = X.shape[1]
    first = np.arange(n)
    _, kind, count = np.unique(squared_norms(X), return_inverse=True, return_counts=True)
    suspects = np.flatnonzero(count[kind] > 1)
    seen: dict = {}
    for part in column_blocks(len(suspects), X.shape[0]):
        for column, name in zip(suspects[part], _fingerprints(X, suspects[part]), strict=True):
            first[column] = seen.setdefault(name, int(column))
    return first


def _fingerprints(X, which: np.ndarray) -> Iterator[bytes]:
    """A short name of every column that tells its entries."""
    if not sp.issparse(X):
        for column in columns_of(X, which).T + 0.0:  # there are two zeros
            yield blake2b(column.tobytes(), digest_size=16).digest()
        return
    part = X[:, which].tocsc()
    part.sum_duplicates()
    part.eliminate_zeros()
    for begin, end in pairwise(part.indptr):
        entries = part.indices[begin:end].tobytes() + part.data[begin:end].tobytes()
        yield blake2b(entries, digest_size=16).digest()
