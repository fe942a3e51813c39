"""Orders of the search and their guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.criteria import Frobenius
from columnist.search._policies import SEARCHES, WEIGHTS, Policy, get_policy
from tests.oracles.textbook import optimistic_search

F = np.array([1.0, 2.0, 0.5])
U = np.array([4.0, 2.0, 3.0])


@pytest.mark.parametrize("search", ["auto", "optimal"])
def test_optimal_is_ordered_by_the_bound(search):
    policy = get_policy(search, "h", 3.0)
    assert policy == Policy("optimal")
    assert policy.by_bound and policy.starts_strong and policy.figure is None
    np.testing.assert_array_equal(policy.priority(F, np.empty(0)), F)
    assert policy.goal_priority(7.0) == 7.0
    assert policy.a_priori(1.0, 5.0, 3) is None


def test_weighted_without_weight_is_optimal():
    for weight in WEIGHTS:
        assert get_policy("weighted", weight, 0.0) == Policy("optimal")


@pytest.mark.parametrize("weight", ["u", "g"])
def test_weight_u(weight):
    policy = get_policy("weighted", weight, 0.5)
    assert policy.figure == "u" and policy.starts_strong
    np.testing.assert_array_equal(policy.priority(F, U), F + 0.5 * U)
    assert policy.goal_priority(2.0) == 3.0
    assert policy.a_priori(1.0, 7.0, 3) == pytest.approx(0.5 / 1.5 * 6.0)


def test_weight_h():
    policy = get_policy("weighted", "h", 0.5)
    assert policy.figure == "u"
    np.testing.assert_array_equal(policy.priority(F, U), F + 0.5 * (U - F))
    assert policy.goal_priority(2.0) == 2.0
    assert policy.a_priori(1.0, 7.0, 3) == 3.0


def test_weight_b():
    policy = get_policy("weighted", "b", 0.5)
    assert policy.figure == "b"
    np.testing.assert_array_equal(policy.priority(F, U), F + 0.5 * U)
    assert policy.goal_priority(2.0) == 3.0
    # e - e* <= eps k / (1 + eps) e*, with e* <= min((k + 1) f, u)
    assert policy.a_priori(1.0, 7.0, 3) == pytest.approx(0.5 * 3 / 1.5 * 4.0)
    assert policy.a_priori(2.0, 7.0, 3) == pytest.approx(0.5 * 3 / 1.5 * 7.0)


def test_h_orders_as_u_with_the_matching_weight():
    # f + eps_h (u - f) is (1 - eps_h) (f + eps u) for eps_h = eps / (1 + eps).
    eps = 0.7
    h, u = Policy("weighted", "h", eps / (1 + eps)), Policy("weighted", "u", eps)
    np.testing.assert_allclose(h.priority(F, U) * (1 + eps), u.priority(F, U))
    assert h.goal_priority(3.0) * (1 + eps) == pytest.approx(u.goal_priority(3.0))
    assert h.a_priori(1.0, 5.0, 2) == pytest.approx(u.a_priori(1.0, 5.0, 2))


def test_greedy_follows_u_alone():
    policy = get_policy("greedy", "b", 0.3)
    assert policy.follows_u and policy.figure == "u"
    assert not policy.starts_strong and not policy.by_bound
    np.testing.assert_array_equal(policy.priority(F, U), U)
    assert policy.goal_priority(2.0) == 2.0
    assert policy.a_priori(1.0, 7.0, 3) == 6.0


def test_optimistic_follows_u_unless_weighted():
    assert get_policy("optimistic").follows_u
    weighted = get_policy("optimistic", "h", 0.25)
    assert not weighted.follows_u and weighted.weight == "h"
    np.testing.assert_array_equal(weighted.priority(F, U), F + 0.25 * (U - F))
    assert get_policy("optimistic").a_priori(1.0, 5.0, 2) is None
    assert weighted.a_priori(1.0, 5.0, 2) is None


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_a_complete_set_has_the_priority_of_its_error(search, weight, epsilon):
    # At a complete set f = u = b = e, whatever the order.
    policy = get_policy(search, weight, epsilon)
    error = np.array([3.0])
    assert policy.priority(error, error)[0] == pytest.approx(policy.goal_priority(3.0))


@given(seed=st.integers(0, 10**6), eps=st.sampled_from([0.1, 0.5, 2.0]))
def test_the_fourth_printed_bound_is_never_smaller_than_the_first(seed, eps):
    """At every iteration of the printed optimistic search: its choice of a node is the least f."""
    X = np.random.default_rng(seed).standard_normal((6, 7))
    for found in optimistic_search(X, 3, Frobenius(), 4, order="f+u", eps=eps):
        if np.isfinite(found.f_min):
            fourth = eps * (found.u_max - found.error)
            assert found.error - found.f_min <= fourth + 1e-9 * found.error
