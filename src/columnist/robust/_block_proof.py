r"""Proof by blocks as a strategy: that no other rows are better outliers, or how much better.

Among all sets of n - k rows, find the one whose PCA with r components leaves the smallest error,
and prove it. The problem is split into nodes (:mod:`columnist.robust._node`) that are worked on in
turn, the one with the lowest bound first; so the bound over all of them is valid, and as
good as it can be, at any moment.

No input validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from columnist.robust._node import Incumbent, Node
from columnist.search._run import Run, Strategy

__all__ = ["BlockProof"]


class BlockProof(Strategy):
    """Blocks of rows, pruned and merged.

    Parameters
    ----------
    best : Incumbent
        The rows, and a good set of them to begin with.
    removed : callable
        Numbers, among all rows of the problem, of those that a set of these rows removes.
    proven : callable
        What an error that no set of these rows can be below proves, in the unit of the run.
    """

    def __init__(
        self,
        best: Incumbent,
        removed: Callable[[np.ndarray], np.ndarray],
        proven: Callable[[float], float],
    ):
        self.best, self._removed, self._proven = best, removed, proven
        self.bound = 0.0
        self.nodes = [Node(best, best.fixed.copy(), np.zeros(len(best.X), dtype=bool))]

    @property
    def n_open(self) -> int:  # type: ignore[override]
        """Listed sets."""
        return sum(node.n_sets for node in self.nodes)

    @property
    def n_bytes(self) -> float:  # type: ignore[override]
        """Bytes of the lists of all nodes."""
        return sum(node.nbytes for node in self.nodes)

    def steps(self, run: Run) -> Iterator[None]:
        if self.best.error == 0.0:  # then nothing is left to prove
            self.nodes = []
        while self.nodes:
            yield
            self._advance(run)

    def finished(self) -> bool:
        return not self.nodes

    def decided(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows that every better set, if there is one, keeps, and those that it removes."""
        if not self.nodes:
            return self.best.kept, ~self.best.kept
        kept, removed = np.all([node.decided() for node in self.nodes], axis=0)
        return kept, removed

    def _advance(self, run: Run) -> None:
        """One stage of the node with the lowest bound."""
        best, error = self.best, self.best.error
        node = min(self.nodes, key=lambda node: node.bound)
        before = node.evaluations
        children = node.step()
        run.expanded += 1
        run.generated += node.evaluations - before
        if children or node.closed:
            self.nodes = [other for other in self.nodes if other is not node] + children
        new = best.error < error and run.offer(self._removed(best.kept))
        self._raise_bound(run)
        run.report(new=new)

    def _raise_bound(self, run: Run) -> None:
        best = self.best
        bounds = [node.bound for node in self.nodes]
        self.bound = max(self.bound, min([best.threshold, best.floor, *bounds]))
        self.nodes = [node for node in self.nodes if node.bound < best.threshold]
        run.prove(self._proven(self.bound))
