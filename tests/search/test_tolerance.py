"""Pools with a tolerance: every set within a share of the best error, at every stopping point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.search import Limits, search
from columnist.search._run import Pool, within
from tests.search.test_engine import COMPLETE, ORDERS, Coverage, policies, seeds

tolerances = st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9])


def inside(problem, tol):
    """Every (error, set) within the tolerance."""
    ranked = problem.ranked()
    limit = within(ranked[0][0], tol, getattr(problem, "least", -np.inf))
    return [(error, subset) for error, subset in ranked if error <= limit]


@settings(max_examples=100)
@given(seeds, st.integers(1, 7), tolerances, st.sampled_from(COMPLETE))
def test_every_set_within_the_tolerance_is_listed(seed, size, tol, order):
    problem = Coverage.random(seed, n=7, size=size)
    result = search(problem, ORDERS[order], n_solutions=1000, solution_tol=tol)
    expected = inside(problem, tol)
    assert result.status == "optimal"
    assert result.complete
    assert sorted(result.solutions) == sorted(expected)


@settings(max_examples=60)
@given(seeds, tolerances, policies, st.integers(2, 20))
def test_every_stopping_point_says_what_is_left_open(seed, tol, order, most):
    problem = Coverage.random(seed, n=8, size=4)
    ranked, expected = problem.ranked(), inside(problem, tol)
    for max_nodes in range(12):
        limits = Limits(max_nodes=max_nodes)
        result = search(problem, ORDERS[order], limits, n_solutions=most, solution_tol=tol)
        listed = {subset for _, subset in result.solutions}
        others = [error for error, subset in ranked if subset not in listed]
        assert len(listed) <= most
        assert result.unlisted <= min(others, default=np.inf)
        assert result.bound <= ranked[0][0]
        if result.complete:
            assert listed >= {subset for _, subset in expected}
        if result.status == "optimal":
            assert result.solutions == sorted(result.solutions)
            assert sorted(e for e, _ in result.solutions) == [e for e, _ in expected[:most]]
            assert result.complete or len(listed) == most


def test_pools_forget_what_a_better_set_leaves_behind():
    class Values:
        def interval(self, subset, limit=np.inf):
            return subset[0] - 1e-3, subset[0] + 1e-3

        def root_bounds(self):
            return 0.0, 100.0

        exact, least = True, 0.0

    pool = Pool(Values(), 10, 0.1)
    for error in (30, 20, 22, 24, 10, 12):
        pool.offer(np.inf, [error])
    assert [subset for _, subset in pool.entries] == [(10,)]
    assert pool.floor > pool.limit


@pytest.mark.parametrize(
    ("best", "least", "expected"), [(0.0, 0.0, 0.0), (-4.0, -np.inf, -3.6), (-4.0, -6.0, -3.8)]
)
def test_limits_of_errors_that_are_zero_or_negative(best, least, expected):
    assert within(best, 0.1, least) == pytest.approx(expected)
