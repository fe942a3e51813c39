"""Moments in one pass, against all rows at once and exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._moments import merged_moments, moments_of


def data(m: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)) @ rng.standard_normal((n, n))


def cut(X, places):
    edges = [0, *sorted(min(p, X.shape[0]) for p in places), X.shape[0]]
    return [X[a:b] for a, b in pairwise(edges)]


def merged(X, places, fan_in: int = 8):
    parts = [moments_of(block) for block in cut(X, places) if block.shape[0]]
    while len(parts) > 1:
        parts = [merged_moments(parts[i : i + fan_in]) for i in range(0, len(parts), fan_in)]
    return parts[0]


places = st.lists(st.integers(0, 200), max_size=12)


@given(places, st.integers(2, 5), st.sampled_from([1, 3, 60, 200]), st.floats(-1e5, 1e5))
@settings(max_examples=60)
def test_any_cut_and_any_tree_give_the_same(where, fan_in, m, offset):
    X = data(m, 4) + offset * np.array([1.0, 0.0, -1.0, 0.5])
    found = merged(X, where, fan_in)
    assert found.count == m
    spread = np.abs(X).max()
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-13 * spread)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(found.covariance(), centred.T @ centred / m, atol=1e-13 * spread**2)
    np.testing.assert_allclose(found.gram(), X.T @ X, rtol=1e-11, atol=1e-12 * m * spread**2)


def exact_covariance(X) -> np.ndarray:
    rows = [[Fraction(float(v)) for v in row] for row in X]
    m, n = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / m for j in range(n)]
    return np.array(
        [
            [float(sum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) / m) for j in range(n)]
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("height", [1, 7, 100])
def test_large_means_cost_no_digits(offset, height):
    """What is lost is what rounding of the entries themselves may change.

    The textbook formula E[xx'] - mean mean' would be wrong from the first digit on.
    """
    X = data(100, 3) + offset
    found = merged(X, range(0, 100, height)).covariance()
    last_place = np.spacing(np.abs(X).max())
    atol = 4 * last_place * X.std(axis=0).max()
    np.testing.assert_allclose(found, exact_covariance(X), rtol=1e-12, atol=atol)


@pytest.mark.parametrize("copies", [1, 2])
def test_sums_of_many_large_numbers(copies):
    """Means of so many rows round by more than the rows differ; what is left of them counts."""
    X = np.random.default_rng(0).standard_normal((100_000, 2)).round(3) + 1e11
    X = X[:, [0, 1] * copies]  # independent columns are squared, copies are not
    found = merged(X, [40_000]).covariance()[:2, :2]
    expected = np.cov((X[:, :2] - 1e11).T, bias=True)
    np.testing.assert_allclose(found, expected, atol=10 * np.spacing(1e11))


@pytest.mark.parametrize("height", [5, 50, 400])
def test_small_directions_survive(height):
    """Squaring would drown a direction of 1e-10 in the rounding of the largest."""
    X = data(400, 5)
    X[:, 4] = X[:, :4].sum(axis=1) + 1e-10 * X[:, 4]
    found = np.linalg.svd(merged(X, range(0, 400, height)).factor(), compute_uv=False)
    expected = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-14 * expected[0])


def test_independent_columns_are_squared_others_are_not():
    X = data(500, 4)
    assert moments_of(X).scatter is not None
    X[:, 3] = X[:, 0]
    assert moments_of(X).scatter is None
    assert len(moments_of(X).rest) == 4


@pytest.mark.parametrize("scale", [1e-200, 1e-120, 1e120, 1e200])
def test_extreme_scales(scale):
    X = data(300, 3)
    found = merged(X * scale, [100, 150]).factor() / scale
    np.testing.assert_allclose(
        np.linalg.svd(found, compute_uv=False),
        np.linalg.svd(X - X.mean(axis=0), compute_uv=False),
        rtol=1e-11,
    )


@given(st.integers(1, 60), st.integers(1, 8), places, st.sampled_from([0.0, 1.0, 1e6]))
@settings(max_examples=60)
def test_the_sample_has_the_same_moments(m, n, where, offset):
    X = data(m, n) + offset
    moments = merged(X, where)
    sample = moments.sample()
    r = len(sample.rows)
    assert r <= n + 1
    assert sample.weight == pytest.approx(m / r)
    spread = np.abs(X).max()
    np.testing.assert_allclose(sample.rows.mean(axis=0), X.mean(axis=0), atol=1e-12 * spread)
    centred, about = X - X.mean(axis=0), sample.rows - sample.rows.mean(axis=0)
    np.testing.assert_allclose(about.T @ about / r, centred.T @ centred / m, atol=1e-11 * spread**2)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("where", [[], [3], [1, 7, 20]])
def test_a_sample_without_means_keeps_the_digits_of_the_deviations(where, offset):
    """Against rational arithmetic; blocks far from zero are merged without loss, too."""
    X = np.column_stack([data(31, 2) + offset, np.full(31, 0.1 + offset)])
    sample = merged(X, where).sample(centered=True)
    exact = [[Fraction(float(x)) for x in column] for column in X.T]
    means = [sum(column) / len(column) for column in exact]
    moved = [[x - mean for x in c] for c, mean in zip(exact, means, strict=True)]
    for i, j in ((0, 0), (0, 1), (1, 1)):
        scatter = float(sum(a * b for a, b in zip(moved[i], moved[j], strict=True)))
        found = sample.weight * float(sample.rows[:, i] @ sample.rows[:, j])
        assert found == pytest.approx(scatter, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(sample.rows.mean(axis=0), 0.0, atol=1e-14)
    assert not sample.rows[:, 2].any()


def test_single_precision_is_summed_up_in_double():
    X = (data(5000, 4) + 10).astype(np.float32)
    found = merged(X, [1000, 1001, 4000])
    np.testing.assert_allclose(found.gram(), X.astype(float).T @ X.astype(float), rtol=1e-13)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_sparse_blocks(kind):
    X = sp.random_array((90, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    found = merged(kind(X), [20, 21, 60])
    dense = X.toarray()
    np.testing.assert_allclose(found.gram(), dense.T @ dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.covariance(), np.cov(dense.T, bias=True), atol=1e-14)


def test_sparse_columns_that_are_constant():
    X = np.zeros((50, 3))
    X[:, 1], X[::3, 2] = 0.1, 1.0
    found = moments_of(sp.csr_array(X))
    assert np.diag(found.covariance())[0] == np.diag(found.covariance())[1] == 0.0
    assert np.linalg.matrix_rank(found.factor()) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("m", [3, 300])
def test_missing_and_infinite_entries(bad, make, m):
    X = data(m, 3)
    X[1, 2] = bad
    with pytest.raises(ValueError, match="X contains"):
        moments_of(make(X))


def test_one_row():
    one = moments_of(np.array([[1.0, 2.0]]))
    assert one.count == 1 and not one.covariance().any()
    np.testing.assert_array_equal(one.sample().rows.mean(axis=0), [1.0, 2.0])


def test_blocks_without_rows_change_nothing():
    X = data(20, 3)
    empty = moments_of(X[:0])
    found = merged_moments([empty, moments_of(X), empty])
    np.testing.assert_allclose(found.gram(), X.T @ X, rtol=1e-12)
