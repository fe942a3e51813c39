"""Sums over edges against the dense Laplacian."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral._edges import laplacian_forms


def random_graph(n, rng):
    A = np.where(rng.random((n, n)) < 0.4, rng.normal(size=(n, n)), 0.0)
    return sp.csr_matrix(A + A.T)


def forms(S, X):
    return laplacian_forms(
        S.indptr.astype(np.intc), S.indices.astype(np.intc), S.data.astype(float), X
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
