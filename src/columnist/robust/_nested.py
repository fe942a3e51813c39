r"""Sets of growing size where time is short: concentration steps on a scatter kept up to date.

With S the sum of :math:`xx^T` and s that of x over the m kept rows, their scatter about the mean
is :math:`S - ss^T/m`. Exchanging a few rows changes S by a few products, and a few Lanczos steps
find its leading axes; so one more step of a path costs a small part of what a decomposition
of the data does. Rounding is that of the largest S seen since S was last added up anew.

No input validation.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackError, eigsh

from columnist.criteria import is_frobenius
from columnist.linalg._rounding import AGREEMENT, EPS
from columnist.robust._concentrate import Trimming
from columnist.robust._errors import RowErrors

__all__ = ["NestedRows"]

# Concentration steps for each size.
_STEPS = 2
# Fewer dimensions are decomposed as a whole.
_FEW = 50


class NestedRows:
    """Kept rows whose number falls.

    Parameters
    ----------
    errors : RowErrors
        The problem.
    removed : ndarray of int
        Rows removed to begin with.
    """

    def __init__(self, errors: RowErrors, removed: np.ndarray):
        self.errors, self.rows = errors, errors.short
        self.kept = np.ones(len(self.rows), dtype=bool)
        self.kept[removed] = False
        self._add_up()

    def _add_up(self) -> None:
        Z = self.rows[self.kept]
        self.squares, self.sums = Z.T @ Z, Z.sum(axis=0)
        self.largest = float(np.trace(self.squares))

    def to(self, n_removed: int) -> tuple[np.ndarray, float]:
        """Go on to a larger number of removed rows; these, ascending, and their error."""
        errors = self.errors
        trimming = Trimming(self.rows, errors.n_components, n_removed, errors.centred)
        mean, _, axes = self._leading()
        for _ in range(_STEPS):
            self._move(trimming.nearest(trimming.distances(mean, axes)))
            mean, values, axes = self._leading()
        return np.flatnonzero(~self.kept), self._error(values)

    def _move(self, kept: np.ndarray) -> None:
        """Change the kept rows."""
        for sign, which in ((-1.0, self.kept & ~kept), (1.0, kept & ~self.kept)):
            Z = self.rows[which]
            self.squares = self.squares + sign * (Z.T @ Z)
            self.sums = self.sums + sign * Z.sum(axis=0)
        self.kept = kept
        self.largest = max(self.largest, float(np.trace(self.squares)))

    def _scatter(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.errors.centred:
            return np.zeros(len(self.sums)), self.squares
        mean = self.sums / np.count_nonzero(self.kept)
        return mean, self.squares - np.outer(self.sums, mean)

    def _leading(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, leading eigenvalues and their axes."""
        mean, scatter = self._scatter()
        r, d = self.errors.n_components, len(mean)
        if 0 < r and d > max(_FEW, 4 * r):
            try:
                values, axes = eigsh(scatter, r, v0=np.ones(d))
                return mean, values, axes
            except ArpackError:
                pass  # all of them then
        values, axes = scipy.linalg.eigh(scatter, check_finite=False)
        return mean, values[d - r :], axes[:, d - r :]

    def _error(self, leading: np.ndarray) -> float:
        """From the scatter, or from the data where rounding would show."""
        errors, (_, scatter) = self.errors, self._scatter()
        rounding = 4.0 * np.sqrt(sum(self.rows.shape)) * EPS * self.largest
        if is_frobenius(errors.criterion):
            value = float(np.trace(scatter) - leading.sum())
            known, value = rounding <= AGREEMENT * value, errors.scale**2 * value
        else:
            spectrum = scipy.linalg.eigvalsh(scatter, check_finite=False)[::-1]
            spectrum = spectrum[errors.n_components :] + rounding * np.array([[-1.0], [0.0], [1.0]])
            sigma = errors.scale * np.sqrt(np.maximum(spectrum, 0.0))
            low, value, high = errors.criterion.values(sigma).tolist()
            known = high - low <= AGREEMENT * abs(high)
        if known:
            return value
        self._add_up()
        return errors.evaluate(self.kept).value
