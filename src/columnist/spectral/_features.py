"""Features as the multivariate selectors compare them: centred and of unit length, or as is.

Rows with the same inner products, all or, after a pass over blocks, a few; or blocks of columns.
No input validation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks, as_rows
from columnist.linalg._column_parts import ColumnParts, Visit, per_column, total
from columnist.linalg._passes import apply, by_columns, columns_of, cross, squared_norms
from columnist.linalg._reduce import squaring_scale
from columnist.linalg._threads import Threads
from columnist.spectral._scatter import weighted_sums, without_rounding
from columnist.spectral._symmetric import SymmetricMatrix, joined

# Products with columns whose scaled means are larger than this lose digits to cancellation.
_FAR = 10.0
# Features whose products are computed together: what a pass costs is reading the data.
_TOGETHER = 16
# Entries of a block of columns, which one thread visits: 8 MB. And columns of it at least.
_BLOCK, _LEAST_COLUMNS = 2**20, 64


@dataclass(frozen=True)
class ScaledColumns:
    """The matrix F with columns (x_j - mean_j) * scale_j; a scale of zero makes a column zero.

    Without means columns stay where they are; ``rest`` is what rounding left of the means.
    Products are computed block by block of columns: by threads, or where the blocks of X are. How
    an array is cut does not depend on the number of threads.
    """

    X: np.ndarray | sp.csc_matrix | ColumnParts
    scales: np.ndarray
    means: np.ndarray | None = None
    rest: float | np.ndarray = 0.0
    threads: Threads = field(default_factory=Threads)

    @classmethod
    def plain(cls, X, threads: Threads | None = None) -> ScaledColumns:
        """X as it is."""
        return cls(by_columns(X), np.ones(X.shape[1]), threads=threads or Threads())

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape

    def take(self, which) -> np.ndarray:
        """Some columns as a dense array; one column, as a vector, for a single index."""
        columns = which if isinstance(which, slice) else np.atleast_1d(which)
        part = columns_of(self.X, columns)
        if self.means is not None:
            part = part - self.means[columns]
            part -= part.mean(axis=0)  # the rounding of the means
        part = part * self.scales[columns]
        return part if isinstance(which, slice) or np.ndim(which) else part[:, 0]

    def cross(self, M: np.ndarray) -> np.ndarray:
        """F'M, one row per column of F."""
        products = self._collect(_cross, M)
        if isinstance(self.X, ColumnParts):
            return self.X.spread(products)
        return joined(products)

    def kernel_times(self, M: np.ndarray) -> np.ndarray:
        """FF'M, in one pass."""
        return total(self._collect(_kernel_times, M))

    def kernel(self) -> np.ndarray:
        """FF', in one pass."""
        return total(self._collect(_kernel))

    def apply(self, W: np.ndarray) -> np.ndarray:
        """F W."""
        moved = apply(self.X, self.scales.reshape(-1, *[1] * (W.ndim - 1)) * W)
        return moved if self.means is None else moved - moved.mean(axis=0)

    def _collect(self, visit: Callable, *constants) -> list:
        """What ``visit`` returns for every block of columns, in order."""
        if isinstance(self.X, ColumnParts):
            ones = np.ones(self.shape[1])
            means = () if self.means is None else (self.means, self.rest * ones)
            return self.X.collect(Visit(_visit_part, visit, constants), self.scales, *means)
        return self.threads.map(lambda block: visit(block, *constants), self._blocks)

    @cached_property
    def _blocks(self) -> list[ScaledColumns]:
        """Blocks of columns of an array, which are views."""
        (n, m), X = self.shape, cast(Any, self.X)
        size = X.nnz if sp.issparse(X) else n * m
        width = max(_LEAST_COLUMNS, _BLOCK * m // max(size, 1))
        if width >= m:
            return [self]
        cuts = [slice(start, start + width) for start in range(0, m, width)]
        rest = np.broadcast_to(self.rest, m)
        return [
            ScaledColumns(
                X[:, cut], self.scales[cut], None if self.means is None else self.means[cut],
                rest[cut],
            )
            for cut in cuts
        ]  # fmt: skip

    @cached_property
    def _far(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns whose means are so large that products with them would cancel, themselves."""
        if self.means is None:
            return np.array([], dtype=np.intp), np.empty((self.shape[0], 0))
        far = np.flatnonzero(np.abs(self.means) * self.scales > _FAR)
        return far, self.take(far)

    def squared_lengths(self) -> np.ndarray:
        """Squared lengths of the columns."""
        if self.means is None:
            return squared_norms(self.X) * self.scales**2
        return (self.scales > 0.0).astype(np.float64)


def prepare_columns(X, scaling: str, threads: Threads | None = None) -> ScaledColumns:
    """Columns of X, centred and of unit length with ``"unit"``; a constant one becomes zero."""
    if scaling == "none":
        return ScaledColumns.plain(X, threads)
    X = by_columns(X)
    scales, means, rest = _unit_scales(X).T
    return ScaledColumns(X, scales, means, rest, threads or Threads())


@per_column
def _unit_scales(X) -> np.ndarray:
    """Scale and mean of every column, and what rounding left of the mean."""
    sums = weighted_sums(X, np.ones(X.shape[0]))
    lengths = np.sqrt(without_rounding(sums.within, sums.lengths))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    means = sums.center()
    return np.stack([scales, means, (sums.origin - means) + sums.means[0]], axis=1)


def _visit_part(part, scales: np.ndarray, *rest):
    """What a function of scaled columns returns for a block of columns."""
    *means, visit, constants = rest
    return visit(ScaledColumns(part, scales, *means), *constants)


def _cross(F: ScaledColumns, M: np.ndarray) -> np.ndarray:
    product = cross(F.X, M)
    if F.means is not None:
        product -= np.multiply.outer(F.means, M.sum(axis=0))
    product *= F.scales.reshape(-1, *[1] * (M.ndim - 1))
    far, columns = F._far
    product[far] = columns.T @ M
    return product


def _kernel_times(F: ScaledColumns, M: np.ndarray) -> np.ndarray:
    return F.apply(_cross(F, M))


def _kernel(F: ScaledColumns) -> np.ndarray:
    part = F.take(slice(None))
    return part @ part.T


class ProductsAhead:
    """F'f of features f asked for one by one; those likely to be next share a pass over data."""

    def __init__(self, F: ScaledColumns):
        self.F = F
        self.done: set[int] = set()
        self.spare: dict[int, np.ndarray] = {}

    def of(self, feature: int, likely: np.ndarray) -> np.ndarray:
        """F'f of a feature; ``likely`` is large for those that may be next."""
        if feature not in self.spare:
            self._prepare(feature, likely)
        self.done.add(feature)
        return self.spare.pop(feature)

    def _prepare(self, feature: int, likely: np.ndarray) -> None:
        likely = np.array(likely, dtype=np.float64)
        likely[list(self.done)] = -np.inf
        likely[feature] = np.inf
        together = min(_TOGETHER, len(likely))
        near = np.argpartition(-likely, together - 1)[:together]
        products = self.F.cross(self.F.take(near))
        self.spare = dict(zip(near.tolist(), products.T, strict=True))


@dataclass(frozen=True)
class Features:
    """The columns of data X, centred and of unit length or as is. The rows of ``few`` have the
    inner products of all rows, and were multiplied by ``root``, the root of the number of rows that
    each of them stands for. The data were divided by ``scale`` so that they can be squared.
    ``response`` holds these rows of a response that came with the data."""

    X: RowBlocks
    few: ScaledColumns
    root: float = 1.0
    scale: float = 1.0
    response: np.ndarray | None = None

    @classmethod
    def of(
        cls, X, scaling: str, Y: np.ndarray | None = None, threads: Threads | None = None
    ) -> Features:
        """Features as :func:`prepare_columns` makes them, in one pass over the blocks of rows, or
        of columns if inner products of all features are too many."""
        X = as_rows(X)
        rows, Y, root = X.few_rows_or_columns(Y)
        scale = 1.0
        if squaring_scale(rows) != 1.0:
            # Features that keep their lengths are scored in this unit: it must be that of all rows.
            scale = squaring_scale(np.array(X.largest()))
            rows, X = rows / scale, X.divided(scale)
        return cls(X, prepare_columns(rows, scaling, threads), root, scale, Y)

    @classmethod
    def given(
        cls, features: np.ndarray, shape: tuple[int, int], threads: Threads | None = None
    ) -> Features:
        """The features of a common form, which must be of the same data as X."""
        if features.shape != shape:
            raise ValueError(
                f"The common form is of {features.shape[0]} samples and "
                f"{features.shape[1]} features, but X has shape {shape}."
            )
        return cls(as_rows(features), ScaledColumns.plain(features, threads))

    @property
    def means(self) -> np.ndarray | None:
        """Means of the columns, and what rounding left of them; None if they are not removed."""
        few = self.few
        if few.means is None:
            return None
        return np.stack([few.means, np.broadcast_to(few.rest, few.means.shape)]) / self.root

    def forms(self, S: SymmetricMatrix) -> np.ndarray:
        """f'Sf of every feature."""
        return self.few.scales**2 * S.forms(self.X, self.means)

    def largest_entries(self, W: np.ndarray) -> np.ndarray:
        """Entry of every column of (features x W) that is largest in absolute value."""
        W = self.few.scales[:, None] * W
        shift = 0.0 if self.means is None else self.means.sum(axis=0) @ W
        entries = np.array(self.X.collect(Visit(_largest_entries, W, shift)))
        return entries[np.argmax(np.abs(entries), axis=0), np.arange(W.shape[1])]


def _largest_entries(X, W: np.ndarray, shift: float | np.ndarray) -> np.ndarray:
    """Entries of a block of XW - shift that are largest in absolute value."""
    if not X.shape[0]:
        return np.zeros(W.shape[1])
    values = apply(X, W) - shift
    return values[np.argmax(np.abs(values), axis=0), np.arange(values.shape[1])]
