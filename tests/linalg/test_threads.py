"""Threads share out calls, in order."""

from __future__ import annotations

import threading

import pytest

from columnist.linalg._threads import Threads


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_calls(n_jobs):
    with Threads(n_jobs) as threads:
        assert threads.map(lambda a, b: a - b, range(10), range(0, 20, 2)) == [
            -i for i in range(10)
        ]
        assert threads.map(lambda a: a, []) == []


def test_calls_run_at_the_same_time():
    both = threading.Barrier(2, timeout=60)
    with Threads(2) as threads:
        threads.map(lambda _: both.wait(), range(2))  # each of them waits for the other


def test_errors_reach_the_caller():
    with Threads(2) as threads, pytest.raises(ZeroDivisionError):
        threads.map(lambda a: 1 / a, [1, 0])
