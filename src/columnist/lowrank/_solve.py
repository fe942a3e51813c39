"""From data and penalties to the best factors found. No input validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from columnist.lowrank._admm import admm
from columnist.lowrank._alternate import alternate
from columnist.lowrank._factors import Factors, Start, canonical, objective_of
from columnist.lowrank._starts import first_points, single_column
from columnist.lowrank._table import Table, leading_svd

__all__ = ["SOLVERS", "Solver"]

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
