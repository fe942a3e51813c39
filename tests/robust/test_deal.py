from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._concentrate import concentrated_rows
from columnist.robust._deal import (
    Needs,
    block_size,
    contract,
    deal,
    evaluation_seconds,
    first_size,
    needs,
)
from tests.oracles.outliers import best_rows, trimmed_error


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


# -- contraction ---------------------------------------------------------------------


def rows_tail(Y, top):
    sigma = np.linalg.svd(Y, compute_uv=False)
    return np.sum(sigma[top:] ** 2)


def incumbent(X, r, k, centred):
    """The best rows to keep."""
    kept = np.ones(len(X), dtype=bool)
    kept[list(best_rows(X, r, k, centering="optimal" if centred else "none")[1])] = False
    return kept


def everyone(X):
    return np.ones(len(X), dtype=bool)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3),
    st.sampled_from([0.0, 1e-4, 0.1, 0.5]), st.sampled_from([0.0, 3.0, 6.0]),
)  # fmt: skip
def test_no_set_has_an_error_below_what_its_tail_proves(seed, centred, r, loss, spread):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 4)) * 10.0 ** np.linspace(spread, 0.0, 4) + 3.0
    kept = np.ones(8, dtype=bool)
    kept[rng.choice(8, 2, replace=False)] = False
    contraction = contract(X, kept, everyone(X), r, centred, loss)
    for removed in combinations(range(8), 2):
        rows = np.delete(contraction.rows, removed, axis=0)
        error = trimmed_error(X, np.setdiff1d(np.arange(8), removed), r, centred)
        proven = contraction.proves(rows_tail(rows, contraction.top))
        assert proven <= error * (1.0 + 1e-9) + 1e-12 * np.sum(X * X)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3))
def test_the_incumbent_keeps_its_error(seed, centred, r):
    X = np.random.default_rng(seed).standard_normal((8, 4)) * [9.0, 3.0, 1.0, 1.0]
    kept = incumbent(X, r, 2, centred)
    contraction = contract(X, kept, everyone(X), r, centred)
    error = trimmed_error(X, kept, r, centred)
    assert contraction.top == r + centred
    assert rows_tail(contraction.rows[kept], contraction.top) == pytest.approx(error, rel=1e-10)


def test_leading_directions_shrink():
    X = np.random.default_rng(0).standard_normal((50, 4)) * [1e4, 1e2, 1.0, 0.9]
    kept = everyone(X)
    contraction = contract(X, kept, everyone(X), 2, False)
    scales = np.linalg.svd(contraction.rows, compute_uv=False) ** 2
    assert scales[0] <= 7.0 * scales[2] * (1.0 + 1e-9)
    assert trimmed_error(X, kept, 2, False) == pytest.approx(scales[2:].sum())


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.01, 0.2, 0.6]))
def test_directions_left_out_hold_what_is_said(seed, centred, loss):
    X = np.random.default_rng(seed).standard_normal((30, 6)) * [5, 3, 1, 0.3, 0.1, 0.1]
    kept = everyone(X)
    contraction = contract(X, kept, everyone(X), 2, centred, loss)
    assert 0.0 <= contraction.lost <= loss
    left = rows_tail(contraction.rows, contraction.top) / trimmed_error(X, kept, 2, centred)
    assert left == pytest.approx(1.0 - contraction.lost, rel=1e-9)
    # one direction more would have been too much
    spectrum = np.linalg.svd(X - X.mean(axis=0) if centred else X, compute_uv=False)[2:] ** 2
    dropped = 6 - (contraction.rows.shape[1] - centred)
    shares = np.cumsum(spectrum[::-1]) / spectrum.sum()
    assert shares[dropped] > loss and (dropped == 0 or shares[dropped - 1] <= loss * (1 + 1e-9))


@given(st.floats(1e-6, 1e6), st.floats(0.0, 1e-6), st.floats(1.0, 1.0 + 1e-6))
def test_needed_proves(error, drift, stretch):
    X = np.random.default_rng(0).standard_normal((5, 2))
    contraction = contract(X, everyone(X), everyone(X), 1, False)
    object.__setattr__(contraction, "drift", drift)
    object.__setattr__(contraction, "stretch", stretch)
    tail_sum = contraction.needed(error)
    assert error <= contraction.proves(tail_sum) <= error * (1.0 + 1e-13)
    assert contraction.proves(tail_sum * 0.99) < error


def test_inactive_rows_vanish():
    X = np.random.default_rng(0).standard_normal((8, 3)) + 5.0
    active = everyone(X)
    active[2] = False
    contraction = contract(X, active, active, 1, True)
    assert not contraction.rows[2].any() and contraction.rows[3].all()


def test_a_far_row_does_not_spoil_the_others():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[4] = 1e12
    kept = everyone(X)
    kept[4] = False
    contraction = contract(X, kept, everyone(X), 1, True)
    error = trimmed_error(X, kept, 1, True)
    assert contraction.proves(rows_tail(contraction.rows[kept], 2)) == pytest.approx(
        error, rel=1e-9
    )
    assert (
        np.linalg.norm(contraction.rows[4]) > np.linalg.norm(contraction.rows[kept], axis=1).max()
    )


def test_price_separates_kept_from_removed_rows():
    X = np.random.default_rng(1).standard_normal((12, 3))
    kept = incumbent(X, 1, 3, True)
    contraction = contract(X, kept, everyone(X), 1, True)
    Z = X - X[kept].mean(axis=0)
    axes = np.linalg.svd(Z[kept])[2][1:]
    np.testing.assert_allclose(contraction.squares, np.sum((Z @ axes.T) ** 2, axis=1), rtol=1e-10)
    nearest, farthest = contraction.squares[~kept].min(), contraction.squares[kept].max()
    assert contraction.price == pytest.approx((nearest + farthest) / 2.0)


def test_rows_of_low_rank():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 7))
    contraction = contract(X, everyone(X), everyone(X), 1, False)
    assert contraction.rows.shape == (10, 2)
    assert rows_tail(contraction.rows, 1) == pytest.approx(trimmed_error(X, everyone(X), 1, False))
