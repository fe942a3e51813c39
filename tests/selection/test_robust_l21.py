"""Robust selection (RFS): against a linear program, reweighting and its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._prox import l21_norm, row_norms
from columnist.selection import RobustL21Selector
from columnist.selection import _robust_l21 as robust_l21
from tests.oracles.row_sparse import absolute_deviations, reweighted, subgradient_error
from tests.strategies import matrices, targets

# Few columns may be all there are.

alphas = st.floats(-2.0, 1.0).map(lambda exponent: 10.0**exponent)


def objective(X, Y, W, alpha) -> float:
    return l21_norm(X @ W - Y) + alpha * l21_norm(W)


def problem(seed, shape=(25, 8), q=2):
    """Two columns matter, and three samples lie far out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    Y = X[:, :2] @ rng.standard_normal((2, q)) + 0.1 * rng.standard_normal((shape[0], q))
    Y[:3] += 10.0 * rng.standard_normal((3, q))
    return X, Y


def fit(X, y, alpha, **options):
    options = {"tol": 1e-9, "max_iter": 50000} | options
    return RobustL21Selector(1, alpha=alpha, **options).fit(X, y)


# --- the minimum -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=80)
@given(matrices(), alphas, st.integers(0, 2**32 - 1))
def test_one_target_equals_the_linear_program(X, alpha, seed):
    y = np.random.default_rng(seed).standard_normal(len(X))
    best = absolute_deviations(X, y, alpha)
    selector = fit(X, y[:, None], alpha, tol=1e-6, max_iter=3000)
    assert selector.objective_ - selector.dual_gap_ <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= selector.objective_ <= best + selector.dual_gap_ + 1e-9 * best


@pytest.mark.parametrize("shape", [(60, 10), (200, 30), (30, 50)])
@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_the_vertex_of_the_linear_program_is_found(shape, alpha):
    X, Y = problem(2, shape, q=1)
    selector = fit(X, Y[:, 0], alpha, tol=1e-12, max_iter=5000)
    best = absolute_deviations(X, Y[:, 0], alpha)
    assert selector.objective_ == pytest.approx(best, rel=1e-11)
    fitted = np.count_nonzero(np.abs(X @ selector.coef_ - Y) < 1e-9)
    assert fitted == np.count_nonzero(selector.coef_)


@pytest.mark.parametrize("shape", [(25, 8), (12, 12), (10, 20)])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 3.0])
def test_many_targets_equal_reweighted_least_squares(shape, alpha):
    X, Y = problem(0, shape)
    best = objective(X, Y, reweighted(X, Y, alpha), alpha)
    selector = fit(X, Y, alpha)
    assert selector.objective_ <= best * (1 + 1e-9)
    assert selector.objective_ == pytest.approx(best, rel=1e-5)  # smoothing costs a little


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=60)
@given(st.data(), matrices(min_rows=2), alphas)
def test_the_gap_is_a_proof(data, X, alpha):
    """No W is below the bound: not the minimum, and nothing near it."""
    y, Y = data.draw(targets(len(X)), label="y")
    rough, fine = fit(X, y, alpha, tol=1e-2), fit(X, y, alpha, tol=1e-6, max_iter=3000)
    for selector in (rough, fine):
        value = objective(X, Y, selector.coef_, alpha)
        assert selector.objective_ == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert selector.dual_gap_ >= 0.0
        assert selector.dual_gap_ <= selector.tol * value or selector.n_iter_ == selector.max_iter
        assert (np.diff(selector.objective_history_) <= 0.0).all()
        assert selector.objective_history_[-1] == selector.objective_
    assert rough.objective_ - rough.dual_gap_ <= fine.objective_ * (1 + 1e-12)
    assert fine.objective_ - fine.dual_gap_ <= rough.objective_ * (1 + 1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        near = fine.coef_ + size * rng.standard_normal(fine.coef_.shape)
        assert fine.objective_ - fine.dual_gap_ <= objective(X, Y, near, alpha) * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0])
def test_optimality_conditions(alpha):
    """The directions of the residuals, completed where these vanish, are a dual solution."""
    X, Y = problem(1, (40, 8), q=3)
    W = fit(X, Y, alpha, tol=1e-11).coef_
    lengths, kept = row_norms(Y - X @ W), row_norms(W) > 0.0
    fitted = lengths < 1e-8
    P = np.where(fitted[:, None], 0.0, (Y - X @ W) / np.maximum(lengths, 1e-8)[:, None])
    missing = alpha * W[kept] / row_norms(W[kept])[:, None] - X[:, kept].T @ P
    P[fitted] = np.linalg.lstsq(X[np.ix_(fitted, kept)].T, missing, rcond=None)[0]
    assert row_norms(P).max() <= 1.0 + 1e-6
    assert subgradient_error(W, -X.T @ P, alpha) < 1e-5
    assert np.vdot(P, Y) == pytest.approx(objective(X, Y, W, alpha), rel=1e-7)


def test_from_a_known_penalty_on_everything_is_zero():
    X, Y = problem(3)
    largest = row_norms(X.T @ (Y / row_norms(Y)[:, None])).max()
    none = fit(X, Y, 1.001 * largest)
    np.testing.assert_array_equal(none.coef_, 0.0)
    assert (none.n_iter_, none.dual_gap_) == (1, 0.0)
    assert fit(X, Y, 0.999 * largest).coef_.any()


def test_interpolation_when_there_are_more_columns_than_rows():
    X, Y = problem(4, (6, 15))
    W = fit(X, Y, 1e-3, tol=1e-6).coef_
    np.testing.assert_allclose(X @ W, Y, atol=1e-6)


def test_scaling_identity():
    X, Y = problem(5)
    one, other = fit(X, Y, 0.7), fit(10.0 * X, -3.0 * Y, 7.0)
    np.testing.assert_allclose(-10.0 / 3.0 * other.coef_, one.coef_, atol=1e-5)
    assert other.objective_ == pytest.approx(3.0 * one.objective_, rel=1e-8)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_and_rotation_of_targets_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, Y = problem(seed % 1000, (15, 6), q=3)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    rows = rng.permutation(15)
    one, other = fit(X, Y, 1.0), fit(X[rows], Y[rows] @ Q, 1.0)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-8)
    np.testing.assert_allclose(other.coef_, one.coef_ @ Q, atol=1e-3)


# --- the selection ---------------------------------------------------------------------------


def test_outlying_samples_count_little():
    X, Y = problem(2, (60, 10))
    clean = RobustL21Selector(2).fit(X[3:], Y[3:])
    Y[:3] *= 1e4
    spoilt = RobustL21Selector(2).fit(X, Y)
    assert set(clean.selected_) == set(spoilt.selected_) == {0, 1}
    np.testing.assert_allclose(spoilt.coef_, clean.coef_, atol=0.1)


def test_wide_sparse_data():
    rng = np.random.default_rng(6)
    X = sp.random_array((40, 20000), density=0.01, rng=rng, format="csr")
    strong = np.argsort(-sp.csc_array(X).power(2).sum(axis=0))[:2]
    Y = X[:, strong].toarray() @ np.array([[3.0, 1.0], [-1.0, 4.0]])
    selector = RobustL21Selector(2, alpha=0.5).fit(X, Y)
    assert selector.dual_gap_ <= 1e-6 * selector.objective_
    assert set(selector.selected_) == set(strong)


def test_a_side_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(robust_l21, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"smaller side of X \(25 x 8\). Select columns first"):
        RobustL21Selector(2).fit(*problem(7))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"alpha": -1.0}, "alpha must be a number > 0"),
        ({"alpha": np.nan}, "alpha must be a number > 0"),
        ({"alpha": np.inf}, "alpha must be a number > 0"),
        ({"alpha": "1"}, "alpha must be a number > 0"),
        ({"tol": 2.0}, "tol must be a number >= 0 and <= 1"),
        ({"tol": -1e-3}, "tol must be a number >= 0 and <= 1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"max_iter": 10.0}, "max_iter must be an integer >= 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustL21Selector(**parameters).fit(*problem(8))
