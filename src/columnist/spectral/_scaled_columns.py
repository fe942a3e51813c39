"""Columns of a data matrix, shifted and scaled, without a copy of the matrix.

No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from columnist.linalg._passes import apply, by_columns, columns_of, cross

__all__ = ["ScaledColumns"]

# Products with columns whose scaled means are larger than this lose digits to cancellation.
_FAR = 10.0


@dataclass(frozen=True)
class ScaledColumns:
    """The matrix F with columns (x_j - mean_j) * scale_j.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Data.
    scales : ndarray of shape (n_features,)
        Factors; zero for a column that should count as zero.
    means : ndarray of shape (n_features,), optional
        Means of the columns, to be removed; columns stay where they are by default.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scaled_columns import ScaledColumns
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0]])
    >>> F = ScaledColumns(X, np.array([0.5, 0.0]), X.mean(axis=0))
    >>> F.take([0, 1])
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    >>> F.cross(np.array([1.0, 2.0]))
    array([0.5, 0. ])
    """

    X: np.ndarray | sp.csc_matrix
    scales: np.ndarray
    means: np.ndarray | None = None

    @classmethod
    def plain(cls, X) -> ScaledColumns:
        """X as it is."""
        return cls(by_columns(X), np.ones(X.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape

    def take(self, which) -> np.ndarray:
        """Some columns as a dense array; one column, as a vector, for a single index."""
        columns = which if isinstance(which, slice) else np.atleast_1d(which)
        part = columns_of(self.X, columns)
        if self.means is not None:
            part = part - self.means[columns]
            part -= part.mean(axis=0)  # the rounding of the means
        part = part * self.scales[columns]
        return part if isinstance(which, slice) or np.ndim(which) else part[:, 0]

    def cross(self, M: np.ndarray) -> np.ndarray:
        """F'M, one row per column of F."""
        product = cross(self.X, M)
        if self.means is not None:
            product -= np.multiply.outer(self.means, M.sum(axis=0))
        product *= self.scales.reshape(-1, *[1] * (M.ndim - 1))
        far, columns = self._far
        product[far] = columns.T @ M
        return product

    def apply(self, W: np.ndarray) -> np.ndarray:
        """F W."""
        moved = apply(self.X, self.scales.reshape(-1, *[1] * (W.ndim - 1)) * W)
        return moved if self.means is None else moved - moved.mean(axis=0)

    @cached_property
    def _far(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns whose means are so large that products with them would cancel, themselves."""
        if self.means is None:
            return np.array([], dtype=np.intp), np.empty((self.shape[0], 0))
        far = np.flatnonzero(np.abs(self.means) * self.scales > _FAR)
        return far, self.take(far)
