"""What remains possible at a node, and the most that scores reach there, against enumeration."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from columnist.constraints import Budget
from columnist.selection._rules import Rules
from tests.oracles.constrained import every_choice
from tests.strategies import random_constraints, random_size


def between(choices, chosen, candidates):
    """Choices that contain the one and have nothing beside the other."""
    inside, there = set(chosen.tolist()), {*chosen.tolist(), *candidates.tolist()}
    return [c for c in choices if inside <= set(c) <= there]


@pytest.mark.parametrize("seed", range(150))
def test_no_choice_and_no_sum_is_lost(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    constraints = random_constraints(rng, n)
    size = random_size(rng, constraints, n)
    choices = every_choice(n, constraints, size)
    rules = Rules.of(constraints, n, None).sized(size)
    everything = chain.from_iterable(combinations(range(n), k) for k in range(n + 1))
    assert [s for s in everything if s and rules.obeys(s)] == choices
    for _ in range(10):
        order, cut = rng.permutation(n), np.sort(rng.integers(0, n + 1, 2))
        chosen = np.sort(order[: cut[0] // 2]).astype(np.int32)
        candidates = np.sort(order[cut[0] // 2 : cut[1]]).astype(np.int32)
        left = between(choices, chosen, candidates)
        narrowed = rules.narrowed(chosen, candidates)
        if narrowed is None:
            assert not left
            continue
        assert between(choices, *narrowed) == left
        if len(narrowed[1]):
            check_sums(rules, *narrowed, left, rng)


def check_sums(rules: Rules, chosen, candidates, left, rng) -> None:
    """The maximum, with every candidate and without, and how many columns may be added."""
    node = rules.node(chosen, candidates)
    added = [np.isin(candidates, choice) for choice in left]
    assert all(which.sum() <= node.most_columns for which in added)
    for scores in (rng.random(len(candidates)), rng.integers(0, 3, len(candidates)) * 1.0):
        most = node.maximum(scores)
        tol = 1e-9 * (1.0 + scores.sum())
        for which in added:
            total = float(scores[which].sum())
            assert total <= most.value + tol
            assert (total <= most.value - most.loss_in[node.units[which]] + tol).all()
            assert (total <= most.value - most.loss_out[node.units[~which]] + tol).all()


def test_one_budget_is_a_fractional_knapsack():
    rules = Rules.of([Budget([2.0, 3.0, 4.0], 5.0)], 3, None)
    node = rules.node(np.empty(0, dtype=np.int32), np.arange(3, dtype=np.int32))
    most = node.maximum(np.array([4.0, 3.0, 2.0]))
    assert most.value == pytest.approx(7.0)
    assert node.most_columns == 2
    assert node.maximum(np.array([4.0, 3.0, 5.0])).value == pytest.approx(4.0 + 3.75)
