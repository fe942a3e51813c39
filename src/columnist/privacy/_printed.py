"""The second algorithm as printed: generalized eigenvectors that are not orthogonal."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg

from columnist.privacy._predictor import fractional_knapsack

__all__ = ["PrintedDirections"]

_TINY = np.finfo(np.float64).tiny


class PrintedDirections:
    r"""Eigenvectors of :math:`B_d v = \gamma B_c v` as the solver returns them.

    Where :math:`B_c` is regular they satisfy :math:`v^T B_c v = 1`. Otherwise they have length one,
    and a vector that only rounding determines, because both matrices are singular, is used as it
    is: removing it is free. No input validation.

    Parameters
    ----------
    coef, secret : arrays of shape (n_outputs, n_features)
        Coefficients of the predictor and of what is confidential.
    """

    def __init__(self, coef: np.ndarray, secret: np.ndarray):
        V = generalized_eigenvectors(coef.T @ coef, secret.T @ secret)
        desired, hidden = (np.sum((part @ V) ** 2, axis=0) for part in (coef, secret))
        desired[desired < 1e-10 * desired.max(initial=0.0)] = 0.0
        order = np.argsort(desired / np.maximum(hidden, _TINY), kind="stable")
        self.vectors, self.desired = V[:, order], desired[order]

    def cleaned(self, rows: np.ndarray, utility: float) -> np.ndarray:
        """Rows without shares of their products with the vectors."""
        a = rows @ self.vectors
        costs = (self.desired * a**2).T
        shares = fractional_knapsack(costs, np.full(len(rows), utility))
        return (
            rows
            - (np.sqrt(shares) * a[:, : shares.shape[1]]) @ self.vectors[:, : shares.shape[1]].T
        )


def generalized_eigenvectors(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Eigenvectors of a symmetric pencil, which may be singular; finite ones only."""
    try:
        V = scipy.linalg.eigh(A, B, check_finite=False)[1]
    except np.linalg.LinAlgError:  # B is singular
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            V = scipy.linalg.eig(A, B, check_finite=False)[1].real
    return V[:, np.isfinite(V).all(axis=0)]
