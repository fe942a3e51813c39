"""Searches that several printed tables share, each run once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist.metrics import reconstruction_error
from columnist.selection import ColumnSelector, StrongRRQRSelector
from reproduction.data import Data
from reproduction.settings import RRQR_F

__all__ = ["Found", "Problem", "after_extraction", "rank_revealing", "searched"]


@dataclass(frozen=True)
class Problem:
    """Choose ``k`` columns of a set, beside ``r2`` free components."""

    data: Data
    name: str
    k: int
    criterion: str
    r2: int = 0

    @property
    def X(self) -> np.ndarray:
        """The matrix."""
        return self.data.matrix(self.name)

    def error(self, columns: tuple[int, ...], r2: int | None = None) -> float:
        """Error of a choice, with other components than the problem's if told."""
        free = self.r2 if r2 is None else r2
        return reconstruction_error(
            self.X, list(columns), criterion=self.criterion, n_components=free
        )


@dataclass(frozen=True)
class Found:
    """The answer of a search."""

    columns: tuple[int, ...]
    error: float
    lower_bound: float
    a_priori: float | None
    seconds: float

    @property
    def a_posteriori(self) -> float:
        """The optimum is at most this much below the error."""
        return self.error - self.lower_bound

    @property
    def proof(self) -> str:
        """What is proven, in a few words."""
        gap = self.a_posteriori / self.error if self.error else 0.0
        return "proven optimal" if gap <= 1e-6 else f"proven within {gap:.2g} of its size"


@lru_cache(maxsize=4096)
def searched(problem: Problem, search: str = "optimal", **options: Any) -> Found:
    """Run a search, or recall it: tables share many problems.

    Raises
    ------
    KeyboardInterrupt
        The search was interrupted: what it returns then is not its answer.
    """
    selector = ColumnSelector(
        problem.k,
        n_components=problem.r2,
        criterion=problem.criterion,
        search=search,
        **{"time_limit": 600.0, **options},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the proof is told beside the figure
        certificate = selector.fit(problem.X).certificate_
    if certificate.status == "interrupted":
        raise KeyboardInterrupt
    return Found(
        certificate.selection,
        certificate.error,
        certificate.lower_bound,
        certificate.a_priori_bound,
        certificate.elapsed,
    )


def after_extraction(problem: Problem) -> float:
    """Error of the best columns, chosen without components, with the components added then."""
    alone = Problem(problem.data, problem.name, problem.k, problem.criterion)
    return alone.error(searched(alone).columns, problem.r2)


@lru_cache(maxsize=256)
def rank_revealing(problem: Problem, f: float = RRQR_F) -> float:
    """Error of a strong rank-revealing QR factorisation (Gu and Eisenstat)."""
    selector = StrongRRQRSelector(problem.k, f=f).fit(problem.X)
    return problem.error(tuple(selector.selected_.tolist()))
