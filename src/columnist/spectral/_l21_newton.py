r"""Row-sparse least squares on a few rows whose Gram matrix is known.

With :math:`G = X^TX` and :math:`B = X^TY` the objective is, but for a constant,

.. math:: \tfrac12\langle W, GW\rangle - \langle B, W\rangle + t \sum_i \|w_i\|.

As long as no row vanishes it is smooth. With the directions :math:`u_i = w_i/\|w_i\|` its second
derivative maps :math:`\Delta` to

.. math:: G\Delta + E^{-1}(\Delta - \mathrm{diag}(U\Delta^T)\,U),\quad
          E = \mathrm{diag}(\|w_i\|)/t,

and its inverse needs matrices no larger than G although W has several columns: with
:math:`F = (I + EG)^{-1}` and :math:`M = GF \circ UU^T` (entry by entry)

.. math:: R \mapsto F\left(ER + \mathrm{diag}(v)\,U\right),\quad
          v = M^{-1}\mathrm{diag}(U\,(F^TR)^T).

No :math:`E^{-1}` is left, so a row may also be zero if its direction is known: that is how the
solution moves on where a row is about to enter. No input validation.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg import LinAlgError, lapack

from columnist.linalg._prox import l21_norm, row_norms
from columnist.spectral._l21_coordinate import descend_gram

__all__ = ["Curvature", "optimality", "solve_rows"]

_EPS = np.finfo(np.float64).eps
# Eigenvalues of M below this share of the largest are rounding.
_SINGULAR = 1e-13
# Sweeps of coordinate descent after a Newton step that was not good enough.
_SWEEPS = 10
# A full Newton step must shrink the violation by this factor, or the objective is looked at.
_PROGRESS = 0.5
# A violation this small that does not fall any more is accepted.
_FINE = 3e-9
# Halvings of a Newton step that does not lower the objective.
_HALVINGS = 12


def optimality(W: np.ndarray, Q: np.ndarray, t: float) -> np.ndarray:
    r"""Violation of the optimality conditions, row by row, as a share of t.

    With :math:`Q = X^T(Y - XW)` a row of the minimum has :math:`q_i = t w_i/\|w_i\|` if it is not
    zero, and :math:`\|q_i\| \le t` if it is.
    """
    norms = row_norms(W)
    kept = norms > 0.0
    violation = np.maximum(row_norms(Q) / t - 1.0, 0.0)
    violation[kept] = row_norms(Q[kept] / t - W[kept] / norms[kept, None])
    return violation


class Curvature:
    """The second derivative of the objective at W, ready to be inverted."""

    def __init__(self, G: np.ndarray, W: np.ndarray, U: np.ndarray, t: float):
        self.U, self.lengths = U, row_norms(W) / t
        system = self.lengths[:, None] * G
        system[np.diag_indices_from(system)] += 1.0
        self.factor = lapack.dgetrf(system)[:2]
        M = self._solve(G, transposed=True) * (U @ U.T)
        self.core = 0.5 * (M + M.T)
        try:
            self.cholesky = scipy.linalg.cho_factor(self.core, lower=True, check_finite=False)
        except LinAlgError:
            self.cholesky = None

    def _solve(self, R: np.ndarray, *, transposed: bool = False) -> np.ndarray:
        return lapack.dgetrs(*self.factor, R, trans=int(transposed))[0]

    def _weights(self, along: np.ndarray) -> np.ndarray:
        if self.cholesky is not None:
            return scipy.linalg.cho_solve(self.cholesky, along, check_finite=False)
        return scipy.linalg.pinvh(self.core, rtol=_SINGULAR, check_finite=False) @ along

    def inverse(self, R: np.ndarray) -> np.ndarray:
        """The change of W that changes the gradient by R."""
        along = np.einsum("ij,ij->i", self.U, self._solve(R, transposed=True))
        moved = self.lengths[:, None] * R + self._weights(along)[:, None] * self.U
        return self._solve(moved)


def solve_rows(
    G: np.ndarray,
    B: np.ndarray,
    W: np.ndarray,
    t: float,
    *,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> np.ndarray:
    """Minimiser of the objective above, from the start W.

    Newton steps on the rows that are not zero or are about to grow. Far from the minimum they are
    shortened until the objective falls, and sweeps of coordinate descent in between decide what
    rows are zero. ``tol`` bounds the violation of the optimality conditions as a share of t, but
    for the rounding of G W.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._l21_newton import solve_rows
    >>> solve_rows(np.eye(2), np.array([[3.0, 4.0], [0.0, 2.0]]), np.zeros((2, 2)), 2.5)
    array([[1.5, 2. ],
           [0. , 0. ]])
    """
    G, W = np.ascontiguousarray(G), np.array(W, dtype=np.float64, order="C")
    Q = np.ascontiguousarray(B - G @ W)
    worst = _worst(W, Q, t)
    size, diagonal = float(row_norms(B).max(initial=0.0)), G.diagonal().max(initial=0.0)
    for _ in range(max_iter):
        rounding = 2.0 * _EPS * (size + diagonal * l21_norm(W)) / t
        if worst <= max(tol, rounding):
            break
        step = _newton(G, Q, W, t)
        trial = W + step
        image = B - G @ trial
        new = _worst(trial, image, t)
        if not new <= _PROGRESS * worst:
            trial = _shortened(G, Q, W, t, step)
            image = np.ascontiguousarray(B - G @ trial)
            descend_gram(G, image, trial, t, np.empty(W.shape[1]), 0.0, _SWEEPS)
            image = B - G @ trial
            new = _worst(trial, image, t)
            if _FINE >= worst <= new:  # dependent rows: rounding is all that is left
                break
        W, Q, worst = trial, image, new
    return W


def _worst(W: np.ndarray, Q: np.ndarray, t: float) -> float:
    return float(optimality(W, Q, t).max(initial=0.0))


def _newton(G: np.ndarray, Q: np.ndarray, W: np.ndarray, t: float) -> np.ndarray:
    """The Newton step; rows that are pulled hard enough begin, those that would turn end."""
    norms = row_norms(W)
    rows = np.flatnonzero((norms > 0.0) | (row_norms(Q) > t))
    U = np.where(norms[rows, None] > 0.0, W[rows], Q[rows])
    U = U / row_norms(U)[:, None]
    curvature = Curvature(G[np.ix_(rows, rows)], W[rows], U, t)
    new = W[rows] + curvature.inverse(Q[rows] - t * U)
    new[np.einsum("ij,ij->i", new, U) <= 0.0] = 0.0
    step = np.zeros_like(W)
    step[rows] = new - W[rows]
    return step


def _shortened(
    G: np.ndarray, Q: np.ndarray, W: np.ndarray, t: float, step: np.ndarray
) -> np.ndarray:
    """W after the part of a step that lowers the objective; W itself if there is none."""
    norms, bend = row_norms(W), float(np.vdot(step, G @ step))
    slope = -float(np.vdot(step, Q))
    for halvings in range(_HALVINGS):
        share = 0.5**halvings
        trial = W + share * step
        change = share * slope + 0.5 * share**2 * bend + t * float((row_norms(trial) - norms).sum())
        if change < 0.0:
            return trial
    return W.copy()
