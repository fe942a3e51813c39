"""Errors of sets of rows, computed from the data with bounds on rounding.

A decomposition in double precision is off by a few units in the last place of the *largest*
singular value, which may hide the error. So every error comes as an interval, and where that is too
wide it is computed again in double-double arithmetic (:mod:`columnist.linalg._accurate`). There is
no error if every kept row lies in the subspace up to the rounding of its own entries: the
dimensions that rows span are judged with each of them divided by its length.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg

from columnist.criteria import Criterion
from columnist.linalg import _accurate as accurate
from columnist.linalg._prox import row_norms
from columnist.linalg._rounding import EPS, is_trusted
from columnist.robust._subspace import about_mean, at_most_square

# Errors below this share of the data may be nothing but rounding: look closer.
_SUSPICIOUS = 1e-8
# Rounding of double-double arithmetic, as a share of the data.
_TINY = 1e-28
# Seconds of double-double arithmetic that one error may take, and seconds per operation.
_SECONDS, _OPERATION = 2.0, 4e-9


class Interval(NamedTuple):
    """An error as computed, and between what it surely is; ``least`` is the smallest there is."""

    low: float
    value: float
    high: float
    least: float = 0.0

    @property
    def precise(self) -> bool:
        """Whether it can be compared with others."""
        return is_trusted(self.low, self.high, self.least)


class RowErrors:
    r"""Errors :math:`\Theta(\sigma_{r+1}, \dots)`, times ``scale`` inside, of kept rows about their
    mean ("optimal"), that of all rows ("mean"), or the origin ("none"). ``rows`` are X about a
    point that makes no difference or the given centre, every entry rounded once; ``short`` the same
    in as few dimensions as rows, which may have changed singular values by ``off``."""

    def __init__(
        self,
        X: np.ndarray,
        n_components: int,
        criterion: Criterion,
        centering: str,
        scale: float = 1.0,
    ):
        self.X, self.n_components, self.scale = X, n_components, scale
        self.criterion, self.centering = criterion, centering
        self.weights = None
        self.centred = centering == "optimal"
        self.rows, shift = _shifted(X, centering)
        self.sizes = row_norms(X) + np.linalg.norm(shift)
        self._exact: tuple[np.ndarray, np.ndarray] | None = None
        self._seen: tuple[bytes, Interval] = b"", Interval(0.0, 0.0, 0.0)
        self.short, self.off = self.rows, 0.0
        n, p = X.shape
        if p > n:  # as many dimensions as rows tell nearly the same
            U, sigma, _ = scipy.linalg.svd(self.rows, full_matrices=False, check_finite=False)
            self.short = U * sigma
            self.off = (n + p + 10) * EPS * float(np.linalg.norm(sigma))

    def evaluate(self, kept: np.ndarray, limit: float = np.inf) -> Interval:
        """Error of some rows (mask or indices), precise where it may be below ``limit``."""
        found = self.interval(kept)
        if found.precise or found.low >= limit:
            return found
        if self.off:
            found = self._double(self.rows[kept], kept, 0.0)
        if found.precise or found.low >= limit:
            return found
        if self.affordable(kept):
            return self.exact(kept)
        # Rounding may be all that there is in some directions.
        return self._double(self.rows[kept], kept, 0.0, self._rank(kept))

    def interval(self, kept: np.ndarray) -> Interval:
        """The same in double precision."""
        name, found = self._seen  # a set is often examined twice in a row
        if name != kept.tobytes():
            found = self._double(self.short[kept], kept, self.off)
            self._seen = kept.tobytes(), found
        return found

    def divided(self, unit: float, scale: float) -> RowErrors:
        """The same for rows divided by a power of two, and another factor."""
        other = copy.copy(self)
        other.scale, other._seen = scale, (b"", self._seen[1])
        if unit != 1.0:
            other._exact, other.off = None, self.off / unit
            other.X, other.rows, other.sizes = self.X / unit, self.rows / unit, self.sizes / unit
            other.short = other.rows if self.short is self.rows else self.short / unit
        return other

    def affordable(self, kept: np.ndarray, seconds: float = _SECONDS) -> bool:
        """Whether double-double arithmetic does not take too long."""
        count = np.count_nonzero(kept) if kept.dtype == bool else len(kept)
        short, long = sorted((count, self.X.shape[1]))
        return _OPERATION * 40.0 * short * short * long <= seconds

    def exact(self, kept: np.ndarray) -> Interval:
        """The error in double-double arithmetic: correct but for the last digits."""
        if self.centred:
            Z = accurate.centered((self.X[kept].T, np.zeros_like(self.X[kept].T)))
        else:
            hi, lo = self._exact_rows()
            Z = hi[kept].T, lo[kept].T
        sigma = accurate.singular_values(Z)
        noise = _TINY * float(np.linalg.norm(self.sizes[kept]))
        sigma[sigma <= noise] = 0.0
        return self._of(sigma, np.where(sigma > 0.0, 4.0 * EPS * sigma + noise, 0.0), kept)

    def _exact_rows(self) -> tuple[np.ndarray, np.ndarray]:
        if self._exact is None:
            hi, lo = self.X.T, np.zeros_like(self.X.T)
            if self.centering == "mean":
                hi, lo = accurate.centered((hi, lo))
            self._exact = hi.T, lo.T
        return self._exact

    def _double(
        self, Z: np.ndarray, kept: np.ndarray, off: float, rank: int | None = None
    ) -> Interval:
        if Z.size == 0:
            return self._of(np.zeros(0), np.zeros(0), kept)
        if self.centering != "none":  # every entry was rounded once, far from the rows' own mean
            off += EPS * float(np.linalg.norm(Z))
        if self.centred:
            Z = Z - Z.mean(axis=0)
            Z -= Z.mean(axis=0)
        sigma = scipy.linalg.svdvals(at_most_square(Z), check_finite=False)
        off += (sum(Z.shape) + 10) * EPS * float(np.linalg.norm(sigma))
        return self._of(sigma[:rank], np.full(len(sigma), off)[:rank], kept)

    def _of(self, sigma: np.ndarray, off: np.ndarray, kept: np.ndarray) -> Interval:
        """The criterion of singular values that may be off by so much."""
        first = self.n_components
        sizes = self.sizes[kept]
        rank = max(len(sizes) - self.centred, 0)  # no more, whatever they are
        sigma, off = sigma[first:rank], off[first:rank]
        if len(sigma) and sigma[0] <= _SUSPICIOUS * np.linalg.norm(sizes):
            if self._rank(kept) <= first:  # no error but rounding
                sigma = sigma[:0]
        if len(sigma) == 0:
            sigma = off = np.zeros(1)
        ends = np.array([np.maximum(sigma - off, 0.0), sigma, sigma + off])
        low, value, high = self.criterion.values(self.scale * ends).tolist()
        # Adding up rounds once more.
        least = float(self.criterion.value(np.zeros(1)))
        slack = len(sigma) * EPS
        low = low - slack * (low - least)
        return Interval(low, value, high + slack * (high - least), least)

    def _rank(self, kept: np.ndarray) -> int:
        """Dimensions that the rows span, but for their rounding."""
        rows, sizes = self.rows[kept], self.sizes[kept]
        if self.centred and len(rows):
            # From the row that is rounded least, the others lose nothing.
            origin = int(np.argmin(sizes))
            rows, sizes = np.delete(rows - rows[origin], origin, axis=0), np.delete(sizes, origin)
        rows, sizes = rows[sizes > 0.0], sizes[sizes > 0.0, None]
        if rows.size == 0:
            return 0
        sigma = scipy.linalg.svdvals(at_most_square(rows / sizes), check_finite=False)
        noise = (3.0 + 0.5 * np.sqrt(rows.shape[1])) * EPS * np.sqrt(len(rows))
        return int(np.count_nonzero(sigma > noise))


class WeightedErrors:
    """The same for the squared Frobenius norm of rows with weights, in double precision. Some rows
    represent many others, whose rounding is charged elsewhere. Weights are what rows are multiplied
    by (see :func:`columnist.robust._subspace.about_mean`); None: about the origin."""

    def __init__(self, X: np.ndarray, n_components: int, weights: np.ndarray | None = None):
        self.rows, self.n_components = X, n_components
        self.centred, self.weights = weights is not None, weights

    def interval(self, kept: np.ndarray) -> Interval:
        """Error of some rows (mask or indices); singular values of rounding size are zero."""
        Z, mean = self.rows[kept], np.zeros(self.rows.shape[1])
        if Z.size == 0:
            return Interval(0.0, 0.0, 0.0)
        if self.weights is not None:
            Z, mean = about_mean(Z, self.weights[kept])
        sigma = scipy.linalg.svdvals(at_most_square(Z), check_finite=False)
        size = max(float(sigma[0]), np.sqrt(len(Z)) * float(np.linalg.norm(mean)))
        sigma[sigma <= max(Z.shape) * EPS * size] = 0.0
        sigma = sigma[self.n_components :]
        off = (sum(Z.shape) + 10) * EPS * size * (sigma > 0.0)
        ends = np.maximum(sigma - off, 0.0), sigma, sigma + off
        return Interval(*(float(end @ end) for end in ends))

    evaluate = interval  # as precisely as possible


def all_but(n: int, removed: Sequence[int] | np.ndarray) -> np.ndarray:
    """Mask of n rows without some."""
    kept = np.ones(n, dtype=bool)
    kept[np.asarray(removed, dtype=np.intp)] = False
    return kept


def _shifted(X: np.ndarray, centering: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows about a centre, each entry correct but for its own last digit, and the centre."""
    if centering == "none" or len(X) == 0:
        return X, np.zeros(X.shape[1])
    if centering == "optimal":  # any point will do, but digits are lost far from the rows
        centre = np.median(X, axis=0)
        return X - centre, centre
    # The second mean is that of what the first one, rounded, has left over.
    centre = X.mean(axis=0)
    rows = X - centre
    rows -= rows.mean(axis=0)
    return rows, centre
