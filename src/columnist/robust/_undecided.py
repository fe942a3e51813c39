"""What a screening leaves open: a few rows, and all others as a handful with the same moments."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from columnist.linalg._moments import Moments
from columnist.robust._passes import BASE, CHOSEN, GONE
from columnist.robust._row_data import KeptRows, RowData

__all__ = ["Undecided"]


@dataclass(frozen=True)
class Undecided:
    """The undecided rows, and a few more with the inner products of all that surely stay.

    All are about the centre of the choice. Those that surely stay have moments; a factor of
    their scatter has no part in the mean, and one row more, their mean, has the weight of all
    of them (see :func:`columnist.robust._subspace.about_mean`).

    Attributes
    ----------
    rows : ndarray
        First those that must stay.
    fixed : ndarray of bool
        Which these are.
    numbers : ndarray of int
        Numbers of the undecided rows among all.
    gone : ndarray of int
        Numbers of the rows that surely go.
    incumbent : ndarray of int
        Rows the choice removes, as positions in ``rows``.
    weights : ndarray or None
        Weights of the rows; None about a given centre.
    """

    rows: np.ndarray
    fixed: np.ndarray
    numbers: np.ndarray
    gone: np.ndarray
    incumbent: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, data: RowData, kept: KeptRows, free: np.ndarray) -> Undecided:
        """Rows of a choice, some of which are free to stay or go."""
        place = np.full(data.shape[0], BASE, dtype=np.int8)
        place[kept.removed] = GONE
        place[free] = CHOSEN
        found = data.sorted_out(place)
        centre = kept.subspace.mean
        base = _standing_for(found.moments, centre)
        weights = None
        if kept.subspace.free_mean:
            weights = np.ones(len(base) + len(found.rows))
            weights[: len(base)] = 0.0
            weights[len(base) - 1] = math.sqrt(found.moments.count)
        rows = np.vstack([base, found.rows - centre])
        removed = np.flatnonzero(np.isin(found.numbers, kept.removed)) + len(base)
        return cls(
            rows, np.arange(len(rows)) < len(base), found.numbers,
            np.flatnonzero(place == GONE), removed, weights,
        )  # fmt: skip

    def removed(self, kept: np.ndarray) -> np.ndarray:
        """Numbers, among all rows, of those that a choice of these rows (a mask) removes."""
        chosen = self.numbers[~kept[~self.fixed]]
        return np.sort(np.concatenate([self.gone, chosen]))


def _standing_for(moments: Moments, centre: np.ndarray) -> np.ndarray:
    """Rows about a centre with the inner products of all that have these moments."""
    return np.vstack([moments.factor(), math.sqrt(moments.count) * (moments.mean - centre)])
