r"""Forward selection of features together with their powers.

A feature x stands for the block :math:`x, x^2, \dots, x^p`. Each step adds the block that
lowers the error of the target most. What a block contributes beside the selection Q is measured
on an orthonormal basis :math:`Q_i` of :math:`(I - QQ^T) B_i`, where :math:`B_i` is a fixed basis
of the block: project off the selection first, then orthogonalise. No residual of a candidate is
formed; with :math:`G_i` the Gram matrix of its residual, :math:`C_i = B_i^T R` and R the
residual target, a new orthonormal block :math:`Q_+` changes them by

.. math:: W_i = B_i^T Q_+, \qquad G_i \leftarrow G_i - W_i W_i^T, \qquad
          C_i \leftarrow C_i - W_i (Q_+^T R),

and with the eigenvalues :math:`\lambda` and eigenvectors U of :math:`G_i`,
:math:`Z_i = Q_i^T R = \lambda^{-1/2} U^T C_i`. The squared error falls by :math:`\|Z_i\|_F^2`;
under any other criterion the new singular values are the roots of the eigenvalues of
:math:`R^T R - Z_i^T Z_i`.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.criteria import Criterion, Frobenius, is_frobenius
from columnist.linalg._passes import column_blocks
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._ties import TIE
from columnist.selection._powers import power_blocks

__all__ = ["BlockForward", "fresh_directions"]

_EPS = np.finfo(np.float64).eps
# Squared lengths that fell below this since they were last computed are computed anew.
_SHRUNK = 1e-4
# Errors through eigenvalues of a Gram matrix round more than gains: closer ones are ties.
_SPECTRAL_TIE = 1e-9


def fresh_directions(B: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What blocks of vectors of length one, or zero, add to an orthonormal basis.

    Parameters
    ----------
    B : ndarray of shape (..., m, p)
        Blocks.
    Q : ndarray of shape (m, j)
        Orthonormal basis.

    Returns
    -------
    U : ndarray of shape (..., m, p)
        Orthonormal basis of (I - QQ')B, zero columns last.
    T : ndarray of shape (..., p, p)
        Its coefficients: U = (I - QQ')BT.
    K : ndarray of shape (..., j, p)
        The same as K = Q'BT, so that U = BT - QK.
    """
    first = Q.T @ B
    rest = B - Q @ first
    second = Q.T @ rest
    rest -= Q @ second
    left, lengths, right = np.linalg.svd(rest, full_matrices=False)
    kept = lengths > DEPENDENT
    r = lengths.shape[-1]  # less than p if there are fewer rows
    U, T = np.zeros_like(rest), np.zeros((*rest.shape[:-2], rest.shape[-1], rest.shape[-1]))
    U[..., :r] = left * kept[..., None, :]
    T[..., :r] = np.swapaxes(right, -1, -2) / np.where(kept, lengths, np.inf)[..., None, :]
    # Short directions carry the rounding of long ones, magnified.
    third = Q.T @ U
    return U - Q @ third, T, (first + second) @ T + third


class BlockForward:
    """State of a forward selection of features with their powers.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Features.
    Y : ndarray of shape (m, N)
        Target.
    degree : int
        Highest power.
    criterion : Criterion, optional
        Error of the residual target; the squared Frobenius norm if None.
    center : bool, default=False
        Whether an intercept is free.
    scale : float, default=1.0
        What the target was divided by: errors come out in its own unit.
    """

    def __init__(
        self,
        X,
        Y: np.ndarray,
        degree: int,
        criterion: Criterion | None = None,
        *,
        center: bool = False,
        scale: float = 1.0,
    ):
        self._criterion = Frobenius() if criterion is None else criterion
        self._scale = scale
        self._powers = power_blocks(X, degree, center=center)
        self._rank = self._powers.rank.copy()
        self._Q = np.zeros((X.shape[0], 0))
        self._R = _narrow(Y - Y.mean(axis=0) if center else Y.astype(np.float64))
        self._energy = float(np.vdot(self._R, self._R))
        self._floor = (max(self._R.shape) * _EPS) ** 2 * self._energy
        # Vectors in use: the columns of B_i T_i, of length one when last computed, or zero.
        self._T = np.tile(np.eye(degree), (X.shape[1], 1, 1))
        self._G = np.eye(degree) * (np.arange(degree) < self._rank[:, None])[:, None, :]
        self._C = self._powers.products(self._R)

    def error(self) -> float:
        """Error of what is chosen."""
        if is_frobenius(self._criterion):
            return self._scale**2 * self._energy
        values = scipy.linalg.svdvals(self._R, check_finite=False)
        values = np.where(values**2 > self._floor, values, 0.0)
        return float(self._criterion.value(self._scale * values))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed feature with the smallest error, and by how much its squares fall.

        That is zero when no allowed feature adds anything.
        """
        Z = self._contributions(allowed)
        gains = np.einsum("ijk,ijk->i", Z, Z)
        useful = np.flatnonzero(allowed & (gains > self._floor))
        if len(useful) == 0 or self._energy == 0.0:
            return int(np.flatnonzero(allowed)[0]), 0.0
        if is_frobenius(self._criterion):
            scores, tie = gains[useful], TIE
        else:
            scores, tie = -self._errors(Z[useful]), _SPECTRAL_TIE
        top = scores.max()
        feature = int(useful[np.flatnonzero(scores >= top - tie * abs(top))[0]])
        return feature, float(gains[feature])

    def add(self, feature: int) -> None:
        """Choose a feature: project everything off its powers."""
        U, _, _ = fresh_directions(self._powers.take(np.array([feature]))[0], self._Q)
        U = np.linalg.qr(U[:, U.any(axis=0)])[0]
        if U.shape[1] == 0:
            return
        W = np.swapaxes(self._T, 1, 2) @ self._powers.products(U)
        self._G -= W @ np.swapaxes(W, 1, 2)
        self._C -= W @ (U.T @ self._R)
        for _ in range(2):  # the second pass restores orthogonality
            self._R = self._R - U @ (U.T @ self._R)
        self._Q = np.column_stack([self._Q, U])
        energy = float(np.vdot(self._R, self._R))
        self._energy = energy if energy > self._floor else 0.0

    def _contributions(self, allowed: np.ndarray) -> np.ndarray:
        """Z_i = Q_i'R of the allowed features, shape (n, p, N)."""
        values, vectors = np.linalg.eigh(self._G)
        degree = self._powers.degree
        counted = np.arange(degree) >= degree - self._rank[:, None]
        stale = np.flatnonzero(allowed & (counted & (values < _SHRUNK)).any(axis=1))
        if len(stale):
            self._refresh(stale)
            values[stale], vectors[stale] = np.linalg.eigh(self._G[stale])
        lengths = np.sqrt(np.where(values > 0.5 * _SHRUNK, values, np.inf))
        return np.swapaxes(vectors / lengths[:, None, :], 1, 2) @ self._C

    def _refresh(self, features: np.ndarray) -> None:
        """Compute the residual blocks of some features from the data."""
        for part in column_blocks(len(features), len(self._R) * self._powers.degree):
            some = features[part]
            U, self._T[some], _ = fresh_directions(self._powers.take(some), self._Q)
            self._G[some] = np.swapaxes(U, 1, 2) @ U
            self._C[some] = np.swapaxes(U, 1, 2) @ self._R
            self._rank[some] = U.any(axis=1).sum(axis=1)

    def _errors(self, Z: np.ndarray) -> np.ndarray:
        """Criterion of what each block leaves of R, by the eigenvalues of R'R - Z'Z."""
        _, values, right = scipy.linalg.svd(self._R, full_matrices=False, check_finite=False)
        kept = values > max(self._R.shape) * _EPS * values[0]
        energies = np.diag(values[kept] ** 2)
        Z = Z @ right[kept].T
        # A block inside the range of R leaves exact zeros; computed, they are rounding, which a
        # root would magnify.
        floor = 10 * len(energies) * _EPS * energies[0, 0]
        errors = np.empty(len(Z))
        for part in column_blocks(len(Z), energies.size):
            spectra = np.linalg.eigvalsh(energies - np.swapaxes(Z[part], 1, 2) @ Z[part])[:, ::-1]
            spectra = np.sqrt(np.where(spectra > floor, spectra, 0.0))
            errors[part] = self._criterion.values(self._scale * spectra)
        return errors


def _narrow(Y: np.ndarray) -> np.ndarray:
    """A target with the same inner products of rows and no more columns than rows."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    return scipy.linalg.qr(Y.T, mode="r", check_finite=False)[0][: Y.shape[0]].T
