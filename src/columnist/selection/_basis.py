"""An orthonormal basis that grows by one vector at a time. No input validation."""

from __future__ import annotations

import numpy as np

from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT


class GrowingBasis:
    """Orthonormal basis of the vectors appended so far, ``capacity`` of them at most. With
    ``center`` it begins with the constant vector: residuals then have mean zero, which makes an
    intercept free without touching the data."""

    def __init__(self, height: int, capacity: int, *, center: bool = False):
        # Column order: the vectors are appended as contiguous columns.
        self._store = np.empty((height, capacity + center), order="F")
        self._size = 0
        if center:
            self._put(np.full(height, height**-0.5))

    @property
    def Q(self) -> np.ndarray:
        """The basis, one vector per column."""
        return self._store[:, : self._size]

    def residual(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (one, or one per column) without their part in the basis."""
        rest = np.array(vectors, dtype=np.float64)
        for _ in range(2 if self._size else 0):  # the second pass restores orthogonality
            rest -= self.Q @ (self.Q.T @ rest)
        return rest

    def append(self, vector: np.ndarray) -> np.ndarray | None:
        """Add a vector; its new direction, or None if it depends on the basis."""
        rest = self.residual(vector)
        height = np.linalg.norm(rest)
        if height <= DEPENDENT * np.linalg.norm(vector):
            return None
        self._put(rest / height)
        return self._store[:, self._size - 1]

    def _put(self, unit: np.ndarray) -> None:
        self._store[:, self._size] = unit
        self._size += 1
