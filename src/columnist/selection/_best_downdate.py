r"""The rank-one downdate with the smallest error, most of them told from bounds.

Among spectra of :math:`\Lambda - zz^T`, one per row z of Z, find the one with the smallest value of
a criterion. The eigenvalues :math:`\mu` interlace those of :math:`\Lambda`,

.. math:: \lambda_{i+1} \le \mu_i \le \lambda_i, \qquad \sum_i \mu_i = \sum_i \lambda_i - \|z\|^2,

so the first s of them bound the error from below:

* any criterion: put the others at :math:`\lambda_{i+1}`;
* Schatten, :math:`p \le 2`, concave in :math:`\mu`: from there, pour what remains of the trace into
  the largest first, each up to :math:`\lambda_i`;
* Schatten, :math:`p \ge 2`, convex: level them, that is, pour into the smallest first.

Rows are followed through more and more eigenvalues, and left as soon as their bound exceeds the
best error found. No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from columnist.criteria import Criterion, leading_values, schatten_power
from columnist.linalg._secular import downdated_eigenvalues
from columnist.linalg._ties import TIE

__all__ = ["Downdate", "best_downdate"]

_EPS = np.finfo(np.float64).eps
# Rows solved completely at first, to have an error to compare with.
_FIRST = 4


@dataclass(frozen=True)
class Downdate:
    """The best row, its error, and how many eigenvalues were computed to find it."""

    row: int
    error: float
    n_roots: int


def best_downdate(
    lam: np.ndarray, Z: np.ndarray, inside: np.ndarray, criterion: Criterion, scale: float = 1.0
) -> Downdate:
    """Row of Z whose downdate has the smallest error, the first one among near ties.

    Parameters
    ----------
    lam : ndarray of shape (d,)
        Positive eigenvalues, descending.
    Z : ndarray of shape (n, d)
        One downdate per row.
    inside : ndarray of bool of shape (n,)
        Rows whose downdate removes a whole dimension: their last eigenvalue is zero by
        structure. It must not be left to rounding, which p < 1 would magnify.
    criterion : Criterion
        Error of the singular values, the roots of the eigenvalues.
    scale : float, default=1.0
        Factor of the singular values.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.criteria import Nuclear
    >>> from columnist.selection._best_downdate import best_downdate
    >>> lam = np.array([4.0, 1.0])
    >>> best_downdate(lam, np.diag(np.sqrt(lam)), np.array([True, True]), Nuclear()).row
    0
    """
    return _Race(lam, Z, inside, criterion, scale).run()


class _Race:
    """Rows that may still win, with what is known of their spectra."""

    def __init__(self, lam, Z, inside, criterion, scale):
        self.lam, self.Z, self.inside = lam, Z, inside
        self.criterion, self.scale = criterion, scale
        self.d = len(lam)
        leading = leading_values(criterion)
        self.counted = self.d if leading is None else min(leading, self.d)
        self.energy = np.einsum("ij,ij->i", Z, Z)
        self.power = schatten_power(criterion)
        # Without this allowance a bound at the level of rounding may drop the true winner.
        self.rounding = 10.0 * self.d * _EPS * float(lam[0])
        self.n_roots = 0

    def run(self) -> Downdate:
        order = np.argsort(-self.energy, kind="stable")
        errors = np.full(len(self.Z), np.inf)
        roots = np.empty((len(self.Z), 0))
        errors[order[:_FIRST]] = self.errors(order[:_FIRST], self.roots(order[:_FIRST], 0, self.d))
        alive = order[_FIRST:]
        alive = alive[self.bounds(alive, roots[alive]) <= self.limit(errors)]
        while len(alive):
            known = roots.shape[1]
            upto = min(known + 1 + known // 2, self.counted)
            more = np.zeros((len(self.Z), upto - known))
            more[alive] = self.roots(alive, known, upto)
            roots = np.hstack([roots, more])
            if upto == self.counted:
                errors[alive] = self.errors(alive, roots[alive])
                break
            bounds = self.bounds(alive, roots[alive])
            leader = alive[[np.argmin(bounds)]]
            rest = self.roots(leader, upto, self.counted)
            errors[leader] = self.errors(leader, np.hstack([roots[leader], rest]))
            keep = (bounds <= self.limit(errors)) & (alive != leader)
            alive = alive[keep]
        row = int(np.flatnonzero(errors <= self.limit(errors))[0])
        return Downdate(row, float(errors[row]), self.n_roots)

    def limit(self, errors: np.ndarray) -> float:
        best = errors.min()
        return best + TIE * abs(best)

    def roots(self, rows: np.ndarray, first: int, last: int) -> np.ndarray:
        """Eigenvalues of these rows, from the first to before the last."""
        last = min(last, self.counted)
        if len(rows) == 0 or first >= last:
            return np.zeros((len(rows), max(last - first, 0)))
        values = np.maximum(downdated_eigenvalues(self.lam, self.Z[rows], first, last), 0.0)
        self.n_roots += values.size
        if last == self.d:
            values[self.inside[rows], -1] = 0.0
        return values

    def errors(self, rows: np.ndarray, eigenvalues: np.ndarray) -> np.ndarray:
        floor = self.d * _EPS * float(self.lam[0])
        return self._values(np.where(eigenvalues > floor, eigenvalues, 0.0))

    def _values(self, eigenvalues: np.ndarray) -> np.ndarray:
        return self.criterion.values(self.scale * np.sqrt(eigenvalues))

    def bounds(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Lower bounds of the errors from the eigenvalues known so far."""
        s = known.shape[1]
        low = np.append(self.lam[s + 1 :], 0.0)[: self.d - s]
        rest = np.tile(low, (len(rows), 1))
        if self.power is not None:
            room = self.lam[s:] - low
            left = self.lam.sum() - self.energy[rows] - known.sum(axis=1) - low.sum()
            left = np.maximum(left - self.rounding, 0.0)
            rest += _pour(room, left) if self.power <= 2.0 else _level(low, room, left)
        eigenvalues = np.hstack([known, rest])
        eigenvalues = np.maximum(eigenvalues - self.rounding, 0.0)
        return self._values(eigenvalues[:, : self.counted])


def _pour(room: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Share out ``left`` from the first place on, each up to its room."""
    filled = np.cumsum(room)
    return np.clip(left[:, None] - (filled - room), 0.0, room)


def _level(low: np.ndarray, room: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Share out ``left`` so that the levels come as close to equal as the rooms allow.

    The intervals [low, low + room] meet end to end, so they fill from the lowest.
    """
    return _pour(room[::-1], left)[:, ::-1]
