"""The algorithms row by row, as plainly as they can be written: oracles for the package."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

__all__ = [
    "algorithm_1",
    "algorithm_2",
    "least_confidential",
    "linear_program",
    "printed_algorithm_2",
    "printed_knapsack",
]


def linear_program(gains, costs, budget) -> float:
    """Value of the fractional knapsack, by a solver for linear programs."""
    found = linprog(-np.asarray(gains), A_ub=[costs], b_ub=[budget], bounds=(0.0, 1.0))
    assert found.success
    return -found.fun


def printed_knapsack(gains, costs, budget) -> np.ndarray:
    """Figures 9.1 and 9.2 with the square root of the variation: shares alpha.

    The print leaves open what happens when everything fits; all is taken then.
    """
    gains, costs = np.asarray(gains, dtype=float), np.asarray(costs, dtype=float)
    alpha = np.where(costs == 0.0, 1.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(costs > 0.0, gains / costs, np.inf), kind="stable")
    for j in order:
        if costs[j] > 0.0:
            alpha[j] = np.sqrt(min(1.0, max(budget, 0.0) / costs[j]))
            budget -= costs[j]
    return alpha


def algorithm_1(x, A, utility, gain="distance") -> np.ndarray:
    """Figure 9.3 with all eigenvectors of the n x n matrix; A has one row per output."""
    eigenvalues, V = np.linalg.eigh(A.T @ A)
    eigenvalues = np.where(eigenvalues > 1e-12 * eigenvalues[-1], eigenvalues, 0.0)
    a = V.T @ x
    gains = a**2 if gain == "distance" else np.ones_like(a)
    alpha = printed_knapsack(gains, eigenvalues * a**2, utility)
    return x - V @ (alpha * a)


def algorithm_2(x, A, C, utility) -> np.ndarray:
    """The second algorithm in the dual basis, from the singular vectors of the stacked maps."""
    Q, sigma, Ut = np.linalg.svd(np.vstack([A, C]), full_matrices=False)
    kept = sigma > 1e-10 * sigma[0]
    Q, sigma, U = Q[:, kept], sigma[kept], Ut[kept].T
    _, c, Wt = np.linalg.svd(Q[: len(A)])
    theta = np.zeros(len(sigma))
    theta[: len(c)] = np.minimum(c, 1.0) ** 2
    theta[theta < 1e-12] = 0.0
    t = Wt @ (sigma * (U.T @ x))
    V = (U / sigma) @ Wt.T
    gains = np.where(theta > 1.0 - 1e-10, 0.0, 1.0 - theta) * t**2
    alpha = printed_knapsack(gains, theta * t**2, utility)
    alpha[theta > 1.0 - 1e-10] = 0.0
    return U @ (U.T @ x) - V @ (alpha * t)


def printed_algorithm_2(x, A, C, utility, scale=1.0) -> np.ndarray:
    """Figure 9.4 to the letter; ``scale`` multiplies the eigenvectors. C'C must be regular."""
    B_d, B_c = A.T @ A, C.T @ C
    _, V = scipy.linalg.eigh(B_d, B_c)
    V = scale * V
    a = V.T @ x
    cost = np.maximum(np.einsum("ij,ik,kj->j", V, B_d, V), 0.0)
    cost[cost < 1e-10 * cost.max()] = 0.0
    gain = np.einsum("ij,ik,kj->j", V, B_c, V)
    alpha = printed_knapsack(gain * a**2, cost * a**2, utility)
    return x - V @ (alpha * a)


def least_confidential(x, A, C) -> float:
    """Least norm of C z over all z with Az = Ax."""
    free = scipy.linalg.null_space(A)
    shift = np.linalg.lstsq(C @ free, -C @ x, rcond=None)[0]
    return float(np.linalg.norm(C @ (x + free @ shift)))
