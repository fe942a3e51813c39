"""What a checker makes of constraints, judged by enumeration."""

import itertools

import numpy as np
import pytest

from columnist._verify_rules import Constraints, are_known
from columnist.constraints import AtMost, Budget, Groups
from tests.oracles.constrained import every_choice
from tests.strategies import random_constraints, random_size


def plain(constraint, n):
    """A constraint as a proof holds it."""
    given = constraint.resolve(n, None)
    if isinstance(given, Groups):
        return {"kind": "groups", "labels": list(given.labels)}
    if isinstance(given, Budget):
        return {"kind": "budget", "costs": list(given.costs), "budget": given.budget}
    if isinstance(given, AtMost):
        return {"kind": "at most", "columns": list(given.columns), "m": given.m}
    return {"kind": "requires", "column": given.column, "others": list(given.others)}


def random_problem(rng):
    """Constraints as they are read, and all selections that obey."""
    n = int(rng.integers(2, 9))
    constraints = random_constraints(rng, n)
    size, facts = random_size(rng, constraints, n), [plain(c, n) for c in constraints]
    assert are_known(facts, n)
    read = Constraints({"shape": [5, n], "size": size, "constraints": facts})
    return read, set(every_choice(n, constraints, size))


def random_node(rng, n):
    """Chosen columns and candidates."""
    part = rng.choice(3, n, p=[0.2, 0.65, 0.15])
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def check_node(read, chosen, candidates, there, rng):
    """Nothing is lost of a node, and no sum of scores is larger than it may be."""
    node = read.narrowed(chosen, candidates)
    if node is None:
        assert not there
        return
    chosen, candidates = node
    assert all(set(chosen) <= s <= {*chosen, *candidates} for s in there)
    scores = rng.random(len(candidates)) * 10.0 ** rng.integers(-3, 4)
    most, at = read.most(scores, chosen, candidates), {j: i for i, j in enumerate(candidates)}
    sums = {s: sum(scores[at[j]] for j in s - set(chosen)) for s in there}
    if not sums:
        return
    assert max(sums.values()) <= most.value
    assert max(map(len, sums)) - len(chosen) <= read.left(chosen, candidates)
    for j, i in at.items():
        with_it = [total for s, total in sums.items() if j in s]
        without = [total for s, total in sums.items() if j not in s]
        rounding = 1e-14 * most.value
        assert max(with_it, default=0.0) <= most.value - most.into[i] + rounding or not with_it
        assert max(without, default=0.0) <= most.value - most.out[i] + rounding or not without


def check_problem(seed):
    rng = np.random.default_rng(seed)
    read, every = random_problem(rng)
    subsets = (itertools.combinations(range(read.n), k) for k in range(read.n + 1))
    assert {s for s in itertools.chain.from_iterable(subsets) if read.obeys(s)} == every
    for _ in range(5):
        chosen, candidates = random_node(rng, read.n)
        inside, both = set(chosen), {*chosen, *candidates}
        there = {frozenset(s) for s in every if inside <= set(s) <= both}
        added = set(map(frozenset, read.between(chosen.tolist(), candidates.tolist())))
        assert added == there
        check_node(read, chosen, candidates, there, rng)


@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_random_constraints(seed):
    for one in range(seed, seed + 10):
        check_problem(one)


@pytest.mark.slow
def test_thousands_of_random_constraints():
    for seed in range(1000, 7000):
        check_problem(seed)


def test_the_best_price_is_found():
    """Without groups and counts the bound is that of a budget of which parts can be bought."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs, scores = 0.1 + rng.random(20), rng.random(20)
        budget = {"kind": "budget", "costs": costs.tolist(), "budget": 4.0}
        read = Constraints({"shape": [5, 20], "size": None, "constraints": [budget]})
        order = np.argsort(-scores / costs)
        shares = np.clip((4.0 - (np.cumsum(costs[order]) - costs[order])) / costs[order], 0.0, 1.0)
        best = float(scores[order] @ shares)
        found = read.most(scores, np.arange(0), np.arange(20)).value
        assert best <= found <= best * (1.0 + 1e-3)


def test_at_most_some_is_exact():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.random(20)
        few = {"kind": "at most", "columns": list(range(15)), "m": 2}
        read = Constraints({"shape": [5, 20], "size": 5, "constraints": [few]})
        best = max(
            np.sort(scores[:15])[::-1][:m].sum() + np.sort(scores[15:])[::-1][: 5 - m].sum()
            for m in range(3)
        )
        found = read.most(scores, np.arange(0), np.arange(20)).value
        assert best <= found <= best * (1.0 + 1e-3)


MALFORMED = [
    {}, None, [None], [[]], [{}], [{"kind": "nothing"}], [{"kind": 1}], [{"kind": ["groups"]}],
    [{"kind": "groups", "labels": [0, 1]}], [{"kind": "groups", "labels": [0, 1, 3]}],
    [{"kind": "groups", "labels": [0, 1, 1.0]}], [{"kind": "groups", "labels": [0, 1, True]}],
    [{"kind": "groups", "labels": "012"}], [{"kind": "groups", "labels": [0, 0, -1]}],
    [{"kind": "groups", "labels": [0, 1, 1], "more": 1}],
    2 * [{"kind": "groups", "labels": [0, 1, 1]}],
    [{"kind": "budget", "costs": [1, 1, 1]}], [{"kind": "budget", "costs": [1, 1], "budget": 1}],
    [{"kind": "budget", "costs": [1, 1, -1], "budget": 1}],
    [{"kind": "budget", "costs": [1, 1, float("nan")], "budget": 1}],
    [{"kind": "budget", "costs": [1, 1, 10**400], "budget": 1}],
    [{"kind": "budget", "costs": [1, 1, 1], "budget": float("inf")}],
    [{"kind": "budget", "costs": [1, 1, 1], "budget": "2"}],
    [{"kind": "budget", "costs": 3, "budget": 2}], [{"kind": "budget", "costs": {}, "budget": 2}],
    [{"kind": "at most", "columns": [0, 0], "m": 1}], [{"kind": "at most", "columns": [3], "m": 1}],
    [{"kind": "at most", "columns": [0], "m": -1}], [{"kind": "at most", "columns": [0], "m": 0.5}],
    [{"kind": "at most", "columns": [0], "m": 2**70}], [{"kind": "at most", "columns": 0, "m": 1}],
    [{"kind": "requires", "column": 3, "others": [0]}], [{"kind": "requires", "column": [0]}],
    [{"kind": "requires", "column": 0, "others": [None]}], 20_000 * [{"kind": "at most"}],
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(MALFORMED)))
def test_malformed_constraints(at):
    """Nothing but a plain False, or what is caught where a first line is read."""
    try:
        assert not are_known(MALFORMED[at], 3)
    except (KeyError, TypeError, ValueError):
        pass
