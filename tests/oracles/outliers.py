"""Outlier sets by enumeration, in plain NumPy.

Removing k rows of X leaves a matrix Z; with r components its error is
``theta(sigma_{r+1}(Z - m), sigma_{r+2}(Z - m), ...)``, m the mean of the rows left ("optimal",
exhaustive centred search), the mean of all rows ("mean") or zero ("none", exhaustive
uncentred search).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from columnist.criteria import Criterion, Frobenius
from columnist.robust._subspace import about_mean, rounding_size

__all__ = ["best_rows", "row_errors", "trimmed_error"]


def trimmed_error(X, kept, r: int, centred: bool, weights: np.ndarray | None = None) -> float:
    """Sum of squared distances of kept rows (mask or indices) from their best subspace.

    Singular values of rounding size are zero. Weights: see `columnist.robust._subspace.about_mean`.
    """
    Z, mean = X[kept], np.zeros(X.shape[1])
    if Z.size == 0:
        return 0.0
    if centred:
        Z, mean = about_mean(Z, None if weights is None else weights[kept])
    sigma = np.linalg.svd(Z, compute_uv=False)
    sigma[sigma <= rounding_size(sigma, Z.shape, mean)] = 0.0
    return float(np.sum(sigma[r:] ** 2))


def _error(
    X: np.ndarray, removed: tuple[int, ...], r: int, criterion: Criterion, centering: str
) -> float:
    Z = np.delete(X, removed, axis=0)
    if centering == "optimal":
        Z = Z - Z.mean(axis=0)
    elif centering == "mean":
        Z = Z - X.mean(axis=0)
    elif centering != "none":
        raise ValueError(f"No such centering: {centering!r}.")
    return float(criterion.value(np.linalg.svd(Z, compute_uv=False)[r:]))


def row_errors(
    X: np.ndarray,
    r: int,
    k: int,
    *,
    criterion: Criterion | None = None,
    centering: str = "optimal",
) -> dict[tuple[int, ...], float]:
    """The error of every set of k removed rows, by the set (ascending indices)."""
    X = np.asarray(X, dtype=np.float64)
    criterion = criterion or Frobenius()
    return {
        removed: _error(X, removed, r, criterion, centering)
        for removed in combinations(range(len(X)), k)
    }


def best_rows(
    X: np.ndarray,
    r: int,
    k: int,
    *,
    criterion: Criterion | None = None,
    centering: str = "optimal",
) -> tuple[float, tuple[int, ...]]:
    """The least error and its removed rows; ties go to the lexicographically smaller set."""
    errors = row_errors(X, r, k, criterion=criterion, centering=centering)
    return min((error, removed) for removed, error in errors.items())
