"""The problem and the claim of a proof, as written in its first line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from columnist._verify import data_hash
from columnist.constraints import AtMost, Budget, Constraint, Groups, Requires
from columnist.data import Matrices
from columnist.search._proof import ProofRecorder, criterion_name
from columnist.selection._rules import Rules
from columnist.selection._task import Options, Outcome

# Errors that are no more than this share of the target are rounding.
_NOTHING = 1e-12
# Share of an open gap by which the bound of a proof is below that of the search: the checker need
# not find bounds that are as good to the last digit.
_RESERVE = 0.01
# Most weights in the first line of a proof.
_MOST_WEIGHTS = 500_000


@contextmanager
def recorded(
    path: str | os.PathLike | None,
    matrices: Matrices,
    reduction: str,
    options: Options,
    constraints: Sequence[Constraint] | None,
) -> Iterator[ProofRecorder | None]:
    """What writes the proof, if there is to be one; nothing is left of it after an error."""
    if path is None:
        yield None
        return
    check_provable(matrices, reduction, options)
    for constraint in constraints or ():
        _plain(constraint)
    recorder = ProofRecorder(path)
    try:
        yield recorder
    finally:
        recorder.discard()


def check_provable(matrices: Matrices, reduction: str, options: Options) -> None:
    """Raise if no proof can be written for these data."""
    rows = matrices.rows
    if rows is not None and rows.n_given > _MOST_WEIGHTS:
        raise ValueError(
            f"proof holds up to {_MOST_WEIGHTS:,} weights, got {rows.n_given:,}: leave out proof."
        )
    stands_in = rows is None and (matrices.sample or matrices.source is not None)
    if not matrices.is_here or stands_in:
        raise ValueError(
            "proof needs the data in memory: pass an array, a frame or a sparse matrix, or leave "
            "out proof."
        )
    if reduction != "exact":
        raise ValueError("proof needs reduction='exact'.")
    criterion_name(options.criterion)


def problem_of(
    matrices: Matrices,
    options: Options,
    outcome: Outcome,
    include: Sequence[int],
    exclude: Sequence[int],
    rules: Rules | None,
    alpha: float = 0.0,
) -> dict[str, Any]:
    """The problem."""
    X, Y, weights = matrices.X, matrices.Y, None
    if matrices.rows is not None:
        X, Y, weights = matrices.rows.X, matrices.rows.Y, _weights(matrices.rows)
    elif matrices.x_scale != 1.0 or matrices.y_scale != 1.0:  # powers of two, which round nothing
        X = X * matrices.x_scale * (matrices.x_scale if matrices.gram else 1.0)
        Y = None if Y is None else Y * matrices.y_scale
    return {
        "kind": "columns",
        "shape": [X.shape[0] if weights is None else len(weights), X.shape[1]],
        "data": data_hash(X),
        "target": "X" if Y is None else str(matrices.target_kind),
        "target_data": None if Y is None else data_hash(Y),
        "weights": weights,
        "size": len(outcome.solutions[0][1]) if rules is None else rules.size,
        "n_components": options.n_components,
        "criterion": criterion_name(options.criterion),
        "centering": "mean" if matrices.center else "none",
        "input": "gram" if matrices.gram else "data",
        "include": sorted(int(i) for i in include),
        "exclude": sorted(int(i) for i in exclude),
        "constraints": [_plain(c) for c in (() if rules is None else rules.constraints)],
        "shift": outcome.shift,
        "alpha": alpha,
    }


def _weights(rows) -> list[float] | None:
    """The weights of all rows that were given, if they say anything."""
    every = np.zeros(rows.n_given)
    every[rows.places] = 1.0 if rows.weights is None else rows.weights
    return None if (every == 1.0).all() else every.tolist()


def _plain(constraint: Constraint) -> dict[str, Any]:
    """A constraint as a proof holds it."""
    if type(constraint) is Groups:
        return {"kind": "groups", "labels": list(constraint.values)}
    if type(constraint) is Budget:
        costs, budget = list(constraint.values), constraint.budget
        return {"kind": "budget", "costs": costs, "budget": budget}
    if type(constraint) is AtMost:
        return {"kind": "at most", "columns": list(constraint.columns), "m": constraint.m}
    if type(constraint) is Requires:
        others = list(constraint.others)
        return {"kind": "requires", "column": constraint.column, "others": others}
    raise ValueError(
        f"proof holds Groups, Budget, AtMost and Requires, not {type(constraint).__name__}: what "
        "obeys it only its own code can tell. Leave out proof."
    )


def claim_of(outcome: Outcome, options: Options) -> dict[str, Any]:
    """The claim."""
    certificate = outcome.certificate
    error, bound = certificate.error, certificate.lower_bound
    if certificate.status != "optimal":
        bound -= _RESERVE * (error - bound)
    if outcome.filled or error <= _NOTHING * outcome.total:
        bound = 0.0
    within = options.solution_tol if certificate.list_complete else None
    return {
        "selection": list(outcome.solutions[0][1]),
        "names": certificate.names,
        "error": error,
        "lower_bound": max(bound, 0.0),
        "status": certificate.status,
        "solutions": [list(subset) for _, subset in outcome.solutions],
        "errors": [error for error, _ in outcome.solutions],
        "complete": certificate.status == "optimal" and bound > 0.0,
        "within": within,
    }
