"""What forward selection keeps between steps: one state for each kind of problem.

Every state has ``best``, ``add`` and ``error``; no input validation. The one for very many columns
is in :mod:`columnist.selection._forward_wide`, the one for powers in
:mod:`columnist.selection._forward_powers`.
"""

from __future__ import annotations

import numpy as np

from columnist.criteria import Criterion
from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    cross,
    cross_and_back,
    energies_along,
    gram,
    squared_norms,
)
from columnist.linalg._reduce import Reduced
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._best_downdate import best_downdate
from columnist.selection._deflate import deflate

__all__ = ["SHRUNK", "GramForward", "ShrinkingColumns", "SpectrumForward", "TargetForward"]

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
    >>> from columnist.selection._forward_states import ShrinkingColumns
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


class GramForward:
    r"""State of a forward selection for the matrix itself.

    With the Gram matrix G of what the chosen columns leave of every column, adding column i
    lowers the squared Frobenius error by

    .. math:: \|G_{:i}\|^2 / G_{ii},

    and once column l is chosen, :math:`G \leftarrow G - ww^T` with
    :math:`w = G_{:l}/\sqrt{G_{ll}}`. A step reads and writes G once and never forms the residual
    matrix.

    Rounding: entries of G keep an absolute error of the size of the columns that they started
    from. A column whose residual has shrunk a hundredfold is therefore computed anew from the
    data, with its row and column of G.

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


class TargetForward:
    r"""State of a forward selection for a target.

    For residual columns :math:`r_i` and the residual target T, adding column i lowers the squared
    Frobenius error by :math:`\|c_i\|^2/d_i` with :math:`c_i = T^T r_i`, :math:`d_i = \|r_i\|^2`.
    When column l is chosen, q its new direction, :math:`w = X^T q` and :math:`b = T^T q`,

    .. math::

        c_i \leftarrow c_i - w_i b, \quad d_i \leftarrow d_i - w_i^2, \quad T \leftarrow T - qb^T:

    one product with X a step. Columns whose residual has shrunk are computed anew, and all
    :math:`c_i` when the target has.

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


_EPS = np.finfo(np.float64).eps


class SpectrumForward:
    r"""State of a forward selection under a unitarily invariant criterion.

    Let the residual target have the second moment :math:`V \Lambda V^T`. Choosing a column whose
    residual has the direction q turns its spectrum into that of :math:`\Lambda - zz^T`,
    :math:`z = \Lambda^{1/2} V^T q`. After the choice V and :math:`\Lambda` come from the SVD of
    :math:`(I - qq^T) V \Lambda^{1/2}`: accumulated rank-one updates of the vectors would lose their
    orthogonality.

    Parameters
    ----------
    reduced : Reduced
        Data and target.
    capacity : int
        Columns to add at most.
    criterion : Criterion
        Error.
    """

    def __init__(self, reduced: Reduced, capacity: int, criterion: Criterion):
        self._criterion, self._scale = criterion, reduced.scale
        self._columns = reduced.columns
        self._basis = GrowingBasis(reduced.columns.shape[1], capacity)
        self._rest = reduced.columns.copy()
        self._own = np.einsum("ij,ij->i", reduced.columns, reduced.columns)
        self._fresh = self._own.copy()
        self._floor = len(reduced.weights) * _EPS * float(reduced.weights.max(initial=0.0))
        d = int((reduced.weights > self._floor).sum())
        self._lam, self._V = reduced.weights[:d], np.eye(len(reduced.weights), d)
        self.n_roots = 0

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column with the smallest error, and by how much its squares fall.

        The criterion itself may stand still (the largest of several equal singular values does)
        while a column still brings the next ones closer.
        """
        squares = self._refresh()
        rows = np.flatnonzero(allowed & (squares > 0.0))
        Z = (self._rest[rows] @ self._V) / np.sqrt(squares[rows])[:, None]
        inside = np.einsum("ij,ij->i", Z, Z) > 1.0 - DEPENDENT
        Z *= np.sqrt(self._lam)
        energy = np.einsum("ij,ij->i", Z, Z)
        touching = energy > self._floor
        if not touching.any():
            return int(np.flatnonzero(allowed)[0]), 0.0
        rows, Z, inside, energy = rows[touching], Z[touching], inside[touching], energy[touching]
        found = best_downdate(self._lam, Z, inside, self._criterion, self._scale)
        self.n_roots += found.n_roots
        return int(rows[found.row]), float(energy[found.row])

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        q = self._basis.append(self._columns[column])
        if q is None:
            return
        self._rest -= np.outer(self._rest @ q, q)
        root = self._V * np.sqrt(self._lam)
        V, s, _ = np.linalg.svd(root - np.outer(q, q @ root), full_matrices=False)
        d = int((s**2 > self._floor).sum())
        self._lam, self._V = s[:d] ** 2, V[:, :d]

    def error(self) -> float:
        """Error of what is chosen."""
        sigma = np.sqrt(self._lam) if len(self._lam) else np.zeros(1)
        return float(self._criterion.value(self._scale * sigma))

    def _refresh(self) -> np.ndarray:
        """Squared lengths of the residual columns; those that have shrunk are computed anew."""
        squares = np.einsum("ij,ij->i", self._rest, self._rest)
        stale = np.flatnonzero((self._fresh > 0.0) & (squares < SHRUNK * self._fresh))
        if len(stale):
            rest = self._basis.residual(self._columns[stale].T).T
            squares[stale] = np.einsum("ij,ij->i", rest, rest)
            gone = squares[stale] <= DEPENDENT**2 * self._own[stale]
            rest[gone], squares[stale[gone]] = 0.0, 0.0
            self._rest[stale], self._fresh[stale] = rest, squares[stale]
        return squares
