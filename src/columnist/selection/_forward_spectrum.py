"""Forward selection under any criterion of the singular values, by rank-one downdates."""

from __future__ import annotations

import numpy as np

from columnist.criteria import Criterion
from columnist.linalg._reduce import Reduced
from columnist.linalg._residual import DEPENDENT
from columnist.selection._basis import GrowingBasis
from columnist.selection._best_downdate import best_downdate
from columnist.selection._shrinking import SHRUNK

__all__ = ["SpectrumForward"]

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
