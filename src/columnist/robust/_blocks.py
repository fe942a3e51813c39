r"""Lists of the sets of rows that each block may still remove; how they shrink and merge.

With rows y_i dealt into blocks, any symmetric L_b that sum to zero, and g the tail sum of
:mod:`columnist.robust._tails`, superadditivity gives for every set of kept rows

    g(sum of y y' over all kept rows) >= sum over b of T_b,   T_b = g(block b's kept y y' + L_b).

A programme over the number of removals finds the least right-hand side. Let O_b(j) be the least
cost of all other blocks with j removals: a set S of block b is part of no solution below
T_b(S) + O_b(k - |S|), so once that reaches the incumbent S is dropped for good, whatever the
multipliers L_b do later. Two blocks merge into one: their lists multiply, their L_b add, and a
pair is kept only if T_1 + T_2 + O_12 stays below the incumbent.

A block holds R_b, its multiplier plus its rows outside a reference set; that the R_b sum to the
scatter of all such rows is checked, and what is missing is charged to the bound.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from columnist.linalg._rounding import OUTWARD, UNIT
from columnist.robust._tails import BlockTables, least_elsewhere

# Matrices per block that an ascent holds at a time: old, new and best ones, directions, projectors.
MATRICES = 8
# Pairs of sets examined in one go.
_PAIRS = 16_384


@dataclass
class Block:
    """Some rows and the sets of them that may be removed."""

    rows: np.ndarray  # int32, on which the listed sets differ
    members: np.ndarray  # bool (sets, rows), the listed sets, ascending by ``sizes``
    sizes: np.ndarray  # rows each set removes, those in ``removed`` included
    bounds: np.ndarray  # lower bounds on the tail sum of each set
    matrix: np.ndarray  # R_b
    reference: np.ndarray  # bool, the reference set among ``rows``
    # Rows that every listed set removes.
    removed: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.sizes)

    def keep(self, listed: np.ndarray) -> None:
        """Drop all sets but some."""
        self.members, self.sizes = self.members[listed], self.sizes[listed]
        self.bounds = self.bounds[listed]

    def packed(self) -> tuple:
        """The block as :class:`BlockTables` takes it."""
        masks = _pack(np.vstack([self.members, self.reference]))
        return self.rows, masks[:-1], masks[-1], self.sizes, self.bounds, self.matrix

    def settle(self, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take out the rows on which all sets agree, and let the reference agree with them.

        Returns the rows that it no longer removes, and those that it now removes.
        """
        always, ever = self.members.all(axis=0), self.members.any(axis=0)
        agreed = always | ~ever
        back, gone = ~ever & self.reference, always & ~self.reference
        slack = 0.0
        for sign, which in ((1.0, back), (-1.0, gone)):
            Y = data[self.rows[which]]
            self.matrix = self.matrix + sign * (Y.T @ Y)
            slack += np.sum(Y * Y) * (len(Y) + 2)
        if slack:
            size = float(np.linalg.norm(self.matrix))
            slack = (slack + 2 * size) * UNIT * math.sqrt(len(self.matrix))
            self.bounds = np.nextafter(self.bounds - slack, -np.inf)
        self.removed = np.concatenate([self.removed, self.rows[always]])
        changed = self.rows[back], self.rows[gone]
        self.rows, self.members = self.rows[~agreed], self.members[:, ~agreed]
        self.reference = self.reference[~agreed]
        return changed


def every_set(rows: np.ndarray, reference: np.ndarray, matrix: np.ndarray, largest: int) -> Block:
    """A block that lists all sets of at most ``largest`` of its rows, with no bounds yet."""
    codes = np.arange(2 ** len(rows))
    members = (codes[:, None] >> np.arange(len(rows)) & 1).astype(bool)
    sizes = members.sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    order = order[: np.searchsorted(sizes[order], largest, side="right")]
    bounds = np.full(len(order), -np.inf)
    return Block(rows.astype(np.int32), members[order], sizes[order], bounds, matrix, reference)


class Blocks:
    """All blocks of one problem: contracted rows, of which k are to be removed. ``top`` eigenvalues
    are left out of tail sums; the R_b sum to the scatter of the ``kept`` rows, a mask of those
    outside the reference set."""

    def __init__(self, data: np.ndarray, top: int, k: int, kept: np.ndarray, blocks: list[Block]):
        self.data, self.top, self.k = data, top, k
        self.kept, self.blocks = kept.copy(), blocks
        self.evaluations = 0

    def forced(self, row: int, removed: bool) -> Blocks:
        """A copy that lists only sets with, or without, a row. Some block may list nothing."""
        blocks = [copy.copy(block) for block in self.blocks]
        for block in blocks:
            for place in np.flatnonzero(block.rows == row):
                block.keep(block.members[:, place] == removed)
        return Blocks(self.data, self.top, self.k, self.kept, blocks)

    @property
    def n_sets(self) -> int:
        """Sets listed in all blocks."""
        return sum(len(block) for block in self.blocks)

    def tables(self, workers: int = 1) -> BlockTables:
        """Tables of the lists as they are, for some threads."""
        return BlockTables(self.data, self.top, [block.packed() for block in self.blocks], workers)

    @property
    def nbytes(self) -> int:
        """Bytes of the lists, their tables and what an ascent needs."""
        d, count = self.data.shape[1], len(self.blocks)
        lists = sum(2 * block.members.nbytes + 48 * len(block) for block in self.blocks)
        return lists + 8 * count * (MATRICES * d * d + 2 * (self.k + 1))

    def update(self, tables: BlockTables) -> None:
        """Take bounds and matrices from tables."""
        self.evaluations += tables.n_evaluated
        for b, block in enumerate(self.blocks):
            block.bounds = tables.bounds[tables.starts[b] : tables.starts[b + 1]].copy()
            block.matrix = tables.matrices[b].copy()

    def imbalance(self) -> float:
        """How much the sum of the block bounds may exceed the tail sum of all kept rows. The
        nuclear norm of what the R_b miss, at most sqrt(d) times its Frobenius norm; computing it
        rounds by a unit for every term added."""
        Y = self.data[self.kept]
        total = sum(block.matrix for block in self.blocks)
        terms = sum(np.linalg.norm(block.matrix) for block in self.blocks) + np.sum(Y * Y)
        missing = np.linalg.norm(total - Y.T @ Y)
        missing += (len(self.blocks) + len(Y) + 2) * UNIT * terms
        return math.sqrt(self.data.shape[1]) * missing * (1.0 + OUTWARD)

    def least(self) -> np.ndarray:
        """Table of the least bound of every block for every number of removals that it lists."""
        most = max((int(block.sizes[-1]) for block in self.blocks if len(block)), default=0)
        table = np.full((len(self.blocks), most + 1), np.inf)
        for row, block in zip(table, self.blocks, strict=True):
            np.minimum.at(row, block.sizes, block.bounds)
        return table

    def prune(self, target: float) -> float:
        """Drop sets that are in no total below ``target``; the least total, inf if none is left."""
        while all(len(block) for block in self.blocks):
            others, totals = least_elsewhere(self.least(), self.k)
            before = self.n_sets
            for block, elsewhere in zip(self.blocks, others, strict=True):
                block.keep(_below(block.bounds, elsewhere[block.sizes], target))
            if self.n_sets == before:
                break
        else:
            return np.inf
        for block in self.blocks:
            back, gone = block.settle(self.data)
            self.kept[back], self.kept[gone] = True, False
        return float(totals[self.k])

    def least_product(self) -> float:
        """Length of the shortest list that merging two blocks can give."""
        shortest = sorted(len(block) for block in self.blocks)[:2]
        return float(shortest[0]) * shortest[-1]

    def merge(
        self,
        target: float,
        most: int,
        expired: Callable[[], bool] = lambda: False,
        max_memory: float = np.inf,
    ) -> list[tuple[int, int]]:
        """Merge pairs of blocks, the shortest list with the longest and so on inwards. Pairs with
        the fewest surviving sets come first, as long as these are at most ``most`` in all; at least
        one pair is merged. No others are examined once time is up. Returns the pairs; merged
        blocks come first."""
        table = self.least()
        order = [int(b) for b in np.argsort([len(block) for block in self.blocks], kind="stable")]
        pairs = [(order[i], order[-1 - i]) for i in range(len(order) // 2)]
        products = []
        for pair in pairs:
            products.append(self._survivors(table, pair, target))
            if expired():
                break
        ranked = sorted(range(len(products)), key=lambda i: len(products[i][0]))
        merged: list[Block] = []
        chosen: list[tuple[int, int]] = []
        total = 0
        rows = sum(len(self.blocks[b].rows) for b in pairs[ranked[0]])
        if self.nbytes + len(products[ranked[0]][0]) * _bytes_per_set(rows) > max_memory:
            raise MemoryError("The lists of two blocks together are too long.")
        for i in ranked:
            total += len(products[i][0])
            if merged and total > most:
                break
            merged.append(self._product(pairs[i], *products[i]))
            chosen.append(pairs[i])
        used = {b for pair in chosen for b in pair}
        self.blocks = merged + [block for b, block in enumerate(self.blocks) if b not in used]
        return chosen

    def pair(
        self, target: float, expired: Callable[[], bool] = lambda: False, max_memory: float = np.inf
    ) -> None:
        """Merge every block with the next one, or as many as time allows."""
        table, merged, needed = self.least(), [], float(self.nbytes)
        for b in range(0, len(self.blocks) - 1, 2):
            pair = b, b + 1
            merged.append(self._product(pair, *self._survivors(table, pair, target)))
            needed += len(merged[-1]) * _bytes_per_set(len(merged[-1].rows))
            if needed > max_memory:
                raise MemoryError("The lists of pairs of blocks are too long.")
            if expired():
                break
        self.blocks = merged + self.blocks[2 * len(merged) :]

    def _survivors(
        self, table: np.ndarray, pair: tuple[int, int], target: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of sets of two blocks whose total can be below ``target``."""
        one, two = (self.blocks[b] for b in pair)
        rest = np.delete(table, pair, axis=0)
        elsewhere = np.append(least_elsewhere(rest, self.k)[1], np.inf)
        found = []
        step = max(1, _PAIRS // max(len(two), 1))
        for start in range(0, len(one), step):  # all pairs at once would take much memory
            part = slice(start, start + step)
            sizes = one.sizes[part, None] + two.sizes[None, :]
            left = elsewhere[np.where(sizes <= self.k, self.k - sizes, -1)]
            bounds = np.nextafter(one.bounds[part, None] + two.bounds[None, :], -np.inf)
            i, j = np.nonzero(_below(bounds, left, target))
            found.append(np.array([i + start, j], dtype=np.int32))
        pairs = np.concatenate(found, axis=1) if found else np.zeros((2, 0), dtype=np.int32)
        return pairs[0], pairs[1]

    def _product(self, pair: tuple[int, int], i: np.ndarray, j: np.ndarray) -> Block:
        """Two blocks as one that lists set i of the first with set j of the second."""
        one, two = (self.blocks[b] for b in pair)
        sizes = one.sizes[i] + two.sizes[j]
        order = np.argsort(sizes, kind="stable")
        i, j = i[order], j[order]
        matrix = one.matrix + two.matrix
        slack = math.sqrt(len(matrix)) * UNIT * np.linalg.norm(matrix) * (1.0 + OUTWARD)
        bounds = np.nextafter(one.bounds[i] + two.bounds[j], -np.inf)
        return Block(
            np.concatenate([one.rows, two.rows]),
            np.hstack([one.members[i], two.members[j]]),
            sizes[order],
            np.nextafter(bounds - slack, -np.inf),
            matrix,
            np.concatenate([one.reference, two.reference]),
            np.concatenate([one.removed, two.removed]),
        )

    def removed_rows(self, picks: Sequence[int] | np.ndarray) -> np.ndarray:
        """Rows removed by one set of every block."""
        parts = [
            np.concatenate([block.removed, block.rows[block.members[pick]]])
            for block, pick in zip(self.blocks, picks, strict=True)
        ]
        return np.concatenate(parts)


def _below(bounds: np.ndarray, elsewhere: np.ndarray, target: float) -> np.ndarray:
    """Where a total can be below ``target``, allowing for its rounding."""
    below = elsewhere < np.inf
    below[below] = np.nextafter(bounds[below] + elsewhere[below], -np.inf) < target
    return below


def _bytes_per_set(n_rows: int) -> int:
    """What a listed set takes while its block is put together and its bounds are computed."""
    return 3 * n_rows + 64


def _pack(members: np.ndarray) -> np.ndarray:
    """Rows of booleans as 64-bit masks, the first entry in the lowest bit."""
    count, width = members.shape
    words = -(-width // 64)
    bits = np.zeros((count, 8 * words), dtype=np.uint8)
    packed = np.packbits(members, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    return bits.view("<u8").astype(np.uint64)
