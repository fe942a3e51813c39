"""Data whose columns shrink to residuals as a selection grows. No input validation."""

from __future__ import annotations

import numpy as np

from columnist.linalg._passes import cross, cross_and_back, energies_along

__all__ = ["SHRUNK", "ShrinkingColumns"]

# Share of a squared length below which a residual is computed anew.
SHRUNK = 1e-4


class ShrinkingColumns:
    """X, in which columns can be replaced by what is left of them.

    Products with directions outside the selection do not change by it, except that they no
    longer carry the rounding of the whole columns. Dense data are copied at the first
    replacement; sparse data stay as they are, since residuals would not be sparse, and so do data
    that are kept elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._shrinking import ShrinkingColumns
    >>> data = ShrinkingColumns(np.eye(2))
    >>> data.replace(np.array([0]), np.zeros((2, 1)))
    >>> data.cross(np.ones(2))
    array([0., 1.])
    """

    def __init__(self, X):
        self._X, self._copied = X, False
        self._fixed = not isinstance(X, np.ndarray)

    def replace(self, columns: np.ndarray, residuals: np.ndarray) -> None:
        """Put residuals in the place of columns."""
        if self._fixed:
            return
        if not self._copied:
            self._X, self._copied = np.array(self._X, dtype=np.float64), True
        self._X[:, columns] = residuals

    def cross(self, Q: np.ndarray) -> np.ndarray:
        """X'Q."""
        return cross(self._X, Q)

    def cross_and_back(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'q and XX'q."""
        return cross_and_back(self._X, q)

    def energies_along(self, Q: np.ndarray) -> np.ndarray:
        """Sums of squares of X'q for every column q."""
        return energies_along(self._X, Q)
