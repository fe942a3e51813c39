"""Matrices that are processed block by block: the protocol, and the registry of libraries.

:func:`open_blocks` opens collections that may be in another process, on disk or on a cluster. A
package for such collections registers how to open them; an array is one block (:class:`ArrayRows`).
"""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length

from columnist.linalg._column_parts import ColumnParts, largest_entry
from columnist.linalg._memory import check_memory
from columnist.linalg._moments import Moments, merged_moments, moments_of
from columnist.linalg._rounding import EPS

# Library of a collection -> module of this package that opens it, imported when it is met.
_KEEPERS = {"dask": "columnist.distributed._blocks"}
_OPENERS: dict[str, Callable[[Any], RowBlocks | None]] = {}
_SELECT_ROWS = "Use an estimator that works on blocks, or select rows first."
# Most columns whose inner products are formed for every block of rows: 128 MB; four times that
# where there are more rows than columns.
_NARROW, _NARROW_TALL = 4_000, 8_000
# Columns whose range is below this share of their entries are constant but for rounding.
_ROUNDING = 8 * EPS


class RowBlocks(ABC):
    """A matrix cut into blocks of rows, of which each is visited where it is.

    ``visit(block, *parts)`` receives one block, a NumPy array or a SciPy sparse array, and the
    same rows of everything in ``along`` (arrays with one row per sample, or blocks cut alike).
    Constants belong into ``visit`` itself. ``merge`` receives a list of results, and must not
    depend on how they are grouped.
    """

    n_features: int
    dtype: np.dtype
    is_sparse: bool
    # Whether the rows can be visited, and visited again.
    keeps_rows: bool = True
    # Whether all rows are in the memory of this process.
    in_memory: bool = False
    # Anything with the columns' number and names, for scikit-learn's checks.
    header: Any

    @property
    def has_target(self) -> bool:
        """Whether the target came with the rows."""
        return False

    @property
    def target_kind(self) -> str | None:
        """What the target that came with the rows holds, "classes" or "numbers"."""
        return None

    @property
    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """Rows of every block; counted if they are not known."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return sum(self.lengths), self.n_features

    @property
    def starts(self) -> np.ndarray:
        """First row of every block."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.intp)

    def fold(self, visit: Callable, merge: Callable[[list], Any], *along) -> Any:
        """Visit every block and merge the results."""
        return merge(self.collect(visit, *along))

    @abstractmethod
    def collect(self, visit: Callable, *along) -> list:
        """Visit every block; the results in order."""

    def first(self, visit: Callable) -> Any:
        """Visit the first block alone."""
        return self.collect(visit)[0]

    def stream(self, visit: Callable, *along) -> Iterator:
        """The same as :meth:`collect`, but only a few results at a time need to be here."""
        yield from self.collect(visit, *along)

    @abstractmethod
    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        """Visit all pairs of blocks; for every block its merged results, in order.

        ``visit(block, other, i, j)`` receives two blocks and their first rows, ``merge`` the
        results of one block with all others in order.
        """

    @abstractmethod
    def fold_links(self, visit: Callable, merge: Callable[[list], Any], links: sp.csr_array) -> Any:
        """Visit all pairs of blocks that a sparse matrix over the rows links, and merge:
        ``visit(block, other, tile)`` receives two blocks and their part of ``links``."""

    @abstractmethod
    def map(self, visit: Callable, n_columns: int | None, dtype=np.float64):
        """The collection of ``visit(block)``, computed when it is used; ``n_columns`` is the width
        of the results, None for one number a row."""

    @abstractmethod
    def take(self, columns: np.ndarray):
        """The collection of some columns, of the kind that was opened."""

    @abstractmethod
    def divided(self, scale: float) -> RowBlocks:
        """The same with all entries divided by a number."""

    @abstractmethod
    def cut_like(self, other: RowBlocks) -> RowBlocks:
        """The same rows in the blocks of another one."""

    def by_columns(self) -> ColumnParts | None:
        """The same in blocks of columns; None where the rows themselves are not kept."""
        return None

    def wide_columns(self) -> ColumnParts | None:
        """The same if inner products of all columns would be too many; None if they are not."""
        n = self.n_features
        wide = n > _NARROW and (n > _NARROW_TALL or n > self.shape[0])
        return self.by_columns() if wide else None

    def workers(self):
        """Helpers for long searches where the blocks are: see :mod:`columnist.search._workers`."""
        return None

    def moments(
        self,
        y: RowBlocks | np.ndarray | None = None,
        read: Callable | None = None,
        weights: np.ndarray | None = None,
    ):
        """Moments of the columns, followed by those of the target that ``read`` makes of y; rows
        count as often as ``weights`` say."""
        along = [other for other in (y, weights) if other is not None]
        visit = BlockMoments(read, weighted=weights is not None)
        moments = self.fold(visit, merged_moments, *along)
        if moments.count == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return moments

    def largest(self) -> float:
        """Largest entry in absolute value, of entries that must all be finite."""
        return self.fold(checked_largest, max)

    def few_rows(self, Y: np.ndarray | None = None) -> tuple[Any, np.ndarray | None, float]:
        """Rows with the inner products of all rows of X, and of Y: no more than there are columns.

        Their means are those of the data times the third result.
        """
        if Y is not None:
            check_consistent_length(Y, np.empty(self.shape[0]))
        along = [] if Y is None else [Y]
        moments, lowest, highest = self.fold(_RangedMoments(), _merged_ranges, *along)
        sample = moments.sample()
        root, n = float(np.sqrt(sample.weight)), self.n_features
        rows = sample.rows * root
        # The sums of a constant column round, and what they leave is not variation.
        constant = highest - lowest <= _ROUNDING * np.maximum(np.abs(lowest), np.abs(highest))
        rows[:, :n][:, constant] = root * lowest[constant]
        return rows[:, :n], (None if Y is None else rows[:, n:]), root

    def few_rows_or_columns(self, Y: np.ndarray | None = None) -> tuple[Any, Any, float]:
        """:meth:`few_rows`, or all rows in blocks of columns if these are too many for that."""
        parts = self.wide_columns()
        if parts is None:
            return self.few_rows(Y)
        if Y is not None:
            check_consistent_length(Y, np.empty(self.shape[0]))
        return parts, Y, 1.0

    def gather(self, instead: str = _SELECT_ROWS) -> np.ndarray | sp.csr_array:
        """All rows in one array, if they fit; ``instead`` says what to do if they do not."""
        if not self.is_sparse:
            m, n = self.shape
            need = 2.0 * m * n * self.dtype.itemsize
            check_memory(need, f"Bringing {m} x {n} entries into one process", instead)
        parts = self.collect(_itself)
        return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


class ArrayRows(RowBlocks):
    """An array, or a sparse matrix, of checked rows as one block, here. A visit is a plain call:
    nothing is copied, sent or scheduled."""

    in_memory = True

    def __init__(self, X: np.ndarray | sp.sparray):
        self.X, self.ndim = X, X.ndim
        self.n_features = 1 if X.ndim == 1 else int(X.shape[1])
        self.dtype, self.is_sparse, self.header = X.dtype, sp.issparse(X), X[:1]

    @property
    def lengths(self) -> tuple[int, ...]:
        return (int(self.X.shape[0]),)

    def collect(self, visit: Callable, *along) -> list:
        whole = (o.gather() if isinstance(o, RowBlocks) else np.asarray(o) for o in along)
        return [visit(self.X, *whole)]

    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        return [merge([visit(self.X, self.X, 0, 0)])]

    def fold_links(self, visit: Callable, merge: Callable[[list], Any], links: sp.csr_array) -> Any:
        return merge([visit(self.X, self.X, links)])

    def map(self, visit: Callable, n_columns: int | None, dtype=np.float64):
        return visit(self.X)

    def take(self, columns: np.ndarray):
        return self.X[:, columns]

    def divided(self, scale: float) -> ArrayRows:
        return ArrayRows(self.X / scale)

    def cut_like(self, other: RowBlocks) -> RowBlocks:
        return self

    def few_rows(self, Y: np.ndarray | None = None) -> tuple[Any, np.ndarray | None, float]:
        """The rows themselves: products of a few columns cost less than those of all."""
        if Y is not None:
            check_consistent_length(Y, np.empty(self.shape[0]))
        return self.X, Y, 1.0

    def gather(self, instead: str = "") -> np.ndarray | sp.csr_array:
        return self.X


class BlockMoments:
    """Moments of a block, next to its target if there is one; weights come last."""

    def __init__(self, read: Callable | None = None, *, weighted: bool = False):
        self._read, self._weighted = read, weighted

    def __call__(self, X, *along) -> Any:
        if not self._weighted:
            return moments_of(self._joint(X, *along))
        *y, weights = along
        return moments_of(self._joint(X, *y), np.ravel(weights))

    def _joint(self, X, *y):
        if not y:
            return X
        assert self._read is not None  # a target comes with the function that reads it
        Y = self._read(*y)
        if len(Y) != X.shape[0]:
            raise ValueError(
                f"A block of X has {X.shape[0]} rows, but its part of y has {len(Y)}: cut both "
                "into the same rows."
            )
        if sp.issparse(X):
            return sp.hstack([X, sp.csr_array(Y)], format="csr")
        return np.hstack([X, Y])

    def operations(self, X, *along) -> float:
        """Multiplications of the inner products."""
        m, n = self._joint(X, *along[: len(along) - self._weighted]).shape
        return float(m) * n**2


class _RangedMoments(BlockMoments):
    """Moments of a block, next to a matrix that is passed with it, and the range of its columns."""

    def __init__(self):
        super().__init__(_itself)

    def __call__(self, X, *Y) -> tuple[Moments, np.ndarray, np.ndarray]:
        moments = super().__call__(X, *Y)
        if not X.shape[0]:
            nothing = np.full(X.shape[1], np.inf)
            return moments, nothing, -nothing
        lowest, highest = X.min(axis=0), X.max(axis=0)
        if sp.issparse(X):
            lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
        return moments, lowest.astype(np.float64), highest.astype(np.float64)


def _merged_ranges(parts) -> tuple[Moments, np.ndarray, np.ndarray]:
    moments, lowest, highest = zip(*parts, strict=True)
    return merged_moments(moments), np.min(lowest, axis=0), np.max(highest, axis=0)


def open_blocks(X) -> RowBlocks | None:
    """X as blocks of rows, or None if it is no such collection."""
    if isinstance(X, RowBlocks):
        return X
    library = type(X).__module__.partition(".")[0]
    if library == "anndata":
        raise TypeError(
            "X is an AnnData object, not a matrix: pass X.to_df(), which has the names of the "
            "genes, or X.X, which may be sparse."
        )
    if library not in _OPENERS and library in _KEEPERS and library in sys.modules:
        importlib.import_module(_KEEPERS[library])
    opener = _OPENERS.get(library)
    return None if opener is None else opener(X)


def as_rows(X) -> RowBlocks:
    """Blocks of rows, whatever X is: a collection as it is cut, an array as one block."""
    blocks = open_blocks(X)
    return ArrayRows(X) if blocks is None else blocks


def register_blocks(library: str, opener: Callable[[Any], RowBlocks | None]) -> None:
    """Say how collections of a library are opened; ``opener`` may decline with None."""
    _OPENERS[library] = opener


def _itself(block):
    return block


def checked_largest(block) -> float:
    """Largest entry of a block in absolute value; all must be finite."""
    largest = largest_entry(block)
    if not np.isfinite(largest):
        assert_all_finite(block.data if sp.issparse(block) else block, input_name="X")
    return largest
