"""Errors of complete sets in exact arithmetic, for a checker of proofs.

The numbers of a file are whole numbers times a power of two, so the inner products of columns, and
what remains of them after elimination, are rational. The error under the squared Frobenius norm is
then known exactly; for other criteria the eigenvalues of a matrix that is rounded once are computed
in balls by python-flint, or, without it, in floating point arithmetic with a charge for rounding.
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from columnist._verify import DEPENDENT, UNIT, Rules, counted

# Bits of balls.
_BITS = 512


class ExactErrors:
    """Intervals of the errors of complete sets, in units of the rules."""

    def __init__(self, rules: Rules, problem: dict[str, Any], X, y=None):
        self.rules, self._components = rules, rules.components
        self._diagonal = rules.theta.squared and not rules.components  # the trace is enough
        self._center = problem["centering"] == "mean"
        self._alpha = Fraction(float(problem["alpha"]))
        self._gram = problem["input"] == "gram"
        X, target, weights = counted(problem, X, y)
        self._x = _Whole(X.toarray() if hasattr(X, "toarray") else X, weights)
        self._y = self._x if target is None else _Whole(target, weights)
        self._known: dict[tuple[int, ...], tuple[float, float]] = {}
        self._inner: dict[tuple[bool, int, int], Fraction] = {}

    def __call__(self, subset: tuple[int, ...]) -> tuple[float, float]:
        if subset not in self._known:
            self._known[subset] = self._interval(subset)
        return self._known[subset]

    def depend(self, subset: tuple[int, ...]) -> bool:
        """Whether so little of a column, but not nothing, is left by the others that it counts as
        dependent."""
        least = Fraction(DEPENDENT) ** (1 if self._gram else 2)
        return any(
            0 < self._height((*[j for j in subset if j != i], i)) <= least * self.inner(i, i)
            for i in subset
        )

    def _height(self, columns: tuple[int, ...]) -> Fraction:
        """The square of what the others leave of the last column."""
        K = [[self.inner(max(i, j), min(i, j)) for j in columns] for i in columns]
        for at, pivots in enumerate(K[:-1]):
            for row in K[at + 1 :] if pivots[at] else []:
                ratio = row[at] / pivots[at]
                row[:] = [a - ratio * b for a, b in zip(row, pivots, strict=True)]
        return K[-1][-1]

    @property
    def own_target(self) -> bool:
        """Whether the columns themselves are the target."""
        return self._y is self._x

    def inner(self, i: int, j: int) -> Fraction:
        """Inner product of two of all columns and, after these, those of the target, j not after
        i; with the ridge."""
        p = self.rules.numbers.p
        if i < p:
            return self._product(False, j, i) + self._alpha * (i == j)
        return self._own(i - p, j - p) if j >= p else self._product(not self.own_target, j, i - p)

    def _interval(self, subset: tuple[int, ...]) -> tuple[float, float]:
        unit, F = Fraction(self.rules.numbers.unit) ** 2, self._left(subset)
        if self._diagonal:
            error = float(sum((F[i][i] for i in range(len(F))), Fraction(0)) / unit)
            return error * (1.0 - 2 * UNIT), error * (1.0 + 2 * UNIT)
        F = [[value / unit for value in row] for row in F]
        balls = _eigenvalues(F)
        if balls is not None:
            low, high = (float(self.rules.theta(v[self._components :])) for v in balls)
            return low * (1.0 - 1e-12), high * (1.0 + 1e-12)
        left = np.array([[float(value) for value in row] for row in F])
        ends = [float(self.rules.errors(left, self._components, sign)) for sign in (1.0, -1.0)]
        return ends[0], ends[1]

    def _left(self, subset: tuple[int, ...]) -> list[list[Fraction]]:
        """What the columns leave of the target: of its inner products, or of their diagonal."""
        k, q = len(subset), self._y.width
        K = [[self._product(False, i, j) for j in subset] for i in subset]
        for i in range(k):
            K[i][i] += self._alpha
        c = [[self._product(not self.own_target, i, j) for j in range(q)] for i in subset]
        F = [[Fraction(0)] * q for _ in range(q)]
        for a in range(q):
            for b in [a] if self._diagonal else range(a + 1):
                F[a][b] = F[b][a] = self._own(a, b)
        for i in range(k):
            if not K[i][i]:  # it depends on those before
                continue
            for r in range(i + 1, k):
                ratio = K[r][i] / K[i][i]
                K[r] = [a - ratio * b for a, b in zip(K[r], K[i], strict=True)]
                c[r] = [a - ratio * b for a, b in zip(c[r], c[i], strict=True)]
            for a in range(q):
                ratio = c[i][a] / K[i][i]
                for b in [a] if self._diagonal else range(q):
                    F[a][b] -= ratio * c[i][b]
        return F

    def _product(self, with_target: bool, i: int, j: int) -> Fraction:
        """Inner product of column i and a column, or a target, j."""
        if not with_target and i > j:
            i, j = j, i
        name = with_target, i, j
        if name not in self._inner:
            other = self._y if with_target else self._x
            self._inner[name] = (
                self._x.mean_entry(i, j) if self._gram
                else self._x.inner(i, other, j, self._center)
            )  # fmt: skip
        return self._inner[name]

    def _own(self, a: int, b: int) -> Fraction:
        if self.own_target:
            return self._product(False, a, b)
        return self._y.inner(a, self._y, b, self._center)


class _Whole:
    """A matrix of floats as whole numbers times a power of two, with the weights of its rows, which
    are whole numbers times a power of two, too."""

    def __init__(self, matrix: np.ndarray, weights: np.ndarray | None = None):
        self.columns, self.unit = _whole(np.asarray(matrix, dtype=np.float64))
        self.width, weighed, self.weight = matrix.shape[1], self.columns, Fraction(1)
        self.count = len(matrix)
        if weights is not None:
            (whole,), self.weight = _whole(weights[:, None])
            self.count = sum(whole)
            weighed = [list(map(mul, whole, column)) for column in self.columns]
        self.weighed = weighed
        self.sums = [sum(column) for column in weighed]

    def inner(self, i: int, other: _Whole, j: int, center: bool) -> Fraction:
        """Inner product of two columns, without their means if these are free."""
        total = sum(map(mul, self.columns[i], other.weighed[j]))
        unit = self.unit * other.unit * self.weight
        if not center:
            return total * unit
        return Fraction(self.count * total - self.sums[i] * other.sums[j], self.count) * unit

    def mean_entry(self, i: int, j: int) -> Fraction:
        """The mean of an entry and the one across the diagonal."""
        return (self.columns[i][j] + self.columns[j][i]) * self.unit / 2


def _whole(matrix: np.ndarray) -> tuple[list[list[int]], Fraction]:
    """The columns of a matrix of floats as whole numbers, and the power of two they are times."""
    mantissas, exponents = np.frexp(matrix)
    least = int(exponents[mantissas != 0.0].min(initial=0)) - 53
    mantissas = np.ldexp(mantissas, 53)
    exponents = np.where(mantissas != 0.0, exponents - 53 - least, 0)
    pairs = zip(mantissas.T, exponents.T, strict=True)
    columns = [[int(m) << int(e) for m, e in zip(*pair, strict=True)] for pair in pairs]
    return columns, Fraction(2) ** least


def _eigenvalues(F: list[list[Fraction]]) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper ends of the eigenvalues, descending, if python-flint is there to find
    them."""
    try:
        import flint
    except ImportError:
        return None
    before, flint.ctx.prec = flint.ctx.prec, _BITS
    try:
        exact = flint.fmpq_mat([[flint.fmpq(x.numerator, x.denominator) for x in row] for row in F])
        zeros = np.zeros(len(F) - exact.rank())
        low, high = (np.append(ends, zeros) for ends in enclosed(_without_zeros(exact)))
        return low, high
    except ValueError:  # they are too close to be distinguished
        return None
    finally:
        flint.ctx.prec = before


def _without_zeros(matrix):
    """A matrix of rationals with the eigenvalues other than zero of a symmetric one.

    With the pivot columns C and the reduced echelon form R, the matrix is C R; other than zero, its
    eigenvalues are those of R C. Repeated zeros would not be distinguished.
    """
    import flint

    R, rank = matrix.rref()
    rows = [[R[i, j] for j in range(matrix.ncols())] for i in range(rank)]
    pivots = [next(j for j, x in enumerate(row) if x != 0) for row in rows]
    columns = [[matrix[i, j] for j in pivots] for i in range(matrix.nrows())]
    return flint.fmpq_mat(rows) * flint.fmpq_mat(columns) if rank else flint.fmpq_mat(0, 0)


def enclosed(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the eigenvalues, descending, of a matrix of python-flint
    without negative ones; a ValueError if they are too close to be distinguished."""
    import flint

    found = [value.real for value in flint.acb_mat(matrix).eig(multiple=True)]
    ends = [[float(x.lower()) for x in found], [float(x.upper()) for x in found]]
    low, high = (np.sort(np.maximum(values, 0.0))[::-1] for values in ends)
    return low, high
