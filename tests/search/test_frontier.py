"""The open branches of a search."""

from __future__ import annotations

import copy
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.search._frontier import Frontier
from columnist.search._policies import Policy
from columnist.search._problem import Branches, Part

POLICIES = {
    "optimal": Policy("optimal"),
    "u": Policy("weighted", "u", 0.5),
    "h": Policy("weighted", "h", 0.5),
    "greedy": Policy("greedy", "u", np.inf),
    "optimistic": Policy("optimistic", "u", 2.0),
}


class Walk:
    """Expands random nodes: f only grows along a path, with many ties."""

    def __init__(self, policy, n, size, seed, max_memory=np.inf):
        self.policy, self.n, self.size = policy, n, size
        self.rng = np.random.default_rng(seed)
        self.frontier = Frontier(policy, max_memory)
        self.push(np.empty(0, np.int32), np.arange(n, dtype=np.int32), 0.0)

    def push(self, chosen, candidates, bound):
        items = self.rng.permutation(candidates).astype(np.int32)
        f = bound + self.rng.integers(0, 4, len(items)).astype(float)
        u = 100.0 - f
        weight = u if self.policy.weight else np.empty(0)
        self.frontier.push(chosen, Branches(bound, items, f, weight), self.size)

    def pop(self, by_order):
        if by_order and not self.policy.by_bound:
            return self.frontier.pop_order(np.inf, np.inf)
        return self.frontier.pop_bound(np.inf)

    def run(self, choose, after=lambda branch: None):
        """All complete sets, in the order in which they are reached."""
        complete = []
        while True:
            branch = self.pop(choose())
            if branch is None:
                branch = self.pop(False)
            if branch is None:
                return complete
            if len(branch.chosen) == self.size:
                complete.append(tuple(sorted(branch.chosen.tolist())))
            else:
                self.push(branch.chosen, branch.candidates, branch.bound)
            after(branch)


def drained(frontier):
    """Bounds of everything that is open, in the order of the bound."""
    frontier = copy.deepcopy(frontier)
    bounds = []
    while (branch := frontier.pop_bound(np.inf)) is not None:
        bounds.append(branch.bound)
    return bounds


problems = {
    "n": st.integers(1, 7),
    "seed": st.integers(0, 2**32 - 1),
    "policy": st.sampled_from(sorted(POLICIES)),
    "data": st.data(),
}


@settings(max_examples=80)
@given(**problems, max_memory=st.sampled_from([0.0, 1000.0, 3000.0, np.inf]))
def test_every_subset_is_reached_exactly_once(n, seed, policy, max_memory, data):
    size = data.draw(st.integers(1, n))
    coin = np.random.default_rng(seed)
    walk = Walk(POLICIES[policy], n, size, seed, max_memory)
    complete = walk.run(lambda: coin.random() < 0.5)
    assert len(complete) == comb(n, size)
    assert set(complete) == set(combinations(range(n), size))
    assert walk.frontier.n_open == 0
    assert walk.frontier.bound() == np.inf


@settings(max_examples=60)
@given(**problems, max_memory=st.sampled_from([0.0, 1500.0, np.inf]))
def test_bound_is_the_smallest_of_all_open(n, seed, policy, max_memory, data):
    size = data.draw(st.integers(1, n))
    walk = Walk(POLICIES[policy], n, size, seed, max_memory)
    coin = np.random.default_rng(seed)

    def check(branch):
        bounds = drained(walk.frontier)
        assert walk.frontier.bound() == min(bounds, default=np.inf)
        assert walk.frontier.n_open == len(bounds)
        if max_memory == np.inf:
            assert bounds == sorted(bounds)

    walk.run(lambda: coin.random() < 0.5, check)


@pytest.mark.parametrize("policy", ["u", "h", "greedy", "optimistic"])
def test_order_of_priority(policy):
    walk = Walk(POLICIES[policy], 40, 3, 0)
    priorities = []
    while (branch := walk.frontier.pop_order(np.inf, np.inf)) is not None:
        priorities.append(branch.priority)
    assert priorities == sorted(priorities)
    assert len(priorities) == 38  # a child needs two candidates of its own


def test_both_views_skip_what_the_other_opened():
    walk = Walk(POLICIES["optimistic"], 9, 2, 0)
    taken = []
    for turn in range(8):
        pop = walk.frontier.pop_bound if turn % 2 else lambda t: walk.frontier.pop_order(np.inf, t)
        taken.append(int(pop(np.inf).chosen[-1]))
    assert len(set(taken)) == 8
    assert walk.frontier.pop_bound(np.inf) is None
    assert walk.frontier.pop_order(np.inf, np.inf) is None


def test_under_u_alone_the_best_child_keeps_every_candidate():
    frontier = Frontier(POLICIES["greedy"], np.inf)
    items = np.arange(5, dtype=np.int32)
    u = np.array([3.0, 1.0, 2.0, 5.0, 1.0])  # 1 and 4 tie
    frontier.push(np.empty(0, np.int32), Branches(0.0, items, np.zeros(5), u), 2)
    branch = frontier.pop_order(np.inf, np.inf)
    assert branch.priority == 1.0
    assert sorted([*branch.chosen, *branch.candidates]) == [0, 1, 2, 3, 4]


def test_worst_bound_keeps_the_most_candidates():
    frontier = Frontier(POLICIES["optimal"], np.inf)
    items = np.array([7, 3, 5], dtype=np.int32)
    f = np.array([2.0, 1.0, 3.0])
    frontier.push(np.empty(0, np.int32), Branches(0.0, items, f), 2)
    first, second = frontier.pop_bound(np.inf), frontier.pop_bound(np.inf)
    assert (first.bound, first.chosen.tolist(), first.candidates.tolist()) == (2.0, [7], [3])
    assert (second.bound, second.chosen.tolist()) == (3.0, [5])
    assert sorted(second.candidates.tolist()) == [3, 7]


def test_a_child_keeps_only_what_it_is_allowed():
    frontier = Frontier(POLICIES["optimal"], np.inf)
    items = np.array([4, 2, 7, 9], dtype=np.int32)
    allowed = np.ones((4, 4), dtype=bool)
    allowed[3, 1] = allowed[2, 0] = False
    branches = Branches(0.0, items, np.arange(4.0), partitioned=True, allowed=allowed)
    frontier.push(np.empty(0, np.int32), branches, 2)
    found = {}
    while (branch := frontier.pop_bound(np.inf)) is not None:
        found[int(branch.chosen[-1])] = branch.candidates.tolist()
        assert frontier.bound() > branch.bound
    assert found == {2: [4], 7: [2], 9: [4, 7]}


def test_an_infinite_bound_marks_a_child_as_done():
    frontier = Frontier(POLICIES["optimal"], np.inf)
    items, f = np.array([4, 2, 7], dtype=np.int32), np.array([1.0, np.inf, 3.0])
    frontier.push(np.empty(0, np.int32), Branches(0.0, items, f, partitioned=True), 2)
    branch = frontier.pop_bound(np.inf)
    assert (branch.chosen.tolist(), branch.candidates.tolist()) == ([7], [4, 2])
    assert frontier.pop_bound(np.inf) is None


def test_threshold_closes_branches():
    walk = Walk(POLICIES["optimal"], 30, 1, 0)
    bounds = drained(walk.frontier)
    below = [b for b in bounds if b < 2.0]
    assert 0 < len(below) < len(bounds)
    for expected in below:
        assert walk.frontier.pop_bound(2.0).bound == expected
    assert walk.frontier.pop_bound(2.0) is None


def test_limit_of_the_order_keeps_branches_open():
    walk = Walk(POLICIES["u"], 20, 1, 0)
    before = drained(walk.frontier)
    assert walk.frontier.pop_order(0.0, np.inf) is None
    assert drained(walk.frontier) == before


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("max_memory", [0.0, np.inf])
def test_a_restored_branch_is_as_it_was(policy, max_memory):
    walk = Walk(POLICIES[policy], 8, 3, 1, max_memory)
    branch = walk.pop(True)
    bound = min(branch.bound, walk.frontier.bound())
    n_open = walk.frontier.n_open
    walk.frontier.restore(branch)
    assert walk.frontier.bound() == bound
    assert walk.frontier.n_open == n_open + 1
    again = []
    while (other := walk.frontier.pop_bound(np.inf)) is not None:
        again.append((other.chosen.tolist(), other.candidates.tolist(), other.bound))
    assert (branch.chosen.tolist(), branch.candidates.tolist(), branch.bound) in again
    assert len(again) == n_open + 1


def test_memory_is_counted_and_returned():
    walk = Walk(POLICIES["optimal"], 200, 2, 0)
    assert walk.frontier.nbytes == walk.frontier.peak > 200 * 12
    while walk.frontier.pop_bound(np.inf) is not None:
        pass
    assert walk.frontier.nbytes == 0


def test_full_frontier_goes_depth_first():
    walk = Walk(POLICIES["optimal"], 12, 4, 0, max_memory=0.0)
    assert walk.frontier.full
    depths = []
    walk.run(lambda: False, lambda branch: depths.append(len(branch.chosen)))
    # Depth first: a deeper node follows its parent at once.
    assert depths[:4] == [1, 2, 3, 4]
    # One family per level, and no more than the children of one node in each.
    assert walk.frontier.peak < 4 * (1000 + 12 * 40)


def test_children_without_enough_candidates_do_not_exist():
    frontier = Frontier(POLICIES["optimal"], np.inf)
    items = np.arange(3, dtype=np.int32)
    frontier.push(np.empty(0, np.int32), Branches(0.0, items, np.ones(3)), 4)
    assert frontier.pop_bound(np.inf) is None
    assert (frontier.n_open, frontier.nbytes) == (0, 0)


@pytest.mark.parametrize("max_memory", [0.0, np.inf])
def test_parts_leave_by_bound(max_memory):
    frontier = Frontier(POLICIES["optimal"], max_memory)
    chosen, candidates = np.array([4], dtype=np.int32), np.arange(3, dtype=np.int32)
    hint = np.ones(3, dtype=np.float32)
    parts = [Part(chosen, candidates, 3.0, hint), Part(chosen[:0], candidates, 2.0, None)]
    frontier.push(chosen[:0], Branches(2.0, parts=parts), 3, 2.5)
    assert frontier.n_open == 2
    assert frontier.bound() == 2.5  # no part is below the node
    first = frontier.pop_bound(np.inf)
    assert (len(first.chosen), first.bound, first.hint) == (0, 2.5, None)
    frontier.restore(first)
    assert frontier.bound() == 2.5
    assert frontier.pop_bound(np.inf).bound == 2.5
    second = frontier.pop_bound(np.inf)
    assert second.bound == 3.0
    np.testing.assert_array_equal(second.hint, hint)
    assert frontier.n_open == 0
    assert frontier.pop_bound(np.inf) is None
    assert frontier.nbytes == 0


def test_bounds_that_are_not_numbers_close_nothing():
    frontier = Frontier(POLICIES["optimal"], np.inf)
    items = np.arange(4, dtype=np.int32)
    children = Branches(0.0, items, np.array([3.0, np.nan, 2.0, np.inf]), partitioned=True)
    frontier.push(items[:0], children, 1, floor=1.0)
    assert frontier.n_open == 3
    assert frontier.bound() == 1.0
