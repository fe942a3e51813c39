"""From data and penalties to the best factors found. No input validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from columnist.linalg._passes import columns_of
from columnist.linalg._prox import minimize_l21, row_norms
from columnist.linalg._ties import ranked
from columnist.lowrank._admm import admm
from columnist.lowrank._alternate import alternate
from columnist.lowrank._factors import Factors, Start, canonical, objective_of
from columnist.lowrank._table import Table, leading_svd

__all__ = ["SOLVERS", "Choice", "Solver", "first_points", "fit_exactly", "single_column"]

# Share of a row's length that its part outside a column has at least: keeps the loss smooth.
_ROUNDING, _TINY = 1e-6, 1e-200


def first_points(
    table: Table, rank: int, loss: str, n_starts: int, rng: np.random.Generator
) -> list[Start]:
    """As many first scores as asked for, the most promising ones first.

    Both problems have many local minima, among them :math:`Y = 0`. Squared errors start from the
    leading singular vectors, then from the longest columns, then from columns drawn with
    probabilities proportional to their squared lengths: scores that point along a real column
    are not lost on the penalty. Lengths of rows start from the singular vectors and the longest
    columns of the rows brought to unit length, which outliers cannot turn far, then from the
    singular vectors of the rows as they are, then from random directions.

    Parameters
    ----------
    table : Table
        Data.
    rank : int
        Number of columns of the scores, at most min(n, p).
    loss : {"quadratic", "robust"}
        Whether outlying rows count with their squared length.
    n_starts : int
        How many; at least 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of Start
    """
    if loss == "robust":
        balanced = _unit_rows(table)
        points = [leading_svd(balanced, rank)[0], _longest(balanced, rank)]
        points.append(leading_svd(table, rank)[0])
        points += [rng.standard_normal(points[0].shape) for _ in range(n_starts - 3)]
    else:
        norms = table.column_norms()
        points = [leading_svd(table, rank)[0], _longest(table, rank)]
        points += [_columns(table, _drawn(norms, rank, rng)) for _ in range(n_starts - 2)]
    return [Start(np.linalg.qr(point)[0]) for point in points[:n_starts]]


def single_column(table: Table, rank: int, alpha: float) -> Start:
    r"""The best robust model with loadings in one column, that with the largest limit.

    If only column i has loadings, :math:`z = Xy_i` can be any vector, and

    .. math:: \sum_j \sqrt{(a_{ji} - z_j)^2 + \rho_j^2} + \alpha \|z\|,

    with :math:`\rho_j` the length of the rest of row j, is convex in it. Below the largest penalty
    its minimum is not at zero, however close; iterations from elsewhere may miss it.
    """
    column = int(ranked(table.pull_limits("robust"))[0])
    values = columns_of(table.values, [column])[:, 0]
    norms = table.residual_norms(np.zeros((len(values), 1)), np.zeros((table.shape[1], 1)))
    rest = np.sqrt(np.maximum(norms**2 - values**2, (_ROUNDING * norms) ** 2 + _TINY))

    def smooth(Z):
        lengths = np.sqrt(np.square(Z[0] - values) + rest**2)
        return float(lengths.sum()), ((Z[0] - values) / lengths)[None, :]

    z = minimize_l21(smooth, np.zeros((1, len(values))), alpha, max_iter=500).W[0]
    X, Y = np.zeros((len(z), rank)), np.zeros((table.shape[1], rank))
    X[:, 0], Y[column, 0] = z, np.linalg.norm(z)
    X = np.linalg.qr(X)[0]
    return Start(X * (1.0 if X[:, 0] @ z >= 0.0 else -1.0), Y)


def _unit_rows(table: Table) -> Table:
    norms = np.concatenate([row_norms(values) for _, values in table.blocks()])
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0.0)
    return replace(table, values=table.values * scale[:, None], missing=None)


def _drawn(norms: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    shares = norms**2 / np.sum(norms**2) if norms.any() else np.zeros(len(norms))
    shares += 1e-9  # there may be fewer columns than wanted that are not zero
    return rng.choice(len(norms), size, replace=False, p=shares / shares.sum())


def _longest(table: Table, size: int) -> np.ndarray:
    return _columns(table, ranked(table.column_norms())[:size])


def _columns(table: Table, which: np.ndarray) -> np.ndarray:
    columns = columns_of(table.values, which)
    return columns if table.shift is None else columns - table.shift[which]


SOLVERS = ("auto", "alternate", "admm")


@dataclass(frozen=True)
class Solver:
    """How one problem is solved.

    Attributes
    ----------
    table : Table
        Data.
    loss : {"quadratic", "robust"}
        Squared lengths or lengths of the rows of the residual.
    method : {"alternate", "admm"}
        The first is for the quadratic loss only.
    starts : sequence of Start
        Where to begin, unless told otherwise.
    tol, max_iter : float and int
        When to end.
    """

    table: Table
    loss: str
    method: str
    starts: Sequence[Start]
    tol: float
    max_iter: int

    @classmethod
    def of(
        cls, table: Table, rank: int, loss: str, *, method: str = "auto", n_starts: int,
        tol: float, max_iter: int, rng: np.random.Generator,
    ) -> Solver:  # fmt: skip
        """With the usual starts; ``"auto"`` alternates where it can."""
        if method == "auto":
            method = "alternate" if loss == "quadratic" else "admm"
        starts = first_points(table, rank, loss, n_starts, rng)
        return cls(table, loss, method, starts, tol, max_iter)

    @cached_property
    def limits(self) -> np.ndarray:
        """For every column the penalty from which on it cannot be the first to enter."""
        return self.table.pull_limits(self.loss)

    @property
    def top(self) -> float:
        """The smallest penalty that leaves nothing."""
        return float(self.limits.max(initial=0.0))

    def solve(
        self,
        alpha: float,
        *,
        starts: Sequence[Start] | None = None,
        columns: np.ndarray | None = None,
    ) -> Factors:
        """The best factors found for a penalty, turned to orthogonal loadings.

        Parameters
        ----------
        alpha : float
            Penalty.
        starts : sequence of Start, optional
            Where to begin.
        columns : ndarray of int, optional
            The only columns that may have loadings.

        Returns
        -------
        Factors
        """
        if alpha >= self.top:
            return self._nothing()
        penalties = np.full(self.table.shape[1], float(alpha))
        if columns is not None:
            penalties[:] = np.inf
            penalties[columns] = alpha
        starts = self.starts if starts is None else starts
        run = self._admm if self.method == "admm" else self._alternate
        found = run(starts, penalties)
        objective = objective_of(self.table, found.X, found.Y, penalties, self.loss)
        return canonical(replace(found, objective=objective))

    def _alternate(self, starts: Sequence[Start], penalties: np.ndarray) -> Factors:
        if not penalties[np.isfinite(penalties)].any() and self.table.missing is None:
            starts = starts[:1]  # singular vectors: the solution
        best = None  # one at a time: the loadings of wide tables are large
        for start in starts:
            run = alternate(self.table, start.X, penalties, tol=self.tol, max_iter=self.max_iter)
            if best is None or run.objective < best.objective:
                best = run
        assert best is not None  # there is a start
        return best

    def _admm(self, starts: Sequence[Start], penalties: np.ndarray) -> Factors:
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        found = admm(self.table, starts, penalties, self.loss, **options)
        if self.loss == "robust" and not found.n_active and np.isfinite(penalties).all():
            start = single_column(self.table, found.X.shape[1], float(penalties[0]))
            found = admm(self.table, [start], penalties, self.loss, **options)
        return found

    def _nothing(self) -> Factors:
        """Zero loadings: the solution from the largest penalty on."""
        X = self.starts[0].X
        Y = np.zeros((self.table.shape[1], X.shape[1]))
        objective = objective_of(self.table, X, Y, self.limits, self.loss)
        return Factors(X, Y, self.limits, objective, np.array([objective]), np.zeros((1, 2)), True)

    def refit(self, found: Factors, columns: np.ndarray) -> Factors:
        """The best factors found without a penalty, with loadings in these columns only.

        For squared errors without missing entries these are the principal components of the
        columns.
        """
        rank = found.X.shape[1]
        part = self.table.take(columns)
        point = np.zeros(found.X.shape)
        size = min(rank, len(columns))
        point[:, :size] = leading_svd(part, size)[0]
        starts = [Start(np.linalg.qr(point)[0]), Start(found.X, found.Y)]
        return self.solve(0.0, starts=starts, columns=columns)


# Width of the bracket, relative to the largest penalty, at which the number is said to jump.
_NARROW = 1e-6
# The smallest penalty that leaves the number is known once it is known so well, relative to itself.
_CLOSE = 0.05
# Halvings of the penalty, at most, that bring back columns lost by solving without the others.
_RETRIES = 40


@dataclass(frozen=True)
class Choice:
    """Factors with a given number of columns.

    Attributes
    ----------
    factors : Factors
        They have loadings in that many columns, or in fewer if there are no more.
    alpha : float
        The penalty, in balanced units.
    jumped : bool
        Whether no penalty was found that leaves this number: then the longest loadings of the
        next larger number were kept, and the problem solved again for these columns alone.
    """

    factors: Factors
    alpha: float
    jumped: bool


def fit_exactly(solver: Solver, size: int) -> Choice:
    """Bisect the penalty until ``size`` columns have loadings.

    The number falls as the penalty grows, though not strictly; of the penalties that leave it
    the smallest is approached, for it shortens the loadings least. Each solution starts from the
    one at the next smaller penalty: on the way down from a large one the iteration may be
    caught at zero.

    Parameters
    ----------
    solver : Solver
        The problem.
    size : int
        Number of columns.

    Returns
    -------
    Choice
    """
    if size >= np.count_nonzero(solver.limits):
        return Choice(solver.solve(0.0), 0.0, False)
    low, high = 0.0, solver.top
    below: Factors | None = None
    hit: Choice | None = None
    guess = None
    while high - low > max(_NARROW * solver.top, _CLOSE * high if hit else 0.0):
        alpha = guess if guess is not None else 0.5 * (low + high)
        found = solver.solve(alpha, starts=_warm(below))
        if found.n_active > size:
            low, below = alpha, found
        else:
            high = alpha
        if found.n_active == size:
            hit = Choice(found, alpha, False)
        known = solver.method == "alternate" and guess is None and hit is None
        guess = _between(found, size, low, high) if known else None
    if hit is not None:
        return hit
    if below is None:
        low, below = 0.0, solver.solve(0.0)
    if below.n_active <= size:
        return Choice(below, low, False)
    return _restricted(solver, below, low, size)


def _warm(found: Factors | None) -> list[Start] | None:
    return None if found is None else [Start(found.X, found.Y)]


def _between(found: Factors, size: int, low: float, high: float) -> float | None:
    """Penalty between the wanted and the next column if scores did not move; None if useless."""
    pulls = np.sort(found.pulls)[::-1]
    guess = float(pulls[size - 1] + pulls[size])
    return guess if low < guess < high else None


def _restricted(solver: Solver, found: Factors, alpha: float, size: int) -> Choice:
    """Keep the columns with the longest loadings, and solve for these alone."""
    columns = ranked(found.pulls)[:size]
    for _ in range(_RETRIES):
        smaller = solver.solve(alpha, starts=_warm(found), columns=columns)
        if smaller.n_active == size:
            break
        alpha *= 0.5
    return Choice(smaller, alpha, True)
