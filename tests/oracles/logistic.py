"""The penalised log-loss, from its definition."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
from scipy.special import logsumexp


def objective(X, codes, coef, intercept, alpha: float) -> float:
    """Sum of log-losses with alpha times the squared coefficients (k, q)."""
    eta = X @ coef + intercept
    eta = np.hstack([np.zeros((len(eta), 1)), eta]) if eta.shape[1] == 1 else eta
    own = eta[np.arange(len(eta)), codes]
    return float((logsumexp(eta, axis=1) - own).sum() + alpha * np.square(coef).sum())


def least_objective(X, codes, start, alpha: float, *, center: bool, digits: int = 40):
    """The minimum in long arithmetic, by Newton's method from coefficients and intercepts
    ``start`` of double precision."""
    with mpmath.workdps(digits):
        coef, intercept = start
        (k, q), n = coef.shape, len(X)
        rows = [[mpmath.mpf(float(x)) for x in row] for row in X]
        x = mpmath.matrix([*coef.T.ravel().tolist(), *(intercept.tolist() if center else [])])

        def value(x):
            total = alpha * mpmath.fsum(x[i] ** 2 for i in range(k * q))
            for i in range(n):
                eta = [
                    mpmath.fsum(rows[i][j] * x[c * k + j] for j in range(k))
                    + (x[k * q + c] if center else 0)
                    for c in range(q)
                ]
                eta = [mpmath.mpf(0), *eta] if q == 1 else eta
                total += mpmath.log(mpmath.fsum(map(mpmath.exp, eta))) - eta[codes[i]]
            if center and q > 1:  # intercepts that move together change nothing
                total += mpmath.fsum(x[k * q + c] for c in range(q)) ** 2
            return total

        for _ in range(3):
            x = _newton_step(value, x)
        return value(x)


def _newton_step(value, x):
    """By differences, which long arithmetic can afford."""
    n, h = len(x), mpmath.mpf(10) ** (-mpmath.mp.dps // 4)
    moved = {}

    def at(*steps):
        key = tuple(sorted(steps))
        if key not in moved:
            y = x.copy()
            for i, s in key:
                y[i] += s * h
            moved[key] = value(y)
        return moved[key]

    slope = mpmath.matrix([(at((i, 1)) - at((i, -1))) / (2 * h) for i in range(n)])
    second = mpmath.matrix(n, n)
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        found = (
            at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
        ) / (4 * h * h)
        second[i, j] = second[j, i] = found
    return x - mpmath.lu_solve(second, slope)
