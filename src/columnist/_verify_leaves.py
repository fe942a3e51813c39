"""What the rules of a checker find of nodes, in balls that hold the exact numbers.

The inner products of the data are rational (:mod:`columnist._verify_exact`). The balls of
python-flint hold them, and what elimination leaves of them, without the share by which the checker
lowers its numbers, and every step widens them by its own rounding. D, Y, s and B of a relaxation
are any numbers that fit: they are found in floating point arithmetic, and that both matrices are
positive definite is shown by the pivots of an elimination in balls.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from columnist._verify import UNIT, Task
from columnist._verify_exact import ExactErrors, enclosed

# Bits of balls.
_BITS = 256
# Methods for rules about a whole node, and for those about each of its candidates, or pairs.
WHOLE = {"span": "_span", "relaxation": "_relaxation"}
_PARTS = {
    "relaxation, fewer columns": "_marks",
    "last columns": "_last",
    "span, each column": "_children",
}


class ExactLeaves:
    """Redoes what rules find of nodes, all of it or what is in doubt; ``count`` says how often."""

    def __init__(self, errors: ExactErrors, every: bool):
        self._errors, self._every = errors, every
        self._rules = errors.rules
        self.count: Counter[str] = Counter()

    def __call__(self, rule: str, node: Task, found: np.ndarray, by: tuple | None) -> np.ndarray:
        """What is confirmed of it; rules about a whole node ask only if they hold, or almost."""
        in_doubt = rule in WHOLE and not found[0]
        if not (in_doubt or (self._every and found.any())):
            return found
        self.count["leaves"] += 1
        self.count["leaves in doubt"] += in_doubt
        import flint

        with flint.ctx.workprec(_BITS):
            try:
                if rule in WHOLE:
                    return np.array([int(getattr(self, WHOLE[rule])(node, by))])
                return getattr(self, _PARTS[rule])(node, found, by)
            except (ZeroDivisionError, ValueError, np.linalg.LinAlgError):  # too wide, or none
                return np.zeros_like(found)

    # -- the numbers --------------------------------------------------------------------

    @cached_property
    def _table(self) -> list[list[Any]]:
        """Inner products of columns, and of columns and target, then of the target."""
        inner, unit = self._errors.inner, self._rules.numbers.unit
        p, order = self._rules.numbers.p, self._rules.numbers.p + self._rules.numbers.q
        table = [[None] * order for _ in range(order)]
        lengths = [math.sqrt(max(float(inner(i, i)), 0.0)) for i in range(p)]
        # As the checker scales them: what it proposes must fit.
        powers = [1.0 / length if length else 1.0 for length in lengths]
        powers += [1.0 / unit] * (order - p)
        for i in range(order):
            for j in range(i + 1):
                table[i][j] = table[j][i] = _ball(inner(i, j)) * powers[i] * powers[j]
        return table

    def _block(self, rows: Sequence[int], columns: Sequence[int]):
        import flint

        return flint.arb_mat([[self._table[i][j] for j in columns] for i in rows])

    def _left(self, chosen: Sequence[int], candidates: Sequence[int]):
        """K, c and F once columns are eliminated; columns of the target that are chosen are left
        out: nothing remains of them."""
        p, q = self._rules.numbers.p, self._rules.numbers.q
        gone = set(chosen) if self._errors.own_target else set()
        targets = [p + j for j in range(q) if j not in gone]
        some = [*candidates, *targets]
        if not some:
            return [], [], []
        G = self._block(some, some)
        if chosen:
            height = self._block(chosen, some)
            G -= height.transpose() * self._block(chosen, chosen).solve(height)
        rows, n = G.tolist(), len(candidates)
        return [r[:n] for r in rows[:n]], [r[n:] for r in rows[:n]], [r[n:] for r in rows[n:]]

    def _to_choose(self, node: Task) -> int:
        return self._rules.choices.left(node.chosen, node.candidates)

    def _parts(self, node: Task):
        return self._left(list(node.chosen), node.candidates.tolist())

    def _least(self, F, directions: int) -> np.ndarray:
        """Lower ends of the eigenvalues of F from one on, as many as the target has."""
        found = np.zeros(self._rules.numbers.q)
        if len(F) > directions:
            low = enclosed(_matrix(F))[0][directions:]
            found[: len(low)] = low
        return found

    def _reaches(self, low: np.ndarray) -> bool:
        charge = 8 * (len(low) + 8) * UNIT
        return float(self._rules.theta(low)) * (1.0 - charge) >= self._rules.limit

    # -- the rules ----------------------------------------------------------------------

    def _span(self, node: Task, _) -> bool:
        F = self._left(list(node.chosen), [])[2]
        rest = self._left([*node.chosen, *node.candidates.tolist()], [])[2]
        inside = self._least(F, self._to_choose(node) + self._rules.components)
        return self._reaches(np.maximum(inside, self._least(rest, self._rules.components)))

    def _children(self, node: Task, found: np.ndarray, _) -> np.ndarray:
        confirmed, left = found.copy(), self._to_choose(node)
        for at in np.flatnonzero(found):
            F = self._left([*node.chosen, int(node.candidates[at])], [])[2]
            confirmed[at] *= self._reaches(self._least(F, left - 1 + self._rules.components))
        return confirmed

    def _relaxation(self, node: Task, by: tuple) -> bool:
        base, scores = self._separable(node, by)
        return bool(base - self._most(node, scores) >= self._rules.limit)

    def _marks(self, node: Task, found: np.ndarray, by: tuple) -> np.ndarray:
        base, scores = self._separable(node, by)
        confirmed = found.copy()
        for at in np.flatnonzero(found):
            most = self._most(node, scores, int(at), bool(found[at] == 2))
            confirmed[at] *= bool(base - most >= self._rules.limit)
        return confirmed

    def _most(self, node: Task, scores: list, at: int = -1, chosen: bool = False):
        """The most that these can add up to, or do with one of them chosen, or not chosen; with
        constraints in floating point arithmetic, whose rounding is in the number."""
        left = self._to_choose(node)
        if self._rules.choices.varies:
            floats = np.array([float(score) for score in scores])
            value, into, out = self._rules.choices.most(floats, *node[:2])
            return value if at < 0 else value - (into if chosen else out)[at] * (1.0 - 8 * UNIT)
        if at < 0:
            return sum(sorted(scores)[-left:])
        others = sorted(scores[:at] + scores[at + 1 :])[::-1]
        return sum(others[: left - 1], scores[at]) if chosen else sum(others[:left])

    def _separable(self, node: Task, by: tuple):
        """What the energy is without the sum of the terms of candidates, and upper ends of what
        each of these may add."""
        K, c, F = self._parts(node)
        n, (D, Y, shift, B) = len(K), by
        D, K, c = D.tolist(), _matrix(K), _matrix(c)
        gone = list(node.chosen) if shift == 0.0 and self._errors.own_target else []
        P, B = K - _diagonal(D), _matrix(np.delete(B, gone, axis=1).tolist())
        if shift > 0.0:
            Y = _matrix(Y.tolist())
            _check_positive(Y * Y.transpose() + K * shift - c * c.transpose())
        else:
            Y = c
        _check_positive(P)
        product = P * B
        rest = (Y - product).tolist()
        scores = [(sum(x * x for x in rest[i]) / D[i] + shift).upper() for i in range(n)]
        quadratic = (B.transpose() * product).trace()
        return sum(F[i][i] for i in range(len(F))) - quadratic, scores

    def _last(self, node: Task, found: np.ndarray, _) -> np.ndarray:
        K, c, F = self._parts(node)
        H = (_matrix(c) * _matrix(c).transpose()).tolist()
        confirmed, total = found.copy(), sum(F[i][i] for i in range(len(F)))
        for i, j in np.argwhere(found).tolist():
            if i < j:
                ratio = K[i][j] / K[i][i]
                pair = H[j][j] - 2 * ratio * H[i][j] + ratio * ratio * H[i][i]
                caught = H[i][i] / K[i][i] + pair / (K[j][j] - ratio * K[i][j])
                confirmed[i, j] = bool(total - caught >= self._rules.limit)
        return confirmed


def _ball(fraction):
    import flint

    return flint.arb(flint.fmpq(fraction.numerator, fraction.denominator))


def _matrix(rows):
    import flint

    return flint.arb_mat(rows)


def _diagonal(values: list[float]):
    n = len(values)
    return _matrix([[values[i] if i == j else 0.0 for j in range(n)] for i in range(n)])


def _check_positive(matrix) -> None:
    """Raise a ValueError unless all pivots of a symmetric matrix are certainly positive."""
    rows = matrix.tolist()
    for k, pivots in enumerate(rows):
        if not pivots[k] > 0:
            raise ValueError("not positive definite")
        for i in range(k + 1, len(rows)):
            ratio, row = pivots[i] / pivots[k], rows[i]
            for j in range(k + 1, i + 1):
                rows[i][j] = row[j] - ratio * pivots[j]
                rows[j][i] = rows[i][j]
