"""Single strategies for rows, driven by a run of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from columnist.robust._ascent import Team
from columnist.robust._block_proof import BlockProof
from columnist.robust._concentrate import concentrated_rows
from columnist.robust._row_data import RowData
from columnist.robust._solve import AllSets, Question, _FirstChoice, _RowsInMemory
from columnist.search._options import SearchOptions
from columnist.search._run import Run

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Proof:
    """What a strategy has proven."""

    error: float
    lower_bound: float
    removed: np.ndarray
    status: str
    steps: int
    evaluations: int
    history: list
    always_kept: np.ndarray | None = None
    always_removed: np.ndarray | None = None

    @property
    def proven(self) -> bool:
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        return (self.error - self.lower_bound) / self.error if self.error > 0.0 else 0.0


def rows_of(X, r, k, centering="optimal", rng=None, **options) -> _RowsInMemory:
    """Rows as the strategies see them."""
    rng = rng or np.random.default_rng(0)
    X = np.asarray(X, dtype=np.float64)
    return _RowsInMemory(Question(RowData(X), r, k, centering, rng), SearchOptions(**options))


def prove(X, r, k, *, centering="optimal", incumbents=None, **options) -> Proof:
    """Blocks of all rows, after a first choice."""
    if "max_steps" in options:
        options["max_nodes"] = options.pop("max_steps")
    rows = rows_of(X, r, k, centering, **options)
    run = Run(rows, rows.options.limits(), callback=rows.options.callback)
    proofs: list[BlockProof] = []

    def strategies():
        yield _FirstChoice(iter(incumbents) if incumbents is not None else first())
        proofs.append(rows.all_blocks(run, team))
        yield proofs[0]

    def first():
        errors = rows.errors
        kept = concentrated_rows(
            errors.short, r, k, centred=errors.centred, rng=np.random.default_rng(0),
            deadline=rows.options.deadline,
        )  # fmt: skip
        yield np.flatnonzero(~kept)

    with Team(rows.options.n_jobs) as team:
        run.drive(strategies())
    return _proof(run, rows, proofs)


def prove_few(X, r, k, *, centering="optimal", seconds=0.25, callback=None) -> Proof | None:
    """All sets, or None if that takes too long or too much is lost to rounding."""
    rows = rows_of(X, r, k, centering)
    run = Run(rows, callback=callback)
    run.drive([AllSets(rows.errors, k, seconds)])
    return _proof(run, rows, []) if run.stop == "optimal" else None


def _decided(proof: BlockProof) -> tuple[np.ndarray, np.ndarray]:
    """Rows that every better set, if there is one, keeps, and those that it removes."""
    if not proof.nodes:
        return proof.best.kept, ~proof.best.kept
    kept, removed = np.all([node.decided() for node in proof.nodes], axis=0)
    return kept, removed


def _proof(run: Run, rows: _RowsInMemory, proofs: list[BlockProof]) -> Proof:
    error, removed = rows.confirmed(*run.pool.entries[0])
    kept = gone = None
    if proofs:
        kept, gone = map(np.flatnonzero, _decided(proofs[0]))
    bound = error if run.stop == "optimal" else min(run.bound(), error)
    return Proof(
        error, bound, np.array(removed, dtype=np.intp), run.stop or "precision_limit",
        run.expanded, run.generated, run.history, kept, gone,
    )  # fmt: skip
