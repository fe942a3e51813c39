"""Preserved neighbours against sorting."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.metrics import neighbour_jaccard
from tests.metrics.test_similarity import FORMS, kernel, unit
from tests.strategies import matrices


def by_hand(F, K, k) -> float:
    total = 0.0
    for i in range(len(F)):
        others = [j for j in range(len(F)) if j != i]
        near = [set(sorted(others, key=lambda j: -row[j])[:k]) for row in (F[i] @ F.T, K[i])]
        total += len(near[0] & near[1]) / len(near[0] | near[1])
    return total / len(F)


# Whole numbers, so that equal products are equal in every order of summation.
@given(
    matrices(min_rows=3, kinds=("integers", "low rank", "ties")), st.integers(0, 10**6),
    st.integers(1, 2), st.sampled_from(FORMS), st.sampled_from(FORMS), st.booleans(),
)  # fmt: skip
def test_by_definition(X, seed, k, form, kernel_form, weighted):
    K = np.rint(kernel(len(X), seed))
    W = np.rint(kernel(X.shape[1], seed)) if weighted else None
    F = X if W is None else X @ W
    score = neighbour_jaccard(form(X), kernel_form(K), n_neighbors=k, weights=W, normalize=False)
    assert score == pytest.approx(by_hand(F, K, k), rel=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_normalized_columns(seed, k):
    X = np.random.default_rng(seed).standard_normal((10, 4)) * np.array([1.0, 10.0, 100.0, 0.1])
    K = kernel(10, seed)
    expected = by_hand(unit(X[:, [3, 1]]), K, k)
    assert neighbour_jaccard(X, K, [3, 1], n_neighbors=k) == pytest.approx(expected, rel=1e-12)


def test_extremes():
    X = np.random.default_rng(0).standard_normal((20, 5))
    K = X @ X.T
    assert neighbour_jaccard(X, K, normalize=False) == 1.0
    assert neighbour_jaccard(X, -K, n_neighbors=5, normalize=False) == 0.0
    assert neighbour_jaccard(X, K, [0], n_neighbors=19) == 1.0
    assert neighbour_jaccard(1e150 * X, 1e150 * K) == neighbour_jaccard(X, K)


def test_many_blocks(monkeypatch):
    X, K = np.random.default_rng(1).standard_normal((30, 4)), kernel(30, 1)
    expected = by_hand(unit(X), K, 5)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 400)
    for form in FORMS:
        assert neighbour_jaccard(form(X), form(K)) == pytest.approx(expected, rel=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="less than the number of samples"):
        neighbour_jaccard(np.eye(4), np.eye(4), n_neighbors=4)
    with pytest.raises(ValueError, match="n_neighbors must be an integer >= 1"):
        neighbour_jaccard(np.eye(4), np.eye(4), n_neighbors=0)
    with pytest.raises(ValueError, match="expected 4"):
        neighbour_jaccard(np.eye(4), sp.eye_array(3, format="csr"))
