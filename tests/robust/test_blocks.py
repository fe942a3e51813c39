from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._ascent import refresh
from columnist.robust._blocks import Blocks, every_set


def tail(M, top):
    return np.linalg.eigvalsh(M)[: max(len(M) - top, 0)].sum()


def error(Y, removed, top):
    """Tail sum of the rows that are not removed."""
    Z = np.delete(Y, list(removed), axis=0)
    return tail(Z.T @ Z, top)


def dealt(seed, n=9, d=3, size=3, k=3, top=1):
    """Blocks of random rows with random multipliers, their bounds up to date."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, d))
    kept = np.ones(n, dtype=bool)
    kept[rng.choice(n, k, replace=False)] = False
    parts = np.split(rng.permutation(n), range(size, n, size))
    L = rng.standard_normal((len(parts), d, d)) * 0.3
    L = L + L.transpose(0, 2, 1)
    L -= L.mean(axis=0)
    scatter = Y[kept].T @ Y[kept] / len(parts)
    blocks = [
        every_set(rows, ~kept[rows], scatter + L_b, k) for rows, L_b in zip(parts, L, strict=True)
    ]
    blocks = Blocks(Y, top, k, kept, blocks)
    up_to_date(blocks)
    return Y, blocks


def up_to_date(blocks):
    tables = blocks.tables()
    assert refresh(tables, lambda: False)
    blocks.update(tables)


def listed(blocks):
    """Every set of rows that takes one listed set of each block and removes k."""
    found = [frozenset()]
    for block in blocks.blocks:
        sets = [
            frozenset(block.removed) | frozenset(block.rows[members]) for members in block.members
        ]
        assert all(len(S) == size for S, size in zip(sets, block.sizes, strict=True))
        found = [one | other for one in found for other in sets]
    return {S for S in found if len(S) == blocks.k}


def all_sets(Y, k):
    return {frozenset(S) for S in combinations(range(len(Y)), k)}


def test_every_set():
    block = every_set(np.array([4, 7, 9]), np.array([True, False, False]), np.eye(2), 2)
    assert len(block) == 7  # all but the full set
    assert list(block.sizes) == [0, 1, 1, 1, 2, 2, 2]
    assert len(np.unique(block.members, axis=0)) == 7
    assert np.isneginf(block.bounds).all()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_sum_of_blocks_is_below_every_error(seed, top):
    Y, blocks = dealt(seed, top=top)
    assert listed(blocks) == all_sets(Y, 3)
    least = blocks.prune(np.inf)
    assert least - blocks.imbalance() <= min(error(Y, S, top) for S in all_sets(Y, 3))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.floats(0.0, 1.0))
def test_pruning_never_drops_a_better_set(seed, top, share):
    Y, blocks = dealt(seed, top=top)
    errors = {S: error(Y, S, top) for S in all_sets(Y, 3)}
    target = np.quantile(list(errors.values()), share)
    better = {S for S, e in errors.items() if e + blocks.imbalance() < target}
    total = blocks.prune(target)
    if total == np.inf:
        assert not better
    else:
        assert better <= listed(blocks)
        up_to_date(blocks)  # settled rows have moved into the matrices
        assert total - blocks.imbalance() <= min(errors[S] for S in listed(blocks)) + 1e-10


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_pruned_sets_belong_to_no_total_below_the_target(seed):
    # What is dropped is dropped rightly: enumerate all totals.
    _, blocks = dealt(seed)
    lists = [
        [
            (frozenset(block.rows[m]), bound)
            for m, bound in zip(block.members, block.bounds, strict=True)
        ]
        for block in blocks.blocks
    ]
    totals = {}
    for one in lists[0]:
        for two in lists[1]:
            for three in lists[2]:
                S = one[0] | two[0] | three[0]
                if len(S) == 3:
                    totals[S] = one[1] + two[1] + three[1]
    target = np.quantile(list(totals.values()), 0.2)
    blocks.prune(target)
    survivors = listed(blocks)
    assert {S for S, total in totals.items() if total < target * (1.0 - 1e-12)} <= survivors
    assert survivors  # the least total is among them
    # every surviving set of a block is part of some total below the target
    kept_by = [set() for _ in lists]
    for S, total in totals.items():
        if total < target + 1e-9:
            for b, sets in enumerate(lists):
                rows = frozenset().union(*(s for s, _ in sets))
                kept_by[b].add(S & rows)
    for b, block in enumerate(blocks.blocks):
        for members in block.members:
            S = frozenset(block.removed) | frozenset(block.rows[members])
            assert S in kept_by[b]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_merging_loses_no_set_and_no_bound(seed, top):
    Y, blocks = dealt(seed, top=top)
    before = blocks.prune(np.inf)
    blocks.merge(np.inf, 10**6)
    assert len(blocks.blocks) == 2 and listed(blocks) == all_sets(Y, 3)
    # inherited bounds are sums of the parts'; new ones are at least as high
    inherited = blocks.prune(np.inf)
    assert inherited <= before + 1e-12 and inherited == pytest.approx(before, abs=1e-9)
    up_to_date(blocks)
    assert blocks.prune(np.inf) >= before - 1e-9
    blocks.merge(np.inf, 10**6)
    up_to_date(blocks)
    errors = {S: error(Y, S, top) for S in all_sets(Y, 3)}
    only = blocks.blocks[0]
    assert len(blocks.blocks) == 1
    for members, bound, size in zip(only.members, only.bounds, only.sizes, strict=True):
        if size == 3:
            S = frozenset(only.removed) | frozenset(only.rows[members])
            assert bound == pytest.approx(errors[S], abs=1e-8)
            assert bound - blocks.imbalance() <= errors[S] + 1e-12


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_merging_under_a_target_keeps_better_sets(seed):
    Y, blocks = dealt(seed)
    errors = {S: error(Y, S, 1) for S in all_sets(Y, 3)}
    target = np.quantile(list(errors.values()), 0.3)
    better = {S for S, e in errors.items() if e + blocks.imbalance() < target}
    if blocks.prune(target) < np.inf:
        blocks.merge(target, 10**6)
        assert better <= listed(blocks)
    else:
        assert not better


def test_merging_stops_at_a_length_but_merges_something():
    _, blocks = dealt(0, n=12)
    blocks.merge(np.inf, 1)
    assert sorted(map(len, blocks.blocks))[:2] == [8, 8] and len(blocks.blocks) == 3
    assert blocks.least_product() == 64.0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(8, 10))
def test_pairs_are_of_neighbours_and_lose_nothing(seed, n):
    Y, blocks = dealt(seed, n=n)
    rows = [set(block.rows) for block in blocks.blocks]
    before = blocks.prune(np.inf)
    blocks.pair(np.inf)
    paired = [set().union(*rows[b : b + 2]) for b in range(0, len(rows), 2)]
    assert [set(block.rows) for block in blocks.blocks] == paired
    assert listed(blocks) == all_sets(Y, 3)
    assert blocks.prune(np.inf) == pytest.approx(before, abs=1e-9)
    assert blocks.imbalance() < 1e-9


def test_pairs_under_a_target_out_of_reach_list_nothing():
    _, blocks = dealt(0)
    blocks.prune(np.inf)
    blocks.pair(-1e6)
    assert blocks.least_product() == 0.0


@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.booleans())
def test_forced(seed, row, removed):
    _, blocks = dealt(seed)
    everything = listed(blocks)
    forced = blocks.forced(row, removed)
    assert listed(forced) == {S for S in everything if (row in S) == removed}
    forced.prune(np.inf)
    assert listed(forced) == {S for S in everything if (row in S) == removed}
    assert listed(blocks) == everything  # the original is as it was
    up_to_date(forced)
    assert forced.evaluations and forced.imbalance() < 1e-10


def test_settled_rows_move_into_the_matrices():
    _, blocks = dealt(4)
    kept = blocks.kept.copy()
    block = blocks.blocks[0]
    block.keep((block.members[:, 0]) & (~block.members[:, 1]))
    gone, back = block.rows[0], block.rows[1]
    bounds = block.bounds.copy()
    blocks.prune(np.inf)
    assert gone in block.removed and back not in block.rows and gone not in block.rows
    assert not blocks.kept[gone] and blocks.kept[back]
    others = np.setdiff1d(np.arange(9), [gone, back])
    np.testing.assert_array_equal(blocks.kept[others], kept[others])
    assert blocks.imbalance() < 1e-12
    np.testing.assert_allclose(block.bounds, bounds, atol=1e-10)
    assert np.all(block.bounds <= bounds)


def test_imbalance_is_what_the_matrices_miss():
    _, blocks = dealt(5)
    assert blocks.imbalance() < 1e-12
    E = np.diag([0.5, -0.25, 0.0])
    blocks.blocks[1].matrix = blocks.blocks[1].matrix + E
    assert 0.75 <= blocks.imbalance() <= np.sqrt(3) * np.linalg.norm(E) + 1e-10


def test_an_empty_block_ends_it():
    _, blocks = dealt(6)
    assert blocks.prune(-np.inf) == np.inf
    assert blocks.prune(np.inf) == np.inf


def test_removed_rows():
    _, blocks = dealt(7)
    blocks.prune(np.inf)
    picks = [1, 2, 0]
    expected = set()
    for block, pick in zip(blocks.blocks, picks, strict=True):
        expected |= set(block.rows[block.members[pick]])
    assert set(blocks.removed_rows(picks)) == expected


def test_least():
    _, blocks = dealt(0)
    up_to_date(blocks)
    for row, block in zip(blocks.least(), blocks.blocks, strict=True):
        for size, least in enumerate(row):
            assert least == block.bounds[block.sizes == size].min(initial=np.inf)
