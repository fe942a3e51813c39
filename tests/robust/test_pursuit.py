"""Outlier pursuit: closed forms, another optimiser, duality, and the planted problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from columnist.robust._pursuit import OutlierPursuit, pursue_outliers
from tests.strategies import matrices


def objective(L, C, alpha):
    return np.linalg.norm(L, "nuc") + alpha * np.linalg.norm(C, axis=1).sum()


@given(matrices(min_rows=2), st.sampled_from([0.3, 0.6, 0.9, 1.5]), st.integers(0, 99))
def test_gap_is_a_bound(X, alpha, seed):
    found = pursue_outliers(X, alpha, tol=1e-6, max_iter=3000)
    assert found.objective == pytest.approx(
        objective(X - found.row_sparse, found.row_sparse, alpha), abs=1e-9
    )
    least = found.objective - found.gap
    rng = np.random.default_rng(seed)
    rows = rng.random(len(X)) < 0.5
    for C in (
        np.zeros_like(X),
        X,
        X * rows[:, None],
        found.row_sparse + 0.01 * rng.standard_normal(X.shape),
    ):
        assert least <= objective(X - C, C, alpha) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("alpha", [0.4, 0.8, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(4, 4), (6, 4), (4, 7)])
def test_orthogonal_rows_have_a_closed_form(alpha, shape):
    X = np.zeros(shape)
    X[np.arange(4), np.arange(4)] = [4.0, 3.0, 2.0, 1.0]
    found = pursue_outliers(X, alpha, tol=1e-9, max_iter=5000)
    assert found.objective == pytest.approx(min(alpha, 1.0) * 10.0, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_against_a_general_optimiser(seed):
    X = np.random.default_rng(seed).standard_normal((5, 3))
    X[0] *= 6.0

    def smoothed(c, tiny):
        C = c.reshape(X.shape)
        U, s, Vt = np.linalg.svd(X - C, full_matrices=False)
        lengths = np.sqrt((C**2).sum(axis=1) + tiny)
        root = np.sqrt(s**2 + tiny)
        gradient = -(U * (s / root)) @ Vt + 0.7 * C / lengths[:, None]
        return root.sum() + 0.7 * lengths.sum(), gradient.ravel()

    c = np.zeros(15)
    for tiny in 10.0 ** -np.arange(2, 13, 2):
        c = minimize(smoothed, c, args=(tiny,), jac=True, options={"maxiter": 5000}).x
    found = pursue_outliers(X, 0.7, tol=1e-9, max_iter=5000)
    C = c.reshape(X.shape)
    assert found.objective == pytest.approx(objective(X - C, C, 0.7), rel=1e-4)


@pytest.mark.parametrize(("seed", "alpha"), [(1, 0.95), (2, 0.8), (2, 0.95)])
def test_converges_on_badly_scaled_rows(seed, alpha):
    """The step size found in the beginning is not that of the end."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 17)) * 10.0 ** rng.integers(-2, 3, 25)[:, None]
    found = pursue_outliers(X, alpha, tol=1e-7, max_iter=2000)
    assert found.gap <= 1e-7 * found.objective


def planted(rng, n=60, p=40, r=2, k=6):
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, p))
    X[:k] = rng.standard_normal((k, p)) * np.sqrt(r)
    return X


@pytest.mark.parametrize("seed", range(3))
def test_planted_outliers(seed):
    X = planted(np.random.default_rng(seed))
    found = OutlierPursuit(centering="none").fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(6))
    assert found.n_components_ == 2
    assert found.error_ < 1e-12
    assert found.dual_gap_ <= 1e-7 * found.objective_
    assert np.linalg.matrix_rank(found.low_rank_, tol=1e-6) == 2
    np.testing.assert_allclose(found.low_rank_ + found.row_sparse_, X, atol=1e-4)


def test_given_numbers():
    X = planted(np.random.default_rng(0))
    found = OutlierPursuit(centering="none", n_outliers=9, n_components=1).fit(X)
    assert len(found.outliers_) == 9
    assert set(range(6)) <= set(found.outliers_)
    assert found.components_.shape == (1, 40)


def test_default_price():
    X = planted(np.random.default_rng(0))
    one = OutlierPursuit(centering="none").fit(X)
    two = OutlierPursuit(alpha=1 / np.sqrt(np.log(60)), centering="none").fit(X)
    assert one.objective_ == two.objective_


def test_a_high_price_means_no_outliers():
    X = np.random.default_rng(0).standard_normal((20, 4))
    found = OutlierPursuit(alpha=1.0, centering="mean").fit(X)
    assert len(found.outliers_) == 0
    assert found.objective_ == pytest.approx(np.linalg.norm(X - X.mean(axis=0), "nuc"))


def test_a_low_price_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match="makes every row an outlier"):
        OutlierPursuit(alpha=1e-3).fit(X)


def test_stopped_early():
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        found = OutlierPursuit(max_iter=3, n_outliers=2, n_components=1).fit(X)
    assert found.n_iter_ == 3
    assert found.dual_gap_ > 0.0


def test_rotation_and_permutation():
    rng = np.random.default_rng(0)
    X = planted(rng, p=8)
    plain = OutlierPursuit(centering="mean", n_outliers=6, n_components=2).fit(X)
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    order = rng.permutation(60)
    moved = OutlierPursuit(centering="mean", n_outliers=6, n_components=2).fit(
        (X @ turn + 2.0)[order]
    )
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"tol": 0.0}, "tol must be a number > 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        OutlierPursuit(**options).fit(np.eye(5))
