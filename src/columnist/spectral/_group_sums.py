"""Weighted means and squares of columns in groups of rows: summed up by blocks, then merged.

Means are kept relative to a row of the block, and merged so, because data far from zero lose
their digits otherwise. No input validation, except where blocks of a collection are visited:
nobody else has seen their entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from columnist.linalg._passes import merge_repeats
from columnist.linalg._reduce import squaring_scale

__all__ = ["ClassVisit", "GroupSums", "WeightedVisit", "group_sums", "merged_groups"]

# Entries of a block of rows that is small enough for a cache, and rows that are worth a call.
_CACHED, _LEAST_ROWS = 2**18, 64


@dataclass(frozen=True)
class GroupSums:
    """Sums over rows in c groups, for every column.

    Attributes
    ----------
    sizes : ndarray of shape (c,)
        Weights of the groups.
    origin : ndarray of shape (n,)
        What means are relative to.
    means : ndarray of shape (c, n)
        Weighted means, minus the origin.
    within : ndarray of shape (n,)
        Weighted squares around the means of the groups, all groups together.
    lengths : ndarray of shape (n,)
        Weighted squares.
    unit : float
        What all entries were divided by.
    """

    sizes: np.ndarray
    origin: np.ndarray
    means: np.ndarray
    within: np.ndarray
    lengths: np.ndarray
    unit: float = 1.0

    def center(self) -> np.ndarray:
        """Weighted means of all rows."""
        return self.unit * (self.origin + self._center())

    def between(self) -> np.ndarray:
        """Weighted squares of the means around the mean of all rows."""
        return self.sizes @ np.square(self.means - self._center())

    def _center(self) -> np.ndarray:
        return self.sizes @ self.means / self.sizes.sum()

    def in_unit(self, unit: float) -> GroupSums:
        """The same, divided by another power of two."""
        if unit == self.unit:
            return self
        ratio = self.unit / unit
        return GroupSums(self.sizes, self.origin * ratio, self.means * ratio,
                         self.within * ratio * ratio, self.lengths * ratio * ratio,
                         unit)  # fmt: skip


def group_sums(X, codes: np.ndarray, weights: np.ndarray, n_groups: int) -> GroupSums:
    """Sums over the rows of X, dense or CSC, of which each belongs to a group.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._group_sums import group_sums
    >>> X = np.array([[1.0], [3.0], [6.0]])
    >>> sums = group_sums(X, np.array([0, 0, 1]), np.ones(3), 2)
    >>> sums.within, sums.between(), sums.center()
    (array([2.]), array([10.66666667]), array([3.33333333]))
    """
    sizes = np.bincount(codes, weights=weights, minlength=n_groups)
    # A group without rows, or of rows without weight, has no mean and no use for one.
    used = np.where(sizes > 0.0, sizes, 1.0)
    kernel = _sparse if sp.issparse(X) else _dense
    origin, means, within, lengths = kernel(X, codes, weights, used)
    return GroupSums(sizes, origin, means, within, lengths)


class ClassVisit:
    """Sums of a block for each class; ``codes`` come along."""

    def __init__(self, n_classes: int):
        self.n_classes = n_classes

    def __call__(self, X, codes: np.ndarray) -> GroupSums:
        return _checked_sums(X, codes, np.ones(len(codes)), self.n_classes)

    def operations(self, X, codes) -> float:
        """Multiplications: a square of the entry, and one of its deviation."""
        return 2.0 * _entries(X)


class WeightedVisit:
    """Sums of a block with weights, which come along."""

    def __call__(self, X, weights: np.ndarray) -> GroupSums:
        return _checked_sums(X, np.zeros(len(weights), dtype=np.intp), weights, 1)

    def operations(self, X, weights) -> float:
        """Multiplications: the weighted entry, and two weighted squares."""
        return 5.0 * _entries(X)


def merged_groups(parts: Sequence[GroupSums]) -> GroupSums:
    """Sums over all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._group_sums import group_sums, merged_groups
    >>> X, w = np.arange(10.0)[:, None] ** 2, np.ones(10)
    >>> parts = [group_sums(X[s], np.zeros(5, dtype=int), w[:5], 1) for s in np.s_[:5, 5:]]
    >>> bool(np.allclose(merged_groups(parts).within, 10 * X.var()))
    True
    """
    unit = max(part.unit for part in parts)
    parts = [part.in_unit(unit) for part in parts if part.sizes.any()] or [parts[0]]
    origin = parts[0].origin
    sizes = np.sum([part.sizes for part in parts], axis=0)
    used = np.where(sizes > 0.0, sizes, 1.0)
    moved = [part.means + (part.origin - origin) for part in parts]
    means = sum(
        (part.sizes / used)[:, None] * mean for part, mean in zip(parts, moved, strict=True)
    )
    within = reduce(
        add,
        (
            part.within + part.sizes @ np.square(mean - means)
            for part, mean in zip(parts, moved, strict=True)
        ),
    )
    lengths = reduce(add, (part.lengths for part in parts))
    return GroupSums(sizes, origin, means, within, lengths, unit)


def _checked_sums(X, codes, weights, n_groups: int) -> GroupSums:
    """Sums over a block that nobody has looked at."""
    if len(codes) != X.shape[0]:
        raise ValueError(f"A block of X has {X.shape[0]} rows, but its part of y has {len(codes)}.")
    if not X.shape[0]:
        n = X.shape[1]
        sizes, means = np.zeros(n_groups), np.zeros((n_groups, n))
        return GroupSums(sizes, np.zeros(n), means, np.zeros(n), np.zeros(n))
    assert_all_finite(X, input_name="X")
    unit = squaring_scale(X)
    X = X if unit == 1.0 else X / unit
    X = merge_repeats(X.tocsc()) if sp.issparse(X) else X
    return replace(group_sums(X, codes, weights, n_groups), unit=unit)


def _dense(X: np.ndarray, codes, weights, sizes) -> tuple[np.ndarray, ...]:
    """Origin, means, squares around them, and squares."""
    means, left = np.zeros((2, len(sizes), X.shape[1]))
    within, lengths = np.zeros((2, X.shape[1]))
    per_group = _row_sums(codes, weights, len(sizes))
    for rows, part in _shifted_rows(X):
        means += per_group(rows, part)
        lengths += weights[rows] @ np.square(X[rows], dtype=np.float64)
    means /= sizes[:, None]
    for rows, part in _shifted_rows(X):
        part -= means[codes[rows]] if len(sizes) > 1 else means[0]
        left += per_group(rows, part)  # the rounding of the means
        within += weights[rows] @ np.square(part, out=part)
    left /= sizes[:, None]
    within -= sizes @ left**2
    return X[0].astype(np.float64), means + left, np.maximum(within, 0.0), lengths


def _row_sums(codes, weights, n_groups: int) -> Callable[[slice, np.ndarray], np.ndarray]:
    """What sums up some rows in groups."""
    if n_groups == 1:
        return lambda rows, part: (weights[rows] @ part)[None]
    indptr = np.arange(len(codes) + 1)
    members = sp.csr_array((weights, codes, indptr), shape=(len(codes), n_groups))
    return lambda rows, part: members[rows].T @ part


def _shifted_rows(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of rows that stay in the cache, minus the first row.

    The shift keeps the digits of data far from zero.
    """
    first, height = X[0].astype(np.float64), max(_LEAST_ROWS, _CACHED // X.shape[1])
    for start in range(0, X.shape[0], height):
        rows = slice(start, start + height)
        yield rows, X[rows] - first


def _sparse(X, codes, weights, sizes) -> tuple[np.ndarray, ...]:
    """The same from the entries of a CSC matrix."""
    c, (n_rows, width) = len(sizes), X.shape
    filled = np.diff(X.indptr)
    column = np.repeat(np.arange(width), filled)
    cell, on = column if c == 1 else column * c + codes[X.indices], weights[X.indices]

    def per_cell(values):
        return np.bincount(cell, weights=values, minlength=width * c).reshape(width, c)

    full = filled == n_rows
    # Zeros stay where they are, so only a full column can be shifted.
    origin = np.zeros(width)
    origin[full] = X.data[X.indptr[:-1][full]]
    moved = X.data - origin[column] if full.any() else X.data.astype(np.float64)
    empty = np.where(full[:, None], 0.0, np.maximum(sizes - per_cell(on), 0.0))
    means = per_cell(on * moved) / sizes
    moved -= means.ravel()[cell]
    weighted = on * moved
    left = per_cell(weighted) - empty * means  # the rounding of the means
    weighted *= moved
    within = (per_cell(weighted) + empty * means**2 - left**2 / sizes).sum(axis=1)
    lengths = per_cell(on * np.square(X.data, dtype=np.float64)).sum(axis=1)
    return origin, (means + left / sizes).T, np.maximum(within, 0.0), lengths


def _entries(X) -> float:
    return float(X.nnz if sp.issparse(X) else X.size)
