r"""Alternating directions with multipliers, for both losses.

With the residual E as a variable of its own, tied to the model by :math:`E = A - XY^T` with
multipliers L and a weight :math:`\mu`, each step has a closed form. For
:math:`W = A - E + L/\mu`:

.. math::

   X = \mathrm{polar}(WY), \quad y_i = (1 - \alpha_i/(\mu\|q_i\|))_+\, q_i \text{ with } Q = W^TX,
   \quad e_j = c_j p_j \text{ with } P = A - XY^T + L/\mu,

with :math:`c_j = (1 - 1/(\mu\|p_j\|))_+` for lengths and :math:`c_j = \mu/(\mu + 2)` for squares,
and then :math:`L = \mu(P - E)`. So E and L are multiples of the rows of P, and P is the only
matrix of the size of the data that is kept. Missing entries are zero in P and those of
:math:`XY^T` in W. No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columnist.linalg._prox import row_norms, row_shrink
from columnist.lowrank._factors import Factors, Start, loss_of, penalty_of, polar
from columnist.lowrank._table import Table

__all__ = ["admm"]

# The weight is reconsidered every so many iterations; it balances the residuals in the first
# ones, and then only grows, slowly, until the constraint holds: a fixed one need not converge.
_PERIOD, _BALANCING, _GROWING = 10, 200, 50
# It is doubled or halved when the residuals differ so much.
_IMBALANCE, _GROWTH = 10.0, 1.5
# Iterations after which the best of several starts is known well enough.
_TRIAL = 30


def admm(
    table: Table,
    starts: Sequence[Start],
    alpha: np.ndarray,
    loss: str,
    *,
    tol: float,
    max_iter: int,
) -> Factors:
    r"""Minimise the loss of :math:`A - XY^T` plus :math:`\sum_i \alpha_i\|y_i\|`.

    The iteration ends when the primal residual :math:`\|A - E - XY^T\|` is within ``tol`` of
    :math:`\|A\|` and the dual one, :math:`\mu\|E - E_{\mathrm{old}}\|`, within ``tol`` of
    :math:`\|L\|`. The objective need not fall all the time: the best pair (X, Y), the start
    included, is returned. Of several starts the one with the smallest objective after a few
    iterations goes on.

    Parameters
    ----------
    table : Table
        Dense data.
    starts : sequence of Start
        First scores and loadings.
    alpha : ndarray of shape (p,)
        Penalty of every column.
    loss : {"quadratic", "robust"}
        Squared lengths or lengths of the rows of the residual.
    tol : float
        Relative length of both residuals at the end.
    max_iter : int
        Iterations at most.

    Returns
    -------
    Factors
    """
    best = None
    for start in starts:
        run = _Run(table, start, alpha, loss)
        run.advance(tol, max_iter if len(starts) == 1 else min(_TRIAL, max_iter))
        if best is None or run.best[0] < best.best[0]:
            best = run
    assert best is not None  # there is a start
    best.advance(tol, max_iter)
    objective, X, Y, pulls = best.best
    history, residuals = np.array(best.history), np.array(best.residuals)
    return Factors(X, Y, pulls, objective, history, residuals, best.converged(tol))


class _Run:
    """State: X, Y, the matrix P, and for each row the shares of it that are E and L/mu."""

    def __init__(self, table: Table, start: Start, alpha: np.ndarray, loss: str):
        self.table, self.alpha, self.loss = table, alpha, loss
        self.X = start.X
        self.length = np.sqrt(table.energy())
        norms = np.concatenate([row_norms(values) for _, values in table.blocks()])
        self.mu = self._first_weight(norms)
        loadings = table.cross(start.X) if start.Y is None else start.Y
        self.Y = row_shrink(loadings, np.where(np.isinf(alpha), np.inf, 0.0))
        self.P = np.zeros(table.shape)
        self.e, self.u = np.zeros(table.shape[0]), np.zeros(table.shape[0])
        self._residual_step()
        self.history: list[float] = []
        self.residuals: list[tuple[float, float]] = []
        self.best = (self._objective(), self.X, self.Y, row_norms(self.Y))

    def _first_weight(self, norms: np.ndarray) -> float:
        """One over the median length of the rows; squares need no unit."""
        if self.loss == "quadratic":
            return 2.0
        norms = norms[norms > 0.0]
        return 1.0 / float(np.median(norms)) if len(norms) else 1.0

    def advance(self, tol: float, until: int) -> None:
        """Iterate to the tolerance, or until so many iterations are made."""
        while len(self.history) < until and not self.converged(tol):
            pulls = self.step()
            self.history.append(self._objective())
            self.residuals.append(self._relative_residuals())
            if self.history[-1] < self.best[0]:
                self.best = self.history[-1], self.X, self.Y, pulls
            self._adapt(tol)

    def converged(self, tol: float) -> bool:
        """Whether both residuals are within the tolerance."""
        return bool(self.residuals) and max(self.residuals[-1]) <= tol

    def step(self) -> np.ndarray:
        """Scores, loadings, residual and multipliers once; the lengths before shrinkage."""
        self.X = polar(self.WY)
        Q = self._cross()
        self.Y = row_shrink(Q, self.alpha / self.mu)
        self._residual_step()
        return row_norms(Q)

    def _cross(self) -> np.ndarray:
        """W'X."""
        total = np.zeros(self.Y.shape)
        for rows, values in self.table.blocks():
            total += self._target(rows, values).T @ self.X[rows]
        return total

    def _target(self, rows: slice, values: np.ndarray) -> np.ndarray:
        """Rows of W."""
        W = (self.u[rows] - self.e[rows])[:, None] * self.P[rows]
        W += values
        if self.table.missing is not None:
            np.copyto(W, self.X[rows] @ self.Y.T, where=self.table.missing[rows])
        return W

    def _residual_step(self) -> None:
        """P, E and L for the current X and Y; at the same time WY, lengths and residuals."""
        self.WY = np.empty(self.X.shape)
        self.norms = np.empty(len(self.X))
        squares = np.zeros(3)
        for rows, values in self.table.blocks():
            rest = values - self.X[rows] @ self.Y.T
            if self.table.missing is not None:
                rest[self.table.missing[rows]] = 0.0
            self.norms[rows] = row_norms(rest)
            old_E = self.e[rows, None] * self.P[rows]
            P = self.P[rows]
            P *= self.u[rows, None]
            P += rest
            share = self._share(row_norms(P))
            self.e[rows], self.u[rows] = share, 1.0 - share
            E = share[:, None] * P
            rest -= E
            old_E -= E
            squares += [np.vdot(rest, rest), np.vdot(old_E, old_E), self._multipliers(rows)]
            self.WY[rows] = self._target(rows, values) @ self.Y
        self.primal, self.dual, self.multipliers = np.sqrt(squares)

    def _multipliers(self, rows: slice) -> float:
        """Squared length of L/mu."""
        return float(np.sum(np.square(self.u[rows] * row_norms(self.P[rows]))))

    def _share(self, norms: np.ndarray) -> np.ndarray:
        """What of each row of P goes to E."""
        if self.loss == "quadratic":
            return np.full(len(norms), self.mu / (self.mu + 2.0))
        cut = np.divide(1.0, self.mu * norms, out=np.ones(len(norms)), where=self.mu * norms > 1.0)
        return 1.0 - cut

    def _objective(self) -> float:
        """At (X, Y), whatever E is."""
        return loss_of(self.norms, self.loss) + penalty_of(self.Y, self.alpha)

    def _relative_residuals(self) -> tuple[float, float]:
        """Primal and dual; the weight cancels in the second."""
        return (
            float(self.primal / self.length) if self.length else 0.0,
            float(self.dual / self.multipliers) if self.multipliers else 0.0,
        )

    def _adapt(self, tol: float) -> None:
        """Another weight, if it is time; the multipliers L stay as they are."""
        n_iter, (primal, dual) = len(self.history), self.residuals[-1]
        factor = 1.0
        if n_iter <= _BALANCING and n_iter % _PERIOD == 0:
            if primal > _IMBALANCE * dual:
                factor = 2.0
            elif dual > _IMBALANCE * primal:
                factor = 0.5
        elif n_iter > _BALANCING and n_iter % _GROWING == 0 and primal > tol:
            factor = _GROWTH
        if factor != 1.0:
            self.mu *= factor
            self.u /= factor
            for rows, values in self.table.blocks():
                self.WY[rows] = self._target(rows, values) @ self.Y
