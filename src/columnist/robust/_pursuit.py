"""Outlier pursuit: low rank plus few rows, by convex optimisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.data._parameters import Number
from columnist.linalg._prox import (
    l21_norm,
    nuclear_norm,
    row_norms,
    row_shrink,
    singular_value_shrink,
)
from columnist.robust._base import CenteredPCA, most_outlying, resolve_components, resolve_outliers
from columnist.robust._subspace import Subspace

# A row is an outlier if this share of it went to the row-sparse part.
_SHARE = 1e-3
# The step size adapts when residuals differ so much.
_IMBALANCE = 10.0
# Iterations from one test of the duality gap to the next.
_PERIOD = 10


class OutlierPursuit(CenteredPCA):
    r"""Split the data into a low-rank and a row-sparse part, then PCA of the other rows [1]_.

    .. math:: \min_{L, C} \|L\|_* + \alpha \sum_i \|C_i\|_2 \quad \text{with } L + C = X.

    The rows with :math:`C_i \ne 0` are the outliers. The problem is convex: it is solved by
    alternating directions to a proven gap.

    Parameters
    ----------
    alpha : float, optional
        Penalty of a row; smaller values give more outliers, 1 or more none. None means
        :math:`1/\sqrt{\log n}` for n rows [2]_.
    n_outliers : int or float, optional
        Remove this number or fraction of rows, those with the longest :math:`C_i`. None:
        every row of which a thousandth or more went to C.
    n_components : int, optional
        Dimension of the subspace. None: the rank of L.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Centre of the components: the mean of the kept rows, that of all rows, or the origin.
    location : {"median", "mean"}, default="median"
        With ``centering="optimal"``: the centre from which rows are rated, before it is known
        which are kept. Outliers move a mean.
    tol : float, default=1e-7
        Duality gap, relative to the objective, at which to stop.
    max_iter : int, default=2000
        Iterations at most.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed, ascending.
    outlyingness_ : ndarray of shape (n_samples,)
        Lengths of the rows of C.
    low_rank_, row_sparse_ : ndarrays of shape (n_samples, n_features)
        L and C. They add up to the centred data within the tolerance.
    objective_ : float
        Objective at (X - C, C).
    dual_gap_ : float
        Bound of its distance from the minimum.
    n_iter_ : int
        Iterations.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    References
    ----------
    .. [1] H. Xu, C. Caramanis, S. Sanghavi. Robust PCA via outlier pursuit. IEEE Transactions on
       Information Theory, 2012.
    .. [2] H. Zhang, Z. Lin, C. Zhang, E. Chang. Exact recoverability of robust PCA via outlier
       pursuit with tight recovery bounds. AAAI, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import OutlierPursuit
    >>> line = np.outer(np.arange(-10.0, 11.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = OutlierPursuit(centering="none").fit(X)
    >>> found.outliers_, found.components_
    (array([21]), array([[0.6, 0.8]]))
    """

    _parameter_constraints = {
        "alpha": Number(0.0, above=True) | None,
        "tol": Number(0.0, above=True),
    }

    def __init__(
        self,
        *,
        alpha=None,
        n_outliers=None,
        n_components=None,
        centering="optimal",
        location="median",
        tol=1e-7,
        max_iter=2000,
        cutoff="cross-fitted",
    ):
        self.alpha = alpha
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.location = location
        self.tol = tol
        self.max_iter = max_iter

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        n, p = X.shape
        k = None if self.n_outliers is None else resolve_outliers(self.n_outliers, n)
        if self.n_components is not None:
            resolve_components(self.n_components, n - (k or 0), p)
        Z = self._centered(X)
        rank = self._solve(Z)
        outliers = self._outliers(row_norms(Z), k)
        kept = n - len(outliers)
        wanted = min(max(rank, 1), kept, p) if self.n_components is None else self.n_components
        return outliers, self._refit(X, outliers, resolve_components(wanted, kept, p))

    def _solve(self, Z: np.ndarray) -> int:
        """Keep both parts and how good they are; the rank of the first."""
        alpha = 1.0 / np.sqrt(np.log(len(Z))) if self.alpha is None else self.alpha
        found = pursue_outliers(Z, alpha, tol=self.tol, max_iter=self.max_iter)
        self.low_rank_ = found.low_rank * self._unit
        self.row_sparse_ = found.row_sparse * self._unit
        self.outlyingness_ = row_norms(found.row_sparse) * self._unit
        self.objective_, self.dual_gap_ = found.objective * self._unit, found.gap * self._unit
        self.n_iter_ = found.n_iter
        if found.gap > self.tol * found.objective:
            warn_caller(
                f"OutlierPursuit stopped after {found.n_iter} iterations with a relative duality "
                f"gap of {found.gap / found.objective:.1e}: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return found.rank

    def _outliers(self, lengths: np.ndarray, k: int | None) -> np.ndarray:
        if k is not None:
            return most_outlying(self.outlyingness_, k)
        outliers = np.flatnonzero(self.outlyingness_ > _SHARE * lengths * self._unit)
        if len(outliers) == len(lengths):
            raise ValueError(
                f"alpha={self.alpha!r} makes every row an outlier: raise alpha, or set n_outliers."
            )
        return outliers


@dataclass(frozen=True)
class Parts:
    """Result of :func:`pursue_outliers`."""

    low_rank: np.ndarray
    row_sparse: np.ndarray
    rank: int
    objective: float
    gap: float
    n_iter: int


def pursue_outliers(X: np.ndarray, alpha: float, *, tol: float, max_iter: int) -> Parts:
    r"""Minimise :math:`\|L\|_* + \alpha\|C\|_{2,1}` over L + C = X, up to a relative gap ``tol``.
    Alternating directions on the augmented Lagrangian. A multiplier Y with singular values at most
    1 and rows no longer than alpha proves the lower bound :math:`\langle X, Y \rangle`; any Y is
    scaled to be one. L + C = X holds for (X - C, C), whose objective is the upper one."""
    n, p = X.shape
    if p > n:  # both norms ignore a rotation of the columns
        Q, R = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
        found = pursue_outliers(R.T, alpha, tol=tol, max_iter=max_iter)
        return replace(found, low_rank=found.low_rank @ Q.T, row_sparse=found.row_sparse @ Q.T)
    largest = scipy.linalg.svdvals(X, check_finite=False)[0]
    if largest == 0.0:
        return Parts(X, X, 0, 0.0, 0.0, 1)
    C, Y, mu = np.zeros_like(X), np.zeros_like(X), 1.25 / largest
    for n_iter in range(1, max_iter + 1):
        before = C
        L, values = singular_value_shrink(X - C + Y / mu, 1.0 / mu)
        C = row_shrink(X - L + Y / mu, alpha / mu)
        rest = X - L - C
        Y = Y + mu * rest
        if n_iter % _PERIOD == 0 or n_iter == max_iter:
            objective, gap = _gap(X, C, Y, alpha)
            if gap <= tol * objective:
                break
        # A larger step where the constraint lags behind, a smaller one where the parts still move.
        lag, moved = mu * np.linalg.norm(rest), mu * np.linalg.norm(C - before)
        mu *= 2.0 if lag > _IMBALANCE * moved else 0.5 if moved > _IMBALANCE * lag else 1.0
    return Parts(L, C, len(values), objective, gap, n_iter)


def _gap(X: np.ndarray, C: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[float, float]:
    """Objective at (X - C, C), and how far below it the minimum may lie."""
    objective = nuclear_norm(X - C) + alpha * l21_norm(C)
    excess = max(
        1.0,
        float(scipy.linalg.svdvals(Y, check_finite=False)[0]),
        float(row_norms(Y).max()) / alpha,
    )
    return objective, max(objective - float(np.vdot(X, Y)) / excess, 0.0)
