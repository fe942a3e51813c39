r"""Forward selection for the matrix itself when it has too many columns for a Gram matrix.

The error drops by :math:`f_i/g_i`, where :math:`g_i = \|r_i\|^2` and :math:`f_i = \|X^T r_i\|^2`
belong to the residual :math:`r_i` of column i. When column l is chosen, q its new direction and
:math:`w = X^T q`,

.. math::

    f \leftarrow f - 2 w \circ X^T P X w + \|w\|^2 w \circ w, \qquad g \leftarrow g - w \circ w,

P projecting off what was chosen before: three passes over X a step (two where it is kept
elsewhere in parts), no residual, no n x n matrix. The first f needs the kernel XX' once, in
blocks of rows.

Rounding: f is quadratic in the residual, so a column is computed anew when its f has fallen
a millionfold (less when little is left of the column) or its g ten thousandfold; where many
columns have, all of them, from the kernel of the residual.
"""

from __future__ import annotations

import numpy as np

from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    squared_norms,
    squares_along,
    without_empty,
)
from columnist.linalg._residual import DEPENDENT
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._kernel import ColumnForms
from columnist.selection._shrinking import SHRUNK, ShrinkingColumns

__all__ = ["WideForward"]

# Relative error that f may have, and the least share to which it may fall until then.
_ACCURATE = 1e-8
_FALLEN = 1e-6
# Columns fetched together from where they are kept: one of them is likely to be the next.
_NEAR = 16
# Columns that are computed one block after the other rather than all from the kernel.
_FEW = 1000


class WideForward:
    """State of a forward selection for a wide matrix itself.

    Parameters
    ----------
    X : ndarray, CSC matrix or ColumnParts of shape (m, n)
        Data.
    capacity : int
        Columns to add at most.
    center : bool, default=False
        Remove column means.
    """

    def __init__(self, X, capacity: int, *, center: bool = False):
        # Wide sparse data are mostly empty columns, which would only cost time.
        self._places, X = without_empty(X)
        self._forms = ColumnForms(X)
        self._X, self._data = X, ShrinkingColumns(X)
        self._basis = GrowingBasis(X.shape[0], capacity, center=center)
        self._own = squared_norms(X)
        self._gone = self._own == 0.0
        self._near: dict[int, np.ndarray] = {}
        self._gains = np.zeros(len(self._own))
        self._renew_all()
        self._total = float(self._g.sum())
        self._nothing = rounding_energy(X.shape, float(self._own.sum()))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column that lowers the error most, and by how much (0 for rounding)."""
        here = allowed[self._places]
        if not here.any():
            return int(np.flatnonzero(allowed)[0]), 0.0
        self._refresh(here)
        usable = self._g > 0.0
        self._gains = np.divide(self._f, self._g, out=np.zeros_like(self._f), where=usable)
        at, gain = first_gain(self._gains, here, self._nothing)
        return int(self._places[at]), gain

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        at = int(np.searchsorted(self._places, column))
        if at == len(self._places) or self._places[at] != column:
            return
        before = self._basis.Q
        q = self._basis.append(self._column(at))
        if q is not None:
            w, u = self._data.cross_and_back(q)
            u -= before @ (before.T @ u)
            self._f -= 2.0 * w * self._data.cross(u)
            w *= w
            self._f += w.sum() * w
            self._g -= w
            self._total -= float(w.sum())
        self._drop([at])

    def _column(self, at: int) -> np.ndarray:
        """One column; it comes with those that may be next, which may be kept elsewhere."""
        if at not in self._near:
            count = min(_NEAR, len(self._gains))
            best = np.argpartition(-self._gains, count - 1)[:count]
            which = np.union1d(best, [at])
            self._near = dict(zip(which.tolist(), columns_of(self._X, which).T, strict=True))
        return self._near[at]

    def error(self) -> float:
        """Squared Frobenius error of what is chosen."""
        return max(self._total, 0.0)

    def _refresh(self, wanted: np.ndarray) -> None:
        """Compute anew the wanted columns that rounding may have reached."""
        stale = self._stale(wanted)
        if len(stale) > _FEW:
            self._renew_all()
            stale = self._stale(wanted)
        for part in column_blocks(len(stale), len(self._basis.Q)):
            self._renew(stale[part])

    def _stale(self, wanted: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            # An update of f rounds like w, which comes from the whole column.
            noise = np.finfo(np.float64).eps * np.sqrt(self._own / self._g)
            fallen = self._f < np.maximum(noise / _ACCURATE, _FALLEN) * self._high
        shrunk = (self._g < SHRUNK * self._fresh) | fallen
        return np.flatnonzero(wanted & shrunk & ~self._gone)

    def _renew(self, stale: np.ndarray) -> None:
        """f and g of a few columns, from their residuals."""
        rest = self._basis.residual(columns_of(self._X, stale))
        squares = np.einsum("ij,ij->j", rest, rest)
        alive = squares > DEPENDENT**2 * self._own[stale]
        self._drop(stale[~alive])
        stale, rest = stale[alive], rest[:, alive]
        self._data.replace(stale, rest)
        self._g[stale] = self._fresh[stale] = squares[alive]
        self._f[stale] = self._high[stale] = self._data.energies_along(rest)

    def _renew_all(self) -> None:
        """f and g of every column, from the kernel of the residual."""
        Q = self._basis.Q
        self._g = self._own - squares_along(self._X, Q) if Q.shape[1] else self._own.copy()
        self._f = self._forms.outside(Q)
        # Residuals that are short beside their column are differences of large numbers: they
        # count as shrunk, and are computed one by one when they are wanted.
        self._fresh, self._high = self._own.copy(), self._f.copy()
        self._drop(np.flatnonzero(self._gone))

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._gone[columns] = True
        self._f[columns] = 0.0
        self._g[columns] = 0.0
