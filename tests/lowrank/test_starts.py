from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.lowrank._solve import first_points, single_column
from columnist.lowrank._table import as_table
from tests.oracles.lowrank import objective


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("n_starts", [1, 2, 5])
def test_starts_are_orthonormal_whatever_the_sign_of_the_data(loss, sign, n_starts):
    A = sign * np.random.default_rng(0).exponential(size=(9, 6))
    points = first_points(as_table(A, "none"), 3, loss, n_starts, np.random.default_rng(1))
    assert len(points) == n_starts
    for point in points:
        np.testing.assert_allclose(point.X.T @ point.X, np.eye(3), atol=1e-12)


def test_the_longest_columns_are_among_the_starts():
    A = np.eye(5) * [1.0, 5.0, 2.0, 4.0, 3.0]
    for kind in (np.asarray, sp.csc_array):
        points = first_points(
            as_table(kind(A), "none"), 2, "quadratic", 2, np.random.default_rng(0)
        )
        assert [set(np.flatnonzero(np.abs(p.X).max(axis=1) > 1e-9)) for p in points] == [
            {1, 3},
            {1, 3},
        ]


def test_outliers_do_not_turn_the_first_robust_start():
    rng = np.random.default_rng(2)
    A = np.outer(rng.standard_normal(50), np.eye(8)[0]) + 0.01 * rng.standard_normal((50, 8))
    clean = np.linalg.svd(A[1:])[2][0]
    A[0] = 1000.0 * np.eye(8)[5]
    robust, columns, plain = first_points(as_table(A, "none"), 1, "robust", 3, rng)
    along = [
        abs(np.corrcoef(p.X[1:, 0], np.sign(A[1:] @ clean))[0, 1]) for p in (robust, columns, plain)
    ]
    assert min(along[:2]) > 0.7 > 0.5 > along[2]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_the_best_single_column_is_not_zero_below_the_largest_penalty(share):
    table = as_table(np.random.default_rng(5).standard_normal((20, 4)), "none")
    limits = table.pull_limits("robust")
    start = single_column(table, 2, share * limits.max())
    np.testing.assert_allclose(start.X.T @ start.X, np.eye(2), atol=1e-12)
    assert list(np.flatnonzero(start.Y.any(axis=1))) == [limits.argmax()]
    model = objective(table.values, start.X, start.Y, share * limits.max(), "robust")
    assert model < np.linalg.norm(table.values, axis=1).sum()


def test_columns_can_be_drawn_where_most_are_zero():
    A = np.zeros((4, 6))
    A[0, 2] = 1.0
    points = first_points(as_table(A, "none"), 3, "quadratic", 4, np.random.default_rng(0))
    assert all(np.isfinite(point.X).all() for point in points)
