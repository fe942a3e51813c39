"""Scaled columns against the matrix they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral._scaled_columns import ScaledColumns
from tests.strategies import matrices


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix, sp.csr_matrix])
@given(matrices(), st.booleans(), st.integers(0, 2**32 - 1))
def test_products_are_those_of_the_matrix(form, X, centred, seed):
    rng = np.random.default_rng(seed)
    scales = rng.choice([0.0, 0.5, 3.0], X.shape[1])
    means = X.mean(axis=0) if centred else None
    F = ScaledColumns(form(X), scales, means)
    whole = (X - (X.mean(axis=0) if centred else 0.0)) * scales
    atol = 1e-12 * (1 + np.abs(X).max())
    M, W = rng.standard_normal((len(X), 3)), rng.standard_normal((X.shape[1], 2))
    assert F.shape == X.shape
    np.testing.assert_allclose(F.take(np.arange(X.shape[1])), whole, atol=atol)
    np.testing.assert_allclose(F.take(slice(0, 1)), whole[:, :1], atol=atol)
    np.testing.assert_allclose(F.take(0), whole[:, 0], atol=atol)
    np.testing.assert_allclose(F.cross(M), whole.T @ M, atol=10 * atol)
    np.testing.assert_allclose(F.cross(M[:, 0]), whole.T @ M[:, 0], atol=10 * atol)
    np.testing.assert_allclose(F.apply(W), whole @ W, atol=30 * atol)


def test_columns_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    Z = np.round(rng.standard_normal((50, 3)), 4)
    Z -= Z.mean(axis=0).round(6)
    X = np.round(Z, 4) + np.array([0.0, 1e9, 1e4])
    means = X.mean(axis=0)
    exact = (X - means) - (X - means).mean(axis=0)
    M = rng.standard_normal((50, 2))
    product = ScaledColumns(X, np.ones(3), means).cross(M)
    np.testing.assert_allclose(product, exact.T @ M, atol=1e-10)


def test_single_precision_is_read_as_it_is():
    X = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    F = ScaledColumns.plain(X)
    assert F.X is X
    assert F.cross(np.ones((8, 1))).dtype == np.float64
    np.testing.assert_allclose(F.cross(np.eye(8)), X.astype(np.float64).T)
