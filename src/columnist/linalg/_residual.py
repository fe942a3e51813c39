"""Residuals after projecting on chosen columns. No input validation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgeqrf, dorgqr

from columnist.linalg import _rounding as rounding
from columnist.linalg._column_parts import summed
from columnist.linalg._passes import column_blocks
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT

__all__ = [
    "DEPENDENT",
    "SHORT",
    "Basis",
    "blocked_energy",
    "chosen_basis",
    "complete_basis",
    "graded_basis",
    "of_like_length",
    "singular_values_outside",
]

# Columns shorter than this share of the longest one would vanish when they are squared.
SHORT = 1e-70
# Work space of a QR per column: blocks of LAPACK's usual size.
_WORK = 64


class Basis(NamedTuple):
    """An orthonormal basis of chosen columns, and what rounding has done to it.

    ``growth`` is the factor of :func:`columnist.linalg._rounding.growth`; ``doubtful`` says that a
    column was left out whose height may be more than rounding.
    """

    Q: np.ndarray
    growth: float
    doubtful: bool


def graded_basis(
    columns: np.ndarray,
    chosen,
    lengths: np.ndarray,
    power: int = 1,
    *,
    ordered: bool = False,
    dependent: float = rounding.DEPENDENT,
) -> Basis:
    """Basis of ``columns[chosen]``, leaving out only what is rounding. No input validation.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    chosen : sequence of int
        Which of them.
    lengths : ndarray of shape (n,)
        Lengths of the columns.
    power : int, default=1
        2 if the columns come from their Gram matrix.
    ordered : bool, default=False
        Whether the first vectors of the basis have to span the first columns. Otherwise near copies
        come last, where they cost the others nothing.
    dependent : float
        Share of its length up to which a column counts as one that depends on others.
    """
    chosen = np.asarray(chosen, dtype=np.intp)
    vectors, lengths = columns[chosen], lengths[chosen]
    r = columns.shape[1]
    if vectors.size == 0:
        return Basis(np.zeros((r, 0)), 1.0, False)
    if len(vectors) <= r:
        # LAPACK's own routines: searches ask for thousands of small bases.
        factor, reflections, _, _ = dgeqrf(vectors.T, lwork=_WORK * len(vectors))
        lowest = float(_shares(np.abs(factor.diagonal()), lengths, power).min())
        # Behind a low column the heights of a QR may be borrowed: rounding grows by what it left.
        if lowest > dependent and lowest**2 > rounding.NOISE * r:
            Q = dorgqr(factor, reflections, lwork=_WORK * len(vectors), overwrite_a=True)[0]
            return Basis(Q, 1.0 / lowest, False)
    return _basis_in_turn(vectors, lengths, power, ordered, dependent)


def complete_basis(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal basis (r x r) of everything, beginning with these vectors (r x j), and how far
    each of the first r is from those before it."""
    r, j = vectors.shape
    if j == 0:
        return np.eye(r), np.zeros(0)
    factor, reflections, _, _ = dgeqrf(vectors, lwork=_WORK * j)
    whole = np.zeros((r, r), order="F")
    whole[:, :j] = factor[:, :r]
    Q = dorgqr(whole, reflections, lwork=_WORK * r, overwrite_a=True)[0]
    return Q, np.abs(factor.diagonal())


def _basis_in_turn(vectors, lengths, power: int, ordered: bool, dependent: float) -> Basis:
    r = vectors.shape[1]
    Q, grown, doubtful = np.zeros((r, 0), order="F"), 1.0, False
    rests, left = vectors.copy(), np.arange(len(vectors))
    while len(left):
        at = 0
        if not ordered:
            heights = np.linalg.norm(rests[left], axis=1)
            at = int(np.argmax(_shares(heights, lengths[left], power)))
        one, left = left[at], np.delete(left, at)
        rest = rests[one] - Q @ (Q.T @ rests[one])  # a second time: that restores orthogonality
        height = float(np.linalg.norm(rest))
        share = float(_shares(np.array([height]), lengths[[one]], power)[0])
        if share <= max(dependent, rounding.NOISE * r * grown):
            doubtful |= share > rounding.DOUBTFUL / rounding.DEPENDENT * dependent
            if ordered:
                continue
            break  # the others are no higher
        Q = np.column_stack([Q, rest / height])
        rests[left] -= np.outer(rests[left] @ Q[:, -1], Q[:, -1])
        grown = max(grown, 1.0 / share)
    return Basis(Q, grown, doubtful)


def _shares(heights: np.ndarray, lengths: np.ndarray, power: int) -> np.ndarray:
    """Heights as shares of lengths, squared where digits are lost twice."""
    return np.divide(heights, lengths, out=np.zeros_like(heights), where=lengths > 0.0) ** power


def of_like_length(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by powers of two where some are too short to be squared, or to be so beside the
    others."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    shortest = largest.min(initial=np.inf, where=largest > 0.0)
    if not shortest < SHORT * largest.max(initial=1.0):
        return vectors
    units = np.exp2(np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
    return vectors / units[:, None]


def chosen_basis(columns: np.ndarray, chosen) -> np.ndarray:
    """Orthonormal basis (r x j) of ``columns[chosen]``, dependent columns left out.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    chosen : sequence of int
        Which of them.
    """
    vectors = of_like_length(columns[np.asarray(chosen, dtype=np.intp)])
    lengths = np.linalg.norm(vectors, axis=1)
    everyone = range(len(vectors))
    return graded_basis(
        vectors, everyone, lengths, ordered=True, dependent=rounding.NEARLY_DEPENDENT
    ).Q


def singular_values_outside(Q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Singular values of ``target`` (r x q) outside an orthonormal Q (r x j).

    Values at the level of rounding are returned as exact zeros: a residual that should
    vanish would otherwise count, and under Schatten with p < 1 count visibly.
    """
    residual = target - Q @ (Q.T @ target)
    residual -= Q @ (Q.T @ residual)  # the second pass restores orthogonality
    values = scipy.linalg.svdvals(residual, check_finite=False)
    # The projection leaves at most r - j directions; the rest is rounding.
    values = values[: max(residual.shape[0] - Q.shape[1], 0)]
    floor = rounding.negligible(target.shape, float(np.linalg.norm(target)))
    return np.where(values > floor, values, 0.0)


@summed
def blocked_energy(target, Q: np.ndarray, *, center: bool = False) -> float:
    """Sum of squares of ``target`` (m x q) after projecting out the orthonormal Q (m x j).

    Works on a block of columns at a time, in float64; with ``center`` their means go first.
    """
    energy = 0.0
    for columns in column_blocks(target.shape[1], len(Q)):
        part = target[:, columns].astype(np.float64)
        lengths = np.linalg.norm(part, axis=0)
        part -= part.mean(axis=0) if center else 0.0
        for _ in range(2 if Q.shape[1] else 0):  # the second pass restores orthogonality
            part -= Q @ (Q.T @ part)
        left = np.square(part).sum(axis=0)
        # Each on its own: what is rounding of a long column may be more than a short one.
        energy += float(left[left > (rounding.negligible(target.shape, 1.0) * lengths) ** 2].sum())
    return energy
