"""Columns that say the same thing: parallel or zero."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from columnist.linalg.passes import column_blocks, columns_of, squared_norms

__all__ = ["distinct_columns", "shared_by_copies"]

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
    suspects, seen = np.flatnonzero(count[kind] > 1), {}
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
