"""Leverage: against the hat matrix and the definition."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import _baselines
from columnist.robust._baselines import LeverageOutliers, leverages
from columnist.robust._row_data import RowData
from tests.data.test_blocks import Slices
from tests.strategies import matrices


@pytest.mark.filterwarnings("ignore:LeverageOutliers")
@given(matrices(min_rows=3), st.integers(1, 7))
def test_by_definition(X, q):
    found = LeverageOutliers(1, n_outliers=1, n_vectors=q, centering="none").fit(X)
    U, sigma, _ = np.linalg.svd(X, full_matrices=False)
    q = min(q, np.linalg.matrix_rank(X))
    if q < len(sigma) and q and sigma[q - 1] - sigma[q] <= 1e-6 * sigma[0] < sigma[q - 1]:
        return  # the vectors are not unique
    np.testing.assert_allclose(found.outlyingness_, (U[:, :q] ** 2).sum(1), atol=1e-7)


def test_all_vectors_give_the_hat_matrix():
    X = np.random.default_rng(0).standard_normal((20, 3)) + 4.0
    found = LeverageOutliers(2, n_outliers=4, n_vectors=3, centering="mean").fit(X)
    Z = X - X.mean(axis=0)
    hat = Z @ np.linalg.inv(Z.T @ Z) @ Z.T
    np.testing.assert_allclose(found.outlyingness_, np.diag(hat))
    np.testing.assert_array_equal(found.outliers_, np.sort(np.argsort(-np.diag(hat))[:4]))


def test_as_many_vectors_as_outliers_by_default():
    X = np.random.default_rng(0).standard_normal((20, 6))
    found = LeverageOutliers(2, n_outliers=3).fit(X)
    assert found.outlyingness_.sum() == pytest.approx(3.0)
    assert LeverageOutliers(2, n_outliers=0).fit(X).outlyingness_.sum() == pytest.approx(1.0)


def test_number_of_vectors():
    with pytest.raises(ValueError, match="n_vectors must be an integer >= 1"):
        LeverageOutliers(1, n_outliers=1, n_vectors=0).fit(np.eye(4))


def test_leverages():
    X = np.random.default_rng(5).standard_normal((40, 4)) * [5.0, 3.0, 1.0, 1.0]
    U, sigma, axes = np.linalg.svd(X - 1.0, full_matrices=False)
    visit = partial(leverages, np.ones(4), axes[:2].T / sigma[:2])
    found = np.concatenate(Slices(X, [7]).collect(visit))
    np.testing.assert_allclose(found, np.sum(U[:, :2] ** 2, axis=1), rtol=1e-10)


# -- medians in passes, against NumPy ------------------------------------------------


@given(
    st.integers(2, 200),
    st.lists(st.integers(0, 200), max_size=5),
    st.integers(0, 10**6),
    st.booleans(),
)
@settings(max_examples=60)
def test_medians(n, edges, seed, rounded):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 1e6, 1e-6]
    X = np.round(X) if rounded else X
    rows = RowData(Slices(X, [min(edge, n) for edge in edges]), lambda largest, size: 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_baselines, "_SAMPLE", 20)  # brackets that may miss
        patch.setattr(_baselines, "_REACH", 0.5)
        np.testing.assert_array_equal(_baselines.column_medians(rows), np.median(X, axis=0))
