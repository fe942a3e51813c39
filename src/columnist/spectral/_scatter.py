"""Sums of squares of columns around their means: whole, between and within classes.

Sums are taken over groups of rows, block by block, then merged. Means are kept relative to a row
of the block, and merged so, because data far from zero lose their digits otherwise. Rounding
counts as no variation: what is within a few units in the last place of a column's length is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import as_rows, checked_largest
from columnist.linalg._column_parts import Visit, total
from columnist.linalg._passes import column_blocks, merge_repeats
from columnist.linalg._reduce import squaring_scale

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
    r"""Sums of squares :math:`\sum_i w_i (x_i - \bar x)^2` of the columns around weighted means."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    sums = weighted_sums(X, weights)
    return without_rounding(sums.within, sums.lengths)


def weighted_sums(X, weights: np.ndarray) -> GroupSums:
    """Weighted means and squares of every column."""
    return as_rows(X).fold(block_sums, merged_groups, weights)


def class_scatter(X, codes: np.ndarray, *, look: bool = False) -> ClassScatter:
    """Variation of every column between and within classes, given by codes 0, 1, ...

    With ``look`` nobody has seen the entries yet. The result is then in a unit of its own.
    """
    visit = Visit(class_sums, int(codes.max()) + 1, look)
    sums = as_rows(X).fold(visit, merged_groups, codes)
    return ClassScatter(
        without_rounding(sums.between(), sums.lengths),
        without_rounding(sums.within, sums.lengths),
    )


def without_rounding(scatter: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The scatter of columns of these squared lengths, with zeros for rounding."""
    return np.where(scatter > _ROUNDING**2 * lengths, scatter, 0.0)


@dataclass(frozen=True)
class GroupSums:
    """Sums over rows in c groups, for every column, of entries divided by ``unit``. ``sizes`` are
    the weights of the groups, ``means`` (c rows) the weighted means minus ``origin``, ``within``
    the weighted squares around them, all groups together, ``lengths`` weighted squares."""

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
        within, lengths = self.within * ratio * ratio, self.lengths * ratio * ratio
        return GroupSums(self.sizes, self.origin * ratio, self.means * ratio, within, lengths, unit)


def class_sums(X, codes: np.ndarray, n_classes: int, look: bool = True) -> GroupSums:
    """Sums by class of a block; ``look`` checks for NaN and finds a unit that is safe to square."""
    if len(codes) != X.shape[0]:
        raise ValueError(f"A block of X has {X.shape[0]} rows, but its part of y has {len(codes)}.")
    unit = squaring_scale(np.array(checked_largest(X))) if look else 1.0
    X = X if unit == 1.0 else X / unit
    return replace(block_sums(X, np.ones(len(codes)), codes, n_classes), unit=unit)


def block_sums(X, weights: np.ndarray, codes=None, n_groups: int = 1) -> GroupSums:
    """Weighted sums of a block, whose entries can be squared, in groups; it may have no rows."""
    codes = np.zeros(len(weights), dtype=np.intp) if codes is None else codes
    sizes = np.bincount(codes, weights=weights, minlength=n_groups)
    if not X.shape[0]:
        nothing = np.zeros(X.shape[1])
        return GroupSums(sizes, nothing, np.zeros((n_groups, len(nothing))), nothing, nothing)
    # A group without rows, or of rows without weight, has no mean and no use for one.
    used = np.where(sizes > 0.0, sizes, 1.0)
    if sp.issparse(X):
        X = merge_repeats(X.tocsc())
        width = max(n_groups, X.nnz // max(X.shape[1], 1))
        blocks = column_blocks(X.shape[1], _COPIES * width)
        parts = [_sparse(X[:, columns], codes, weights, used) for columns in blocks]
        origin, means, within, lengths = map(np.hstack, zip(*parts, strict=True))
    else:
        origin, means, within, lengths = _dense(X, codes, weights, used)
    return GroupSums(sizes, origin, means, within, lengths)


def merged_groups(parts: Sequence[GroupSums]) -> GroupSums:
    """Sums over all rows together."""
    unit = max(part.unit for part in parts)
    parts = [part.in_unit(unit) for part in parts if part.sizes.any()] or [parts[0]]
    origin = parts[0].origin
    sizes = np.sum([part.sizes for part in parts], axis=0)
    used = np.where(sizes > 0.0, sizes, 1.0)
    moved = [part.means + (part.origin - origin) for part in parts]
    pairs = list(zip(parts, moved, strict=True))
    means = sum((part.sizes / used)[:, None] * mean for part, mean in pairs)
    within = total([part.within + part.sizes @ np.square(mean - means) for part, mean in pairs])
    lengths = total([part.lengths for part in parts])
    return GroupSums(sizes, origin, means, within, lengths, unit)


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
    """Blocks of rows that stay in the cache, minus the first row: data may be far from zero."""
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
