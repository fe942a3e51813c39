"""Every representation of a symmetric matrix answers as its dense array does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral import _symmetric as symmetric
from columnist.spectral._symmetric import (
    LowRankMatrix,
    SparseMatrix,
    as_symmetric,
    largest_eigenpairs,
)
from tests.spectral.data import KINDS, SEEDS, similarity
from tests.spectral.listed import ListedRows


@given(KINDS | st.just("diagonal"), SEEDS, st.integers(2, 12))
def test_answers_are_those_of_the_array(kind, seed, n):
    rng = np.random.default_rng(seed)
    S = similarity(kind, n, rng)
    A = S.toarray()
    X, c = rng.normal(size=(n, 5)), rng.normal(size=n)
    np.testing.assert_allclose(A, A.T, atol=1e-14)
    np.testing.assert_allclose(S.times(X), A @ X, atol=1e-11)
    np.testing.assert_allclose(S.times(c), A @ c, atol=1e-11)
    np.testing.assert_allclose(S.sums(), A.sum(axis=1), atol=1e-11)
    np.testing.assert_allclose(S.diagonal(), A.diagonal(), atol=1e-12)
    np.testing.assert_allclose(S.scaled(c).toarray(), c[:, None] * A * c, atol=1e-11)
    expected = np.diag(X.T @ A @ X)
    sparse = sp.csc_matrix(np.where(X > 0, X, 0.0))
    np.testing.assert_allclose(S.forms(X), expected, atol=1e-10)
    np.testing.assert_allclose(S.forms(X.astype(np.float32)), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        S.forms(sparse), np.diag(sparse.toarray().T @ A @ sparse.toarray()), atol=1e-10
    )


def test_wide_blocks(monkeypatch):
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 20)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 11))
    for kind in ("dense", "sparse", "low rank", "sparse factor", "sum"):
        S = similarity(kind, 6, rng)
        np.testing.assert_allclose(S.forms(X), np.diag(X.T @ S.toarray() @ X), atol=1e-12)


def test_low_rank_never_becomes_square():
    n = 200_000
    S = LowRankMatrix(np.ones((n, 1)))
    assert S.scaled(np.full(n, 2.0)).times(np.ones(n))[0] == 4.0 * n


def test_matrices_are_wrapped():
    assert isinstance(as_symmetric(sp.eye(3)), SparseMatrix)
    S = as_symmetric([[1, 2], [2, 1]])
    assert as_symmetric(S) is S


@pytest.mark.parametrize(
    ("S", "n", "message"),
    [
        (np.ones((2, 3)), None, "square matrix of samples"),
        (np.eye(3), 4, "3 samples, but X has 4 rows"),
        (as_symmetric(np.eye(3)), 4, "3 samples, but X has 4 rows"),
        ([[1.0, 2.0], [0.0, 1.0]], None, r"must be symmetric.*up to 2.*np\.maximum"),
        (sp.csr_matrix([[1.0, 2.0], [0.0, 1.0]]), None, "must be symmetric"),
        ([[np.nan, 1.0], [1.0, 0.0]], None, "NaN"),
        ([["a", "b"], ["c", "d"]], None, "could not convert"),
    ],
)
def test_bad_matrices(S, n, message):
    with pytest.raises(ValueError, match=message):
        as_symmetric(S, n_samples=n)


def matrix(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    return A + A.T


def test_largest_eigenpairs():
    A = matrix(300)
    values, vectors = largest_eigenpairs(lambda v: A @ v, 300, 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:4])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-9 * values[0])


def test_a_search_that_does_not_converge_is_widened(monkeypatch):
    calls = []
    real = symmetric.eigsh

    def stubborn(operator, count, **options):
        calls.append(options)
        if len(calls) == 1:
            raise symmetric.ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))
        return real(operator, count, **options)

    monkeypatch.setattr(symmetric, "eigsh", stubborn)
    A = matrix(250)
    values, _ = largest_eigenpairs(lambda v: A @ v, 250, 2)
    assert values == pytest.approx(np.linalg.eigvalsh(A)[::-1][:2])
    assert len(calls) == 2 and calls[1]["ncv"] == 60


@pytest.mark.parametrize(
    ("n", "count", "iterated"), [(300, 4, True), (100, 2, False), (300, 150, False)]
)
def test_few_of_many_are_worth_iterating(monkeypatch, n, count, iterated):
    calls = []
    real = symmetric.eigsh
    monkeypatch.setattr(symmetric, "eigsh", lambda *a, **o: calls.append(1) or real(*a, **o))
    A = matrix(n)
    values, vectors = largest_eigenpairs(lambda M: A @ M, n, count, lambda: A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:count])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-8 * values[0])
    assert bool(calls) == iterated


@given(KINDS, SEEDS, st.integers(3, 12))
def test_leading_pairs_beside_a_vector(kind, seed, n):
    rng = np.random.default_rng(seed)
    S, u = similarity(kind, n, rng), rng.standard_normal(n)
    u /= np.linalg.norm(u)
    P = np.eye(n) - np.outer(u, u)
    A = P @ S.toarray() @ P
    values, vectors = S.leading(2, u)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:2], atol=1e-9 * abs(A).max())
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-6 * abs(A).max())


@given(KINDS | st.just("diagonal"), SEEDS, st.integers(2, 12))
def test_forms_of_centred_columns(kind, seed, n):
    rng = np.random.default_rng(seed)
    S, X = similarity(kind, n, rng), rng.normal(size=(n, 5))
    X[:, :2] = np.where(X[:, :2] > 0, X[:, :2], 0.0)
    means = rng.normal(size=5)
    expected = np.diag((X - means).T @ S.toarray() @ (X - means))
    for form in (
        X,
        sp.csc_matrix(X),
        ListedRows.cut(X, [2, 0, 3]),
        ListedRows.cut(sp.csr_array(X), [3]),
    ):
        np.testing.assert_allclose(S.forms(form, means), expected, atol=1e-10)
