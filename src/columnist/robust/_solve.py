r"""From rows to a certificate: the strategies for each problem.

The squared Frobenius error is proven by going through all sets if rows are few, else by screening
all rows and blocks of those left undecided. Other criteria, and every order but best first, are
searched best first: with D the rows removed so far, t still to remove and :math:`\lambda_1 \ge
\lambda_2 \ge \dots` the eigenvalues of the scatter of the other rows (about their mean, if the
error is centred),

.. math:: u(D) = \Theta(\lambda_{r+1}, \dots), \qquad f(D) = \Theta(\lambda_{r+t+1}, \dots).

Removing one more row x of m changes the scatter by a rank-one term, also when it is centred:

.. math:: C' = C - \frac{m}{m-1} (x-\mu)(x-\mu)^T.

Rows that are neither removed nor candidates stay; no removal lowers the eigenvalues of their
own scatter. Since f vanishes once r + k reaches the number of features, it is for few rows in many
dimensions; :mod:`columnist.robust._block_floors` has a bound for the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg

from columnist.criteria import is_frobenius
from columnist.linalg._reduce import power_of_two
from columnist.linalg._rounding import AGREEMENT, EPS, allowance
from columnist.linalg._threads import single_threaded_blas
from columnist.robust._ascent import Team
from columnist.robust._block_floors import BlockFloors
from columnist.robust._block_proof import BlockProof, Incumbent
from columnist.robust._concentrate import concentrated_rows, finalists, sampled_rows
from columnist.robust._conditioned import PassErrors, Seen
from columnist.robust._errors import RowErrors, all_but
from columnist.robust._few_rows import MOST_ROWS, best_removal
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._screening import Screening
from columnist.robust._subspace import fit_subspace, subspace_of_moments
from columnist.search import _interrupts as interrupts
from columnist.search._certificate import Certificate
from columnist.search._downdates import Downdates, Moment
from columnist.search._engine import search
from columnist.search._incumbent import exchange, greedy, prefer_smaller
from columnist.search._log import SolverLog
from columnist.search._options import SearchOptions, certificate_of
from columnist.search._run import Run, Strategy

# Share of what counts as equally good up to which sets are distinguished: the rest is for rounding.
_TOLD_APART = 0.5
# Seconds that one look at the final set in better arithmetic may take.
_CONFIRM = 0.1
# Screenings, each of a better choice than the one before, or without its aid against rounding.
_ROUNDS = 4
# More undecided rows are not searched.
_MOST_FREE = 2000
# Seconds worth spending on all sets before the proof by blocks is the better bet.
_SECONDS = 0.25
# Operations of a greedy choice and one pass of exchanges beyond which concentration must do.
_MOST_WORK = 2e9


@dataclass(frozen=True)
class Question:
    """Which rows to remove."""

    data: RowData
    n_components: int
    n_outliers: int
    centering: str
    rng: np.random.Generator  # for the starts of the first choice
    start: Sequence[int] | np.ndarray | None = None  # rows near a good choice, of any number
    errors: RowErrors | None = None  # of sets of rows in memory, if known


def certified_outliers(question: Question, options: SearchOptions) -> Certificate:
    """The rows to remove, as the selection of a certificate."""
    log = SolverLog(options.verbose)
    by_bound = is_frobenius(options.criterion) and options.policy().by_bound
    certificate = (_by_strategies if by_bound else _by_engine)(question, options, log)
    log.message(repr(certificate))
    return certificate


def _errors(question: Question, options: SearchOptions) -> RowErrors:
    data = question.data
    return question.errors or RowErrors(
        data.array(), question.n_components, options.criterion, question.centering, data.unit
    )


def _by_engine(question: Question, options: SearchOptions, log: SolverLog) -> Certificate:
    errors = _errors(question, options)
    problem = RemovedRows(errors, question.n_outliers, question.rng, question.start)
    if not is_frobenius(options.criterion):
        problem.add_floors(partial(interrupts.expired, options.deadline))
    result = search(
        problem, options.policy(), options.limits(),
        n_jobs=options.n_jobs, log=log, callback=options.callback,
    )  # fmt: skip
    subset = result.solutions[0][1]
    if options.exhaustive and result.status == "optimal":
        subset = prefer_smaller(problem, subset, *problem.root(), deadline=options.deadline)
    certificate = certificate_of(
        result, options, problem.value(subset), sorted(subset), options.elapsed
    )
    # The guarantee is about bounds without rounding.
    return certificate if problem.distinct else replace(certificate, a_priori_bound=None)


def _by_strategies(question: Question, options: SearchOptions, log: SolverLog) -> Certificate:
    rows = (_ManyRows if question.data.many else _RowsInMemory)(question, options)
    run = Run(rows, options.limits(), log=log, callback=options.callback)
    with single_threaded_blas(), Team(options.n_jobs) as team:
        run.drive(rows.strategies(run, team))
    if run.stop is None:
        run.stop = "precision_limit"
    error, removed = rows.confirmed(*run.pool.entries[0])
    return certificate_of(run.result(), options, error, removed, options.elapsed)


class _Rows:
    """Sets of rows to remove, as the pool of a run sees them, and what proves which is best."""

    exact, least = True, 0.0
    # So few decided rows are better searched with the others.
    least_decided = 0
    errors: RowErrors | PassErrors

    def __init__(self, question: Question, options: SearchOptions):
        self.question, self.options = question, options
        self.n, self.square = question.data.shape[0], question.data.unit**2

    def interval(self, removed: Sequence[int], limit: float = np.inf) -> tuple[float, float]:
        """Two numbers between which the error without these rows lies."""
        found = self.errors.evaluate(all_but(self.n, removed), limit)
        return found.low, found.high

    def confirmed(self, error: float, removed: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        """The error once more, as precisely as possible."""
        return error, removed

    def strategies(self, run: Run, team: Team) -> Iterator[Strategy]:
        """Good choices, screening, blocks of what that leaves undecided."""
        yield _FirstChoice(self.first_choices(run))
        plain = False
        for _ in range(_ROUNDS):
            choice = run.pool.entries[0][1]
            r = self.question.n_components
            screening = Screening(self.seen(), r, self.square, plain=plain)
            yield screening
            self.n_free = int(np.count_nonzero(screening.found.free))
            n_decided = len(screening.found.free) - self.n_free
            if n_decided >= self.least_decided and self.n_free <= _MOST_FREE:
                yield screening.blocks(partial(self._incumbent, run, team))
            # A better choice may be so much better that rounding beside the first one hides it;
            # and what helps against rounding makes bounds weaker.
            if run.pool.entries[0][1] == choice and screening.plain:
                break
            plain = run.pool.entries[0][1] == choice

    def first_choices(self, run: Run) -> Iterator[Sequence[int] | np.ndarray]:
        """Rows removed by good choices."""
        raise NotImplementedError

    def seen(self) -> Seen:
        """The rows to screen."""
        raise NotImplementedError

    def _incumbent(self, run: Run, team: Team, errors, n_removed: int, fixed=None) -> Incumbent:
        apart = _TOLD_APART * AGREEMENT
        tolerance = max(apart, run.limits.max_gap - apart)
        return Incumbent(
            errors, n_removed, tolerance, run.expired, team, run.limits.max_memory, fixed
        )


class _RowsInMemory(_Rows):
    """All of them are here: every start is tried on all rows, errors have all digits they need."""

    least_decided = 10
    errors: RowErrors

    def __init__(self, question: Question, options: SearchOptions):
        super().__init__(question, options)
        self.errors = _errors(question, options)

    def strategies(self, run: Run, team: Team) -> Iterator[Strategy]:
        """The same, after a look at all sets if these are few, and before blocks of all rows."""
        seconds = min(_SECONDS, run.limits.deadline - time.perf_counter())
        if run.limits.max_gap < 1.0:
            yield AllSets(self.errors, self.question.n_outliers, seconds)
        yield from super().strategies(run, team)
        yield self.all_blocks(run, team)

    def first_choices(self, run: Run) -> Iterator[Sequence[int] | np.ndarray]:
        question = self.question
        problem = RemovedRows(self.errors, question.n_outliers, question.rng, question.start)
        return problem.incumbents(*problem.root(), run.limits.deadline)

    def seen(self) -> Seen:
        rows, centred = self.errors.short, self.errors.centred
        off = self.errors.off + EPS * np.linalg.norm(rows, axis=1)
        mean = None if centred else np.zeros(rows.shape[1])
        return Seen(RowData(rows), mean, np.broadcast_to(off, len(rows)))

    def all_blocks(self, run: Run, team: Team) -> BlockProof:
        """Blocks of all rows."""
        unit = power_of_two(self.errors.rows)
        own = self.errors.divided(unit, 1.0)
        best = self._incumbent(run, team, own, self.question.n_outliers)
        best.offer_removed(np.array(run.pool.entries[0][1], dtype=np.intp))
        square = self.square * unit * unit
        return BlockProof(best, lambda kept: np.flatnonzero(~kept), lambda bound: square * bound)

    def confirmed(self, error: float, removed: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        kept = all_but(self.n, removed)
        if error > 0.0 and self.errors.affordable(kept, _CONFIRM):
            error = self.errors.exact(kept).value
        return error, removed


class _ManyRows(_Rows):
    """So many that a few passes over them have to do."""

    errors: PassErrors

    def __init__(self, question: Question, options: SearchOptions):
        super().__init__(question, options)
        data = question.data
        self.mean = given_mean(question.centering, data.moments.mean)
        self.errors = PassErrors(data, question.n_components, self.mean, data.unit)

    def first_choices(self, run: Run) -> Iterator[Sequence[int] | np.ndarray]:
        """Concentration from all rows and from the best subsets of a sample."""
        data, mean, rng = self.question.data, self.mean, self.question.rng
        r, k, n = self.question.n_components, self.question.n_outliers, data.shape[0]
        rows = data.rows(sampled_rows(n, rng))
        shift = 0.0 if mean is None else mean
        sets = finalists(rows - shift, r, k / n, mean is None, rng, expired=run.expired)
        starts = [subspace_of_moments(data.moments, r, mean)]
        starts += [fit_subspace(rows[kept], r, mean) for kept in sets if kept.sum() >= r]
        found = data.descend(starts, k, mean, run.expired)
        self.errors.of(found)
        yield found.removed

    def seen(self) -> Seen:
        return Seen(self.question.data, self.mean, np.zeros(self.n))

    def strategies(self, run: Run, team: Team) -> Iterator[Strategy]:
        """The same, unless blocks would be too many."""
        yield from super().strategies(run, team)
        if self.n_free > _MOST_FREE:
            raise MemoryError("Too many rows are undecided.")


class _FirstChoice(Strategy):
    """Good choices to begin with."""

    def __init__(self, choices: Iterator):
        self._choices = choices

    def steps(self, run: Run) -> Iterator[None]:
        self._run = run
        for removed in self._choices:
            if run.offer(removed):
                run.report(new=True)
        yield

    def finished(self) -> bool:
        return self._run.is_proven()


class AllSets(Strategy):
    """All sets of a few rows to remove, depth first, if that takes so many seconds at most."""

    def __init__(self, errors: RowErrors, n_removed: int, seconds: float = _SECONDS):
        self.errors, self.n_removed, self.seconds = errors, n_removed, seconds

    def steps(self, run: Run) -> Iterator[None]:
        errors, (n, p) = self.errors, self.errors.rows.shape
        if n > MOST_ROWS or self.seconds <= 0.0 or run.limits.max_nodes <= 0:
            return
        nodes = int(self.seconds / (2e-6 + 6e-10 * n**3))
        gram = np.ascontiguousarray(errors.rows @ errors.rows.T)
        # An entry of the rows is rounded by a unit or two, one of their products p times.
        bound, removed, visited, finished = best_removal(
            gram, errors.n_components, self.n_removed, errors.centred, np.inf, nodes, p + 6
        )
        if not finished or removed is None:
            return
        run.offer(removed)
        run.prove(max(bound, 0.0) * errors.scale**2)
        if run.is_proven():  # else too much was lost to rounding
            run.expanded, run.generated = 1, visited
            run.report(new=True)
        yield

    def finished(self) -> bool:
        return True


class Scatter(Moment):
    """Scatter of the rows that are left, about their mean or the origin. ``removed`` is a mask,
    ``candidates`` are the rows that may be removed next; ``off`` is what the rows are off by, in
    the Frobenius norm."""

    def __init__(
        self,
        rows: np.ndarray,
        removed: np.ndarray,
        candidates: np.ndarray,
        centred: bool,
        off: float = 0.0,
    ):
        self.rows, self.removed, self.candidates = rows, removed, candidates
        self.centred = centred
        left = rows[~removed]
        mean = left.mean(axis=0) if centred else np.zeros(rows.shape[1])
        off += EPS * float(np.linalg.norm(left))
        left = left - mean
        lam, basis = scipy.linalg.eigh(left.T @ left, check_finite=False)
        self.n_left = len(left)
        self.lam = np.maximum(lam[::-1], 0.0)
        # Eigenvalues round by their number, and the sums that make up the scatter by theirs.
        order = 2 * len(lam) + self.n_left // 4 + 1
        self.allowance = allowance(order, float(self.lam.sum()))
        # The rows are rounded themselves, which moves singular values by ``off``.
        self.allowance += off * (2.0 * np.sqrt(self.lam.max(initial=0.0)) + off)
        self.offsets = (rows[candidates] - mean) @ basis[:, ::-1]
        self.Z = np.sqrt(self._factor(1)) * self.offsets

    def _factor(self, count: int) -> float:
        """What removing ``count`` rows takes, at most, for every unit of their squared offsets."""
        return self.n_left / max(self.n_left - count, 1) if self.centred else 1.0

    def untouched(self, kept: np.ndarray) -> np.ndarray:
        """Eigenvalues of the scatter of the rows that stay for certain."""
        stay = ~self.removed
        stay[self.candidates[kept]] = False
        rows = self.rows[stay]
        if len(rows) <= self.centred:
            return np.empty(0)
        rows = rows - rows.mean(axis=0) if self.centred else rows
        return scipy.linalg.eigvalsh(rows.T @ rows, check_finite=False)[::-1]

    def products(self, kept: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """As if orthogonal: rows take the sum of their energies, or less about a moving mean."""
        energies = np.einsum("ij,ij->i", self.offsets[kept], self.offsets[kept])
        return np.eye(len(kept)), np.diag(self._factor(width) * energies)

    def after(self, positions: np.ndarray) -> tuple[np.ndarray, float]:
        """Scatter without these rows too, and its rounding."""
        Y = self.offsets[positions]
        scatter = np.diag(self.lam) - Y.T @ Y
        if self.centred and self.n_left > len(Y):
            total = Y.sum(axis=0)
            scatter -= np.outer(total, total) / (self.n_left - len(Y))
        return scatter, self.allowance


class RemovedRows(Downdates):
    """The problem: choose the rows to remove. ``start`` is a set, of any size, near a good one."""

    def __init__(
        self,
        errors: RowErrors,
        n_removed: int,
        rng: np.random.Generator | None = None,
        start: Sequence[int] | np.ndarray | None = None,
    ):
        n, criterion = len(errors.X), errors.criterion
        super().__init__(n, n_removed, criterion, errors.n_components, errors.scale)
        self.row_errors, self.rows, self.centred = errors, errors.short, errors.centred
        self.rng, self.start = rng or np.random.default_rng(0), start
        self.blocks: BlockFloors | None = None

    def add_floors(self, expired: Callable[[], bool]) -> None:
        """Bound errors by blocks of rows as well, if that says more at the root."""
        chosen, candidates = self.root()
        if self.size == 0 or expired():
            return
        blocks = BlockFloors(self.row_errors, self.size, expired)
        if blocks.floors(chosen, candidates).min() > self.root_bounds()[0]:
            self.blocks = blocks

    def floors(self, chosen, candidates) -> np.ndarray:
        """What blocks of rows say of every candidate."""
        if self.blocks is None:
            return super().floors(chosen, candidates)
        return self.blocks.floors(chosen, candidates)

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Nothing removed; every row may be."""
        return np.empty(0, dtype=np.int32), np.arange(self.n_items, dtype=np.int32)

    def root_bounds(self) -> tuple[float, float]:
        """f and u of all rows."""
        chosen, _ = self.root()
        moment = self.moment(chosen, chosen)
        tail = moment.lam[self.n_components + self.size :] - moment.allowance
        return float(self.errors(tail[None])[0]), self.value(chosen)

    def moment(self, chosen, candidates) -> Scatter:
        """Scatter of the rows that are not chosen."""
        removed = ~all_but(self.n_items, chosen)
        return Scatter(self.rows, removed, candidates, self.centred, self.row_errors.off)

    def value(self, subset: Sequence[int] | np.ndarray) -> float:
        """Error without these rows, from the data, in better arithmetic where that is needed."""
        return self.row_errors.evaluate(all_but(self.n_items, subset)).value

    def interval(
        self, subset: Sequence[int] | np.ndarray, limit: float = np.inf
    ) -> tuple[float, float]:
        """Two numbers between which that error lies."""
        found = self.row_errors.evaluate(all_but(self.n_items, subset), limit)
        return found.low, found.high

    @property
    def distinct(self) -> bool:
        """Whether rounding does not show in the bounds of the root."""
        moment = self.moment(*(self.root()[0],) * 2)
        tail = moment.lam[self.n_components :]
        low, high = self.errors(tail + moment.allowance * np.array([[-1.0], [1.0]]))
        return bool(high - low <= AGREEMENT * abs(high))

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Concentration from many starts, then greedy choice and exchanges if affordable."""
        start = None if self.start is None else all_but(self.n_items, self.start)
        kept = concentrated_rows(
            self.rows, self.n_components, self.size,
            centred=self.centred, rng=self.rng, deadline=deadline, start=start,
        )  # fmt: skip
        found = [np.flatnonzero(~kept).tolist()]
        yield found[0]
        n, d = self.rows.shape
        affordable = self.size * n * d * (d + 10.0) <= _MOST_WORK
        if not affordable or interrupts.expired(deadline):
            return
        found.append(greedy(self, chosen, candidates, deadline=deadline))
        yield found[-1]
        yield exchange(self, min(found, key=self.value), chosen, candidates, deadline=deadline)

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        n, d = self.rows.shape
        return 1e-4 + (25.0 * d**3 + 40.0 * d * d * n) / 2e9
