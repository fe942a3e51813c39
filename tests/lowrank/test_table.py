from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.extmath import randomized_svd

from columnist.lowrank import _table as module
from columnist.lowrank._table import as_table, leading_svd
from tests.strategies import matrices


@pytest.mark.parametrize("centering", ["none", "mean"])
@given(matrices(min_rows=2))
def test_sparse_and_single_precision_give_the_same_products(centering, A):
    dense = as_table(A, centering)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((len(A), 2)), rng.standard_normal((A.shape[1], 2))
    plain = A - A.mean(axis=0) if centering == "mean" else A
    for other, tol in ((sp.csr_array(A), 1e-12), (A.astype(np.float32), 1e-5)):
        table = as_table(other, centering)
        scale = 1.0 + np.abs(A).max()
        np.testing.assert_allclose(table.times(Y), plain @ Y, atol=tol * scale * 10)
        np.testing.assert_allclose(table.cross(X), plain.T @ X, atol=tol * scale * 10)
        np.testing.assert_allclose(
            table.energy(), dense.energy(), atol=tol * scale**2 * A.size * 10
        )


def test_centres_are_those_of_the_entries_that_are_there():
    A = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan], [8.0, np.nan, np.nan]])
    np.testing.assert_allclose(as_table(A, "mean").center, [4.0, 4.0, 0.0])
    np.testing.assert_allclose(as_table(A, "mean", "median").center, [3.0, 4.0, 0.0])
    table = as_table(A, "mean")
    np.testing.assert_array_equal(table.missing, np.isnan(A))
    np.testing.assert_allclose(table.values, [[-3.0, 0, 0], [-1.0, 0, 0], [4.0, 0, 0]])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_values_are_safe_to_square(scale):
    A = scale * np.random.default_rng(0).standard_normal((4, 3))
    table = as_table(A, "mean")
    assert 0.0 < table.energy() < np.inf
    np.testing.assert_allclose(table.center, A.mean(axis=0))
    assert (table.unit == 1.0) == (scale == 1.0)


def test_ordinary_data_are_not_copied():
    A = np.ones((3, 2))
    assert as_table(A, "none").values is A
    single = A.astype(np.float32)
    assert as_table(single, "none").values is single


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("rank", [1, 3, 7, 8])
def test_leading_singular_vectors_of_large_tables(kind, rank, monkeypatch):
    monkeypatch.setattr(module, "_SMALL", 0)
    rng = np.random.default_rng(1)
    A = rng.standard_normal((8, 30)) * 2.0 ** -np.arange(8)[:, None]
    U, sigma, V = leading_svd(as_table(kind(A), "mean"), rank)
    centred = A - A.mean(axis=0)
    exact = np.linalg.svd(centred)[1][:rank]
    np.testing.assert_allclose(sigma, exact, atol=1e-12 * exact[0])
    live = exact > 1e-10 * exact[0]
    np.testing.assert_allclose((U.T @ centred)[live], (V * sigma).T[live], atol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(rank), atol=1e-9)


def test_nothing_has_singular_values_too():
    U, sigma, V = leading_svd(as_table(sp.csr_array((5, 4)), "none"), 2)
    assert not sigma.any()
    np.testing.assert_array_equal(U.T @ U, np.eye(2))
    np.testing.assert_array_equal(V.T @ V, np.eye(2))


def test_agreement_with_scikit_learn_on_a_large_table():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((700, 5)) @ rng.standard_normal((5, 650))
    A += 0.01 * rng.standard_normal(A.shape)
    sigma = leading_svd(as_table(A, "none"), 5)[1]
    np.testing.assert_allclose(
        sigma, randomized_svd(A, 5, n_iter=10, random_state=0)[1], rtol=1e-10
    )


@given(matrices(min_rows=2), st.sampled_from(["quadratic", "robust"]))
def test_limits_are_lengths_of_columns(A, loss):
    limits = as_table(A, "none").pull_limits(loss)
    if loss == "quadratic":
        expected = 2.0 * np.linalg.norm(A, axis=0)
    else:
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        expected = np.linalg.norm(np.divide(A, lengths, where=lengths > 0, out=0 * A), axis=0)
    np.testing.assert_allclose(limits, expected, atol=1e-12)
