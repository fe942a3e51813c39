"""Best-first search: the strategy for problems that bound partial choices.

At any moment ``min(incumbent, bound of the frontier)`` is a proof. Batches have a size that depends
on the problem alone and are merged in order, so results do not depend on the number of threads. A
search still open after a second may send batches to :mod:`columnist.search._workers`: what is out
is part of the proof, what is lost is put back.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import comb

import numpy as np

from columnist.linalg._rounding import agrees
from columnist.linalg._threads import single_threaded_blas
from columnist.search._frontier import Branch, Frontier
from columnist.search._incumbent import exchange, greedy, incumbents
from columnist.search._interrupts import expired, pending, raise_pending
from columnist.search._log import Progress, SolverLog
from columnist.search._policies import Policy
from columnist.search._problem import Branches, Demand, SubsetProblem, check_problem
from columnist.search._proof import ProofRecorder
from columnist.search._run import Limits, Run, SearchResult, Strategy
from columnist.search._workers import Expanded, Portion, Workers, expand_portion

_BATCH_SECONDS = 2e-3
# Smallest and largest number of operations for exploring the subtree of a node.
_EFFORT = (2e5, 4e6)
# Seconds after which helpers elsewhere are asked, seconds of work for one task of theirs, tasks
# for each of them at a time.
_FAR_AFTER = 1.0
_FAR_SECONDS = 0.05
_FAR_TASKS = 4
# Complete sets that are all evaluated where rounding hides which one is best.
_FEW_SETS = 5000
# Seconds after the time limit in which they may still answer.
_FAR_LATE = 1.0
# Operations for looking for better sets: a share of those of the nodes so far, at least and at most
# so many at a time, the first time after so many of the nodes. A second has about so many.
_IMPROVE_SHARE, _IMPROVE = 0.05, (5e6, 3e8)
_IMPROVE_FIRST = 4 * _IMPROVE[0]
_OPERATIONS = 2e9
# Seconds in which a pool that a search left too small is filled.
_FILL_SECONDS = 1.0


def search(
    problem: SubsetProblem,
    policy: Policy,
    limits: Limits | None = None,
    *,
    n_solutions: int = 1,
    solution_tol: float | None = None,
    n_jobs: int = 1,
    log: SolverLog | None = None,
    callback: Callable[[Progress], object] | None = None,
    start: Sequence[Sequence[int]] = (),
    workers: Workers | None = None,
    recorder: ProofRecorder | None = None,
) -> SearchResult:
    """Search the subsets of a problem.

    Parameters
    ----------
    problem : SubsetProblem
        What to search.
    policy : Policy
        Order of the search.
    limits : Limits, optional
        When to stop.
    n_solutions : int, default=1
        How many of the best sets to prove.
    solution_tol : float, optional
        Sets of these that are worse than the best one by a larger share are left out.
    n_jobs : int, default=1
        Worker threads.
    log : SolverLog, optional
        Where to report.
    callback : callable, optional
        Receives every :class:`Progress`; the search stops if it returns true.
    start : sequence of subsets
        Known sets, complete or smaller.
    workers : Workers, optional
        Helpers elsewhere for a search that takes long.
    recorder : ProofRecorder, optional
        Writes down how the search divides its nodes.

    Returns
    -------
    SearchResult
    """
    check_problem(problem)
    run = Run(
        problem, limits, n_solutions=n_solutions, solution_tol=solution_tol, log=log,
        callback=callback,
    )  # fmt: skip
    strategy = BestFirst(
        problem, policy, start=start, n_jobs=n_jobs, workers=workers, recorder=recorder
    )
    with single_threaded_blas():
        run.drive([strategy])
        return strategy.result(run)


class BestFirst(Strategy):
    """Branches in the order of a policy; the parameters are those of :func:`search`."""

    def __init__(
        self,
        problem: SubsetProblem,
        policy: Policy,
        *,
        start: Sequence[Sequence[int]] = (),
        n_jobs: int = 1,
        workers: Workers | None = None,
        recorder: ProofRecorder | None = None,
    ):
        self.problem, self.policy, self.start = problem, policy, start
        self.recorder = recorder
        self.n_jobs, self.workers = n_jobs, workers
        self.late = False  # complete sets were left for lack of time
        self.doubtful = False  # bounds took something for rounding that may be more
        self.effort = _EFFORT[1]  # the root deserves a long look
        self.in_flight: list[Branch] = []  # taken out, but not yet replaced by their children
        self.root_open = True  # until the root is expanded its bound is the proof
        sequential = policy.name in ("greedy", "optimistic", "weighted")
        size = round(_BATCH_SECONDS / max(problem.cost(), 1e-9))
        self.batch = 1 if sequential else min(max(size, 8), 64)
        self.pace: float | None = None  # seconds per node elsewhere, once that is known
        # Nodes after which to look for a better set: not before they have cost more than that.
        self.improve_at = _IMPROVE_FIRST / (_OPERATIONS * max(problem.cost(), 1e-9))

    # -- the loop -----------------------------------------------------------------

    def steps(self, run: Run) -> Iterator[None]:
        self.run, self.pool, self.limits = run, run.pool, run.limits
        self.frontier = Frontier(self.policy, run.limits.max_memory, self.recorder)
        self.root_bound, self.root_error = self.problem.root_bounds()
        run.prove(self.root_bound)
        self._begin()
        self._conclude()
        yield
        self.first_node = time.perf_counter()  # when the search proper begins
        chosen, candidates = self.problem.root()
        self._merge(chosen, self._expand(chosen, candidates, 0), self.root_bound, 0)
        self.root_open = False
        self._conclude()
        yield
        with ThreadPoolExecutor(max(self.n_jobs, 1)) as threads:
            while run.stop is None:
                self._improve()
                self._step(threads)
                yield

    def _begin(self) -> None:
        chosen, candidates = self.problem.root()
        for subset in self.start:
            self._offer_known(subset, chosen, candidates)
        late = bool(self.pool.entries) and self.run.expired()
        if self.policy.starts_strong and not late:
            for subset in incumbents(self.problem, chosen, candidates, self.limits.deadline):
                self.pool.offer(np.inf, subset)
            if self.pool.tol is None:  # else the best set alone says what to look for
                self._fill_pool(self.limits.deadline)
        elif self.policy.name == "optimistic":
            first = greedy(self.problem, chosen, candidates, deadline=self.limits.deadline)
            self.pool.offer(np.inf, first)
        if self.pool.entries:
            self.run.report(new=True)

    def _improve(self) -> None:
        """Look for a better set whenever the search has stayed open for twice as many nodes."""
        improve = getattr(self.problem, "improve", None)
        if improve is None or not self.policy.by_bound or self.run.expanded < self.improve_at:
            return
        if self.frontier.bound() >= self.run.threshold:  # all is proven
            return
        self.improve_at = 2 * self.run.expanded
        spent = _OPERATIONS * self.problem.cost() * self.run.expanded
        operations = min(max(_IMPROVE_SHARE * spent, _IMPROVE[0]), _IMPROVE[1])
        known = self.pool.entries[0][1] if self.pool.entries else ()
        subset = improve(known, operations, self.limits.deadline)
        if subset is not None and self.pool.offer(np.inf, subset):
            self.run.report(new=True)

    @property
    def n_open(self) -> int:  # type: ignore[override]
        """Open branches."""
        return self.frontier.n_open

    @property
    def n_bytes(self) -> float:  # type: ignore[override]
        """Memory of the frontier; infinite once it has no room left."""
        return np.inf if self.frontier.exhausted else 0.0

    def _offer_known(self, subset, chosen, candidates) -> None:
        """A known set, completed and improved if it is too small."""
        if (own := getattr(self.problem, "completed", None)) is not None:
            if (whole := own(subset, self.limits.deadline)) is not None:
                self.pool.offer(np.inf, whole)
            return
        if len(subset) < self.problem.size:
            left = np.setdiff1d(candidates, subset)
            subset = greedy(self.problem, subset, left, deadline=self.limits.deadline)
            subset = exchange(self.problem, subset, chosen, candidates,
                              deadline=self.limits.deadline)  # fmt: skip
        self.pool.offer(np.inf, subset)

    def _step(self, threads) -> None:
        far = self._far_nodes()
        room = min(max(far, self.batch), self.limits.max_nodes - self.run.expanded)
        while len(self.in_flight) < room and (branch := self._next()) is not None:
            self.in_flight.append(branch)
        if not self.in_flight:
            self._exhausted()
            return
        batch = list(self.in_flight)
        out = far > 0 and len(batch) * self._seconds_per_node() > _FAR_SECONDS
        for result in self._expand_far(batch) if out else self._expand_all(batch, threads):
            branch = self.in_flight[0]
            if result is None:
                self.frontier.restore(branch)
            else:
                self._merge(branch.chosen, result, branch.bound, branch.node)
            del self.in_flight[0]
        self._conclude()

    def _next(self) -> Branch | None:
        threshold = self.run.threshold
        if self.policy.by_bound:
            return self.frontier.pop_bound(threshold)
        limit = self.policy.goal_priority(self.pool.threshold)
        if self.policy.name == "greedy" and self.pool.entries:
            return None
        branch = self.frontier.pop_order(limit, threshold)
        if branch is None and self.policy.name == "optimistic":
            # The order is done: now the branch that holds the proof back.
            branch = self.frontier.pop_bound(threshold)
        return branch

    # -- expansion ----------------------------------------------------------------

    def _demand(self, hint: np.ndarray | None = None) -> Demand:
        return Demand(
            self.run.threshold,
            self.policy.figure,
            self.pool.capacity,
            shortcut=not self.policy.follows_u and self.problem.exact,
            effort=self.effort,
            hint=hint,
            trace=self.recorder is not None,
        )

    def _expand(self, chosen, candidates, worker: int, hint=None) -> Branches:
        return self.problem.expand(chosen, candidates, self._demand(hint), worker)

    def _expand_all(self, batch, threads) -> list[Branches | None]:
        if self.n_jobs <= 1 or len(batch) == 1:
            return [self._expand_in_time(branch, 0) for branch in batch]
        results: list[Branches | None] = [None] * len(batch)
        turns = itertools.count()

        def work(worker: int) -> None:
            while (turn := next(turns)) < len(batch):
                results[turn] = self._expand_in_time(batch[turn], worker)

        for _ in threads.map(work, range(self.n_jobs)):
            pass
        return results

    def _far_nodes(self) -> int:
        """Nodes that helpers elsewhere could do now; 0 while the search stays here: in its first
        second, where the order is more than bounds and takes node after node, and short of
        memory."""
        if self.workers is None or self.batch == 1 or self.frontier.full:
            return 0
        if self.run.elapsed() < _FAR_AFTER:
            return 0
        return _FAR_TASKS * self.workers.count * self._portion()

    def _portion(self) -> int:
        """Nodes for one task."""
        return min(max(round(_FAR_SECONDS / self._seconds_per_node()), 1), 1000)

    def _seconds_per_node(self) -> float:
        """As measured elsewhere last, before that here."""
        here = (time.perf_counter() - self.first_node) / self.run.expanded
        return here if self.pace is None else self.pace

    def _expand_far(self, batch: list[Branch]) -> Iterator[Branches | None]:
        """Expand a batch elsewhere; results in order, None for what was lost or out of time."""
        assert self.workers is not None  # who asked for nodes elsewhere
        size, demand = self._portion(), self._demand()
        deadline = self.limits.deadline
        seconds = deadline - time.perf_counter()
        parts = [batch[i : i + size] for i in range(0, len(batch), size)]
        portions = [Portion(part, demand, seconds) for part in parts]
        spent = done = 0.0
        answers = self.workers.map(expand_portion, self.problem, portions, deadline + _FAR_LATE)
        for part, answer in zip(parts, answers, strict=True):
            expanded = answer or Expanded([None] * len(part), 0.0)
            spent += expanded.seconds
            done += sum(result is not None for result in expanded.results)
            yield from expanded.results
        if done:
            self.pace = spent / done

    def _expand_in_time(self, branch: Branch, worker: int) -> Branches | None:
        if expired(self.limits.deadline):
            return None
        return self._expand(branch.chosen, branch.candidates, worker, branch.hint)

    def _merge(self, chosen, result: Branches, floor: float, node: int) -> None:
        self.run.expanded += 1
        self.run.generated += len(result.items) + len(result.goals) + result.explored
        if self.recorder is not None and result.trace is not None:
            result, node = self.recorder.divided(node, result)
        if result.parts:
            self.frontier.push(chosen, result, self.problem.size, floor, node)
        self.run.count(result.tally)
        self._adapt_effort(result)
        if result.doubtful:  # then only what was known before holds for everything below
            self.doubtful = True
            self.pool.pass_over(floor)
        self.pool.pass_over(result.floor)
        improved = False
        for lower, subset in result.goals:
            if expired(self.limits.deadline) and self.pool.entries:
                self.late |= lower < self.pool.threshold
                self.pool.pass_over(lower)
            elif lower < self.pool.threshold:
                improved |= self.pool.offer(lower, subset)
        if len(result.items):
            figure = self.policy.figure
            if figure is not None and len(result.weight) != len(result.items):
                raise ValueError(
                    f"{type(self.problem).__name__}.expand returned no weight {figure!r} for its "
                    "children, which this order needs: add it, or search in another order."
                )
            self.frontier.push(chosen, result, self.problem.size, floor, node)
        if improved:
            self.run.report(new=True)

    def _adapt_effort(self, result: Branches) -> None:
        """Look further ahead while that settles most children, less far while it does not."""
        if result.resolved + result.unresolved:
            factor = 2.0 if result.resolved >= 4 * result.unresolved else 0.5
            self.effort = min(max(self.effort * factor, _EFFORT[0]), _EFFORT[1])

    # -- proof and limits ---------------------------------------------------------

    def _unseen(self) -> float:
        """What no set has less than, but for those of the pool and those that the gap let pass."""
        open_bound = self.root_bound if self.root_open else self.frontier.bound()
        return min(open_bound, self.pool.floor, *(branch.bound for branch in self.in_flight))

    def _prove(self) -> None:
        """Report the proven bound to the run; nothing new in the middle of a step."""
        if self.run.torn:  # what has left the pool since then is not in it
            self.run.unlisted = min(self.run.unlisted, self.pool.floor)
            return
        self.run.unlisted = min(self._unseen(), self.run.threshold)
        self.run.prove(min(self.run.unlisted, self.pool.best))

    def _conclude(self) -> None:
        """End a step: at a safe moment, with all that it has proven."""
        run = self.run
        self._prove()
        run.report()
        if run.stop is not None or not self.pool.entries:
            return
        if self.policy.name == "greedy":
            run.stop = "heuristic"
        elif 0.0 < run.gap() <= run.limits.max_gap:
            run.stop = "gap_reached"

    def finished(self) -> bool:
        """Whether no branch is left that could matter."""
        settled = not self.root_open and not self.in_flight and not self.late
        return settled and self.frontier.bound() >= self.run.threshold

    def _exhausted(self) -> None:
        """No branch is left to open under this order."""
        run, in_time = self.run, True
        if not self._proven() and self._drowned():
            in_time = self._enumerate()
        if self._proven():
            run.stop = "optimal"
        elif not in_time:
            run.stop = "interrupted" if pending() else "time_limit"
        elif self._drowned():
            run.stop = "precision_limit"
        else:
            run.stop = "gap_reached" if run.within_gap() else "bounded"

    def _proven(self) -> bool:
        """Whether the best set, and every other one of the pool, is proven."""
        if self.doubtful or not self.pool.entries:
            return False
        if self.pool.capacity == 1:
            # Where its error is not known well, the best set is proven by the others'.
            least = self.run.least
            self._prove()
            surely = self.run.torn or agrees(self._unseen(), self.pool.best_high, least)
            return surely and agrees(self.run.bound(), self.pool.best, least)
        settled = not self.root_open and not self.in_flight and self.problem.exact
        unlisted = min(self.frontier.bound(), self.pool.floor, self.run.threshold)
        return settled and self.limits.max_gap == 0.0 and self._needs_no(unlisted)

    def _needs_no(self, error: float) -> bool:
        """Whether sets that are not in the pool need not be, if they have at least this error."""
        if self.pool.tol is not None and not self.pool.full:
            return error > self.pool.limit
        # A pool that could not be filled holds every set there is.
        return agrees(error, self.pool.entries[-1][0], self.run.least)

    def _drowned(self) -> bool:
        """Whether all is searched, and only rounding leaves something open."""
        if not self.finished() or not self.problem.exact:
            return False
        unknown = self.policy.by_bound and np.isfinite(self.pool.low)
        if self.doubtful or unknown:
            return True
        if self.pool.tol is not None:
            return not self._needs_no(self.pool.floor)
        # With fewer sets than are wanted, none may have been passed over.
        limit = min(self.run.threshold, np.finfo(np.float64).max)
        return not agrees(self.pool.floor, limit, self.run.least)

    def _fill_pool(self, deadline: float) -> None:
        """A search that stops early, or follows one path, has seen too few sets for a large pool:
        those that differ from the ones it has in one item are the next best guess."""
        chosen, candidates = self.problem.root()
        fixed, pool = set(chosen.tolist()), self.pool
        own, wanted = getattr(self.problem, "neighbours", None), pool.capacity
        if own is None:
            wanted = min(wanted, comb(len(candidates), self.problem.size - len(fixed)))
        seen = 0
        while seen < len(pool.entries) < wanted:
            seen = len(pool.entries)
            known = [subset for _, subset in pool.entries]
            others = _exchanged(known, fixed, candidates)
            if own is not None:
                others = itertools.chain.from_iterable(map(own, known))
            for subset in others:
                pool.offer(np.inf, subset)
                if len(pool.entries) == wanted or time.perf_counter() > deadline:
                    return

    def _enumerate(self) -> bool:
        """Evaluate every complete set with care, if there are few: what bounds cannot distinguish
        in double precision, a problem's ``interval`` may. False if time was too short for it."""
        sets = self._few_sets()
        if sets is None or not hasattr(self.problem, "interval"):
            return True
        for subset in sets:
            if expired(self.limits.deadline):
                return False
            self.pool.offer(np.inf, subset)
        # Bounds have served their time: what was seen is all there is.
        self.doubtful, self.pool.floor = False, self.pool.least_of_others()
        return True

    def _few_sets(self) -> Iterable[Sequence[int]] | None:
        """All complete sets, if there are few."""
        if (own := getattr(self.problem, "every", None)) is not None:
            return own(_FEW_SETS)
        chosen, candidates = self.problem.root()
        left = self.problem.size - len(chosen)
        if comb(len(candidates), left) > _FEW_SETS:
            return None
        first = chosen.tolist()
        return ((*first, *added) for added in itertools.combinations(candidates.tolist(), left))

    # -- the end ------------------------------------------------------------------

    def result(self, run: Run) -> SearchResult:
        """What was found, with the guarantee of the order."""
        if not self.pool.entries:  # stopped before any complete set was seen
            raise_pending()
            self.pool.offer(np.inf, self._some_set())
        if self.pool.tol is None or not self._proven():
            self._fill_pool(time.perf_counter() + _FILL_SECONDS)
        if run.stop in ("bounded", "heuristic", "gap_reached") and self._proven():
            run.stop = "optimal"
        self._prove()
        limited = run.stop in ("time_limit", "node_limit", "memory_limit", "interrupted")
        run.peak = self.frontier.peak
        return run.result(None if limited or self.doubtful else self._guarantee())

    def _some_set(self) -> Sequence[int]:
        """A complete set, found in no time."""
        chosen, candidates = self.problem.root()
        if (own := getattr(self.problem, "completed", None)) is None:
            return greedy(self.problem, chosen, candidates, deadline=-np.inf)
        if (subset := own(chosen, -np.inf)) is None:
            raise ValueError(self.problem.nothing)  # type: ignore[attr-defined] # goes with it
        return subset

    def _guarantee(self) -> float | None:
        """How far from the optimum the order of the search can have led at most."""
        if not getattr(self.problem, "distinct", True):
            return None
        # Weight "b" multiplies the bound of the root, which is then no lower bound but a factor.
        factor = self.policy.weight == "b"
        doubt = 2.0 * getattr(self.problem, "root_doubt", 0.0) if factor else 0.0
        promised = self.policy.a_priori(self.root_bound + doubt, self.root_error, self.problem.size)
        if promised is None:
            return None
        # What the gap let pass was never opened.
        return max(promised, self.limits.max_gap * abs(self.pool.best))


def _exchanged(subsets, fixed: set[int], candidates: np.ndarray) -> Iterator[list[int]]:
    """Subsets with one item, that is not fixed, replaced by another candidate."""
    for subset in subsets:
        for out in sorted(set(subset) - fixed):
            rest = [i for i in subset if i != out]
            yield from ([*rest, item] for item in candidates.tolist() if item not in subset)
