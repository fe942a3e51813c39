from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._tails import BlockTables, least_elsewhere, rank_one_tails


def tail(M, top):
    """Sum of all but the ``top`` largest eigenvalues."""
    return np.linalg.eigvalsh(M)[: max(len(M) - top, 0)].sum()


def exact_tail(M, top):
    """The same in many digits; M is a matrix of exact numbers."""
    values = sorted(mpmath.eigsy(M, eigvals_only=True))
    return mpmath.fsum(values[: max(len(M) - top, 0)])


def symmetric(d, rng, spread=0.0):
    """A random symmetric matrix whose eigenvalues differ by up to 10 ** spread."""
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    M = (Q * (rng.standard_normal(d) * 10.0 ** np.linspace(0.0, -spread, d))) @ Q.T
    return (M + M.T) / 2.0


def every_mask(m):
    return np.array(list(product([False, True], repeat=m)))


def tables_of(Y, top, parts, matrices, references):
    """Tables of blocks that list all sets of their rows; also the sets, ascending by size."""
    lists, blocks = [], []
    for rows, R, reference in zip(parts, matrices, references, strict=True):
        masks = every_mask(len(rows))
        masks = masks[np.argsort(masks.sum(axis=1), kind="stable")]
        weights = 2 ** np.arange(len(rows), dtype=np.uint64)
        blocks.append(
            (
                np.array(rows, dtype=np.int32),
                (masks @ weights).astype(np.uint64)[:, None],
                np.array([reference @ weights], dtype=np.uint64),
                masks.sum(axis=1),
                np.full(len(masks), -np.inf),
                R,
            )
        )
        lists.append(masks)
    return lists, BlockTables(Y, top, blocks)


def matrix_of(Y, rows, R, reference, removed):
    """M_S as defined."""
    M = R.copy()
    for row, was, now in zip(rows, reference, removed, strict=True):
        M += (float(was) - float(now)) * np.outer(Y[row], Y[row])
    return M


def case(seed, d=4, top=1, sizes=(3, 2, 4), spread=0.0):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((sum(sizes), d))
    parts = np.split(np.arange(len(Y)), np.cumsum(sizes)[:-1])
    matrices = [symmetric(d, rng, spread) for _ in sizes]
    references = [rng.random(m) < 0.3 for m in sizes]
    return Y, top, parts, matrices, references


# -- tail sums ----------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 9))
def test_tails_are_superadditive(seed, d, top):
    rng = np.random.default_rng(seed)
    M, N = symmetric(d, rng), symmetric(d, rng)
    assert tail(M + N, top) >= tail(M, top) + tail(N, top) - 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 9))
def test_rank_one_tails(seed, d, top):
    rng = np.random.default_rng(seed)
    M, Y = symmetric(d, rng), rng.standard_normal((5, d))
    weights, signs = rng.random(5), rng.choice([-1.0, 1.0], 5)
    expected = [
        tail(w * M + s * np.outer(y, y), top) for w, s, y in zip(weights, signs, Y, strict=True)
    ]
    np.testing.assert_allclose(rank_one_tails(M, Y, weights, signs, top), expected, atol=1e-12)


@pytest.mark.parametrize("d", [63, 64, 65, 80])
def test_tails_of_larger_matrices(d):
    rng = np.random.default_rng(d)
    M, Y = symmetric(d, rng), rng.standard_normal((3, d))
    expected = [tail(0.5 * M + np.outer(y, y), 4) for y in Y]
    found = rank_one_tails(M, Y, np.full(3, 0.5), np.ones(3), 4)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("exponent", [-200, -161, -160, -150, -140])
def test_entries_that_vanish_when_squared(exponent):
    # Next to entries of order one they do not matter; they must not spoil the reduction.
    M = symmetric(6, np.random.default_rng(0))
    M[3:, :3] = M[:3, 3:] = 10.0**exponent
    expected = tail(M, 2)
    assert rank_one_tails(M, np.zeros((1, 6)), np.ones(1), np.ones(1), 2)[0] == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("top", [0, 1, 3, 12])
def test_bounds_of_all_sets(d, top):
    Y, _, parts, matrices, references = case(d, d=d)
    lists, tables = tables_of(Y, top, parts, matrices, references)
    for b, masks in enumerate(lists):
        tables.evaluate(b, tables.starts[b], tables.starts[b + 1])
        expected = [tail(matrix_of(Y, parts[b], matrices[b], references[b], S), top) for S in masks]
        found = tables.bounds[tables.starts[b] : tables.starts[b + 1]]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        assert np.all(found <= np.array(expected) + 1e-13)
    assert tables.n_evaluated == sum(map(len, lists))


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(0, 3),
    st.sampled_from([0.0, 8.0, 16.0]), st.sampled_from([0.0, 4.0, 8.0]),
)  # fmt: skip
def test_allowance_covers_rounding(seed, d, top, spread, length):
    # Graded matrices and rows far longer than they: no bound may exceed the exact tail sum.
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((4, d)) * 10.0 ** rng.uniform(-length, length, 4)[:, None]
    R, reference = symmetric(d, rng, spread), rng.random(4) < 0.5
    lists, tables = tables_of(Y, top, [range(4)], [R], [reference])
    tables.evaluate(0, 0, 16)
    with mpmath.workdps(60):
        for S, bound in zip(lists[0], tables.bounds, strict=True):
            M = mpmath.matrix(R.tolist())
            for row in range(4):
                y = mpmath.matrix(Y[row].tolist())
                M += (int(reference[row]) - int(S[row])) * (y * y.T)
            assert mpmath.mpf(float(bound)) <= exact_tail(M, top)


def test_allowance_is_small():
    Y, top, parts, matrices, references = case(0, d=30)
    lists, tables = tables_of(Y, top, parts, matrices, references)
    tables.evaluate(0, 0, 8)
    for S, bound in zip(lists[0], tables.bounds[:8], strict=True):
        expected = tail(matrix_of(Y, parts[0], matrices[0], references[0], S), top)
        assert expected - bound < 1e-9 * np.linalg.norm(matrices[0])


# -- shifting -----------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_shifted_bounds_stay_below(seed, top):
    Y, _, parts, matrices, references = case(seed)
    rng = np.random.default_rng(seed)
    lists, tables = tables_of(Y, top, parts, matrices, references)
    for b in range(3):
        tables.evaluate(b, tables.starts[b], tables.starts[b + 1])
    moved = np.array([R + 0.3 * symmetric(4, rng) for R in matrices])
    moved[1] = matrices[1]
    tables.shift(moved)
    np.testing.assert_array_equal(tables.matrices, moved)
    for b, masks in enumerate(lists):
        expected = np.array(
            [tail(matrix_of(Y, parts[b], moved[b], references[b], S), top) for S in masks]
        )
        place = slice(tables.starts[b], tables.starts[b + 1])
        assert np.all(tables.bounds[place] <= expected + 1e-12)
        before = tables.n_evaluated
        tables.evaluate(b, tables.starts[b], tables.starts[b + 1])
        np.testing.assert_allclose(tables.bounds[place], expected, atol=1e-10)
        assert (tables.n_evaluated == before) == (b == 1)  # what did not move stays exact


# -- programmes ---------------------------------------------------------------------


def brute_least(least, k, skip=None):
    """Least total with k removals, by trying all."""
    table = [row for b, row in enumerate(least) if b != skip]
    totals = [
        sum(row[j] for row, j in zip(table, sizes, strict=True))
        for sizes in product(range(k + 1), repeat=len(table))
        if sum(sizes) == k
    ]
    return min(totals, default=np.inf)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 4), st.integers(0, 4))
def test_least_elsewhere(seed, n_blocks, k, width):
    rng = np.random.default_rng(seed)
    least = rng.standard_normal((n_blocks, width + 1))
    least[rng.random(least.shape) < 0.25] = np.inf
    others, totals = least_elsewhere(least, k)
    assert others.shape == least.shape and totals.shape == (k + 1,)
    padded = np.pad(least, ((0, 0), (0, k)), constant_values=np.inf)[:, : k + 1]
    for j in range(k + 1):
        exact = brute_least(padded[:, : j + 1], j)
        assert totals[j] == pytest.approx(exact, rel=1e-12, abs=1e-12)
        assert totals[j] <= exact
    for b in range(n_blocks):
        for j in range(width + 1):  # removals in block b
            left = k - j
            exact = np.inf
            if left >= 0 and n_blocks > 1:
                exact = brute_least(padded[:, : left + 1], left, skip=b)
            elif left == 0:
                exact = 0.0
            assert others[b, j] == pytest.approx(exact, rel=1e-12, abs=1e-12)
            assert others[b, j] <= exact


def brute_minimum(Y, top, parts, matrices, references, lists, k):
    costs = [
        [tail(matrix_of(Y, rows, R, reference, S), top) for S in masks]
        for rows, R, reference, masks in zip(parts, matrices, references, lists, strict=True)
    ]
    sizes = [masks.sum(axis=1) for masks in lists]
    return min(
        sum(cost[i] for cost, i in zip(costs, picks, strict=True))
        for picks in product(*map(range, map(len, lists)))
        if sum(size[i] for size, i in zip(sizes, picks, strict=True)) == k
    )


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 4))
def test_minimise(seed, k, top):
    Y, _, parts, matrices, references = case(seed, sizes=(2, 3, 2))
    lists, tables = tables_of(Y, top, parts, matrices, references)
    best = brute_minimum(Y, top, parts, matrices, references, lists, k)
    total, _, exact = tables.minimise(k, 1)
    assert total <= best + 1e-12
    total, picks, exact = tables.minimise(k, 10**6)
    assert exact and total == pytest.approx(best, rel=1e-9, abs=1e-9)
    chosen = [lists[b][pick - tables.starts[b]] for b, pick in enumerate(picks)]
    assert sum(S.sum() for S in chosen) == k
    assert sum(
        tail(matrix_of(Y, parts[b], matrices[b], references[b], S), top)
        for b, S in enumerate(chosen)
    ) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_minimise_evaluates_few_sets_after_a_small_shift():
    Y, top, parts, matrices, references = case(1, sizes=(6, 6, 6))
    _, tables = tables_of(Y, top, parts, matrices, references)
    for b in range(3):
        tables.evaluate(b, tables.starts[b], tables.starts[b + 1])
    before = tables.n_evaluated
    tables.shift(np.array(matrices) * (1.0 + 1e-9))
    tables.minimise(4, 10**6)
    assert 0 < tables.n_evaluated - before < 30


def test_minimise_without_a_choice():
    Y, top, parts, matrices, references = case(0)
    _, tables = tables_of(Y, top, parts, matrices, references)
    total, picks, exact = tables.minimise(10, 10**6)
    assert total == np.inf and len(picks) == 0 and exact


@pytest.mark.parametrize("top", [0, 1, 3, 4])
def test_top_projectors(top):
    Y, _, parts, matrices, references = case(3)
    lists, tables = tables_of(Y, top, parts, matrices, references)
    picks = tables.starts[:-1] + 1
    out = np.empty((3, 4, 4))
    tables.top_projectors(picks, out)
    for b, masks in enumerate(lists):
        M = matrix_of(Y, parts[b], matrices[b], references[b], masks[1])
        V = np.linalg.eigh(M)[1][:, 4 - top :]
        np.testing.assert_allclose(out[b], V @ V.T, atol=1e-10)


def test_more_rows_than_bits_in_a_word():
    # 70 rows: two words per mask.
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((70, 3))
    members = np.zeros((3, 70), dtype=bool)
    members[1, [2, 66]] = True
    members[2, [0, 63, 64, 69]] = True
    reference = np.zeros(70, dtype=bool)
    reference[[63, 65]] = True
    packed = np.zeros((4, 16), dtype=np.uint8)
    packed[:, :9] = np.packbits(np.vstack([members, reference]), axis=1, bitorder="little")
    words = packed.view("<u8").astype(np.uint64)
    R = Y[~reference].T @ Y[~reference]
    tables = BlockTables(
        Y, 1,
        [(np.arange(70, dtype=np.int32), words[:3], words[3], members.sum(axis=1),
          np.full(3, -np.inf), R)],
    )  # fmt: skip
    tables.evaluate(0, 0, 3)
    expected = [tail(Y[~S].T @ Y[~S], 1) for S in members]
    np.testing.assert_allclose(tables.bounds, expected, rtol=1e-10)
