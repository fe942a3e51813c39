"""Row-sparse regression by other means: coordinate descent, reweighting, linear programming."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

__all__ = ["absolute_deviations", "coordinate_descent", "reweighted", "subgradient_error"]


def coordinate_descent(A, C, t, W=None, *, sweeps=5000) -> np.ndarray:
    """Minimiser of ||AW - C||^2 + t sum_j ||w_j||, one row of W after the other."""
    W = np.zeros((A.shape[1], C.shape[1])) if W is None else W.copy()
    lengths = np.einsum("ij,ij->j", A, A)
    R = C - A @ W
    for _ in range(sweeps):
        largest = 0.0
        for j in np.flatnonzero(lengths):
            pull = A[:, j] @ R + lengths[j] * W[j]
            norm = np.sqrt(pull @ pull)
            shrink = max(norm - t / 2, 0.0) / norm if norm > 0.0 else 0.0
            new = pull * (shrink / lengths[j])
            change = new - W[j]
            if change.any():
                R -= np.outer(A[:, j], change)
                W[j] = new
                largest = max(largest, np.abs(change).max())
        if largest <= 1e-13 * np.abs(W).max(initial=1e-300):
            break
    return W


def reweighted(X, Y, alpha, *, delta=1e-7, n_iter=1000) -> np.ndarray:
    """Minimiser of sum_i ||x_i'W - y_i|| + alpha sum_j ||w_j||, norms smoothed by delta.

    Iteratively reweighted least squares; from a ridge start, since least squares would freeze
    residuals that are zero.
    """

    def smoothed(M):
        return np.sqrt((M * M).sum(axis=1) + delta**2)

    W = X.T @ np.linalg.solve(X @ X.T + np.eye(len(X)), Y)
    for _ in range(n_iter):
        BX = (2.0 * smoothed(W) / alpha)[:, None] * X.T
        W = BX @ np.linalg.solve(X @ BX + np.diag(2.0 * smoothed(X @ W - Y)), Y)
    return W


def absolute_deviations(X, y, alpha) -> float:
    """Minimum of sum_i |x_i'w - y_i| + alpha sum_j |w_j|, a linear program."""
    n, p = X.shape
    costs = np.concatenate([np.full(2 * p, alpha), np.ones(2 * n)])
    equalities = np.hstack([X, -X, np.eye(n), -np.eye(n)])
    found = linprog(costs, A_eq=equalities, b_eq=y, bounds=(0, None), method="highs")
    assert found.status == 0
    return float(found.fun)


def subgradient_error(W, slope, t) -> float:
    """How far -slope is from t times a subgradient of sum_j ||w_j||, as a share of t."""
    worst = 0.0
    for w, g in zip(W, slope, strict=True):
        if w.any():
            worst = max(worst, np.linalg.norm(g / t + w / np.linalg.norm(w)))
        else:
            worst = max(worst, np.linalg.norm(g) / t - 1.0)
    return worst
