"""Filters against NumPy's correlation and plain least squares."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.criteria import Frobenius
from columnist.selection._filters import CorrelationFilter, MatchingFilter
from tests.oracles.brute_force import subset_error
from tests.strategies import matrices, targets, tolerance

FILTERS = [CorrelationFilter(2), MatchingFilter(2), MatchingFilter(2, centering="mean")]
every = pytest.mark.parametrize("selector", FILTERS, ids=repr)
FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]


def gaussian(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


X = gaussian(15, 6) + np.array([0.0, 5.0, 0.0, -3.0, 100.0, 0.0])
y = X @ [1.0, 0.5, 0.0, -1.0, 0.1, 0.3] + gaussian(15, 1, seed=1)[:, 0]


def centred(A):
    return A - A.mean(axis=0)


def correlations(X, y):
    return np.abs([np.corrcoef(x, y)[0, 1] for x in X.T])


def removed(X, Y):
    """What each column alone takes off the squared error, by least squares."""
    total = np.square(Y).sum()
    fits = [np.linalg.lstsq(x[:, None], Y, rcond=None)[0] for x in X.T]
    left = [np.square(Y - np.outer(x, fit)).sum() for x, fit in zip(X.T, fits, strict=True)]
    return total - np.array(left)


def refuses(message, selector, data=X, target=y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            selector.fit(data, target)


# --- scores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_correlation(form):
    selector = CorrelationFilter(3).fit(form(X), y)
    expected = correlations(X, y)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-10)
    np.testing.assert_array_equal(selector.selected_, np.argsort(-expected)[:3])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize("n_targets", [1, 4])
def test_matching(form, centering, n_targets):
    Y = X @ gaussian(6, n_targets) + gaussian(15, n_targets, seed=1)
    selector = MatchingFilter(3, centering=centering).fit(form(X), Y)
    expected = removed(centred(X), centred(Y)) if centering == "mean" else removed(X, Y)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-9)
    np.testing.assert_array_equal(selector.selected_, np.argsort(-expected)[:3])


@given(matrices(min_rows=3), st.sampled_from(FORMS), st.sampled_from(["none", "mean"]), st.data())
def test_matching_any_data(X, form, centering, data):
    target, Y = data.draw(targets(X.shape[0]), label="y")
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    selector = MatchingFilter(size, centering=centering).fit(form(X), target)
    if centering == "mean":
        X, Y = centred(X), centred(Y)
    dead = np.linalg.norm(X, axis=0) <= 1e-12 * np.abs(X).max(initial=0.0)
    np.testing.assert_array_equal(np.isnan(selector.scores_), dead)
    alive = np.flatnonzero(~dead)
    expected = removed(X[:, alive], Y)
    np.testing.assert_allclose(selector.scores_[alive], expected, atol=1e-9 * np.vdot(Y, Y))
    error = subset_error(X, selector.selected_, Frobenius(), 0, Y)
    assert selector.error_ == pytest.approx(error, rel=1e-8, abs=tolerance(Frobenius(), Y))


@pytest.mark.parametrize("form", FORMS)
def test_error_of_one_column_with_intercept(form):
    """The share of the variance that one column leaves is one minus its squared correlation."""
    selector = CorrelationFilter(1).fit(form(X), y)
    assert selector.relative_error_ == pytest.approx(1 - selector.scores_.max() ** 2)
    assert selector.error_ == pytest.approx(
        subset_error(centred(X), selector.selected_, Frobenius(), 0, centred(y[:, None]))
    )


@pytest.mark.parametrize("form", FORMS)
def test_large_means_do_not_cancel(form):
    """Columns far from zero: their squares agree in all digits, their deviations do not."""
    far = X[:, :1] + [0.0, 1e6, 1e9]
    scores = CorrelationFilter(1).fit(form(far), y).scores_
    np.testing.assert_allclose(scores, correlations(X[:, :1], y)[0], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_undefined_scores_rank_last(form):
    data = np.column_stack([np.full(15, 0.1), X[:, 0], np.zeros(15), np.full(15, -7e5), X[:, 1]])
    selector = CorrelationFilter(5).fit(form(data), y)
    np.testing.assert_array_equal(np.isnan(selector.scores_), [True, False, True, True, False])
    assert set(selector.selected_[:2]) == {1, 4}
    np.testing.assert_array_equal(selector.selected_[2:], [0, 2, 3])
    matching = MatchingFilter(2).fit(form(data), y)
    np.testing.assert_array_equal(np.isnan(matching.scores_), [False, False, True, False, False])


@every
def test_ties_go_to_the_smaller_index(selector):
    selector.fit(X[:, [0, 1, 0, 1, 0]], X[:, 0])
    np.testing.assert_array_equal(selector.selected_, [0, 2])


# --- targets ------------------------------------------------------------------------------------


def test_two_classes_are_zero_and_one():
    high = y > np.median(y)
    labels = np.where(high, "yes", "no")
    expected = correlations(X, high)
    for target in (labels, labels.astype(object), list(labels), high, high.astype(int)):
        np.testing.assert_allclose(CorrelationFilter(2).fit(X, target).scores_, expected)


def test_integers_are_values_for_the_correlation():
    codes = np.arange(15) // 4
    for target in (codes, codes.astype(object), codes[:, None], sp.csr_array(codes[:, None])):
        scores = CorrelationFilter(2).fit(X, target).scores_
        np.testing.assert_allclose(scores, correlations(X, codes))


def test_integers_are_classes_for_the_matching():
    codes = np.arange(15) // 4
    classes = (codes[:, None] == np.arange(4)).astype(float)
    for target in (codes, np.array(list("abcd"))[codes], classes):
        np.testing.assert_allclose(MatchingFilter(2).fit(X, target).scores_, removed(X, classes))


def test_several_targets():
    refuses(r"needs one target; y has shape \(15, 2\). Use MatchingFilter", CorrelationFilter(2),
            target=X[:, :2])  # fmt: skip
    labels = np.array(["red", "green", "blue"] * 5)
    refuses("y has 3 classes, .* Use MatchingFilter", CorrelationFilter(2), target=labels)


@pytest.mark.parametrize("target", [np.full(15, 0.1), np.zeros(15), ["a"] * 15], ids=str)
def test_constant_target(target):
    refuses("y is constant", CorrelationFilter(2), target=target)


@every
@pytest.mark.parametrize("target", [[*y[:-1], np.nan], [*y[:-1], None], ["a"] * 14 + [None]])
def test_missing_target(selector, target):
    refuses("Input y contains NaN|y has missing labels", selector, target=target)


@every
def test_no_target(selector):
    refuses("requires y to be passed, but the target y is None", selector, target=None)


@every
def test_target_of_another_length(selector):
    refuses("inconsistent numbers of samples", selector, target=y[:-1])


# --- data ---------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_float32(selector, form):
    data = X.astype(np.float32)
    single = selector.fit(form(data), y).scores_
    np.testing.assert_allclose(single, selector.fit(data.astype(np.float64), y).scores_, rtol=1e-9)


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_tiny_and_huge_scales(selector, form, scale):
    plain = selector.fit(form(X), y)
    scores, selected, share = plain.scores_, plain.selected_, plain.relative_error_
    for x_scale, y_scale in [(scale, 1.0), (1.0, scale), (scale, scale), (1 / scale, scale)]:
        scaled = selector.fit(form(x_scale * X), y_scale * y)
        np.testing.assert_array_equal(scaled.selected_, selected)
        assert scaled.relative_error_ == pytest.approx(share)
        expected = scores if isinstance(selector, CorrelationFilter) else scores * y_scale**2
        np.testing.assert_allclose(scaled.scores_, expected, rtol=1e-9)


@every
def test_bad_input(selector):
    broken = X.copy()
    broken[2, 3] = np.nan
    refuses("Input X contains NaN", selector, broken)
    refuses("Input X contains NaN", selector, sp.csc_array(broken))


def test_one_row():
    refuses("1 sample", CorrelationFilter(1), X[:1], y[:1])
    selector = MatchingFilter(1).fit(X[:1], y[:1])
    np.testing.assert_allclose(selector.scores_, y[0] ** 2)
    assert selector.error_ == pytest.approx(0.0, abs=1e-12 * y[0] ** 2)


@pytest.mark.parametrize("option", ["median", True, None])
def test_centering_of_no_meaning(option):
    refuses("centering must be one of 'none', 'mean'", MatchingFilter(2, centering=option))
