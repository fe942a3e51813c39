"""The promise to every row, checked: how far its outputs moved, rounding included."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.privacy._directions import lengths

__all__ = ["Guard"]

_EPS = np.finfo(np.float64).eps


class Guard:
    """Checks cleaned rows against the tolerance of their outputs.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        Coefficients of the predictor.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._guard import Guard
    >>> guard = Guard(np.array([[1.0, -1.0]]))
    >>> guard.holds(np.array([[3.0, 1.0], [4.0, 2.0]]), np.array([[1.0, -1.0], [4.0, 1.0]]), 0.5)
    array([ True, False])
    """

    def __init__(self, coef: np.ndarray):
        self.unit = np.abs(coef).max(initial=0.0) or 1.0
        coef = coef / self.unit
        if coef.shape[0] > coef.shape[1]:  # outputs of the same length from fewer products
            coef = scipy.linalg.qr(coef, mode="r", check_finite=False)[0][: coef.shape[1]]
        self.coef = coef
        self.size = float(np.linalg.norm(coef))

    def reserve(self, sizes: np.ndarray, dtype) -> np.ndarray:
        """Part of the tolerance to leave to rounding, for rows of these lengths together."""
        return self._of_the_user(sizes, dtype) + self._of_the_check(sizes)

    def _of_the_user(self, sizes: np.ndarray, dtype) -> np.ndarray:
        """Rounding of cleaned rows, and of outputs computed in the precision of the rows.

        Errors of sums of many terms grow with the root of their number.
        """
        units = (4.0 + np.sqrt(self.coef.shape[1])) * np.finfo(dtype).eps
        return units * self.unit * self.size * sizes

    def _of_the_check(self, sizes: np.ndarray) -> np.ndarray:
        """Rounding of the check: every sum of products errs by its number of terms at most."""
        return (sum(self.coef.shape) + 4.0) * _EPS * self.unit * self.size * sizes

    def moved(self, rows: np.ndarray, cleaned: np.ndarray) -> np.ndarray:
        """Upper bounds on how far the outputs moved, in the norm; not finite where unknown."""
        with np.errstate(invalid="ignore", over="ignore"):
            change = rows.astype(np.float64) - cleaned
            return self.unit * lengths(change @ self.coef.T) + self._of_the_check(lengths(change))

    def holds(self, rows: np.ndarray, cleaned: np.ndarray, utility: float) -> np.ndarray:
        """Whether the outputs of every row moved by no more than the tolerance.

        Where the precision of the rows can resolve the tolerance, some of it has to be left for
        the rounding of whoever checks.
        """
        with np.errstate(invalid="ignore"):
            sizes = lengths(rows.astype(np.float64)) + lengths(cleaned.astype(np.float64))
        tolerance, reserve = np.sqrt(utility), self._of_the_user(sizes, rows.dtype)
        limit = np.where(reserve < tolerance, tolerance - 0.5 * reserve, tolerance)
        return self.moved(rows, cleaned) <= limit

    def keeps(
        self, rows: np.ndarray, cleaned: np.ndarray, sizes: np.ndarray, unread: np.ndarray
    ) -> np.ndarray:
        """Whether the outputs of every row are kept up to the rounding of rows of these lengths.

        What moves by leaving out directions that count as not read is allowed for.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            change = self.unit * lengths((rows.astype(np.float64) - cleaned) @ self.coef.T)
        return change <= 2.0 * self._of_the_user(sizes, rows.dtype) + unread
