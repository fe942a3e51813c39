"""From rows to a certificate: which search serves which question.

The squared Frobenius error is proven by blocks of rows (:mod:`columnist.robust._prove`) or, if
rows are few, by going through all sets (:mod:`columnist.robust._few`); every other criterion, and
every order but best first, by the common search (:mod:`columnist.search._engine`) on
:class:`columnist.robust._rows.RemovedRows`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from columnist.criteria import is_frobenius
from columnist.robust._errors import RowErrors
from columnist.robust._few import SECONDS, prove_few
from columnist.robust._prove import prove
from columnist.robust._rows import RemovedRows
from columnist.search._certificate import Certificate
from columnist.search._engine import search
from columnist.search._incumbent import prefer_smaller
from columnist.search._log import Progress, SolverLog
from columnist.search._options import SearchOptions, certificate_of

__all__ = ["certified_outliers"]


def certified_outliers(
    X: np.ndarray,
    n_components: int,
    n_outliers: int,
    options: SearchOptions,
    *,
    centering: str,
    unit: float = 1.0,
    rng: np.random.Generator | None = None,
    start: Sequence[int] | None = None,
    errors: RowErrors | None = None,
) -> Certificate:
    """The rows to remove, as the selection of a certificate. No input validation.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, safe to square.
    n_components, n_outliers : int
        Dimension of the subspace; rows to remove.
    options : SearchOptions
        How to search.
    centering : {"optimal", "mean", "none"}
        Where the subspace passes: through the mean of the kept rows, that of all rows, or the
        origin.
    unit : float, default=1.0
        Factor that X was divided by; errors are those of the data before.
    rng : numpy.random.Generator, optional
        For the starts of the first choice.
    start : sequence of int, optional
        Rows near a good choice; not necessarily as many.
    errors : RowErrors, optional
        Errors of sets, if known.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.search._options import SearchOptions
    >>> from columnist.robust._solve import certified_outliers
    >>> X = np.vstack([np.outer(np.arange(9.0), [3.0, 4.0]), [[60.0, 0.0]]])
    >>> certified_outliers(X, 1, 1, SearchOptions(), centering="optimal").selection
    (9,)
    """
    log = SolverLog(options.verbose)
    if errors is None:
        errors = RowErrors(X, n_components, options.criterion, centering, unit)
    problem = RemovedRows(
        X, n_components, n_outliers, options.criterion, errors.centred, unit, rng, start, errors
    )
    by_blocks = is_frobenius(options.criterion) and options.policy().by_bound
    solver = _by_blocks if by_blocks else _by_engine
    certificate = solver(X, problem, options, log)
    log.message(repr(certificate))
    return certificate


def _by_blocks(X: np.ndarray, problem: RemovedRows, options: SearchOptions, log: SolverLog):
    started = time.perf_counter()
    square, size = problem.scale**2, (problem.n_components, problem.size)

    def report(progress: Progress):
        progress = replace(
            progress, bound=square * progress.bound, incumbent=square * progress.incumbent
        )
        log.show(progress)
        return options.callback is not None and options.callback(progress)

    proof = None
    seconds = min(SECONDS, options.deadline - started)
    if options.max_nodes > 0 and seconds > 0.0 and options.max_gap < 1.0:
        own = problem.row_errors.divided(1.0, 1.0)
        proof = prove_few(
            X, *size, centred=problem.centred, errors=own, seconds=seconds, callback=report
        )
    if proof is None:
        proof = prove(
            X, *size, centering=problem.row_errors.centering, errors=problem.row_errors,
            incumbents=problem.incumbents(*problem.root(), options.deadline),
            deadline=options.deadline, max_steps=options.max_nodes, max_gap=options.max_gap,
            max_memory=options.limits().max_memory, n_jobs=options.n_jobs, callback=report,
        )  # fmt: skip
    history = [
        {**entry, "bound": square * entry["bound"], "incumbent": square * entry["incumbent"]}
        for entry in proof.history
    ]
    error = square * proof.error
    return Certificate(
        status=proof.status, error=error,
        lower_bound=error if proof.proven else square * proof.lower_bound,
        nodes_expanded=proof.steps, nodes_generated=proof.evaluations,
        elapsed=time.perf_counter() - started, criterion=str(options.criterion),
        selection=tuple(int(i) for i in proof.removed), history=tuple(history),
    )  # fmt: skip


def _by_engine(X: np.ndarray, problem: RemovedRows, options: SearchOptions, log: SolverLog):
    started = time.perf_counter()
    result = search(
        problem, options.policy(), options.limits(),
        n_jobs=options.n_jobs, log=log, callback=options.callback,
    )  # fmt: skip
    subset = result.solutions[0][1]
    if options.exhaustive and result.status == "optimal":
        subset = prefer_smaller(problem, subset, *problem.root(), deadline=options.deadline)
    elapsed = time.perf_counter() - started
    certificate = certificate_of(result, options, problem.value(subset), sorted(subset), elapsed)
    # The guarantee speaks of bounds without rounding.
    return certificate if problem.distinct else replace(certificate, a_priori_bound=None)
