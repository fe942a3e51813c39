"""The weighted searches as they are printed: every child of a node is kept open, from nothing on.

The package's own weighted search begins with a strong choice, which satisfies the same guarantee
and is often the optimum: it would hide what the printed searches find.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from columnist.criteria import (
    Criterion,
    Frobenius,
    Nuclear,
    Schatten,
    Spectral,
    get_criterion,
)
from columnist.linalg._secular import downdated_eigenvalues
from reproduction.searches import Problem
from tests.oracles.textbook import Node, Search, TextbookResult, textbook_search

__all__ = ["KEYS", "MOST_NODES", "Order", "Power", "from_key", "printed_greedy", "printed_search"]

MOST_NODES = 2_000
"""Expanded nodes after which a printed search is given up."""


@dataclass(frozen=True)
class Power(Criterion):
    """A criterion to a power: the same order of subsets, another rule f + eps u."""

    base: Criterion
    power: float
    name: ClassVar[str] = "power"

    def value(self, singular_values: ArrayLike) -> float:
        """``base.value(sigma) ** power``."""
        return self.base.value(singular_values) ** self.power


KEYS: dict[str, Criterion] = {
    "schatten:0.5": Power(Schatten(0.5), 0.5),
    "nuclear": Nuclear(),
    "frobenius": Frobenius(),
    "spectral": Power(Spectral(), 2.0),
}
"""The criteria as the printed searches add them up: plain sums over the eigenvalues, so that the
spectral norm enters its key squared."""


def from_key(criterion: str, value: float) -> float:
    """The figure of the first document, for a value of :data:`KEYS`."""
    return value**0.5 if criterion == "spectral" else value


class Order(Search):
    """The textbook search with our kernel: only the eigenvalues that f, u and b need."""

    def expand(self, node: Node) -> None:
        """Put every child that is neither closed nor in the fringe into the fringe."""
        self.visited.append(node.columns)
        self.n_expanded += 1
        outside = np.setdiff1d(np.arange(self.reduced.n_columns), node.columns)
        children = {int(y): tuple(sorted((*node.columns, int(y)))) for y in outside}
        fresh = [y for y, child in children.items() if child not in self.seen]
        if not fresh:
            return
        self.seen.update(children.values())
        lam, WtR = self.reduced.residual(node.columns)
        Z, _ = self.reduced.updates(lam, WtR, fresh)
        t = min(self.k - len(node.columns) - 1, len(lam))
        top = np.maximum(downdated_eigenvalues(lam, Z, 0, t), 0.0)
        # The criterion is a sum: one value stands for all singular values behind the top ones.
        rest = np.maximum(lam.sum() - np.einsum("ij,ij->i", Z, Z) - top.sum(axis=1), 0.0)
        spectra = np.sqrt(np.column_stack([top, rest]))
        for child in self._nodes([children[y] for y in fresh], spectra):
            heapq.heappush(self.fringe, (child.rank, child))


@lru_cache(maxsize=64)
def printed_greedy(problem: Problem) -> TextbookResult:
    """The printed greedy search, with its bounds."""
    criterion = get_criterion(problem.criterion)
    return textbook_search(problem.X, problem.k, criterion, order="u", n_components=problem.r2)


@lru_cache(maxsize=512)
def printed_search(
    problem: Problem, order: str, epsilon: float, max_nodes: int = MOST_NODES
) -> float | None:
    """Error of the first goal of a printed search; None if it does not come to one."""
    kind = Order if problem.criterion == "frobenius" and not problem.r2 else Search
    search = kind(
        problem.X,
        problem.k,
        KEYS[problem.criterion],
        order=order,
        eps=epsilon,
        n_components=problem.r2,
    )
    goal = search.run(max_nodes)
    return None if goal is None else problem.error(goal.columns)
