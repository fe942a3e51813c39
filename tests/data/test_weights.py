"""Rows that count as often as their weights say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.criteria import Frobenius, Schatten
from columnist.data import Matrices, matrices_of
from columnist.data._weights import present_rows, some_rows, weighted_matrices
from columnist.linalg._moments import merged_moments, moments_of


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(4, 7), (12, 7), (40, 3)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_moments_of_weighted_rows(rng, shape, convert):
    X = rng.standard_normal(shape) + 1000.0
    w = rng.exponential(1.0, len(X))
    w[1] = 0.0
    parts = [moments_of(convert(X[rows]), w[rows]) for rows in (slice(0, 2), slice(2, None))]
    for moments in (moments_of(convert(X), w), merged_moments(parts)):
        mean = np.average(X, axis=0, weights=w)
        np.testing.assert_allclose(moments.mean, mean, rtol=1e-14)
        np.testing.assert_allclose(moments.count, w.sum())
        scatter = (X - mean).T * w @ (X - mean)
        np.testing.assert_allclose(moments.covariance(), scatter / w.sum(), atol=1e-10)
        sample = moments.sample()
        np.testing.assert_allclose(sample.rows.mean(axis=0), mean, rtol=1e-12)
        assert np.linalg.matrix_rank(moments.factor()) == min(shape[1], shape[0] - 2)


def test_moments_of_rows_without_weight(rng):
    X = rng.standard_normal((5, 3))
    assert moments_of(X, np.zeros(5)).count == 0
    both = merged_moments([moments_of(X, np.zeros(5)), moments_of(X, np.ones(5))])
    np.testing.assert_allclose(both.mean, X.mean(axis=0))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_errors_are_those_of_scaled_rows(rng, center, convert):
    X, w = rng.standard_normal((9, 5)) + 2.0, rng.exponential(1.0, 9)
    moved = X - np.average(X, axis=0, weights=w) if center else X
    plain = Matrices(np.sqrt(w)[:, None] * moved)
    weighted = matrices_of(convert(X), sample_weight=w, target=False, center=center)
    assert weighted.n_samples == w.sum()
    for criterion in (Frobenius(), Schatten(0.5)):
        np.testing.assert_allclose(
            weighted.error([0, 2], criterion), plain.error([0, 2], criterion), rtol=1e-5
        )
        low, high = weighted.interval([0, 2], criterion)
        assert low <= plain.error([0, 2], criterion) * (1 + 1e-5)
        assert high >= plain.error([0, 2], criterion) * (1 - 1e-5)


def test_constant_columns_vary_by_nothing(rng):
    X = np.column_stack([np.full(20, 0.1), rng.standard_normal((20, 2))])
    matrices = matrices_of(X, sample_weight=rng.exponential(1.0, 20), target=False, center=True)
    assert not matrices.X[:, 0].any()


def test_ones_change_nothing(rng):
    X = rng.standard_normal((6, 3))
    w = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    matrices = matrices_of(X, sample_weight=w, target=False)
    assert not matrices.sample
    np.testing.assert_array_equal(matrices.X, X[w > 0])


@pytest.mark.parametrize("whole", [True, False])
def test_whole_weights_can_be_repeated(rng, whole):
    X = rng.standard_normal((6, 3))
    weights = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0]) + (0.0 if whole else 0.5)
    source = matrices_of(X, sample_weight=weights, target=False).source
    assert (source is not None) == whole
    if source is not None:
        np.testing.assert_array_equal(source().X, np.repeat(X, weights.astype(int), axis=0))


def test_rows_keep_their_places(rng):
    X, y = rng.standard_normal((5, 2)), ["a", "b", "c", "d", "e"]
    rows = present_rows(X, y, [2.0, 0.0, 1.0, 0.0, 3.0])
    assert rows.Y == ["a", "c", "e"]
    np.testing.assert_array_equal(rows.places, [0, 2, 4])
    matrices = weighted_matrices(rows._replace(Y=None), center=False)
    part = some_rows(matrices, np.array([2]))
    np.testing.assert_allclose(part.error([], Frobenius()), 3.0 * np.square(X[4]).sum())
