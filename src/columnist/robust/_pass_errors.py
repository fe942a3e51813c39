"""Errors of sets of many rows, from passes over them, as intervals.

No input validation.
"""

from __future__ import annotations

import numpy as np

from columnist.robust._conditioned import conditioned
from columnist.robust._errors import Interval
from columnist.robust._row_data import KeptRows, RowData

__all__ = ["PassErrors"]


class PassErrors:
    """Squared Frobenius errors of the rows that are kept.

    Parameters
    ----------
    data : RowData
        All rows.
    n_components : int
        Dimension of the subspace.
    mean : ndarray of shape (p,) or None
        Where it passes; None for the mean of the kept rows.
    scale : float
        Factor of the rows.
    """

    def __init__(
        self, data: RowData, n_components: int, mean: np.ndarray | None, scale: float = 1.0
    ):
        self.data, self.n_components, self.mean = data, n_components, mean
        self.square = scale * scale
        self._known: dict[bytes, Interval] = {}

    def evaluate(self, kept: np.ndarray, limit: float = np.inf) -> Interval:
        """Error of some rows (a mask), as precise as it can be had."""
        removed = np.flatnonzero(~kept)
        known = self._known.get(removed.tobytes())
        return known or self.of(self.data.without(removed, self.n_components, self.mean))

    def of(self, kept: KeptRows) -> Interval:
        """The same for rows whose moments are known."""
        error, off = kept.error, kept.rounding
        found = Interval(max(error - off, 0.0), error, error + off)
        if error == 0.0:  # nothing but rounding is no error
            found = Interval(0.0, 0.0, 0.0)
        elif not found.precise:
            found = self._conditioned(kept, found)
        square = self.square
        found = Interval(square * found.low, square * found.value, square * found.high)
        self._known[kept.removed.tobytes()] = found
        return found

    def _conditioned(self, kept: KeptRows, found: Interval) -> Interval:
        """From rows whose leading directions are shortened: see the module of that name."""
        seen = conditioned(self.data, kept)
        image = seen.without(kept.removed, self.n_components)
        off = seen.off(kept.removed)
        low = seen.proven(image.error - image.rounding, off)
        left = image.outside(self.n_components)
        high = (np.sqrt(left + image.rounding) + off) ** 2 / (2.0 - seen.stretch)
        if high - low >= found.high - found.low:
            return found
        return Interval(low, low + 0.5 * (high - low), high)
