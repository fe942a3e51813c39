"""Robust feature selection: row-sparse coefficients under a loss that is robust to outliers."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.data._parameters import Number
from columnist.linalg._memory import available_memory
from columnist.linalg._passes import apply, columns_of, cross, gram
from columnist.linalg._prox import l21_norm, row_norms, row_shrink
from columnist.selection._base import RowSparseSelector

_TINY = np.finfo(np.float64).tiny
# Over-relaxation of the splitting.
_RELAX = 1.6
# Steps between two certificates, and between two looks at the penalties.
_CHECK = 10
# Penalties change by at most this factor at a time, and only by more than its root.
_CHANGE = 5.0
# Relative distances below this are no reason for a change.
_CLOSE = 1e-8
# The ratio s stays within this and its inverse, relative to the mean eigenvalue.
_RATIO = 1e-9
# Weight, relative to the steps' energy, that keeps the combination of past steps short.
_RIDGE = 1e-10
# How far, in lengths of the plain step, a combination may go, and half of the first skip.
_REACH = 100.0
# Share of the old step's length that the step after an attempt must not exceed.
_DECREASE = 0.9
# Steps that differ by no more than this share of their length are a steady drift.
_ALIKE = 1e-2


class RobustL21Selector(RowSparseSelector):
    r"""Select features by robust regression with row-sparse coefficients (RFS).

    Fits y by a coefficient matrix W, one row per feature,

    .. math:: \min_W \sum_i \|x_i^T W - y_i^T\| + \alpha \sum_j \|w_j\|,

    and ranks the features by the length of their rows. No residual is squared, so a sample with
    wrong values or labels has little influence; no row length is squared, so most rows of W are
    exactly zero when ``alpha`` is large enough.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    alpha : float, default=1.0
        Weight of the penalty. From a certain size on all coefficients are zero; halving it
        step by step from there lets more and more columns in.
    max_iter : int, default=5000
        Iterations at most.
    tol : float, default=1e-6
        Duality gap, as a share of the objective, at which the iteration ends.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        The coefficients W.
    scores_ : ndarray of shape (n_features,)
        Lengths of their rows.
    selected_ : ndarray of int
        Selected columns, best first. Columns with zero coefficients are not selected, with a
        warning; only where all are zero, the one that a smaller ``alpha`` would let in first.
    objective_ : float
        Value of the formula above at ``coef_``.
    dual_gap_ : float
        Proof: no W has an objective below ``objective_ - dual_gap_``.
    objective_history_ : ndarray
        Best objective at each test for the end.
    n_iter_ : int
        Iterations made.
    error_ : float
        Squared error of approximating y by the selected columns, least squares.
    relative_error_ : float
        ``error_`` divided by the squared norm of y.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.MultiLabelInformedSelector : Squared loss, with relations among labels.

    Notes
    -----
    The penalty treats all columns alike, so their scales matter: standardise them first, for
    instance with :class:`sklearn.preprocessing.StandardScaler`. There is no intercept.
    Multiplying X by c and ``alpha`` by c changes nothing but the scale of ``coef_``. Equal
    columns share their coefficient and are selected together.

    The problem is split into the two norms (ADMM). A step shrinks the rows of residuals and
    coefficients and solves one linear system of the smaller side of X, whose factor is kept;
    every few steps the past ones are extrapolated. With one target, where the problem is a
    linear program, the solution is computed exactly once its zeros are known. The multipliers
    P of the residuals, scaled so that :math:`\|p_i\| \le 1` and :math:`\|(X^T P)_j\| \le
    \alpha`, prove the lower bound :math:`\langle P, Y \rangle`. A sparse X is not made dense,
    but the product of its smaller side with itself is.

    References
    ----------
    .. [1] F. Nie, H. Huang, X. Cai, C. Ding. Efficient and robust feature selection via joint
       L2,1-norms minimization. NIPS, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import RobustL21Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = RobustL21Selector(3, alpha=10.0).fit(scale(X), y)
    >>> selector.selected_
    array([12,  6,  0])
    """

    _penalty_name = "alpha"

    _parameter_constraints = {"alpha": Number(0.0, 1e300, above=True), "tol": Number(0.0, 1.0)}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 1.0,
        max_iter: int = 5000,
        tol: float = 1e-6,
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def _fit_coefficients(self, X, Y, x_scale, y_scale) -> tuple[np.ndarray, np.ndarray]:
        solver = _Splitting(X, Y, self._penalty(x_scale))
        while not solver.within(self.tol) and solver.n_iter < self.max_iter:
            solver.step(last=solver.n_iter + 1 == self.max_iter)
        self.n_iter_ = solver.n_iter
        self.objective_ = solver.objective * y_scale
        self.dual_gap_ = solver.gap * y_scale
        self.objective_history_ = np.array(solver.history) * y_scale
        if not solver.within(self.tol):
            gap = f"{solver.gap / solver.objective:.1e}"
            self._warn_unsettled(f"{solver.n_iter} iterations with a relative duality gap of {gap}")
        return solver.best, row_norms(cross(X, solver.directions))


class _Splitting:
    r"""Douglas-Rachford splitting (ADMM) of the two norms from the map between them. The rows of E
    = XW - Y and of Z = W, stacked and the latter scaled by the root of a ratio s, are shrunk; then
    the nearest point is sought where both come from one W. ``penalty`` is the weight of the
    distance between the two."""

    def __init__(self, X, Y: np.ndarray, alpha: float):
        self.X, self.Y, self.alpha = X, Y, alpha
        self.graph = _Graph(X, Y)
        self.typical = _typical(Y) or 1.0
        self.penalty = 1.0 / self.typical
        self.state = np.vstack([-Y, np.zeros((X.shape[1], Y.shape[1]))])
        self.blocks = slice(None, len(Y)), slice(len(Y), None)
        self.mixer = Anderson()
        self.n_iter, self.next_change = 0, _CHECK
        self.pattern, self.repeats = None, 0
        self.objective, self.bound = np.inf, 0.0
        self.history: list[float] = []
        # Nothing at all, and its own dual: from a certain alpha on that is the solution.
        self.directions = Y / np.maximum(row_norms(Y), _TINY)[:, None]
        self._try_point(np.zeros((X.shape[1], Y.shape[1])))
        self._try_dual(self.directions)

    @property
    def gap(self) -> float:
        """Distance between the best objective and the best bound."""
        return max(self.objective - self.bound, 0.0)

    def within(self, tol: float) -> bool:
        """Whether the gap is small enough."""
        return self.n_iter > 0 and self.gap <= tol * self.objective

    def step(self, *, last: bool) -> None:
        """One iteration, with a certificate now and then and at the last."""
        self.shrunk = row_shrink(self.state, self._thresholds())
        self.image = self.graph.nearest(2.0 * self.shrunk - self.state)
        self.n_iter += 1
        if last or self.n_iter == 1 or self.n_iter % _CHECK == 0:
            self._certify()
        step = _RELAX * (self.image - self.shrunk)
        if self.n_iter < self.next_change or not self._rebalance(self.state + step):
            self.state = self.mixer.next(self.state, step)

    def _thresholds(self) -> np.ndarray:
        weights = np.ones(len(self.state))
        weights[self.blocks[1]] = self.alpha / np.sqrt(self.graph.ratio)
        return weights / self.penalty

    def _certify(self) -> None:
        E, Z = self.blocks
        self._try_point(self.shrunk[Z] / np.sqrt(self.graph.ratio))
        self._try_dual(self.penalty * (self.shrunk[E] - self.state[E]))
        if self.Y.shape[1] == 1:
            self._try_vertex()
        self.history.append(self.objective)

    def _try_point(self, W: np.ndarray) -> None:
        objective = l21_norm(apply(self.X, W) - self.Y) + self.alpha * l21_norm(W)
        if objective < self.objective:
            self.objective, self.best = objective, W

    def _try_dual(self, P: np.ndarray) -> None:
        excess = row_norms(cross(self.X, P)).max() / self.alpha
        bound = float(np.vdot(P, self.Y)) / max(1.0, excess, row_norms(P).max())
        self.bound = max(self.bound, bound)

    def _try_vertex(self) -> None:
        """With one target the problem is a linear program: jump to the vertex once it is known. A
        vertex has as many vanishing residuals as nonzero coefficients. It is tried when the same
        zeros were seen twice."""
        signs = np.sign(self.shrunk)
        same = self.pattern is not None and np.array_equal(signs, self.pattern)
        self.pattern, self.repeats = signs, self.repeats + 1 if same else 0
        residuals, coefficients = (signs[block] for block in self.blocks)
        fitted, kept = np.flatnonzero(residuals == 0.0), np.flatnonzero(coefficients)
        if self.repeats != 1 or len(fitted) != len(kept):
            return
        W, P, columns = np.zeros_like(coefficients), -residuals, columns_of(self.X, kept)
        wanted = self.alpha * coefficients[kept] - columns.T @ P
        try:
            W[kept] = np.linalg.solve(columns[fitted], self.Y[fitted])
            P[fitted] = np.linalg.solve(columns[fitted].T, wanted)
        except np.linalg.LinAlgError:
            return
        self._try_point(W)
        self._try_dual(P)

    def _rebalance(self, ahead: np.ndarray) -> bool:
        """Change the penalties of E and Z where values and multipliers move unevenly."""
        ahead = row_shrink(ahead, self._thresholds())
        grow = [self._imbalance(block, ahead) for block in range(2)]
        larger = int(np.argmax(np.abs(np.log(grow))))
        old = self.graph.ratio
        if self.graph.limited(old * grow[1] / grow[0]) != old * grow[1] / grow[0]:
            grow[larger] = 1.0
        ratio = self.graph.limited(old * grow[1] / grow[0])
        self.next_change = self.n_iter + max(_CHECK, self.n_iter // 4)
        if np.abs(np.log(grow)).max() < 0.5 * np.log(_CHANGE):
            return False
        for block, factor in zip(self.blocks, grow, strict=True):
            multiplier = (self.state[block] - self.shrunk[block]) / factor
            self.state[block] = self.shrunk[block] + multiplier
        self.state[self.blocks[1]] *= np.sqrt(ratio / old)
        self.penalty *= grow[0]
        self.graph.factor(ratio)
        self.mixer.forget()
        return True

    def _imbalance(self, block: int, ahead: np.ndarray) -> float:
        """Factor by which the penalty of a block should grow."""
        rows = self.blocks[block]
        image, new, state = self.image[rows], self.shrunk[rows], self.state[rows]
        if block == 0:  # a few residuals may be very large: the others set the scale
            size = max(_typical(image), _typical(new), 0.1 * self.typical)
            size *= np.sqrt(len(image))
        else:
            size = max(_norm(image), _norm(new), _TINY)
        apart = _norm(image - new) / size
        moved = _norm(ahead[rows] - new) / max(_norm(state - new), _TINY)
        ratio = (apart + _CLOSE) / (moved + _CLOSE)
        return float(np.clip(np.sqrt(ratio), 1.0 / _CHANGE, _CHANGE))


class _Graph:
    r"""The pairs :math:`(XW - Y, \sqrt s\, W)`, and how to find the nearest one."""

    def __init__(self, X, Y: np.ndarray):
        n, p = X.shape
        side = min(n, p)
        if 24.0 * side**2 > available_memory():
            raise MemoryError(
                f"RobustL21Selector needs about {24.0 * side**2 / 2**30:.1f} GB for a matrix of "
                f"the smaller side of X ({n} x {p}). Select columns first, for instance with "
                "MatchingFilter, or take fewer rows."
            )
        self.X, self.Y, self.wide = X, Y, p > n
        self.gram = gram(X.T if self.wide else X)
        self.unit = float(np.trace(self.gram)) / side or 1.0
        self.factor(0.1 * self.unit)

    def limited(self, ratio: float) -> float:
        """The ratio s, kept where the linear system is well posed."""
        return float(np.clip(ratio, _RATIO * self.unit, self.unit / _RATIO))

    def factor(self, ratio: float) -> None:
        """Prepare for this ratio s."""
        self.ratio = ratio
        shifted = self.gram.copy()
        shifted[np.diag_indices_from(shifted)] += ratio
        self.cholesky = scipy.linalg.cho_factor(
            shifted, lower=True, overwrite_a=True, check_finite=False
        )

    def nearest(self, stacked: np.ndarray) -> np.ndarray:
        """The pair nearest to a stacked pair of matrices."""
        n, root = len(self.Y), np.sqrt(self.ratio)
        D, C = stacked[:n] + self.Y, stacked[n:] / root
        if self.wide:
            H = self._solve(D - apply(self.X, C))
            W, XW = C + cross(self.X, H), D - self.ratio * H
        else:
            W = self._solve(self.ratio * C + cross(self.X, D))
            XW = apply(self.X, W)
        return np.vstack([XW - self.Y, root * W])

    def _solve(self, B: np.ndarray) -> np.ndarray:
        return scipy.linalg.cho_solve(self.cholesky, B, overwrite_b=True, check_finite=False)


class Anderson:
    r"""Anderson's mixing for :math:`v \leftarrow v + f(v)`: every ``period`` iterations the last
    ``memory`` steps are combined so that their sum cancels, as if f were affine, or repeated many
    times if all alike. Unless the step from there is clearly shorter, or the same, it goes back and
    forgets the past: so it converges wherever the plain iteration does."""

    def __init__(self, memory: int = 10, period: int = 5):
        self.memory, self.period = memory, period
        self.forget()

    def forget(self) -> None:
        """Start again, for a map that has changed."""
        self.points: list[np.ndarray] = []
        self.steps: list[np.ndarray] = []
        self.count = 0
        self.tried, self.skip = False, _REACH

    def next(self, point: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The point to go to from ``point``, where the map would make ``step``."""
        length = _norm(step)
        if self.tried and not self._good(step, length):
            plain = self.points[-1] + self.steps[-1]
            self.forget()
            return plain
        self.points = [*self.points[-self.memory :], point]
        self.steps = [*self.steps[-self.memory :], step]
        self.count += 1
        self.tried = self.count % self.period == 0 and len(self.steps) > 2 and length > 0.0
        if not self.tried:
            return point + step
        if _alike(step, self.steps[-2], length):
            self.skip *= 2.0
            return point + self.skip * step
        correction = self._correction(step)
        excess = _norm(correction) / (_REACH * length)
        return point + step - correction / max(excess, 1.0)

    def _good(self, step: np.ndarray, length: float) -> bool:
        """Whether an attempt led to a clearly shorter step, or only skipped equal ones."""
        before = self.steps[-1]
        return length <= _DECREASE * _norm(before) or _alike(step, before, length)

    def _correction(self, step: np.ndarray) -> np.ndarray:
        """The correction of the plain step by past steps."""
        turns = np.array([b - a for a, b in zip(self.steps, self.steps[1:], strict=False)])
        flat = turns.reshape(len(turns), -1)
        gram = flat @ flat.T
        gram[np.diag_indices_from(gram)] += max(_RIDGE * np.trace(gram), np.finfo(float).tiny)
        weights = np.linalg.solve(gram, flat @ step.ravel())
        correction = np.tensordot(weights, turns, axes=1)
        for weight, a, b in zip(weights, self.points, self.points[1:], strict=False):
            correction += weight * (b - a)
        return correction


def _alike(step: np.ndarray, before: np.ndarray, length: float) -> bool:
    return _norm(step - before) <= _ALIKE * length


def _typical(M: np.ndarray) -> float:
    """Median length of the rows that are not zero."""
    norms = row_norms(M)
    return float(np.median(norms[norms > 0.0])) if norms.any() else 0.0


def _norm(M: np.ndarray) -> float:
    return float(np.linalg.norm(M))
