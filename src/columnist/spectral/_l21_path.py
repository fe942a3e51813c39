r"""The path of row-sparse least squares: the features that enter as the penalty decreases.

For features F (one column each) and a response Y the solution of

.. math:: \min_W \tfrac12\|Y - FW\|_F^2 + \alpha \sum_j \|w_j\|

is zero from :math:`\alpha = \max_j \|f_j^TY\|` on. A feature enters where its pull :math:`\|f_j^T(Y
- FW)\|` reaches :math:`\alpha`; between two such knots the solution is smooth and followed: predict
along the tangent, correct by Newton steps, find the knot as the root of :math:`\max_j \|f_j^TR\| -
\alpha`. Only a feature that enters needs a pass over the data, for :math:`F^Tf_j`. No input
validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg import LinAlgError, lapack

from columnist.linalg._prox import l21_norm, row_norms
from columnist.linalg._threads import single_threaded_blas
from columnist.linalg._ties import TIE, first_largest
from columnist.spectral._features import ProductsAhead, ScaledColumns
from columnist.spectral._l21_coordinate import descend_gram
from columnist.spectral._symmetric import joined

_EPS = np.finfo(np.float64).eps
# The path ends at this share of the largest penalty: what enters later explains nothing.
_END = 1e-5
# A feature enters where its pull equals the penalty up to this (relative).
_AT_KNOT = 1e-10
# A pull that falls as fast as the penalty, up to this, is that of a copy of what is there.
_ALIKE = 1e-7
# Squared distances, relative: a copy as far as the rounding of products can tell, and a near
# copy, which counts as one where no solution can be computed with both.
_SAME, _ALMOST = 1e-14, 1e-9
# Violation that a copy may reach before it counts as a feature of its own, and enters late.
_COPY, _LATE = 2e-9, 8e-9
# The path also ends where rounding hides more than this share of the penalty.
_NOISE = 5e-9
# Features whose entry is predicted; all are examined where the prediction is tested.
_NEAR = 500
# Features whose products one thread computes.
_ROWS = 2**13
# The penalty falls to this share at most in one stride, so that the tangent means something.
_STRIDE = 0.2
# A knot is found when the penalties on its two sides differ by no more than this (relative).
_CLOSE = 1e-11
_MAX_TRIALS = 60
# A step so short that no tangent can be blamed.
_SHORTEST = 1e-6
# Violation, but for the rounding of G W, at which Newton steps end; and their number at most.
_SOLVED, _MAX_STEPS = 1e-12, 100
# Eigenvalues of M below this share of the largest are rounding.
_SINGULAR = 1e-13
# Sweeps of coordinate descent after a Newton step that was not good enough.
_SWEEPS = 10
# A full Newton step must shrink the violation by this factor, or the objective is examined.
_PROGRESS = 0.5
# A violation this small that does not fall any more is accepted.
_FINE = 3e-9
# Halvings of a Newton step that does not lower the objective.
_HALVINGS = 12


@dataclass(frozen=True)
class Knot:
    """The solution where features enter, or have left since the last knot. ``coef`` holds the rows
    of the features ``rows``, in order of entry; ``residual`` is the norm of Y - F W, ``kkt`` the
    largest violation of the optimality conditions as a share of alpha."""

    alpha: float
    entered: tuple[int, ...]
    left: tuple[int, ...]
    rows: np.ndarray
    coef: np.ndarray
    residual: float
    kkt: float


@dataclass(frozen=True)
class L21Path:
    """Knots up to the solution with the features asked for.

    ``entry`` holds the penalties at which its rows entered, ``pulls`` all lengths of f_j'R there.
    """

    knots: tuple[Knot, ...]
    entry: np.ndarray
    pulls: np.ndarray


def l21_path(F: ScaledColumns, Y: np.ndarray, size: int) -> L21Path:
    """Follow the path until one more than ``size`` features would have nonzero rows. Features that
    tie enter one by one, the smaller index first. A copy of one that is in (up to 1e-7 of its
    length, 3e-5 where no solution can be computed with both) never enters. Where the residual
    vanishes, cannot be lowered or is rounding, the path ends with fewer features."""
    with single_threaded_blas():  # hundreds of small products and solves
        walk = _Walk(F, Y)
        walk.run(size)
    return L21Path(tuple(walk.knots), np.array(walk.entry), walk.point.pulls)


@dataclass(frozen=True)
class _Point:
    """A solution W on the active rows; correlations Q = F'R and their lengths for all features."""

    alpha: float
    W: np.ndarray
    Q: np.ndarray
    pulls: np.ndarray


class _Known:
    """Columns F_K of the features seen so far, and F'F_K; both grow."""

    def __init__(self, F: ScaledColumns):
        self.F, self.ahead = F, ProductsAhead(F)
        self.columns = np.empty((F.shape[0], 0), order="F")
        self.products = np.empty((F.shape[1], 0), order="F")
        self.slots: dict[int, int] = {}

    def add(self, feature: int, pulls: np.ndarray) -> None:
        """Make room for a feature; those that pull most may be next."""
        if feature in self.slots:
            return
        slot = len(self.slots)
        if slot == self.columns.shape[1]:
            self.columns = _wider(self.columns)
            self.products = _wider(self.products)
        self.columns[:, slot] = self.F.take(feature)
        self.products[:, slot] = self.ahead.of(feature, pulls)
        self.slots[feature] = slot

    def spread(self, features: list[int], W: np.ndarray) -> np.ndarray:
        """W with one row per feature seen."""
        full = np.zeros((len(self.slots), W.shape[1]))
        full[[self.slots[j] for j in features]] = W
        return full

    def cross(self, full: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """F'F_K times W, or some rows of it."""
        products = self.products[:, : len(full)]
        if not isinstance(rows, slice):
            return products[rows] @ full
        parts = [products[first : first + _ROWS] for first in range(0, len(products), _ROWS)]
        return joined(self.F.threads.map(lambda part: part @ full, parts))

    def apply(self, full: np.ndarray) -> np.ndarray:
        """F_K times W."""
        return self.columns[:, : len(full)] @ full

    def gram(self, features: list[int]) -> np.ndarray:
        """F_A'F_A."""
        slots = [self.slots[j] for j in features]
        G = self.products[np.ix_(features, slots)]
        return 0.5 * (G + G.T)


class _Walk:
    """State of :func:`l21_path`: the active features in order of entry and their solution."""

    def __init__(self, F: ScaledColumns, Y: np.ndarray):
        self.Y, self.known = Y, _Known(F)
        self.B = F.cross(Y)
        pulls = row_norms(self.B)
        self.alpha_max = float(pulls.max(initial=0.0))
        self.active: list[int] = []
        self.entry: list[float] = []
        self.left: list[int] = []
        self.copies: list[int] = []
        self.knots: list[Knot] = []
        self.point = _Point(self.alpha_max, np.zeros((0, Y.shape[1])), self.B, pulls)

    def run(self, size: int) -> None:
        """Enter features until there is one too many."""
        feature = self._first()
        for _ in range(20 * size + 200):
            if feature is None or len(self.active) >= size:
                break
            before, almost = self.point, self._is_copy(feature, _ALMOST)
            self._enter(feature)
            feature = self._advance()
            if feature is None and self.lost and almost and self.point.alpha == before.alpha:
                self._undo(before)
                feature = self._advance()
            while feature is not None and self._is_copy(feature, _SAME):
                self.copies.append(feature)
                feature = self._advance()
        self._record(())

    def _first(self) -> int | None:
        """The feature that pulls most; None if all are orthogonal to Y but for rounding."""
        feature, pull = first_largest(self.point.pulls, np.ones(len(self.B), dtype=bool))
        length = float(np.linalg.norm(self.known.F.take(feature)))
        nothing = 32.0 * _EPS * length * float(np.linalg.norm(self.Y))
        return feature if pull > nothing else None

    def _is_copy(self, feature: int, distance: float) -> bool:
        """Whether a feature is this close to an active one (squared, relative)."""
        if not self.active:
            return False
        f = self.known.F.take(feature)
        along = self.known.columns[:, [self.known.slots[j] for j in self.active]].T @ f
        square = float(f @ f)
        return bool((square - along**2 / self.G.diagonal() <= distance * square).any())

    def _record(self, entered: tuple[int, ...]) -> None:
        point = self.point
        full = self.known.spread(self.active, point.W)
        violation = np.maximum(point.pulls / (point.alpha or 1.0) - 1.0, 0.0)
        if self.active:
            moving = row_norms(point.W) > 0.0
            rows = np.array(self.active)[moving]
            violation[rows] = optimality(point.W[moving], point.Q[rows], point.alpha)
        residual = float(np.linalg.norm(self.Y - self.known.apply(full)))
        knot = Knot(point.alpha, entered, tuple(self.left), np.array(self.active, dtype=np.intp),
                    point.W, residual, float(violation.max(initial=0.0)))  # fmt: skip
        self.left = []
        self.knots.append(knot)

    def _enter(self, feature: int) -> None:
        self._record((feature,))
        self.known.add(feature, self.point.pulls)
        self.active.append(feature)
        self.entry.append(self.point.alpha)
        point = self.point
        W = np.vstack([point.W, np.zeros((1, self.Y.shape[1]))])
        self.point = _Point(point.alpha, W, point.Q, point.pulls)
        self.G = self.known.gram(self.active)

    def _undo(self, before: _Point) -> None:
        """Take back the last entry: beside such a near copy no solution can be computed."""
        self.copies.append(self.active.pop())
        self.entry.pop()
        self.left = list(self.knots.pop().left)
        self.point, self.G = before, self.known.gram(self.active)

    # -- to the next knot -----------------------------------------------------------

    def _advance(self) -> int | None:
        """Go on until a feature is about to enter; None if the path ends first."""
        end, low, base, self.lost = _END * self.alpha_max, None, self.point, False
        tangent = self._tangent(base, fresh=True)
        steps, copies = self._steps(base, tangent)
        if steps.min() <= 0.0:
            return int(np.argmax(steps <= steps.min() + TIE * base.alpha))
        for _ in range(_MAX_TRIALS):
            target = self._target(base.alpha - float(steps.min()), low, end)
            trial = self._solve(base, tangent, target)
            if trial is None:  # too far for the tangent: try again from closer by
                if base is not self.point or self.point.alpha - target <= _SHORTEST * target:
                    self.lost = True
                    return None
                steps = np.array([0.1 * (self.point.alpha - target)])
                continue
            base, excess = trial, self._excess(trial, copies)
            feature = int(np.argmax(excess))
            tolerance = self._tolerance(base)
            late = _COPY < excess[feature] <= _LATE and feature in copies
            clean = late or excess[feature] <= tolerance
            if clean:
                self._move(base)
                base = self.point
                if target <= end or tolerance > _NOISE:
                    return None
            else:
                low = target
            here = late or (clean and excess[feature] >= -tolerance)
            if here or (low is not None and self.point.alpha - low <= _CLOSE * low):
                break
            tangent = self._tangent(base)
            steps, alike = self._steps(base, tangent)
            copies = alike if clean else copies
        self._move(base)
        if not np.isfinite(excess[feature]):
            return None
        # The first one: copies are not rounded alike.
        return int(np.argmax(excess >= excess[feature] - tolerance))

    def _target(self, wanted: float, low: float | None, end: float) -> float:
        """The wanted penalty, or a middle one if it is not where the knot must be."""
        high = self.point.alpha
        if low is None:
            return min(max(wanted, _STRIDE * high, end), high)
        return wanted if low < wanted < high else 0.5 * (low + high)

    def _tolerance(self, point: _Point) -> float:
        """How well pull and penalty can be compared: rounding grows as the penalty falls."""
        size = self.alpha_max + self.G.diagonal().max(initial=0.0) * l21_norm(point.W)
        return max(_AT_KNOT, 8.0 * _EPS * size / point.alpha)

    def _excess(self, point: _Point, copies: np.ndarray) -> np.ndarray:
        """By how much the pulls exceed the penalty, as a share of it; copies may a little."""
        excess = point.pulls / point.alpha - 1.0
        excess[copies[excess[copies] <= _COPY]] = -np.inf
        excess[self.active + self.copies] = -np.inf
        return excess

    def _tangent(self, point: _Point, *, fresh: bool = False) -> np.ndarray:
        """Derivative of W with respect to the penalty; fresh rows are about to grow from zero."""
        norms = row_norms(point.W)
        moving = np.flatnonzero((norms > 0.0) | fresh)
        slope = np.zeros_like(point.W)
        U = point.Q[np.array(self.active)[moving]]
        U = U / row_norms(U)[:, None]
        curvature = Curvature(self.G[np.ix_(moving, moving)], point.W[moving], U, point.alpha)
        slope[moving] = -curvature.inverse(U)
        return slope

    def _steps(self, point: _Point, tangent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r"""How far the penalty must fall until each feature enters, as the tangent tells. The
        smallest root of :math:`\|q - \delta q'\| = \alpha - \delta`; infinite for active features.
        Negative where the pull exceeds the penalty already. Also tells what features are copies:
        their pulls equal the penalty and stay so."""
        alpha, near = point.alpha, self._near(point)
        pulls = point.pulls[near]
        turn = -self.known.cross(self.known.spread(self.active, tangent), near)
        a = np.einsum("ij,ij->i", turn, turn) - 1.0
        b = np.einsum("ij,ij->i", point.Q[near], turn) - alpha
        c = (pulls - alpha) * (pulls + alpha)
        bottom = np.sqrt(np.maximum(b * b - a * c, 0.0)) - b
        steps = np.full(len(near), np.inf)
        np.divide(-c, bottom, out=steps, where=bottom > 0.0)
        here = np.abs(c) <= 2.0 * self._tolerance(point) * alpha**2
        alike = (np.abs(c) <= 2.0 * _COPY * alpha**2) & (-b <= _ALIKE * alpha)
        steps[here], steps[alike] = 0.0, np.inf
        everywhere = np.full(len(self.B), np.inf)
        everywhere[near] = steps
        everywhere[self.active + self.copies] = np.inf
        return everywhere, near[alike]

    def _near(self, point: _Point) -> np.ndarray:
        """Features that may be next: those that pull most, and all that equal the penalty."""
        near = point.pulls >= (1.0 - 1e-6) * point.alpha
        if len(near) > _NEAR:
            near[np.argpartition(-point.pulls, _NEAR)[:_NEAR]] = True
        else:
            near[:] = True
        return np.flatnonzero(near)

    def _solve(self, base: _Point, tangent: np.ndarray, target: float) -> _Point | None:
        """The solution on the active rows at another penalty; None if it cannot be had."""
        W = base.W + (target - base.alpha) * tangent
        W[np.einsum("ij,ij->i", W, base.Q[self.active]) <= 0.0] = 0.0
        W = solve_rows(self.G, self.B[self.active], W, target)
        Q = self.B - self.known.cross(self.known.spread(self.active, W))
        if optimality(W, Q[self.active], target).max(initial=0.0) > _NOISE:
            return None
        return _Point(target, W, Q, row_norms(Q))

    def _move(self, point: _Point) -> None:
        """Make a point the state; features whose rows vanished leave."""
        kept = row_norms(point.W) > 0.0
        self.point = point
        if kept.all():
            return
        self.copies = []
        self.left += [j for j, stays in zip(self.active, kept, strict=True) if not stays]
        self.active = [j for j, stays in zip(self.active, kept, strict=True) if stays]
        self.entry = [a for a, stays in zip(self.entry, kept, strict=True) if stays]
        self.point = _Point(point.alpha, point.W[kept], point.Q, point.pulls)
        self.G = self.known.gram(self.active)


def _wider(M: np.ndarray) -> np.ndarray:
    """A copy with room for more columns."""
    wide = np.empty((M.shape[0], max(16, 2 * M.shape[1])), order="F")
    wide[:, : M.shape[1]] = M
    return wide


def optimality(W: np.ndarray, Q: np.ndarray, t: float) -> np.ndarray:
    r"""Violation of the optimality conditions, row by row, as a share of t. With :math:`Q = X^T(Y -
    XW)` a row of the minimum has :math:`q_i = t w_i/\|w_i\|` if it is not zero, and :math:`\|q_i\|
    \le t` if it is."""
    norms = row_norms(W)
    kept = norms > 0.0
    violation = np.maximum(row_norms(Q) / t - 1.0, 0.0)
    violation[kept] = row_norms(Q[kept] / t - W[kept] / norms[kept, None])
    return violation


class Curvature:
    r"""The second derivative at W with directions U of its rows, to be inverted.

    It maps :math:`\Delta` to :math:`G\Delta + E^{-1}(\Delta - \mathrm{diag}(U\Delta^T)\,U)`, E =
    diag(lengths). With :math:`F = (I + EG)^{-1}`, :math:`M = GF \circ UU^T` and :math:`v =
    M^{-1}\mathrm{diag}(U(F^TR)^T)` its inverse is :math:`R \mapsto F(ER + \mathrm{diag}(v)U)`,
    without :math:`E^{-1}`: a row about to enter may be zero.
    """

    def __init__(self, G: np.ndarray, W: np.ndarray, U: np.ndarray, t: float):
        self.U, self.lengths = U, row_norms(W) / t
        system = self.lengths[:, None] * G
        system[np.diag_indices_from(system)] += 1.0
        self.factor = lapack.dgetrf(system)[:2]
        M = self._solve(G, transposed=True) * (U @ U.T)
        self.core = 0.5 * (M + M.T)
        try:
            self.cholesky = scipy.linalg.cho_factor(self.core, lower=True, check_finite=False)
        except LinAlgError:
            self.cholesky = None

    def _solve(self, R: np.ndarray, *, transposed: bool = False) -> np.ndarray:
        return lapack.dgetrs(*self.factor, R, trans=int(transposed))[0]

    def _weights(self, along: np.ndarray) -> np.ndarray:
        if self.cholesky is not None:
            return scipy.linalg.cho_solve(self.cholesky, along, check_finite=False)
        return scipy.linalg.pinvh(self.core, rtol=_SINGULAR, check_finite=False) @ along

    def inverse(self, R: np.ndarray) -> np.ndarray:
        """The change of W that changes the gradient by R."""
        along = np.einsum("ij,ij->i", self.U, self._solve(R, transposed=True))
        moved = self.lengths[:, None] * R + self._weights(along)[:, None] * self.U
        return self._solve(moved)


def solve_rows(G: np.ndarray, B: np.ndarray, W: np.ndarray, t: float) -> np.ndarray:
    r"""Minimiser of :math:`\tfrac12\langle W, GW\rangle - \langle B, W\rangle + t\sum_i\|w_i\|`.
    Newton steps on the rows that are not zero or are about to grow. Far from the minimum they are
    shortened until the objective falls, and sweeps of coordinate descent decide what rows are
    zero."""
    G, W = np.ascontiguousarray(G), np.array(W, dtype=np.float64, order="C")
    Q = np.ascontiguousarray(B - G @ W)
    worst = _worst(W, Q, t)
    size, diagonal = float(row_norms(B).max(initial=0.0)), G.diagonal().max(initial=0.0)
    for _ in range(_MAX_STEPS):
        rounding = 2.0 * _EPS * (size + diagonal * l21_norm(W)) / t
        if worst <= max(_SOLVED, rounding):
            break
        step = _newton(G, Q, W, t)
        trial = W + step
        image = B - G @ trial
        new = _worst(trial, image, t)
        if not new <= _PROGRESS * worst:
            trial = _shortened(G, Q, W, t, step)
            image = np.ascontiguousarray(B - G @ trial)
            descend_gram(G, image, trial, t, np.empty(W.shape[1]), 0.0, _SWEEPS)
            image = B - G @ trial
            new = _worst(trial, image, t)
            if _FINE >= worst <= new:  # dependent rows: rounding is all that is left
                break
        W, Q, worst = trial, image, new
    return W


def _worst(W: np.ndarray, Q: np.ndarray, t: float) -> float:
    return float(optimality(W, Q, t).max(initial=0.0))


def _newton(G: np.ndarray, Q: np.ndarray, W: np.ndarray, t: float) -> np.ndarray:
    """The Newton step; rows that are pulled hard enough begin, those that would turn end."""
    norms = row_norms(W)
    rows = np.flatnonzero((norms > 0.0) | (row_norms(Q) > t))
    U = np.where(norms[rows, None] > 0.0, W[rows], Q[rows])
    U = U / row_norms(U)[:, None]
    curvature = Curvature(G[np.ix_(rows, rows)], W[rows], U, t)
    new = W[rows] + curvature.inverse(Q[rows] - t * U)
    new[np.einsum("ij,ij->i", new, U) <= 0.0] = 0.0
    step = np.zeros_like(W)
    step[rows] = new - W[rows]
    return step


def _shortened(
    G: np.ndarray, Q: np.ndarray, W: np.ndarray, t: float, step: np.ndarray
) -> np.ndarray:
    """W after the part of a step that lowers the objective; W itself if there is none."""
    norms, bend = row_norms(W), float(np.vdot(step, G @ step))
    slope = -float(np.vdot(step, Q))
    for halvings in range(_HALVINGS):
        share = 0.5**halvings
        trial = W + share * step
        change = share * slope + 0.5 * share**2 * bend + t * float((row_norms(trial) - norms).sum())
        if change < 0.0:
            return trial
    return W.copy()
