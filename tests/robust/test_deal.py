from __future__ import annotations

import numpy as np
import pytest

from columnist.robust._concentrate import concentrated_rows
from columnist.robust._contract import contract
from columnist.robust._deal import Needs, block_size, deal, evaluation_seconds, first_size, needs


def tail(M, top):
    return np.linalg.eigvalsh(M)[: max(len(M) - top, 0)].sum()


@pytest.fixture
def problem():
    """Rows contracted at an incumbent; two of them are not free."""
    X = np.random.default_rng(0).standard_normal((30, 4)) * [4.0, 2.0, 1.0, 1.0]
    kept = concentrated_rows(X, 1, 4, centred=True, rng=np.random.default_rng(0))
    free = np.ones(30, dtype=bool)
    free[[3, 8]] = False
    contraction = contract(X, kept, np.ones(30, dtype=bool), 1, True)
    return contraction, kept, free


def test_a_need_is_the_least_share_that_holds_a_row_in_place(problem):
    contraction, kept, free = problem
    needed = needs(contraction, kept, free)
    Y, top = contraction.rows, contraction.top
    A = Y[kept].T @ Y[kept]
    for row, need in zip(needed.rows, needed.values, strict=True):
        sign = -1.0 if kept[row] else 1.0
        limit = contraction.price * (1.0 - 0.1 * sign)
        limit = (limit + contraction.squares[row]) / 2.0
        square = np.outer(Y[row], Y[row])

        def held(w, square=square, sign=sign, limit=limit):
            return tail(w * A + sign * square, top) - tail(w * A, top) >= sign * limit

        if need < 2.0:  # found within the range
            assert held(need * 1.01)
        if need > 1e-4:
            assert not held(need * 0.99 / (2.0 / 1e-5) ** (2.0**-12))


def test_needs_are_of_the_free_rows_and_fall(problem):
    contraction, kept, free = problem
    needed = needs(contraction, kept, free)
    assert sorted(needed.rows) == list(np.flatnonzero(free))
    assert np.all(np.diff(needed.values) <= 0.0)


def test_needs_in_a_hurry(problem):
    needed = needs(*problem, lambda: True)
    assert sorted(needed.rows) == list(np.flatnonzero(problem[2]))


def test_a_row_far_within_needs_little():
    # Alone in its direction, a long row has high leverage; a short one is never in doubt.
    X = np.random.default_rng(1).standard_normal((40, 3)) * [3.0, 1.0, 1.0]
    X[0], X[1] = [30.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    kept = concentrated_rows(X, 1, 3, centred=False, rng=np.random.default_rng(0))
    assert kept[0] and kept[1]
    contraction = contract(X, kept, np.ones(40, dtype=bool), 1, False)
    needed = needs(contraction, kept, np.ones(40, dtype=bool))
    assert needed.rows[0] == 0 and needed.values[needed.rows == 1] == needed.values.min()
    assert needed.values[0] > 10.0 * needed.values.min()


def test_total():
    needed = Needs(np.arange(5), np.array([0.5, 0.4, 0.3, 0.2, 0.1]))
    assert needed.total(2) == pytest.approx(0.5 + 0.3 + 0.1)
    assert needed.total(5) == 0.5


def test_deal(problem):
    contraction, kept, free = problem
    needed = needs(contraction, kept, free)
    blocks = deal(contraction, kept, 4, needed, 6)
    assert [len(block.rows) for block in blocks.blocks] == [6, 6, 6, 6, 4]
    np.testing.assert_array_equal(
        np.concatenate([block.rows for block in blocks.blocks]), needed.rows
    )
    for block in blocks.blocks:
        np.testing.assert_array_equal(block.reference, ~kept[block.rows])
        assert block.sizes.max() == 4
    shares = np.array([np.trace(block.matrix) for block in blocks.blocks])
    np.testing.assert_allclose(shares / shares[0], needed.values[::6] / needed.values[0])
    assert blocks.imbalance() < 1e-10 * shares.sum() and blocks.k == 4


def test_blocks_are_smaller_where_tail_sums_are_dear():
    sizes = [block_size(200, d) for d in (3, 14, 30, 200)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == 10
    assert block_size(100_000, 60) == 2
    assert evaluation_seconds(40) > evaluation_seconds(10) > 0.0


def test_long_lists_begin_as_halves():
    assert [first_size(size) for size in (10, 9, 8, 7, 6, 2)] == [5, 4, 4, 7, 6, 2]
