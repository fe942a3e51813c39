r"""Residuals of least squares, and how far from the true ones they can be.

Let r be what projecting on some columns A leaves of a target t. For *any* coefficients b,
:math:`\hat r = t - Ab` is r and something in the span of A, at right angles to it:

.. math:: \|r\|^2 = \|\hat r\|^2 - \|P \hat r\|^2.

So the coefficients may come from double precision as long as :math:`t - Ab` is computed for these
very coefficients in better arithmetic: what they are off by counts squared. The same holds for
the moments of several targets. No input validation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svdvals
from scipy.linalg.lapack import dgeqrf, dormqr, dtrtri, dtrtrs

from columnist.linalg import _accurate as accurate
from columnist.linalg._rounding import EPS, allowance

__all__ = ["Verified", "verified_residual"]

# Work space of LAPACK per column: blocks of its usual size.
_WORK = 64
# Rounding of the columns' directions from which a QR no longer tells how far apart they are.
_TURNED = 1e-3
# Roundings, in units of the allowance, of entries and of sums of their squares.
_SUMS = 8


class Verified(NamedTuple):
    """Residuals, one per row, and two lengths for each.

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
        doubt = allowance(_SUMS, found) + (2.0 * found**0.5 + off) * off
        return max(found - float(np.square(self.inside).sum()) - doubt, 0.0), found + doubt

    def singular_values(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest singular values that the true residuals can have."""
        found = svdvals(self.rest, check_finite=False)
        doubt = allowance(_SUMS + len(found), found[0]) + float(np.linalg.norm(self.off))
        inside = float(np.linalg.norm(self.inside))
        low = np.sqrt(np.maximum(found - inside, 0.0) * (found + inside))
        return np.maximum(low - doubt, 0.0), found + doubt


def verified_residual(columns: np.ndarray, targets: np.ndarray) -> Verified | None:
    """What projecting on columns leaves of targets; None where double precision does not tell.

    Parameters
    ----------
    columns, targets : ndarray of shape (k, m) and (p, m)
        Vectors to project on, fewer than their entries, and to project; entries near 1.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._verified import verified_residual
    >>> found = verified_residual(np.array([[1.0, 1.0, 0.0]]), np.array([[2.0, 0.0, 3.0]]))
    >>> found.rest
    array([[ 1., -1.,  3.]])
    """
    k, m = columns.shape
    lengths = _lengths(columns)
    if not k or not lengths.all():
        return None
    units = columns / lengths[:, None]
    factor, reflections, _, _ = dgeqrf(units.T, lwork=_WORK * k)
    inverse, singular = dtrtri(factor[:k])
    # Any height of a column above others is at least the inverse of this.
    spread = float(np.linalg.norm(np.triu(inverse)))
    turned = allowance(m * (k + 1), spread)
    if singular or not turned < _TURNED:
        return None
    caught = dormqr("L", "T", factor, reflections, targets.T, lwork=_WORK * len(targets))[0][:k]
    shares = dtrtrs(factor[:k], caught)[0]
    coefficients = np.ascontiguousarray((shares / lengths[:, None]).T)
    rest = accurate.combined(columns, targets, coefficients)
    inside = _lengths(dtrtrs(factor[:k], units @ rest.T, trans=1)[0].T)
    sizes = _lengths(targets) + np.abs(coefficients) @ lengths
    # What is in the span is seen through a factor that rounding turned, too.
    inside = 1.01 * inside + 2.0 * turned * _lengths(rest)
    return Verified(rest, inside, (4 * k * EPS) ** 2 * sizes)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
