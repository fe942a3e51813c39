r"""The factors of a low-rank model: their objective, and two algorithms that minimise it.

.. math:: A \approx XY^T: \quad \min_{X^TX = I,\,Y} \ell(A - XY^T) + \sum_i \alpha_i \|y_i\|,

with orthonormal scores X, row-sparse loadings Y, and :math:`\ell` the sum of the squared lengths of
the rows (``"quadratic"``) or of the lengths (``"robust"``). An infinite penalty keeps a column out.
No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from columnist.linalg._prox import row_norms, row_shrink
from columnist.lowrank._table import Filled, Table

# The weight is reconsidered every so many iterations; it balances the residuals in the first
# ones, and then only grows, slowly, until the constraint holds: a fixed one need not converge.
_PERIOD, _BALANCING, _GROWING = 10, 200, 50
# It is doubled or halved when the residuals differ so much.
_IMBALANCE, _GROWTH = 10.0, 1.5
# Iterations after which the best of several starts is known well enough.
_TRIAL = 30


@dataclass(frozen=True)
class Start:
    """First scores, orthonormal, and loadings; without these the best ones are taken."""

    X: np.ndarray
    Y: np.ndarray | None = None


@dataclass(frozen=True)
class Factors:
    """A point of the model and how it was reached."""

    X: np.ndarray
    """Scores (n, r), with orthonormal columns."""
    Y: np.ndarray
    """Loadings (p, r)."""
    pulls: np.ndarray
    """Lengths of the rows of Y before they were shortened; the longest of zero rows enter next."""
    objective: float
    """What is minimised."""
    history: np.ndarray
    """The objective after every iteration."""
    residuals: np.ndarray
    """Relative primal and dual residuals after every iteration."""
    converged: bool
    """Whether both fell to the tolerance."""

    @property
    def n_active(self) -> int:
        """Number of columns with loadings."""
        return int(np.count_nonzero(self.Y.any(axis=1)))


def polar(M: np.ndarray) -> np.ndarray:
    r"""The matrix with orthonormal columns closest to M: :math:`UV^T` of its thin SVD. It maximises
    :math:`\langle X, M \rangle` (orthogonal Procrustes). Where M has no full rank there are many;
    one of them is returned."""
    U, _, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    return U @ Vt


def loss_of(norms: np.ndarray, loss: str) -> float:
    """The loss from the lengths of the rows of the residual."""
    return float(np.sum(norms**2 if loss == "quadratic" else norms))


def penalty_of(Y: np.ndarray, alpha: np.ndarray) -> float:
    """Sum of the penalties; columns without loadings cost nothing, whatever their price."""
    norms = row_norms(Y)
    active = norms > 0.0
    return float(norms[active] @ alpha[active])


def objective_of(table: Table, X: np.ndarray, Y: np.ndarray, alpha: np.ndarray, loss: str) -> float:
    """What is minimised, computed from the data."""
    if table.sparse:
        fit = 2.0 * float(np.vdot(table.cross(X), Y)) - float(np.vdot(Y, Y))
        return max(table.energy() - fit, 0.0) + penalty_of(Y, alpha)
    return loss_of(table.residual_norms(X, Y), loss) + penalty_of(Y, alpha)


def canonical(found: Factors) -> Factors:
    r"""The same product with orthogonal loadings, the longest first, of fixed sign. A rotation of
    both factors changes neither :math:`XY^T` nor any length of a row, so the model leaves it
    open."""
    V, sigma, Rt = scipy.linalg.svd(found.Y, full_matrices=False, check_finite=False)
    Y = V * sigma
    Y[~found.Y.any(axis=1)] = 0.0  # rounding must not bring a column back
    signs = signs_of(Y)
    return replace(found, X=(found.X @ Rt.T) * signs, Y=Y * signs)


def signs_of(Y: np.ndarray) -> np.ndarray:
    """Sign of the largest entry of every column."""
    largest = np.abs(Y).argmax(axis=0)
    return np.where(Y[largest, np.arange(Y.shape[1])] < 0.0, -1.0, 1.0)


def alternate(
    table: Table, X: np.ndarray, alpha: np.ndarray, *, tol: float, max_iter: int
) -> Factors:
    r"""Minimise :math:`\|A - XY^T\|_F^2 + \sum_i \alpha_i\|y_i\|`, from X on: the best loadings are
    the rows of :math:`A^TX` shortened by :math:`\alpha_i/2`, the best scores the polar factor of
    :math:`AY`, missing entries filled before, so the objective never rises. Ends when the dual
    residual, by which AY misses XS with S symmetric, is within ``tol`` of the length of AY."""
    filled = None if table.missing is None else Filled(table)
    work, energy = (table, table.energy()) if filled is None else (filled.table, 0.0)
    history, residuals = [], []
    while True:
        pulls = work.cross(X)
        Y = row_shrink(pulls, alpha / 2.0)
        if filled is None:  # from X'X = I
            error = energy - 2.0 * float(np.vdot(pulls, Y)) + float(np.vdot(Y, Y))
        else:
            error = filled.follow(X, Y)
        history.append(error + penalty_of(Y, alpha))
        target = work.times(Y)
        residuals.append((0.0, _gradient(X, target)))
        converged = residuals[-1][1] <= tol
        if converged or len(history) >= max_iter:
            break
        X = polar(target)
        if filled is not None:
            filled.follow(X, Y)
    return Factors(
        X, Y, row_norms(pulls), history[-1], np.array(history), np.array(residuals), converged
    )


def _gradient(X: np.ndarray, target: np.ndarray) -> float:
    """Length of the part of AY that a turn of X could still use, relative to AY."""
    S = X.T @ target
    length = float(np.linalg.norm(target))
    return float(np.linalg.norm(target - X @ (0.5 * (S + S.T)))) / length if length else 0.0


def admm(
    table: Table,
    starts: Sequence[Start | Factors],
    alpha: np.ndarray,
    loss: str,
    *,
    tol: float,
    max_iter: int,
) -> Factors:
    r"""Minimise the loss of :math:`A - XY^T` plus :math:`\sum_i \alpha_i\|y_i\|`, for dense data.

    With :math:`E = A - XY^T`, multipliers L and a weight :math:`\mu`, each step has a closed form.
    For :math:`W = A - E + L/\mu`:

    .. math::

       X = \mathrm{polar}(WY), \quad y_i = (1 - \alpha_i/(\mu\|q_i\|))_+\, q_i \text{ with } Q =
       W^TX, \quad e_j = c_j p_j \text{ with } P = A - XY^T + L/\mu,

    :math:`c_j = (1 - 1/(\mu\|p_j\|))_+` for lengths, :math:`\mu/(\mu + 2)` for squares, and then
    :math:`L = \mu(P - E)`: P is the only matrix of the size of the data that is kept. Missing
    entries are zero in P and those of :math:`XY^T` in W. The iteration ends when :math:`\|A - E -
    XY^T\|` is within ``tol`` of :math:`\|A\|` and :math:`\mu\|E - E_{\mathrm{old}}\|` of
    :math:`\|L\|`. The objective may rise: the best pair (X, Y), the start included, is returned. Of
    several starts the best after a few iterations goes on.
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

    def __init__(self, table: Table, start: Start | Factors, alpha: np.ndarray, loss: str):
        self.table, self.alpha, self.loss = table, alpha, loss
        self.X = start.X
        self.length = np.sqrt(table.energy())
        self.mu = 2.0  # squares need no unit
        if loss == "robust":
            norms = table.row_norms()
            norms = norms[norms > 0.0]
            self.mu = 1.0 / float(np.median(norms)) if len(norms) else 1.0
        loadings = table.cross(start.X) if start.Y is None else start.Y
        self.Y = row_shrink(loadings, np.where(np.isinf(alpha), np.inf, 0.0))
        self.P = np.zeros(table.shape)
        self.e, self.u = np.zeros(table.shape[0]), np.zeros(table.shape[0])
        self._residual_step()
        self.history: list[float] = []
        self.residuals: list[tuple[float, float]] = []
        self.best = (self._objective(), self.X, self.Y, row_norms(self.Y))

    def advance(self, tol: float, until: int) -> None:
        """Iterate to the tolerance, or until so many iterations are made."""
        while len(self.history) < until and not self.converged(tol):
            pulls = self.step()
            self.history.append(self._objective())
            self.residuals.append((self.primal, self.dual))
            if self.history[-1] < self.best[0]:
                self.best = self.history[-1], self.X, self.Y, pulls
            self._adapt(tol)

    def converged(self, tol: float) -> bool:
        """Whether both residuals are within the tolerance."""
        return bool(self.residuals) and max(self.residuals[-1]) <= tol

    def step(self) -> np.ndarray:
        """Scores, loadings, residual and multipliers once; the lengths before shrinkage."""
        self.X = polar(self.WY)
        Q = np.zeros(self.Y.shape)  # W'X
        for rows, values in self.table.blocks():
            Q += self._target(rows, values).T @ self.X[rows]
        self.Y = row_shrink(Q, self.alpha / self.mu)
        self._residual_step()
        return row_norms(Q)

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
            norms = row_norms(P)
            share = self._share(norms)
            self.e[rows], self.u[rows] = share, 1.0 - share
            E = share[:, None] * P
            rest -= E
            old_E -= E
            L = self.u[rows] * norms  # over mu, lengths of rows
            squares += [np.vdot(rest, rest), np.vdot(old_E, old_E), np.sum(np.square(L))]
            self.WY[rows] = self._target(rows, values) @ self.Y
        primal, dual, multipliers = np.sqrt(squares)
        # Relative residuals; the weight cancels in the second.
        self.primal = float(primal / self.length) if self.length else 0.0
        self.dual = float(dual / multipliers) if multipliers else 0.0

    def _share(self, norms: np.ndarray) -> np.ndarray:
        """What of each row of P goes to E."""
        if self.loss == "quadratic":
            return np.full(len(norms), self.mu / (self.mu + 2.0))
        cut = np.divide(1.0, self.mu * norms, out=np.ones(len(norms)), where=self.mu * norms > 1.0)
        return 1.0 - cut

    def _objective(self) -> float:
        """At (X, Y), whatever E is."""
        return loss_of(self.norms, self.loss) + penalty_of(self.Y, self.alpha)

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
