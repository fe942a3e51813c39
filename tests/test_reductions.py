"""Reductions over rows, against NumPy and SciPy on all rows at once."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.counting import count_cost
from benchmarks.reductions import (
    column_norms,
    least_squares,
    randomized_svd,
    row_leverages,
    tall_qr,
)
from columnist.distributed import moments


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def data(m=97, n=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)) @ rng.standard_normal((n, n)) + 3.0


def blocks(X, height):
    return da.from_array(X, chunks=(height, X.shape[1]))


heights = st.integers(1, 100)


@given(heights, st.floats(0.0, 1e6), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=40)
def test_moments(height, offset, dtype):
    X = (data() + offset).astype(dtype)
    summed = moments(blocks(X, height))
    exact = X.astype(np.float64)
    assert summed.count == len(X)
    np.testing.assert_allclose(summed.mean, exact.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(
        summed.covariance(), np.cov(exact.T, bias=True), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(summed.gram(), exact.T @ exact, rtol=1e-12)


def test_moments_of_joint_columns():
    X, y = data(), np.arange(97.0)
    summed = moments(blocks(X, 20), da.from_array(y, chunks=13))
    joint = np.column_stack([X, y])
    np.testing.assert_allclose(summed.gram(), joint.T @ joint, rtol=1e-12)


@given(heights)
@settings(max_examples=20)
def test_norms_of_columns(height):
    X = data() * [1e-200, 1e200, 1.0, 0.0, -2.0]
    expected = [
        np.linalg.norm(column / s) * s
        for column, s in zip(X.T, [1e-200, 1e200, 1, 1, 1], strict=True)
    ]
    np.testing.assert_allclose(column_norms(blocks(X, height)), expected, rtol=1e-13)


def test_norms_of_sparse_columns():
    X = sp.random_array((50, 8), density=0.2, rng=np.random.default_rng(0), format="csr")
    D = blocks(X.toarray(), 9).map_blocks(sp.csr_array)
    np.testing.assert_allclose(column_norms(D), np.linalg.norm(X.toarray(), axis=0), rtol=1e-14)


@given(heights)
@settings(max_examples=20)
def test_orthonormal_basis(height):
    X = data()
    Q, diagonal, R = tall_qr(blocks(X, height))
    Q = Q.compute()
    expected = np.linalg.qr(X)[1]
    expected *= np.sign(np.diag(expected))[:, None]
    np.testing.assert_allclose(R, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(diagonal, np.diag(expected), rtol=1e-10)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(Q @ R, X, atol=1e-12)


def test_orthonormal_basis_of_nearly_dependent_columns():
    """X R^-1 alone would lose orthogonality here, and a Gram matrix would not even be definite."""
    X = data(m=400)
    X[:, 4] = X[:, :4].sum(axis=1) + 1e-9 * X[:, 4]
    Q, _, R = tall_qr(blocks(X, 100))
    Q = Q.compute()
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(Q @ R, X, atol=1e-11)


def test_basis_needs_independent_columns():
    with pytest.raises(ValueError, match="independent columns"):
        tall_qr(da.ones((50, 3), chunks=(10, 3)))
    with pytest.raises(ValueError, match="at least as many rows"):
        tall_qr(da.random.default_rng(0).random((1, 3), chunks=(1, 3)))


@pytest.mark.parametrize("intercept", [False, True])
@given(height=heights)
@settings(max_examples=15)
def test_least_squares(intercept, height):
    X = data()
    Y = X[:, :2] + np.random.default_rng(1).standard_normal((97, 2)) + 5.0
    fit = least_squares(blocks(X, height), da.from_array(Y, chunks=(11, 2)), intercept=intercept)
    full = np.column_stack([X, np.ones(97)]) if intercept else X
    coef, residual, *_ = np.linalg.lstsq(full, Y)
    np.testing.assert_allclose(fit.coef, coef[:5], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(fit.residual, residual, rtol=1e-10)
    np.testing.assert_allclose(fit.intercept, coef[5] if intercept else 0.0, rtol=1e-9)


def test_least_squares_of_a_frame():
    frame = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30.0) ** 2, "y": 0.0})
    frame["y"] = 2 * frame.a - frame.b + 4
    table = dd.from_pandas(frame, npartitions=4)
    fit = least_squares(table[["a", "b"]], table["y"], intercept=True)
    np.testing.assert_allclose(fit.coef[:, 0], [2.0, -1.0], rtol=1e-9)
    np.testing.assert_allclose(fit.intercept, 4.0, rtol=1e-9)


@pytest.mark.parametrize("center", [False, True])
@given(height=heights)
@settings(max_examples=15)
def test_singular_values_and_vectors(center, height):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((97, 6)) @ rng.standard_normal((6, 40)) + 2.0
    svd = randomized_svd(blocks(X, height), 3, center=center, n_passes=8, random_state=0)
    inner = X - X.mean(axis=0) if center else X
    values = np.linalg.svd(inner, compute_uv=False)[:3]
    np.testing.assert_allclose(svd.values, values, rtol=1e-9)
    left = svd.left.compute()
    np.testing.assert_allclose(left.T @ left, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(inner @ svd.right.T, left * svd.values, atol=1e-8)


def test_sparse_blocks_are_never_summed_up_dense():
    X = sp.random_array((60, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    D = blocks(X.toarray(), 20).map_blocks(sp.csr_array)
    svd = randomized_svd(D, 2, n_passes=30, random_state=0)
    expected = np.linalg.svd(X.toarray(), compute_uv=False)[:2]
    np.testing.assert_allclose(svd.values, expected, rtol=1e-6)


@pytest.mark.parametrize("center", [False, True])
@given(height=heights)
@settings(max_examples=15)
def test_leverages_of_rows(center, height):
    X = np.column_stack([data(), data()[:, 0]])  # a copy: rank 5
    inner = X - X.mean(axis=0) if center else X
    expected = np.einsum("ij,ji->i", inner, np.linalg.pinv(inner, rcond=1e-10))
    found = row_leverages(blocks(X, height), center=center).compute()
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_passes_are_counted():
    D = blocks(data(), 20)
    for function, passes in [(moments, 1), (column_norms, 1), (tall_qr, 2), (row_leverages, 1)]:
        with count_cost() as cost:
            function(D)
        assert (cost.passes, cost.visits) == (passes, 5 * passes)
    with count_cost() as cost:
        randomized_svd(D, 2, n_passes=3, random_state=0)
    assert cost.passes == 4


@pytest.mark.parametrize(
    "function", [moments, column_norms, lambda X: randomized_svd(X, 1, random_state=0)],
    ids=["moments", "norms", "svd"],
)  # fmt: skip
def test_missing_values(function):
    X = data()
    X[50, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        function(blocks(X, 20))


def test_arrays_in_memory_are_no_collections():
    with pytest.raises(TypeError, match="from_array"):
        moments(np.ones((3, 2)))


def test_too_many_components():
    with pytest.raises(ValueError, match="X has 5 columns"):
        randomized_svd(blocks(data(), 20), 6)
