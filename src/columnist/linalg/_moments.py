r"""Means and inner products of columns, in one pass over the rows. No input validation.

Blocks of rows are summed up one by one, anywhere and in any order, and the sums merged:

.. math:: \mu = \tfrac{1}{m} \sum_b m_b \mu_b, \qquad
    C = \sum_b C_b + \sum_b m_b (\mu_b - \mu)(\mu_b - \mu)^T,

:math:`C = (X - 1\mu^T)^T (X - 1\mu^T)` being the scatter. Squaring loses half of the digits, so of
a block with columns that are not clearly independent a triangular factor :math:`R^T R = C_b` is
kept: the result is as exact as a QR of all rows, at nearly the price of X'X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dpocon, dpotrf
from sklearn.utils import assert_all_finite

from columnist.linalg._rounding import CONSTANT, INDEPENDENT, rank_floor

# Squares of columns between these neither overflow nor vanish when they are summed up.
_SAFE = (1e-200, 1e200)
# A mean whose square is larger than this many variances is removed before squaring.
_FAR = 4.0
# Number of rows that this is decided by.
_SOME = 200
# Rows are kept as they are until there are this many per column.
_TALL = 2
# Entries of a block of rows that is written out: 32 MB.
_WRITTEN = 2**22
# Entries of a block that stays in the cache while it is converted and squared: 2 MB.
_CACHED = 2**18


@dataclass(frozen=True)
class Sample:
    """A few rows with the means of the data, and their scatter divided by ``weight``, the rows
    of the data for each of these."""

    rows: np.ndarray
    weight: float


@dataclass(frozen=True)
class Moments:
    """Count, means and scatter of rows; where these have weights, the count is their sum."""

    count: int  # a floating point number where rows have weights
    mean: np.ndarray
    scatter: np.ndarray | None  # of the rows that could be squared
    rest: np.ndarray  # rows whose inner products are the scatter of all others
    # What rounding took from the means: blocks may lie far from zero, and near one another.
    low: np.ndarray

    def covariance(self) -> np.ndarray:
        """The scatter divided by the number of rows."""
        return self._scatter() / self.count

    def gram(self) -> np.ndarray:
        """Inner products of the columns themselves."""
        return self._scatter() + self.count * np.outer(self.mean, self.mean)

    def _scatter(self) -> np.ndarray:
        total = self.rest.T @ self.rest
        return total if self.scatter is None else self.scatter + total

    def factor(self) -> np.ndarray:
        """Rows whose inner products are the scatter: at most as many as there are columns."""
        rows = self.rest
        if self.scatter is not None:
            rows = np.vstack([_root(self.scatter), rows])
        return triangle(rows) if len(rows) > len(self.mean) else rows

    def sample(self, *, centered: bool = False) -> Sample:
        r"""A few rows with the same means and covariances; without the means if ``centered``. Let R
        be a factor of the scatter with r - 1 rows, and H a reflection that turns the first axis
        into the diagonal :math:`1/\sqrt r`: all other columns of H sum to zero. The rows
        :math:`1\mu^T + \sqrt{r/m} H_{2:} R` are the ones."""
        R = self.factor()
        r = len(R) + 1
        padded = np.vstack([np.zeros((1, R.shape[1])), R])
        # H = I - 2 v v' / v'v with v = e - 1/sqrt(r).
        v = np.full(r, -(r**-0.5))
        v[0] += 1.0
        square = v @ v
        if square > 0.0:
            padded -= np.outer(2.0 / square * v, v @ padded)
        weight = self.count / r
        rows = padded / np.sqrt(weight)
        if not centered:
            return Sample(self.mean + rows, weight)
        # Of a constant column nothing is left.
        rows[:, np.abs(rows).max(axis=0, initial=0.0) <= CONSTANT * np.abs(self.mean)] = 0.0
        return Sample(rows, weight)


def moments_of(X, weights: np.ndarray | None = None) -> Moments:
    """Moments of one block of rows, dense or sparse, of any floating point type; a ValueError if
    it holds NaN or infinity. With ``weights`` a row counts as often as they say."""
    if sp.issparse(X):
        return _sparse_moments(X) if weights is None else _written_moments(X, weights)
    if weights is not None:
        return _weighted_moments(X, weights)
    m, n = X.shape
    if m > _TALL * n:
        squared = _squared(X)
        if squared is not None:
            return squared
    assert_all_finite(X, input_name="X")
    rest = X.astype(np.float64)
    mean = rest.sum(axis=0) / max(m, 1)
    rest -= mean
    left = rest.sum(axis=0) / max(m, 1)  # sums of large numbers round
    rest -= left
    mean, low = _two_sum(mean, left)
    return Moments(m, mean, None, triangle(rest) if m > _TALL * n else rest, low)


def _weighted_moments(X: np.ndarray, weights: np.ndarray) -> Moments:
    """The same of weighted rows."""
    assert_all_finite(X, input_name="X")
    present = weights > 0.0
    rest, weights = X[present].astype(np.float64), weights[present]
    m, n = rest.shape
    if m == 0:
        return Moments(0, np.zeros(n), None, rest, np.zeros(n))
    total: Any = float(weights.sum())
    shares = weights / total
    mean = shares @ rest
    rest -= mean
    left = shares @ rest  # sums of large numbers round
    rest -= left
    mean, low = _two_sum(mean, left)
    root = np.sqrt(weights)
    rest *= root[:, None]
    if m > _TALL * n:
        with np.errstate(over="ignore", invalid="ignore"):
            scatter = rest.T @ rest
        if _cholesky(scatter) is not None:
            return Moments(total, mean, scatter, rest[:0], low)
        return Moments(total, mean, None, triangle(rest), low)
    # The rows are orthogonal to the roots of the weights: turn these into the first axis.
    v = root / np.linalg.norm(root)
    v[0] += 1.0
    rest -= np.outer(2.0 / (v @ v) * v, v @ rest)
    return Moments(total, mean, None, rest[1:], low)


def merged_moments(parts: Sequence[Moments]) -> Moments:
    """Moments of all rows together."""
    parts = [part for part in parts if part.count] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    count = sum(part.count for part in parts)
    # Equal means stay exactly what they are, and close ones lose nothing.
    origin, low = parts[0].mean, parts[0].low
    steps = [(part.mean - origin) + (part.low - low) for part in parts]
    step = sum((part.count / count) * moved for part, moved in zip(parts, steps, strict=True))
    between = [np.sqrt(part.count) * (s - step) for part, s in zip(parts, steps, strict=True)]
    mean, low = _two_sum(origin, low + step)
    squared = [part.scatter for part in parts if part.scatter is not None]
    scatter = sum(squared[1:], start=squared[0]) if squared else None
    rest = np.vstack([*(part.rest for part in parts), between])
    if len(rest) > _TALL * len(mean):
        with np.errstate(over="ignore", invalid="ignore"):
            again = rest.T @ rest
        if _cholesky(again) is None:
            rest = triangle(rest)
        else:
            scatter = again if scatter is None else scatter + again
            rest = rest[:0]
    return Moments(count, mean, scatter, rest, low)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum and what rounding took from it, exactly."""
    total = a + b
    own = total - a
    return total, (a - (total - own)) + (b - own)


def _squared(X: np.ndarray) -> Moments | None:
    """Moments by squaring, or None where that would lose digits."""
    m, n = X.shape
    mean, low = X.sum(axis=0, dtype=np.float64) / m, np.zeros(n)
    with np.errstate(over="ignore", invalid="ignore"):
        # Whether some rows look as if means were large beside deviations.
        some = X[:: max(1, m // _SOME)].astype(np.float64)
        far = bool((mean**2 > _FAR * np.square(some - mean).mean(axis=0)).any())
        if not far:
            scatter = _products(X) - m * np.outer(mean, mean)
            far = bool((m * mean**2 > _FAR * np.diag(scatter)).any())
        if far:
            scatter, (mean, low) = _products_about(X, mean)
    if _cholesky(scatter) is None:
        return None
    return Moments(m, mean, scatter, np.zeros((0, n)), low)


def _products(X: np.ndarray) -> np.ndarray:
    """X'X in float64."""
    if X.dtype == np.float64:
        return X.T @ X
    return sum(part.T @ part for part in _double(X))


def _products_about(X: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, tuple]:
    """Scatter about means that rounding may have moved, and what they should be."""
    scatter, left = np.zeros((X.shape[1], X.shape[1])), np.zeros(X.shape[1])
    for part in _double(X):
        part -= mean
        scatter += part.T @ part
        left += part.sum(axis=0)
    left /= len(X)
    return scatter - len(X) * np.outer(left, left), _two_sum(mean, left)


def _double(X: np.ndarray) -> Iterator[np.ndarray]:
    """Copies of some rows after the other in double precision, small enough for the cache."""
    height = max(1, _CACHED // X.shape[1])
    return (X[i : i + height].astype(np.float64) for i in range(0, len(X), height))


def _cholesky(scatter: np.ndarray) -> np.ndarray | None:
    """Triangular root of the scatter of clearly independent columns, else None."""
    squares = np.diag(scatter)
    if not (squares > _SAFE[0]).all() or not (squares < _SAFE[1]).all():
        return None
    lengths = np.sqrt(squares)
    correlations = scatter / lengths / lengths[:, None]
    root, failed = dpotrf(correlations)
    if failed:
        return None
    reciprocal, _ = dpocon(root, np.abs(correlations).sum(axis=0).max())
    return root * lengths if reciprocal > INDEPENDENT else None


def _root(scatter: np.ndarray) -> np.ndarray:
    """Rows whose inner products are the scatter."""
    root = _cholesky(scatter)
    if root is not None:
        return root
    lengths = np.sqrt(np.diag(scatter).clip(min=0.0))
    unit = np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(scatter / unit / unit[:, None])
    kept = values > rank_floor(values.shape, max(values[-1], 0.0))
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T * lengths


def triangle(rows: np.ndarray) -> np.ndarray:
    """Triangular factor of tall rows."""
    return scipy.linalg.qr(rows, mode="r", check_finite=False)[0][: rows.shape[1]]


def _sparse_moments(X) -> Moments:
    """Squared where columns are as independent as that takes, else rows are written out."""
    assert_all_finite(X.data, input_name="X")
    m, n = X.shape
    if m > _TALL * n:
        X = X.astype(np.float64)
        mean = np.asarray(X.sum(axis=0)).ravel() / m
        scatter = (X.T @ X).toarray() - m * np.outer(mean, mean)
        near = bool((m * mean**2 <= _FAR * np.diag(scatter)).all())
        if near and _cholesky(scatter) is not None:
            return Moments(m, mean, scatter, np.zeros((0, n)), np.zeros(n))
    return _written_moments(X)


def _written_moments(X, weights: np.ndarray | None = None) -> Moments:
    """Moments of sparse rows that are written out, some at a time."""
    assert_all_finite(X.data, input_name="X")
    X, (m, n) = X.tocsr(), X.shape
    height = max(_WRITTEN // max(n, 1), 2 * n, 1)
    some = [slice(at, at + height) for at in range(0, max(m, 1), height)]
    return merged_moments([
        moments_of(X[rows].toarray(), None if weights is None else weights[rows]) for rows in some
    ])  # fmt: skip
