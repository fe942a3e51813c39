"""The data of a low-rank model: centred, scaled so that squares do not overflow, with or without
missing entries.

Nothing of size n x n or p x p is formed, sparse tables stay so, single precision widens by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from columnist.linalg._passes import apply, cross, merge_repeats, squared_norms
from columnist.linalg._prox import row_norms
from columnist.linalg._reduce import randomized_range, squaring_scale

# Numbers of a block that is worked on in the cache.
_CACHED = 2**17
# Up to this many rows or columns the whole decomposition is as quick as a part of it.
_SMALL = 600


@dataclass(frozen=True)
class Table:
    """A table of numbers, centred."""

    values: np.ndarray | sp.spmatrix
    """Entries (n, p) in balanced units; dense ones are centred, and zero where one is missing."""
    center: np.ndarray
    """What was subtracted from each column, in the units of the data."""
    shift: np.ndarray | None = None
    """What has still to be subtracted from each column of ``values``, for they are sparse."""
    missing: np.ndarray | None = None
    """Where there is no entry."""
    unit: float = 1.0
    """Power of two that was divided out."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.values.shape

    @property
    def sparse(self) -> bool:
        """Whether the entries are stored sparsely."""
        return sp.issparse(self.values)

    def take(self, columns: np.ndarray) -> Table:
        """The table of these columns alone."""
        return Table(
            self.values[:, columns],
            self.center[columns],
            None if self.shift is None else self.shift[columns],
            None if self.missing is None else self.missing[:, columns],
            self.unit,
        )

    def times(self, Y: np.ndarray) -> np.ndarray:
        """AY; missing entries count as zero."""
        product = apply(self.values, Y)
        return product if self.shift is None else product - self.shift @ Y

    def cross(self, X: np.ndarray) -> np.ndarray:
        """A'X; missing entries count as zero."""
        product = cross(self.values, X)
        return product if self.shift is None else product - np.outer(self.shift, X.sum(axis=0))

    def column_norms(self) -> np.ndarray:
        """Lengths of the columns."""
        squares = squared_norms(self.values)
        if self.shift is not None:
            squares = squares - self.shape[0] * self.shift**2
        return np.sqrt(np.maximum(squares, 0.0))

    def energy(self) -> float:
        """Sum of the squares of all entries."""
        return float(np.sum(self.column_norms() ** 2))

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a dense table, as few as the cache holds, in double precision."""
        n, p = self.shape
        height = max(16, _CACHED // max(p, 1))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            yield rows, self.values[rows].astype(np.float64, copy=False)

    def row_norms(self) -> np.ndarray:
        """Lengths of the rows; dense tables."""
        return np.concatenate([row_norms(values) for _, values in self.blocks()])

    def residual_norms(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Lengths of the rows of A - XY', over the entries that are there; dense tables."""
        norms = np.empty(self.shape[0])
        for rows, values in self.blocks():
            rest = values - X[rows] @ Y.T
            if self.missing is not None:
                rest[self.missing[rows]] = 0.0
            norms[rows] = row_norms(rest)
        return norms

    def pull_limits(self, loss: str) -> np.ndarray:
        r"""For every column the penalty from which on it cannot enter beside an empty model.

        :math:`2\|a_i\|` for squared errors; for lengths of rows the length of column i after
        every row was brought to unit length.
        """
        if loss == "quadratic":
            return 2.0 * self.column_norms()
        squares = np.zeros(self.shape[1])
        for _, values in self.blocks():
            norms = row_norms(values)
            weights = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0.0)
            squares += np.square(weights) @ np.square(values)
        return np.sqrt(squares)


def as_table(X, centering: str, location: str = "mean") -> Table:
    """Centre and balance data that may hold NaN for missing entries; refuse what cannot be done."""
    if sp.issparse(X):
        if np.isnan(X.data).any():
            raise ValueError(
                "Sparse X holds NaN, but missing entries need dense X: convert it with "
                "X.toarray(), or leave the entries out if they mean zero."
            )
        if centering == "mean" and location == "median":
            raise ValueError("location='median' needs dense X: use location='mean'.")
    X = merge_repeats(X)
    missing = None if sp.issparse(X) else np.isnan(X)
    if missing is not None and not missing.any():
        missing = None
    if missing is not None and missing.all():
        raise ValueError("X has no entry at all: every one is NaN. Give data to fit.")
    values = X if missing is None else np.where(missing, 0.0, X).astype(np.float64, copy=False)
    unit = squaring_scale(values)
    if unit != 1.0:
        values = values * (1.0 / unit)
    center = _center(values, missing, centering, location)
    if sp.issparse(X) or not center.any():
        shift = center if center.any() else None
        return Table(values, center * unit, shift, missing, unit)
    values = values - center
    if missing is not None:
        values[missing] = 0.0
    return Table(values, center * unit, None, missing, unit)


def _center(values, missing: np.ndarray | None, centering: str, location: str) -> np.ndarray:
    """Mean or median of the entries that are there; zero for a column without any."""
    n, p = values.shape
    if centering == "none":
        return np.zeros(p)
    if location == "median":
        if missing is None:
            return np.median(values, axis=0).astype(np.float64)
        medians = np.ma.median(np.ma.array(values, mask=missing), axis=0)
        return np.asarray(np.ma.filled(medians, 0.0), dtype=np.float64)
    total = np.asarray(values.sum(axis=0, dtype=np.float64)).ravel()
    count = n if missing is None else np.maximum(n - missing.sum(axis=0), 1)
    return total / count


def leading_svd(table: Table, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leading U (n, rank), sigma (descending), V (p, rank); missing entries count as zero."""
    n, p = table.shape
    least = min(n, p)
    if not table.energy() > 0.0:
        return np.eye(n, rank), np.zeros(rank), np.eye(p, rank)
    if not table.sparse and (least <= _SMALL or rank >= least // 2):
        values = np.asarray(table.values, dtype=np.float64)
        U, sigma, Vt = scipy.linalg.svd(values, full_matrices=False, check_finite=False)
        return U[:, :rank], sigma[:rank], Vt[:rank].T
    operator = LinearOperator(
        (n, p),
        matvec=lambda v: table.times(v.reshape(-1, 1)).ravel(),
        rmatvec=lambda u: table.cross(u.reshape(-1, 1)).ravel(),
        matmat=table.times,
        rmatmat=table.cross,
        dtype=np.float64,
    )
    if rank >= least // 2:  # a basis of the whole range is hardly larger than the answer
        Q = randomized_range(operator, least, rng=np.random.default_rng(0))
        V, sigma, Wt = scipy.linalg.svd(table.cross(Q), full_matrices=False, check_finite=False)
        return Q @ Wt[:rank].T, sigma[:rank], V[:, :rank]
    U, sigma, Vt = svds(operator, k=rank, v0=np.random.default_rng(0).standard_normal(least))
    order = np.argsort(-sigma)
    return U[:, order], sigma[order], Vt[order].T


class Filled:
    """A copy of a table with missing entries, filled again whenever the model moves. The squared
    error of the filled table is that over the entries that are there, at the point it was filled
    at, and no smaller elsewhere. A step that lowers the one lowers the other. The values of
    ``table`` change with :meth:`follow`."""

    def __init__(self, table: Table):
        assert table.missing is not None  # else there is nothing to fill
        self.holes = table.missing
        self.table = replace(table, values=table.values.copy(), missing=None)

    def follow(self, X: np.ndarray, Y: np.ndarray) -> float:
        """Fill with XY'; the squared error over the entries that are there."""
        total = 0.0
        for rows, values in self.table.blocks():
            model = X[rows] @ Y.T
            np.copyto(values, model, where=self.holes[rows])
            model -= values
            total += float(np.vdot(model, model))
        return total
