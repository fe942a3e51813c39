"""From validated data to a certificate: what ColumnSelector, certify and paths share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from columnist.data import Matrices
from columnist.linalg._passes import others
from columnist.linalg._reduce import Reduced
from columnist.linalg._residual import graded_basis
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

__all__ = ["Options", "Outcome", "choose", "confirmed_error", "solve", "total_error"]


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
    allowed = others(matrices.n_features, [*include, *exclude])
    candidates = allowed
    if options.n_solutions == 1:
        if distinct is None:
            distinct = distinct_columns(reduced.columns, allowed, matrices.X)
        candidates = distinct if len(distinct) >= size - len(include) else allowed
    interval = _interval(matrices, options)
    problem = column_problem(
        reduced, size, criterion=options.criterion, n_components=options.n_components,
        include=include, candidates=candidates, evaluate=interval,
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
            error = confirmed_error(matrices, options, subset, error, interval)
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
        subset = tuple(sorted(subset))
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


def confirmed_error(
    matrices: Matrices,
    options: Options,
    subset,
    found: float,
    interval: Callable[..., tuple[float, float]] | None = None,
) -> float:
    """Error of a choice from the data, whatever the search has ``found`` it to be.

    ``interval`` is where the search asked the data, if it did.
    """
    low, high = (interval or _interval(matrices, options))(subset)
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


def choose(
    matrices, reduced, size, options, include, exclude, *, quiet=False, start=(), distinct=None
) -> Outcome:
    """Solve for one size; where the columns run out of rank, fill up with the first ones.

    A pool is searched at its full size, so that the sets that explain less than everything stand
    in it where they belong. ``quiet`` leaves out the warning about the rank; ``start`` holds known
    selections; ``distinct`` is as in :func:`columnist.selection._task.solve`. No input validation.
    """
    allowed = others(matrices.n_features, [*include, *exclude])
    enough = _useful_size(reduced, size, include, allowed)
    if enough < size and not quiet:
        warnings.warn(
            f"{enough} columns explain everything that {size} could: the others are filled up "
            "with the first columns left.",
            UserWarning,
            stacklevel=4,
        )
    solved = partial(
        solve, matrices, reduced, options=options, include=include, exclude=exclude,
        distinct=distinct,
    )  # fmt: skip
    if enough == size or options.n_solutions > 1:
        return solved(size, start=start)
    outcome = solved(enough)
    return _fill_up(outcome, size, allowed, matrices, options)


def _useful_size(reduced, size, include, allowed) -> int:
    usable = np.concatenate([np.asarray(include, dtype=np.intp), allowed])
    rank = reduced.rank if len(usable) == reduced.n_items else _rank(reduced, usable)
    useless = len(include) - _rank(reduced, include)
    return max(min(size, rank + useless), len(include), 1)


def _rank(reduced, chosen) -> int:
    """How many of the columns are independent; all of them where that is in doubt."""
    lengths = np.linalg.norm(reduced.columns, axis=1)
    basis = graded_basis(reduced.columns, chosen, lengths, reduced.power)
    return len(chosen) if basis.doubtful else basis.Q.shape[1]


def _fill_up(outcome: Outcome, size, allowed, matrices, options) -> Outcome:
    """The best set filled up to ``size``: if it leaves nothing that any columns could explain, the
    others add nothing; if the search had to stop before, they may."""
    error, subset = outcome.solutions[0]
    spare = [int(i) for i in allowed if i not in set(subset)]
    filled = tuple(sorted([*subset, *spare[: size - len(subset)]]))
    certificate = outcome.certificate
    if certificate.status != "optimal":
        error = min(error, confirmed_error(matrices, options, filled, error))
    certificate = replace(
        certificate,
        error=error,
        lower_bound=min(certificate.lower_bound, error),
        selection=filled,
        names=options.names and tuple(options.names[i] for i in filled),
    )
    return replace(outcome, solutions=[(error, filled)], certificate=certificate)
