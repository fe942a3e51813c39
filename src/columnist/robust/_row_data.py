"""The rows of a robust PCA, in memory or in blocks, and the passes over them.

What comes back is of the size of the columns squared, of the removed rows, or a few numbers a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from columnist.data._blocks import RowBlocks, as_rows
from columnist.linalg._memory import available_memory, check_memory
from columnist.linalg._moments import Moments, merged_moments
from columnist.linalg._rounding import EPS, allowance
from columnist.robust._cutoffs import (
    Cutoffs,
    Distances,
    classical_cutoffs,
    cross_fitted_cutoffs,
    deal_folds,
    n_folds,
)
from columnist.robust._passes import (
    CHOSEN,
    GONE,
    Farthest,
    SortedOut,
    fold_moments,
    from_origin,
    held_out,
    in_slices,
    look_around,
    measure,
    merged_farthest,
    merged_folds,
    merged_looks,
    merged_sorted,
    sort_out,
)
from columnist.robust._subspace import (
    Subspace,
    moments_spectrum,
    rounding_size,
    rows_about,
    spanned_subspace,
    subspace_of_moments,
)

# So many rows are brought together, if they fit: in memory every start is tried on all of them.
_FEW_ROWS = 8000
# Share of the free memory that they, and three copies, may take.
_COMFORTABLE = 0.25
_MAX_STEPS = 100
# Rows are far from zero if their mean is so many times as long as they are apart.
_FAR = 100.0
# An error has to fall by this share to count as lower.
_GAIN = 1e-12


def worth_passes(blocks: RowBlocks) -> bool:
    """Whether rows are better left where they are than brought together."""
    n, p = blocks.shape
    if p > n or blocks.is_sparse:
        return False
    return n > _FEW_ROWS or 4.0 * 8.0 * n * p > _COMFORTABLE * available_memory()


@dataclass(frozen=True)
class KeptRows:
    """A choice of rows and the subspace of those it keeps."""

    removed: np.ndarray  # ascending
    moments: Moments
    spectrum: np.ndarray  # singular values about the centre; those of rounding size are zero
    subspace: Subspace

    @classmethod
    def of(
        cls, removed: np.ndarray, moments: Moments, n_components: int, mean: np.ndarray | None
    ) -> KeptRows:
        """The choice whose kept rows have some moments."""
        centre, sigma, axes = moments_spectrum(moments, mean)
        subspace = spanned_subspace(centre, sigma, axes, n_components, moments.count, mean is None)
        sigma[sigma <= rounding_size(sigma, (moments.count, len(sigma)), centre)] = 0.0
        return cls(removed, moments, sigma, subspace)

    @property
    def error(self) -> float:
        """Sum of squared distances of the kept rows, from their moments."""
        return float(np.sum(self.spectrum[len(self.subspace.variances) :] ** 2))

    @property
    def rounding(self) -> float:
        """How far rounding may move a sum of eigenvalues."""
        shift = self.moments.count * (64.0 * EPS * np.linalg.norm(self.subspace.mean)) ** 2
        order = -(-len(self.spectrum) // 8) + 8
        return allowance(order, float(np.sum(self.spectrum**2))) + float(shift)

    def about_centre(self) -> np.ndarray:
        """A few rows with the inner products of all kept ones about the centre."""
        subspace = self.subspace
        return rows_about(self.moments, None if subspace.free_mean else subspace.mean)

    def eigenvalue_gaps(self, off: float = 0.0) -> np.ndarray:
        """By how much the eigenvalue of every axis exceeds all others, less rounding and
        ``off``."""
        r = len(self.subspace.variances)
        squares = np.append(self.spectrum**2, 0.0)
        rounding = self.rounding + off * (2.0 * float(self.spectrum.max(initial=0.0)) + off)
        return squares[:r] - squares[r] - rounding


@dataclass(frozen=True)
class Measured:
    """All rows, measured from a subspace: see :func:`columnist.robust._passes.measure`."""

    score: np.ndarray
    orthogonal: np.ndarray
    slopes: np.ndarray
    lengths: np.ndarray

    def at(self, which: np.ndarray) -> Distances:
        """Distances of some rows."""
        return Distances(self.score[which], self.orthogonal[which])


class RowData:
    """Rows divided by ``unit``, safe to square, and seen from the ``origin``, their mean, if they
    are far from a zero that means nothing (``movable``): differences keep their digits. ``moments``
    and ``longest``, the largest norm, are of all rows. ``many``: searches do best by a few passes;
    ``elsewhere``: every pass goes to other processes or files."""

    def __init__(
        self,
        blocks: RowBlocks | np.ndarray,
        balance: Callable[[float, int], float] = lambda largest, size: 1.0,
        *,
        movable: bool = False,
    ):
        blocks = as_rows(blocks)
        self.shape, self.many = blocks.shape, worth_passes(blocks)
        self.elsewhere = not blocks.in_memory
        seen = blocks.fold(look_around, merged_looks)
        self.unit = balance(seen.largest, self.shape[0] * self.shape[1])
        if self.unit != 1.0:
            blocks = blocks.divided(self.unit)
            seen = blocks.fold(look_around, merged_looks)
        self.moments, self.longest = seen.moments, seen.longest
        self._blocks, self.origin = blocks, np.zeros(self.shape[1])
        if movable and _is_far(self.moments):
            self.origin = self.moments.mean
            self.moments = replace(
                self.moments, mean=self.moments.low, low=np.zeros_like(self.origin)
            )

    def array(self) -> np.ndarray:
        """All rows, in one array, where they are."""
        return self._blocks.gather()

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Some rows, ascending."""
        place = np.full(self.shape[0], GONE, dtype=np.int8)
        place[numbers] = CHOSEN
        return self.sorted_out(place).rows

    def part(self, numbers: np.ndarray) -> RowData:
        """Some rows, ascending, in the same unit."""
        part = RowData(self.rows(numbers))
        part.unit = self.unit
        return part

    def sorted_out(self, place: np.ndarray) -> SortedOut:
        """Moments of the rows of the base, and the chosen rows."""
        return self.fold(sort_out, merged_sorted, range(self.shape[0]), place)

    def fold(self, visit: Callable, merge: Callable, *along):
        """Merged answers of a visitor."""
        return self._blocks.fold(self._moved(visit), merge, *along)

    def collect(self, visit: Callable, *along) -> np.ndarray:
        """What a visitor says of every row."""
        return np.concatenate(self._blocks.collect(self._moved(visit), *along))

    def mapped(self, visit: Callable) -> RowBlocks:
        """What a visitor makes of every row, where the rows are."""
        return as_rows(self._blocks.map(self._moved(visit), self.shape[1]))

    def _moved(self, visit: Callable) -> Callable:
        return partial(from_origin, visit, self.origin) if self.origin.any() else visit

    def without(self, removed: np.ndarray, n_components: int, mean: np.ndarray | None) -> KeptRows:
        """The choice that removes some rows."""
        place = np.zeros(self.shape[0], dtype=np.int8)
        place[removed] = GONE
        return KeptRows.of(removed, self.sorted_out(place).moments, n_components, mean)

    # -- concentration ----------------------------------------------------------------

    def descend(
        self,
        starts: Sequence[Subspace],
        n_removed: int,
        mean: np.ndarray | None,
        expired: Callable[[], bool] = lambda: False,
    ) -> KeptRows:
        """The best of concentration steps from several subspaces, one pass for a step of all; each
        goes on until its error stops falling."""
        p, r = self.shape[1], len(starts[0].variances)
        check_memory(
            8.0 * 8.0 * n_removed * p * len(starts),
            f"Removing {n_removed} rows of {p} columns",
            "Lower n_outliers.",
        )
        best: KeptRows | None = None
        before = [np.inf] * len(starts)
        subspaces = list(starts)
        for _ in range(_MAX_STEPS):
            merge = partial(merged_farthest, n_removed)
            far = self.fold(Farthest(subspaces, n_removed), merge, range(self.shape[0]))
            reached: dict[bytes, tuple[float, Subspace]] = {}
            for number, error in enumerate(before):
                removed, moments = far.split(number, n_removed)
                found = KeptRows.of(removed, moments, r, mean)
                if found.error < error * (1.0 - _GAIN):
                    reached[found.removed.tobytes()] = found.error, found.subspace
                    if best is None or found.error < best.error * (1.0 - _GAIN):
                        best = found
            if not reached or (expired() and best is not None):
                break
            before = [error for error, _ in reached.values()]
            subspaces = [subspace for _, subspace in reached.values()]
        assert best is not None  # the first round is never left without one
        return best

    # -- distances --------------------------------------------------------------------

    def measure(self, subspace: Subspace) -> Measured:
        """Distances of all rows from a subspace."""
        return self._measured(subspace, np.zeros(len(subspace.variances)), 0.0)

    def measure_turns(self, kept: KeptRows, off: float = 0.0) -> Measured:
        """The same for the subspace of a choice, and what turning it would do to every row."""
        gaps = kept.eigenvalue_gaps(off)
        with np.errstate(divide="ignore"):
            weights = np.where(gaps > 0.0, 1.0 / np.maximum(gaps, 0.0), np.finfo(np.float64).max)
        constant = 1.0 / kept.moments.count if kept.subspace.free_mean else 0.0
        return self._measured(kept.subspace, weights, constant)

    def _measured(self, *fit) -> Measured:
        visit = partial(in_slices, partial(measure, *fit))
        return Measured(*np.ascontiguousarray(self.collect(visit).T))

    def cutoffs(
        self, subspace: Subspace, removed: np.ndarray, measured: Measured, rule: str
    ) -> Cutoffs:
        """Largest distances of an inlier: see :mod:`columnist.robust._cutoffs`."""
        r, stays = len(subspace.variances), np.ones(self.shape[0], dtype=bool)
        stays[removed] = False
        folds = n_folds(int(np.count_nonzero(stays)), r)
        if rule == "classical" or not folds:
            return classical_cutoffs(measured.orthogonal, r, self.longest)
        own = measured.at(stays)
        fold = np.full(self.shape[0], -1, dtype=np.int8)
        fold[stays] = deal_folds(own, folds)
        visit = partial(held_out, self._fold_fits(fold, folds, subspace))
        distances = Distances(*self.collect(visit, fold)[stays].T)
        return cross_fitted_cutoffs(distances, own.score, measured.at(~stays), r, self.longest)

    def _fold_fits(self, fold: np.ndarray, folds: int, subspace: Subspace) -> list[Subspace]:
        """Subspaces fitted to all folds but one, with the deviations of the whole fit."""
        parts = self.fold(partial(fold_moments, folds), merged_folds, fold)
        mean = None if subspace.free_mean else subspace.mean
        fits = []
        for number in range(folds):
            rest = merged_moments(parts[:number] + parts[number + 1 :])
            fit = subspace_of_moments(rest, len(subspace.variances), mean)
            fits.append(replace(fit, variances=subspace.variances))
        return fits


def _is_far(moments: Moments) -> bool:
    """Whether rows are so far from zero that their differences lose digits that count."""
    spread = float(np.sqrt(np.square(moments.factor()).sum() / max(moments.count, 1)))
    return float(np.linalg.norm(moments.mean)) > _FAR * spread


def given_mean(centering: str, mean: np.ndarray) -> np.ndarray | None:
    """The centre that "mean" (of all rows) and "none" prescribe; None if it is found with the rows.

    Rows that "none" is for are not movable.
    """
    if centering == "none":
        return np.zeros(len(mean))
    return mean if centering == "mean" else None
