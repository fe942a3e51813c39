r"""Greedy removal of outliers under Schatten quasi-norms, so that the kept rows are nearly of low
rank.

The measure is :math:`\sum_j \sigma_j^p`, for small p almost the rank. Let
:math:`U \Sigma V^T` be the kept rows, :math:`\lambda = \sigma^2` and u a row of U. Without that
row the eigenvalues :math:`\mu` are those of :math:`\Sigma(I - uu^T)\Sigma`. They are never
computed for a candidate: with :math:`s = p/2`

.. math:: x^s = \frac{s \sin \pi s}{\pi} \int_0^\infty t^{s-1} \ln(1 + x/t) \, dt
   \quad\text{gives}\quad \sum_j (\mu_j^s - \lambda_j^s) = \frac{s \sin \pi s}{\pi}
   \int_0^\infty t^{s-1} \ln\Bigl(1 - \sum_j \frac{u_j^2 \lambda_j}{\lambda_j + t}\Bigr) dt,

since the last logarithm is that of the ratio of determinants. In :math:`y = \ln t` the integrand is
analytic within :math:`\pi` of the real line, so the trapezoidal rule is exact to rounding with a
step of 0.6: one matrix product gives the measure without each row.

If the mean of the kept rows is free, all this holds for the centred rows with
:math:`\sqrt{n/(n-1)} u` in the place of u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from columnist.data._parameters import Number
from columnist.linalg._rounding import EPS
from columnist.linalg._ties import TIE
from columnist.robust._base import WholeRowsPCA, resolve_components, resolve_outliers
from columnist.robust._cutoffs import Cutoffs
from columnist.robust._row_data import Measured, RowData, given_mean
from columnist.robust._subspace import Subspace, fit_subspace, rounding_size

# Distance of the quadrature's nodes in ln t. Its error is exp(-2 pi^2 / step), 5e-15.
_STEP = 0.6
# How far the nodes reach beyond the spectrum, before closed forms take over.
_BELOW, _ABOVE = 33.0, 22.0
# Rows whose leverage comes this near to one have its complement computed without subtraction.
_NEAR_ONE = 1e-3
# Updates may magnify the rounding of U by this much before it is recomputed.
_GROWTH = 2.0
# A direction shorter than this many times the rounding of U is none.
_NOISE = 16.0
# So do they when no more than this share of the squares is left: rounding was that of the whole.
_LEFT = 0.25
# Rows times nodes at a time.
_BLOCK = 2**20


class SchattenPCA(WholeRowsPCA):
    r"""Remove rows one by one until the others have low rank, then fit PCA [1]_.

    At each step goes the row without which

    .. math:: \sum_j \sigma_j^p

    is smallest, :math:`\sigma` the singular values of the rows left. For small p the sum is
    almost their rank, so neither the number of components nor the size of the outliers
    matters: a row that leaves the subspace by little costs a dimension like one far away.
    It works best on data without noise; with noise, p balances rank against size.

    ``n_outliers`` need only be large enough. When so many rows are out, those within the
    orthogonal cut-off of the others' subspace return.

    Parameters
    ----------
    n_outliers : int or float
        Rows to remove at most: a number, or a fraction of the rows.
    p : float, default=0.1
        Exponent, above 0 and at most 1.
    n_components : int, optional
        Dimension of the subspace. None: the rank of the rows left if they are exactly of low
        rank, otherwise determined by the largest ratio of neighbouring singular values (see
        :func:`apparent_rank`).
    centering : {"optimal", "mean", "none"}, default="optimal"
        Point through which the subspace passes: the mean of the kept rows, at every step; the mean
        of all rows; or the origin.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances, and which rows return.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed for good, ascending.
    removal_order_ : ndarray of int
        All rows removed at first, in this order.
    schatten_path_ : ndarray
        The sum before and after each of these removals.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    References
    ----------
    .. [1] K. Xu. Feature engineering for data analytics. Dissertation, University of
       Texas at Dallas, 2017, section 8.3.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import SchattenPCA
    >>> line = np.outer(np.arange(20.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = SchattenPCA(3).fit(X)
    >>> found.outliers_, found.components_
    (array([20]), array([[0.6, 0.8]]))
    >>> found.removal_order_, found.schatten_path_.round(2)
    (array([20,  0,  1]), array([3.09, 1.63, 1.61, 1.6 ]))
    """

    _parameter_constraints = {"p": Number(0.0, 1.0, above=True)}

    def __init__(
        self, n_outliers, *, p=0.1, n_components=None, centering="optimal", cutoff="cross-fitted"
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.p = p

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        k = resolve_outliers(self.n_outliers, len(X))
        if self.n_components is not None:
            resolve_components(self.n_components, len(X) - k, X.shape[1])
        mean = given_mean(self.centering, X.mean(axis=0))
        found = remove_rows(X, k, self.p, mean=mean)
        self.removal_order_ = found.order
        self.schatten_path_ = found.sums * self._unit**self.p
        kept = np.delete(X, found.order, axis=0)
        r = apparent_rank(kept, mean) if self.n_components is None else self.n_components
        first = fit_subspace(kept, r, mean)
        distances = first.orthogonal_distances(X[found.order])
        outliers = found.order[distances > self._kept_cutoffs(kept, first).orthogonal]
        return outliers, fit_subspace(np.delete(X, outliers, axis=0), r, mean)

    def _cutoffs(
        self, data: RowData, outliers: np.ndarray, subspace: Subspace, measured: Measured
    ) -> Cutoffs:
        return self._kept_cutoffs(np.delete(data.array(), outliers, axis=0), subspace)

    def _kept_cutoffs(self, kept: np.ndarray, subspace: Subspace) -> Cutoffs:
        """Cut-offs from the kept rows alone: the others may be the majority."""
        rows, nothing = RowData(kept), np.array([], dtype=np.intp)
        return rows.cutoffs(subspace, nothing, rows.measure(subspace), self.cutoff)


def apparent_rank(X: np.ndarray, mean: np.ndarray | None = None) -> int:
    r"""Dimension, at least 1, of the subspace through a mean that rows lie on or near. If singular
    values vanish (to rounding), the number of the others. If none does, the i with the largest
    :math:`\sigma_i / \sigma_{i+1}` in the first three quarters: the last singular values of noise
    may differ by any factor."""
    n, p = X.shape
    centre = X.mean(axis=0) if mean is None else mean
    sigma = scipy.linalg.svdvals(X - centre, check_finite=False)[: min(n - (mean is None), p)]
    rank = np.count_nonzero(sigma > rounding_size(sigma, X.shape, centre))
    if rank < max(len(sigma), 2):
        return max(int(rank), 1)
    last = min(-(-3 * rank // 4), rank - 1)
    return 1 + int(np.argmax(sigma[:last] / sigma[1 : last + 1]))


# -- removal ------------------------------------------------------------------------


class Removal(NamedTuple):
    """Rows as they were removed, and the measure before and after every removal."""

    order: np.ndarray
    sums: np.ndarray


def remove_rows(X: np.ndarray, count: int, p: float, *, mean: np.ndarray | None = None) -> Removal:
    r"""Remove rows one by one, always the one without which :math:`\sum \sigma^p` is smallest.

    Rows are about ``mean``, or about the mean of those kept at each step; p is between 0 and 2.
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
        """Drop the row with this gap; U (I - uu')^(-1/2) has orthonormal columns again."""
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
    """Left singular vectors and values of rows with mean zero. A reflection turns the constant
    vector into an axis, which is left out: the vectors are orthogonal to it however small their
    singular values."""
    n = len(Z)
    v = np.full(n, 1.0 / np.sqrt(n))
    v[0] += 1.0
    v /= np.sqrt(v[0])  # the reflection is I - vv'
    turned = Z - np.outer(v, v @ Z)
    U, sigma, _ = scipy.linalg.svd(turned[1:], full_matrices=False, check_finite=False)
    U = np.vstack([np.zeros((1, U.shape[1])), U])
    return U - np.outer(v, v @ U), sigma


class _Rule:
    r"""The quadrature for one spectrum, whose largest eigenvalue is one. Below the largest
    eigenvalue the logarithm's argument is taken as :math:`1 - |u|^2 + \sum_j u_j^2 t / (\lambda_j +
    t)`, a sum without cancellation."""

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
