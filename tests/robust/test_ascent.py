from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist.robust._ascent import Ascent, refresh
from columnist.robust._blocks import Blocks, every_set
from columnist.robust._concentrate import concentrate
from columnist.robust._contract import contract
from columnist.robust._deal import deal, needs


def never():
    return False


@pytest.fixture
def dealt():
    """Blocks of twelve rows, the least tail sum of all sets and the incumbent's."""
    X = np.random.default_rng(0).standard_normal((12, 3)) * [3.0, 1.0, 1.0]
    kept = concentrate(X, 1, 3, centred=False, rng=np.random.default_rng(0))[1]
    everyone = np.ones(12, dtype=bool)
    contraction = contract(X, kept, everyone, 1, False)
    blocks = deal(contraction, kept, 3, needs(contraction, kept, everyone), 4)
    Y = contraction.rows
    least = min(
        np.sum(np.linalg.svd(np.delete(Y, removed, axis=0), compute_uv=False)[1:] ** 2)
        for removed in combinations(range(12), 3)
    )
    return blocks, least


def test_the_bound_rises_and_stays_below_every_set(dealt):
    blocks, least = dealt
    first, _ = Ascent(never).run(blocks, least, 1)
    ascent, bounds = Ascent(never), [first]
    for _ in range(10):
        bound, picks = ascent.run(blocks, least, 20)
        bounds.append(bound)
        assert bound - blocks.imbalance() <= least
        assert sum(b.sizes[p] for b, p in zip(blocks.blocks, picks, strict=True)) == 3
    assert np.all(np.diff(bounds) >= -1e-12 * least) and bounds[-1] > bounds[0]
    assert bounds[-1] > 0.8 * least


def test_the_sum_of_the_matrices_stays(dealt):
    blocks, least = dealt
    before = sum(block.matrix for block in blocks.blocks)
    Ascent(never).run(blocks, least, 50)
    after = sum(block.matrix for block in blocks.blocks)
    np.testing.assert_allclose(after, before, atol=1e-12 * np.linalg.norm(before))
    assert blocks.imbalance() < 1e-10 * np.linalg.norm(before)
    for block in blocks.blocks:
        np.testing.assert_allclose(
            block.matrix, block.matrix.T, atol=1e-13 * np.linalg.norm(block.matrix)
        )


def test_the_blocks_get_the_best_matrices(dealt):
    blocks, least = dealt
    bound, _ = Ascent(never).run(blocks, least, 50)
    tables = blocks.tables()
    refresh(tables, never)
    total, _, exact = tables.minimise(3, 10**6)
    assert exact and total == pytest.approx(bound, rel=1e-12)


def test_a_target_within_reach_ends_it(dealt):
    blocks, least = dealt
    target, _ = Ascent(never).run(blocks, least, 100)
    rows = [block.rows for block in blocks.blocks]
    Y, kept = blocks.data, blocks.kept
    again = Blocks(
        Y, 1, 3, kept,
        [every_set(r, ~kept[r], Y[kept].T @ Y[kept] / len(rows), 3) for r in rows],
    )  # fmt: skip
    bound, _ = Ascent(never).run(again, 0.5 * target, 1000)
    assert 0.5 * target <= bound < 0.9 * target


def test_the_next_run_goes_on_in_the_same_direction(dealt):
    blocks, least = dealt
    ascent = Ascent(never)
    ascent.run(blocks, least, 10)
    direction = ascent.direction
    assert direction.shape == (3, 3, 3) and np.abs(direction).max() > 0.0
    np.testing.assert_allclose(direction.sum(axis=0), 0.0, atol=1e-12)
    before = [block.matrix for block in blocks.blocks]
    first, _ = ascent.run(blocks, least, 1)  # a step, and back to the best
    assert not np.allclose(ascent.direction, direction)
    for block, matrix in zip(blocks.blocks, before, strict=True):
        np.testing.assert_allclose(block.matrix, matrix, atol=1e-13 * np.linalg.norm(matrix))
    blocks.pair(np.inf)  # fewer blocks: a fresh start
    assert ascent.run(blocks, least, 10)[0] >= first - 1e-9
    assert ascent.direction.shape == (2, 3, 3)


def test_it_is_exhausted_in_the_end(dealt):
    blocks, least = dealt
    ascent = Ascent(never)
    assert not ascent.exhausted
    ascent.run(blocks, 10.0 * least, 5000)  # out of reach
    assert ascent.exhausted


def test_no_time(dealt):
    blocks, least = dealt
    bound, picks = Ascent(lambda: True).run(blocks, least, 10)
    assert bound == -np.inf and len(picks) == 0
    looks = iter(range(6))
    bound, _ = Ascent(lambda: next(looks, None) is None).run(blocks, least, 1000)
    assert bound - blocks.imbalance() <= least


def test_refresh(dealt):
    blocks, _ = dealt
    tables = blocks.tables()
    assert not refresh(tables, lambda: True)
    assert refresh(tables, never)
    assert tables.n_evaluated == blocks.n_sets and np.isfinite(tables.bounds).all()
