"""Passes in blocks equal the products in one go, for every kind of matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.linalg import _passes as passes
from columnist.selection._forward_states import column_forms


@pytest.fixture(params=["float64", "float32", "csc", "csr"])
def data(request, monkeypatch):
    """A matrix in some form, the same as a float64 array; blocks so small that there are many."""
    monkeypatch.setattr(passes, "_BLOCK", 40)
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((17, 11)), 2) * (rng.random((17, 11)) < 0.6)
    X[:, 4] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    kinds = {
        "float64": X,
        "float32": X.astype(np.float32),
        "csc": sp.csc_array(X),
        "csr": sp.csr_array(X),
    }
    return kinds[request.param], X


def test_products(data):
    given, X = data
    Q = np.random.default_rng(1).standard_normal((17, 3))
    np.testing.assert_allclose(passes.squared_norms(given), (X**2).sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(passes.cross(given, Q), X.T @ Q, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(passes.cross(given, Q[:, 0]), X.T @ Q[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(passes.apply(given, X[0]), X @ X[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(passes.kernel_product(given, Q), X @ (X.T @ Q), rtol=1e-12)
    expected = ((X.T @ Q) ** 2).sum(axis=0)
    np.testing.assert_allclose(passes.energies_along(given, Q), expected, rtol=1e-13)
    np.testing.assert_array_equal(passes.columns_of(given, [3, 1]), X[:, [3, 1]])


@pytest.mark.parametrize("center", [False, True])
def test_gram(data, center):
    given, X = data
    X = X - X.mean(axis=0) if center else X
    result = passes.gram(given, center=center)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, X.T @ X, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("j", [0, 3])
def test_column_forms(data, j):
    given, X = data
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((17, j)))[0]
    rest = X - Q @ (Q.T @ X)
    expected = np.einsum("ij,ij->j", rest, X @ (X.T @ rest) - Q @ (Q.T @ X @ (X.T @ rest)))
    np.testing.assert_allclose(column_forms(given, Q), expected, rtol=1e-11, atol=1e-12)
    turned = np.linalg.qr(np.random.default_rng(3).standard_normal((11, j)))[0]
    rest = X.T - turned @ (turned.T @ X.T)
    expected = ((X @ rest) ** 2).sum(axis=0)
    np.testing.assert_allclose(column_forms(given.T, turned), expected, rtol=1e-11, atol=1e-12)


def test_blocks_cover_everything_once():
    for n in (0, 1, 7, 100):
        covered = [i for part in passes.column_blocks(n, 2**21) for i in range(n)[part]]
        assert covered == list(range(n))
