r"""Check a proof about rows: that no other k rows leave a smaller error once they are removed.

This file and :mod:`columnist._verify`, whose reading it shares, need NumPy and the standard library
alone. The error of kept rows is a function of their singular values from the r-th on, about the
rows' own mean, the mean of all rows, or the origin. Few sets are all evaluated. Many are bounded in
blocks (squared Frobenius norm):

**Contraction.** For a matrix W and factors :math:`s_i \le 1` the rows :math:`y_i = s_i (W^T(x_i -
c), b)` have, whatever c and b are, and with one more component left out, no larger an error than
:math:`\lVert W \rVert^2` times that of the rows :math:`x_i`, if :math:`\lVert W \rVert \ge 1`.

**Blocks.** g, the sum of all but the largest eigenvalues, is superadditive. For matrices
:math:`A_b` that sum to :math:`\sum_i y_i y_i^T` the error without a set S, whose part in block b is
:math:`S_b`, is at least :math:`\sum_b T_b(S_b)` with :math:`T_b(S) = g(A_b - \sum_{i \in S} y_i
y_i^T)`. The file holds all :math:`A_b` but the last one, so that the sum is right.

**Pruning.** With :math:`O_b(j)` the least of all other blocks with j removals, :math:`S_b` belongs
to no set below the limit if :math:`T_b(S_b) + O_b(k - |S_b|)` reaches it. Merged blocks list
the pairs of what is left. In the end nothing is left, or a few sets, which are evaluated.

**Screening** (:mod:`columnist._verify_turns`): the distances of the rows from the subspace of the
selection alone bound all others, or say which rows stay, and go: the blocks need not hold these.

**Rounding.** An eigenvalue of a symmetric matrix of order d is off by at most :math:`8du` times its
norm, a singular value of an m by p matrix by :math:`8(m + p)u` times the largest one; sums of
products round by their number times u, times the sum of their sizes. A change of the rows by
:math:`\Delta` moves the root of any squared error by :math:`\lVert \Delta \rVert_F` at most.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any, BinaryIO

import numpy as np

from columnist._verify import (
    EXTENDED,
    TOLERANCE,
    UNIT,
    Criterion,
    Refuted,
    check_data,
    limit_of,
)
from columnist._verify_guide import Body
from columnist._verify_turns import Turns

_MAP, _BLOCKS, _MATRICES, _MERGE, _SCREENING = range(1, 6)
# The name of no block.
_NONE = 2**32 - 1
# Rows of a block whose sets are all listed; operations that a check may take.
_MOST_ROWS, _MOST_WORK = 14, 1e11
# Sets evaluated, or pairs examined, in one go.
_SETS, _PAIRS = 2048, 2**20


class Rows:
    """Rows about the centre that is given, if one is, divided by a power of two."""

    def __init__(self, X: np.ndarray, problem: dict[str, Any], claim: dict[str, Any]):
        self.theta, self.r = Criterion(problem["criterion"]), problem["n_components"]
        self.k, self.centred = problem["size"], problem["centering"] == "optimal"
        if problem["centering"] not in ("optimal", "mean", "none") or not np.isfinite(X).all():
            raise Refuted("the rows are not those of such a problem.")
        largest = float(np.abs(X).max(initial=0.0))
        unit = 2.0 ** round(math.log2(largest)) if largest > 0.0 else 1.0
        scaled = (X / unit).astype(np.longdouble)
        mean = scaled.mean(axis=0) * (problem["centering"] != "none")
        self.X = (scaled - mean).astype(np.float64)
        n, p = self.X.shape
        off = UNIT * np.linalg.norm(self.X, axis=1) + (n + 8) * 4 * EXTENDED * math.sqrt(p)
        self.off = 2.0 * float(np.linalg.norm(off))
        self.scale = unit**2 if self.theta.squared else unit
        self.limit = limit_of(claim) / self.scale
        self.listed = {tuple(sorted(s)) for s in claim["solutions"]}
        self.rules: Counter[str] = Counter()
        self.work, self.settled = 0.0, False
        self.stay = self.go = np.zeros(n, dtype=bool)  # rows that the screening has decided

    def spend(self, operations: float) -> None:
        """Refuse proofs that leave too much to be computed."""
        self.work += operations
        if self.work > _MOST_WORK:
            raise Refuted("the proof leaves too much to be shown by its reader.")

    def ends(self, removed) -> tuple[float, float]:
        """Two numbers between which the error without these rows lies."""
        kept = np.delete(self.X, list(removed), axis=0)
        if self.centred:
            kept = (kept - kept.mean(axis=0, dtype=np.longdouble)).astype(np.float64)
        self.spend(20.0 * kept.size * min(kept.shape))
        sigma = np.linalg.svd(kept, compute_uv=False)
        charge = 8 * sum(kept.shape) * UNIT * float(sigma.max(initial=0.0)) + self.off
        tail = np.append(sigma[self.r :], 0.0)
        low, high = np.maximum(tail - charge, 0.0), tail + charge
        low[-1], high[-1] = 0.0, 0.0  # this one was appended
        return float(self.theta(low**2)) * (1 - 64 * UNIT), float(self.theta(high**2)) * (
            1 + 64 * UNIT
        )

    def evaluate(self, removed) -> None:
        """Show that a set is not below the limit."""
        self.rules["set"] += 1
        some = tuple(sorted(int(i) for i in removed))
        if some not in self.listed and not self.ends(some)[0] >= self.limit:
            raise Refuted(f"nothing shows that the rows {list(some)} are not better to remove.")

    def screen(self, removed, ends: np.ndarray) -> None:
        """Show that no set is below the limit by the rows' distances from the subspace of one."""
        self.spend(1e3 * len(ends) * len(self.X) + 20.0 * self.X.size * self.X.shape[1])
        turns = Turns(self.X, removed, self.r, self.centred)
        needed = (math.sqrt(self.limit) * (1 + 8 * UNIT) + self.off) ** 2 * (1 + 8 * UNIT)
        bounds = turns.bounds(ends)
        if not self.theta.squared or not (bounds[:-1] >= needed).all() or len(bounds) < 2:
            raise Refuted("the screening of the rows does not show the bound.")
        self.rules["screening"] += 1
        self.stay, self.go = turns.decided(float(ends[-1]))
        self.settled = bool(bounds[-1] >= needed)
        if not self.settled and (self.stay | self.go).all():
            self.settled = True
            self.evaluate(np.flatnonzero(self.go))
        # If any choice of the rows as they are here is below what is needed, so is the best one.
        self.limit = (math.sqrt(needed) + self.off) ** 2 * (1 + 8 * UNIT)

    def every_set(self) -> None:
        """All sets, by the eigenvalues of their scatter, or one by one."""
        n, p = self.X.shape
        total, whole = self.X.T @ self.X, self.X.sum(axis=0)
        size = float(np.trace(total))
        charge = 2 * (n + 8 * p + 64) * UNIT * size + self.off * (2 * math.sqrt(size) + self.off)
        sets = combinations(range(n), self.k)
        self.spend(float(min(math.comb(n, self.k), 10**12)) * (20.0 * p**3 + 1e3))
        while some := list(islice(sets, max(1, _SETS * 100 // (p * p)))):
            gone = self.X[np.array(some)]
            scatter = total - np.swapaxes(gone, 1, 2) @ gone
            if self.centred:
                left = whole - gone.sum(axis=1)
                scatter -= left[:, :, None] * left[:, None, :] / (n - self.k)
            values = np.linalg.eigvalsh(scatter)[:, ::-1] - charge
            low = self.theta(values[:, self.r :]) * (1 - 64 * UNIT)
            self.rules["set"] += len(some)
            for at in np.flatnonzero(~(low >= self.limit)):
                self.rules["set"] -= 1
                self.evaluate(some[at])


def check_rows(header: dict[str, Any], X: np.ndarray, file: BinaryIO, digest: bytes) -> Rows:
    """Check a proof about rows; what it took, or :class:`Refuted`."""
    problem, claim = header["problem"], header["claim"]
    check_data(problem, X)
    try:
        with np.errstate(all="ignore"):
            rows = Rows(X, problem, claim)
            return _checked(rows, header, _records(file, digest, problem))
    except np.linalg.LinAlgError:
        raise Refuted("the eigenvalues of the proof cannot be computed.") from None


def _checked(rows: Rows, header: dict[str, Any], records: Iterator[tuple[int, Any]]) -> Rows:
    _check_claim(rows, header["problem"], header["claim"])
    blocks: Blocks | None = None
    for kind, body in records:
        if rows.limit <= 0.0 or rows.settled:
            continue
        if kind == _SCREENING and blocks is None:
            rows.screen(header["claim"]["selection"], body)
            continue
        if kind == _MAP and blocks is None:
            blocks = Blocks(rows, *body)
        elif blocks is None or kind == _SCREENING:
            raise Refuted("the blocks of the proof have no rows.")
        elif kind == _BLOCKS:
            blocks.deal(body)
        elif kind == _MATRICES:
            blocks.bound(body)
        else:
            blocks.merge(body)
    if rows.limit > 0.0 and not rows.settled:
        rows.every_set() if blocks is None else blocks.finish()
    return rows


def _check_claim(rows: Rows, problem: dict[str, Any], claim: dict[str, Any]) -> None:
    if rows.k >= len(rows.X) or problem["include"] or problem["exclude"]:
        raise Refuted("the proof is about other sets than this program knows.")
    if claim["solutions"] != [claim["selection"]] or claim["errors"] != [claim["error"]]:
        raise Refuted("a proof about rows lists one set.")
    low, high = rows.ends(claim["selection"])
    error = float(claim["error"]) / rows.scale
    total = float(rows.theta(np.linalg.svd(rows.X, compute_uv=False) ** 2))
    slack = TOLERANCE * abs(error) + 1e-12 * total
    if not low - slack <= error <= high + slack:
        raise Refuted("the selection has another error than the proof states.")
    if claim["lower_bound"] > claim["error"] * (1.0 + TOLERANCE):
        raise Refuted("the lower bound is above the error.")


def _records(file: BinaryIO, digest: bytes, problem: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """The records: a map of the rows, the block of each, matrices, pairs of blocks to merge."""
    body, (n, p) = Body(file), problem["shape"]
    for kind, _, size in body.records(digest, _SCREENING):
        if kind == _MAP:
            parts = [(p, size), (p,), (1,), (n,)]
            yield kind, [body.array("<f8", math.prod(shape)).reshape(shape) for shape in parts]
        elif kind == _BLOCKS:
            yield kind, body.array("<u4", n).astype(np.intp)
        elif kind == _SCREENING:
            yield kind, body.array("<f8", size)
        elif kind == _MATRICES:
            yield kind, body.array("<f4", size).astype(np.float64)
        else:
            yield kind, body.array("<u4", 2 * size).reshape(size, 2).astype(np.intp)


def mapped(X: np.ndarray, centred: bool, W, centre, bias, scales) -> np.ndarray:
    """Contracted rows."""
    Y = (X - centre) @ W
    if centred:
        Y = np.column_stack([Y, np.full(len(Y), bias[0])])
    return Y * scales[:, None]


@dataclass
class Block:
    """Some rows, the sets of them that may be removed, their bounds, and the block's matrix."""

    rows: np.ndarray
    members: np.ndarray  # bool (sets, rows)
    bounds: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Rows that each set removes."""
        return self.members.sum(axis=1)

    def keep(self, which: np.ndarray) -> None:
        """Drop all other sets."""
        self.members, self.bounds = self.members[which], self.bounds[which]


class Blocks:
    """Contracted rows in blocks."""

    def __init__(self, rows: Rows, W, centre, bias, scales):
        every = np.concatenate([W.ravel(), centre, bias, scales])
        if not (np.isfinite(every).all() and (scales > 0.0).all() and (scales <= 1.0).all()):
            raise Refuted("the map of the rows is no contraction.")
        if not rows.theta.squared or not (rows.centred or not (centre.any() or bias.any())):
            raise Refuted("the blocks of the proof are for another problem.")
        self.rows, self.k, p = rows, rows.k, rows.X.shape[1]
        self.Y = mapped(rows.X, rows.centred, W, centre, bias, scales)
        self.top, self.d = rows.r + rows.centred, self.Y.shape[1]
        norm = float(np.linalg.eigvalsh(W.T @ W)[-1]) if W.size else 0.0
        stretch = max(norm + 2 * (p + 8 * self.d) * UNIT * float(np.sum(W * W)), 1.0)
        lengths = scales * (np.linalg.norm(rows.X, axis=1) + np.linalg.norm(centre) + abs(bias[0]))
        drift = 2 * (p + 8) * math.sqrt(self.d) * UNIT * float(np.linalg.norm(lengths))
        drift = drift * math.sqrt(stretch) + rows.off * math.sqrt(stretch)
        self.target = (math.sqrt(rows.limit * stretch) * (1 + 8 * UNIT) + drift) ** 2
        self.target *= 1 + 8 * UNIT
        self.blocks: list[Block] = []
        self.imbalance = 0.0

    def deal(self, names: np.ndarray) -> None:
        """Begin with all sets of every block."""
        in_none = names == _NONE
        dealt, counts = np.unique(names[~in_none], return_counts=True)
        if self.blocks or counts.max(initial=0) > _MOST_ROWS:
            raise Refuted("the blocks of the proof are too large.")
        if (in_none & ~(self.rows.stay | self.rows.go)).any():
            raise Refuted("a row is in no block, and nothing says whether it stays.")
        self.gone = np.flatnonzero(in_none & self.rows.go)
        self.k -= len(self.gone)
        left = np.delete(self.Y, self.gone, axis=0)
        self.total, self.size = left.T @ left, float(np.sum(left**2))
        for name in dealt:
            rows = np.flatnonzero(names == name)
            members = (np.arange(2 ** len(rows))[:, None] >> np.arange(len(rows)) & 1).astype(bool)
            members = members[members.sum(axis=1) <= self.k]
            self.blocks.append(Block(rows, members, np.full(len(members), -np.inf)))

    def bound(self, stored: np.ndarray) -> None:
        """New matrices, of all blocks but the last one; bounds, and what they leave."""
        count, d = len(self.blocks), self.d
        half = d * (d + 1) // 2
        if len(stored) != max(count - 1, 0) * half or not np.isfinite(stored).all():
            raise Refuted("the proof has matrices for other blocks than it has.")
        matrices = np.zeros((count, d, d))
        lower = np.tril_indices(d)
        matrices[:-1, lower[0], lower[1]] = stored.reshape(-1, half)
        matrices[:-1, lower[1], lower[0]] = stored.reshape(-1, half)
        matrices[-1] = self.total - matrices[:-1].sum(axis=0)
        norms = np.linalg.norm(matrices, axis=(1, 2))
        terms = self.size + float(norms.sum())
        self.imbalance = 2 * math.sqrt(d) * (len(self.Y) + count + 4) * UNIT * terms
        for block, matrix, norm in zip(self.blocks, matrices, norms, strict=True):
            block.bounds = self._tails(block, matrix, float(norm))
        self.rules["tail sum"] += sum(len(block.bounds) for block in self.blocks)
        self.prune()

    @property
    def rules(self) -> Counter[str]:
        """What the check took."""
        return self.rows.rules

    def _tails(self, block: Block, matrix: np.ndarray, norm: float) -> np.ndarray:
        """T of every listed set of a block, less its rounding."""
        Y, d, found = self.Y[block.rows], self.d, np.empty(len(block.members))
        size = norm + float(np.sum(Y * Y))
        charge = 2 * d * (8 * d + len(Y) + 8) * UNIT * size
        self.rows.spend(len(found) * (10.0 * d**3 + 1e3))
        for start in range(0, len(found), _SETS):
            some = block.members[start : start + _SETS]
            gone = Y * some[:, :, None]
            values = np.linalg.eigvalsh(matrix - np.swapaxes(gone, 1, 2) @ gone)
            found[start : start + _SETS] = values[:, : max(d - self.top, 0)].sum(axis=1) - charge
        return found

    def _least(self) -> np.ndarray:
        """The least bound of every block for every number of removals."""
        table = np.full((len(self.blocks), self.k + 1), np.inf)
        for row, block in zip(table, self.blocks, strict=True):
            np.minimum.at(row, block.sizes, block.bounds)
        return table

    def _needed(self, table: np.ndarray) -> float:
        """What a total must reach, with the rounding of sums."""
        finite = np.abs(np.where(np.isfinite(table), table, 0.0)).max(axis=1, initial=0.0)
        return self.target + self.imbalance + 4 * len(table) * UNIT * float(finite.sum())

    def prune(self) -> None:
        """Drop sets that are in no total below the target."""
        while all(len(block.bounds) for block in self.blocks):
            table = self._least()
            needed, before = self._needed(table), sum(len(b.bounds) for b in self.blocks)
            for block, elsewhere in zip(self.blocks, _elsewhere(table), strict=True):
                block.keep(~(block.bounds + elsewhere[self.k - block.sizes] >= needed))
            if sum(len(block.bounds) for block in self.blocks) == before:
                return

    def merge(self, pairs: np.ndarray) -> None:
        """Merge pairs of blocks; merged ones come first, in this order, then the others."""
        used, count = pairs.ravel().tolist(), len(self.blocks)
        if not all(np.isfinite(block.bounds).all() for block in self.blocks):
            raise Refuted("the proof merges blocks that have no bounds.")
        if len(set(used)) < len(used) or not all(0 <= b < count for b in used):
            raise Refuted("the proof merges blocks that it does not have.")
        table, merged = self._least(), []
        needed = self._needed(table) if count else 0.0
        for i, j in pairs.tolist():
            one, two = self.blocks[i], self.blocks[j]
            rest = np.append(_total(np.delete(table, (i, j), axis=0)), np.inf)
            found, sizes = [], two.sizes
            self.rows.spend(20.0 * len(one.bounds) * len(two.bounds))
            step = max(1, _PAIRS // max(len(sizes), 1))
            for start in range(0, len(one.bounds), step):
                part = slice(start, start + step)
                left = self.k - one.sizes[part, None] - sizes
                bounds = one.bounds[part, None] + two.bounds
                open_ = ~(bounds + rest[np.maximum(left, -1)] >= needed)
                found.append(np.argwhere(open_) + np.array([start, 0]))
            a, b = np.concatenate([np.zeros((0, 2), dtype=np.intp), *found]).T
            members = np.hstack([one.members[a], two.members[b]])
            rows = np.concatenate([one.rows, two.rows])
            merged.append(Block(rows, members, one.bounds[a] + two.bounds[b]))
        self.blocks = merged + [block for b, block in enumerate(self.blocks) if b not in set(used)]

    def finish(self) -> None:
        """Evaluate what is left."""
        if not self.blocks or not all(len(block.bounds) for block in self.blocks):
            if not self.blocks:
                raise Refuted("the proof has no blocks.")
            return
        self.rows.spend(math.prod(float(len(block.bounds)) for block in self.blocks) * 1e5)
        for picks in product(*(range(len(block.bounds)) for block in self.blocks)):
            parts = zip(self.blocks, picks, strict=True)
            removed = np.concatenate([block.rows[block.members[pick]] for block, pick in parts])
            if len(removed) == self.k:
                self.rows.evaluate([*self.gone, *removed])


def _join(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Least sums for every number of removals, of two tables of them."""
    found = np.full(len(one), np.inf)
    for j, value in enumerate(one):
        found[j:] = np.minimum(found[j:], value + two[: len(two) - j])
    return found


def _total(table: np.ndarray) -> np.ndarray:
    """Least sums of all blocks."""
    found = np.full(table.shape[1], np.inf)
    found[0] = 0.0
    for row in table:
        found = _join(found, row)
    return found


def _elsewhere(table: np.ndarray) -> list[np.ndarray]:
    """For every block the least sums of all others."""
    none = np.full(table.shape[1], np.inf)
    none[0] = 0.0
    before, after = [none], [none]
    for row in table[:-1]:
        before.append(_join(before[-1], row))
    for row in table[:0:-1]:
        after.append(_join(after[-1], row))
    return [_join(one, two) for one, two in zip(before, after[::-1], strict=True)]
