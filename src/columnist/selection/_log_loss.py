r"""The log-loss of linear scores: fits of few columns, and points that bound all fits from below.

Scores are :math:`\eta = X b + b_0`, one for two classes (that of the second one) and one for each
class if there are more. A row of class y loses
:math:`\log \sum_c e^{\eta_c} - \eta_y` (the first score being 0 where there is only one).

**Duality.** With any probabilities Q, rows in the simplex, and entropies H, a row loses at least
:math:`H(q) + (q - y)^T\eta`; the minimum over the coefficients of penalised columns follows:

.. math:: \sum_i \mathrm{loss}_i + \lVert b \rVert^2 \;\ge\; \sum_i H(q_i)
          - \tfrac14 \sum_j \lVert x_j^T R \rVert^2, \qquad R = Q - Y,

if :math:`1^TR = 0` where intercepts are free. Both sides meet at the optimum, Q being its
probabilities, and elsewhere differ by :math:`\lVert b + X^TR/2 \rVert^2`.

**What a point is.** The numbers that are stored are the probabilities of wrong classes, whatever
rounding did when they were computed; the right class has the rest. So a point is valid by
construction, and tiny losses keep their digits.

**Weights.** A row of weight w loses w times as much, so that R = w(Q - Y), entropies and
:math:`n_c` count it w times, and n is the sum of the weights. The probabilities that a point stands
for are those whose products with the weights are stored.

**Free intercepts.** Sums of R that are not quite zero are mended by mixing Q with rows
:math:`\tau / n` that all are the same: :math:`(1-\theta) Q + \theta \tau / n` has the sums
:math:`n_c` of the classes if :math:`\tau_c = n_c - (1-\theta) (1^TR)_c / \theta`, and these are not
negative for :math:`\theta \ge \max_c (1^TR)_c / n_c`. The mixture is never formed. Entropy is
concave, so it keeps :math:`1 - \theta` of it at least, and since its sums are right, columns may be
moved by any number: products with columns of length a change by
:math:`\theta a \sqrt{2\sum w^2}` at most. An intercept that is fitted makes :math:`\theta` as small
as rounding.

No input validation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import expit, xlog1py, xlogy

from columnist.linalg._rounding import EPS, UNIT, is_trusted

# Newton's steps for a fit, halvings of one, and what the two values of a fit may differ by.
_STEPS, _HALVINGS, _CLOSE = 300, 40, 1e-14
# The same for intercepts alone; how far one step may go.
_INTERCEPT_STEPS, _FARTHEST = 30, 2.0
# Directions of columns that are no shorter.
_SHORTEST = 1e-100
# What keeps equations definite, relative to their diagonal.
_STEADY = 1e-14


class DualPoint(NamedTuple):
    """R, its length, the entropy less rounding and mixing, the share of the mixture, and the
    squared length of the weights."""

    R: np.ndarray
    length: float
    entropy: float
    theta: float
    squares: float

    def charge(self, terms: float) -> float:
        """What rounding and mixing do to products with a column of length 1, whose sums have so
        many terms."""
        q = self.R.shape[1]
        rounded = 2.0 * (terms + q + 16) * UNIT * self.length
        return rounded + self.theta * np.sqrt(2.0 * self.squares)


class Fit(NamedTuple):
    """Coefficients (k, q), intercepts (q,), and the two ends between which the least objective of
    these columns lies."""

    coef: np.ndarray
    intercept: np.ndarray
    low: float
    high: float

    @property
    def value(self) -> float:
        """The objective."""
        return self.low + 0.5 * (self.high - self.low)


class LogLoss:
    """The loss of some rows.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, from 0 on; every class has a row.
    center : bool
        Whether intercepts are free.
    weights : ndarray, optional
        How often each row counts; ones by default.
    """

    def __init__(self, codes: np.ndarray, center: bool, weights: np.ndarray | None = None):
        self.codes, self.center = codes, center
        self.weights = np.ones(len(codes)) if weights is None else weights
        self.counts = np.bincount(codes, self.weights)
        self.total = float(self.weights.sum())
        self.n_samples, self.n_classes = len(codes), len(self.counts)
        self.n_outputs = 1 if self.n_classes == 2 else self.n_classes
        self.sign = 2.0 * codes - 1.0
        self.own = np.arange(len(codes)), codes

    # -- scores ---------------------------------------------------------------------

    def losses(self, eta: np.ndarray) -> np.ndarray:
        """Loss of each row."""
        return self.weights * log_losses(eta, self.codes)

    def responses(self, eta: np.ndarray) -> np.ndarray:
        """R = w(Q - Y) for the probabilities of these scores."""
        weights = self.weights[:, None]
        if self.n_outputs == 1:
            return -self.sign[:, None] * weights * expit(-self.sign[:, None] * eta)
        shares = np.exp(eta - eta.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[self.own] = 0.0
        # The sum must leave something to the right class, in exact arithmetic, too.
        shares[shares.sum(axis=1) > 0.5] *= 1.0 - 4.0 * (self.n_classes + 2) * UNIT
        shares *= weights
        shares[self.own] = -shares.sum(axis=1)
        return shares

    def probabilities(self, R: np.ndarray) -> np.ndarray:
        """Q of one output or more."""
        Q = R / self.weights[:, None]
        if self.n_outputs == 1:
            Q[:, 0] += self.codes
        else:
            Q[self.own] += 1.0
        return Q

    def curvatures(self, R: np.ndarray) -> np.ndarray:
        """Second derivatives along the scores, without those of two classes at once."""
        weights = self.weights[:, None]
        if self.n_outputs == 1:
            return np.abs(R) * (1.0 - np.abs(R) / weights)
        Q = self.probabilities(R)
        return weights * Q * (1.0 - Q)

    def start(self) -> np.ndarray:
        """Intercepts of no columns."""
        if not self.center:
            return np.zeros(self.n_outputs)
        logs = np.log(self.counts)
        return logs[1:] - logs[:1] if self.n_outputs == 1 else logs - logs.mean()

    def centered(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scores moved by their best intercepts, and these, by Newton's method in a bracket or,
        with several, for as long as it works."""
        moved = np.zeros(self.n_outputs)
        if not self.center:
            return eta, moved
        ends = [-np.inf, np.inf]
        for _ in range(_INTERCEPT_STEPS):
            R = self.responses(eta + moved)
            off = _total(R)
            if np.abs(off).max() <= 4.0 * UNIT * self.total:
                break
            if self.n_outputs == 1:
                ends[int(off[0] > 0.0)] = float(moved[0])
                slope = float(self.curvatures(R).sum())
                step = -off / max(slope, np.abs(off[0]) / _FARTHEST)
                if not ends[0] < moved[0] + step[0] < ends[1]:
                    step = 0.5 * (ends[0] + ends[1]) - moved
            else:
                Q = self.probabilities(R)
                M = np.diag(self.weights @ Q) - (Q.T * self.weights) @ Q
                M += self.total / self.n_classes**2
                step = -np.linalg.lstsq(M, off, rcond=None)[0]
                step *= min(1.0, _FARTHEST / max(float(np.abs(step).max()), _FARTHEST))
            moved = moved + step
        return eta + moved, moved

    # -- points ---------------------------------------------------------------------

    def point(self, eta: np.ndarray) -> DualPoint:
        """The point of the probabilities of these scores."""
        R = self.responses(eta)
        theta = self._mixture(R) if self.center else 0.0
        wrong = (np.abs(R[:, 0]) if self.n_outputs == 1 else -R[self.own]) / self.weights
        rest = xlog1py(1.0 - wrong, -wrong)
        if self.n_outputs == 1:
            entropies = -xlogy(wrong, wrong) - rest
        else:
            shares = np.maximum(R, 0.0) / self.weights[:, None]
            entropies = -xlogy(shares, shares).sum(axis=1) - rest
        # The probability of the right class is known up to the rounding of the others' sum.
        steep = wrong * (1.0 - np.log1p(-np.minimum(wrong, 1.0 - EPS)))
        total, doubt = (float(_total(self.weights * each)) for each in (entropies, steep))
        rounded = (self.n_classes + 16 + self.terms) * UNIT * (total + doubt)
        entropy = (1.0 - theta) * (total - rounded) - 4.0 * UNIT * total
        squares = float(self.weights @ self.weights) * (1.0 + 2.0 * self.n_samples * UNIT)
        return DualPoint(R, float(np.linalg.norm(R)), entropy, theta, squares)

    def _mixture(self, R: np.ndarray) -> float:
        """The share of rows that all are the same which makes all sums right."""
        off = _total(R)
        doubt = (self.terms + self.n_classes + 8) * UNIT * _total(np.abs(R))
        if self.n_outputs == 1:
            off, doubt = np.append(-off, off), np.append(doubt, doubt)
        needed = float(((off + doubt) / self.counts).max())
        return min(max(needed * (1.0 + (self.n_samples + 8.0) * UNIT), 0.0), 1.0)

    @property
    def terms(self) -> float:
        """Terms of a sum over the rows, as far as rounding is concerned."""
        return 2.0 * np.sqrt(self.n_samples) + 4.0

    # -- fits -----------------------------------------------------------------------

    def fit(self, A: np.ndarray) -> Fit:
        """Least loss with :math:`\\lVert b \\rVert^2` of the columns, the rows of A (k, n)."""
        fit = self._enclosed(A, self._newton(A, np.ones(len(A))))
        if is_trusted(fit.low, fit.high):
            return fit
        # Columns that nearly depend on one another, by their directions.
        W, lengths, U = np.linalg.svd(A, full_matrices=False)
        some = lengths > _SHORTEST
        W, lengths, U = W[:, some], lengths[some], U[some]
        b = self._newton(U, 1.0 / np.square(lengths))
        b = np.vstack([W @ (b[: len(U)] / lengths[:, None]), b[len(U) :]])
        other = self._enclosed(A, b)
        return min(fit, other, key=lambda one: one.high - one.low)

    def _newton(self, A: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """Coefficients whose squares have these prices, then intercepts, by Newton's method."""
        k = len(A)
        Z = np.vstack([A, np.ones((int(self.center), self.n_samples))])
        b = np.zeros((len(Z), self.n_outputs))
        b[k:] = self.start()
        prices = np.append(prices, np.zeros(len(Z) - k))[:, None]
        eta = Z.T @ b
        value, gap = self._value(eta, b, prices), np.inf
        for _ in range(_STEPS):
            R = self.responses(eta)
            slope = Z @ R + 2.0 * prices * b
            last, gap = gap, self._gap(slope, prices, k) / max(value, 1e-300)
            if gap <= _CLOSE:
                break
            step, most = -self._solve(Z, R, slope, prices), value * (1.0 + 64.0 * EPS)
            for _ in range(_HALVINGS):
                eta = Z.T @ (b + step)
                new = self._value(eta, b + step, prices)
                if new <= most:
                    break
                step *= 0.5
            else:
                break
            stalled = gap >= 0.5 * last and new >= value * (1.0 - 64.0 * EPS)
            b, value = b + step, new
            if stalled:
                break
        return b

    def _value(self, eta: np.ndarray, b: np.ndarray, prices: np.ndarray) -> float:
        return float(self.losses(eta).sum() + (prices * np.square(b)).sum())

    def _gap(self, slope: np.ndarray, prices: np.ndarray, k: int) -> float:
        """About how far the two values of a fit are apart."""
        mixed = np.abs(slope[k:]).max(initial=0.0) / self.counts.min()
        return 0.25 * float((np.square(slope[:k]) / prices[:k]).sum()) + mixed * self.total

    def _solve(
        self, Z: np.ndarray, R: np.ndarray, slope: np.ndarray, prices: np.ndarray
    ) -> np.ndarray:
        """Newton's step, but for its sign."""
        K, q = slope.shape
        M = self._second(Z, R)
        np.einsum("ii->i", M)[:] += np.tile(2.0 * prices[:, 0], q)
        if self.center and q > 1:  # intercepts that move together change nothing
            last = np.ix_(np.arange(K - 1, K * q, K), np.arange(K - 1, K * q, K))
            M[last] += np.trace(M[last]) / q**2
        size = np.sqrt(np.maximum(np.einsum("ii->i", M), 1e-300))
        M /= np.outer(size, size)
        np.einsum("ii->i", M)[:] += _STEADY
        right = slope.T.ravel() / size
        _, x, info = dposv(M, right[:, None], lower=1)
        x = np.linalg.lstsq(M, right, rcond=None)[0] if info else x[:, 0]
        return (x / size).reshape(q, K).T

    def _second(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Second derivatives by the coefficients of Z, class by class."""
        if self.n_outputs == 1:
            return (Z * self.curvatures(R)[:, 0]) @ Z.T
        Q, K = self.probabilities(R), len(Z)
        weighted = (Q.T[:, None, :] * Z).reshape(-1, self.n_samples)
        M = -(weighted * self.weights) @ weighted.T
        for c in range(self.n_outputs):
            rows = slice(c * K, (c + 1) * K)
            first = (weighted[rows] * self.weights) @ Z.T
            M[rows, rows] += first
            diagonal = np.einsum("ii->i", M)[rows]
            np.maximum(diagonal, 4.0 * EPS * np.einsum("ii->i", first), out=diagonal)
        return M

    def _enclosed(self, A: np.ndarray, b: np.ndarray) -> Fit:
        """A fit with the value of its coefficients, and of the point of its scores, both with what
        rounding may have done to them."""
        k = len(A)
        coef, intercept = b[:k], b[k:].sum(axis=0)
        eta, moved = self.centered(A.T @ coef + intercept)
        intercept = intercept + moved
        point = self.point(eta)
        products = np.stack([_total((A * r).T) for r in point.R.T], axis=1)
        lengths = np.linalg.norm(products, axis=1)
        lengths += np.linalg.norm(A, axis=1) * point.charge(self.terms)
        caught = 0.25 * float(lengths @ lengths) * (1.0 + (k + 16) * UNIT)
        low = point.entropy - caught
        # Scores that are off by d let a loss grow by 2d, and by a factor of exp(2d), at most.
        sums = np.abs(A).T @ np.abs(coef) + np.abs(intercept) + np.abs(eta)
        off = 2.0 * (k + 16) * UNIT * sums.max(axis=1)
        losses = self.losses(eta)
        losses = np.minimum(losses * np.exp(np.minimum(off, 1.0)), losses + self.weights * off)
        high = float(_total(losses)) * (1.0 + 2.0 * (self.terms + 16) * UNIT)
        high += float(np.vdot(coef, coef)) * (1.0 + (coef.size + 8) * UNIT)
        return Fit(coef, intercept, max(min(low, high), 0.0), high)


def log_losses(eta: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Loss of each row of scores (n, q) for its class."""
    if eta.shape[1] == 1:
        return np.logaddexp(0.0, (1.0 - 2.0 * codes) * eta[:, 0])
    behind = eta - np.take_along_axis(eta, codes[:, None], axis=1)
    first = np.argmax(behind, axis=1)[:, None]
    most = np.take_along_axis(behind, first, axis=1)
    shares = np.exp(behind - most)
    np.put_along_axis(shares, first, 0.0, axis=1)
    return most[:, 0] + np.log1p(shares.sum(axis=1))


def _total(values: np.ndarray) -> np.ndarray:
    """Sums over the rows, block by block: rounding grows with the root of their number."""
    step = max(int(np.sqrt(len(values))), 1)
    return np.add.reduceat(values, np.arange(0, len(values), step), axis=0).sum(axis=0)
