"""Searches whose branches are expanded elsewhere, against the same searches here."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.search import _engine as engine
from columnist.search._engine import search
from columnist.search._policies import get_policy
from columnist.search._run import Limits
from columnist.search._workers import (
    Portion,
    current_workers,
    expand_portion,
    use_workers,
)
from tests.search.coverage import Coverage
from tests.strategies import random_matrix

TOL = 1e-9
seeds = st.integers(0, 2**32 - 1)


class Elsewhere:
    """Helpers in this process that see nothing but what was pickled for them."""

    def __init__(self, count: int = 3, lose=lambda task: False, last: int | None = None):
        self.count, self.lose, self.last = count, lose, last
        self.tasks = 0

    def map(self, function, shared, items, until):
        shared = pickle.dumps(shared)
        for item in items:
            self.tasks += 1
            if self.last is not None and self.tasks >= self.last:
                self.count = 0
            if self.count == 0 or self.lose(self.tasks):
                yield None
            else:
                result = function(pickle.loads(shared), pickle.loads(pickle.dumps(item)))
                yield pickle.loads(pickle.dumps(result))


@pytest.fixture(autouse=True, scope="module")
def at_once():
    """Helpers are asked from the first node on, with a few nodes each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_FAR_AFTER", 0.0)
        patch.setattr(engine, "_FAR_SECONDS", 1e-3)
        yield


def wide(seed: int) -> Coverage:
    """A problem with more open nodes than the engine takes at once."""
    rng = np.random.default_rng(seed)
    covers = rng.random((14, 50)) < 0.25
    return Coverage(covers, rng.integers(1, 5, 50), 5, seed=seed)


def assert_valid(result, problem, optimum):
    assert result.bound <= optimum + TOL
    assert result.solutions[0][0] >= optimum
    for error, subset in result.solutions:
        assert error == problem.value(subset)


@settings(max_examples=8)
@given(seeds, st.integers(1, 4), st.integers(1, 5))
def test_the_same_sets_are_proven(seed, count, n_solutions):
    problem, workers = wide(seed), Elsewhere(count)
    here = search(problem, get_policy("optimal"), n_solutions=n_solutions)
    there = search(problem, get_policy("optimal"), n_solutions=n_solutions, workers=workers)
    assert here.status == there.status == "optimal"
    assert [e for e, _ in here.solutions] == [e for e, _ in there.solutions]
    assert here.bound == there.bound
    assert_valid(there, problem, here.solutions[0][0])


def test_they_are_asked():
    workers = Elsewhere()
    search(wide(3), get_policy("optimal"), workers=workers)
    assert workers.tasks > 3


@settings(max_examples=8)
@given(seeds, st.integers(0, 80), st.integers(1, 3))
def test_every_node_limit_is_proven(seed, max_nodes, n_solutions):
    problem, policy = wide(seed), get_policy("optimal")
    optimum = search(problem, policy).solutions[0][0]
    limits = Limits(max_nodes=max_nodes)
    result = search(problem, policy, limits, n_solutions=n_solutions, workers=Elsewhere())
    assert result.expanded <= max_nodes
    assert result.status in ("node_limit", "optimal")
    assert_valid(result, problem, optimum)


@settings(max_examples=8)
@given(seeds, st.integers(2, 5), st.integers(1, 9))
def test_lost_work_is_done_again(seed, period, last):
    problem = wide(seed)
    optimum = search(problem, get_policy("optimal")).solutions[0]
    workers = Elsewhere(lose=lambda task: task % period == 0, last=3 * last)
    result = search(problem, get_policy("optimal"), workers=workers)
    assert result.status == "optimal"
    assert result.solutions[0][0] == result.bound == optimum[0]


def test_time_runs_out_elsewhere(clock):
    problem, policy = wide(5), get_policy("optimal")
    optimum = search(problem, policy).solutions[0][0]

    class Slow(Elsewhere):
        def map(self, function, shared, items, until):
            for result in super().map(function, shared, items, until):
                clock.now += 0.02
                yield result

    clock.charge(Coverage, "expand", 1e-3)
    limits, workers = Limits(deadline=clock.now + 0.1), Slow()
    result = search(problem, policy, limits, workers=workers)
    assert result.status == "time_limit"
    assert workers.tasks > 3
    assert_valid(result, problem, optimum)


def test_a_late_portion_is_put_back():
    problem = wide(6)
    chosen, candidates = problem.root()
    branch = engine.Branch(chosen, candidates, 0.0, 0.0)
    demand = engine.Demand(np.inf)
    late = expand_portion(problem, Portion([branch] * 3, demand, -1.0))
    assert late.results == [None] * 3
    done = expand_portion(problem, Portion([branch], demand, np.inf))
    here = problem.expand(chosen, candidates, demand, 0)
    np.testing.assert_array_equal(done.results[0].items, here.items)
    np.testing.assert_array_equal(done.results[0].f, here.f)


@pytest.mark.parametrize("nodes", [20, 40])
def test_a_callback_stops_it(nodes):
    problem, policy = wide(7), get_policy("optimal")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
        result = search(
            problem, policy, workers=Elsewhere(), callback=lambda seen: seen.expanded >= nodes
        )
    assert result.status == "interrupted"
    assert_valid(result, problem, search(problem, policy).solutions[0][0])


def test_interrupted_while_work_is_out():
    problem, policy = wide(8), get_policy("optimal")

    class Interrupted(Elsewhere):
        def map(self, function, shared, items, until):
            if self.tasks > 5:
                yield from list(super().map(function, shared, items[:1], until))
                raise KeyboardInterrupt
            yield from super().map(function, shared, items, until)

    result = search(problem, policy, workers=Interrupted())
    assert result.status == "interrupted"
    assert_valid(result, problem, search(problem, policy).solutions[0][0])


@pytest.mark.parametrize("order", ["greedy", "weighted", "optimistic"])
def test_orders_of_single_nodes_stay_here(order):
    problem, workers = wide(9), Elsewhere()
    policy = get_policy(order, "u", 0.5)
    here, there = search(problem, policy), search(problem, policy, workers=workers)
    assert workers.tasks == 0
    assert (here.solutions, here.expanded) == (there.solutions, there.expanded)


def test_little_memory_keeps_it_here():
    problem, workers = wide(10), Elsewhere()
    result = search(problem, get_policy("optimal"), Limits(max_memory=1.0), workers=workers)
    assert workers.tasks == 0
    assert result.status == "optimal"


@settings(max_examples=4)
@given(seeds, st.integers(1, 4))
def test_ties_go_to_the_first_columns_alike(seed, count):
    X = random_matrix("ties", 30, 16, np.random.default_rng(seed))
    here, workers = ColumnSelector(6).fit(X), Elsewhere(count)
    with use_workers(workers):
        there = ColumnSelector(6).fit(X)
    assert workers.tasks
    assert there.certificate_.status == here.certificate_.status == "optimal"
    np.testing.assert_array_equal(there.selected_, here.selected_)


def test_use_workers_is_undone():
    workers = Elsewhere()
    assert current_workers() is None
    with use_workers(workers):
        assert current_workers() is workers
    assert current_workers() is None
