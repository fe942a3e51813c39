"""The bound of a node by relaxation, as plain as it can be written."""

from __future__ import annotations

import numpy as np

__all__ = ["relaxed_bound"]

# As in the kernel: the share of the (t+1)-st eigenvalue that directions outside Y catch.
_SHIFT = 0.9


def relaxed_bound(
    X: np.ndarray,
    T: np.ndarray,
    chosen: np.ndarray,
    candidates: np.ndarray,
    t: int,
    n_iter: int,
) -> float:
    """Lower bound of the squared error of T by the chosen columns of X and t of the candidates."""
    Q = np.linalg.qr(X[:, chosen])[0]
    A, rest = X[:, candidates], T - Q @ (Q.T @ T)
    A = A - Q @ (Q.T @ A)
    basis = np.linalg.qr(A)[0]  # what lies outside is lost
    U, sigma, _ = np.linalg.svd(basis @ (basis.T @ rest), full_matrices=False)
    squares, total = sigma**2, np.square(rest).sum()
    s = _SHIFT * squares[t] if t < len(squares) else 0.0
    Y = U * np.sqrt(np.maximum(squares - s, 0.0))
    K, c = A.T @ A, A.T @ Y
    D = _diagonal(K)
    P = K - np.diag(D)
    z, bounds = np.full(len(K), t / len(K)), []
    for _ in range(n_iter):
        B = np.linalg.solve(P + np.diag(D / z), c)
        g = np.square(c - P @ B).sum(axis=1) / D
        caught = np.trace(B.T @ P @ B) + np.sort(g)[::-1][:t].sum()
        bounds.append(total - t * s - caught)
        z = _capped(np.sqrt(D * np.square(B).sum(axis=1)), t)
    return max(bounds[-1], total - squares[:t].sum())


def _diagonal(K: np.ndarray) -> np.ndarray:
    """Nearly the largest multiple of 1 / diag(inv(K)) that K stays above."""
    own = 1.0 / np.diag(np.linalg.inv(K))
    scaled = K / np.sqrt(np.outer(own, own))
    return own * np.linalg.eigvalsh(scaled)[0] / 1.03


def _capped(weights: np.ndarray, t: int) -> np.ndarray:
    """Proportional to the weights, at most 1, with sum t."""
    low, high = 0.0, 1.0
    while np.minimum(high * weights, 1.0).sum() < t:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.minimum(middle * weights, 1.0).sum() < t else (low, middle)
    return np.clip(np.minimum(high * weights, 1.0), 1e-5, 1.0)
