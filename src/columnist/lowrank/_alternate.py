r"""Squared errors: alternate between scores and loadings.

For fixed scores with :math:`X^TX = I` the best loadings are the rows of :math:`A^TX`, each
shortened by :math:`\alpha_i/2`; for fixed loadings the best scores are the polar factor of
:math:`AY`. Both steps are exact minimisations, so the objective never rises. Missing entries
are filled with :math:`XY^T` before each of them: the filled objective touches the true one at
the current point and lies above it elsewhere, so the true one never rises either.
No input validation.
"""

from __future__ import annotations

import numpy as np

from columnist.linalg._prox import row_norms, row_shrink
from columnist.lowrank._factors import Factors, penalty_of, polar
from columnist.lowrank._table import Filled, Table

__all__ = ["alternate"]


def alternate(
    table: Table, X: np.ndarray, alpha: np.ndarray, *, tol: float, max_iter: int
) -> Factors:
    r"""Minimise :math:`\|A - XY^T\|_F^2 + \sum_i \alpha_i\|y_i\|` with :math:`X^TX = I`.

    At a stationary point :math:`AY = XS` with S symmetric; the iteration ends when what is left
    of AY is within ``tol`` of its length. That is the dual residual; the primal one is zero,
    for both constraints hold all the time.

    Parameters
    ----------
    table : Table
        Data.
    X : ndarray of shape (n, r)
        First scores, orthonormal.
    alpha : ndarray of shape (p,)
        Penalty of every column.
    tol : float
        Relative length of the gradient at the end.
    max_iter : int
        Iterations at most.

    Returns
    -------
    Factors
    """
    work = _Whole(table) if table.missing is None else _WithHoles(table)
    history, residuals = [], []
    while True:
        pulls = work.table.cross(X)
        Y = row_shrink(pulls, alpha / 2.0)
        history.append(work.error(X, Y, pulls) + penalty_of(Y, alpha))
        target = work.table.times(Y)
        residuals.append((0.0, _gradient(X, target)))
        converged = residuals[-1][1] <= tol
        if converged or len(history) >= max_iter:
            break
        X = polar(target)
        work.follow(X, Y)
    return Factors(
        X, Y, row_norms(pulls), history[-1], np.array(history), np.array(residuals), converged
    )


def _gradient(X: np.ndarray, target: np.ndarray) -> float:
    """Length of the part of AY that a turn of X could still use, relative to AY."""
    S = X.T @ target
    length = float(np.linalg.norm(target))
    return float(np.linalg.norm(target - X @ (0.5 * (S + S.T)))) / length if length else 0.0


class _Whole:
    """A table without holes."""

    def __init__(self, table: Table):
        self.table, self.energy = table, table.energy()

    def error(self, X: np.ndarray, Y: np.ndarray, pulls: np.ndarray) -> float:
        """Squared error, from X'X = I."""
        return self.energy - 2.0 * float(np.vdot(pulls, Y)) + float(np.vdot(Y, Y))

    def follow(self, X: np.ndarray, Y: np.ndarray) -> None:
        """Nothing depends on the point."""


class _WithHoles(Filled):
    """A table that is filled at the current point."""

    def error(self, X: np.ndarray, Y: np.ndarray, pulls: np.ndarray) -> float:
        """Squared error over the entries that are there."""
        return self.follow(X, Y)
