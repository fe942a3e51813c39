"""Leverage: against the hat matrix and the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.robust._leverage import LeverageOutliers
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
