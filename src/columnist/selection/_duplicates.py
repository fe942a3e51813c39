"""Copies of columns, and columns of zeros."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
import scipy.sparse as sp

from columnist.linalg._passes import column_blocks, columns_of, squared_norms

# Reduced columns that differ by more than this are no copies of each other.
_PARALLEL = 1e-12


def distinct_columns(columns: np.ndarray, allowed: np.ndarray, X) -> np.ndarray:
    """The first column of every group of exact copies (up to sign and a power of two), zero columns
    left out. A copy is never better than the column, so a search for one best set needs only the
    first; near copies may matter. ``columns`` (n, r) holds one reduced column of X per row,
    ``allowed`` the columns to consider, ascending."""
    lengths = np.sqrt(np.einsum("ij,ij->i", columns, columns))
    filled = allowed[lengths[allowed] > 0.0]
    # Copies agree, up to sign, in any projection: only neighbours are examined.
    probe = (columns @ _directions(columns.shape[1]))[filled] / lengths[filled, None]
    projection = probe[:, 1] * np.where(probe[:, 0] < 0.0, -1.0, 1.0)
    order = np.argsort(projection, kind="stable")
    close = np.diff(projection[order]) <= 10 * _PARALLEL
    suspects = np.zeros(len(filled), dtype=bool)
    suspects[order[1:][close]] = suspects[order[:-1][close]] = True
    doubtful = filled[suspects]
    return np.setdiff1d(filled, doubtful[_first_copies(X, doubtful, scaled=True) != doubtful])


def copies(X, allowed: np.ndarray, center: bool) -> np.ndarray:
    """Columns that are copies, by every number, of earlier ones; columns of zeros, or with means
    removed of one number, too."""
    largest, spread = np.zeros(len(allowed)), np.zeros(len(allowed))
    for part in column_blocks(len(allowed), X.shape[0]):
        block = columns_of(X, allowed[part])
        largest[part] = abs(block).max(axis=0)
        spread[part] = np.ptp(block, axis=0) if center else largest[part]
    empty, filled = allowed[spread == 0.0], allowed[spread != 0.0]
    # The largest entries of copies differ by a power of two.
    _, kind, count = np.unique(
        np.frexp(largest[spread != 0.0])[0], return_inverse=True, return_counts=True
    )
    suspects = filled[count[kind] > 1]
    return np.append(suspects[_first_copies(X, suspects, scaled=True) != suspects], empty)


@lru_cache(maxsize=16)
def _directions(r: int) -> np.ndarray:
    """Two random directions, the same ones every time."""
    return np.random.default_rng(0).standard_normal((r, 2))


def shared_by_copies(X, W: np.ndarray) -> np.ndarray:
    """Coefficients of which equal columns have equal shares: the mean of theirs."""
    which = np.arange(X.shape[1])
    # Only columns with a length in common can be equal.
    _, kind, count = np.unique(squared_norms(X), return_inverse=True, return_counts=True)
    suspects = np.flatnonzero(count[kind] > 1)
    which[suspects] = _first_copies(X, suspects)
    counts = np.bincount(which, minlength=len(W))
    if counts.max() == 1:
        return W
    sums = np.zeros_like(W)
    np.add.at(sums, which, W)
    return np.where((counts[which] > 1)[:, None], (sums / np.maximum(counts, 1)[:, None])[which], W)


def _first_copies(X, which: np.ndarray, *, scaled: bool = False) -> np.ndarray:
    """For each of these columns, the first of them that equals it, by fingerprints."""
    seen: dict[bytes, int] = {}
    parts = [which[part] for part in column_blocks(len(which), X.shape[0])]
    names = chain.from_iterable(_fingerprints(X, part, scaled) for part in parts)
    firsts = [seen.setdefault(name, column) for column, name in zip(which, names, strict=True)]
    return np.array(firsts, dtype=which.dtype)


def _fingerprints(X, which: np.ndarray, scaled: bool) -> Iterator[bytes]:
    """A short name of every column that tells its entries; ``scaled`` leaves out sign and size."""
    if not sp.issparse(X):
        for column in columns_of(X, which).T + 0.0:  # there are two zeros
            column = _scaled(column) if scaled else column
            yield blake2b(column.tobytes(), digest_size=16).digest()
        return
    part = X[:, which].tocsc()
    part.sum_duplicates()
    part.eliminate_zeros()
    for begin, end in pairwise(part.indptr):
        data = part.data[begin:end]
        data = _scaled(data) if scaled and len(data) else data
        entries = part.indices[begin:end].tobytes() + data.tobytes()
        yield blake2b(entries, digest_size=16).digest()


def _scaled(column: np.ndarray) -> np.ndarray:
    """Divided by the sign and the power of two of the largest entry, which rounds nothing."""
    largest = column[np.argmax(np.abs(column))]
    return np.ldexp(np.copysign(1.0, largest) * column, -int(np.frexp(largest)[1])) + 0.0
