"""Moments of rows with gaps, against textbook EM and complete data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine

from columnist import ColumnSelector, SubsetRegressor, certify, selection_path
from columnist.data._missing import estimate
from columnist.distributed import RunningMoments
from columnist.selection import ForwardSelector


def gappy(seed: int, m: int = 60, n: int = 4, share: float = 0.25) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) @ rng.standard_normal((n, n)) * 10.0 ** rng.integers(-3, 4, n)
    X[rng.random(X.shape) < share] = np.nan
    X[0] = np.where(np.isnan(X[0]), 0.5, X[0])
    return X + 3.0


def textbook(X: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """EM row by row."""
    mean, S = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(steps):
        filled, extra = X.copy(), np.zeros_like(S)
        for row in filled:
            u, o = np.isnan(row), ~np.isnan(row)
            B = S[np.ix_(u, o)] @ np.linalg.pinv(S[np.ix_(o, o)])
            row[u] = mean[u] + B @ (row[o] - mean[o])
            extra[np.ix_(u, u)] += S[np.ix_(u, u)] - B @ S[np.ix_(o, u)]
        mean = filled.mean(axis=0)
        S = np.cov(filled.T, bias=True) + extra / len(X)
    return mean, S


def likelihood(X, mean, S) -> float:
    total = 0.0
    for row in X:
        o = ~np.isnan(row)
        if o.any():
            normal = multivariate_normal(mean[o], S[np.ix_(o, o)], allow_singular=True)
            total += normal.logpdf(row[o])
    return total


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_em_against_a_textbook(seed):
    X = gappy(seed)
    found = estimate(X, "covariance", np.ones(len(X)))
    mean, S = textbook(X, 300)
    scale = np.nanstd(X, axis=0)
    np.testing.assert_allclose(found.mean / scale, mean / scale, atol=2e-3)
    np.testing.assert_allclose(
        found.covariance / np.outer(scale, scale), S / np.outer(scale, scale), atol=5e-3
    )
    D = np.outer(scale, scale)
    ours = likelihood(X / scale, found.mean / scale, found.covariance / D)
    assert ours >= likelihood(X / scale, mean / scale, S / D) - 1e-2


@pytest.mark.filterwarnings("ignore:The covariance matrix moved")
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.4, 0.6]))
def test_the_likelihood_never_falls(seed, share):
    X = gappy(seed, share=share)
    found = estimate(X, "covariance", np.ones(len(X)))
    assert len(found.likelihoods) > 1
    steps = np.diff(found.likelihoods)
    assert (steps >= -1e-8 * np.abs(found.likelihoods[:-1])).all()
    assert np.linalg.eigvalsh(found.covariance).min() >= -1e-9 * found.covariance.max()


@pytest.mark.parametrize("method", ["covariance", "pairwise"])
def test_complete_rows_give_their_own_moments(method):
    X = gappy(0, share=0.0)
    found = estimate(X, method, np.ones(len(X)))
    np.testing.assert_allclose(found.mean, X.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("method", ["covariance", "pairwise"])
def test_weights_are_numbers_of_rows(method):
    X = gappy(1)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    found = estimate(X, method, weights.astype(float))
    repeated = np.repeat(X, weights, axis=0)
    expected = estimate(repeated, method, np.ones(len(repeated)))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-8, atol=1e-12)


def test_rows_and_columns_that_tell_nothing():
    X = gappy(2)
    more = np.vstack([X, np.full((3, 4), np.nan)])
    found, expected = (estimate(A, "covariance", np.ones(len(A))) for A in (more, X))
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
    constant = np.column_stack([X, np.full(len(X), 0.1)])
    constant[3:9, 4] = np.nan
    found = estimate(constant, "covariance", np.ones(len(X)))
    assert not found.covariance[4].any()
    assert found.mean[4] == pytest.approx(0.1)


@pytest.mark.filterwarnings("ignore:The covariance matrix moved")
@pytest.mark.parametrize("shape", [(8, 12), (40, 5)])
def test_a_ridge_where_columns_are_dependent(shape):
    X = gappy(3, *shape)
    if shape[0] > shape[1]:
        X[:, 4] = np.where(np.isnan(X[:, 0]), np.nan, 2.0 * X[:, 0])
    found = estimate(X, "covariance", np.ones(len(X)))
    assert found.ridge > 0.0
    assert np.isfinite(found.covariance).all()
    assert np.linalg.eigvalsh(found.covariance).min() >= -1e-9 * found.covariance.max()
    assert (np.diff(found.likelihoods) >= -1e-8 * np.abs(found.likelihoods[:-1])).all()


def test_pairwise_is_made_positive_semidefinite():
    X = gappy(4, 14, 6, 0.5)
    X[:6] = np.where(np.isnan(X[:6]), 1.0, X[:6])
    found = estimate(X, "pairwise", np.ones(len(X)))
    assert found.adjusted > 0.0
    values = np.linalg.eigvalsh(found.covariance)
    assert values[0] >= -1e-10 * values[-1]
    np.testing.assert_allclose(np.diag(found.covariance), np.nanvar(X, axis=0))


# -- selections --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wine() -> np.ndarray:
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("method", ["covariance", "pairwise"])
@pytest.mark.parametrize("centering", ["none", "mean"])
def test_a_selection_is_that_of_the_covariance(wine, method, centering):
    m = len(wine)
    found = estimate(wine, method, np.ones(m))
    G = m * found.covariance
    if centering == "none":
        G = G + m * np.outer(found.mean, found.mean)
    expected = ColumnSelector(3, input="gram").fit(G)
    selector = ColumnSelector(3, missing=method, centering=centering).fit(wine)
    np.testing.assert_array_equal(selector.selected_, expected.selected_)
    np.testing.assert_allclose(selector.error_, expected.error_, rtol=1e-8)
    np.testing.assert_allclose(selector.column_r2_, expected.column_r2_, atol=1e-8)
    certificate = selector.certificate_
    assert certificate.status == "optimal"
    assert certificate.missing["method"] == method
    np.testing.assert_allclose(certificate.missing["column_shares"], np.isnan(wine).mean(axis=0))
    assert certificate.to_dict()["missing"]["share"] == pytest.approx(np.isnan(wine).mean())
    assert "of the values were missing" in repr(certificate)
    intercept = found.mean - found.mean[selector.selected_] @ selector.coef_
    expected = intercept if centering == "mean" else 0.0
    np.testing.assert_allclose(selector.intercept_, expected, atol=1e-8)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_target_is_part_of_the_distribution(kind):
    X, y = load_iris(return_X_y=True)
    if kind == "numbers":
        y = X @ [1.0, 2.0, 0.0, 0.0] + np.random.default_rng(0).standard_normal(len(X))
    complete = ColumnSelector(2, centering="mean").fit(X, y)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    selector = ColumnSelector(2, centering="mean", missing="covariance").fit(X, y)
    assert selector.certificate_.target_kind == kind
    assert selector.coef_.shape == complete.coef_.shape
    np.testing.assert_array_equal(selector.selected_, complete.selected_)
    assert selector.relative_error_ == pytest.approx(complete.relative_error_, abs=0.05)


def test_nothing_missing_changes_nothing(wine):
    X = np.nan_to_num(wine)
    selector, plain = ColumnSelector(3, missing="covariance").fit(X), ColumnSelector(3).fit(X)
    assert selector.certificate_.missing is None
    assert selector.error_ == plain.error_


def test_gaps_pass_through(wine):
    selector = ColumnSelector(2, missing="covariance").fit(wine)
    np.testing.assert_array_equal(selector.transform(wine), wine[:, selector.selected_])
    assert selector.__sklearn_tags__().input_tags.allow_nan
    assert not ColumnSelector(2).__sklearn_tags__().input_tags.allow_nan


def test_certificates_and_paths(wine):
    selector = ColumnSelector(3, missing="covariance").fit(wine)
    certificate = certify(wine, selector.selected_, missing="covariance")
    assert certificate.status == "optimal"
    assert certificate.missing is not None
    path = selection_path(wine, 3, missing="covariance")
    assert path[2].certificate.error == pytest.approx(selector.error_)
    assert path[0].certificate.missing is not None


def test_weights_and_gaps_together(wine):
    weights = np.random.default_rng(0).integers(0, 3, len(wine))
    found = ColumnSelector(3, missing="covariance").fit(wine, sample_weight=weights)
    expected = ColumnSelector(3, missing="covariance").fit(np.repeat(wine, weights, axis=0))
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    np.testing.assert_allclose(found.error_, expected.error_, rtol=1e-6)


def test_what_cannot_be_estimated(wine):
    empty = wine.copy()
    empty[:, 2] = np.nan
    with pytest.raises(ValueError, match="without any value, at 2"):
        ColumnSelector(2, missing="covariance").fit(empty)
    apart = np.where(np.arange(len(wine)) % 2 == 0, wine[:, 0], np.nan)
    other = np.where(np.arange(len(wine)) % 2 == 1, wine[:, 1], np.nan)
    with pytest.raises(ValueError, match="both values"):
        ColumnSelector(1, missing="pairwise").fit(np.column_stack([apart, other]))
    with pytest.raises(ValueError, match="no missing values to estimate"):
        ColumnSelector(2, missing="covariance", input="gram").fit(np.eye(3))
    with pytest.raises(ValueError, match="missing must be one of"):
        ColumnSelector(2, missing="mean").fit(wine)
    with pytest.raises(ValueError, match="proof"):
        ColumnSelector(2, missing="covariance", proof="never.proof").fit(wine)
    with pytest.raises(ValueError, match="keeps sums, not rows"):
        ColumnSelector(2, missing="covariance").fit(RunningMoments().partial_fit(np.eye(3)))


@pytest.mark.parametrize("estimator", [ColumnSelector(2), ForwardSelector(2), SubsetRegressor(2)])
def test_errors_say_where_to_go(wine, estimator):
    with pytest.raises(ValueError, match=r"NaN.*missing='covariance'.*SparseLoadings"):
        estimator.fit(wine, np.arange(len(wine)) / 2)
