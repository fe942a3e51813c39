r"""The two factors of a low-rank model, what they cost, and how they are turned.

The model is :math:`A \approx XY^T` with orthonormal scores, :math:`X^TX = I`, and row-sparse
loadings Y:

.. math:: \min_{X^TX = I,\,Y} \ell(A - XY^T) + \sum_i \alpha_i \|y_i\|,

where :math:`\ell` is the sum of the squared lengths of the rows (``"quadratic"``) or of the lengths
(``"robust"``). The penalties may differ from column to column: an infinite one keeps a column out.
No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from columnist.linalg._prox import row_norms
from columnist.lowrank._table import Table

__all__ = [
    "Factors",
    "Start",
    "canonical",
    "loss_of",
    "objective_of",
    "penalty_of",
    "polar",
]


@dataclass(frozen=True)
class Start:
    """First scores, orthonormal, and loadings; without these the best ones are taken."""

    X: np.ndarray
    Y: np.ndarray | None = None


@dataclass(frozen=True)
class Factors:
    """A point of the model and how it was reached.

    Attributes
    ----------
    X : ndarray of shape (n, r)
        Scores, with orthonormal columns.
    Y : ndarray of shape (p, r)
        Loadings.
    pulls : ndarray of shape (p,)
        Lengths of the rows of Y before they were shortened: the longest of the zero ones are the
        next to enter.
    objective : float
        What is minimised.
    history : ndarray of shape (n_iter,)
        The objective after every iteration.
    residuals : ndarray of shape (n_iter, 2)
        Relative primal and dual residuals after every iteration.
    converged : bool
        Whether both fell to the tolerance.
    """

    X: np.ndarray
    Y: np.ndarray
    pulls: np.ndarray
    objective: float
    history: np.ndarray
    residuals: np.ndarray
    converged: bool

    @property
    def n_active(self) -> int:
        """Number of columns with loadings."""
        return int(np.count_nonzero(self.Y.any(axis=1)))


def polar(M: np.ndarray) -> np.ndarray:
    r"""The matrix with orthonormal columns closest to M: :math:`UV^T` of its thin SVD.

    It maximises :math:`\langle X, M \rangle` (orthogonal Procrustes). Where M has no full rank
    there are many; one of them is returned.
    """
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
    r"""The same product with orthogonal loadings, the longest first, of fixed sign.

    A rotation of both factors changes neither :math:`XY^T` nor any length of a row, so the
    model leaves it open.
    """
    V, sigma, Rt = scipy.linalg.svd(found.Y, full_matrices=False, check_finite=False)
    Y = V * sigma
    Y[~found.Y.any(axis=1)] = 0.0  # rounding must not bring a column back
    largest = np.abs(Y).argmax(axis=0)
    signs = np.where(Y[largest, np.arange(Y.shape[1])] < 0.0, -1.0, 1.0)
    return replace(found, X=(found.X @ Rt.T) * signs, Y=Y * signs)
