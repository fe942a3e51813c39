"""From validated data to a certificate: what ColumnSelector, certify and paths share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from columnist._validation import available_memory
from columnist.criteria import Criterion, Frobenius
from columnist.linalg.reduce import Reduced, power_of_two, reduce_data, reduce_gram
from columnist.linalg.residual import chosen_basis, residual_energy, residual_singular_values
from columnist.linalg.threads import single_threaded_blas
from columnist.search.certificate import Certificate
from columnist.search.engine import Limits, SearchResult, search
from columnist.search.incumbent import prefer_smaller
from columnist.search.log import SolverLog
from columnist.search.policies import get_policy
from columnist.selection.columns import column_problem
from columnist.selection.duplicates import distinct_columns

__all__ = ["Matrices", "Options", "Outcome", "solve", "total_error"]

# Errors of the reduced and of the original matrix agree to this; a proof survives it.
_AGREEMENT = 1e-9
# Largest side for which a sparse residual's Gram matrix may be formed.
_GRAM_SIDE = 5000
# Entries within this and its inverse can be squared and summed without a thought.
_TINY = 1e-70
# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8


@dataclass(frozen=True)
class Matrices:
    """Validated input: X, the target Y (None: X itself), and how to read them.

    ``gram`` says that X is a Gram matrix; ``center`` that column means are free.
    """

    X: np.ndarray | sp.spmatrix
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def reduce(self, reduction: str, size: int, rng) -> Reduced:
        """The small matrix of the search."""
        if self.gram:
            return reduce_gram(self.X)
        rank = None
        if reduction == "randomized":
            rank = max(4 * size, 100)
        self._check_memory(rank)
        return reduce_data(self.X, self.Y, center=self.center, rank=rank, rng=rng)

    def threads(self) -> AbstractContextManager:
        """One BLAS thread for small matrices, as many as there are otherwise."""
        m, n = self.X.shape
        return single_threaded_blas() if m * n * min(m, n) < _SMALL else nullcontext()

    def _check_memory(self, rank: int | None) -> None:
        m, n = self.X.shape
        need = 8.0 * (min(m, n) if rank is None else rank) * n * 4
        if need > available_memory():
            raise MemoryError(
                f"The exact reduction of a {m} x {n} matrix needs about {need / 2**30:.1f} GB. "
                "Use reduction='randomized', or select rows or columns first."
            )

    def centered(self) -> tuple[np.ndarray, np.ndarray]:
        """X and target as dense arrays, means removed if they are free."""
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        X = X - X.mean(axis=0) if self.center else X
        if self.Y is None:
            return X, X
        return X, (self.Y - self.Y.mean(axis=0) if self.center else self.Y)

    def balanced(self) -> tuple[Matrices, float, float]:
        """The same with entries that can be squared safely, and what X and Y were divided by."""
        x_scale = power_of_two(np.sqrt(np.abs(self.X)) if self.gram else self.X)
        y_scale = x_scale if self.Y is None else power_of_two(self.Y)
        if all(_TINY < scale < 1 / _TINY for scale in (x_scale, y_scale)):
            return self, 1.0, 1.0
        X = self.X / x_scale / x_scale if self.gram else self.X / x_scale
        return replace(self, X=X, Y=None if self.Y is None else self.Y / y_scale), x_scale, y_scale

    def error(self, subset: Sequence[int], criterion: Criterion, n_components: int) -> float:
        """Error of a choice, recomputed from the data themselves."""
        balanced, _, scale = self.balanced()
        return balanced._error(subset, criterion, n_components, scale)

    def _error(self, subset, criterion, n_components, scale) -> float:
        if sp.issparse(self.X):
            spectrum = self._sparse_spectrum(subset, criterion, n_components)
        else:
            X, target = self.centered()
            if isinstance(criterion, Frobenius) and n_components == 0:
                return scale**2 * residual_energy(X.T, target, subset)
            spectrum = residual_singular_values(X.T, target, subset)
        counted = spectrum[n_components:]
        return float(criterion.value(scale * counted if len(counted) else np.zeros(1)))

    def _sparse_spectrum(self, subset, criterion, n_components) -> np.ndarray:
        """Singular values of the residual, from inner products only."""
        X = sp.csc_matrix(self.X)
        chosen = X[:, list(subset)].toarray()
        mean = np.asarray(X.mean(axis=0)).ravel() if self.center else np.zeros(X.shape[1])
        chosen = chosen - mean[list(subset)]
        Q = chosen_basis(chosen.T, range(len(subset)))
        if self.Y is not None:
            target = self.Y - self.Y.mean(axis=0) if self.center else self.Y
            residual = target - Q @ (Q.T @ target)
            return np.linalg.svd(residual, compute_uv=False)
        caught = np.asarray(X.T @ Q).T - np.outer(Q.sum(axis=0), mean)
        if isinstance(criterion, Frobenius) and n_components == 0:
            total = float(X.multiply(X).sum()) - X.shape[0] * float(mean @ mean)
            left = total - float(np.vdot(caught, caught))
            floor = (max(X.shape) * np.finfo(float).eps) * total
            return np.sqrt([left if left > floor else 0.0])
        return _gram_spectrum(X, mean, Q, caught)


def _gram_spectrum(X, mean, Q, caught) -> np.ndarray:
    """Singular values of X - 1 mean' - Q caught through the smaller Gram matrix."""
    m, n = X.shape
    if min(m, n) > _GRAM_SIDE:
        raise ValueError(
            f"The error of a sparse {m} x {n} residual under this criterion needs a Gram matrix "
            f"with more than {_GRAM_SIDE} rows. Use criterion='frobenius' with n_components=0."
        )
    if n <= m:
        gram = (X.T @ X).toarray() - m * np.outer(mean, mean) - caught.T @ caught
    else:
        side = np.asarray(X @ mean).ravel()
        gram = (X @ X.T).toarray() - side[:, None] - side[None, :] + mean @ mean
        gram = gram - Q @ (Q.T @ gram)
        gram = gram - (gram @ Q) @ Q.T
    values = np.linalg.eigvalsh(0.5 * (gram + gram.T))[::-1]
    floor = len(gram) * np.finfo(float).eps * float(X.multiply(X).sum())
    return np.sqrt(np.where(values > floor, values, 0.0))


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
