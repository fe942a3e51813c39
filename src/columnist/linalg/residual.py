"""Residuals after projecting on chosen columns. No input validation."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.linalg.passes import column_blocks

__all__ = [
    "DEPENDENT",
    "blocked_energy",
    "chosen_basis",
    "residual_singular_values",
]

# A residual shorter than this share of its column counts as dependent; the
# compiled kernels use the same figure.
DEPENDENT = 1e-9
# What two projections leave of a target they should leave nothing of, for every row or column.
_ROUNDING = 4 * np.finfo(np.float64).eps


def chosen_basis(columns: np.ndarray, chosen) -> np.ndarray:
    """Orthonormal basis (r x j) of ``columns[chosen]``, dependent columns left out.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    chosen : sequence of int
        Which of them.
    """
    vectors = columns[np.asarray(chosen, dtype=np.intp)]
    if vectors.size == 0:
        return np.zeros((columns.shape[1], 0))
    lengths = np.linalg.norm(vectors, axis=1)
    Q, R = np.linalg.qr(vectors.T)
    heights = np.abs(np.diag(R))
    if len(heights) == len(vectors) and (heights > DEPENDENT * lengths).all():
        return Q
    return _independent_basis(vectors, lengths)


def _independent_basis(vectors: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The same one by one: behind a dependent column the heights of a QR may be borrowed."""
    Q = np.zeros((vectors.shape[1], 0))
    for vector, length in zip(vectors, lengths, strict=True):
        residual = vector - Q @ (Q.T @ vector)
        residual -= Q @ (Q.T @ residual)
        height = np.linalg.norm(residual)
        if height > DEPENDENT * length:
            Q = np.column_stack([Q, residual / height])
    return Q


def residual_singular_values(columns: np.ndarray, target: np.ndarray, chosen) -> np.ndarray:
    """Singular values of ``target`` after projecting out ``columns[chosen]``.

    Values at the level of rounding are returned as exact zeros: a residual that should
    vanish would otherwise count, and under Schatten with p < 1 count visibly.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    target : ndarray of shape (r, q)
        What is approximated.
    chosen : sequence of int
        The selection.
    """
    residual, j = _residual(columns, target, chosen)
    values = scipy.linalg.svdvals(residual, check_finite=False)
    # The projection leaves at most r - j directions; the rest is rounding.
    values = values[: max(residual.shape[0] - j, 0)]
    return np.where(values > _floor(target), values, 0.0)


def blocked_energy(target: np.ndarray, Q: np.ndarray, *, center: bool = False) -> float:
    """Sum of squares of ``target`` (m x q) after projecting out the orthonormal Q (m x j).

    Works on a block of columns at a time, in float64; with ``center`` their means go first.
    """
    energy = total = 0.0
    for columns in column_blocks(target.shape[1], len(Q)):
        part = target[:, columns].astype(np.float64)
        total += float(np.vdot(part, part))
        part -= part.mean(axis=0) if center else 0.0
        for _ in range(2 if Q.shape[1] else 0):  # the second pass restores orthogonality
            part -= Q @ (Q.T @ part)
        energy += float(np.vdot(part, part))
    floor = _ROUNDING * max(target.shape)
    return energy if energy > floor**2 * total else 0.0


def _residual(columns, target, chosen) -> tuple[np.ndarray, int]:
    """Residual and the number of independent columns projected out."""
    Q = chosen_basis(columns, chosen)
    residual = target - Q @ (Q.T @ target)
    residual -= Q @ (Q.T @ residual)  # the second pass restores orthogonality
    return residual, Q.shape[1]


def _floor(target: np.ndarray) -> float:
    """Singular values of a residual below this are rounding."""
    return _ROUNDING * max(target.shape) * float(np.linalg.norm(target))
