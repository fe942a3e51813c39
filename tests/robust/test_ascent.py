from __future__ import annotations

import threading
from itertools import combinations

import numpy as np
import pytest

from columnist.robust import RobustPCA
from columnist.robust import _ascent as team_module
from columnist.robust._ascent import Ascent, Team, refresh
from columnist.robust._blocks import Blocks, every_set
from columnist.robust._concentrate import concentrated_rows
from columnist.robust._deal import contract, deal, needs
from tests.robust.samples import contaminated


def never():
    return False


@pytest.fixture
def dealt():
    """Blocks of twelve rows, the least tail sum of all sets and the incumbent's."""
    X = np.random.default_rng(0).standard_normal((12, 3)) * [3.0, 1.0, 1.0]
    kept = concentrated_rows(X, 1, 3, centred=False, rng=np.random.default_rng(0))
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


# -- threads share out blocks without changing a bit ---------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_part_once(n_jobs, count):
    seen = np.zeros(count, dtype=int)

    def work(first, last, worker):
        assert 0 <= worker < n_jobs
        seen[first:last] += 1

    with Team(n_jobs) as team:
        team.share(count, 1.0, work)
    assert (seen == 1).all()


def test_short_work_stays_here():
    threads = []
    with Team(2) as team:
        team.share(4, 1e-6, lambda *part: threads.append(threading.current_thread()))
    assert threads == [threading.current_thread()]


def test_errors_come_through():
    def fail(first, last, worker):
        raise ValueError("no")

    with Team(2) as team, pytest.raises(ValueError, match="no"):
        team.share(2, 1.0, fail)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(team_module, "_SHORT", 0.0)
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    X, _ = contaminated(70, 6, 2, 5, np.random.default_rng(0), noise=1.0)
    found = []
    for n_jobs in (1, 2, 3):
        fitted = RobustPCA(2, n_outliers=8, random_state=0, max_nodes=12, n_jobs=n_jobs).fit(X)
        entries = [
            {key: value for key, value in entry.items() if key != "elapsed"}
            for entry in fitted.certificate_.history
        ]
        found.append((fitted.outliers_.tolist(), fitted.certificate_.lower_bound, entries))
    assert found[0] == found[1] == found[2]
    assert len(found[0][2]) > 3
