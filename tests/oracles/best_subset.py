"""Best subsets for a target by enumeration: squared errors with a ridge, and criteria of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np

__all__ = ["best_of_size", "information", "subset_errors"]


# What is left of a unit column below this is the rounding of its entries.
_DEPENDENT = 1e-11


def orthonormal_basis(A: np.ndarray) -> np.ndarray:
    """Orthonormal basis of columns, each of which is first scaled to norm one."""
    lengths = np.linalg.norm(A, axis=0)
    U, s, _ = np.linalg.svd(A[:, lengths > 0] / lengths[lengths > 0], full_matrices=False)
    return U[:, s > _DEPENDENT]


def subset_error(X: np.ndarray, Y: np.ndarray, subset: Sequence[int], alpha: float) -> float:
    """Least ``||Y - X_S B||^2 + alpha ||B||^2``; X and Y are centred already if means are free."""
    k, Y = len(subset), Y.reshape(len(X), -1)
    A = np.vstack([X[:, list(subset)], np.sqrt(alpha) * np.eye(k)])
    target = np.vstack([Y, np.zeros((k, Y.shape[1]))])
    Q = orthonormal_basis(A)
    rest = target - Q @ (Q.T @ target)
    return float(np.square(rest - Q @ (Q.T @ rest)).sum())


def subset_errors(
    X: np.ndarray,
    Y: np.ndarray,
    k: int,
    alpha: float = 0.0,
    *,
    center: bool = True,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
) -> list[tuple[float, tuple[int, ...]]]:
    """(error, columns) of every set of k columns, ascending."""
    Y = np.asarray(Y, dtype=float).reshape(len(X), -1)
    if center:
        X, Y = centred(X), centred(Y)
    forced = set(include)
    free = [j for j in range(X.shape[1]) if j not in forced | set(exclude)]
    sets = (tuple(sorted(forced.union(more))) for more in combinations(free, k - len(forced)))
    return sorted((subset_error(X, Y, subset, alpha), subset) for subset in sets)


def centred(A: np.ndarray) -> np.ndarray:
    """Without means; constants are zero."""
    rest = A - A.mean(axis=0)
    return np.where(np.abs(rest).max(axis=0) > 1e-13 * np.abs(A).max(axis=0), rest, 0.0)


def best_of_size(X, Y, k: int, alpha: float = 0.0, **constraints) -> float:
    """The least of these errors."""
    return subset_errors(X, Y, k, alpha, **constraints)[0][0]


def information(rule: str, error: float, k: int, n: int, p: int, q: int = 1) -> float:
    """An information criterion of k of p columns for q targets of n samples."""
    penalty = 2 * k if rule == "aic" else k * np.log(n)
    if rule == "ebic":
        penalty += 2 * np.log(comb(p, k))
    return n * q * np.log(error / (n * q)) + q * penalty
