"""Rows near a subspace, and rows that are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.datasets import (
    make_line_and_outliers,
    make_low_rank_outliers,
    make_phase_transition,
)
from columnist.robust import SchattenPCA


@given(
    st.integers(1, 30),
    st.integers(1, 20),
    st.integers(1, 6),
    st.integers(0, 30),
    st.sampled_from(["added", "replaced"]),
    st.integers(0, 1000),
)
def test_only_outliers_leave_the_subspace(n, p, rank, k, kind, seed):
    k = min(k, n)
    X, y = make_low_rank_outliers(n, p, rank=rank, n_outliers=k, outliers=kind, random_state=seed)
    assert X.shape == (n, p) and (y < 0).sum() == k and (y[:k] < 0).all()
    if k < n:
        assert np.linalg.matrix_rank(X[y > 0]) == min(rank, p, n - k)
    assert np.linalg.matrix_rank(X) == min(n, p, rank + k)


def test_replaced_rows_are_as_long_as_the_others():
    X, y = make_low_rank_outliers(
        2000, 50, rank=8, n_outliers=1000, outliers="replaced", random_state=0
    )
    energy = np.sum(X * X, axis=1)
    assert 0.95 < energy[y < 0].mean() / energy[y > 0].mean() < 1.05


def test_noise_is_on_top():
    clean, _ = make_low_rank_outliers(400, 100, random_state=0)
    noisy, _ = make_low_rank_outliers(400, 100, noise=0.5, random_state=0)
    assert abs((noisy - clean).std() - 0.5) < 0.01


def test_phase_transition_in_shares():
    X, y = make_phase_transition(50, rank=0.2, outliers=0.3, random_state=0)
    assert X.shape == (50, 50) and (y < 0).sum() == 15
    assert np.linalg.matrix_rank(X[y > 0]) == 10


def test_an_easy_cell_is_solved():
    X, y = make_phase_transition(40, rank=0.1, outliers=0.4, random_state=0)
    found = SchattenPCA(16, p=0.1, n_components=1, centering="none").fit(X)
    assert set(found.removal_order_) == set(np.flatnonzero(y < 0))


def test_line():
    X, y = make_line_and_outliers(70, n_outliers=20, noise=0.0, random_state=0)
    np.testing.assert_allclose(X[y > 0] @ [-0.6, 0.8], 0.0, atol=1e-12)
    assert (y < 0).sum() == 20 and np.abs(X[y < 0]).max() <= 1.0
    assert np.abs(X[y > 0] @ [0.8, 0.6]).max() > 4.0


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_low_rank_outliers, {"rank": 0}, "rank"),
        (make_low_rank_outliers, {"n_outliers": 101}, "n_outliers"),
        (make_low_rank_outliers, {"outliers": "add"}, "outliers"),
        (make_low_rank_outliers, {"noise": -1.0}, "noise"),
        (make_line_and_outliers, {"n_outliers": 61}, "n_outliers"),
        (make_phase_transition, {"rank": 0.0}, "rank"),
        (make_phase_transition, {"outliers": 1.5}, "outliers"),
    ],
)
def test_wrong_options(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)
