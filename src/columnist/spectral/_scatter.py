"""Sums of squares of columns around their means: whole, between and within classes.

Sums are taken over groups of rows, block by block, then merged. Means are kept relative to a row
of the block, and merged so, because data far from zero lose their digits otherwise. Rounding
counts as no variation: what is within a few units in the last place of a column's length is
exactly zero here. No input validation, except that sums for classes can look at the entries of a
block: nobody else may have seen them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import as_rows, checked_largest
from columnist.linalg._passes import column_blocks, merge_repeats
from columnist.linalg._reduce import squaring_scale

__all__ = [
    "ClassScatter",
    "ClassVisit",
    "GroupSums",
    "WeightedVisit",
    "class_scatter",
    "column_scatter",
    "merged_groups",
    "weighted_sums",
    "without_rounding",
]

# Variation below this share of a column's length is the rounding of its entries.
_ROUNDING = 4 * np.finfo(np.float64).eps
# Arrays of the size of a sparse block that exist at the same time.
_COPIES = 8
# Entries of a block of rows that is small enough for a cache, and rows that are worth a call.
_CACHED, _LEAST_ROWS = 2**18, 64


@dataclass(frozen=True)
class ClassScatter:
    """Sums of squares of every column: of the class means, and around them."""

    between: np.ndarray
    within: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Sum of squares around the mean of the column."""
        return self.between + self.within


def column_scatter(X, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Sum of squares :math:`\sum_i w_i (x_i - \bar x)^2` around the weighted mean of every column.

    Parameters
    ----------
    X : ndarray, CSC matrix or RowBlocks of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    weights : ndarray of shape (n_samples,), optional
        Weights of the samples, not negative; ones if None.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scatter import column_scatter
    >>> column_scatter(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([2., 0.])
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    sums = weighted_sums(X, weights)
    return without_rounding(sums.within, sums.lengths)


def weighted_sums(X, weights: np.ndarray) -> GroupSums:
    """Weighted means and squares of every column."""
    return as_rows(X).fold(WeightedVisit(), merged_groups, weights)


def class_scatter(X, codes: np.ndarray, *, look: bool = False) -> ClassScatter:
    """Variation of every column between and within classes. No input validation.

    Parameters
    ----------
    X : ndarray, CSC matrix or RowBlocks of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    codes : ndarray of shape (n_samples,)
        Class of every sample, an integer from 0; every class has a sample.
    look : bool, default=False
        Whether nobody has seen the entries yet. The result is then in a unit of its own.

    Returns
    -------
    ClassScatter

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scatter import class_scatter
    >>> class_scatter(np.array([[1.0], [3.0], [6.0]]), np.array([0, 0, 1]))
    ClassScatter(between=array([10.66666667]), within=array([2.]))
    """
    visit = ClassVisit(int(codes.max()) + 1, look)
    return _variation(as_rows(X).fold(visit, merged_groups, codes))


def _variation(sums: GroupSums) -> ClassScatter:
    return ClassScatter(
        without_rounding(sums.between(), sums.lengths),
        without_rounding(sums.within, sums.lengths),
    )


def without_rounding(scatter: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The scatter of columns of these squared lengths, with zeros for rounding."""
    return np.where(scatter > _ROUNDING**2 * lengths, scatter, 0.0)


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
    >>> from columnist.spectral._scatter import group_sums
    >>> X = np.array([[1.0], [3.0], [6.0]])
    >>> sums = group_sums(X, np.array([0, 0, 1]), np.ones(3), 2)
    >>> sums.within, sums.between(), sums.center()
    (array([2.]), array([10.66666667]), array([3.33333333]))
    """
    sizes = np.bincount(codes, weights=weights, minlength=n_groups)
    # A group without rows, or of rows without weight, has no mean and no use for one.
    used = np.where(sizes > 0.0, sizes, 1.0)
    if not sp.issparse(X):
        origin, means, within, lengths = _dense(X, codes, weights, used)
        return GroupSums(sizes, origin, means, within, lengths)
    width = max(n_groups, X.nnz // max(X.shape[1], 1))
    parts = [
        _sparse(X[:, columns], codes, weights, used)
        for columns in column_blocks(X.shape[1], _COPIES * width)
    ]
    origin, means, within, lengths = map(np.hstack, zip(*parts, strict=True))
    return GroupSums(sizes, origin, means, within, lengths)


class ClassVisit:
    """Sums of a block for each class; ``codes`` come along.

    It can ``look`` whether entries are finite, and choose a unit in which they can be squared.
    """

    def __init__(self, n_classes: int, look: bool = True):
        self.n_classes, self.look = n_classes, look

    def __call__(self, X, codes: np.ndarray) -> GroupSums:
        if len(codes) != X.shape[0]:
            raise ValueError(
                f"A block of X has {X.shape[0]} rows, but its part of y has {len(codes)}."
            )
        unit = squaring_scale(np.array(checked_largest(X))) if self.look else 1.0
        X = X if unit == 1.0 else X / unit
        sums = _block_sums(X, codes, np.ones(len(codes)), self.n_classes)
        return replace(sums, unit=unit)

    def operations(self, X, codes) -> float:
        """Multiplications: a square of the entry, and one of its deviation."""
        return 2.0 * _entries(X)


class WeightedVisit:
    """Sums of a block, whose entries can be squared, with weights, which come along."""

    def __call__(self, X, weights: np.ndarray) -> GroupSums:
        return _block_sums(X, np.zeros(len(weights), dtype=np.intp), weights, 1)

    def operations(self, X, weights) -> float:
        """Multiplications: the weighted entry, and two weighted squares."""
        return 5.0 * _entries(X)


def merged_groups(parts: Sequence[GroupSums]) -> GroupSums:
    """Sums over all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scatter import group_sums, merged_groups
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


def _block_sums(X, codes, weights, n_groups: int) -> GroupSums:
    """Sums over a block, which may have no rows."""
    if not X.shape[0]:
        n = X.shape[1]
        sizes, means = np.zeros(n_groups), np.zeros((n_groups, n))
        return GroupSums(sizes, np.zeros(n), means, np.zeros(n), np.zeros(n))
    X = merge_repeats(X.tocsc()) if sp.issparse(X) else X
    return group_sums(X, codes, weights, n_groups)


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
