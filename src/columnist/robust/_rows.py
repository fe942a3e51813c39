r"""Which rows to remove before PCA, as a problem for the best-first search, any criterion.

With D the rows removed so far, t still to remove and :math:`\lambda_1 \ge \lambda_2 \ge \dots` the
eigenvalues of the scatter of the other rows (about their mean, if the error is centred),

.. math:: u(D) = \Theta(\lambda_{r+1}, \dots), \qquad f(D) = \Theta(\lambda_{r+t+1}, \dots).

Removing one more row x of m changes the scatter by a rank-one term, also when it is centred:

.. math:: C' = C - \frac{m}{m-1} (x-\mu)(x-\mu)^T.

Rows that are neither removed nor candidates stay; no removal lowers the eigenvalues of their
own scatter. Since f vanishes once r + k reaches the number of features, this search is for few
rows in many dimensions, and for criteria that :mod:`columnist.robust._block_proof` does not serve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.linalg

from columnist.linalg._rounding import AGREEMENT, EPS, allowance
from columnist.robust._concentrate import concentrated_rows
from columnist.robust._errors import RowErrors, all_but
from columnist.search import _interrupts as interrupts
from columnist.search._downdates import Downdates, Moment
from columnist.search._incumbent import exchange, greedy

# Operations of a greedy choice and one pass of exchanges beyond which concentration must do.
_MOST_WORK = 2e9


class Scatter(Moment):
    """Scatter of the rows that are left, about their mean or the origin. ``removed`` is a mask,
    ``candidates`` are the rows that may be removed next; ``off`` is what the rows are off by, in
    the Frobenius norm."""

    def __init__(
        self,
        rows: np.ndarray,
        removed: np.ndarray,
        candidates: np.ndarray,
        centred: bool,
        off: float = 0.0,
    ):
        self.rows, self.removed, self.candidates = rows, removed, candidates
        self.centred = centred
        left = rows[~removed]
        mean = left.mean(axis=0) if centred else np.zeros(rows.shape[1])
        off += EPS * float(np.linalg.norm(left))
        left = left - mean
        lam, basis = scipy.linalg.eigh(left.T @ left, check_finite=False)
        self.n_left = len(left)
        self.lam = np.maximum(lam[::-1], 0.0)
        # Eigenvalues round by their number, and the sums that make up the scatter by theirs.
        order = 2 * len(lam) + self.n_left // 4 + 1
        self.allowance = allowance(order, float(self.lam.sum()))
        # The rows are rounded themselves, which moves singular values by ``off``.
        self.allowance += off * (2.0 * np.sqrt(self.lam.max(initial=0.0)) + off)
        self.offsets = (rows[candidates] - mean) @ basis[:, ::-1]
        self.Z = np.sqrt(self._factor(1)) * self.offsets

    def _factor(self, count: int) -> float:
        """What removing ``count`` rows takes, at most, for every unit of their squared offsets."""
        return self.n_left / max(self.n_left - count, 1) if self.centred else 1.0

    def untouched(self, kept: np.ndarray) -> np.ndarray:
        """Eigenvalues of the scatter of the rows that stay for certain."""
        stay = ~self.removed
        stay[self.candidates[kept]] = False
        rows = self.rows[stay]
        if len(rows) <= self.centred:
            return np.empty(0)
        rows = rows - rows.mean(axis=0) if self.centred else rows
        return scipy.linalg.eigvalsh(rows.T @ rows, check_finite=False)[::-1]

    def products(self, kept: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """As if orthogonal: rows take the sum of their energies, or less about a moving mean."""
        energies = np.einsum("ij,ij->i", self.offsets[kept], self.offsets[kept])
        return np.eye(len(kept)), np.diag(self._factor(width) * energies)

    def after(self, positions: np.ndarray) -> tuple[np.ndarray, float]:
        """Scatter without these rows too, and its rounding."""
        Y = self.offsets[positions]
        scatter = np.diag(self.lam) - Y.T @ Y
        if self.centred and self.n_left > len(Y):
            total = Y.sum(axis=0)
            scatter -= np.outer(total, total) / (self.n_left - len(Y))
        return scatter, self.allowance


class RemovedRows(Downdates):
    """The problem: choose the rows to remove. ``start`` is a set, of any size, near a good one."""

    def __init__(
        self,
        errors: RowErrors,
        n_removed: int,
        rng: np.random.Generator | None = None,
        start: Sequence[int] | np.ndarray | None = None,
    ):
        n, criterion = len(errors.X), errors.criterion
        super().__init__(n, n_removed, criterion, errors.n_components, errors.scale)
        self.row_errors, self.rows, self.centred = errors, errors.short, errors.centred
        self.rng, self.start = rng or np.random.default_rng(0), start

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Nothing removed; every row may be."""
        return np.empty(0, dtype=np.int32), np.arange(self.n_items, dtype=np.int32)

    def root_bounds(self) -> tuple[float, float]:
        """f and u of all rows."""
        chosen, _ = self.root()
        moment = self.moment(chosen, chosen)
        tail = moment.lam[self.n_components + self.size :] - moment.allowance
        return float(self.errors(tail[None])[0]), self.value(chosen)

    def moment(self, chosen, candidates) -> Scatter:
        """Scatter of the rows that are not chosen."""
        removed = ~all_but(self.n_items, chosen)
        return Scatter(self.rows, removed, candidates, self.centred, self.row_errors.off)

    def value(self, subset: Sequence[int] | np.ndarray) -> float:
        """Error without these rows, from the data, in better arithmetic where that is needed."""
        return self.row_errors.evaluate(all_but(self.n_items, subset)).value

    def interval(
        self, subset: Sequence[int] | np.ndarray, limit: float = np.inf
    ) -> tuple[float, float]:
        """Two numbers between which that error lies."""
        found = self.row_errors.evaluate(all_but(self.n_items, subset), limit)
        return found.low, found.high

    @property
    def distinct(self) -> bool:
        """Whether rounding does not show in the bounds of the root."""
        moment = self.moment(*(self.root()[0],) * 2)
        tail = moment.lam[self.n_components :]
        low, high = self.errors(tail + moment.allowance * np.array([[-1.0], [1.0]]))
        return bool(high - low <= AGREEMENT * abs(high))

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Concentration from many starts, then greedy choice and exchanges if affordable."""
        start = None if self.start is None else all_but(self.n_items, self.start)
        kept = concentrated_rows(
            self.rows, self.n_components, self.size,
            centred=self.centred, rng=self.rng, deadline=deadline, start=start,
        )  # fmt: skip
        found = [np.flatnonzero(~kept).tolist()]
        yield found[0]
        n, d = self.rows.shape
        affordable = self.size * n * d * (d + 10.0) <= _MOST_WORK
        if not affordable or interrupts.expired(deadline):
            return
        found.append(greedy(self, chosen, candidates, deadline=deadline))
        yield found[-1]
        yield exchange(self, min(found, key=self.value), chosen, candidates, deadline=deadline)

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        n, d = self.rows.shape
        return 1e-4 + (25.0 * d**3 + 40.0 * d * d * n) / 2e9
