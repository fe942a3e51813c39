"""Residuals after projecting on chosen columns. No input validation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgeqrf, dorgqr, dormqr, dtrtri, dtrtrs

from columnist.linalg import _accurate as accurate
from columnist.linalg import _rounding as rounding
from columnist.linalg._column_parts import summed
from columnist.linalg._passes import column_blocks
from columnist.linalg._prox import row_norms

# Columns shorter than this share of the longest one would vanish when they are squared.
SHORT = 1e-70
# Work space of a QR per column: blocks of LAPACK's usual size.
_WORK = 64
# Rounding of the columns' directions from which a QR no longer shows how far apart they are.
_TURNED = 1e-3
# Roundings, in units of the allowance, of entries and of sums of their squares.
_SUMS = 8


class Basis(NamedTuple):
    """An orthonormal basis of chosen columns; the factor of
    :func:`columnist.linalg._rounding.growth`; and whether a column was left out whose height may be
    more than rounding."""

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
    """Basis of ``columns[chosen]`` (columns in rows), leaving out only what is rounding: shares of
    at most ``dependent`` of their ``lengths``. ``power`` is 2 if the columns come from their Gram
    matrix. With ``ordered``, the first vectors span the first columns; otherwise near copies come
    last, where they cost the others nothing."""
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
    """Rows divided by powers of two where some are too short to be squared beside the others."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    shortest = largest.min(initial=np.inf, where=largest > 0.0)
    return near_one(vectors) if shortest < SHORT * largest.max(initial=1.0) else vectors


def near_one(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by powers of two, which rounds nothing, so that entries are near 1."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    units = np.exp2(np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
    return vectors / units[:, None]


def chosen_basis(columns: np.ndarray, chosen) -> np.ndarray:
    """Orthonormal basis (r x j) of ``columns[chosen]``, dependent columns left out."""
    vectors = of_like_length(columns[np.asarray(chosen, dtype=np.intp)])
    lengths = np.linalg.norm(vectors, axis=1)
    dependent = rounding.NEARLY_DEPENDENT
    return graded_basis(vectors, range(len(vectors)), lengths, ordered=True, dependent=dependent).Q


def singular_values_outside(Q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Singular values of ``target`` (r x q) outside an orthonormal Q (r x j); those at the level of
    rounding are exact zeros: under Schatten with p < 1 they would show."""
    residual = target - Q @ (Q.T @ target)
    residual -= Q @ (Q.T @ residual)  # the second pass restores orthogonality
    values = scipy.linalg.svdvals(residual, check_finite=False)
    # The projection leaves at most r - j directions; the rest is rounding.
    values = values[: max(residual.shape[0] - Q.shape[1], 0)]
    floor = rounding.negligible(target.shape, float(np.linalg.norm(target)))
    return np.where(values > floor, values, 0.0)


@summed
def blocked_energy(target, Q: np.ndarray, *, center: bool = False) -> float:
    """Sum of squares of ``target`` (m x q) after projecting out the orthonormal Q (m x j), a block
    of columns at a time, in float64; with ``center`` their means go first."""
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


# -- residuals of least squares, with bounds on their distance from the true ones ------------


class Verified(NamedTuple):
    r"""Residuals, one per row, and two lengths for each.

    Let r be what projecting on some columns A leaves of a target t. For *any* coefficients b,
    :math:`\hat r = t - Ab` is r and something in the span of A, at right angles to it:

    .. math:: \|r\|^2 = \|\hat r\|^2 - \|P \hat r\|^2.

    So b may come from double precision as long as :math:`t - Ab` is computed for this very b in
    better arithmetic: what b is off by counts squared. So do the moments of several targets.

    ``inside`` is the most of a residual that lies in the span of the columns, ``off`` the most by
    which it differs from the target less the columns times the coefficients, beside one rounding of
    every entry.
    """

    rest: np.ndarray
    inside: np.ndarray
    off: np.ndarray

    def energy(self) -> tuple[float, float]:
        """Two numbers between which the sum of squares of the true residuals lies."""
        found = float(np.square(self.rest).sum(axis=1).sum())  # in pairs: rounds a few times
        off = float(np.linalg.norm(self.off))
        doubt = rounding.allowance(_SUMS, found) + (2.0 * found**0.5 + off) * off
        return max(found - float(np.square(self.inside).sum()) - doubt, 0.0), found + doubt

    def singular_values(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest singular values that the true residuals can have."""
        found = scipy.linalg.svdvals(self.rest, check_finite=False)
        doubt = rounding.allowance(_SUMS + len(found), found[0]) + float(np.linalg.norm(self.off))
        inside = float(np.linalg.norm(self.inside))
        low = np.sqrt(np.maximum(found - inside, 0.0) * (found + inside))
        return np.maximum(low - doubt, 0.0), found + doubt


def verified_residual(columns: np.ndarray, targets: np.ndarray) -> Verified | None:
    """What projecting on columns (k x m, k < m) leaves of targets (p x m), entries near 1; None
    where double precision does not tell."""
    k, m = columns.shape
    lengths = row_norms(columns)
    if not k or not lengths.all():
        return None
    units = columns / lengths[:, None]
    factor, reflections, _, _ = dgeqrf(units.T, lwork=_WORK * k)
    inverse, singular = dtrtri(factor[:k])
    # Any height of a column above others is at least the inverse of this.
    spread = float(np.linalg.norm(np.triu(inverse)))
    turned = rounding.allowance(m * (k + 1), spread)
    if singular or not turned < _TURNED:
        return None
    caught = dormqr("L", "T", factor, reflections, targets.T, lwork=_WORK * len(targets))[0][:k]
    shares = dtrtrs(factor[:k], caught)[0]
    coefficients = np.ascontiguousarray((shares / lengths[:, None]).T)
    rest = accurate.combined(columns, targets, coefficients)
    inside = row_norms(dtrtrs(factor[:k], units @ rest.T, trans=1)[0].T)
    sizes = row_norms(targets) + np.abs(coefficients) @ lengths
    # What is in the span is seen through a factor that rounding turned, too.
    inside = 1.01 * inside + 2.0 * turned * row_norms(rest)
    return Verified(rest, inside, (4 * k * rounding.EPS) ** 2 * sizes)
