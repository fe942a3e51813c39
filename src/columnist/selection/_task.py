"""Selections for one size, the fewest columns, or every size, from validated data to
certificates."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.criteria import is_frobenius
from columnist.data import Matrices
from columnist.linalg._passes import others
from columnist.linalg._reduce import Reduced
from columnist.linalg._residual import graded_basis
from columnist.linalg._rounding import above, agrees, is_trusted
from columnist.linalg._ties import TIE
from columnist.search._certificate import Certificate
from columnist.search._engine import search
from columnist.search._incumbent import greedy, prefer_smaller
from columnist.search._interrupts import expired, pending
from columnist.search._log import Progress, SolverLog
from columnist.search._options import SearchOptions, certificate_of
from columnist.search._proof import ProofRecorder
from columnist.search._run import SearchResult
from columnist.search._workers import current_workers
from columnist.selection._columns import InvariantColumns, column_problem, forward_order
from columnist.selection._duplicates import copies, distinct_columns
from columnist.selection._wide import WideData, wide_data

# How many sets are listed at most if a tolerance is given, but no number.
MOST_SOLUTIONS = 1000
# Operations from which errors of a path are computed together once its time is over.
_LONG_WORK = 1e9


class Solution(tuple):
    """Selected columns in ascending order, with their error.

    Parameters
    ----------
    columns : iterable of int
        The selection.
    error : float
        Its error.

    Examples
    --------
    >>> from columnist.selection import Solution
    >>> solution = Solution([2, 0], error=1.5)
    >>> solution
    Solution((0, 2), error=1.5)
    >>> solution[0], len(solution), solution.error
    (0, 2, 1.5)
    """

    error: float

    def __new__(cls, columns: Iterable[int], error: float) -> Solution:
        self = super().__new__(cls, sorted(int(column) for column in columns))
        self.error = float(error)
        return self

    def __getnewargs__(self) -> tuple:
        return tuple(self), self.error

    def __repr__(self) -> str:
        return f"Solution({tuple(self)!r}, error={self.error:g})"


@dataclass(frozen=True)
class Options(SearchOptions):
    """Everything about a selection that does not depend on the data."""

    n_components: int = 0
    n_solutions: int = 1
    solution_tol: float | None = None
    names: tuple[str, ...] | None = None
    recorder: ProofRecorder | None = None


@dataclass(frozen=True)
class Outcome:
    """Solutions (error, subset), best first, the certificate of the first, the target's size, and
    the share of an eigenvalue by which a relaxation has shifted the target; ``filled`` if further
    columns were added to what a search has chosen. ``intervals`` hold the errors of the solutions,
    and no other set has less than ``unlisted``."""

    solutions: list[tuple[float, tuple[int, ...]]]
    certificate: Certificate
    total: float
    shift: float = 1.0
    filled: bool = False
    intervals: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)
    unlisted: float = -np.inf


@dataclass(frozen=True)
class Sizes:
    """One problem, to be solved for one or several sizes. No input validation. The deadline of the
    options is for all sizes together; ``include`` and ``exclude`` are the columns that must, or
    must not, be selected; ``reduce`` makes a small matrix of the data, if one may be needed."""

    matrices: Matrices
    reduce: Callable[[], Reduced] | None
    options: Options
    include: Sequence[int]
    exclude: Sequence[int]

    # -- one size -------------------------------------------------------------------

    def best(self, size: int, *, quiet: bool = False, start: Sequence = ()) -> Outcome:
        """Solve for one size; ``quiet`` leaves out the warning about the rank."""
        enough = self.useful(size)
        if enough < size and not quiet:
            warn_caller(
                f"{enough} columns explain everything that {size} could: the others are filled up "
                "with the first columns left."
            )
        return self.choose(size, self.options, start)

    def choose(self, size: int, options: Options, start: Sequence[Sequence[int]]) -> Outcome:
        """Solve for one size; where the columns run out of rank, fill up with the first ones. A
        pool is searched at its full size, so that the sets that explain less than everything stand
        in it where they belong. ``start`` holds known selections."""
        enough = self.useful(size)
        if enough == size or options.n_solutions > 1:
            return self._solve(size, options, start)
        return self._fill_up(self._solve(enough, options, ()), size, options)

    def some(self, size: int) -> tuple[list[int] | None, bool]:
        """Some choice of a size, if there is one; and whether that is certain."""
        n_more = size - len(self.include)
        fits = 0 <= n_more <= len(self._allowed)
        return ([*self.include, *self._allowed[:n_more].tolist()] if fits else None), True

    def unit(self, column: int) -> set[int]:
        """A column with the columns that it requires."""
        return {column}

    def error(self, subset: Sequence[int]) -> float:
        """Error of a given choice, from the data."""
        found = 0.0 if self._wide is not None else self._problem(len(subset)).value(subset)
        return confirmed_error(self.matrices, self.options, subset, found)

    def floor(self) -> float:
        """Lower bound on the error of all sizes: the error of all usable columns."""
        if self._wide is not None:
            return self._bounded(len(self._wide.columns)).root_bounds()[0]
        every = [*self.include, *self._allowed.tolist()]
        return self._problem(len(every)).interval(every)[0]

    def errors(self, order: Sequence[int]) -> list[float]:
        """Errors of the beginnings of an order, from none on."""
        together = None if self.matrices.ridge else self.matrices.errors_along(order)
        if together is not None:
            return [float(error) for error in together]
        return [self.error(order[:k]) for k in range(len(order) + 1)]

    def known(self, subset: Sequence[int], error: float, bound: float) -> Outcome:
        """A choice with a bound that comes from elsewhere."""
        status = "time_limit" if expired(self.options.deadline) else "gap_reached"
        result = SearchResult(status, [(error, tuple(subset))], bound, None, 0, 0, 0)
        return self._outcome(result, result.solutions, replace(self.options, cutoff=bound))

    def useful(self, size: int) -> int:
        """The part of a size beyond which further columns explain nothing more."""
        return max(min(size, self._most_useful), len(self.include), 1)

    @cached_property
    def _most_useful(self) -> int:
        """Rank of the usable columns, and the included ones that add nothing to it."""
        if self._wide is not None:  # it says that these are independent
            return len(self._wide.columns)
        reduced, include = self.reduced, np.asarray(self.include, dtype=np.intp)
        usable = np.concatenate([include, self._allowed])
        rank = reduced.rank if len(usable) == reduced.n_items else _rank(reduced, usable)
        return rank + len(include) - _rank(reduced, include)

    def _solve(self, size: int, options: Options, start: Sequence[Sequence[int]]) -> Outcome:
        """Search, recompute the errors from the data, and certify."""
        interval = _interval(self.matrices, options)
        problem = self._searched(size, options, interval)
        if options.recorder is not None:
            options.recorder.begin()
            options.recorder.copies(np.setdiff1d(self._copies, problem.candidates))
        log = SolverLog(options.verbose)
        result = search(
            problem, options.policy(), options.limits(), n_solutions=options.n_solutions,
            solution_tol=options.solution_tol, n_jobs=options.n_jobs, log=log,
            callback=options.callback, start=start,
            workers=options.workers or current_workers(), recorder=options.recorder,
        )  # fmt: skip
        if options.n_solutions == 1 and options.exhaustive and result.status == "optimal":
            error, subset = result.solutions[0]
            smaller = prefer_smaller(
                problem, subset, self.include, self._allowed, deadline=options.deadline
            )
            result.solutions[0] = (error, smaller)
        solutions: list[tuple[float, tuple[int, ...]]] = []
        for error, subset in result.solutions:
            # Without time left, the runners-up have the intervals from the search.
            if not solutions or not expired(options.deadline):
                error = confirmed_error(self.matrices, options, subset, error, interval)
            solutions.append((error, subset))
        outcome = self._outcome(result, ranked_solutions(solutions, _least(options)), options)
        outcome = replace(
            outcome, shift=getattr(problem, "shift", 1.0), intervals=result.intervals,
            unlisted=result.unlisted,
        )  # fmt: skip
        log.message(repr(outcome.certificate))
        return outcome

    def _fill_up(self, outcome: Outcome, size: int, options: Options) -> Outcome:
        """The best set filled up to ``size``: if it leaves nothing that any columns could explain,
        the others add nothing; if the search had to stop before, they may."""
        error, subset = outcome.solutions[0]
        spare = [int(i) for i in self._allowed if i not in set(subset)]
        filled = tuple(sorted([*subset, *spare[: size - len(subset)]]))
        certificate = outcome.certificate
        if certificate.status != "optimal":
            error = min(error, confirmed_error(self.matrices, options, filled, error))
        certificate = replace(
            certificate, error=error, lower_bound=min(certificate.lower_bound, error),
            selection=filled, names=self._names(filled),
        )  # fmt: skip
        solutions = [(error, filled)]
        return replace(outcome, solutions=solutions, certificate=certificate, filled=True)

    def _without_search(self, subset: Sequence[int], error: float | None = None) -> Outcome:
        """A known selection, with its ``error`` if known, and the bound of the root: no time is
        left."""
        options = self.options
        problem = self._bounded(len(subset))
        bound, known = problem.root_bounds()[0], tuple(sorted(subset))
        if error is None:
            error = confirmed_error(self.matrices, options, known, bound)
        status = "interrupted" if pending() else "time_limit"
        if agrees(bound, error, problem.least):
            status = "optimal"
        elif error - bound <= options.max_gap * abs(error):
            status = "gap_reached"
        result = SearchResult(status, [(error, known)], bound, None, 0, 0, 0)
        return self._outcome(result, [(error, known)], options)

    def _outcome(self, result: SearchResult, solutions, options: Options) -> Outcome:
        """Everything about solutions whose errors are confirmed, best first."""
        error, subset = solutions[0]
        certificate = certificate_of(
            result, options, error, subset, options.elapsed,
            target="X" if self.matrices.Y is None else "y", names=self._names(subset),
            target_kind=self.matrices.target_kind, missing=self.matrices.missing,
            **list_facts(result, options),
        )  # fmt: skip
        return Outcome(solutions, certificate, self.total)

    # -- the fewest columns ---------------------------------------------------------

    def fewest(self, tol: float) -> Outcome:
        """The smallest size whose relative error is at most ``tol``."""
        limit = tol * self.total
        available = self.matrices.n_features - len(self.exclude)
        order = self._reaching(limit)
        proven, size = True, self.smallest
        while True:
            late = expired(self.options.deadline)
            last = late or size >= len(order)
            proven &= not (late and size < len(order))  # sizes that were not examined
            size = max(size, len(order)) if late else size
            if last or self._bounded(size).root_bounds()[0] <= limit:
                step = self.options if last else _until_impossible(self.options, limit)
                outcome = self.choose(size, step, [order[:size]])
                if outcome.certificate.error <= limit or size >= available:
                    break
                proven &= outcome.certificate.lower_bound > limit
            proven &= not late
            size += 1
        if outcome.certificate.error > limit:
            message = f"No selection reaches tol={tol:g}; all {available} columns are selected."
            warn_caller(message)
        elif not proven:
            message = f"{size} columns reach tol={tol:g}, but the time limit left open whether "
            warn_caller(message + "fewer do.", ConvergenceWarning)
        return outcome

    def _reaching(self, limit: float) -> list[int]:
        """Forward selection, no longer than it takes to reach the limit."""
        shortest, available = self.smallest, self.matrices.n_features - len(self.exclude)
        if self._wide is not None:
            available = min(available, len(self._wide.columns))
        elif self.reduced.exact and not self.exclude:  # more columns than dimensions are no use
            available = min(available, max(self.reduced.rank, shortest))
        longest, order = min(max(16, shortest), available), list(self.include)

        def reaches(size: int) -> bool:
            return self._bounded(size).value(order[:size]) <= limit

        while True:
            order = self.order(order, longest)
            if longest == available or reaches(longest):
                sizes = list(range(shortest, longest + 1))
                if expired(self.options.deadline):  # a rough answer: three sizes are examined
                    sizes = sizes[:: -max(len(sizes) // 8, 1)][::-1]
                return order[: sizes[min(bisect_left(sizes, True, key=reaches), len(sizes) - 1)]]
            shortest, longest = longest + 1, min(2 * longest, available)

    # -- every size -------------------------------------------------------------------

    def up_to(self, largest: int) -> list[Outcome]:
        """One outcome for each size; what easy sizes leave over goes to the hard ones."""
        options, order = self.options, self.order(self.include, largest)
        errors = cache(lambda: self._errors_along(order))
        outcomes: list[Outcome] = []
        late = 0.0  # seconds that the last size took beyond its share, to confirm what it found
        for size in range(self.smallest, largest + 1):
            now = time.perf_counter()
            share = now + max((options.deadline - now) / (largest + 1 - size) - late, 0.0)
            known: list[Sequence[int]] = [order[:size]]
            if now < options.deadline:
                known += [subset for outcome in outcomes[-1:] for _, subset in outcome.solutions]
            late_now = share <= now or expired(share)
            if late_now and options.exhaustive and options.n_solutions == 1:
                outcome = self._beginning(order, size, errors(), outcomes[-1:])
            else:
                outcome = self.choose(size, replace(options, deadline=share), known)
            outcomes.append(outcome)
            late = max(time.perf_counter() - share, 0.0) if np.isfinite(share) else 0.0
        return outcomes

    def _beginning(self, order: list[int], size: int, errors, before: list[Outcome]) -> Outcome:
        """Without a search: the first ones of an order, or what the last size had and one more."""
        first = order[:size]
        outcome = self._without_search(first, None if errors is None else float(errors[size]))
        for last in (smaller.solutions[0][1] for smaller in before):
            if set(last) != set(first[:-1]):
                # A larger choice is no worse than a smaller one.
                more = [*last, next(column for column in order if column not in last)]
                outcome = min(outcome, self._without_search(more), key=lambda one: one.solutions[0])
        return outcome

    def _errors_along(self, order: list[int]) -> np.ndarray | None:
        """Errors of the beginnings of an order together, where one by one is long work."""
        plain = is_frobenius(self.options.criterion) and self.options.n_components == 0
        if not plain or self.matrices.gram or self.matrices.ridge:
            return None
        m, n = self.matrices.target.shape
        together = float(m) * n * len(order) ** 2 > _LONG_WORK
        return self.matrices.errors_along(order) if together else None

    # -- what all need ------------------------------------------------------------------

    @property
    def smallest(self) -> int:
        """The included columns, and one at least."""
        return max(1, len(self.include))

    @cached_property
    def total(self) -> float:
        """The criterion of the target itself."""
        criterion = self.options.criterion
        if self._wide is None and (reduced := self.reduced).exact:
            return float(criterion.value(reduced.scale * np.sqrt(reduced.weights)))
        return self.matrices.error([], criterion, 0)

    @cached_property
    def _allowed(self) -> np.ndarray:
        """Columns that may be added."""
        return others(self.matrices.n_features, [*self.include, *self.exclude])

    @cached_property
    def _distinct(self) -> np.ndarray:
        """The same but for copies and zeros."""
        return distinct_columns(self.reduced.columns, self._allowed, self.matrices.X)

    @cached_property
    def _copies(self) -> np.ndarray:
        """Columns that are multiples of others by all their numbers; with a ridge these count."""
        if self.matrices.ridge:
            return self._allowed[:0]
        rows = self.matrices.rows  # those of weighted means and inner products are others
        X = self.matrices.X if rows is None else rows.X
        return copies(X, self._allowed, self.matrices.center)

    def order(self, chosen: Sequence[int], size: int) -> list[int]:
        """Forward selection: a first choice of every size, and a cheap one."""
        if self._wide is not None:
            # Columns that add nothing to the others are no candidates: they come last.
            useful = len(chosen) + len(np.setdiff1d(self._wide.columns, chosen))
            problem = self._bounded(min(size, useful), chosen)
            order = greedy(problem, *problem.root(), deadline=self.options.deadline)
            others = np.setdiff1d(self._allowed, order)
            return [*order, *others[: size - len(order)].tolist()]
        allowed = np.setdiff1d(self._allowed, chosen)
        return forward_order(self.reduced, chosen, allowed, size, self.options.deadline)

    # -- problems -----------------------------------------------------------------------

    @cached_property
    def reduced(self) -> Reduced:
        """A small matrix with the same errors."""
        assert self.reduce is not None
        return self.reduce()

    @cached_property
    def _wide(self) -> WideData | None:
        """The data of a search by relaxation alone, which needs no decomposition."""
        options = self.options
        plain_error = is_frobenius(options.criterion) and options.n_components == 0
        if not (plain_error and options.exhaustive) or options.recorder is not None:
            return None
        self.matrices.check_range(options.criterion)
        # Copies are choices of their own, and with a ridge they are worth something.
        distinct = options.n_solutions == 1 and not self.matrices.ridge
        return wide_data(self.matrices, self.include, self._allowed, distinct=distinct)

    def _searched(self, size: int, options: Options, interval):
        """The problem to search."""
        if self._wide is not None:
            return self._wide.problem(size, self.include, interval)
        candidates = self._allowed
        if options.n_solutions == 1 and len(self._distinct) >= size - len(self.include):
            candidates = self._distinct
            if options.recorder is not None:
                candidates = np.setdiff1d(self._allowed, self._copies)
        return self._problem(size, include=self.include, candidates=candidates, evaluate=interval)

    def _bounded(self, size: int, include: Sequence[int] | None = None):
        """The problem of which only the root and complete choices are examined."""
        include = self.include if include is None else include
        if self._wide is not None:
            return self._wide.problem(size, include, _interval(self.matrices, self.options))
        options = self.options
        return InvariantColumns(
            self.reduced, size, options.criterion, options.n_components, include, None
        )

    def _problem(self, size: int, **more):
        criterion, n_components = self.options.criterion, self.options.n_components
        return column_problem(
            self.reduced, size, criterion=criterion, n_components=n_components, **more
        )

    def _names(self, subset: Sequence[int]) -> tuple[str, ...] | None:
        names = self.options.names
        return names and tuple(names[i] for i in subset)


def ranked_solutions(
    solutions: Iterable[tuple[float, tuple[int, ...]]], least: float = 0.0
) -> list[tuple[float, tuple[int, ...]]]:
    """Solutions (error, subset), best first; near ties, which share the smaller error, by subset.

    Errors tie that differ by a small share of how far they are above the ``least`` there can be.

    Examples
    --------
    >>> from columnist.selection._task import ranked_solutions
    >>> ranked_solutions([(1.0 + 1e-15, (0, 1)), (2.0, (0, 2)), (1.0, (1, 2))])
    [(1.0, (0, 1)), (1.0, (1, 2)), (2.0, (0, 2))]
    """
    levelled, level = [], -np.inf
    for error, subset in sorted(solutions):
        level = level if error - level <= TIE * above(error, least) else error
        levelled.append((level, subset))
    return sorted(levelled)


def _least(options: Options) -> float:
    """Error of a target that is explained completely."""
    return float(options.criterion.value(np.zeros(1)))


def list_facts(result: SearchResult, options: Options) -> dict[str, Any]:
    """What a certificate says of a list of solutions."""
    if options.n_solutions == 1:
        return {}
    complete = None if options.solution_tol is None else result.complete
    bound = result.unlisted if np.isfinite(result.unlisted) else None
    return {"unlisted_bound": bound, "list_complete": complete}


def pool_options(n_solutions: int, solution_tol: float | None) -> dict[str, Any]:
    """Options of an estimator with both parameters."""
    if solution_tol is None:
        return {"n_solutions": int(n_solutions)}
    size = MOST_SOLUTIONS if n_solutions == 1 else int(n_solutions)
    return {"n_solutions": size, "solution_tol": float(solution_tol)}


def warn_if_list_full(outcome: Outcome, options: Options) -> None:
    """Warn if there may be more sets within the tolerance than are listed."""
    full = len(outcome.solutions) == options.n_solutions
    if options.solution_tol is not None and full and not outcome.certificate.list_complete:
        warn_caller(
            f"{options.n_solutions} sets within solution_tol={options.solution_tol:g} are listed, "
            "the most that n_solutions allows; there may be more. Raise n_solutions, or lower "
            "solution_tol."
        )


def _rank(reduced: Reduced, chosen) -> int:
    """How many of the columns are independent; all of them where that is in doubt."""
    lengths = np.linalg.norm(reduced.columns, axis=1)
    basis = graded_basis(reduced.columns, chosen, lengths, reduced.power)
    return len(chosen) if basis.doubtful else basis.Q.shape[1]


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


def confirmed_error(
    matrices: Matrices,
    options: Options,
    subset,
    found: float,
    interval: Callable[..., tuple[float, float]] | None = None,
) -> float:
    """Error of a choice from the data, by ``interval`` if the search asked them, whatever it has
    ``found``."""
    low, high = (interval or _interval(matrices, options))(subset)
    if is_trusted(low, high, _least(options)):
        return low + 0.5 * (high - low)
    if matrices.gram:
        return min(max(found, low), high)
    return matrices.error(subset, options.criterion, options.n_components)


def _until_impossible(options: Options, limit: float) -> Options:
    """Options that stop a size once it cannot reach the limit, after half of the time at most."""
    user = options.callback

    def callback(progress: Progress) -> bool:
        stop = user is not None and bool(user(progress))
        return stop or progress.bound > limit

    now = time.perf_counter()
    return replace(options, callback=callback, deadline=now + (options.deadline - now) / 2)
