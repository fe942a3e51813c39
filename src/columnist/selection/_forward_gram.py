r"""Forward selection of columns to approximate the matrix itself, from its Gram matrix.

With the Gram matrix G of what the chosen columns leave of every column, adding column i
lowers the squared Frobenius error by

.. math:: \|G_{:i}\|^2 / G_{ii},

and once column l is chosen, :math:`G \leftarrow G - ww^T` with :math:`w = G_{:l}/\sqrt{G_{ll}}`.
A step reads and writes G once and never forms the residual matrix.

Rounding: entries of G keep an absolute error of the size of the columns that they started
from. A column whose residual has shrunk a hundredfold is therefore computed anew from the
data, with its row and column of G.
"""

from __future__ import annotations

import numpy as np

from columnist.linalg._passes import columns_of, gram, squared_norms
from columnist.linalg._residual import DEPENDENT
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._deflate import deflate
from columnist.selection._shrinking import SHRUNK, ShrinkingColumns

__all__ = ["GramForward"]


class GramForward:
    """State of a forward selection for the matrix itself.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Data; n is small enough for an n x n matrix.
    capacity : int
        Columns to add at most.
    center : bool, default=False
        Remove column means.
    """

    def __init__(self, X, capacity: int, *, center: bool = False):
        self._X = X
        self._basis = GrowingBasis(X.shape[0], capacity, center=center)
        self._pending: list[int] = []
        self._G = gram(X, center=center)
        self._energy = np.einsum("ij,ij->i", self._G, self._G)
        # With means: a column that hardly varies counts as shrunk, and is computed anew.
        self._own = squared_norms(X) if center else np.diag(self._G).copy()
        self._fresh = self._own.copy()
        self._data = ShrinkingColumns(X)
        self._nothing = rounding_energy(X.shape, float(self._own.sum()))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column that lowers the error most, and by how much (0 for rounding)."""
        self._refresh(allowed)
        lengths = np.diag(self._G)
        gains = np.zeros(len(lengths))
        np.divide(self._energy, lengths, out=gains, where=lengths > 0.0)
        return first_gain(gains, allowed, self._nothing)

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        self._refresh(np.arange(len(self._own)) == column)
        G = self._G
        if G[column, column] <= 0.0:
            return
        self._pending.append(column)
        deflate(G, G[:, column] / np.sqrt(G[column, column]), self._energy)
        self._drop([column])

    def error(self) -> float:
        """Squared Frobenius error of what is chosen."""
        return float(np.diag(self._G).sum())

    def _refresh(self, wanted: np.ndarray) -> None:
        """Compute anew the wanted columns that have shrunk since they were last computed."""
        lengths = np.diag(self._G)
        stale = np.flatnonzero(wanted & (self._fresh > 0.0) & (lengths < SHRUNK * self._fresh))
        if len(stale) == 0:
            return
        self._orthogonalise()
        rest = self._basis.residual(columns_of(self._X, stale))
        G = self._G
        self._data.replace(stale, rest)
        products = self._data.cross(rest)
        G[:, stale] = products
        G[stale] = products.T
        squares = np.einsum("ij,ij->j", rest, rest)
        G[stale, stale] = squares
        self._fresh[stale] = squares
        self._drop(stale[squares <= DEPENDENT**2 * self._own[stale]])
        np.einsum("ij,ij->i", G, G, out=self._energy)

    def _orthogonalise(self) -> None:
        """Bring the basis up to date: most selections never need it."""
        for column in self._pending:
            self._basis.append(columns_of(self._X, [column])[:, 0])
        self._pending.clear()

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._G[columns] = 0.0
        self._G[:, columns] = 0.0
        self._energy[columns] = 0.0
        self._fresh[columns] = 0.0
