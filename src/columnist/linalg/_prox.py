r"""Proximal maps of the row-wise L2,1 norm and the nuclear norm, and a solver on top of them.

:math:`\mathrm{prox}_{t h}(M) = \arg\min_Z \tfrac12 \|Z - M\|_F^2 + t\,h(Z)` shortens every row, or
every singular value, by t; what is not longer than t becomes exactly zero. No input validation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

_EPS = np.finfo(np.float64).eps
_TINY = np.finfo(np.float64).tiny
# Squaring costs singular values below 1e-8 of the largest; a threshold well above removes them.
_SAFE_TO_SQUARE = 1e-4


def row_norms(W: np.ndarray) -> np.ndarray:
    """Lengths of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", W, W))


def l21_norm(W: np.ndarray) -> float:
    """Sum of the lengths of the rows."""
    return float(row_norms(W).sum())


def nuclear_norm(M: np.ndarray) -> float:
    """Sum of the singular values."""
    return float(scipy.linalg.svdvals(M, check_finite=False).sum())


def row_shrink(W: np.ndarray, t: float | np.ndarray) -> np.ndarray:
    """Proximal map of ``t * l21_norm``: every row shortened by t (one for all, or one for each),
    rows not longer than t set to zero."""
    norms = row_norms(W)
    cut = np.divide(t, norms, out=np.ones_like(norms), where=norms > t)
    return W * (1.0 - cut)[:, None]


def singular_value_shrink(M: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Proximal map of ``t * nuclear_norm``: every singular value lowered by t, those not above t
    dropped. Also returns the positive singular values of the result, descending."""
    if M.shape[0] < M.shape[1]:
        shrunk, values = singular_value_shrink(M.T, t)
        return shrunk.T, values
    if M.shape[0] >= 2 * M.shape[1]:
        squared, V = np.linalg.eigh(M.T @ M)
        sigma = np.sqrt(np.maximum(squared[::-1], 0.0))
        if t >= _SAFE_TO_SQUARE * sigma.max(initial=0.0):
            kept = np.count_nonzero(sigma > t)
            V = V[:, ::-1][:, :kept]
            return M @ ((V * (1.0 - t / sigma[:kept])) @ V.T), sigma[:kept] - t
    U, sigma, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    kept = np.count_nonzero(sigma > t)
    values = sigma[:kept] - t
    return (U[:, :kept] * values) @ Vt[:kept], values


@dataclass(frozen=True)
class Minimum:
    """What :func:`minimize_l21` found."""

    W: np.ndarray
    objective: float  # not above that of the start but for rounding
    gap: float  # measure of the last test for the end
    converged: bool  # whether that is within the tolerance
    n_iter: int  # evaluations of the smooth part
    lipschitz: float  # curvature reached, a good first value for a similar problem


def quadratic_gap(W: np.ndarray, value: float, gradient: np.ndarray, t: float) -> float:
    r"""Duality gap of :math:`\|AW - C\|^2 + t\|W\|_{2,1}` at W, without A and C.

    With the residual :math:`R = C - AW` and the gradient :math:`G = -2A^TR`, the point
    :math:`2sR` is dual feasible if :math:`s \max_j \|G_j\| \le t`; its gap is

    .. math:: (1 - s)^2 \|R\|^2 + t \|W\|_{2,1} + s \langle G, W \rangle.

    It holds for any quadratic function that is nowhere negative.
    """
    steepest = float(row_norms(gradient).max(initial=0.0))
    s = min(1.0, t / steepest) if steepest > 0.0 else 1.0
    return (1.0 - s) ** 2 * value + t * l21_norm(W) + s * float(np.vdot(gradient, W))


class _Point(NamedTuple):
    """A point with the smooth part's value and gradient there."""

    W: np.ndarray
    value: float
    gradient: np.ndarray


def minimize_l21(
    smooth: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    t: float,
    *,
    gap: Callable[[np.ndarray, float, np.ndarray], float] | None = None,
    lipschitz: float | None = None,
    quadratic: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> Minimum:
    r"""Minimise :math:`g(W) + t\|W\|_{2,1}` for a smooth convex g: W -> value and gradient, by
    FISTA without uphill momentum or rising steps, their length by the curvature. Ends when ``gap``,
    a bound of the excess from W, value and gradient, is ``tol`` times the objective; without it
    when a step is ``tol`` times W. A ``quadratic`` g is evaluated once a step, not twice."""
    run = _Descent(smooth, start, t, gap=gap, lipschitz=lipschitz, quadratic=quadratic)
    while run.measure > tol and run.n_iter < max_iter:
        run.step()
    return Minimum(
        run.x.W, run.objective, run.measure, run.measure <= tol, run.n_iter, run.lipschitz
    )


class _Descent:
    """State of :func:`minimize_l21`: the best point x and the extrapolated point y."""

    def __init__(self, smooth, start, t, *, gap, lipschitz, quadratic):
        self.smooth, self.t, self.gap, self.quadratic = smooth, t, gap, quadratic
        self.n_iter = 0
        self.x = self.y = self._at(start)
        self.objective = self._objective(self.x)
        self.inertia = 1.0
        self.measure = np.inf if gap is None else self._measure(self.x)
        self.lipschitz = self._curvature() if lipschitz is None else lipschitz

    def step(self) -> None:
        """One proximal gradient step from y, or the repair that makes the next one good."""
        y = self.y
        new = self._at(row_shrink(y.W - y.gradient / self.lipschitz, self.t / self.lipschitz))
        moved = new.W - y.W
        if self._too_long(new, moved):
            return
        objective = self._objective(new)
        if y is not self.x and objective > (1.0 + 4.0 * _EPS) * self.objective:
            self.y, self.inertia = self.x, 1.0
            return
        self.measure = self._measure(new, moved)
        uphill = np.vdot(moved, new.W - self.x.W) < 0.0
        self._move(new, objective, uphill)

    def _move(self, new: _Point, objective: float, uphill: bool) -> None:
        old, self.x, self.objective = self.x, new, objective
        if uphill:
            self.y, self.inertia = new, 1.0
            return
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.inertia**2))
        momentum, self.inertia = (self.inertia - 1.0) / grown, grown
        beyond = new.W + momentum * (new.W - old.W)
        if momentum == 0.0:
            self.y = new
        elif self.quadratic:  # its gradient is affine
            slope = new.gradient + momentum * (new.gradient - old.gradient)
            self.y = _Point(beyond, np.nan, slope)
        else:
            self.y = self._at(beyond)

    def _too_long(self, new: _Point, moved: np.ndarray) -> bool:
        """Whether g bends more along the step than the Lipschitz constant allows."""
        square = float(np.vdot(moved, moved))
        bend = float(np.vdot(new.gradient - self.y.gradient, moved))
        # The gradient of a convex g grows along the step: twice the mean bend at most.
        bend *= 1.0 if self.quadratic else 2.0
        noise = 4.0 * _EPS * np.sqrt(square) * float(np.linalg.norm(new.gradient))
        if bend <= self.lipschitz * square + noise:
            return False
        self.lipschitz = max(1.25 * self.lipschitz, bend / square)
        return True

    def _curvature(self) -> float:
        """Curvature of g along its gradient."""
        slope = self.x.gradient
        square = float(np.vdot(slope, slope))
        if square == 0.0:
            return 1.0
        probe = self._at(self.x.W - slope)
        return max(float(np.vdot(slope - probe.gradient, slope)) / square, _TINY)

    def _at(self, W: np.ndarray) -> _Point:
        self.n_iter += 1
        value, gradient = self.smooth(W)
        return _Point(W, float(value), gradient)

    def _objective(self, point: _Point) -> float:
        return point.value + self.t * l21_norm(point.W)

    def _measure(self, new: _Point, moved: np.ndarray | None = None) -> float:
        if self.gap is not None:
            bound = max(self.gap(new.W, new.value, new.gradient), 0.0)
            return bound / max(self._objective(new), _TINY)
        assert moved is not None  # without a gap, steps are measured
        return float(np.linalg.norm(moved) / max(np.linalg.norm(new.W), _TINY))
