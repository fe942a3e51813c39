"""Heuristic choice of the rows to remove: concentration steps from many starts, then exchanges.

A concentration step fits an r-dimensional (affine) subspace to the kept rows and keeps the rows
nearest to it; neither half can raise the sum of squared distances. Starts are all rows, small
random subsets, which often hold no outlier, and larger ones, which fit more stably. An exchange
puts one removed row back for a kept one: with squared distance q and leverage h, removing gains
about q / (1 - h) and putting back costs about q / (1 + h); only pairs that gain are tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from columnist.robust._errors import all_but
from columnist.robust._passes import farthest
from columnist.robust._subspace import about_mean
from columnist.search import _interrupts as interrupts

# An error has to fall by this share to count as lower.
_GAIN = 1e-12
_MAX_STEPS = 100
_MAX_EXCHANGES = 200
_STARTS = 50
# Taller data are searched on a sample of this many rows first.
_SAMPLE = 4000
_FINALISTS = 3


@dataclass
class Trimming:
    """Concentration steps for one data set, in a space of at most n dimensions."""

    X: np.ndarray
    n_components: int
    n_removed: int
    centred: bool  # whether the subspace passes through the mean of the kept rows, or the origin
    must_keep: np.ndarray | None = None  # masks of rows whose place is given
    must_remove: np.ndarray | None = None
    weights: np.ndarray | None = None  # what rows are multiplied by; those that may go by 1
    expired: Callable[[], bool] = field(default=lambda: False, repr=False)

    def __post_init__(self) -> None:
        n, p = self.X.shape
        if p > n and self.weights is None:
            centre = self.X.mean(axis=0) if self.centred else 0.0
            U, sigma, _ = scipy.linalg.svd(self.X - centre, full_matrices=False, check_finite=False)
            self.X = U * sigma

    def fit(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, eigenvalues and eigenvectors (both descending) of the scatter of some rows."""
        Z, mean = self.X[kept], np.zeros(self.X.shape[1])
        if self.centred:
            Z, mean = about_mean(Z, None if self.weights is None else self.weights[kept])
        values, vectors = scipy.linalg.eigh(Z.T @ Z, check_finite=False)
        return mean, np.maximum(values[::-1], 0.0), vectors[:, ::-1]

    def _mass(self, kept: np.ndarray) -> float:
        """Number of kept rows, with all those they represent."""
        if self.weights is None:
            return float(np.count_nonzero(kept))
        return float(np.sum(self.weights[kept] ** 2))

    def distances(self, mean: np.ndarray, axes: np.ndarray) -> np.ndarray:
        """Squared distances of all rows from a subspace; far if they must go, near if not."""
        Z = self.X - mean
        Z -= (Z @ axes) @ axes.T
        squares = np.einsum("ij,ij->i", Z, Z)
        if self.must_keep is not None:
            squares[self.must_keep] = -1.0
        if self.must_remove is not None:
            squares[self.must_remove] = np.inf
        return squares

    def nearest(self, squares: np.ndarray) -> np.ndarray:
        """The rows to keep, as a mask; ties go to the smaller index."""
        return all_but(len(squares), farthest(squares, np.arange(len(squares)), self.n_removed))

    def descend(self, start: np.ndarray) -> tuple[float, np.ndarray]:
        """Steps from a fit to ``start`` (mask or indices) until the error stops falling."""
        r, error, kept = self.n_components, np.inf, np.zeros(0, dtype=bool)
        mean, values, vectors = self.fit(start)
        for _ in range(_MAX_STEPS):
            trial = self.nearest(self.distances(mean, vectors[:, :r]))
            mean, values, vectors = self.fit(trial)
            reached = float(values[r:].sum())
            if not reached < error * (1.0 - _GAIN):
                break
            error, kept = reached, trial
            if self.expired():
                break
        return error, kept

    def exchanged(
        self, error: float, kept: np.ndarray, expired: Callable[[], bool] = lambda: False
    ) -> tuple[float, np.ndarray]:
        """Exchange rows, and concentrate again, until no promising pair helps or time is up."""
        r, h = self.n_components, self._mass(kept)
        improved = not expired()
        while improved:
            improved = False
            mean, values, vectors = self.fit(kept)
            for out, back in self._pairs(kept, mean, values, vectors[:, :r]):
                if expired():
                    break
                Z = (self.X[[out, back]] - mean) @ vectors
                scatter = np.diag(values) - np.outer(Z[0], Z[0]) + np.outer(Z[1], Z[1])
                if self.centred:  # the mean moves with the rows
                    scatter -= np.outer(Z[1] - Z[0], Z[1] - Z[0]) / h
                spectrum = scipy.linalg.eigvalsh(scatter, check_finite=False)
                if spectrum[: len(spectrum) - r].sum() < error * (1.0 - _GAIN):
                    trial = kept.copy()
                    trial[[out, back]] = False, True
                    reached, trial = self.descend(trial)
                    if reached < error * (1.0 - _GAIN):
                        error, kept, improved = reached, trial, True
                        break
        return error, kept

    def _pairs(self, kept, mean, values, axes) -> np.ndarray:
        """Kept and removed rows that a first-order estimate would exchange, best first."""
        squares = self.distances(mean, axes)
        usable = values[: axes.shape[1]] > _GAIN * values[:1].sum()
        scores = (self.X - mean) @ axes[:, usable]
        leverage = (scores**2 / values[: axes.shape[1]][usable]).sum(axis=1)
        leverage += self.centred / max(self._mass(kept), 1)
        gain = squares / np.maximum(1.0 - leverage, 1e-3)
        cost = squares / (1.0 + leverage)
        ins = np.flatnonzero(kept & (squares >= 0.0))
        outs = np.flatnonzero(~kept & np.isfinite(squares))
        ins = ins[np.argsort(-gain[ins], kind="stable")][:_MAX_EXCHANGES]
        outs = outs[np.argsort(cost[outs], kind="stable")][:_MAX_EXCHANGES]
        change = cost[outs][None, :] - gain[ins][:, None]
        order = np.argsort(change, axis=None, kind="stable")[:_MAX_EXCHANGES]
        order = order[change.ravel()[order] < 0.0]
        row, column = np.unravel_index(order, change.shape)
        return np.column_stack([ins[row], outs[column]])


def concentrated_rows(
    X: np.ndarray,
    n_components: int,
    n_removed: int,
    *,
    centred: bool,
    rng: np.random.Generator,
    deadline: float = np.inf,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """A strong choice of the rows to keep, as a mask; a given start (mask) comes before all others.

    The first start is the fit to all rows; nothing further is tried after the ``deadline``.
    """

    def expired() -> bool:
        return interrupts.expired(deadline)

    trimming = Trimming(X, n_components, n_removed, centred, expired=expired)
    n = len(X)
    everyone = np.ones(n, dtype=bool)
    best, kept = trimming.descend(everyone if start is None else start)
    starts = [] if start is None else [everyone]
    if n > 2 * _SAMPLE:
        # The rows nearest to the best subspaces of a sample.
        some = sampled_rows(n, rng)
        best_rows = finalists(trimming.X[some], n_components, n_removed / n, centred, rng, expired)
        others = (some[rows] for rows in best_rows)
    else:
        others = _starts(n, n_components, n - n_removed, rng)
    for other in itertools.chain(starts, others):
        if expired():
            break
        error, found = trimming.descend(other)
        if error < best * (1.0 - _GAIN):
            best, kept = error, found
    return trimming.exchanged(best, kept, expired)[1]


def _starts(n: int, r: int, h: int, rng: np.random.Generator):
    """Alternately r + 2 rows and a random number of rows between that and h."""
    least = min(r + 2, n)
    for start in range(1, _STARTS):
        size = least if start % 2 else int(rng.integers(least, max(h, least) + 1))
        yield rng.choice(n, size, replace=False)


def sampled_rows(n: int, rng: np.random.Generator) -> np.ndarray:
    """Some of n rows, enough to find good starts."""
    return np.sort(rng.choice(n, min(n, _SAMPLE), replace=False))


def finalists(
    X: np.ndarray,
    n_components: int,
    share: float,
    centred: bool,
    rng: np.random.Generator,
    expired: Callable[[], bool] = lambda: False,
) -> list[np.ndarray]:
    """The best sets of rows of a sample to fit subspaces to, as masks. A sample may hold more than
    its ``share`` of outliers: three standard deviations more are removed."""
    size = len(X)
    removed = size * share + 3.0 * math.sqrt(size * share * (1.0 - share))
    removed = min(math.ceil(removed), max(size - n_components - 2, 0))
    sample = Trimming(X, n_components, removed, centred)
    found: dict[bytes, tuple[float, np.ndarray]] = {}
    for start in _starts(size, n_components, size - removed, rng):
        if expired():
            break
        error, kept = sample.descend(start)
        found[kept.tobytes()] = error, kept
    ranked = sorted(found.values(), key=lambda pair: pair[0])
    return [kept for _, kept in ranked[:_FINALISTS]]
