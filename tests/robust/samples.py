"""Rows around a subspace, with outliers of two kinds."""

from __future__ import annotations

import numpy as np

__all__ = ["contaminated", "largest_angle"]


def contaminated(
    n: int, p: int, r: int, k: int, rng: np.random.Generator, *, kind="scattered", noise=0.1
) -> tuple[np.ndarray, np.ndarray]:
    """n rows, the first k of them outliers, and the true axes of the others."""
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0].T
    X = (rng.standard_normal((n, r)) * np.linspace(3.0, 1.5, r)) @ axes[:r]
    X += noise * rng.standard_normal((n, p))
    if kind == "clustered":
        X[:k] = 8.0 * axes[r] + 2.0 * axes[0] + noise * rng.standard_normal((k, p))
    else:
        directions = rng.standard_normal((k, p))
        X[:k] = 10.0 * directions / np.linalg.norm(directions, axis=1)[:, None]
    return X, axes[:r]


def largest_angle(axes: np.ndarray, others: np.ndarray) -> float:
    """Largest principal angle between two spans, in degrees; axes are orthonormal rows."""
    sines = np.linalg.svd(axes - (axes @ others.T) @ others, compute_uv=False)
    return float(np.degrees(np.arcsin(min(sines[0], 1.0))))
