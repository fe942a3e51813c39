"""Computations of robust PCA on blocks of rows: functions of a block, and merges of their results.

Rows are taken a slice at a time, for the cache. Only the first look refuses NaN and infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from columnist.linalg._moments import Moments, merged_moments, moments_of
from columnist.linalg._prox import row_norms
from columnist.linalg._rounding import allowance
from columnist.robust._subspace import Subspace

# Entries of a slice: 2 MB.
_CACHED = 2**18
# Slopes beyond this are as good as infinite, and safe to square.
_STEEP = 1e100
# Places of rows in sort_out.
BASE, CHOSEN, GONE = 0, 1, 2


def in_slices(function: Callable[[np.ndarray], np.ndarray], block: np.ndarray) -> np.ndarray:
    """``function`` of a few rows at a time, in float64; its answers one below the other."""
    height = max(1, _CACHED // max(block.shape[1], 1))
    starts = range(0, max(len(block), 1), height)
    parts = [function(block[i : i + height].astype(np.float64)) for i in starts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def block_moments(rows: np.ndarray) -> Moments:
    """Moments of rows, of which there may be none."""
    if len(rows):
        return moments_of(rows)
    p = rows.shape[1]
    return Moments(0, np.zeros(p), None, np.zeros((0, p)), np.zeros(p))


def from_origin(visit: Callable, origin: np.ndarray, block: np.ndarray, *along):
    """What a visitor of blocks says of rows as seen from a point."""
    return visit(block - origin, *along)


# -- the first look -----------------------------------------------------------------


class Look(NamedTuple):
    """Moments of rows, their largest entry in absolute value, and the norm of the longest row."""

    moments: Moments
    largest: float
    longest: float


def look_around(block: np.ndarray) -> Look:
    """The first visit."""
    moments = block_moments(block)
    largest = float(max(block.max(initial=0.0), -block.min(initial=0.0)))
    with np.errstate(over="ignore"):  # rows too long to be squared are scaled and seen again
        norms = in_slices(row_norms, block)
    return Look(moments, largest, float(norms.max(initial=0.0)))


def merged_looks(parts: Sequence[Look]) -> Look:
    """One look at all rows."""
    moments, largest, longest = zip(*parts, strict=True)
    return Look(merged_moments(moments), max(largest), max(longest))


# -- a concentration step -----------------------------------------------------------


@dataclass(frozen=True)
class Farthest:
    """The rows farthest from each of several subspaces, and the moments of all other rows. Only
    rows that are among the farthest of their block can be among the farthest of all; the others are
    summed up at once. So the moments of the kept rows come without any subtraction."""

    subspaces: list[Subspace]
    count: int  # rows wanted for each

    def __call__(self, block: np.ndarray, numbers: np.ndarray) -> FarRows:
        far = self._possibly_far(*self._estimated(block))
        rows = block[far].astype(np.float64)
        exact = np.column_stack([_squares(subspace.residuals(rows)) for subspace in self.subspaces])
        others = block_moments(block[~far])
        return _part(rows, np.asarray(numbers, dtype=np.intp)[far], exact, self.count, [others])

    def _possibly_far(self, squares: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Rows that may be among the farthest, according to the estimates."""
        m = len(squares)
        if self.count >= m or self.count == 0:
            return np.full(m, self.count > 0)
        far = np.zeros(m, dtype=bool)
        for column in squares.T:
            surely = np.partition(column - noise, m - self.count)[m - self.count]
            far |= column + noise >= surely
        return far

    def _estimated(self, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances as differences of squares, one column per subspace; their rounding."""
        centre = self.subspaces[0].mean
        around = [(s.mean - centre, s.components) for s in self.subspaces]

        def estimate(rows: np.ndarray) -> np.ndarray:
            """Squared norms about the centre, and squared distances from each subspace."""
            rows -= centre
            columns = [_squares(rows)]
            for shift, axes in around:
                products = rows @ np.vstack([axes, shift]).T
                along = products[:, :-1] - shift @ axes.T
                squares = columns[0] - 2.0 * products[:, -1] + shift @ shift - _squares(along)
                columns.append(squares)
            return np.column_stack(columns)

        table = in_slices(estimate, block)
        size = np.sqrt(table[:, 0]) + max(np.linalg.norm(shift) for shift, _ in around)
        size += np.linalg.norm(centre)
        return table[:, 1:], allowance(2 * (block.shape[1] + 8), 1.0) * size**2


class FarRows(NamedTuple):
    """Some rows, their numbers and squared distances (a column per subspace); others' moments."""

    moments: Moments
    rows: np.ndarray
    numbers: np.ndarray
    squares: np.ndarray

    def split(self, subspace: int, count: int) -> tuple[np.ndarray, Moments]:
        """Numbers of the rows farthest from a subspace, ascending, and moments of all others."""
        far = farthest(self.squares[:, subspace], self.numbers, count)
        near = block_moments(np.delete(self.rows, far, axis=0))
        return np.sort(self.numbers[far]), merged_moments([self.moments, near])


def merged_farthest(count: int, parts: Sequence[FarRows]) -> FarRows:
    """The same for the rows of several blocks."""
    moments, *arrays = zip(*parts, strict=True)
    rows, numbers, squares = map(np.concatenate, arrays)
    return _part(rows, numbers, squares, count, moments)


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows)


def _part(rows, numbers, squares, count: int, moments: Sequence[Moments]) -> FarRows:
    far = np.zeros(len(rows), dtype=bool)
    for column in squares.T:
        far[farthest(column, numbers, count)] = True
    near = block_moments(rows[~far])
    rows = rows[far].astype(np.float64)
    return FarRows(merged_moments([*moments, near]), rows, numbers[far], squares[far])


def farthest(squares: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """Positions of the largest; of equals those with larger numbers, as the others stay."""
    if count >= len(squares) or count == 0:
        return np.arange(len(squares))[: count or 0]
    limit = np.partition(squares, len(squares) - count)[len(squares) - count]
    some = np.flatnonzero(squares >= limit)
    return some[np.lexsort((-numbers[some], -squares[some]))[:count]]


# -- rows by their place ------------------------------------------------------------


class SortedOut(NamedTuple):
    """Moments of the rows of the base; the chosen rows and their numbers."""

    moments: Moments
    rows: np.ndarray
    numbers: np.ndarray


def sort_out(block: np.ndarray, numbers: np.ndarray, place: np.ndarray) -> SortedOut:
    """Sum up the rows of the base, bring the chosen ones, leave the others (``place``)."""
    base, chosen = place == BASE, place == CHOSEN
    moments = block_moments(block if base.all() else block[base])
    numbers = np.asarray(numbers, dtype=np.intp)[chosen]
    return SortedOut(moments, block[chosen].astype(np.float64), numbers)


def merged_sorted(parts: Sequence[SortedOut]) -> SortedOut:
    """The same for all rows, in order of their numbers."""
    moments, *arrays = zip(*parts, strict=True)
    rows, numbers = map(np.concatenate, arrays)
    order = np.argsort(numbers, kind="stable")
    return SortedOut(merged_moments(moments), rows[order], numbers[order])


# -- distances ----------------------------------------------------------------------


def measure(
    subspace: Subspace, weights: np.ndarray, constant: float, rows: np.ndarray
) -> np.ndarray:
    r"""Four numbers a row, with t its coordinates in a subspace through m: score distance,
    orthogonal distance, slope :math:`\sqrt{\sum_j w_j t_j^2 + c}`, distance from m.
    """
    scores, within, beyond, lengths = subspace.measure(rows)
    slopes = np.minimum(np.abs(scores) * np.sqrt(weights), _STEEP)
    return np.column_stack([within, beyond, np.sqrt(_squares(slopes) + constant), lengths])


def fold_moments(folds: int, block: np.ndarray, fold: np.ndarray) -> list[Moments]:
    """Moments of the rows of every fold; negative numbers belong to none."""
    return [block_moments(block[fold == number]) for number in range(folds)]


def merged_folds(parts: Sequence[list[Moments]]) -> list[Moments]:
    """The same for all rows."""
    return [merged_moments(same) for same in zip(*parts, strict=True)]


def held_out(subspaces: list[Subspace], block: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Score and orthogonal distances of every row to the subspace of its fold."""
    found = np.zeros((len(block), 2))
    for number, subspace in enumerate(subspaces):
        here = fold == number
        nothing = np.zeros(len(subspace.variances))
        found[here] = in_slices(partial(measure, subspace, nothing, 0.0), block[here])[:, :2]
    return found
