"""From validated data to a certificate: what ColumnSelector, certify and paths share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from columnist.data._matrices import Matrices
from columnist.linalg._reduce import Reduced
from columnist.linalg._rounding import agrees, is_trusted
from columnist.search._certificate import Certificate
from columnist.search._engine import search
from columnist.search._incumbent import prefer_smaller
from columnist.search._interrupts import expired, pending
from columnist.search._log import SolverLog
from columnist.search._options import SearchOptions, certificate_of
from columnist.search._run import SearchResult
from columnist.search._workers import current_workers
from columnist.selection._columns import InvariantColumns, column_problem
from columnist.selection._duplicates import distinct_columns

__all__ = ["Options", "Outcome", "confirmed_error", "solve", "total_error"]


@dataclass(frozen=True)
class Options(SearchOptions):
    """Everything about a selection that does not depend on the data."""

    n_components: int = 0
    n_solutions: int = 1
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Outcome:
    """Solutions (error, subset), best first, the certificate of the first, the target's size."""

    solutions: list[tuple[float, tuple[int, ...]]]
    certificate: Certificate
    total: float


def solve(
    matrices: Matrices,
    reduced: Reduced,
    size: int,
    options: Options,
    *,
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    start: Sequence[Sequence[int]] = (),
    distinct: np.ndarray | None = None,
) -> Outcome:
    """Search, recompute the errors from the data, and certify. No input validation.

    ``distinct`` are the allowed columns but for copies and zeros, if that is known already.
    """
    allowed = np.setdiff1d(np.arange(matrices.n_features), [*include, *exclude])
    candidates = allowed
    if options.n_solutions == 1:
        if distinct is None:
            distinct = distinct_columns(reduced.columns, allowed, matrices.X)
        candidates = distinct if len(distinct) >= size - len(include) else allowed
    problem = column_problem(
        reduced, size, criterion=options.criterion, n_components=options.n_components,
        include=include, candidates=candidates,
        evaluate=_interval(matrices, options),
    )  # fmt: skip
    log = SolverLog(options.verbose)
    result = search(
        problem, options.policy(), options.limits(), n_solutions=options.n_solutions,
        n_jobs=options.n_jobs, log=log, callback=options.callback, start=start,
        workers=options.workers or current_workers(),
    )  # fmt: skip
    if options.n_solutions == 1 and options.exhaustive and result.status == "optimal":
        error, subset = result.solutions[0]
        smaller = prefer_smaller(problem, subset, include, allowed, deadline=options.deadline)
        result.solutions[0] = (error, smaller)
    solutions: list[tuple[float, tuple[int, ...]]] = []
    for error, subset in result.solutions:
        # Out of time, what the search knows of the runners-up has to do.
        if not solutions or not expired(options.deadline):
            error = confirmed_error(matrices, options, subset, error)
        solutions.append((error, subset))
    outcome = _outcome(matrices, reduced, options, result, sorted(solutions))
    log.message(repr(outcome.certificate))
    return outcome


def unsearched(
    matrices: Matrices,
    reduced: Reduced,
    options: Options,
    subset: Sequence[int],
    include: Sequence[int],
    error: float | None = None,
) -> Outcome:
    """A known selection and the bound of the root: what there is when no time is left to search.

    ``error`` is its error from the data, if that is known already.
    """
    problem = InvariantColumns(
        reduced, len(subset), options.criterion, options.n_components, include, None
    )
    bound, known = problem.root_bounds()[0], tuple(sorted(subset))
    if error is None:
        error = confirmed_error(matrices, options, known, bound)
    status = "interrupted" if pending() else "time_limit"
    if agrees(bound, error, problem.least):
        status = "optimal"
    elif error - bound <= options.max_gap * abs(error):
        status = "gap_reached"
    result = SearchResult(status, [(error, known)], bound, None, 0, 0, 0)
    return _outcome(matrices, reduced, options, result, [(error, known)])


def _interval(matrices: Matrices, options: Options) -> Callable[..., tuple[float, float]]:
    """Where errors lie, from the data; what was measured with care is remembered."""
    known: dict[tuple[int, ...], tuple[float, float]] = {}

    def interval(subset: Sequence[int], limit: float = np.inf) -> tuple[float, float]:
        subset = tuple(subset)
        if subset in known:
            return known[subset]
        ends = matrices.interval(subset, options.criterion, options.n_components, limit)
        if ends[0] < limit:
            known[subset] = ends
        return ends

    return interval


def _outcome(matrices, reduced, options, result: SearchResult, solutions) -> Outcome:
    """Everything about solutions whose errors are confirmed, best first."""
    error, subset = solutions[0]
    certificate = certificate_of(
        result, options, error, subset, options.elapsed,
        target="X" if matrices.Y is None else "y", target_kind=matrices.target_kind,
        names=options.names and tuple(options.names[i] for i in subset),
    )  # fmt: skip
    return Outcome(solutions, certificate, total_error(matrices, reduced, options))


def confirmed_error(matrices: Matrices, options: Options, subset, found: float) -> float:
    """Error of a choice from the data, whatever the search has ``found`` it to be."""
    low, high = matrices.interval(subset, options.criterion, options.n_components)
    if is_trusted(low, high, float(options.criterion.value(np.zeros(1)))):
        return low + 0.5 * (high - low)
    if matrices.gram:
        return min(max(found, low), high)
    return matrices.error(subset, options.criterion, options.n_components)


def total_error(matrices: Matrices, reduced: Reduced, options: Options) -> float:
    """The criterion of the target itself."""
    if reduced.exact:
        return float(options.criterion.value(reduced.scale * np.sqrt(reduced.weights)))
    return matrices.error([], options.criterion, 0)
