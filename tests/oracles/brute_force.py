"""Errors and best subsets by enumeration, in plain NumPy.

For columns S the residual of the target T (X itself, or Y) is
``R = T - Q Q^T T``, with Q an orthonormal basis of the columns; with r2 free
components the error is ``theta(sigma_{r2+1}(R), sigma_{r2+2}(R), ...)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

__all__ = ["best_subsets", "residual_singular_values", "subset_error"]


class Theta(Protocol):
    """Any criterion: one number from the singular values."""

    def value(self, singular_values: np.ndarray) -> float: ...


def orthonormal_basis(A: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the range of A; each column is first scaled to norm one."""
    peaks = np.abs(A).max(axis=0, initial=0.0)
    A = A[:, peaks > 0] / peaks[peaks > 0]
    A = A / np.linalg.norm(A, axis=0)
    if not A.shape[1]:
        return np.zeros((A.shape[0], 0))
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, s > np.finfo(float).eps * max(A.shape) * s[0]]


def numerical_rank(T: np.ndarray) -> tuple[int, float]:
    """Number of singular values above the threshold, and the threshold eps max(shape) sigma_1."""
    s = np.linalg.svd(T, compute_uv=False)
    threshold = np.finfo(float).eps * max(T.shape) * (s[0] if s.size else 0.0)
    return int((s > threshold).sum()), float(threshold)


def residual_singular_values(
    X: np.ndarray, columns: Sequence[int], Y: np.ndarray | None = None
) -> np.ndarray:
    """Singular values of ``T - Q Q^T T``, descending, numerical zeros set to zero.

    A value counts as zero below eps max(shape) sigma_1(T), and, when T is X,
    beyond the first rank(X) - rank(X_S), for no more can be nonzero.
    """
    X = np.asarray(X, dtype=np.float64)
    T = X if Y is None else np.asarray(Y, dtype=np.float64).reshape(X.shape[0], -1)
    Q = orthonormal_basis(X[:, list(columns)])
    R = T - Q @ (Q.T @ T)
    s = np.linalg.svd(R - Q @ (Q.T @ R), compute_uv=False)
    rank, threshold = numerical_rank(T)
    s[s <= threshold] = 0.0
    if Y is None:
        s[max(rank - Q.shape[1], 0) :] = 0.0
    return s


def subset_error(
    X: np.ndarray,
    columns: Sequence[int],
    criterion: Theta,
    n_components: int = 0,
    Y: np.ndarray | None = None,
) -> float:
    """``theta`` of the residual's singular values without the ``n_components`` largest."""
    return float(criterion.value(residual_singular_values(X, columns, Y)[n_components:]))


def best_subsets(
    X: np.ndarray,
    k: int,
    criterion: Theta,
    n_components: int = 0,
    Y: np.ndarray | None = None,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    n_solutions: int = 1,
) -> list[tuple[float, tuple[int, ...]]]:
    """The ``n_solutions`` best (error, columns), ascending, over all k-subsets.

    Every subset contains ``include`` and avoids ``exclude``; ties go to the
    lexicographically smaller subset.
    """
    forced = set(include)
    free = [j for j in range(np.shape(X)[1]) if j not in forced | set(exclude)]
    subsets = (tuple(sorted(forced.union(c))) for c in combinations(free, k - len(forced)))
    scored = [(subset_error(X, S, criterion, n_components, Y), S) for S in subsets]
    return sorted(scored)[:n_solutions]
