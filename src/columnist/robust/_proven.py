"""Proofs about rows for the checker, written after a search.

Few sets are left to the checker, which evaluates all of them. Otherwise the proof by blocks is made
once more, of all rows and in the form that :mod:`columnist._verify_rows` can redo: a map that
contracts the rows, the block of each, then, stage by stage, the matrices of all blocks and the
pairs of blocks that are merged.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from columnist._verify import data_hash
from columnist._verify_rows import mapped
from columnist.criteria import Criterion, is_frobenius
from columnist.robust._ascent import Ascent, refresh
from columnist.robust._blocks import Blocks
from columnist.robust._deal import block_size, contract, deal, evaluation_seconds, first_size, needs
from columnist.search._certificate import Certificate
from columnist.search._proof import ProofRecorder, criterion_name

_MAP, _BLOCKS, _MATRICES, _MERGE = range(1, 5)
# Sets that the checker evaluates one by one, and operations that this may take.
_SETS, _WORK = 200_000, 2e10
# Most rows of a proof by blocks.
_MOST_ROWS = 2000
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
        if _are_few(n, p, k) or (self._squared and n <= _MOST_ROWS):
            return
        self._recorder.discard()
        raise ValueError(
            f"proof is not available for {k} of {n:,} rows under {self._name!r}: use at most "
            f"{_MOST_ROWS:,} rows and criterion='frobenius', or so few outliers that there are at "
            f"most {_SETS:,} sets, or leave out proof."
        )

    def write(self, X: np.ndarray, certificate: Certificate, seconds: float) -> None:
        """Write it, in so many seconds; what they do not suffice for lowers the bound."""
        removed, error = list(certificate.selection), certificate.error
        bound = certificate.lower_bound
        if certificate.status != "optimal":
            bound -= _RESERVE * (error - bound)
        try:
            if not _are_few(len(X), X.shape[1], len(removed)) and bound > 0.0:
                bound = min(bound, self._blocks(X, removed, error, bound, seconds))
            self._recorder.finish(self._problem(X, removed), {
                "selection": removed, "names": None, "error": error,
                "lower_bound": max(bound, 0.0), "status": certificate.status,
                "solutions": [removed], "errors": [error], "complete": False,
            })  # fmt: skip
        finally:
            self._recorder.discard()

    def _problem(self, X: np.ndarray, removed: list[int]) -> dict[str, Any]:
        return {
            "kind": "rows", "shape": [int(n) for n in X.shape], "data": data_hash(X),
            "target": "X", "target_data": None, "size": len(removed), "n_components": self._r,
            "criterion": self._name, "centering": self._centering, "input": "data",
            "include": [], "exclude": [], "shift": 0.0, "alpha": 0.0,
        }  # fmt: skip

    # -- blocks ---------------------------------------------------------------------

    def _blocks(
        self, X: np.ndarray, removed: list[int], error: float, bound: float, seconds: float
    ) -> float:
        """Records of a proof by blocks; what it proves."""
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

        size = first_size(block_size(len(rows), Y.shape[1]))
        blocks = deal(contraction, kept, k, needs(contraction, kept, kept | ~kept), size)
        names = np.empty(len(rows), dtype="<u4")
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


def _are_few(n: int, p: int, k: int) -> bool:
    """Whether the checker can evaluate all sets."""
    sets = math.comb(n, k) if min(k, n - k) < 20 else math.inf
    return sets <= _SETS and sets * 20.0 * p**3 <= _WORK


def _bytes(values: np.ndarray, kind: str = "<f8") -> bytes:
    return np.ascontiguousarray(values).astype(kind).tobytes()
