"""First choices: as good as they say, and no step beyond the deadline."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.search._incumbent import exchange, greedy, incumbents, prefer_smaller
from tests.search.coverage import Coverage

PAST = -np.inf


class Counting(Coverage):
    """A problem that counts what it is asked."""

    steps = values = 0

    def completion_errors(self, chosen, candidates):
        self.steps += 1
        return super().completion_errors(chosen, candidates)

    def value(self, subset):
        self.values += 1
        return super().value(subset)


def problem(seed: int = 0) -> Counting:
    return Counting.random(seed, n=12, size=5)


def test_greedy_in_no_time_is_a_valid_choice():
    counted = problem()
    chosen, candidates = counted.root()
    subset = greedy(counted, chosen, candidates, deadline=PAST)
    assert len(set(subset)) == 5 and set(subset) <= set(candidates.tolist())
    assert counted.steps == 0


def test_greedy_stops_before_a_step_that_would_be_late(monkeypatch):
    """A step as long as the last one would end behind the deadline: the order fills the choice."""
    now = [0.0]

    class Slow(Counting):
        def completion_errors(self, chosen, candidates):
            now[0] += 1.0
            return super().completion_errors(chosen, candidates)

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    slow = Slow.random(1, n=12, size=5)
    chosen, candidates = slow.root()
    subset = greedy(slow, chosen, candidates, deadline=2.5)
    assert slow.steps == 2 and len(set(subset)) == 5
    free = greedy(slow, chosen, candidates)
    assert subset[:2] == free[:2]


def test_exchange_in_no_time_changes_nothing():
    counted = problem()
    chosen, candidates = counted.root()
    assert exchange(counted, range(5), chosen, candidates, deadline=PAST) == list(range(5))
    assert counted.steps == 0


def test_smaller_indices_in_no_time_are_left_alone():
    counted = problem()
    chosen, candidates = counted.root()
    subset = prefer_smaller(counted, [7, 8, 9, 10, 11], chosen, candidates, deadline=PAST)
    assert subset == (7, 8, 9, 10, 11)
    assert counted.steps == 0


@pytest.mark.parametrize("seed", range(5))
def test_each_choice_is_no_worse_than_the_one_before(seed):
    counted = problem(seed)
    chosen, candidates = counted.root()
    errors = [counted.value(s) for s in incumbents(counted, chosen, candidates, np.inf)]
    assert len(errors) == 2 and errors[1] <= errors[0]
    subset = exchange(counted, range(5), chosen, candidates)
    assert counted.value(subset) <= counted.value(range(5))


def test_choices_in_no_time_cost_no_step():
    counted = problem()
    chosen, candidates = counted.root()
    for subset in incumbents(counted, chosen, candidates, PAST):
        assert len(set(subset)) == 5
    assert counted.steps == 0


def test_nothing_chosen_stays_nothing():
    counted = problem()
    candidates = counted.root()[1]
    assert exchange(counted, [], [], candidates) == []
    assert prefer_smaller(counted, [], [], candidates) == ()
    assert exchange(counted, [], [], candidates[:0]) == []
