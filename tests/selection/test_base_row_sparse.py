"""What the selectors by row-sparse coefficients share: ranking, warnings, units, input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from columnist.linalg._prox import row_norms
from columnist.selection import MultiLabelInformedSelector, RobustL21Selector

TIGHT = {"tol": 1e-9, "max_iter": 50000}
SELECTORS = [
    RobustL21Selector(3, alpha=0.5, **TIGHT),
    MultiLabelInformedSelector(3, alpha=0.7, beta=0.4, gamma=0.5, n_latent=2, **TIGHT),
]
# Name of the penalty, and its unit as powers of the units of X and y.
PENALTY = {RobustL21Selector: ("alpha", 1, 0), MultiLabelInformedSelector: ("gamma", 1, 1)}

pytestmark = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    return X, X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((30, 4))


def penalised(selector, factor: float):
    """A copy with its penalty multiplied."""
    name, _, _ = PENALTY[type(selector)]
    return clone(selector).set_params(**{name: factor * getattr(selector, name)})


def test_scores_are_row_lengths_and_rank_the_selection(selector, data):
    fitted = clone(selector).fit(*data)
    np.testing.assert_allclose(fitted.scores_, row_norms(fitted.coef_))
    best = np.argsort(-fitted.scores_, kind="stable")[:3]
    np.testing.assert_array_equal(fitted.selected_, best)
    assert set(fitted.selected_) == {0, 1, 2}


def test_a_large_penalty_leaves_few_columns(selector, data):
    large = penalised(selector, 16.0).set_params(n_features_to_select=8)
    name, _, _ = PENALTY[type(selector)]
    message = f"have a nonzero coefficient at {name}=8. Lower {name} to select more"
    with pytest.warns(UserWarning, match=message) as caught:
        fitted = large.fit(*data)
    assert caught[0].filename == __file__
    assert 1 <= len(fitted.selected_) < 8
    np.testing.assert_array_equal(np.sort(fitted.selected_), np.flatnonzero(fitted.scores_))


def test_without_coefficients_the_first_to_enter_is_selected(selector, data):
    with pytest.warns(UserWarning, match="selected 1 of 3 columns: only 0 have a nonzero"):
        none = penalised(selector, 1e6).fit(*data)
    np.testing.assert_array_equal(none.coef_, 0.0)
    factor = 1e6
    while True:  # lower the penalty until some column enters
        factor /= 1.1
        few = penalised(selector, factor).set_params(n_features_to_select=1).fit(*data)
        if few.scores_.any():
            break
    np.testing.assert_array_equal(few.selected_, none.selected_)


def test_one_column_is_enough_without_a_warning(selector, data):
    fitted = penalised(selector, 1e6).set_params(n_features_to_select=1).fit(*data)
    assert len(fitted.selected_) == 1


@pytest.mark.parametrize("x_unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("y_unit", [1e-150, 1.0, 1e150])
def test_units(selector, data, x_unit, y_unit):
    """The same problem in other units, of data beyond what can be squared."""
    X, Y = data
    _, x_power, y_power = PENALTY[type(selector)]
    factor = x_unit**x_power * y_unit**y_power
    if not 1e-299 < factor < 1e299:
        return  # the penalty itself is out of range
    one = clone(selector).fit(X, Y)
    other = penalised(selector, factor).fit(X * x_unit, Y * y_unit)
    np.testing.assert_array_equal(other.selected_, one.selected_)
    np.testing.assert_allclose(other.scores_ * x_unit / y_unit, one.scores_, rtol=1e-3, atol=1e-4)
    assert other.relative_error_ == pytest.approx(one.relative_error_, rel=1e-9)


def test_a_penalty_far_out_of_scale_is_no_accident(selector, data):
    X, Y = data
    with pytest.warns(UserWarning, match="only 0 have a nonzero coefficient"):
        penalised(selector, 1e290).fit(X * 1e-140, Y * 1e-140)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nothing certifies a zero penalty
        short = penalised(selector, 1e-290).set_params(max_iter=5)
        fitted = short.fit(X * 1e140, Y * 1e140)
    assert len(fitted.selected_) == 3


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("shape", [(30, 8), (12, 40)])
def test_sparse_is_as_dense(selector, container, shape):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.5)
    Y = rng.standard_normal((shape[0], 2))
    dense, sparse = (clone(selector).fit(form, Y) for form in (X, container(X)))
    np.testing.assert_array_equal(sparse.selected_, dense.selected_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4 * dense.scores_.max())
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-8)


def test_float32_is_computed_in_float64(selector, data):
    X, Y = data
    X = X.astype(np.float32)
    one, other = clone(selector).fit(X, Y), clone(selector).fit(X.astype(float), Y)
    np.testing.assert_array_equal(one.selected_, other.selected_)
    assert one.coef_.dtype == np.float64
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)


def test_vectors_and_labels(selector, data):
    X, Y = data
    selector = clone(selector)
    if hasattr(selector, "n_latent"):
        selector.set_params(n_latent=None)
    vector = selector.fit(X, Y[:, 0]).scores_
    np.testing.assert_allclose(selector.fit(X, Y[:, :1]).scores_, vector)
    labels = np.array(["a", "b", "c"])[np.arange(30) % 3]
    by_name = selector.fit(X, labels).scores_
    by_matrix = selector.fit(X, (labels[:, None] == ["a", "b", "c"]).astype(float)).scores_
    np.testing.assert_allclose(by_name, by_matrix)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_targets(selector, data, value):
    X, _ = data
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*selected 1 of 3 columns")
        fitted = clone(selector).fit(X, np.full((30, 2), value))
    assert len(fitted.selected_) == (1 if value == 0.0 else 3)
    assert np.isfinite(fitted.objective_)


@pytest.mark.parametrize("rows", [1, 2])
def test_hardly_any_rows(selector, data, rows):
    X, Y = data
    fitted = penalised(selector, 1e-3).set_params(n_features_to_select=1).fit(X[:rows], Y[:rows])
    assert len(fitted.selected_) == 1


def test_equal_columns_share_their_coefficient(selector, data):
    X, Y = data
    fitted = clone(selector).fit(np.column_stack([X, X[:, 0], np.zeros(30)]), Y)
    np.testing.assert_allclose(fitted.coef_[8], fitted.coef_[0], atol=1e-4)
    np.testing.assert_array_equal(fitted.coef_[9], 0.0)


def test_y_is_needed(selector, data):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        clone(selector).fit(data[0])
    assert selector.__sklearn_tags__().target_tags.required


def test_an_unfinished_run_says_so(selector, data):
    with pytest.warns(ConvergenceWarning, match="stopped after 1 ") as caught:
        fitted = clone(selector).set_params(max_iter=1, n_features_to_select=1).fit(*data)
    assert caught[0].filename == __file__
    assert fitted.n_iter_ == len(fitted.selected_) == 1


def test_data_are_not_changed(selector, data):
    X, Y = data
    before = X.copy(), Y.copy()
    clone(selector).fit(X, Y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])
