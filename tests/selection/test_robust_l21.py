"""Robust selection (RFS): optimality by duality, and an independent reweighted solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from columnist.linalg.prox import l21_norm, row_norms
from columnist.selection import RobustL21Selector


def objective(X, Y, W, alpha) -> float:
    return l21_norm(X @ W - Y) + alpha * l21_norm(W)


def reweighted(X, Y, alpha, delta=1e-7, n_iter=3000) -> np.ndarray:
    """Iteratively reweighted least squares from a ridge start, on a slightly smoothed problem."""
    n = len(X)
    W = X.T @ np.linalg.solve(X @ X.T + np.eye(n), Y)
    for _ in range(n_iter):
        A = 2.0 * np.sqrt(row_norms(X @ W - Y) ** 2 + delta**2)
        B = 2.0 * np.sqrt(row_norms(W) ** 2 + delta**2) / alpha
        BX = B[:, None] * X.T
        W = BX @ np.linalg.solve(X @ BX + np.diag(A), Y)
    return W


def problem(seed, shape=(25, 8), q=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    Y = X[:, :2] @ rng.standard_normal((2, q)) + 0.1 * rng.standard_normal((shape[0], q))
    Y[:3] += 10.0 * rng.standard_normal((3, q))  # outliers
    return X, Y


@pytest.mark.parametrize("shape", [(25, 8), (10, 20)])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 3.0])
def test_no_worse_than_reweighted_least_squares(shape, alpha):
    X, Y = problem(0, shape)
    selector = RobustL21Selector(2, alpha=alpha, tol=1e-9, max_iter=50000).fit(X, Y)
    ours = objective(X, Y, selector.coef_, alpha)
    assert selector.objective_ == pytest.approx(ours, rel=1e-12)
    theirs = objective(X, Y, reweighted(X, Y, alpha), alpha)
    assert ours <= theirs * (1 + 1e-9)
    assert ours >= theirs * (1 - 1e-4)  # the smoothing costs a little


@pytest.mark.filterwarnings("ignore:RobustL21Selector selected")
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(12, 5), (6, 9)]), st.floats(0.05, 3.0))
def test_the_gap_is_a_proof(seed, shape, alpha):
    X, Y = problem(seed, shape)
    selector = RobustL21Selector(1, alpha=alpha, tol=1e-3).fit(X, Y)
    exact = RobustL21Selector(1, alpha=alpha, tol=1e-10, max_iter=100000).fit(X, Y)
    lower = selector.objective_ - selector.dual_gap_
    assert lower <= exact.objective_ * (1 + 1e-9)
    assert selector.dual_gap_ <= 1e-3 * selector.objective_
    assert (np.diff(selector.objective_history_) <= 0.0).all()


def test_scores_are_row_lengths_and_rank_the_selection():
    X, Y = problem(1)
    selector = RobustL21Selector(4, alpha=0.5).fit(X, Y)
    np.testing.assert_allclose(selector.scores_, row_norms(selector.coef_))
    order = np.argsort(-selector.scores_, kind="stable")[:4]
    np.testing.assert_array_equal(selector.selected_, order)


def test_outlying_samples_count_little():
    X, Y = problem(2, (60, 10))
    Y[:3] *= 30.0
    selector = RobustL21Selector(2, alpha=1.0).fit(X, Y)
    assert set(selector.selected_) == {0, 1}


def test_from_a_known_penalty_on_everything_is_zero():
    X, Y = problem(3)
    largest = row_norms(X.T @ (Y / row_norms(Y)[:, None])).max()
    with pytest.warns(UserWarning, match="only 0 have a nonzero coefficient at alpha"):
        selector = RobustL21Selector(3, alpha=1.001 * largest).fit(X, Y)
    np.testing.assert_array_equal(selector.coef_, 0.0)
    assert len(selector.selected_) == 1
    below = RobustL21Selector(1, alpha=0.95 * largest, tol=1e-9, max_iter=50000).fit(X, Y)
    assert below.coef_.any()
    np.testing.assert_array_equal(below.selected_, selector.selected_)


def test_scaling_identity():
    X, Y = problem(4)
    one = RobustL21Selector(3, alpha=0.7, tol=1e-9, max_iter=20000).fit(X, Y)
    other = RobustL21Selector(3, alpha=7.0, tol=1e-9, max_iter=20000).fit(10.0 * X, Y)
    np.testing.assert_allclose(other.coef_ * 10.0, one.coef_, atol=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_extreme_scales(scale):
    X, Y = problem(5)
    one = RobustL21Selector(3, alpha=0.7).fit(X, Y)
    other = RobustL21Selector(3, alpha=0.7 * scale).fit(X * scale, Y)
    np.testing.assert_array_equal(one.selected_, other.selected_)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-5)


def test_equal_columns_share_their_coefficient():
    X, Y = problem(6)
    X = np.column_stack([X, X[:, 0]])
    coef = RobustL21Selector(3, alpha=0.5, tol=1e-8, max_iter=50000).fit(X, Y).coef_
    np.testing.assert_allclose(coef[0], coef[8], atol=1e-4)


def test_sparse_data_give_the_same():
    X, Y = problem(7, (30, 12))
    X *= np.random.default_rng(7).random(X.shape) < 0.5
    dense = RobustL21Selector(3, alpha=0.5).fit(X, Y)
    sparse = RobustL21Selector(3, alpha=0.5).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)


def test_labels_become_indicators():
    X, _ = problem(8)
    y = np.array(["a", "b", "c", "a", "b"] * 5)
    one = RobustL21Selector(3, alpha=0.5).fit(X, y)
    other = RobustL21Selector(3, alpha=0.5).fit(X, (y[:, None] == np.array(["a", "b", "c"])) * 1.0)
    np.testing.assert_allclose(one.coef_, other.coef_)


def test_an_unfinished_run_says_so():
    X, Y = problem(9)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        selector = RobustL21Selector(1, alpha=0.1, max_iter=2).fit(X, Y)
    assert selector.dual_gap_ > 0.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"alpha": -1.0}, "alpha must be a number > 0"),
        ({"tol": 2.0}, "tol must be a number"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustL21Selector(**parameters).fit(*problem(10))
