"""Proofs about rows for the checker, written after a search.

Few sets are left to the checker, which evaluates all of them. Otherwise the screening of the rows
is enough, or, of up to 2,000 rows, the proof by blocks is made once more, of all rows and in the
form that :mod:`columnist._verify_rows` can redo: a map that contracts the rows, the block of each,
then, stage by stage, the matrices of all blocks and the pairs of blocks that are merged.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from columnist._verify import data_hash
from columnist._verify_rows import Rows, mapped
from columnist._verify_turns import Turns
from columnist.criteria import Criterion, is_frobenius
from columnist.robust._ascent import Ascent, refresh
from columnist.robust._blocks import Blocks
from columnist.robust._deal import block_size, contract, deal, evaluation_seconds, first_size, needs
from columnist.search._certificate import Certificate
from columnist.search._proof import ProofRecorder, criterion_name

_MAP, _BLOCKS, _MATRICES, _MERGE, _SCREENING = range(1, 6)
# Sets that the checker evaluates one by one, and operations that this may take.
_SETS, _WORK = 200_000, 2e10
# Most rows of a proof by blocks.
_MOST_ROWS = 2000
# Ratio of the ends of an interval of a screening, most intervals, and what they may leave.
_RATIO, _INTERVALS, _SLACK = 0.97, 600, 1e-10
# Steps of an ascent between two prunings; blocks are merged once these close less of the gap.
_CHUNK, _PROGRESS = 40, 0.2
# Choices that are left to the checker, seconds of tail sums in merged lists, pairs of two lists.
_FEW, _STAGE_SECONDS, _PAIRS = 256, 0.5, 4e6
# Share of an open gap, and of the error, that the checker need not find.
_RESERVE, _SINGLE = 0.01, 1e-6
# What bounds aim at, as a share of the error: the checker is content with a little less.
_NEARLY = 1.0 - 5e-10


class RowProof:
    """A proof that is to be written to ``path``."""

    def __init__(
        self, path: str | os.PathLike, n_components: int, centering: str, criterion: Criterion
    ):
        self._recorder = ProofRecorder(path)
        self._name = criterion_name(criterion)
        self._r, self._centering = n_components, centering
        self._squared = is_frobenius(criterion)

    def check(self, n: int, p: int, k: int) -> None:
        """Raise if there is no proof of such a problem."""
        if _are_few(n, p, k) or self._squared:
            return
        self._recorder.discard()
        raise ValueError(
            f"proof is not available for {k} of {n:,} rows under {self._name!r}: use "
            f"criterion='frobenius', or so few outliers that there are at most {_SETS:,} sets, or "
            "leave out proof."
        )

    def write(self, X: np.ndarray, certificate: Certificate, seconds: float) -> None:
        """Write it, in so many seconds; what they do not suffice for lowers the bound."""
        removed, error = list(certificate.selection), certificate.error
        bound = certificate.lower_bound
        if certificate.status != "optimal":
            bound -= _RESERVE * (error - bound)
        try:
            if not _are_few(len(X), X.shape[1], len(removed)) and bound > 0.0:
                bound = self._many(X, removed, error, bound, seconds)
            claim = self._claim(removed, error, bound, certificate.status)
            self._recorder.finish(self._problem(X, removed), claim)
        finally:
            self._recorder.discard()

    def _claim(
        self, removed: list[int], error: float, bound: float, status: str | None
    ) -> dict[str, Any]:
        return {
            "selection": removed, "names": None, "error": error, "lower_bound": max(bound, 0.0),
            "status": status, "solutions": [removed], "errors": [error], "complete": False,
            "within": None,
        }  # fmt: skip

    def _problem(self, X: np.ndarray, removed: list[int]) -> dict[str, Any]:
        return {
            "kind": "rows", "shape": [int(n) for n in X.shape], "data": data_hash(X),
            "target": "X", "target_data": None, "size": len(removed), "n_components": self._r,
            "criterion": self._name, "centering": self._centering, "input": "data",
            "include": [], "exclude": [], "shift": 0.0, "alpha": 0.0, "weights": None,
            "constraints": [],
        }  # fmt: skip

    # -- many sets ------------------------------------------------------------------

    def _many(
        self, X: np.ndarray, removed: list[int], error: float, bound: float, seconds: float
    ) -> float:
        """Records of a proof by screening, or by blocks; what it proves."""
        claim = self._claim(removed, error, bound, None)
        rows = Rows(X, self._problem(X, removed), claim)
        turns = Turns(rows.X, removed, self._r, self._centering == "optimal")
        ends, free = _ends(turns), np.ones(len(X), dtype=bool)
        bounds = turns.bounds(ends)
        needed = (math.sqrt(rows.limit) + 2.0 * rows.off) ** 2 * (1.0 + 1e-14)
        still_open = np.flatnonzero(bounds < needed)
        if len(still_open) and still_open[0] > 0:  # the blocks have the rest
            reach = ends[still_open[0] - 1]
            stay, go = turns.decided(reach)
            free = ~(stay | go)
        if not (len(still_open) and free.any()):
            return self._screened(ends, len(ends), bound)
        if free.sum() <= _MOST_ROWS:
            if not free.all():
                self._screened(ends, still_open[0], bound)
            return min(bound, self._blocks(X, removed, error, bound, seconds, free))
        root = max(math.sqrt(max(float(bounds.min()), 0.0)) - 4.0 * rows.off, 0.0)
        return self._screened(ends, len(ends), min(bound, root**2 * rows.scale * _NEARLY))

    def _screened(self, ends: np.ndarray, count: int, bound: float) -> float:
        """Record the ends of the first intervals of a screening; what they are to prove."""
        if bound > 0.0:
            self._recorder.write(_SCREENING, 0, _bytes(ends[:count]), count)
        return bound

    def _blocks(
        self, X: np.ndarray, removed: list[int], error: float, bound: float, seconds: float, free
    ) -> float:
        """Records of a proof by blocks of the free rows; what it proves."""
        deadline = time.perf_counter() + seconds
        unit = 2.0 ** np.round(np.log2(np.abs(X).max()))
        rows, centred, k = X / unit, self._centering == "optimal", len(removed)
        if self._centering != "none":
            rows = rows - rows.mean(axis=0)
        kept = np.ones(len(rows), dtype=bool)
        kept[removed] = False
        contraction = contract(rows, kept, np.ones(len(rows), dtype=bool), self._r, centred)
        assert contraction.map is not None
        W, centre, bias, scales = contraction.map
        W = W * (1.0 - 1e-14)
        self._recorder.write(
            _MAP, 0, b"".join(_bytes(part) for part in (W, centre, np.array([bias]), scales)),
            W.shape[1],
        )  # fmt: skip
        Y = mapped(rows, centred, W, centre, [bias], scales)
        contraction = replace(contraction, rows=np.ascontiguousarray(Y))

        def expired() -> bool:
            return time.perf_counter() > deadline

        size = first_size(block_size(int(free.sum()), Y.shape[1]))
        k -= int((~kept & ~free).sum())
        blocks = deal(contraction, kept, k, needs(contraction, kept, free), size)
        names = np.full(len(rows), 2**32 - 1, dtype="<u4")
        for name, block in enumerate(blocks.blocks):
            names[block.rows] = name
        self._recorder.write(_BLOCKS, 0, names.tobytes())
        target = contraction.needed(min(bound, error * _NEARLY) / unit**2)
        total = self._stages(blocks, target, contraction.rows.shape[1], expired)
        if total >= target:
            return bound
        return max(contraction.proves(total) * unit**2 - _SINGLE * bound, 0.0)

    def _stages(self, blocks: Blocks, target: float, d: int, expired) -> float:
        """Ascend, prune and merge until nothing is left, or time; the least total."""
        ascent, gap, best = Ascent(expired), np.inf, 0.0
        while True:
            reached, _ = ascent.run(blocks, target, _CHUNK)
            if reached == -np.inf:
                return best
            self._record_matrices(blocks)
            tables = blocks.tables()  # the checker recomputes all bounds, too
            refresh(tables, expired)
            blocks.update(tables)
            total = blocks.prune(target)
            if total == np.inf or math.prod(float(len(b)) for b in blocks.blocks) <= _FEW:
                return np.inf
            best = max(best, min(reached, total) - blocks.imbalance())
            crowded = ascent.exhausted or target - best > (1.0 - _PROGRESS) * gap
            gap = target - best
            if expired() or (crowded and not self._merged(blocks, target, d, expired)):
                return best
            if crowded:
                ascent, gap = Ascent(expired), np.inf

    def _merged(self, blocks: Blocks, target: float, d: int, expired) -> bool:
        """Whether blocks could be merged."""
        if len(blocks.blocks) < 2 or blocks.least_product() > _PAIRS:
            return False
        most = int(_STAGE_SECONDS / evaluation_seconds(d))
        pairs = blocks.merge(target, most, expired)
        self._recorder.write(_MERGE, 0, _bytes(np.array(pairs), "<u4"), len(pairs))
        return True

    def _record_matrices(self, blocks: Blocks) -> None:
        """The matrix of every block but the last one, as if it removed nothing."""
        lower = np.tril_indices(blocks.data.shape[1])
        parts = []
        for block in blocks.blocks[:-1]:
            gone = np.concatenate([block.rows[block.reference], block.removed])
            Y = blocks.data[gone]
            parts.append((block.matrix + Y.T @ Y)[lower])
        stored = np.concatenate([*parts, np.zeros(0)])
        self._recorder.write(_MATRICES, 0, _bytes(stored, "<f4"), len(stored))


def _ends(turns: Turns) -> np.ndarray:
    """Where the intervals of a screening end, until nothing that counts can be gained."""
    ends: list[float] = []
    s = turns.farthest()
    while math.isfinite(s) and len(ends) < _INTERVALS:
        ends.append(s)
        if turns.gain(s) <= _SLACK * turns.error:
            break
        s *= _RATIO
    return np.array(ends)


def _are_few(n: int, p: int, k: int) -> bool:
    """Whether the checker can evaluate all sets."""
    sets = math.comb(n, k) if min(k, n - k) < 20 else math.inf
    return sets <= _SETS and sets * 20.0 * p**3 <= _WORK


def _bytes(values: np.ndarray, kind: str = "<f8") -> bytes:
    return np.ascontiguousarray(values).astype(kind).tobytes()
