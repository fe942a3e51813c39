"""True errors of all sets of columns or rows, by enumeration.

Every set is measured in double precision first, with a generous bound on the rounding. Sets for
which that leaves a doubt that matters are measured again in double-double arithmetic
(:mod:`tests.soak.doubled`), by orthogonalising the data themselves, never their Gram matrix. The
result is an interval [``low``, ``high``] for each set. It is a few units in the last place wide,
except where singular values are zero up to rounding, below ``zero``: those count as anything
between 0 and ``zero``.

Directions that only the rounding of the data makes independent, such as those of a copy of a
column times 0.1, have no agreed meaning. There are two views: ``cut`` ignores what is left of a
column when the rest is shorter than 1e-13 of it, ``exact`` takes the numbers as they are. They
agree on all other data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from tests.oracles.constrained import every_choice
from tests.soak.criteria import formula
from tests.soak.doubled import EPS, Doubled, leading, root

__all__ = ["ColumnTruth", "RowTruth", "Truth", "total_error"]

# A rest of a column shorter than this part of it: rounding, in the view "cut"; a true zero.
_CUT, _NOTHING = 1e-13, 1e-27
# Singular values below this part of the largest are zero up to rounding; a Gram matrix holds
# their squares.
_ZERO, _ZERO_OF_GRAM = 1e-12, 2e-7
# Rests of a column that are shorter are directions in their own right, or nothing.
_NEAR = 1e-9
# Rounding of the entries of a column, in parts of its length.
_ENTRIES = 8e-15
# Errors known to this relative precision need no better arithmetic.
_KNOWN = 1e-10
# Rounding of an orthogonalisation, in units of eps times condition times length of the target.
_ROUNDING = 100.0
# Sets measured together.
_BATCH = 4096


class Truth:
    """Errors of all sets.

    Parameters
    ----------
    sets : sequence of tuple of int
        The sets.
    criterion : str
        A name of :mod:`tests.soak.criteria`.
    skip : int
        Largest singular values that do not count.
    zero : float
        Singular values up to this are zero up to rounding.
    exact : bool
        The view: "exact", or "cut" (see the module).
    """

    def __init__(
        self, sets: Sequence[tuple[int, ...]], criterion: str, skip: int, zero: float, exact: bool
    ):
        self.sets = list(sets)
        self.position = {columns: i for i, columns in enumerate(self.sets)}
        self._value, self._skip, self._zero = formula(criterion), skip, zero
        self._exact = exact
        self.base = float(self._value(np.zeros(1)))
        self.low, self.high = np.empty(len(self.sets)), np.empty(len(self.sets))
        self._known = np.zeros(len(self.sets), dtype=bool)
        self.rounded = False
        self._lengths = np.array([len(columns) for columns in self.sets], dtype=np.intp)
        for first in range(0, len(self.sets), _BATCH):
            last = min(first + _BATCH, len(self.sets))
            self._measure_all(np.arange(first, last), doubled=False)

    def _measure(self, chosen: np.ndarray, doubled: bool):
        """Singular values (descending), their error, and how many there can be; per set."""
        raise NotImplementedError

    def _measure_all(self, chosen: np.ndarray, *, doubled: bool) -> None:
        """Measure sets, those of one length together."""
        for length in np.unique(self._lengths[chosen]):
            self._measure_into(chosen[self._lengths[chosen] == length], doubled=doubled)

    def _measure_into(self, chosen: np.ndarray, *, doubled: bool) -> None:
        s, error, count = self._measure(chosen, doubled)
        structural = np.arange(s.shape[1]) < count[:, None]
        error = error[:, None]
        low, high = np.maximum(s - error, 0.0), s + error
        zero = self._zeros(chosen)[:, None]
        raised = np.maximum(high, zero)
        lowered = np.where(low <= zero, 0.0, low)
        highest, lowest = self._errors(raised * structural), self._errors(lowered * structural)
        width = highest - self._errors(np.maximum(low, zero) * structural)
        known = width <= _KNOWN * np.abs(highest - self.base)
        self._known[chosen] = known if not doubled else True
        # An error that must be zero is computed with rounding, too.
        self.high[chosen] = np.maximum(highest, self._value(np.array([self._zero])))
        self.low[chosen] = lowest

    def _zeros(self, chosen: np.ndarray) -> np.ndarray:
        """What is zero up to rounding, per set."""
        return np.full(len(chosen), self._zero)

    def _errors(self, s: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self._value(s[:, self._skip :]), dtype=np.float64)

    def _refine(self, chosen: np.ndarray) -> None:
        chosen = chosen[~self._known[chosen]]
        if len(chosen):
            self._measure_all(chosen, doubled=True)

    def of(self, chosen: Iterable[int]) -> tuple[float, float]:
        """Smallest and largest error a set may be said to have."""
        i = self.position[tuple(sorted(int(j) for j in chosen))]
        self._refine(np.array([i]))
        return float(self.low[i]), float(self.high[i])

    def best(self, count: int = 1) -> np.ndarray:
        """The ``count`` smallest errors, ascending; the largest each may be said to be."""
        count = min(count, len(self.sets))
        limit = np.partition(self.high, count - 1)[count - 1]
        self._refine(np.flatnonzero(self.low <= limit))
        return np.sort(self.high)[:count]

    def best_set(self) -> tuple[int, ...]:
        """A set of the smallest error."""
        self.best()
        return self.sets[int(np.argmin(self.high))]


class ColumnTruth(Truth):
    """Errors of all sets of k columns as predictors of a target.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Data.
    Y : ndarray of shape (m, q) or None
        Target; None for X itself.
    k : int or None
        Size of the sets; with constraints, units, or None for any number.
    center : bool
        Whether an intercept is free.
    include, exclude : iterables of int
        Columns in every set, and in none.
    constraints : sequence of Constraint
        Further constraints.
    gram : bool
        Whether the library is given only the Gram matrix.
    """

    def __init__(
        self, X, Y, k: int | None, *, criterion: str, n_components: int = 0, center: bool = False,
        include=(), exclude=(), constraints=(), gram: bool = False, exact: bool = False,
    ):  # fmt: skip
        sets = _sets(X.shape[1], k, set(include), set(exclude), constraints)
        self._columns, self._n_rows = _Columns(X, center), len(X) - center
        self._of_x = Y is None
        target = X if self._of_x else Y
        self._target = _Target(target, center)
        self._plain = criterion == "frobenius" and n_components == 0
        zero = self._target.zero(_ZERO_OF_GRAM if gram else _ZERO)
        self._least = np.ones(len(sets))
        super().__init__(sets, criterion, n_components, zero, exact)

    def _zeros(self, chosen: np.ndarray) -> np.ndarray:
        """The rounding of a column's entries counts as often as its coefficient says."""
        entries = np.ldexp(_ENTRIES * self._target.length, self._target.exponent)
        least = self._least[chosen]
        return np.maximum(self._zero, np.where(least > _NEAR, entries / least, 0.0))

    def _measure(self, chosen: np.ndarray, doubled: bool):
        sets = np.array([self.sets[i] for i in chosen], dtype=np.intp)
        T = self._target.entries if doubled else leading(self._target.entries)
        B = self._columns.entries if doubled else leading(self._columns.entries)
        B, lengths = _batch(B, sets), self._columns.lengths[sets]
        T = _batch(T, _others(sets, T.shape[1]) if self._of_x else None, len(sets))
        cut = _NOTHING if self._exact else _CUT
        T, rank, least, dropped = _project_out(B, T, lengths, cut)
        if not doubled and self._exact:
            # What double precision takes for zero may be a direction.
            least = np.where(dropped, 1e-20, least)
        self.rounded |= bool(dropped.any())
        self._least[chosen] = least
        s = _singular_values(T, plain=self._plain)
        eps = EPS if doubled else np.finfo(float).eps
        error = _ROUNDING * eps * self._target.length / least
        count = np.minimum(self._n_rows - rank, T.shape[2])
        # Without a spectrum there is one value, the root of the sum of squares.
        count = np.minimum(count, 1) if self._plain else count
        scale = self._target.exponent
        return np.ldexp(s, scale), np.ldexp(error, scale), count


def _sets(n: int, k: int | None, include: set, exclude: set, constraints) -> list[tuple[int, ...]]:
    """All sets that are allowed."""
    if constraints:
        return every_choice(n, constraints, k, include, exclude)
    free = [j for j in range(n) if j not in include | exclude]
    return [tuple(sorted(include.union(c))) for c in combinations(free, k - len(include))]


class RowTruth(Truth):
    """Errors of the rows that are left when k of them are removed.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Data.
    k : int
        Rows to remove.
    n_components : int
        Components of the fit.
    centering : {"none", "mean", "optimal"}
        Origin: zero, the mean of all rows, the mean of the rows that are left.
    """

    def __init__(self, X, k: int, *, criterion: str, n_components: int, centering: str):
        self._rows = _Target(X, centering != "none")
        self._centred = centering == "optimal"
        self._plain = criterion == "frobenius" and n_components == 0
        sets = list(combinations(range(len(X)), k))
        super().__init__(sets, criterion, n_components, self._rows.zero(_ZERO), False)

    def _measure(self, chosen: np.ndarray, doubled: bool):
        m, n = self._rows.entries.shape
        removed = np.array([self.sets[i] for i in chosen], dtype=np.intp).reshape(len(chosen), -1)
        kept = _others(removed, m)
        Z = (self._rows.entries if doubled else leading(self._rows.entries))[kept]
        if self._centred:
            Z = Z - _mean(Z)
        s = _singular_values(Z, plain=self._plain)
        eps = EPS if doubled else np.finfo(float).eps
        error = np.full(len(chosen), _ROUNDING * eps * self._rows.length)
        count = 1 if self._plain else min(kept.shape[1] - self._centred, n)
        scale = self._rows.exponent
        return np.ldexp(s, scale), np.ldexp(error, scale), np.full(len(chosen), count)


def total_error(T: np.ndarray, center: bool, criterion: str) -> float:
    """Criterion of a target itself."""
    target = _Target(T, center)
    s = np.linalg.svd(target.entries.hi, compute_uv=False)
    return float(formula(criterion)(np.ldexp(s, target.exponent)))


class _Columns:
    """Columns of about unit length, centred in double-double arithmetic."""

    def __init__(self, X: np.ndarray, center: bool):
        exponents = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1]
        self.entries = Doubled(np.ldexp(X, -exponents))
        before = np.sqrt(np.square(self.entries.hi).sum(axis=0))
        if center:
            self.entries = _centred(self.entries)
        after = np.sqrt(np.square(self.entries.hi).sum(axis=0))
        # A centred column of nothing but rounding is a constant one.
        self.lengths = np.where(after > _NOTHING * before, after, 0.0)


class _Target:
    """A target with entries of at most one, centred in double-double arithmetic."""

    def __init__(self, T: np.ndarray, center: bool):
        self.exponent = int(np.frexp(np.abs(T).max(initial=0.0))[1])
        self.entries = Doubled(np.ldexp(T, -self.exponent))
        self._before = float(np.sqrt(np.square(self.entries.hi).sum()))
        if center:
            self.entries = _centred(self.entries)
        self.length = float(np.sqrt(np.square(self.entries.hi).sum()))

    def zero(self, share: float) -> float:
        """What is zero up to rounding: of the target, and, as the library has it (4 units of
        rounding, times coefficients), of its entries before centring."""
        s = np.linalg.svd(self.entries.hi, compute_uv=False)
        top = s[0] if s.size else 0.0
        return float(np.ldexp(max(share * top, 2e-15 * self._before), self.exponent))


def _mean(Z):
    """Mean of the rows of a batch (or of one matrix), ready to be subtracted."""
    count = np.full((), float(Z.shape[-2]))
    if not isinstance(Z, Doubled):
        return Z.mean(axis=-2, keepdims=True)
    axis = len(Z.shape) - 2
    total = Z.sum(axis)
    mean = total / Doubled(np.broadcast_to(count, total.shape).copy())
    return mean[None, :] if axis == 0 else mean[:, None, :]


def _centred(A: Doubled) -> Doubled:
    return A - _mean(A)


def _batch(A, columns: np.ndarray | None, count: int = 0):
    """Chosen columns of A as a batch of matrices; all of them, ``count`` times, if None."""
    if columns is None:
        columns = np.tile(np.arange(A.shape[1]), (count, 1))
    rows = np.arange(A.shape[0])[None, :, None]
    return A[rows, columns[:, None, :]]


def _others(sets: np.ndarray, n: int) -> np.ndarray:
    """What each set leaves of n items."""
    taken = np.zeros((len(sets), n), dtype=bool)
    np.put_along_axis(taken, sets, True, axis=1)
    return np.nonzero(~taken)[1].reshape(len(sets), n - sets.shape[1])


def _lengths(A) -> np.ndarray:
    """Lengths of the columns of every matrix of a batch, in double precision."""
    return np.sqrt(np.square(leading(A)).sum(axis=1))


def _direction(A, picked: np.ndarray, live: np.ndarray):
    """One column of every matrix, of length one; zero where it is not live."""
    v = A[np.arange(len(picked)), :, picked]
    length = root((v * v).sum(1))
    if isinstance(v, Doubled):
        safe = Doubled(np.where(live, length.hi, 1.0), np.where(live, length.lo, 0.0))
        return v / safe[:, None] * Doubled(live[:, None].astype(float))
    return v / np.where(live, length, 1.0)[:, None] * live[:, None]


def _without(A, v):
    """A without the direction v, and the coefficients."""
    coefficients = (v[:, :, None] * A).sum(1)
    return A - v[:, :, None] * coefficients[:, None, :], coefficients


def _project_out(B, T, lengths: np.ndarray, cut: float):
    """T without the span of B, for a batch.

    Returns
    -------
    T : batch of matrices
        What is left.
    rank : ndarray of int
        Directions of B.
    least : ndarray of float
        Shortest rest of a column of B relative to the column.
    dropped : ndarray of bool
        Whether there was a rest shorter than ``cut``.
    """
    count, k = lengths.shape
    free = np.ones((count, k), dtype=bool)
    rank, least = np.zeros(count, dtype=int), np.ones(count)
    dropped = np.zeros(count, dtype=bool)
    each = np.arange(count)
    for _ in range(k):
        rest = _lengths(B) / np.where(lengths > 0.0, lengths, np.inf)
        picked = np.argmax(np.where(free, rest, -1.0), axis=1)
        ratio = rest[each, picked]
        live = ratio > cut
        dropped |= ~live & (lengths[each, picked] > 0.0)
        least = np.where(live, np.minimum(least, ratio), least)
        free[each, picked] = False
        rank += live
        v = _direction(B, picked, live)
        B, _ = _without(B, v)
        T, _ = _without(T, v)
    return T, rank, least, dropped


def _singular_values(T, *, plain: bool) -> np.ndarray:
    """Singular values, descending, in double precision; the root of their squares if ``plain``."""
    if plain or T.shape[2] <= 1:
        squares = (T * T).sum(1).sum(1)
        return leading(root(squares))[:, None]
    if not isinstance(T, Doubled):
        return np.linalg.svd(T, compute_uv=False)
    rows = []
    for _ in range(min(T.shape[1:])):
        lengths = _lengths(T)
        picked = np.argmax(lengths, axis=1)
        live = lengths[np.arange(len(picked)), picked] > 0.0
        T, coefficients = _without(T, _direction(T, picked, live))
        rows.append(coefficients.hi)
    # Pivoting leaves rows of falling length that are far from dependent once they have length
    # one: rotations then find even the smallest value to full precision.
    return _rotated_lengths(np.stack(rows, axis=2))


def _rotated_lengths(A: np.ndarray) -> np.ndarray:
    """Singular values by one-sided Jacobi rotations of the columns of every matrix."""
    A = A.copy()
    for _ in range(40):
        turned = False
        for i, j in combinations(range(A.shape[2]), 2):
            turned |= _rotate(A, i, j)
        if not turned:
            break
    return -np.sort(-_lengths(A), axis=1)


def _rotate(A: np.ndarray, i: int, j: int) -> bool:
    """Make two columns orthogonal; whether any were not."""
    a, b = A[:, :, i].copy(), A[:, :, j].copy()
    aa, bb, ab = (a * a).sum(1), (b * b).sum(1), (a * b).sum(1)
    turn = np.abs(ab) > 1e-15 * np.sqrt(aa) * np.sqrt(bb)
    if not turn.any():
        return False
    safe = np.where(turn, ab, 1.0)
    # An infinite quotient is no turn at all.
    with np.errstate(over="ignore"):
        zeta = np.where(turn, (bb - aa) / (2.0 * safe), 0.0)
        sign = np.where(zeta >= 0.0, 1.0, -1.0)
        t = np.where(turn, sign / (np.abs(zeta) + np.hypot(1.0, zeta)), 0.0)
    c = 1.0 / np.hypot(1.0, t)
    s = c * t
    A[:, :, i] = c[:, None] * a - s[:, None] * b
    A[:, :, j] = s[:, None] * a + c[:, None] * b
    return True
