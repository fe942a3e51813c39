"""Other ways to the models of :mod:`columnist.lowrank`: plain, slow, from many starts."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

__all__ = [
    "longest_run",
    "masked_objective",
    "objective",
    "quadratic_minimum",
    "ridge_alternation",
    "robust_descent",
]


def objective(A, X, Y, alpha: float, loss: str) -> float:
    """The formula, word by word."""
    rest = np.linalg.norm(A - X @ Y.T, axis=1)
    return (rest**2 if loss == "quadratic" else rest).sum() + alpha * sum(
        np.linalg.norm(row) for row in Y
    )


def masked_objective(A, X, Y, alpha: float, loss: str) -> float:
    """The same over the entries that are not NaN."""
    return objective(np.where(np.isnan(A), X @ Y.T, A), X, Y, alpha, loss)


def quadratic_minimum(A, rank: int, alpha: float, n_starts: int, rng) -> float:
    """Least objective over orthonormal scores, by BFGS on their QR factors.

    For given scores the best loadings leave |A|^2 - sum (|X'a_i| - alpha/2)_+^2.
    """

    def value(flat):
        X = np.linalg.qr(flat.reshape(len(A), rank))[0]
        lengths = np.linalg.norm(X.T @ A, axis=0)
        return np.sum(A**2) - np.sum(np.maximum(lengths - alpha / 2.0, 0.0) ** 2)

    starts = [rng.standard_normal(len(A) * rank) for _ in range(n_starts)]
    return min(minimize(value, start, method="BFGS").fun for start in starts)


def robust_descent(A, X, alpha: float, n_iter: int, smoothing: float = 1e-6):
    """Monotone majorisation of the lengths of rows, smoothed a little; scores and loadings.

    The rows e of the residual count sqrt(|e|^2 + s^2) with weights w = 1 / that. Scores move to the
    polar factor of (XY' + w/max(w) E)Y, loadings by a proximal step of length one over the
    largest eigenvalue of X'diag(w)X.
    """
    Y = A.T @ X
    for _ in range(n_iter):
        E = A - X @ Y.T
        w = 1.0 / np.sqrt(np.sum(E**2, axis=1) + smoothing**2)
        U, _, Vt = np.linalg.svd((X @ Y.T + (w / w.max())[:, None] * E) @ Y, full_matrices=False)
        X = U @ Vt
        E = A - X @ Y.T
        w = 1.0 / np.sqrt(np.sum(E**2, axis=1) + smoothing**2)
        step = 1.0 / np.linalg.eigvalsh((X.T * w) @ X)[-1]
        Z = Y + step * (w[:, None] * E).T @ X
        lengths = np.maximum(np.linalg.norm(Z, axis=1), 1e-300)
        Y = Z * np.maximum(1.0 - step * alpha / lengths, 0.0)[:, None]
    return X, Y


def longest_run(A, rank: int, alpha: float, n_starts: int, n_iter: int, rng) -> float:
    """Least robust objective over random starts of :func:`robust_descent`."""
    values = []
    for _ in range(n_starts):
        X = np.linalg.qr(rng.standard_normal((len(A), rank)))[0]
        X, Y = robust_descent(A, X, alpha, n_iter)
        values.append(objective(A, X, Y, alpha, "robust"))
    return min(values)


def ridge_alternation(A, rank: int, alpha_scores: float, alpha_loadings: float, n_iter: int, rng):
    """Alternating ridge regressions over the entries that are there, row by row."""
    n, p = A.shape
    seen = ~np.isnan(A)
    Y = rng.standard_normal((p, rank))
    X = np.zeros((n, rank))
    for _ in range(n_iter):
        for i in range(n):
            part = Y[seen[i]]
            X[i] = np.linalg.solve(
                part.T @ part + alpha_scores * np.eye(rank), part.T @ A[i, seen[i]]
            )
        for j in range(p):
            part = X[seen[:, j]]
            Y[j] = np.linalg.solve(
                part.T @ part + alpha_loadings * np.eye(rank), part.T @ A[seen[:, j], j]
            )
    rest = np.where(seen, A - X @ Y.T, 0.0)
    total = np.sum(rest**2) + alpha_scores * np.sum(X**2) + alpha_loadings * np.sum(Y**2)
    return X @ Y.T, float(total)
