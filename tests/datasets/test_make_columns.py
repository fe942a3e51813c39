"""Columns that stand for one another, and columns that matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.datasets import make_redundant_columns, make_sparse_loadings


@given(st.integers(1, 5), st.integers(1, 4), st.booleans(), st.integers(0, 1000))
def test_without_noise_groups_are_copies(n_groups, size, shuffle, seed):
    X, groups = make_redundant_columns(
        20, n_groups, group_size=size, noise=0.0, shuffle=shuffle, random_state=seed
    )
    assert X.shape == (20, n_groups * size)
    assert np.linalg.matrix_rank(X) == n_groups
    assert (np.bincount(groups) == size).all()
    for group in range(n_groups):
        assert np.linalg.matrix_rank(X[:, groups == group]) == 1
    if not shuffle:
        assert (np.diff(groups) >= 0).all()


def test_noise_is_relative():
    X, groups = make_redundant_columns(20_000, 2, group_size=2, noise=0.5, random_state=0)
    correlation = np.abs(np.corrcoef(X.T))
    same = groups[:, None] == groups
    np.testing.assert_allclose(correlation[same & ~np.eye(4, dtype=bool)], 0.8, atol=0.02)
    np.testing.assert_allclose(correlation[~same], 0.0, atol=0.03)


def test_loadings_are_the_truth():
    X, loadings = make_sparse_loadings(5000, 12, rank=2, n_informative=4, random_state=0)
    assert loadings.shape == (12, 2) and (loadings[4:] == 0.0).all() and loadings[:4].all()
    covariance = X.T @ X / len(X)
    np.testing.assert_allclose(covariance, loadings @ loadings.T + 0.16 * np.eye(12), atol=0.25)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_redundant_columns, {"noise": -0.1}, "noise"),
        (make_redundant_columns, {"group_size": 0}, "group_size"),
        (make_sparse_loadings, {"n_informative": 41}, "n_informative"),
        (make_sparse_loadings, {"rank": 0}, "rank"),
    ],
)
def test_wrong_options(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)
