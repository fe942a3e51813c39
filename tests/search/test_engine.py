"""The engine on a problem without matrices, against enumeration."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.search._engine import search
from columnist.search._log import Progress
from columnist.search._policies import Policy, get_policy
from columnist.search._run import Limits
from tests.examples import examples
from tests.search.coverage import Coverage

ORDERS = {
    "optimal": get_policy("optimal"),
    "u": get_policy("weighted", "u", 0.5),
    "h": get_policy("weighted", "h", 0.5),
    "greedy": get_policy("greedy"),
    "optimistic": get_policy("optimistic"),
    "optimistic u": get_policy("optimistic", "u", 0.5),
}
COMPLETE = ["optimal", "optimistic", "optimistic u"]
TOL = 1e-9

policies = st.sampled_from(sorted(ORDERS))
seeds = st.integers(0, 2**32 - 1)


class Weak(Policy):
    """A policy that must find its first choice by itself."""

    starts_strong = False


def assert_valid(result, problem, optimum=None):
    """Bound <= optimum <= error, and the solutions are what they say."""
    optimum = problem.ranked()[0][0] if optimum is None else optimum
    assert result.bound <= optimum + TOL
    assert result.solutions[0][0] >= optimum
    for error, subset in result.solutions:
        assert len(set(subset)) == problem.size
        assert error == problem.value(subset)
    if result.status == "optimal":
        assert result.solutions[0][0] == optimum
        if problem.exact:
            assert result.bound == optimum


@settings(max_examples=100)
@given(seeds, st.integers(1, 8), st.sampled_from(COMPLETE), st.integers(0, 2))
def test_complete_orders_find_the_optimum(seed, size, order, n_included):
    problem = Coverage.random(seed, size=size, include=range(min(n_included, size)))
    result = search(problem, ORDERS[order])
    assert result.status == "optimal"
    assert_valid(result, problem)


@settings(max_examples=60)
@given(seeds, st.integers(1, 7), st.integers(1, 12), st.sampled_from(COMPLETE))
def test_pool_holds_the_best_sets(seed, size, n_solutions, order):
    problem = Coverage.random(seed, n=7, size=size)
    result = search(problem, ORDERS[order], n_solutions=n_solutions)
    best = problem.ranked()[:n_solutions]
    assert [error for error, _ in result.solutions] == [error for error, _ in best]
    assert len({subset for _, subset in result.solutions}) == len(best)
    assert_valid(result, problem)


@settings(max_examples=100)
@given(seeds, st.sampled_from("uh"), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
def test_weighted_orders_keep_their_guarantee(seed, weight, epsilon, strong):
    problem = Coverage.random(seed, n=9, size=4)
    cls = Policy if strong else Weak
    result = search(problem, cls("weighted", weight, epsilon))
    optimum = problem.ranked()[0][0]
    assert result.status in ("bounded", "optimal")
    assert result.solutions[0][0] - optimum <= result.a_priori + TOL
    assert_valid(result, problem, optimum)


@settings(max_examples=60)
@given(seeds)
def test_greedy_takes_the_best_step_each_time(seed):
    problem = Coverage.random(seed)
    result = search(problem, ORDERS["greedy"])
    _, items = problem.root()
    reachable = {()}
    for _ in range(problem.size):
        following = set()
        for chosen in reachable:
            left = [int(i) for i in items if i not in chosen]
            errors = problem.completion_errors(chosen, left)
            best = [i for i, e in zip(left, errors, strict=True) if e == errors.min()]
            following |= {tuple(sorted((*chosen, i))) for i in best}
        reachable = following
    assert result.solutions[0][1] in reachable
    assert result.expanded == problem.size
    assert result.solutions[0][0] - problem.ranked()[0][0] <= result.a_priori
    assert_valid(result, problem)


@settings(max_examples=40)
@given(seeds, policies, st.integers(1, 3))
def test_every_node_limit_is_proven(seed, order, n_solutions):
    problem = Coverage.random(seed, n=9, size=4)
    optimum = problem.ranked()[0][0]
    full = search(problem, ORDERS[order], n_solutions=n_solutions)
    bound, error = -np.inf, np.inf
    for max_nodes in range(full.expanded + 2):
        result = search(
            problem, ORDERS[order], Limits(max_nodes=max_nodes), n_solutions=n_solutions
        )
        assert_valid(result, problem, optimum)
        assert result.expanded <= max_nodes
        assert result.bound >= bound
        assert result.solutions[0][0] <= error
        bound, error = result.bound, result.solutions[0][0]
        if max_nodes > full.expanded:
            assert result.status == full.status
        else:  # a batch cut short may leave less to prove
            assert result.status in ("node_limit", full.status)
        if result.status == "node_limit":
            assert result.a_priori is None
    assert (bound, error) == (full.bound, full.solutions[0][0])


@settings(max_examples=100)
@given(seeds, st.sampled_from("uh"), st.sampled_from([0.1, 1.0]), st.sampled_from([0.1, 0.5]))
def test_a_gap_that_is_good_enough_is_part_of_the_guarantee(seed, weight, epsilon, max_gap):
    problem = Coverage.random(seed, n=9, size=4)
    result = search(problem, Weak("weighted", weight, epsilon), Limits(max_gap=max_gap))
    if result.a_priori is not None:
        assert result.solutions[0][0] - problem.ranked()[0][0] <= result.a_priori + TOL


@pytest.mark.parametrize("order", ORDERS)
def test_no_time(order):
    problem = Coverage.random(1, n=10, size=4)
    result = search(problem, ORDERS[order], Limits(deadline=time.perf_counter()))
    assert result.status == "time_limit"
    assert result.expanded == 0
    assert result.bound == problem.root_bounds()[0]
    assert_valid(result, problem)


@settings(max_examples=30)
@given(seeds, st.sampled_from(["optimal", "u", "h", "optimistic"]), st.integers(1, 30))
def test_deadline_between_two_nodes(seed, order, calls):
    # The clock strikes in the middle of a batch: what was not expanded stays open.
    problem = Coverage.random(seed, n=9, size=4)
    limits = _Clock(problem, calls)
    result = search(problem, ORDERS[order], limits)
    assert result.status in ("time_limit", "optimal", "bounded")
    assert_valid(result, problem)


class _Clock(Limits):
    """Limits whose deadline passes once the problem was asked ``calls`` times."""

    def __init__(self, problem, calls):
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "calls", calls)

    @property
    def deadline(self):
        return -np.inf if self.problem.n_calls >= self.calls else np.inf

    max_nodes = np.inf
    max_memory = np.inf
    max_gap = 0.0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("max_memory", [0.0, 100.0, 600.0, 1500.0, 4000.0])
def test_little_memory_stays_valid(order, max_memory):
    for seed in range(15):
        problem = Coverage.random(seed, n=11, size=5)
        result = search(problem, ORDERS[order], Limits(max_memory=max_memory))
        assert_valid(result, problem)


def test_enough_memory_for_depth_first_still_proves():
    peaks = []
    for seed in range(6):
        problem = Coverage.random(seed, n=12, size=5, points=60)
        free = search(problem, ORDERS["optimal"])
        tight = search(problem, ORDERS["optimal"], Limits(max_memory=2000.0))
        assert tight.status == free.status == "optimal"
        assert tight.solutions[0][0] == free.solutions[0][0]
        peaks.append((tight.peak_memory, free.peak_memory))
    tight, free = np.array(peaks).T
    assert free.max() > 16000  # more than what fits, and a few families for each level
    assert tight.max() < 16000


@settings(max_examples=60)
@given(seeds, st.sampled_from([0.01, 0.1, 0.5, 1.0]), st.sampled_from(["optimal", "optimistic"]))
def test_gap_is_respected(seed, max_gap, order):
    problem = Coverage.random(seed, n=9, size=4)
    result = search(problem, ORDERS[order], Limits(max_gap=max_gap))
    assert result.status in ("gap_reached", "optimal")
    error = result.solutions[0][0]
    assert error - result.bound <= max_gap * error + TOL
    assert_valid(result, problem)
    if result.status == "gap_reached":
        assert result.bound < error


# --- stopping from outside -------------------------------------------------------------------


class Stopper:
    """A callback that stops, or raises, at its n-th call."""

    def __init__(self, at, error=None):
        self.at, self.error, self.calls = at, error, []

    def __call__(self, progress):
        self.calls.append(progress)
        if len(self.calls) == self.at:
            if self.error is not None:
                raise self.error
            return True
        return False


def every_report(monkeypatch):
    """No throttling, so that a callback sees every step."""
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()], ids=["stop", "ctrl-c"])
@pytest.mark.parametrize("order", [*ORDERS, "weak"])
def test_callback_stops(monkeypatch, order, error):
    every_report(monkeypatch)
    for seed in range(8):
        problem = Coverage.random(seed, n=10, size=4)
        optimum = problem.ranked()[0][0]
        policy = Weak("optimal") if order == "weak" else ORDERS[order]
        for at in range(1, 60):
            stopper = Stopper(at, error)
            try:
                result = search(problem, policy, callback=stopper)
            except KeyboardInterrupt:  # there was nothing to return yet
                assert order in ("greedy", "weak") and np.isinf(stopper.calls[-1].incumbent)
                continue
            assert_valid(result, problem, optimum)
            if len(stopper.calls) < at:
                assert result.status != "interrupted"
                break
            assert result.status in ("interrupted", "heuristic", "optimal")
            if error is not None:
                assert result.status == "interrupted"


@pytest.mark.parametrize("order", ORDERS)
def test_interrupt_during_an_expansion(order):
    for seed in range(12):
        problem = Coverage.random(seed, n=10, size=4)
        optimum = problem.ranked()[0][0]
        for at in range(1, 60):
            problem.n_calls, problem.interrupt_at = 0, at
            try:
                result = search(problem, ORDERS[order])
            except KeyboardInterrupt:  # there was nothing to return yet
                assert order == "greedy"
                continue
            assert_valid(result, problem, optimum)
            if result.status != "interrupted":
                break


def test_another_error_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        search(Coverage.random(0), ORDERS["optimal"], callback=Stopper(1, ZeroDivisionError()))


def test_callback_sees_the_numbers_of_the_history(monkeypatch):
    every_report(monkeypatch)
    problem = Coverage.random(3, n=11, size=5)
    stopper = Stopper(-1)
    result = search(problem, ORDERS["optimal"], callback=stopper)
    assert all(isinstance(progress, Progress) for progress in stopper.calls)
    seen = [(p.expanded, p.open, p.bound, p.incumbent) for p in stopper.calls]
    rows = [(h["expanded"], h["open"], h["bound"], h["incumbent"]) for h in result.history]
    assert rows[:-1] == seen
    assert stopper.calls[0].new_incumbent
    assert rows[-1][0] == result.expanded
    assert rows[-1][2:] == (result.bound, result.solutions[0][0])


@pytest.mark.parametrize("order", ORDERS)
def test_history_is_monotone(monkeypatch, order):
    every_report(monkeypatch)
    for seed in range(5):
        result = search(Coverage.random(seed, n=11, size=5), ORDERS[order])
        columns = {key: np.array([row[key] for row in result.history]) for key in result.history[0]}
        assert (np.diff(columns["elapsed"]) >= 0).all()
        assert (np.diff(columns["expanded"]) >= 0).all()
        assert (np.diff(columns["bound"]) >= 0).all()
        with np.errstate(invalid="ignore"):
            assert not (np.diff(columns["incumbent"]) > 0).any()
        assert (columns["open"] >= 0).all()
        if result.status == "optimal" and order == "optimal":
            assert columns["bound"][-1] == columns["incumbent"][-1]


# --- workers, starts, lower bounds only ---------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("max_nodes", [np.inf, 7])
def test_workers_change_nothing(order, max_nodes):
    for seed in range(6):
        runs = []
        for n_jobs in (1, 2, 3):
            problem = Coverage.random(seed, n=12, size=5)
            r = search(
                problem, ORDERS[order], Limits(max_nodes=max_nodes), n_solutions=3, n_jobs=n_jobs
            )
            runs.append((r.status, r.solutions, r.bound, r.expanded, r.generated, r.peak_memory))
        assert runs[0] == runs[1] == runs[2]


def test_a_known_set_is_never_lost():
    problem = Coverage.random(2, n=10, size=4)
    error, best = problem.ranked()[0]
    _, worst = problem.ranked()[-1]
    for order in ORDERS.values():
        result = search(problem, order, Limits(max_nodes=0), start=[worst, best])
        assert result.solutions[0] == (error, best)
    result = search(problem, ORDERS["optimal"], start=[worst])
    assert result.solutions[0][0] == error


class Improving(Coverage):
    """Knows the best set, but tells it only when asked to improve another."""

    def improve(self, known, operations, deadline):
        assert len(known) == self.size
        self.asked = [*getattr(self, "asked", []), operations]
        return self.ranked()[0][1]


@pytest.mark.parametrize("order", ORDERS)
def test_open_searches_ask_for_better_sets(order):
    """Only the order by bounds does, at twice as many nodes each time."""
    for seed in range(6):
        problem = Improving.random(seed, n=12, size=5)
        result = search(problem, ORDERS[order])
        assert_valid(result, problem)
        asked = getattr(problem, "asked", [])
        if order != "optimal" or result.expanded == 1:
            assert not asked
        else:
            assert 1 <= len(asked) <= 1 + np.log2(result.expanded)
            assert asked == sorted(asked)


@settings(max_examples=150)
@given(seeds, policies, st.integers(1, 3), st.sampled_from([0.3, 0.7, 0.9]), st.integers(1, 4))
def test_lower_bounds_alone_still_prove(seed, order, n_solutions, blur, size):
    problem = Coverage.random(seed, n=8, size=size, blur=blur)
    result = search(problem, ORDERS[order], n_solutions=n_solutions)
    assert_valid(result, problem)


def test_incomplete_problem_is_named():
    class Half:
        n_items, size, exact = 3, 1, True

        def root(self):
            return np.empty(0, np.int32), np.arange(3, dtype=np.int32)

    with pytest.raises(TypeError, match="Half cannot be searched: missing root_bounds, expand"):
        search(Half(), ORDERS["optimal"])


# -- what rounding leaves open ------------------------------------------------------------


class Careful(Coverage):
    """A problem whose expansions may be unsure, and which can measure sets with care."""

    doubtful = False
    passed = np.inf  # bound of sets that were not reported for want of room

    def expand(self, chosen, candidates, demand, worker):
        found = super().expand(chosen, candidates, demand, worker)
        return replace(found, doubtful=self.doubtful, floor=min(found.floor, self.passed))


class Measured(Careful):
    """The same with intervals."""

    measured = 0

    def interval(self, subset, limit=np.inf):
        self.measured += 1
        error = self.value(subset)
        return error, error


@pytest.mark.parametrize("n_solutions", [1, 3])
def test_doubtful_bounds_are_no_proof(n_solutions):
    for seed in range(examples(20)):
        problem = Careful.random(seed, size=3)
        problem.doubtful = True
        result = search(problem, ORDERS["optimal"], n_solutions=n_solutions)
        assert result.status == "precision_limit"
        assert_valid(result, problem)
        assert result.bound <= problem.root_bounds()[0]  # all that is below the root is in doubt


@pytest.mark.parametrize("n_solutions", [1, 3])
def test_few_sets_are_all_measured_where_bounds_are_doubtful(n_solutions):
    for seed in range(examples(20)):
        problem = Measured.random(seed, size=3)
        problem.doubtful = True
        result = search(problem, ORDERS["optimal"], n_solutions=n_solutions)
        assert result.status == "optimal"
        assert_valid(result, problem)
        errors = [error for error, _ in problem.ranked()[:n_solutions]]
        assert [error for error, _ in result.solutions] == errors


def test_too_many_sets_are_not_measured(monkeypatch):
    monkeypatch.setattr("columnist.search._engine._FEW_SETS", 10)
    problem = Measured.random(0, size=3)
    problem.doubtful = True
    assert search(problem, ORDERS["optimal"]).status == "precision_limit"
    assert problem.measured < len(problem.ranked())


def test_sets_that_were_not_measured_in_time_are_no_matter_of_precision():
    """The clock ends the measuring, not the digits."""
    problem = Measured.random(0, size=3)
    problem.doubtful = True
    limit = time.perf_counter() + 3600.0

    class Slow(Measured):
        def interval(self, subset, limit=np.inf):
            if self.measured > 20:
                object.__setattr__(limits, "deadline", -np.inf)
            return super().interval(subset, limit)

    limits = Limits(deadline=limit)
    problem.__class__ = Slow
    result = search(problem, ORDERS["optimal"], limits)
    assert result.status == "time_limit"
    assert_valid(result, problem)


def test_sets_that_were_passed_over_hold_the_bound_down():
    """A kernel that reports too few of many ties names a floor: nothing is proven above it."""
    for seed in range(examples(20)):
        problem = Careful.random(seed, size=3)
        optimum = problem.ranked()[0][0]
        if optimum == 0.0 or problem.root_bounds()[0] >= optimum:
            continue
        problem.passed = 0.5 * (optimum + problem.root_bounds()[0])
        result = search(problem, ORDERS["optimal"])
        assert result.status == "precision_limit"
        assert result.bound <= problem.passed
        measured = Measured.random(seed, size=3)
        measured.passed = problem.passed
        result = search(measured, ORDERS["optimal"])
        assert result.status == "optimal" and result.bound == optimum


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limits", [Limits(max_nodes=1), Limits(), Limits(deadline=1e9)])
def test_pools_are_filled(order, limits):
    """However early a search stops, it returns as many different sets as were wanted."""
    for seed in range(examples(6)):
        for size, include in ((3, ()), (4, (1, 2)), (7, ())):
            problem = Coverage.random(seed, n=8, size=size, include=include)
            every = len(problem.ranked())
            for wanted in (5, 100):
                result = search(problem, ORDERS[order], limits, n_solutions=wanted)
                sets = [subset for _, subset in result.solutions]
                assert len(set(sets)) == len(sets) == min(wanted, every)
                assert all(set(include) <= set(subset) for subset in sets)
                assert result.solutions == sorted(result.solutions)
                assert_valid(result, problem)


class Below(Coverage):
    """Errors below zero."""

    def value(self, subset):
        return super().value(subset) - 1000.0

    @staticmethod
    def _f(error, gains, left):
        return error - np.sort(gains)[::-1][:left].sum()


def test_negative_errors_are_proven():
    for seed in range(examples(20)):
        problem = Below.random(seed, size=3)
        for n_solutions in (1, 3):
            result = search(problem, ORDERS["optimal"], n_solutions=n_solutions)
            assert result.status == "optimal"
            assert_valid(result, problem)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("method", ["value", "completion_errors", "root"])
def test_an_interrupt_at_any_call(order, method):
    for seed in range(examples(3, 1)):
        for options in ({}, {"n_solutions": 4}, {"limits": Limits(max_gap=0.3)}):
            optimum = Coverage.random(seed, n=7, size=3).ranked()[0][0]
            at = 0
            while True:
                at += 1 + at // 15  # every call at first, then one of several
                problem = Tripping.random(seed, n=7, size=3)
                problem.method, problem.left = method, at
                try:
                    result = search(problem, ORDERS[order], **options)
                except KeyboardInterrupt:
                    continue
                assert result.bound <= optimum + TOL
                assert result.solutions[0][0] >= optimum
                if result.status == "gap_reached":
                    assert "limits" in options
                if problem.left > 0:
                    break


class Tripping(Coverage):
    """A problem that is interrupted at the n-th call of one of its methods."""

    method, left = "", 0

    def _trip(self, method):
        if method == self.method:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    def value(self, subset):
        self._trip("value")
        return super().value(subset)

    def completion_errors(self, chosen, candidates):
        self._trip("completion_errors")
        return super().completion_errors(chosen, candidates)

    def root(self):
        self._trip("root")
        return super().root()


class Weightless(Coverage):
    """Forgets the figure that an order asks for."""

    def expand(self, chosen, candidates, demand, worker):
        found = super().expand(chosen, candidates, demand, worker)
        return replace(found, weight=found.weight[:0])


def test_a_forgotten_weight_is_named():
    rng = np.random.default_rng(0)
    problem = Weightless(rng.random((14, 30)) < 0.2, rng.random(30), 5)
    with pytest.raises(ValueError, match=r"Weightless.expand returned no weight 'u'"):
        search(problem, get_policy("weighted", "u", 0.5))
