r"""Greedy removal of rows that makes what is left as near to low rank as it can.

The measure is :math:`\sum_j \sigma_j^p`, for small p almost the rank. Let
:math:`U \Sigma V^T` be the kept rows, :math:`\lambda = \sigma^2` and u a row of U. Without that
row the eigenvalues :math:`\mu` are those of :math:`\Sigma(I - uu^T)\Sigma`. They are never
computed for a candidate: with :math:`s = p/2`

.. math:: x^s = \frac{s \sin \pi s}{\pi} \int_0^\infty t^{s-1} \ln(1 + x/t) \, dt
   \quad\text{gives}\quad \sum_j (\mu_j^s - \lambda_j^s) = \frac{s \sin \pi s}{\pi}
   \int_0^\infty t^{s-1} \ln\Bigl(1 - \sum_j \frac{u_j^2 \lambda_j}{\lambda_j + t}\Bigr) dt,

since the last logarithm is that of the ratio of determinants. In :math:`y = \ln t` the integrand is
analytic within :math:`\pi` of the real line, so the trapezoidal rule is exact to rounding with a
step of 0.6: one matrix product tells the measure without each row.

If the mean of the kept rows is free, all this holds for the centred rows with
:math:`\sqrt{n/(n-1)} u` in the place of u. No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from columnist.linalg._rounding import EPS
from columnist.linalg._ties import TIE

__all__ = ["Removal", "remove_rows"]

# Distance of the quadrature's nodes in ln t. Its error is exp(-2 pi^2 / step), 5e-15.
_STEP = 0.6
# How far the nodes reach beyond the spectrum, before closed forms take over.
_BELOW, _ABOVE = 33.0, 22.0
# Rows whose leverage comes this near to one have its complement computed without subtraction.
_NEAR_ONE = 1e-3
# Updates may magnify the rounding of U by this much before it is computed anew.
_GROWTH = 2.0
# A direction shorter than this many times the rounding of U is none.
_NOISE = 16.0
# So do they when no more than this share of the squares is left: rounding was that of the whole.
_LEFT = 0.25
# Rows times nodes at a time.
_BLOCK = 2**20


@dataclass(frozen=True)
class Removal:
    """What :func:`remove_rows` did.

    Attributes
    ----------
    order : ndarray of int of shape (count,)
        Rows as they were removed.
    sums : ndarray of shape (count + 1,)
        The measure before, and after every removal.
    """

    order: np.ndarray
    sums: np.ndarray


def remove_rows(X: np.ndarray, count: int, p: float, *, mean: np.ndarray | None = None) -> Removal:
    r"""Remove rows one by one, always the one without which :math:`\sum \sigma^p` is smallest.

    Parameters
    ----------
    X : ndarray of shape (n, q)
        Rows.
    count : int
        How many to remove; less than n.
    p : float
        Exponent, above 0 and below 2.
    mean : ndarray of shape (q,), optional
        What is subtracted; without it the mean of the rows that are kept at each step.

    Returns
    -------
    Removal

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust._removal import remove_rows
    >>> X = np.vstack([np.outer(np.arange(5.0), [3.0, 4.0]), [[1.0, 0.0]]])
    >>> found = remove_rows(X, 1, 0.1, mean=np.zeros(2))
    >>> found.order, found.sums.round(2)
    (array([5]), array([2.37, 1.39]))
    """
    kept = _Kept(X, mean)
    order, sums = np.empty(count, dtype=np.intp), np.empty(count + 1)
    sums[0] = np.sum(kept.sigma**p)
    for step in range(count):
        at, gap = kept.best(p)
        order[step] = kept.rows[at]
        kept.remove(at, gap)
        sums[step + 1] = np.sum(kept.sigma**p)
    return Removal(order, sums)


class _Kept:
    """The kept rows, centred: left singular vectors and singular values, without zeros."""

    def __init__(self, X: np.ndarray, mean: np.ndarray | None):
        self.free = mean is None
        self.rounding = max(X.shape) * EPS
        self.offset = 0.0 if mean is None else float(np.linalg.norm(mean))
        self.X = X if mean is None else X - mean
        if X.shape[1] > X.shape[0]:  # singular values ignore a rotation of the columns
            self.X = scipy.linalg.qr(self.X.T, mode="economic", check_finite=False)[1].T
        self.rows = np.arange(len(X))
        self.factor()

    def factor(self) -> None:
        """Decompose the rows as they are."""
        Z, offset = self.X[self.rows], self.offset
        if self.free:
            centre = Z.mean(axis=0)
            offset = float(np.linalg.norm(centre))
            U, sigma = _centred_svd(Z - centre)
        else:
            U, sigma, _ = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
        size = max(sigma.max(initial=0.0), np.sqrt(len(Z)) * offset)
        self.floor = self.rounding * size
        d = np.count_nonzero(sigma > self.floor)
        self.U, self.sigma = U[:, :d], sigma[:d]
        self.energy, self.growth = float(self.sigma @ self.sigma), 1.0

    @property
    def inflation(self) -> float:
        """Factor of the squared rows of U: removing a row moves a free mean."""
        n = len(self.rows)
        return n / max(n - 1, 1) if self.free else 1.0

    def best(self, p: float) -> tuple[int, float]:
        """Place of the row to remove, the first one among near ties, and its gap."""
        if len(self.sigma) == 0:
            return 0, 1.0
        changes = np.empty(len(self.rows))
        lam, gaps = (self.sigma / self.sigma[0]) ** 2, self.gaps()
        rule = _Rule(lam, p / 2, self._smallest(lam, gaps))
        size = max(1, _BLOCK // len(rule.nodes))
        for start in range(0, len(changes), size):
            block = slice(start, start + size)
            changes[block] = rule.changes(self.inflation * self.U[block] ** 2, gaps[block])
        limit = changes.min() + TIE * float(np.sum(lam ** (p / 2)))
        at = int(np.flatnonzero(changes <= limit)[0])
        return at, float(gaps[at])

    def gaps(self) -> np.ndarray:
        """One minus the leverages, zero where a row carries a direction alone."""
        constant = 1.0 / len(self.rows) if self.free else 0.0
        gaps = 1.0 - constant - np.einsum("ij,ij->i", self.U, self.U)
        near = np.flatnonzero(gaps < _NEAR_ONE)
        # For a projector H: h(1 - h) is the sum of the other squares in the row.
        others = self.U[near] @ self.U.T + constant
        others[np.arange(len(near)), near] = 0.0
        square = np.einsum("ij,ij->i", others, others)
        gaps[near] = 2.0 * square / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * square, 0.0)))
        gaps *= self.inflation
        zero = np.maximum(self.floor**2 * self._steepness(near), (_NOISE * self.rounding) ** 2)
        gaps[near[gaps[near] <= zero]] = 0.0
        return gaps

    def _steepness(self, rows: np.ndarray) -> np.ndarray:
        """Sums of u^2 / lambda: a small gap leaves the eigenvalue gap / steepness."""
        return self.inflation * np.sum((self.U[rows] / self.sigma) ** 2, axis=1)

    def _smallest(self, lam: np.ndarray, gaps: np.ndarray) -> float:
        """A lower bound, or nearly, of the eigenvalues to come; relative to the largest."""
        near = np.flatnonzero((gaps > 0.0) & (gaps < _NEAR_ONE))
        steep = self._steepness(near) * self.sigma[0] ** 2
        return min(float(lam[-1]), float(np.min(gaps[near] / steep, initial=np.inf)))

    def remove(self, at: int, gap: float) -> None:
        """Drop the row with this gap and update the decomposition.

        The rest of U times (I - uu')^(-1/2) has orthonormal columns again.
        """
        u = np.sqrt(self.inflation) * self.U[at]
        rest = np.delete(self.U, at, axis=0)
        if self.free:
            rest += self.U[at] / max(len(rest), 1)
        self.rows = np.delete(self.rows, at)
        root = np.sqrt(gap)
        self.growth *= 1.0 / root if gap > 0.0 else 1.0
        left = float(self.sigma @ self.sigma - np.sum((u * self.sigma) ** 2))
        if self.growth > _GROWTH or left < _LEFT * self.energy:
            self.factor()
            return
        core = np.diag(self.sigma) - np.outer(u / (1.0 + root), u * self.sigma)
        W, sigma, _ = scipy.linalg.svd(core, check_finite=False)
        d = min(np.count_nonzero(sigma > self.floor), len(sigma) - (gap == 0.0))
        turn = W[:, :d]
        if gap > 0.0:
            turn = turn + np.outer(u / (root * (1.0 + root)), u @ turn)
        self.U, self.sigma = rest @ turn, sigma[:d]


def _centred_svd(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and values of rows with mean zero.

    A reflection turns the constant vector into an axis, which is left out: the vectors are
    orthogonal to it however small their singular values.
    """
    n = len(Z)
    v = np.full(n, 1.0 / np.sqrt(n))
    v[0] += 1.0
    v /= np.sqrt(v[0])  # the reflection is I - vv'
    turned = Z - np.outer(v, v @ Z)
    U, sigma, _ = scipy.linalg.svd(turned[1:], full_matrices=False, check_finite=False)
    U = np.vstack([np.zeros((1, U.shape[1])), U])
    return U - np.outer(v, v @ U), sigma


class _Rule:
    r"""The quadrature for one spectrum, whose largest eigenvalue is one.

    Below the largest eigenvalue the logarithm's argument is taken as
    :math:`1 - |u|^2 + \sum_j u_j^2 t / (\lambda_j + t)`, a sum without cancellation.
    """

    def __init__(self, lam: np.ndarray, s: float, smallest: float):
        below = np.arange(0.0, _BELOW - np.log(smallest) + _STEP, _STEP)
        self.nodes = np.append(-below[::-1], np.arange(_STEP, _ABOVE, _STEP))
        self.n_below = len(below)
        self.lam, self.s = lam, s
        t = np.exp(self.nodes)
        share = 1.0 / (lam[:, None] + t)
        self.kernel = share * np.where(self.nodes <= 0.0, t, -lam[:, None])
        self.weights = np.exp(s * self.nodes)
        self.factor = _STEP * s * np.sin(np.pi * s) / np.pi

    def changes(self, squares: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """By how much the sum changes without each row, from its squares in U and its gap."""
        values = squares @ self.kernel
        low, high = values[:, : self.n_below], values[:, self.n_below :]
        low += gaps[:, None]
        np.log(low, out=low)
        np.log1p(high, out=high)
        total = values @ self.weights
        return self.factor * (total + self._before(squares, gaps) + self._beyond(squares))

    def _before(self, squares: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """The nodes below: the logarithm is constant, or the straight line of a lone direction."""
        geometric = self.weights[0] / np.expm1(self.s * _STEP)
        found = np.zeros(len(gaps))
        alone = gaps == 0.0
        found[~alone] = np.log(gaps[~alone])
        slope = np.log(squares[alone] @ (1.0 / self.lam))
        found[alone] = slope + self.nodes[0] + _STEP / np.expm1(-self.s * _STEP)
        return geometric * found

    def _beyond(self, squares: np.ndarray) -> np.ndarray:
        """The nodes above: the logarithm is minus a share of the trace."""
        rate = 1.0 - self.s
        return -(squares @ self.lam) * np.exp(-rate * self.nodes[-1]) / np.expm1(rate * _STEP)
