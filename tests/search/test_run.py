"""What every run has in common, with strategies that do nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.search import Limits, Run, Strategy
from columnist.search import _run as module
from columnist.search._run import PrecisionError


class Numbers:
    """Choose one of some numbers: the error is the number."""

    exact, least = True, 0.0

    def __init__(self, *errors):
        self.errors = errors

    def value(self, subset):
        return self.errors[subset[0]]


class Steps(Strategy):
    """Offers and proves what it is told, step by step."""

    def __init__(self, *steps, end=None):
        self.told, self.end, self.done = steps, end, 0

    def steps(self, run):
        for choice, bound in self.told:
            if choice is not None:
                run.offer((choice,))
            run.prove(bound)
            run.expanded += 1
            self.done += 1
            run.report(new=True)
            yield
        if self.end is not None:
            raise self.end


def driven(*strategies, **limits):
    run = Run(Numbers(5.0, 3.0, 4.0), Limits(**limits))
    run.drive(strategies)
    return run


def test_strategies_follow_one_another_until_the_bound_is_reached():
    first, second, third = Steps((0, 1.0), (2, 2.0)), Steps((1, 3.0)), Steps((0, 9.0))
    run = driven(first, second, third)
    assert run.stop == "optimal" and run.pool.entries == [(3.0, (1,))]
    assert (first.done, second.done, third.done) == (2, 1, 0)


def test_the_bound_never_falls_and_never_exceeds_the_incumbent():
    run = driven(Steps((0, 2.0), (2, 1.0), (1, 2.5)))
    bounds = [entry["bound"] for entry in run.history]
    assert bounds == [2.0, 2.0, 2.5] and run.stop is None
    run.prove(7.0)
    assert run.bound() == 3.0 and run.is_proven()


@pytest.mark.parametrize(
    ("limits", "status"),
    [({"max_nodes": 1}, "node_limit"), ({"deadline": -np.inf}, "time_limit")],
)
def test_limits_are_looked_at_after_every_step(limits, status):
    strategy = Steps((0, 1.0), (1, 2.0))
    run = driven(strategy, **limits)
    assert (run.stop, strategy.done, run.bound()) == (status, 1, 1.0)


def test_a_gap_that_is_good_enough():
    assert driven(Steps((1, 2.0)), Steps((1, 3.0)), max_gap=0.5).stop == "gap_reached"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (MemoryError(), "memory_limit"),
        (PrecisionError(), "precision_limit"),
    ],
)
def test_what_was_proven_before_an_early_end_counts(end, status):
    run = driven(Steps((0, 1.0), end=end), Steps((1, 3.0)))
    assert (run.stop, run.torn, run.bound(), run.pool.best) == (status, True, 1.0, 5.0)
    with pytest.raises(type(end)):  # there is nothing to return yet
        driven(Steps(end=end))


def test_a_signal_between_two_looks_is_no_time_limit(monkeypatch):
    looks = iter([False, True, True])
    monkeypatch.setattr(module, "pending", lambda: next(looks))
    monkeypatch.setattr(Run, "expired", lambda self: True)
    assert driven(Steps((0, 1.0), (1, 3.0))).stop == "interrupted"


def test_a_callback_stops():
    run = Run(Numbers(5.0, 3.0), callback=lambda progress: progress.expanded >= 1)
    run.drive([Steps((0, 1.0), (1, 2.0))])
    assert run.stop == "interrupted" and run.expanded == 1
