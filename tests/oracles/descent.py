"""Coordinate descent for a relaxed best-subset problem, as plain as it can be written."""

from __future__ import annotations

import numpy as np

__all__ = ["descend", "objective"]


def descend(P, D, forced, free, t, B, U, s, n_sweeps):
    """Sweeps over rows of B (stored as columns); returns new B, U and s."""
    B, U = B.copy(), U.copy()

    def step(i: int, price: float) -> float:
        r = U[:, i] + P[i, i] * B[:, i]
        length = np.linalg.norm(r)
        root = np.sqrt(D[i])
        wanted = length / (P[i, i] + D[i])
        if price >= 0.0 and wanted * root < price:
            wanted = max(length - price * root, 0.0) / P[i, i]
        change = (wanted / length if length > 0.0 else 0.0) * r - B[:, i]
        B[:, i] += change
        U[:] -= np.outer(change, P[i])
        return (P[i, i] + D[i]) * float(change @ change)

    for _ in range(n_sweeps):
        fall = sum(step(i, -1.0) for i in forced) + sum(step(i, s) for i in free)
        active = [i for i in free if np.any(B[:, i])]
        for _ in range(3):
            within = sum(step(i, -1.0) for i in forced) + sum(step(i, s) for i in active)
            if within <= 0.1 * fall:
                break
        z = [min(1.0, np.sqrt(D[i]) * np.linalg.norm(B[:, i]) / s) for i in active]
        s *= min(max(sum(z) / t, 0.5), 2.0)
    return B, U, s


def objective(P, D, c, forced, free, B, s) -> float:
    """tr(BPB') - 2 tr(cB') and what rows cost at the price s."""
    lengths = np.sqrt(D) * np.linalg.norm(B, axis=0)
    cost = np.square(lengths[forced]).sum()
    within = lengths[free] <= s
    cost += np.where(within, 2 * s * lengths[free], lengths[free] ** 2 + s * s).sum()
    return float(np.vdot(B @ P, B) - 2 * np.vdot(c, B) + cost)
