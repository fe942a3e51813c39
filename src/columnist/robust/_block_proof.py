"""Proof by blocks: a lower bound on the error of every other choice of rows to remove.

Among all sets of n - k rows, find the one whose PCA with r components leaves the smallest error,
and prove it. The problem is split into nodes: some rows must stay, some must go, the others are
free. The node with the lowest bound is worked on first, so the bound over all is valid at any time.

1. Contract the data at the node's own incumbent, and deal the free rows into blocks that list all
   their subsets (:mod:`columnist.robust._deal`).
2. Raise the bound by multipliers (:mod:`columnist.robust._ascent`) and drop for good the subsets
   that cannot be part of a better solution (:mod:`columnist.robust._blocks`).
3. When that slows down, merge blocks (halves with their neighbours, then pairs with short lists)
   and go on at 2, until so few choices are left that each is evaluated.

If most subsets could not be dropped, longer lists would not help: the node is split, the neediest
row stays or goes. A child goes on with its parent's blocks, or starts afresh if its rows need much
less, or the blocks have become one. The first stages may leave out directions that hold next to
nothing; once that limits the bound, the node starts again with all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from columnist.robust._ascent import Ascent, Team, refresh
from columnist.robust._blocks import MATRICES
from columnist.robust._concentrate import Trimming
from columnist.robust._deal import (
    Contraction,
    Needs,
    block_size,
    contract,
    deal,
    evaluation_seconds,
    first_size,
    needs,
)
from columnist.robust._errors import Interval, RowErrors, WeightedErrors, all_but
from columnist.search._run import PrecisionError, Run, Strategy

# Steps of an ascent between two prunings.
_CHUNK = 40
# Blocks are merged, or the node is split, once a chunk closes less than this share of the gap.
_PROGRESS = 0.2
# So few choices are evaluated one by one.
_FEW = 256
# Split if more than this share of the sets is still listed, or if lists become too long to merge.
_HARDLY_PRUNED, _TOO_LONG = 0.25, 4_000_000
# A child starts afresh if its rows need at most this share of what its parent's needed.
_FRESH = 0.55
# Step with which a child, or a pair of blocks, goes on.
_NEXT_STEP = 0.5
# Up-to-date bounds drop many sets once the gap is within so many prices of a removal.
_MANY_PRICES = 2.0
# Share of the error that the first stages may leave out; they end when the gap is so many times it.
_LOSS, _LOSS_SHOWS = 2e-4, 4.0
# Merged lists hold, in all, up to this many seconds of tail sums.
_STAGE_SECONDS = 0.5
# So many are, if no bound can distinguish them.
_MANY = 20_000
# Bytes that the matrices of all blocks may take, once.
_MOST_BYTES = 2**27


class BlockProof(Strategy):
    """Blocks of rows, pruned and merged. ``removed(kept)`` are the numbers, among all rows of the
    problem, of those that a set of these rows removes; ``proven(error)`` is what an error that no
    set can be below proves in the run."""

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
        bounds = [node.bound for node in self.nodes]
        self.bound = max(self.bound, min([best.threshold, best.floor, *bounds]))
        self.nodes = [node for node in self.nodes if node.bound < best.threshold]
        run.prove(self._proven(self.bound))
        run.report(new=new)


class Incumbent:
    """The problem and the best set so far. Sets whose error is proven to reach the incumbent's up
    to a share, ``tolerance``, need not be examined. ``floor`` is the least error that any set
    examined can have; ``fixed`` a mask of rows that represent many others and must stay;
    ``max_memory`` what all lists may take, in bytes."""

    def __init__(
        self,
        errors: RowErrors | WeightedErrors,
        n_removed: int,
        tolerance: float,
        expired: Callable[[], bool] = lambda: False,
        team: Team | None = None,
        max_memory: float = np.inf,
        fixed: np.ndarray | None = None,
    ):
        self.errors, self.X, self.weights = errors, errors.rows, errors.weights
        self.n_components, self.centred = errors.n_components, errors.centred
        self.n_removed, self.tolerance, self.expired = n_removed, tolerance, expired
        self.team, self.max_memory = team or Team(), max_memory
        self.fixed = np.zeros(len(self.X), dtype=bool) if fixed is None else fixed
        self.floor = np.inf
        # One assignment replaces the set together with its error.
        self.best = Interval(np.inf, np.inf, np.inf), np.zeros(len(self.X), dtype=bool)

    @property
    def error(self) -> float:
        """Error of the set."""
        return self.best[0].value

    @property
    def kept(self) -> np.ndarray:
        """Rows that the set keeps."""
        return self.best[1]

    @property
    def threshold(self) -> float:
        """Error below which a set is better."""
        return self.best[0].low * (1.0 - self.tolerance)

    def offer(self, kept: np.ndarray) -> None:
        """Take a set if it is better."""
        found = self.errors.interval(kept)
        if found.low < self.best[0].low and not found.precise:
            found = self.errors.evaluate(kept)
        self.floor = min(self.floor, found.low)
        if found.value < self.error:
            self.best = found, kept.copy()

    def offer_removed(self, removed: np.ndarray) -> None:
        """Take a set, given by the rows it removes, if it is better."""
        self.offer(all_but(len(self.X), removed))

    def trimming(self, must_keep: np.ndarray, must_remove: np.ndarray | None = None) -> Trimming:
        """Concentration steps with some rows in their places."""
        return Trimming(
            self.X, self.n_components, self.n_removed, self.centred,
            must_keep, must_remove, self.weights,
        )  # fmt: skip


class Node:
    """A problem with rows that must stay or go (masks), perhaps part of another one, its parent. No
    set of it has an error smaller than ``bound``, unless that reaches the threshold of the
    incumbent at the time; it is ``closed`` if none is better than the incumbent. The first stages
    may leave out a share ``loss`` of the error; ``row`` makes the difference from the parent."""

    def __init__(
        self,
        best: Incumbent,
        must_keep: np.ndarray,
        must_remove: np.ndarray,
        bound: float = 0.0,
        *,
        loss: float = _LOSS,
        parent: Node | None = None,
        row: int = -1,
    ):
        self.best, self.bound, self.closed = best, bound, False
        self.must_keep, self.must_remove = must_keep, must_remove
        self.loss, self.row = loss, row
        self.parent: Any = parent
        self.blocks: Any = None  # Blocks, once they are dealt
        self.contraction: Contraction
        self.needs: Needs
        self.ascent: Ascent
        self.first_total, self.first_sets = np.inf, 0
        self.gap, self.crowded, self.paired = np.inf, False, False

    @property
    def n_sets(self) -> int:
        """Listed sets."""
        return 0 if self.blocks is None else self.blocks.n_sets

    @property
    def nbytes(self) -> int:
        """Bytes of its lists; those of its parent while they may still be of use."""
        blocks = self.blocks or (self.parent and self.parent.blocks)
        return 0 if blocks is None else blocks.nbytes

    @property
    def evaluations(self) -> int:
        """Tail sums computed."""
        return 0 if self.blocks is None else self.blocks.evaluations

    def decided(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows that every better set of this node keeps, and those that it removes."""
        kept, removed = self.must_keep.copy(), self.must_remove.copy()
        if self.blocks is not None:
            open_ = np.zeros(len(kept), dtype=bool)
            for block in self.blocks.blocks:
                open_[block.rows] = True
                removed[block.removed] = True
            kept = ~(open_ | removed)
        return kept, removed

    def step(self) -> list[Node]:
        """One stage of work; returns the nodes that take the place of this one, if any do."""
        if self.blocks is None:
            self._begin()
            return []
        if self.crowded:
            if self.bound > self.best.error * (1.0 - _LOSS_SHOWS * self.contraction.lost):
                return [Node(self.best, *self.decided(), self.bound, loss=0.0)]
            if not self.paired:
                self._pair()
            elif self._hardly_pruned():
                return self._split()
            else:
                self._merge()
        self._raise()
        return []

    # -- stages ---------------------------------------------------------------------

    def _begin(self) -> None:
        best = self.best
        free = ~(self.must_keep | self.must_remove)
        k = best.n_removed - int(np.count_nonzero(self.must_remove))
        n_free = int(np.count_nonzero(free))
        if _few_sets(n_free, k, _FEW):
            self._try_all(_sets(free, k))
            return
        kept = self._own_incumbent()
        best.offer(kept)
        if best.error == 0.0:
            self.closed = True
            return
        if best.expired():
            return
        args = best.n_components, best.centred, self.loss, best.fixed, best.weights
        try:
            contraction = contract(best.X, kept, ~self.must_remove, *args)
        except PrecisionError:
            if not _few_sets(n_free, k, _MANY):
                raise
            self._try_all(_sets(free, k))
            return
        d = contraction.rows.shape[1]
        size = block_size(n_free, d)
        first = first_size(size)
        _check_memory(n_free / first, first, d, k, best.max_memory)
        needed = needs(contraction, kept, free, best.expired)
        if best.expired():  # dealing may take as long again
            return
        parent, total = self.parent, needed.total(size)
        movable = parent is not None and len(parent.blocks.blocks) > 1
        if movable and total > _FRESH * parent.first_total:
            self._inherit()
        else:
            self.contraction, self.needs, self.first_total = contraction, needed, total
            self.blocks = deal(contraction, kept, k, needed, first)
            self.first_sets, self.paired = self.blocks.n_sets, first == size
            self.ascent = Ascent(best.expired, team=best.team)
            self._raise()
        self.parent = None

    def _inherit(self) -> None:
        """Go on with the blocks of the parent; more than a chunk seldom helps."""
        parent = self.parent
        self.contraction, self.needs = parent.contraction, parent.needs
        self.first_total, self.first_sets = parent.first_total, parent.first_sets
        self.paired = parent.paired
        self.blocks = parent.blocks.forced(self.row, self.must_remove[self.row])
        self.ascent = Ascent(self.best.expired, _NEXT_STEP, self.best.team)
        if self.blocks.prune(self._target()) == np.inf:
            self.closed = True
            return
        self._raise()
        self.crowded = True

    def _own_incumbent(self) -> np.ndarray:
        """A good set of this node: concentration from the incumbent and from all rows."""
        best = self.best
        trimming = best.trimming(self.must_keep, self.must_remove)
        starts = best.kept, ~self.must_remove
        found = min(map(trimming.descend, starts), key=lambda pair: pair[0])
        return trimming.exchanged(*found, best.expired)[1]

    def _raise(self) -> None:
        """A chunk of ascent, then pruning: first with bounds as they are, then with exact ones."""
        blocks, best = self.blocks, self.best
        reached, picks = self.ascent.run(blocks, self._target(), _CHUNK)
        reached -= blocks.imbalance()
        if len(picks):
            self._offer_picks(picks)
        total = blocks.prune(self._target())
        gap = self._target() - max(reached, total)
        if total < np.inf and gap < _MANY_PRICES * self.contraction.price and not best.expired():
            tables = blocks.tables(best.team.n_jobs)
            refresh(tables, best.expired, best.team)
            blocks.update(tables)
            total = blocks.prune(self._target())
        self._conclude(max(reached, total - blocks.imbalance()))

    def _pair(self) -> None:
        self.blocks.pair(self._target(), self.best.expired, self.best.max_memory)
        self.first_sets, self.paired = self.blocks.n_sets, True
        self.ascent = Ascent(self.best.expired, _NEXT_STEP, self.best.team)

    def _merge(self) -> None:
        most = int(_STAGE_SECONDS / evaluation_seconds(self.contraction.rows.shape[1]))
        self.blocks.merge(self._target(), most, self.best.expired, self.best.max_memory)
        self.ascent = Ascent(self.best.expired, team=self.best.team)

    def _target(self) -> float:
        """Total of tail sums at which a set is no better than the incumbent."""
        return self.contraction.needed(self.best.threshold) + self.blocks.imbalance()

    def _conclude(self, tail: float) -> None:
        """Take notice that no set has a smaller tail sum."""
        if tail == np.inf:
            self.closed = True
            return
        proven = self.contraction.proves(np.nextafter(tail, -np.inf))
        self.bound = max(self.bound, min(proven, self.best.threshold))
        gap = self.contraction.needed(self.best.threshold) - tail
        self.crowded = self.ascent.exhausted or gap > (1.0 - _PROGRESS) * self.gap
        self.gap = gap
        if math.prod(float(len(block)) for block in self.blocks.blocks) <= _FEW:
            self._try_all(self._choices())

    # -- few choices ----------------------------------------------------------------

    def _choices(self) -> Iterator[np.ndarray]:
        """Free rows removed by every choice of one set per block."""
        blocks = self.blocks.blocks
        for picks in itertools.product(*(range(len(block)) for block in blocks)):
            if sum(block.sizes[p] for block, p in zip(blocks, picks, strict=True)) == self.blocks.k:
                yield self.blocks.removed_rows(picks)

    def _try_all(self, choices: Iterator[np.ndarray]) -> None:
        """Evaluate what is left, and close the node if time allows."""
        fixed = np.flatnonzero(self.must_remove)
        for chosen in choices:
            self.best.offer_removed(np.concatenate([fixed, chosen]))
            if self.best.expired():
                return
        self.closed = True

    def _offer_picks(self, picks: np.ndarray) -> None:
        """The rows the programme removes may be a better set, or lead to one."""
        kept = ~self.must_remove
        kept[self.blocks.removed_rows(picks)] = False
        self.best.offer(self.best.trimming(self.best.fixed).descend(kept)[1])

    # -- splitting ------------------------------------------------------------------

    def _hardly_pruned(self) -> bool:
        """Whether merging is not possible or would only multiply the lists."""
        blocks = self.blocks
        if len(blocks.blocks) == 1 or blocks.n_sets > _HARDLY_PRUNED * self.first_sets:
            return True
        return blocks.least_product() > _TOO_LONG

    def _split(self) -> list[Node]:
        """The undecided row that needs most stays, or goes; what is decided remains so."""
        kept, removed = self.decided()
        rows = self.needs.rows
        row = int(rows[~(kept | removed)[rows]][0])
        one, other = kept.copy(), removed.copy()
        one[row], other[row] = True, True
        child = partial(Node, self.best, bound=self.bound, loss=self.loss, parent=self, row=row)
        return [child(one, removed), child(kept, other)]


def _few_sets(n: int, k: int, most: int) -> bool:
    """Whether k of n rows can be chosen in a few ways only."""
    return k in (0, n) or (n <= 2 * most and math.comb(n, k) <= most)


def _sets(free: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """All sets of k free rows."""
    for chosen in itertools.combinations(np.flatnonzero(free), k):
        yield np.array(chosen, dtype=np.intp)


def _check_memory(count: float, size: int, d: int, k: int, limit: float) -> None:
    """Refuse blocks of some rows each whose lists and matrices would not fit."""
    matrices = 8.0 * count * d * d
    needed = MATRICES * matrices + count * (2.0**size * (2 * size + 48) + 16.0 * (k + 1))
    if matrices > _MOST_BYTES or needed > limit:
        raise MemoryError("Too many rows for a proof by blocks.")
