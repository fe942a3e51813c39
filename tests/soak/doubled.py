"""Arrays of double-double numbers: 106 bits from pairs of doubles, in plain NumPy.

A number is the unevaluated sum ``hi + lo``. The relative error of an operation is about 1e-31
(of the larger operand, for sums), on every machine; ``np.longdouble`` is plain double on some.
Entries should lie between 1e-100 and 1e100 in absolute value, or be zero.
"""

from __future__ import annotations

import numpy as np

__all__ = ["EPS", "Doubled", "leading", "root"]

EPS = 2.0**-104

_SPLIT = 2.0**27 + 1.0


def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _quick_two_sum(a, b):
    s = a + b
    return s, b - (s - a)


def _halves(a):
    t = _SPLIT * a
    high = t - (t - a)
    return high, a - high


def _two_product(a, b):
    p = a * b
    a1, a2 = _halves(a)
    b1, b2 = _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


class Doubled:
    """An array of double-double numbers, with the few operations an orthogonalisation needs."""

    __slots__ = ("hi", "lo")

    def __init__(self, hi, lo=None):
        self.hi = np.asarray(hi, dtype=np.float64)
        self.lo = np.zeros_like(self.hi) if lo is None else lo

    @property
    def shape(self) -> tuple[int, ...]:
        return self.hi.shape

    def __getitem__(self, key) -> Doubled:
        return Doubled(self.hi[key], self.lo[key])

    def __neg__(self) -> Doubled:
        return Doubled(-self.hi, -self.lo)

    def __add__(self, other: Doubled) -> Doubled:
        s, e = _two_sum(self.hi, other.hi)
        return Doubled(*_quick_two_sum(s, e + (self.lo + other.lo)))

    def __sub__(self, other: Doubled) -> Doubled:
        return self + (-other)

    def __mul__(self, other: Doubled) -> Doubled:
        p, e = _two_product(self.hi, other.hi)
        return Doubled(*_quick_two_sum(p, e + (self.hi * other.lo + self.lo * other.hi)))

    def __truediv__(self, other: Doubled) -> Doubled:
        """Quotient; the divisor has no zeros."""
        first = self.hi / other.hi
        rest = self - other * Doubled(first)
        return Doubled(*_quick_two_sum(first, rest.hi / other.hi))

    def sum(self, axis: int) -> Doubled:
        """Sum along an axis, by halves."""
        hi, lo = np.moveaxis(self.hi, axis, 0), np.moveaxis(self.lo, axis, 0)
        total = Doubled(hi, lo)
        if not len(hi):
            return Doubled(np.zeros(hi.shape[1:]))
        while (count := len(total.hi)) > 1:
            half = count // 2
            paired = total[:half] + total[half : 2 * half]
            rest = total[2 * half :]
            total = Doubled(
                np.concatenate([paired.hi, rest.hi]), np.concatenate([paired.lo, rest.lo])
            )
        return total[0]


def root(a):
    """Square root of an array of doubles or of double-doubles."""
    if not isinstance(a, Doubled):
        return np.sqrt(a)
    first = np.sqrt(np.maximum(a.hi, 0.0))
    rest = a - Doubled(first) * Doubled(first)
    divisor = np.where(first > 0.0, 2.0 * first, 1.0)
    return Doubled(*_quick_two_sum(first, np.where(first > 0.0, rest.hi / divisor, 0.0)))


def leading(a) -> np.ndarray:
    """The nearest doubles."""
    return a.hi if isinstance(a, Doubled) else np.asarray(a)
