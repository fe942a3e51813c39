"""From validated data to a certificate: what ColumnSelector, certify and paths share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from columnist._matrices import Matrices
from columnist._validation import available_memory
from columnist.criteria import Criterion, Frobenius
from columnist.linalg.reduce import Reduced
from columnist.search.certificate import Certificate
from columnist.search.engine import Limits, SearchResult, search
from columnist.search.incumbent import prefer_smaller
from columnist.search.log import SolverLog
from columnist.search.policies import get_policy
from columnist.selection.columns import column_problem
from columnist.selection.duplicates import distinct_columns

__all__ = ["Options", "Outcome", "solve", "total_error"]

# Errors of the reduced and of the original matrix agree to this; a proof survives it.
_AGREEMENT = 1e-9


@dataclass(frozen=True)
class Options:
    """Everything about a search that does not depend on the data."""

    criterion: Criterion = field(default_factory=Frobenius)
    n_components: int = 0
    search: str = "auto"
    weight: str = "u"
    epsilon: float = 0.0
    n_solutions: int = 1
    deadline: float = np.inf
    max_nodes: float = np.inf
    max_memory: float | None = None
    max_gap: float = 0.0
    n_jobs: int = 1
    callback: Callable | None = None
    verbose: bool = False
    names: tuple[str, ...] | None = None

    def limits(self) -> Limits:
        """Limits of the engine; half of the free memory unless given."""
        memory = available_memory() / 2 if self.max_memory is None else self.max_memory
        return Limits(self.deadline, self.max_nodes, memory, self.max_gap)


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
    policy = get_policy(options.search, options.weight, options.epsilon)
    log = SolverLog(options.verbose)
    result = search(
        problem, policy, options.limits(), n_solutions=options.n_solutions,
        n_jobs=options.n_jobs, log=log, callback=options.callback, start=start,
    )  # fmt: skip
    exhaustive = options.search in ("auto", "optimal")
    if options.n_solutions == 1 and exhaustive and result.status == "optimal":
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
    lowest = min(float(options.criterion.value(np.zeros(1))), error)
    bound = min(result.bound, error)
    if result.status == "optimal" and error - bound <= _AGREEMENT * error:
        bound = error
    certificate = Certificate(
        status=result.status, error=error, lower_bound=max(bound, lowest),
        a_priori_bound=result.a_priori, nodes_expanded=result.expanded,
        nodes_generated=result.generated, elapsed=elapsed, criterion=str(options.criterion),
        target="X" if matrices.Y is None else "y", selection=tuple(subset),
        names=options.names and tuple(options.names[i] for i in subset),
        history=tuple(result.history),
    )  # fmt: skip
    return Outcome(solutions, certificate, total_error(matrices, reduced, options))


def total_error(matrices: Matrices, reduced: Reduced, options: Options) -> float:
    """The criterion of the target itself."""
    if reduced.exact:
        return float(options.criterion.value(reduced.scale * np.sqrt(reduced.weights)))
    return matrices.error([], options.criterion, 0)
