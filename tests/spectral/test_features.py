"""Features against the matrix they stand for, and scikit-learn's scaling."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.data._blocks import as_rows
from columnist.linalg._passes import without_means
from columnist.linalg._threads import Threads, single_threaded_blas
from columnist.spectral import _features
from columnist.spectral._features import Features, ProductsAhead, ScaledColumns, prepare_columns
from columnist.spectral._forms import common_form
from columnist.spectral._symmetric import DenseMatrix
from tests.spectral.listed import ListedRows
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


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
@given(matrices(min_rows=2))
def test_unit_columns(form, X):
    F = prepare_columns(form(X), "unit")
    Z = F.take(np.arange(X.shape[1]))
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    constant = np.ptp(X, axis=0) == 0.0
    expected = np.where(constant, 0.0, centred / np.where(constant, 1.0, lengths))
    np.testing.assert_allclose(Z, expected, atol=1e-12)
    np.testing.assert_array_equal(F.squared_lengths(), (~constant).astype(float))


def test_columns_as_they_are():
    X = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    F = prepare_columns(X, "none")
    np.testing.assert_array_equal(F.take([0, 1, 2]), X)
    np.testing.assert_allclose(F.squared_lengths(), np.square(X, dtype=float).sum(axis=0))


def test_a_common_form_belongs_to_its_data():
    X = np.random.default_rng(0).standard_normal((9, 4))
    form = common_form("phi2", X)
    F = Features.given(form.features, (9, 4))
    np.testing.assert_array_equal(F.few.take(np.arange(4)), form.features)
    with pytest.raises(ValueError, match="9 samples and 4 features"):
        Features.given(form.features, (9, 5))


@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_features_of_all_rows(scaling, form, offset):
    """Quadratic forms and products do not depend on how the rows come in."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 5)) + offset, rng.standard_normal((40, 2))
    S = DenseMatrix(Y @ Y.T)
    F = without_means(X) if scaling == "unit" else X
    F = F / np.linalg.norm(F, axis=0) if scaling == "unit" else F
    expected = np.square(F.T @ Y).sum(axis=1)
    for rows in (as_rows(form(X)), ListedRows.cut(form(X), [7, 0, 11])):
        features = Features.of(rows, scaling, Y)
        size = np.abs(F.T @ Y).max()
        products = features.few.cross(features.response)
        np.testing.assert_allclose(features.forms(S), expected, rtol=1e-8, atol=1e-9 * size**2)
        if scaling == "none":
            np.testing.assert_allclose(products, F.T @ Y, rtol=1e-8, atol=1e-8 * size)


class Counting(ScaledColumns):
    """Counts its passes over the data."""

    passes = 0

    def cross(self, M):
        Counting.passes += 1
        return super().cross(M)


def test_products_whatever_is_thought_likely():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 40))
    G = X.T @ X
    ahead = ProductsAhead(ScaledColumns.plain(X))
    for feature in rng.permutation(40):
        product = ahead.of(int(feature), rng.standard_normal(40))
        np.testing.assert_allclose(product, G[feature], atol=1e-12)


def test_likely_features_share_a_pass():
    X = np.random.default_rng(1).standard_normal((7, 40))
    Counting.passes = 0
    ahead = ProductsAhead(Counting(X, np.ones(40)))
    likely = np.arange(40.0)
    for feature in range(39, 23, -1):
        ahead.of(feature, likely)
    assert Counting.passes == 1
    ahead.of(0, likely)
    assert Counting.passes == 2


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
@pytest.mark.parametrize("scaling", ["unit", "none"])
def test_threads_and_blocks_change_no_product(form, scaling, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 33)) * (rng.random((20, 33)) < 0.6) + (np.arange(33) == 7) * 1e4
    M = rng.standard_normal((20, 2))
    whole = prepare_columns(form(X), scaling)
    products, kernel = whole.cross(M), whole.kernel()
    scale = np.abs(products).max()
    np.testing.assert_allclose(whole.kernel_times(M), kernel @ M, atol=1e-10 * np.abs(kernel).max())
    monkeypatch.setattr(_features, "_BLOCK", 0)
    monkeypatch.setattr(_features, "_LEAST_COLUMNS", 5)
    results = []
    for n_jobs in (1, 2, 5):
        with Threads(n_jobs) as threads, single_threaded_blas():
            F = prepare_columns(form(X), scaling, threads)
            assert len(F._blocks) == 7
            results.append((F.cross(M), F.kernel_times(M), F.kernel()))
    np.testing.assert_allclose(results[0][0], products, atol=1e-11 * scale)
    np.testing.assert_allclose(results[0][2], kernel, atol=1e-11 * np.abs(kernel).max())
    for other in results[1:]:
        for one, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(one, expected)
