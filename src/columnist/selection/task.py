"""From validated data to a certificate: what ColumnSelector, certify and paths share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from columnist._matrices import Matrices
from columnist._search import AGREEMENT, SearchOptions, certificate_of
from columnist.linalg.reduce import Reduced
from columnist.search.certificate import Certificate
from columnist.search.engine import SearchResult, search
from columnist.search.incumbent import prefer_smaller
from columnist.search.log import SolverLog
from columnist.search.workers import current_workers
from columnist.selection.columns import column_problem
from columnist.selection.duplicates import distinct_columns

__all__ = ["Options", "Outcome", "solve", "total_error"]

# Errors that differ by less than this share of the target itself differ by rounding.
_ROUNDING = 1e-7


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
) -> Outcome:
    """Search, recompute the errors from the data, and certify. No input validation."""
    started = time.perf_counter()
    allowed = np.setdiff1d(np.arange(matrices.n_features), [*include, *exclude])
    candidates = allowed
    if options.n_solutions == 1:
        candidates = distinct_columns(reduced.columns, allowed, size - len(include))
    problem = column_problem(
        reduced, size, criterion=options.criterion, n_components=options.n_components,
        include=include, candidates=candidates,
        evaluate=None if reduced.exact else _true_error(matrices, options),
    )  # fmt: skip
    log = SolverLog(options.verbose)
    result = search(
        problem, options.policy(), options.limits(), n_solutions=options.n_solutions,
        n_jobs=options.n_jobs, log=log, callback=options.callback, start=start,
        workers=options.workers or current_workers(),
    )  # fmt: skip
    if options.n_solutions == 1 and options.exhaustive and result.status == "optimal":
        error, subset = result.solutions[0]
        result.solutions[0] = (error, prefer_smaller(problem, subset, include, allowed))
    outcome = _certify(matrices, reduced, options, result, time.perf_counter() - started)
    log.message(repr(outcome.certificate))
    return outcome


def _true_error(matrices: Matrices, options: Options) -> Callable[[Sequence[int]], float]:
    return lambda subset: matrices.error(subset, options.criterion, options.n_components)


def _certify(matrices, reduced, options, result: SearchResult, elapsed: float) -> Outcome:
    solutions = result.solutions
    if not matrices.gram and not sp.issparse(matrices.X):
        exact = _true_error(matrices, options)
        solutions = sorted((exact(subset), subset) for _, subset in solutions)
    error, subset = solutions[0]
    certificate = certificate_of(
        result, options, error, subset, elapsed,
        target="X" if matrices.Y is None else "y",
        names=options.names and tuple(options.names[i] for i in subset),
    )  # fmt: skip
    total = total_error(matrices, reduced, options)
    return Outcome(solutions, _confirmed(certificate, total), total)


def _confirmed(certificate: Certificate, total: float) -> Certificate:
    """The certificate, unless the data contradict a proof on their reduction.

    That would be a column whose part in the reduction is mostly rounding.
    """
    apart = certificate.error - certificate.lower_bound
    if (
        certificate.status == "optimal"
        and apart > AGREEMENT * certificate.error + _ROUNDING * total
    ):
        return replace(certificate, status="bounded")
    return certificate


def total_error(matrices: Matrices, reduced: Reduced, options: Options) -> float:
    """The criterion of the target itself."""
    if reduced.exact:
        return float(options.criterion.value(reduced.scale * np.sqrt(reduced.weights)))
    return matrices.error([], options.criterion, 0)
