"""Cut-offs: near their nominal level on clean rows, seen or new, and where fits are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from columnist.robust._baselines import TrimmedPCA
from columnist.robust._cutoffs import orthogonal_cutoff
from columnist.robust._robpca import ROBPCA
from columnist.robust._subspace import fit_subspace
from tests.oracles.cutoffs import classical_cutoffs, cross_fitted_cutoffs
from tests.robust.samples import contaminated

NOBODY = np.array([], dtype=int)


def gaussian(n, p, r, rng):
    return rng.standard_normal((n, p)) * np.append(np.linspace(3.5, 2.5, r), np.ones(p - r))


def shares_beyond(found, rows):
    """Shares of rows beyond the score and the orthogonal cut-off."""
    return (
        np.mean(found.score_distances(rows) > found.score_cutoff_),
        np.mean(found.orthogonal_distances(rows) > found.orthogonal_cutoff_),
    )


def false_alarms(n, p, r, *, cutoff="cross-fitted", repeats=15):
    """Shares of good rows beyond the two cut-offs: (rows of the fit, new rows)."""
    shares = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        X = gaussian(n, p, r, rng)
        found = TrimmedPCA(r, n_outliers=0.1, cutoff=cutoff).fit(X)
        new = gaussian(1000, p, r, rng)
        shares.append([shares_beyond(found, X), shares_beyond(found, new)])
    return np.mean(shares, axis=0)


@pytest.mark.parametrize(
    "size", [(100, 5, 2), (500, 5, 2), (100, 20, 3), (50, 20, 3), (1000, 50, 5)]
)
def test_false_alarms_are_near_nominal(size):
    shares = false_alarms(*size)
    assert np.all(shares > 0.01) and np.all(shares < 0.05)


@pytest.mark.parametrize("size", [(100, 100, 3), (50, 200, 3)])
def test_wide_data_raise_no_more_false_alarms(size):
    """Scores of seen rows are larger than those of new ones: one cut-off serves both."""
    (seen_score, seen_orthogonal), (new_score, new_orthogonal) = false_alarms(*size)
    assert 0.01 < seen_score < 0.05 and seen_orthogonal < 0.05
    assert new_score < 0.05 and 0.01 < new_orthogonal < 0.05


def test_wide_data_need_cross_fitting():
    _, (_, classical) = false_alarms(50, 200, 3, cutoff="classical")
    assert classical > 0.25


def test_outliers_do_not_spoil_the_scores():
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, axes = contaminated(100, 100, 3, 20, rng)
        found = TrimmedPCA(3, n_outliers=20).fit(X)
        new = (rng.standard_normal((1000, 3)) * np.linspace(3.0, 1.5, 3)) @ axes
        new += 0.1 * rng.standard_normal(new.shape)
        shares.append(np.mean(found.predict(new) < 0))
    assert np.mean(shares) < 0.07


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X = gaussian(60, 6, 2, rng)
    one = cross_fitted_cutoffs(X, NOBODY, fit_subspace(X, 2))
    X = X[rng.permutation(60)]
    two = cross_fitted_cutoffs(X, NOBODY, fit_subspace(X, 2))
    assert two.score == pytest.approx(one.score)
    assert two.orthogonal == pytest.approx(one.orthogonal)


def test_classical_rule():
    X = gaussian(80, 5, 2, np.random.default_rng(1))
    found = fit_subspace(X, 2)
    cutoffs = classical_cutoffs(X, found)
    assert cutoffs.score**2 == pytest.approx(chi2.ppf(0.975, 2))
    powers = np.sort(found.orthogonal_distances(X) ** (2 / 3))
    middle = 0.5 * (powers[39] + powers[40])
    mad = np.median(np.abs(powers - middle))
    assert cutoffs.orthogonal == pytest.approx((middle + 1.96 * 1.4826 * mad) ** 1.5, rel=1e-4)


def test_quantile_of_chi_distances():
    squares = np.random.default_rng(0).chisquare(12, 20000)
    assert orthogonal_cutoff(np.sqrt(squares)) == pytest.approx(
        np.sqrt(chi2.ppf(0.975, 12)), rel=0.01
    )


def test_too_few_rows_fall_back():
    X = np.random.default_rng(0).standard_normal((4, 6))
    found = fit_subspace(X, 3)
    assert cross_fitted_cutoffs(X, NOBODY, found) == classical_cutoffs(X, found)


def test_exact_fit_leaves_rounding_only():
    X = np.outer(np.arange(30.0), [3.0, 4.0, 0.0]) + 7.0
    found = fit_subspace(X, 1)
    for cutoffs in (classical_cutoffs(X, found), cross_fitted_cutoffs(X, NOBODY, found)):
        assert 0.0 < cutoffs.orthogonal < 1e-10


@pytest.mark.parametrize("estimator", [TrimmedPCA(3, n_outliers=0.2), ROBPCA(3, random_state=0)])
@pytest.mark.parametrize("size", [(100, 20), (60, 100)])
def test_false_alarms_among_outliers(size, estimator):
    """Rows of the fit and new ones, where one in five is an outlier."""
    (n, p), k, shares = size, size[0] // 5, []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = gaussian(n, p, 3, rng)
        directions = rng.standard_normal((k, p - 3))
        X[:k, 3:] = 4.0 * np.sqrt(p) * directions / np.linalg.norm(directions, axis=1)[:, None]
        found = estimator.fit(X)
        assert np.all(found.predict(X[:k]) == -1)
        new = gaussian(1000, p, 3, rng)
        shares.append([shares_beyond(found, X[k:]), shares_beyond(found, new)])
    (fit_score, fit_orthogonal), (new_score, new_orthogonal) = np.mean(shares, axis=0)
    assert fit_score < 0.05 and fit_orthogonal < 0.05
    assert new_score < 0.05
    assert 0.01 < new_orthogonal < 0.05


@given(st.integers(0, 2**32 - 1), st.floats(1.0, 100.0), st.integers(1, 60))
def test_surely_bad_rows_do_not_move_the_cutoffs(seed, distance, k):
    rng = np.random.default_rng(seed)
    X = gaussian(80, 6, 2, rng)
    fit = fit_subspace(X[:70], 2)
    few = np.arange(70, 80)
    far = gaussian(k, 6, 2, rng)
    far[:, 3] += distance * 40.0
    plain = cross_fitted_cutoffs(X, few, fit)
    more = cross_fitted_cutoffs(np.vstack([X, far]), np.arange(70, 80 + k), fit)
    assert more == plain


def test_removed_good_rows_count():
    """However many good rows were removed: without them the cut-off would be too small."""
    X = gaussian(400, 8, 2, np.random.default_rng(0))
    good = orthogonal_cutoff(fit_subspace(X, 2).orthogonal_distances(X))
    for k in (0, 20, 80, 160):
        found = TrimmedPCA(2, n_outliers=k).fit(X)
        assert found.orthogonal_cutoff_ == pytest.approx(good, rel=0.05)
