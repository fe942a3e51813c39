"""What every fast selector owes its user: awkward data give a valid answer or one clear error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from columnist.criteria import Frobenius
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    MultiLabelInformedSelector,
    NormSampler,
    PivotedQRSelector,
    RobustL21Selector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)
from tests.oracles.brute_force import subset_error

K = 3
SELECTORS = [
    ForwardSelector(K),
    ForwardSelector(K, criterion="nuclear"),
    ForwardSelector(K, degree=2),
    ExchangeSelector(K, random_state=0),
    PivotedQRSelector(K),
    GKSSelector(K, random_state=0),
    StrongRRQRSelector(K),
    UniformSampler(K, random_state=0),
    NormSampler(K, random_state=0),
    LeverageSampler(K, random_state=0),
    VolumeSampler(K, random_state=0),
    CorrelationFilter(K),
    MatchingFilter(K),
    TwoStageSelector(NormSampler(random_state=0), StrongRRQRSelector(K), 6),
    TwoStageSelector(MatchingFilter(), ForwardSelector(K), 6),
    RobustL21Selector(K, alpha=0.1),
    MultiLabelInformedSelector(K, gamma=0.01),
]
NEED_Y = (CorrelationFilter, MatchingFilter, RobustL21Selector, MultiLabelInformedSelector)
# Solvers whose objective has a scale of its own: other units are other problems.
NOT_SCALE_FREE = (RobustL21Selector, MultiLabelInformedSelector)


def label(selector) -> str:
    return str(selector).replace("\n", "").replace(" ", "")


def needs_y(selector) -> bool:
    stages = [selector, getattr(selector, "first", None), getattr(selector, "second", None)]
    return any(isinstance(stage, NEED_Y) for stage in stages)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 10)) * rng.uniform(0.5, 2.0, 10)
    return X, X[:, :4] @ rng.standard_normal(4) + 0.1 * rng.standard_normal(40)


def fit(selector, X, y):
    """A fitted copy; running out of columns may be said, nothing else."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*selected \d+ of \d+ columns.*")
        return clone(selector).fit(X, y if needs_y(selector) else None)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_error_is_that_of_the_selection(selector, data):
    X, y = data
    fitted = fit(selector, X, y)
    if getattr(selector, "criterion", "frobenius") != "frobenius" or hasattr(selector, "degree"):
        return
    Y = y[:, None] if needs_y(selector) else None
    if isinstance(selector, CorrelationFilter):  # a correlation has an intercept
        X, Y = X - X.mean(axis=0), Y - Y.mean()
    expected = subset_error(X, fitted.selected_, Frobenius(), Y=Y)
    assert fitted.error_ == pytest.approx(expected, rel=1e-9)
    total = subset_error(X, [], Frobenius(), Y=Y)
    assert fitted.relative_error_ == pytest.approx(expected / total, rel=1e-9)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_repeats_and_constants(selector, data):
    X, y = data
    X = np.column_stack([np.zeros(40), X[:, :4], X[:, 1], np.full(40, 3.0), X[:, 2] * 1e-3])
    selected = fit(selector, X, y).selected_
    assert 1 <= len(set(selected)) == len(selected) <= K


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_more_columns_than_rank(selector, data):
    X, y = data
    X = np.outer(X[:, 0], np.arange(1.0, 8.0))
    selected = fit(selector, X, y).selected_
    assert 1 <= len(selected) <= K


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_fewer_rows_than_columns(selector, data):
    X, y = data
    selected = fit(selector, X[:5], y[:5]).selected_
    assert 1 <= len(selected) <= K


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize(
    "selector", [s for s in SELECTORS if not isinstance(s, NOT_SCALE_FREE)], ids=label
)
def test_scale(selector, data, scale):
    X, y = data
    one, other = fit(selector, X, y), fit(selector, X * scale, y)
    np.testing.assert_array_equal(one.selected_, other.selected_)
    assert other.relative_error_ == pytest.approx(one.relative_error_, rel=1e-9)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_sparse_selects_as_dense(selector, data):
    X, y = data
    X = X * (np.random.default_rng(1).random(X.shape) < 0.6)
    dense = fit(selector, X, y)
    for form in (sp.csr_array, sp.csc_matrix):
        sparse = fit(selector, form(X), y)
        np.testing.assert_array_equal(sparse.selected_, dense.selected_)
        assert sparse.error_ == pytest.approx(dense.error_, rel=1e-8)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_repeated_entries_add_up(selector, data):
    X, y = data
    rows, columns = np.indices(X.shape).reshape(2, -1)
    twice = np.concatenate([0.25 * X.ravel(), 0.75 * X.ravel()])
    places = np.tile(rows, 2), np.tile(columns, 2)
    # Built by hand, so that conversion does not add up the entries.
    order = np.argsort(places[1], kind="stable")
    indptr = np.arange(0, twice.size + 1, 2 * len(X))
    repeated = sp.csc_array((twice[order], places[0][order], indptr), shape=X.shape)
    assert repeated.nnz == 2 * X.size
    selected = fit(selector, repeated, y).selected_
    np.testing.assert_array_equal(selected, fit(selector, sp.csc_array(X), y).selected_)
    assert repeated.nnz == 2 * X.size


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_float32_stays_float32(selector, data):
    X, y = data
    X = X.astype(np.float32)
    fitted = fit(selector, X, y)
    assert fitted.transform(X).dtype == np.float32
    np.testing.assert_array_equal(fitted.selected_, fit(selector, X.astype(float), y).selected_)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values(selector, data, bad):
    X, y = data
    X = X.copy()
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(selector, X, y)


@pytest.mark.parametrize("selector", SELECTORS, ids=label)
def test_too_many_columns(selector, data):
    X, y = data
    many = clone(selector)
    target = many.second if isinstance(many, TwoStageSelector) else many
    target.set_params(n_features_to_select=11)
    with pytest.raises(ValueError, match="between 1 and the number of features"):
        fit(many, X, y)


@pytest.mark.parametrize("selector", [s for s in SELECTORS if needs_y(s)], ids=label)
def test_a_target_is_asked_for(selector, data):
    with pytest.raises(ValueError, match="y"):
        clone(selector).fit(data[0])


@pytest.mark.parametrize("selector", [s for s in SELECTORS if needs_y(s)], ids=label)
def test_missing_target_values(selector, data):
    X, y = data
    y = y.copy()
    y[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(selector).fit(X, y)
