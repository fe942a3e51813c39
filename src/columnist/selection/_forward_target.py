r"""Forward selection of columns of X to approximate a target Y.

For residual columns :math:`r_i` and the residual target T, adding column i lowers the squared
Frobenius error by :math:`\|c_i\|^2/d_i` with :math:`c_i = T^T r_i`, :math:`d_i = \|r_i\|^2`. When
column l is chosen, q its new direction, :math:`w = X^T q` and :math:`b = T^T q`,

.. math:: c_i \leftarrow c_i - w_i b, \quad d_i \leftarrow d_i - w_i^2, \quad T \leftarrow T - qb^T:

one product with X a step. Columns whose residual has shrunk are computed anew, and all
:math:`c_i` when the target has.
"""

from __future__ import annotations

import numpy as np

from columnist.linalg._passes import column_blocks, columns_of, cross, squared_norms
from columnist.linalg._residual import DEPENDENT
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._shrinking import SHRUNK, ShrinkingColumns

__all__ = ["TargetForward"]


class TargetForward:
    """State of a forward selection for a target.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Data.
    Y : ndarray of shape (m, q)
        Target.
    capacity : int
        Columns to add at most.
    center : bool, default=False
        Remove the means of columns and target.
    """

    def __init__(self, X, Y: np.ndarray, capacity: int, *, center: bool = False):
        self._X = X
        self._basis = GrowingBasis(X.shape[0], capacity, center=center)
        self._T = self._basis.residual(Y)
        # With means: a column that hardly varies counts as shrunk, and is computed anew.
        self._own = squared_norms(X)
        self._fresh = self._own.copy()
        self._lengths = self._own - np.square(cross(X, self._basis.Q)).sum(axis=1)
        self._C = cross(X, self._T)
        self._seen = self.error()
        self._data = ShrinkingColumns(X)
        self._nothing = rounding_energy(Y.shape, float(np.vdot(Y, Y)))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column that lowers the error most, and by how much (0 for rounding)."""
        self._refresh(allowed)
        energy = np.einsum("ij,ij->i", self._C, self._C)
        usable = self._lengths > 0.0
        gains = np.divide(energy, self._lengths, out=np.zeros_like(energy), where=usable)
        return first_gain(gains, allowed, self._nothing)

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        q = self._basis.append(columns_of(self._X, [column])[:, 0])
        if q is not None:
            w, b = self._data.cross(q), self._T.T @ q
            self._T -= np.outer(q, b)
            self._C -= np.outer(w, b)
            self._lengths -= w * w
        self._drop([column])

    def error(self) -> float:
        """Squared Frobenius error of what is chosen."""
        return float(np.vdot(self._T, self._T))

    def _refresh(self, wanted: np.ndarray) -> None:
        if self.error() < SHRUNK * self._seen:
            self._C = self._data.cross(self._T)
            self._C[self._fresh == 0.0] = 0.0
            self._seen = self.error()
        shrunk = (self._fresh > 0.0) & (self._lengths < SHRUNK * self._fresh)
        stale = np.flatnonzero(wanted & shrunk)
        for part in column_blocks(len(stale), len(self._T)):
            self._renew(stale[part])

    def _renew(self, stale: np.ndarray) -> None:
        rest = self._basis.residual(columns_of(self._X, stale))
        self._data.replace(stale, rest)
        squares = np.einsum("ij,ij->j", rest, rest)
        self._C[stale] = rest.T @ self._T
        self._lengths[stale] = self._fresh[stale] = squares
        self._drop(stale[squares <= DEPENDENT**2 * self._own[stale]])

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._C[columns] = 0.0
        self._lengths[columns] = 0.0
        self._fresh[columns] = 0.0
