"""The problem and the claim of a proof, as written in its first line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from columnist._verify import data_hash
from columnist.data import Matrices
from columnist.search._proof import ProofRecorder, criterion_name
from columnist.selection._task import Options, Outcome

# Errors that are no more than this share of the target are rounding.
_NOTHING = 1e-12
# Share of an open gap by which the bound of a proof is below that of the search: the checker need
# not find bounds that are as good to the last digit.
_RESERVE = 0.01


@contextmanager
def recorded(
    path: str | os.PathLike | None, matrices: Matrices, reduction: str, options: Options
) -> Iterator[ProofRecorder | None]:
    """What writes the proof, if there is to be one; nothing is left of it after an error."""
    if path is None:
        yield None
        return
    check_provable(matrices, reduction, options)
    recorder = ProofRecorder(path)
    try:
        yield recorder
    finally:
        recorder.discard()


def check_provable(matrices: Matrices, reduction: str, options: Options) -> None:
    """Raise if no proof can be written for these data."""
    if matrices.rows is not None:
        raise ValueError(
            "proof does not hold weights yet: leave out proof, or repeat rows instead of passing "
            "sample_weight."
        )
    if not matrices.is_here or matrices.sample or matrices.source is not None:
        raise ValueError(
            "proof needs the data in memory: pass an array, a frame or a sparse matrix, or leave "
            "out proof."
        )
    if reduction != "exact":
        raise ValueError("proof needs reduction='exact'.")
    if options.solution_tol is not None:
        raise ValueError(
            "proof does not cover solution_tol yet: ask for the n_solutions best sets."
        )
    criterion_name(options.criterion)


def problem_of(
    matrices: Matrices,
    options: Options,
    outcome: Outcome,
    include: Sequence[int],
    exclude: Sequence[int],
    alpha: float = 0.0,
) -> dict[str, Any]:
    """The problem."""
    X, Y, scaled = matrices.X, matrices.Y, matrices.x_scale != 1.0 or matrices.y_scale != 1.0
    if scaled:  # powers of two, which round nothing
        X = X * matrices.x_scale * (matrices.x_scale if matrices.gram else 1.0)
        Y = None if Y is None else Y * matrices.y_scale
    return {
        "kind": "columns",
        "shape": [int(n) for n in X.shape],
        "data": data_hash(X),
        "target": "X" if Y is None else str(matrices.target_kind),
        "target_data": None if Y is None else data_hash(Y),
        "size": len(outcome.solutions[0][1]),
        "n_components": options.n_components,
        "criterion": criterion_name(options.criterion),
        "centering": "mean" if matrices.center else "none",
        "input": "gram" if matrices.gram else "data",
        "include": sorted(int(i) for i in include),
        "exclude": sorted(int(i) for i in exclude),
        "shift": outcome.shift,
        "alpha": alpha,
    }


def claim_of(outcome: Outcome) -> dict[str, Any]:
    """The claim."""
    certificate = outcome.certificate
    error, bound = certificate.error, certificate.lower_bound
    if certificate.status != "optimal":
        bound -= _RESERVE * (error - bound)
    if outcome.filled or error <= _NOTHING * outcome.total:
        bound = 0.0
    return {
        "selection": list(outcome.solutions[0][1]),
        "names": certificate.names,
        "error": error,
        "lower_bound": max(bound, 0.0),
        "status": certificate.status,
        "solutions": [list(subset) for _, subset in outcome.solutions],
        "errors": [error for error, _ in outcome.solutions],
        "complete": certificate.status == "optimal" and bound > 0.0,
    }
