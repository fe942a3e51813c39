r"""The allowances for rounding errors.

A bound is *proven* only after the possible rounding error is subtracted. With
:math:`\epsilon` the spacing of doubles at 1:

* an eigenvalue, or a sum of eigenvalues, of a matrix of order d is known up to
  :func:`allowance`, :math:`8 d \epsilon` times the largest one, or their sum;
* a column of length L of which projections leave the height h has a direction known up to
  L / h units of rounding: the allowance *grows* by that factor (:func:`growth`);
* a height of at most :data:`DEPENDENT` of its column is the rounding of the data themselves, and
  counts as zero;
* singular values below :func:`negligible` are what two projections leave of a target they
  should leave nothing of.

An error that is known up to :data:`TRUSTED` of itself needs no better arithmetic. Two errors that
differ by less than :data:`AGREEMENT` of themselves are equally good; "optimal" means that no
choice is better by more.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
# Rounding of one operation: half of that.
UNIT = 0.5 * EPS
AGREEMENT = 1e-9
# A proof of which choice is best may leave its error open by so much.
VISIBLE = 1e-6
TRUSTED = 1e-10
# A column of which its mean leaves no more than this share is constant: the rest is the rounding
# of its entries.
CONSTANT = 8 * EPS
# The compiled kernels have the same figures in _rounding.pxd.
DEPENDENT = 1e-13
# A height is known up to its own rounding: above this share of a column it may be more than
# DEPENDENT.
DOUBTFUL = 0.5 * DEPENDENT
# Units of rounding, for every coordinate, that the height of a dependent column may show.
NOISE = 16 * EPS
# Heights in a QR of unit columns above this leave no doubt that they are independent; reciprocal
# conditions of inner products above this lose no digit that counts.
INDEPENDENT = 1e-6
# A residual shorter than this share of its column counts as dependent where no proof is at stake.
NEARLY_DEPENDENT = 1e-9
# Squared lengths, beside 1, that are rounding; and what rounding does to sums of such squares,
# relative to them, before it grows.
PARALLEL, SUMS = 1e-14, 64 * EPS
# Distances below this share of the coordinates they come from are rounding.
DISTANCE = 16 * EPS
# A result that is a handful of roundings off a bound is moved to its safe side by this share.
OUTWARD = 1e-12


def allowance(order: int, size: float) -> float:
    """Rounding of eigenvalues of a matrix of this order, ``size`` being the largest or their sum.

    Examples
    --------
    >>> from columnist.linalg._rounding import EPS, allowance
    >>> allowance(2, 3.0) == 48.0 * EPS
    True
    """
    return 8.0 * max(order, 1) * EPS * float(size)


def negligible(shape: tuple[int, int], length: float) -> float:
    """Singular values of a residual below this are rounding; ``length`` is the target's."""
    return 4.0 * EPS * max(shape) * float(length)


def rank_floor(shape: tuple[int, ...], largest: float) -> float:
    """Singular values, or eigenvalues, of a matrix that are no larger are rounding."""
    return max(shape) * EPS * float(largest)


def growth(heights: np.ndarray, lengths: np.ndarray, power: int = 1) -> np.ndarray:
    """Factor by which projections to these heights make the rounding of columns grow.

    ``power`` is 2 for columns that come from their Gram matrix. A height of zero, which is a
    dependent column, adds nothing and so costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._rounding import growth
    >>> growth(np.array([0.5, 0.0]), np.array([1.0, 1.0]))
    array([2., 1.])
    """
    return np.where(heights > 0.0, lengths / np.where(heights > 0.0, heights, 1.0), 1.0) ** power


def agrees(bound: float, error: float, least: float = 0.0) -> bool:
    """Whether a bound reaches an error, up to what counts as equally good.

    ``least`` is the smallest value that an error can have: what counts is how far it is above that.

    Examples
    --------
    >>> from columnist.linalg._rounding import agrees
    >>> agrees(1.0 - 1e-12, 1.0), agrees(1.0 - 1e-6, 1.0)
    (True, False)
    """
    return bound >= error - AGREEMENT * above(error, least)


def above(error: float, least: float) -> float:
    """How far an error is above the smallest one there can be; its size if that is not known."""
    return error - least if np.isfinite(least) else abs(error)


def is_trusted(low: float, high: float, least: float = 0.0) -> bool:
    """Whether an interval is so short that its error needs no better arithmetic."""
    return high - low <= TRUSTED * above(low, least)
