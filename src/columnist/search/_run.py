"""The run of a search: the parts shared by all strategies.

A run owns clock, limits, pool, the bound that never falls, history, log, interrupts and result. A
*strategy* raises the bound and offers choices; every step ends where it is safe to stop. Strategies
may follow one another, each with what the ones before have left open.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from columnist.linalg._rounding import AGREEMENT, OUTWARD, above, agrees, is_trusted
from columnist.search._interrupts import expired, pending
from columnist.search._log import Progress, SolverLog
from columnist.search._problem import SubsetProblem

# Seconds between two entries of the history, unless there is a new incumbent.
_HISTORY_SECONDS = 0.05
# Room beyond a tolerance, as a share of the error of the root: an error of zero has none.
_ROOM = 1e-30


class PrecisionError(ArithmeticError):
    """The remaining choices cannot be distinguished in double precision."""


@dataclass(frozen=True)
class Limits:
    """Limits at which a search stops.

    Attributes
    ----------
    deadline : float
        ``time.perf_counter()`` at which to stop.
    max_nodes : float
        Nodes to expand at most.
    max_memory : float
        Bytes for open nodes.
    max_gap : float
        Relative gap at which the search stops.
    cutoff : float
        Error from which a choice is of no use and need not be examined.
    """

    deadline: float = np.inf
    max_nodes: float = np.inf
    max_memory: float = np.inf
    max_gap: float = 0.0
    cutoff: float = np.inf


@dataclass
class SearchResult:
    """Result of a search, with its proven bound.

    ``solutions`` are (error, subset) pairs, best first; ``bound`` is valid whatever the status, up
    to what is not known of their errors: none of these is below ``low``. ``intervals`` hold the
    errors of the solutions, whatever rounding does; no other set has less than ``unlisted``;
    ``complete`` says whether every set within the tolerance is a solution.
    """

    status: str
    solutions: list[tuple[float, tuple[int, ...]]]
    bound: float
    a_priori: float | None
    expanded: int
    generated: int
    peak_memory: int
    history: list[dict[str, float]] = field(default_factory=list)
    low: float = np.inf
    intervals: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)
    unlisted: float = -np.inf
    complete: bool = False


def within(best: float, tol: float, least: float) -> float:
    """The largest error that is worse by ``tol`` at most: what counts is how far an error is above
    the smallest one there can be.

    Examples
    --------
    >>> from columnist.search._run import within
    >>> within(4.0, 0.25, 0.0)
    5.0
    """
    return best + tol * max(above(best, least), 0.0)


class Pool:
    """The best complete sets, each one once, and a lower bound of all others that were seen.
    ``entries`` and ``threshold`` change in one assignment each, so that they are whole whenever the
    search is interrupted. With ``tol``, a set is kept if it may be worse than the best one by that
    share at most."""

    def __init__(self, problem: SubsetProblem, capacity: int, tol: float | None = None):
        self.problem, self.capacity, self.tol = problem, capacity, tol
        self.least = getattr(problem, "least", -np.inf)
        self.limit = np.inf  # a set with more is surely not within the tolerance
        self.entries: list[tuple[float, tuple[int, ...]]] = []
        self.threshold = np.inf  # error, rounding included, that a further set must stay below
        self.floor = np.inf  # no complete set that was seen and is not an entry has less
        self._low: dict[tuple[int, ...], float] = {}  # of all that were entries once
        self._high: dict[tuple[int, ...], float] = {}  # of the entries

    @property
    def best(self) -> float:
        return self.entries[0][0] if self.entries else np.inf

    @property
    def best_high(self) -> float:
        """What the best set has at most."""
        return self._high[self.entries[0][1]] if self.entries else np.inf

    @property
    def low(self) -> float:
        """Least error that an entry can have, of those that are not known well."""
        unsure = (
            self._low[subset]
            for _, subset in self.entries
            if not is_trusted(self._low[subset], self._high[subset], self.least)
        )
        return min(unsure, default=np.inf)

    def pass_over(self, lower: float) -> None:
        """Note a complete set, or a bound of several, that is not evaluated."""
        self.floor = min(self.floor, max(lower, self.least))

    def offer(self, lower: float, subset: Sequence[int] | np.ndarray) -> bool:
        """Evaluate a complete set; True if it is the best so far."""
        subset = tuple(sorted(int(i) for i in subset))
        if not self.problem.exact:
            self.pass_over(lower)
        if subset in self._low:
            return False
        low, high = self._interval(subset)
        error, best = low + 0.5 * (high - low) if high > low else low, self.best
        if low >= self.threshold:
            return False
        self._low[subset], self._high[subset] = low, high
        entries = sorted([*self.entries, (error, subset)])
        self._keep_within_tolerance(high)
        kept = [entry for entry in entries if self._low[entry[1]] <= self.limit][: self.capacity]
        for _, dropped in set(entries) - set(kept) if len(kept) < len(entries) else ():
            self.pass_over(self._low[dropped])
            del self._high[dropped]
        self.entries = kept
        if len(self.entries) == self.capacity:
            self.threshold = min(self.threshold, max(self._high.values()))
        return error < best

    @property
    def full(self) -> bool:
        """Whether the best sets only are kept."""
        return len(self.entries) == self.capacity

    @property
    def intervals(self) -> dict[tuple[int, ...], tuple[float, float]]:
        """Between which numbers the errors of the entries lie."""
        return {subset: (self._low[subset], self._high[subset]) for _, subset in self.entries}

    def _keep_within_tolerance(self, high: float) -> None:
        """Lower the limit, if a set that has at most ``high`` is the best so far."""
        if self.tol is None or not (limit := within(high, self.tol, self.least)) < self.limit:
            return
        root = above(self.problem.root_bounds()[1], self.least)
        room = OUTWARD * abs(limit) + max(_ROOM * root, np.finfo(np.float64).tiny)
        self.limit = limit
        self.threshold = min(self.threshold, limit + room)

    def least_of_others(self) -> float:
        """Least error of the sets that were entries once and are no longer."""
        kept = {subset for _, subset in self.entries}
        others = (low for subset, low in self._low.items() if subset not in kept)
        return min(others, default=np.inf)

    def _interval(self, subset: tuple[int, ...]) -> tuple[float, float]:
        interval = getattr(self.problem, "interval", None)
        if interval is not None:
            return interval(subset, self.threshold)
        error = self.problem.value(subset)
        return error, error


class Strategy(ABC):
    """A way to raise the bound of a run.

    Attributes
    ----------
    n_open : int
        What is still open, for the log.
    n_bytes : float
        Memory of what is open.
    """

    n_open: int = 0
    n_bytes: float = 0.0

    @abstractmethod
    def steps(self, run: Run) -> Iterator[None]:
        """Work; a generator that yields at safe moments and ends when nothing is left to do.

        It offers choices by :meth:`Run.offer` and raises the bound by :meth:`Run.prove`.
        """

    def finished(self) -> bool:
        """Whether a limit that is reached now stops nothing."""
        return False


class Run:
    """State of one proof.

    Parameters
    ----------
    problem : object
        Evaluates complete choices: ``interval(subset, limit)`` or ``value(subset)``, ``exact``,
        perhaps ``least``; see :mod:`columnist.search._problem`.
    limits : Limits
        When to stop.
    n_solutions : int, default=1
        Number of best choices to find.
    solution_tol : float, optional
        Keep only choices whose error is at most this share above the best.
    log : SolverLog, optional
        Where to report.
    callback : callable, optional
        Receives every :class:`~columnist.search.Progress`; the run stops if it returns true.

    Attributes
    ----------
    pool : Pool
        The best choices so far.
    proven : float
        No choice has a smaller error.
    unlisted : float
        No choice that is not in the pool has a smaller error.
    stop : str or None
        Why the run ended.
    torn : bool
        Whether it ended between two safe moments: only what was proven before counts.
    expanded, generated : int
        Size of the work.
    tally : dict of str to (int, int)
        For each kind of bound: nodes it has bounded, and branches it has closed.
    """

    def __init__(
        self,
        problem,
        limits: Limits | None = None,
        *,
        n_solutions: int = 1,
        solution_tol: float | None = None,
        log: SolverLog | None = None,
        callback: Callable[[Progress], object] | None = None,
    ):
        self.limits, self.callback = limits or Limits(), callback
        self.log = log or SolverLog(False)
        self.pool = Pool(problem, n_solutions, solution_tol)
        self.least = self.pool.least
        self.proven = self.unlisted = self.least
        self.started = time.perf_counter()
        self.expanded = self.generated = self.peak = 0
        self.tally: dict[str, tuple[int, int]] = {}
        self.stop: str | None = None
        self.torn = False
        self.history: list[dict[str, float]] = []
        self.strategy: Strategy | None = None

    # -- driving ------------------------------------------------------------------

    def drive(self, strategies: Iterable[Strategy]) -> None:
        """Run the strategies one after the other, until one stops the run or all are done."""
        try:
            for strategy in strategies:
                self.strategy = strategy
                for _ in strategy.steps(self):
                    if self.stop is None:
                        self.stop = self._limit(strategy)
                    if self.stop is not None:
                        return
                self._settle()
                if self.stop is not None:
                    return
        except (KeyboardInterrupt, MemoryError, PrecisionError) as end:
            if not self.pool.entries:  # nothing to return yet
                raise
            self.stop, self.torn = _status(end), True
        finally:
            if self.stop == "interrupted":
                self.log.message("Interrupted: keeping the best choice so far.")

    def _settle(self) -> None:
        """End if what a strategy has proven is enough."""
        if self.stop is None and self.pool.capacity == 1 and self.is_proven():
            self.stop = "optimal"
        elif self.stop is None and self.within_gap():
            self.stop = "gap_reached"

    def _limit(self, strategy: Strategy) -> str | None:
        """The limit that is reached, if any."""
        if pending():
            return "interrupted"
        if strategy.finished():
            return None
        if self.expanded >= self.limits.max_nodes:
            return "node_limit"
        if self.expired():  # a signal may have come just now
            return "interrupted" if pending() else "time_limit"
        return "memory_limit" if strategy.n_bytes > self.limits.max_memory else None

    def expired(self) -> bool:
        """Whether time is up, or the user wants an end."""
        return expired(self.limits.deadline)

    # -- choices and bound --------------------------------------------------------

    def offer(self, subset: Sequence[int] | np.ndarray, lower: float = np.inf) -> bool:
        """Take a choice if it is among the best; whether it is the best so far."""
        return self.pool.offer(lower, subset)

    def prove(self, bound: float) -> None:
        """Record that no choice has a smaller error."""
        if np.isfinite(bound):
            self.proven = max(self.proven, float(bound))

    def bound(self) -> float:
        """Proven lower bound; never falls."""
        return min(self.proven, self.pool.best)

    @property
    def threshold(self) -> float:
        """What reaches this need not be examined."""
        threshold = self.pool.threshold
        if self.limits.max_gap > 0.0 and np.isfinite(threshold):
            threshold -= self.limits.max_gap * abs(threshold)
        return min(threshold, self.limits.cutoff)

    def gap(self) -> float:
        """Relative gap between the best choice and the bound."""
        best = self.pool.best
        return 0.0 if best == 0.0 else (best - self.bound()) / abs(best)

    def is_proven(self) -> bool:
        """Whether the bound reaches the best choice, whatever its error is exactly."""
        return bool(self.pool.entries) and agrees(self.proven, self.pool.best_high, self.least)

    def within_gap(self) -> bool:
        """Whether the gap is good enough, but not closed."""
        close = self.limits.max_gap > 0.0 and self.gap() <= self.limits.max_gap + AGREEMENT
        return close or self.bound() >= self.limits.cutoff

    def count(self, tally: dict[str, tuple[int, int]]) -> None:
        """Add to what the kinds of bounds have done."""
        for kind, (bounded, closed) in tally.items():
            before = self.tally.get(kind, (0, 0))
            self.tally[kind] = before[0] + bounded, before[1] + closed

    # -- reporting ----------------------------------------------------------------

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def report(self, *, new: bool = False) -> None:
        """Note a moment of the run, if it is worth it, and ask the callback."""
        elapsed = self.elapsed()
        last = self.history[-1]["elapsed"] if self.history else -np.inf
        if not new and elapsed - last < _HISTORY_SECONDS:
            return
        progress = self._progress(elapsed, new)
        self.log.show(progress)
        if self.callback is not None and self.callback(progress):
            self.stop = self.stop or "interrupted"

    def _progress(self, elapsed: float, new: bool) -> Progress:
        n_open = 0 if self.strategy is None else self.strategy.n_open
        progress = Progress(self.expanded, n_open, self.bound(), self.pool.best, elapsed, new)
        self.history.append(progress.entry())
        return progress

    def result(self, a_priori: float | None = None) -> SearchResult:
        """What is found and proven."""
        self.log.show(self._progress(self.elapsed(), False), force=True)
        self.log.tally(self.tally)
        return SearchResult(
            str(self.stop), self.pool.entries, self.bound(), a_priori, self.expanded,
            self.generated, self.peak, self.history, self.pool.low, self.pool.intervals,
            self.unlisted, self.unlisted > self.pool.limit,
        )  # fmt: skip


def _status(end: BaseException) -> str:
    if isinstance(end, KeyboardInterrupt):
        return "interrupted"
    return "memory_limit" if isinstance(end, MemoryError) else "precision_limit"
