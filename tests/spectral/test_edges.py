"""Nearest rows by class against all distances; sums over edges against plain sums."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from columnist.spectral._edges import NearestByClass, edge_sums, sparse_edge_sums


def random_graph(n, rng):
    A = np.where(rng.random((n, n)) < 0.4, rng.normal(size=(n, n)), 0.0)
    return sp.csr_matrix(A + A.T)


def forms(S, X):
    """f'Lf of every column f, from the edges i < j."""
    S = sp.csr_matrix(sp.triu(S, 1))
    return edge_sums(
        S.indptr.astype(np.intc), S.indices.astype(np.intc), S.data.astype(float), X, squared=True
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from([0, 1, 7, 511, 512, 513]))
def test_sums_over_edges(seed, n, m):
    rng = np.random.default_rng(seed)
    S, X = random_graph(n, rng), rng.normal(size=(n, m))
    A = S.toarray()
    expected = np.diag(X.T @ (np.diag(A.sum(axis=1)) - A) @ X)
    np.testing.assert_allclose(forms(S, X), expected, atol=1e-10)
    single = X.astype(np.float32)
    np.testing.assert_allclose(forms(S, single), forms(S, single.astype(float)), rtol=1e-12)
    apart = np.hstack([X, X])[:, :m]
    np.testing.assert_allclose(forms(S, apart), forms(S, X), rtol=1e-12, atol=1e-12)


def test_nothing_cancels_far_from_zero():
    rng = np.random.default_rng(0)
    S, X = random_graph(8, rng), np.round(rng.normal(size=(8, 3)), 3)
    np.testing.assert_allclose(forms(S, X + 2.0**30), forms(S, X), rtol=1e-3)
    np.testing.assert_array_equal(forms(S, np.full((8, 2), 0.1)), 0.0)


def test_a_graph_without_edges():
    np.testing.assert_array_equal(forms(sp.csr_matrix((3, 3)), np.ones((3, 2))), 0.0)


def test_rows_must_be_contiguous():
    with pytest.raises(ValueError, match="contiguous"):
        forms(sp.csr_matrix((3, 3)), np.asfortranarray(np.ones((3, 2))))


def all_met(X, sizes, size, *, order=None, grid=2.0**-40, low=None, scale=None, ranges=None):
    """The table of neighbours after all rows have met."""
    n, m = X.shape
    nearest = NearestByClass(
        X,
        np.zeros(m) if low is None else low,
        np.ones(m) if scale is None else scale,
        np.arange(n) if order is None else order,
        np.append(0, np.cumsum(sizes)),
        size,
        grid,
    )
    for pair in ranges or [(0, n, 0, n)]:
        nearest.meet(*pair)
    return nearest.positions


def by_sorting(Z, sizes, size):
    """Positions by class, sorted; the row itself and what a class lacks become n at its end."""
    n = len(Z)
    distances = cdist(Z, Z, "cityblock")
    starts = np.append(0, np.cumsum(sizes))
    table = []
    for i in range(n):
        row = []
        for first, stop in pairwise(starts):
            others = [j for j in range(first, stop) if j != i]
            near = sorted(others, key=lambda j: (distances[i, j], j))[:size]
            lacking = min(size, stop - first) - len(near)
            row += sorted(near) + [n] * lacking
        table.append(row)
    return np.array(table)


def ordered(table, sizes, size):
    """The table with the entries of every class in ascending order."""
    cuts = np.cumsum(np.minimum(size, sizes))[:-1]
    return np.hstack([np.sort(part, axis=1) for part in np.split(table, cuts, axis=1)])


# Shapes at and around the panels of 8 rows, the tiles of 128 rows and the strips of 128 features.
@pytest.mark.parametrize("m", [1, 127, 128, 300])
@pytest.mark.parametrize("n", [4, 9, 128, 133, 260])
def test_nearest(n, m):
    rng = np.random.default_rng(n + m)
    X = rng.standard_normal((n, m))
    sizes = [n // 4, n // 2, n - n // 4 - n // 2]
    size = 3
    table = ordered(all_met(X, sizes, size), sizes, size)
    np.testing.assert_array_equal(table, by_sorting(X, sizes, size))


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 8), min_size=1, max_size=4),
    st.integers(1, 10),
    st.integers(1, 4),
)
def test_ties_go_to_the_smaller_position(seed, sizes, size, m):
    # Small integers: many equal distances, all of them exact.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (sum(sizes), m)).astype(float)
    table = ordered(all_met(X, sizes, size), sizes, size)
    np.testing.assert_array_equal(table, by_sorting(X, sizes, size))


def test_rounding_decides_nothing():
    # 0.1 + 0.2 and 0.3 differ by rounding; the row that comes first is as near.
    X = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.0], [9.0, 9.0]])
    assert 0.1 + 0.2 > 0.3
    assert all_met(X, [4], 1)[0, 0] == 1
    assert all_met(X, [4], 1, grid=2.0**-60)[0, 0] == 2


def test_shift_scale_and_order():
    rng = np.random.default_rng(0)
    X, low, scale = rng.random((50, 7)), rng.random(7), rng.random(7)
    scale[2] = 0.0
    order = rng.permutation(50)
    table = all_met(X, [20, 30], 4, order=order, low=low, scale=scale)
    expected = by_sorting(((X - low) * scale)[order], [20, 30], 4)
    np.testing.assert_array_equal(ordered(table, [20, 30], 4), expected)


@pytest.mark.parametrize("m", [1, 200, 4000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows(m, dtype):
    rng = np.random.default_rng(m)
    X = sp.random(150, m, min(1.0, 40 / m), format="csr", dtype=dtype, rng=rng)
    X.data[::2] *= -1
    sizes, order, scale = [50, 100], rng.permutation(150), rng.random(m)
    table = all_met(X, sizes, 4, order=order, scale=scale)
    expected = by_sorting((X.toarray() * scale)[order], sizes, 4)
    np.testing.assert_array_equal(ordered(table, sizes, 4), expected)


def test_what_is_subtracted_from_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (30, 3)).astype(float)
    X[:, 1] *= rng.random(30) < 0.5
    low = np.array([5.0, 0.0, 2.0])  # of columns without zeros only
    table = all_met(sp.csr_array(X), [10, 20], 3, low=low)
    np.testing.assert_array_equal(ordered(table, [10, 20], 3), by_sorting(X, [10, 20], 3))


def test_single_precision_data_are_compared_in_double_precision():
    # One feature decides, by less than single precision resolves at the size of the distances.
    rng = np.random.default_rng(0)
    X = rng.random((140, 150)).astype(np.float32)
    X[1], X[2], X[3] = X[0] + 1, X[0] + 1, X[0] + 1
    X[:4, 0] = [0.0, 3e-7, 2e-7, 1e-7]
    X[4:, 0] = 500.0
    table = all_met(X, [140], 1)
    np.testing.assert_array_equal(table, all_met(X.astype(float), [140], 1))
    assert table[0, 0] == 3


@pytest.mark.parametrize("cuts", [(0, 100, 300), (0, 7, 150, 300), (0, 128, 129, 256, 300)])
def test_the_order_of_meetings_does_not_matter(cuts):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (300, 3)).astype(float)
    ranges = list(pairwise(cuts))
    pairs = [a + b for k, a in enumerate(ranges) for b in ranges[: k + 1]]
    sizes = [100, 200]
    whole = ordered(all_met(X, sizes, 5), sizes, 5)
    np.testing.assert_array_equal(ordered(all_met(X, sizes, 5, ranges=pairs), sizes, 5), whole)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 5, 512, 1100])
def test_sums_of_differences(m, dtype):
    rng = np.random.default_rng(m)
    X = rng.standard_normal((9, m)).astype(dtype)
    W = sp.random(9, 9, 0.4, format="csr", rng=rng)
    W.data -= 0.5
    expected = sum(
        w * np.abs(X[i].astype(float) - X[j]) for i, j, w in zip(*sp.find(W), strict=True)
    )
    np.testing.assert_allclose(
        edge_sums(W.indptr, W.indices, W.data, X), expected, rtol=0, atol=1e-14
    )
    np.testing.assert_array_equal(  # some columns
        edge_sums(W.indptr, W.indices, W.data, X[:, m // 2 :]),
        edge_sums(W.indptr, W.indices, W.data, X)[m // 2 :],
    )


def test_sums_of_differences_of_sparse_rows():
    rng = np.random.default_rng(0)
    X = sp.random(20, 30, 0.3, format="csr", rng=rng)
    X.data -= 0.5
    W = sp.random(20, 20, 0.4, format="csr", rng=rng)
    graph, rows = (W.indptr, W.indices, W.data), (X.indptr.astype(np.intp), X.indices, X.data)
    np.testing.assert_allclose(
        sparse_edge_sums(*graph, *rows, 30),
        edge_sums(*graph, X.toarray()),
        rtol=0,
        atol=1e-13,
    )


def test_rows_of_differences_must_be_contiguous():
    W = sp.csr_matrix((3, 3))
    with pytest.raises(ValueError, match="contiguous"):
        edge_sums(W.indptr, W.indices, W.data, np.asfortranarray(np.eye(3)))
