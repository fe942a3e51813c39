"""Two stages against the same steps written out, in every case of supervision."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_regression,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from columnist import ColumnSelector
from columnist.selection import (
    CorrelationFilter,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    NormSampler,
    PivotedQRSelector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
)
from tests.real_data import load_cnae9, load_isolet5
from tests.strategies import matrices, targets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 12)) @ np.diag(np.linspace(1, 3, 12)) + 1.0
Y = X @ RNG.standard_normal((12, 4)) * 0.3 + RNG.standard_normal((30, 4))
LABEL = Y[:, 0]


def error(columns, target):
    """Squared error of the target by least squares."""
    return np.linalg.norm(target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]) ** 2


def textbook(S, T, size):
    """Selection from S for the target T: weights by a bounded solver, pivoted QR, deflation.

    Nothing is shared with the package: projections by pseudo-inverse, the quadratic problem by
    SciPy's bounded least squares on vectorised outer products.
    """
    chosen, rounds = [], 0
    while len(chosen) < size:
        off = np.eye(len(S)) - S[:, chosen] @ np.linalg.pinv(S[:, chosen])
        R, K = off @ S, off @ T @ T.T @ off
        free = [j for j in range(S.shape[1]) if j not in chosen]
        units = R[:, free] / np.linalg.norm(R[:, free], axis=0)
        outer = np.array([np.outer(u, u).ravel() for u in units.T]).T
        z = lsq_linear(outer, K.ravel(), (0, np.inf), method="bvls", tol=1e-14).x
        positive = np.flatnonzero(z > 1e-7 * z.max())
        take = min(size - len(chosen), -(-len(positive) // 2))
        pivots = scipy.linalg.qr(units[:, positive] * np.sqrt(z[positive]), pivoting=True)[2]
        chosen += [free[j] for j in positive[pivots[:take]]]
        rounds += 1
    return chosen, rounds


# --- the cases of table 6.1 ------------------------------------------------------------------


def test_supervised_then_supervised():
    """Case 1: the second stage sees the candidates as they are, and y."""
    selector = TwoStageSelector(MatchingFilter(), ForwardSelector(3), 6).fit(X, Y)
    candidates = MatchingFilter(6).fit(X, Y).selected_
    np.testing.assert_array_equal(selector.candidates_, candidates)
    expected = candidates[ForwardSelector(3).fit(X[:, candidates], Y).selected_]
    np.testing.assert_array_equal(selector.selected_, expected)
    np.testing.assert_array_equal(selector.weights_, np.ones(6))
    assert selector.n_rounds_ == 1
    assert np.isnan([selector.error_bound_, selector.weight_error_, selector.second_error_]).all()


@pytest.mark.parametrize("target", [Y, LABEL[:, None]], ids=["many targets", "one target"])
def test_supervised_then_unsupervised(target):
    """Case 2."""
    selector = TwoStageSelector(MatchingFilter(), PivotedQRSelector(4), 10).fit(X, target)
    candidates = MatchingFilter(10).fit(X, target).selected_
    np.testing.assert_array_equal(selector.candidates_, candidates)
    chosen, rounds = textbook(X[:, candidates], target, 4)
    np.testing.assert_array_equal(selector.selected_, candidates[chosen])
    assert selector.n_rounds_ == rounds


def test_unsupervised_then_supervised():
    """Case 3."""
    selector = TwoStageSelector(NormSampler(random_state=1), ForwardSelector(3), 6).fit(X, Y)
    candidates = NormSampler(6, random_state=1).fit(X).selected_
    np.testing.assert_array_equal(selector.candidates_, candidates)
    expected = candidates[ForwardSelector(3).fit(X[:, candidates], Y).selected_]
    np.testing.assert_array_equal(selector.selected_, expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("target", [Y, LABEL[:, None]], ids=["many targets", "one target"])
def test_unsupervised_then_unsupervised_for_y(target, seed):
    """Case 4."""
    first = UniformSampler(random_state=seed)
    selector = TwoStageSelector(first, PivotedQRSelector(4), 10).fit(X, target)
    candidates = UniformSampler(10, random_state=seed).fit(X).selected_
    chosen, rounds = textbook(X[:, candidates], target, 4)
    np.testing.assert_array_equal(selector.selected_, candidates[chosen])
    assert selector.n_rounds_ == rounds


@pytest.mark.parametrize("seed", range(5))
def test_unsupervised_then_unsupervised_for_x(seed):
    """Case 8."""
    selector = TwoStageSelector(UniformSampler(random_state=seed), PivotedQRSelector(4), 9).fit(X)
    candidates = UniformSampler(9, random_state=seed).fit(X).selected_
    chosen, _ = textbook(X[:, candidates], X, 4)
    np.testing.assert_array_equal(selector.selected_, candidates[chosen])


def test_y_is_no_target_when_x_is():
    """A pipeline always passes y; no stage sees it."""
    with_y = TwoStageSelector(NormSampler(random_state=0), ForwardSelector(3), target="X")
    without = TwoStageSelector(NormSampler(random_state=0), ForwardSelector(3))
    np.testing.assert_array_equal(with_y.fit(X, LABEL).selected_, without.fit(X).selected_)
    assert with_y.error_ == pytest.approx(error(X[:, with_y.selected_], X))


def test_forward_selection_may_be_told_to_ignore_y():
    """A second stage with target="X" is an unsupervised one: it gets weights."""
    selector = TwoStageSelector(MatchingFilter(), ForwardSelector(2, target="X"), 8).fit(X, Y)
    assert not np.allclose(selector.weights_, 1.0)
    assert np.isfinite(selector.error_bound_)


# --- errors and the bound --------------------------------------------------------------------


@given(matrices(min_columns=2), st.data())
@settings(max_examples=60)
def test_error_and_bound(data, draw):
    """The error is that of least squares, the theorem holds, and indices are valid."""
    y, target = draw.draw(st.one_of(st.just((None, data)), targets(len(data))))
    size = draw.draw(st.integers(1, data.shape[1]))
    weights = draw.draw(st.sampled_from(["quadratic", "clipped", "sampling", "none"]))
    center = draw.draw(st.booleans())
    selector = TwoStageSelector(
        UniformSampler(random_state=0), PivotedQRSelector(size), weights=weights,
        centering="mean" if center else "none",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TwoStageSelector selected")
        selector.fit(data, y)
    selected = selector.selected_
    assert 1 <= len(selected) == len(set(selected)) <= size
    assert set(selected) <= set(selector.candidates_)
    A, T = (M - M.mean(axis=0) if center else M for M in (data[:, selected], target))
    scale = np.linalg.norm(T) ** 2
    assert selector.error_ == pytest.approx(error(A, T), abs=1e-9 * scale)
    assert selector.error_ <= selector.error_bound_ + 1e-12 * np.linalg.norm(target) ** 2


@pytest.mark.parametrize("weights", ["quadratic", "clipped", "sampling", "none"])
@pytest.mark.parametrize("center", [False, True])
def test_stage_errors_are_those_of_the_weighted_candidates(weights, center):
    centering = "mean" if center else "none"
    first = NormSampler(random_state=0)
    selector = TwoStageSelector(first, GKSSelector(2), 6, weights=weights, centering=centering)
    selector.fit(X, Y)
    assert selector.n_rounds_ == 1
    S, T = X[:, selector.candidates_], Y
    S, T = (S - S.mean(axis=0), T - T.mean(axis=0)) if center else (S, T)
    X1 = S * selector.weights_
    weight_error = np.linalg.norm(X1 @ X1.T - T @ T.T) ** 2
    chosen = [list(selector.candidates_).index(j) for j in selector.selected_]
    assert selector.weight_error_ == pytest.approx(weight_error)
    assert selector.second_error_ == pytest.approx(error(S[:, chosen], X1))
    assert selector.error_ == pytest.approx(error(S[:, chosen], T))
    rank = 2 + center
    limit = selector.second_error_ + np.sqrt(min(30 - rank, 4) * weight_error)
    assert selector.error_ <= selector.error_bound_ <= limit


def test_exact_weights_come_closest():
    first, second = NormSampler(random_state=0), GKSSelector(2)
    found = {
        weights: TwoStageSelector(first, second, 8, weights=weights).fit(X).weight_error_
        for weights in ("quadratic", "clipped", "sampling", "none")
    }
    assert all(found["quadratic"] <= error * (1.0 + 1e-9) for error in found.values())
    assert found["quadratic"] < 0.99 * found["none"]


# --- weights ---------------------------------------------------------------------------------


@pytest.mark.parametrize("replace", [False, True])
def test_sampling_weights(replace):
    first = LeverageSampler(rank=4, replace=replace, random_state=0)
    selector = TwoStageSelector(first, PivotedQRSelector(2), 9, weights="sampling").fit(X)
    sampler = LeverageSampler(9, rank=4, replace=replace, random_state=0).fit(X)
    counts = sampler.counts_ if replace else np.ones(9)
    assert counts.sum() == 9
    expected = np.sqrt(counts / (9 * sampler.probabilities_[sampler.selected_]))
    np.testing.assert_allclose(selector.weights_, expected)
    pivots = PivotedQRSelector(2).fit(X[:, sampler.selected_] * expected).selected_
    np.testing.assert_array_equal(selector.selected_, sampler.selected_[pivots])


def test_sampling_weights_are_right_on_average():
    """Over the single draws that are possible, the mean of S diag(z) S' is XX'."""
    mean, p = np.zeros((30, 30)), NormSampler().fit(X).probabilities_
    seen = {}
    for seed in range(200):
        first = NormSampler(random_state=seed)
        selector = TwoStageSelector(first, PivotedQRSelector(1), 1, weights="sampling").fit(X)
        seen[selector.candidates_[0]] = X[:, selector.candidates_] * selector.weights_
    assert len(seen) == 12
    for column, X1 in seen.items():
        mean += p[column] * X1 @ X1.T
    np.testing.assert_allclose(mean, X @ X.T, rtol=1e-10, atol=1e-10)


def test_no_weights():
    first = NormSampler(random_state=3)
    selector = TwoStageSelector(first, PivotedQRSelector(4), 6, weights="none").fit(X, Y)
    np.testing.assert_array_equal(selector.weights_, np.ones(6))
    pivots = PivotedQRSelector(4).fit(X[:, selector.candidates_]).selected_
    np.testing.assert_array_equal(selector.selected_, selector.candidates_[pivots])


def test_one_label_needs_rounds():
    """Few weights are positive for one target; deflation finds the others."""
    rng = np.random.default_rng(5)
    data = rng.standard_normal((60, 40)) + 2 * rng.standard_normal((60, 1))
    label = rng.standard_normal(60)
    selector = TwoStageSelector(UniformSampler(random_state=0), StrongRRQRSelector(15), 40)
    selector.fit(data, label)
    assert (selector.weights_ > 0).sum() < 15
    assert len(set(selector.selected_)) == 15
    assert selector.n_rounds_ > 1
    unweighted = StrongRRQRSelector(15).fit(data).selected_
    assert selector.error_ < error(data[:, unweighted], label)


def test_gamma_spreads_the_weights():
    sparse, spread = (
        TwoStageSelector(UniformSampler(random_state=0), GKSSelector(1), 12, gamma=gamma)
        .fit(X, LABEL)
        .weights_
        for gamma in (0.0, 100.0)
    )
    assert (sparse > 0).sum() < (spread > 0).sum()


# --- stages of other makes -------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        SelectKBest(f_regression),
        RFE(LinearRegression(), step=0.5),
        SelectFromModel(Ridge(), threshold=-np.inf),
        ColumnSelector(),
        CorrelationFilter(),
        VarianceThreshold(3.0),
        SelectPercentile(f_regression, percentile=60),
    ],
    ids=lambda stage: type(stage).__name__,
)
def test_first_stages(first):
    sized = not isinstance(first, (VarianceThreshold, SelectPercentile))
    selector = TwoStageSelector(first, PivotedQRSelector(3), 7 if sized else None).fit(X, LABEL)
    assert len(selector.candidates_) == 7
    assert len(set(selector.selected_)) == 3
    assert selector.error_ <= selector.error_bound_


@pytest.mark.parametrize(
    ("second", "supervised"),
    [
        (RFE(LinearRegression(), n_features_to_select=2), True),
        (SelectKBest(f_regression, k=2), True),
        (SelectFromModel(Ridge(), max_features=2, threshold=-np.inf), True),
        (SequentialFeatureSelector(Ridge(), n_features_to_select=2, cv=2), True),
        (ColumnSelector(2), True),
        (CorrelationFilter(2), True),
        (ColumnSelector(2, target="X"), False),
        (TwoStageSelector(NormSampler(4, random_state=0), PivotedQRSelector(2)), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_second_stages(second, supervised):
    count = None if isinstance(second, TwoStageSelector) else 6
    selector = TwoStageSelector(NormSampler(random_state=0), second, count or 8).fit(X, LABEL)
    assert len(set(selector.selected_)) == 2
    assert np.isnan(selector.error_bound_) == supervised
    if supervised:
        data = X[:, selector.candidates_]
        expected = selector.second_.fit(data, LABEL).get_support(indices=True)
        np.testing.assert_array_equal(
            np.sort(selector.selected_), np.sort(selector.candidates_[expected])
        )


def test_second_stage_that_decides_how_many():
    first = UniformSampler(random_state=0)
    selector = TwoStageSelector(first, VarianceThreshold(1.0), 8, weights="none").fit(X)
    variances = X[:, selector.candidates_].var(axis=0)
    assert 0 < (variances > 1.0).sum()
    np.testing.assert_array_equal(selector.selected_, selector.candidates_[variances > 1.0])


def test_stages_are_not_changed():
    first, second = NormSampler(random_state=0), PivotedQRSelector(0.25)
    selector = TwoStageSelector(first, second, 0.5).fit(X)
    assert (first.n_features_to_select, second.n_features_to_select) == (None, 0.25)
    assert not hasattr(first, "selected_")
    assert len(selector.first_.selected_) == len(selector.candidates_) == 6
    assert len(selector.selected_) == 3


def test_leverages_of_the_size_of_the_selection():
    first = LeverageSampler(random_state=0)
    assert TwoStageSelector(first, PivotedQRSelector(3), 9).fit(X).first_.rank_ == 3
    first = LeverageSampler(rank=5, random_state=0)
    assert TwoStageSelector(first, PivotedQRSelector(3), 9).fit(X).first_.rank_ == 5


def test_sizes():
    first = NormSampler(random_state=0)
    assert len(TwoStageSelector(first, PivotedQRSelector(2)).fit(X).candidates_) == 8
    assert len(TwoStageSelector(first, PivotedQRSelector(5)).fit(X).candidates_) == 12
    half = TwoStageSelector(first, PivotedQRSelector()).fit(X)
    assert (len(half.candidates_), len(half.selected_)) == (12, 6)


@pytest.mark.parametrize("preset", ["lev_ge", "fkv_ge"])
def test_presets(preset):
    first = {"lev_ge": LeverageSampler, "fkv_ge": NormSampler}[preset]
    selector = getattr(TwoStageSelector, preset)(3, n_candidates=9, random_state=0).fit(X, Y)
    same = TwoStageSelector(first(random_state=0), StrongRRQRSelector(3), 9).fit(X, Y)
    np.testing.assert_array_equal(selector.selected_, same.selected_)
    assert getattr(TwoStageSelector, preset)(3, weights="none").weights == "none"


def test_grid_search_over_the_size():
    pipe = make_pipeline(TwoStageSelector.fkv_ge(1, random_state=0), LinearRegression())
    grid = {"twostageselector__second__n_features_to_select": [1, 4]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, LABEL)
    assert search.best_estimator_[0].get_support().sum() in (1, 4)


# --- forms of data ---------------------------------------------------------------------------


@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize("y", [None, LABEL, Y], ids=["X", "one target", "many targets"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix])
def test_sparse_is_the_same(container, y, centering):
    data = X * (RNG.random(X.shape) < 0.5)
    selectors = [
        TwoStageSelector(NormSampler(random_state=0), StrongRRQRSelector(4), 9, centering=centering)
        for _ in range(2)
    ]
    dense, sparse = selectors[0].fit(data, y), selectors[1].fit(container(data), y)
    np.testing.assert_array_equal(dense.selected_, sparse.selected_)
    np.testing.assert_allclose(dense.weights_, sparse.weights_, rtol=1e-6)
    for name in ("error_", "error_bound_", "second_error_", "weight_error_"):
        assert getattr(dense, name) == pytest.approx(getattr(sparse, name), rel=1e-8)


@pytest.mark.parametrize("y", [None, LABEL], ids=["X", "y"])
def test_single_precision(y):
    selector = TwoStageSelector(NormSampler(random_state=0), StrongRRQRSelector(4), 9)
    double = selector.fit(X.astype(np.float32).astype(np.float64), y)
    selected, bound = double.selected_, double.error_bound_
    single = selector.fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.selected_, selected)
    assert single.error_bound_ == pytest.approx(bound, rel=1e-9)
    assert single.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("y_scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("x_scale", [1e-150, 1.0, 1e150])
def test_scales(x_scale, y_scale):
    selector = TwoStageSelector(NormSampler(random_state=0), StrongRRQRSelector(4), 9)
    plain = selector.fit(X, LABEL)
    selected, weights, bound = plain.selected_, plain.weights_, plain.error_bound_
    scaled = selector.fit(X * x_scale, LABEL * y_scale)
    np.testing.assert_array_equal(scaled.selected_, selected)
    np.testing.assert_allclose(scaled.weights_ * x_scale, weights * y_scale, rtol=1e-6)
    assert scaled.error_bound_ / y_scale / y_scale == pytest.approx(bound, rel=1e-6)


def test_class_labels():
    labels = np.array(["red", "green", "blue"])[np.arange(30) % 3]
    indicator = (labels[:, None] == np.unique(labels)).astype(float)
    selector = TwoStageSelector(MatchingFilter(), PivotedQRSelector(4), 9)
    selected = selector.fit(X, labels).selected_
    np.testing.assert_array_equal(selected, selector.fit(X, indicator).selected_)


def test_rotating_rows_changes_nothing():
    """Everything depends on inner products only."""
    rotation = np.linalg.qr(RNG.standard_normal((30, 30)))[0]
    selector = TwoStageSelector(NormSampler(random_state=0), PivotedQRSelector(4), 9)
    selected, weights = selector.fit(X, LABEL).selected_, selector.weights_
    rotated = selector.fit(rotation @ X, rotation @ LABEL)
    np.testing.assert_array_equal(rotated.selected_, selected)
    np.testing.assert_allclose(rotated.weights_, weights, rtol=1e-6, atol=1e-9)


# --- poor data -------------------------------------------------------------------------------


def short(first, second, data, y=None, count=None, **options):
    """Fit, expecting to hear that too few columns were selected."""
    with pytest.warns(UserWarning, match="TwoStageSelector selected") as caught:
        selector = TwoStageSelector(first, second, count, **options).fit(data, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    return selector


@pytest.mark.parametrize("weights", ["quadratic", "clipped", "sampling", "none"])
def test_rank_runs_out(weights):
    data = np.outer(np.arange(1.0, 7), [1.0, 2, 3, 0, 4]) + np.eye(6, 5)[:, [3, 3, 3, 3, 3]]
    first = NormSampler(random_state=0)
    selector = short(first, PivotedQRSelector(4), data, count=5, weights=weights)
    assert len(selector.selected_) == 2
    assert selector.error_ == pytest.approx(0.0, abs=1e-20)
    assert selector.error_ <= selector.error_bound_


def test_target_is_explained():
    selector = short(MatchingFilter(), PivotedQRSelector(4), X, 2 * X[:, 3], count=8, gamma=0.0)
    np.testing.assert_array_equal(selector.selected_, [3])
    assert selector.error_ == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize("y", [np.zeros(30), np.ones(30)], ids=["zero", "constant"])
def test_target_without_anything_to_explain(y):
    selector = short(UniformSampler(random_state=0), PivotedQRSelector(3), X, y, centering="mean")
    np.testing.assert_array_equal(selector.selected_, selector.candidates_[:1])
    np.testing.assert_array_equal(selector.weights_, 0.0)
    assert selector.error_ == selector.relative_error_ == 0.0


@pytest.mark.parametrize("container", [np.array, sp.csc_array])
def test_all_zero(container):
    selector = short(
        UniformSampler(random_state=0), PivotedQRSelector(2), container(np.zeros((4, 5)))
    )
    assert len(selector.selected_) == 1
    assert selector.error_ == selector.error_bound_ == 0.0


def test_too_few_candidates():
    with pytest.warns(UserWarning, match="2 of 3 columns: the first stage found only 2 candid"):
        TwoStageSelector(VarianceThreshold(0.1), PivotedQRSelector(3)).fit(
            np.eye(9, 4) * [9, 9, 0, 0]
        )


def test_one_row():
    selector = short(NormSampler(random_state=0), PivotedQRSelector(2), [[3.0, 1.0, 2.0]])
    assert len(selector.selected_) == 1
    assert selector.error_ == selector.error_bound_ == 0.0


def test_one_column():
    selector = TwoStageSelector(NormSampler(random_state=0), PivotedQRSelector(1)).fit(X[:, :1])
    np.testing.assert_array_equal(selector.selected_, [0])


# --- bad input -------------------------------------------------------------------------------


def refuses(message, first=None, second=None, count=None, data=X, y=None, **options):
    first = NormSampler(random_state=0) if first is None else first
    second = PivotedQRSelector(2) if second is None else second
    with pytest.raises(ValueError, match=message):
        TwoStageSelector(first, second, count, **options).fit(data, y)


def test_options():
    refuses("weights must be one of 'quadratic', 'clipped', 'sampling', 'none'", weights="best")
    refuses("target must be one of", target="Y")
    refuses("centering must be one of", centering="median")
    refuses("gamma must be a number >= 0", gamma=-1.0)
    refuses("target='y' needs a y", target="y")


def test_stages_that_are_none():
    refuses("first must be a selector", first=LinearRegression())
    refuses("second must be a selector", second=PivotedQRSelector)
    refuses("second must be a selector", second="qr")


@pytest.mark.parametrize("count", [0, 13, -1, 1.5, "many", True])
def test_number_of_candidates(count):
    refuses("n_candidates must be", count=count)


def test_sizes_that_contradict():
    refuses(
        "n_candidates=3 leaves 3 candidates for a selection of 4", None, PivotedQRSelector(4), 3
    )
    refuses("between 1 and the number of features", second=PivotedQRSelector(13))
    refuses("VarianceThreshold decides itself", VarianceThreshold(), None, 5)
    refuses("VarianceThreshold decides itself how many .* give n_cand", second=VarianceThreshold())


def test_weights_without_probabilities():
    refuses("needs a sampler with probabilities_", ColumnSelector(), weights="sampling")


def test_stages_that_need_y():
    refuses("MatchingFilter requires y to be passed", MatchingFilter())
    refuses("CorrelationFilter requires y", second=CorrelationFilter(2), y=LABEL, target="X")
    refuses("RFE requires y", RFE(LinearRegression()))


def test_stage_without_a_selection():
    high = SelectFromModel(Ridge(), threshold=1e9, max_features=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features were selected")
        refuses("selected no column: ask it for more", high, y=LABEL)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(value):
    broken = X.copy()
    broken[2, 3] = value
    refuses("Input X contains", data=broken)
    refuses("Input y contains", y=broken[:, 3])


def test_lengths_that_differ():
    refuses("inconsistent numbers of samples", y=LABEL[:-1])


# --- printed results -------------------------------------------------------------------------


@pytest.mark.data
def test_printed_unsupervised():
    """Table 6.5, CNAE-9: 25 columns of 100 candidates."""
    selector = TwoStageSelector.lev_ge(25, random_state=0).fit(load_cnae9())
    assert selector.relative_error_ < 0.0935
    assert selector.error_ <= selector.error_bound_ < 1.2 * selector.error_


@pytest.mark.data
def test_printed_single_label():
    """Table 6.6, isolet5: 30 columns of 120 candidates for the raw label, mean of six draws."""
    data = load_isolet5()
    selectors = [TwoStageSelector.fkv_ge(30, random_state=seed) for seed in range(6)]
    errors = [s.fit(data[:, :-1], data[:, -1]).relative_error_ for s in selectors]
    assert np.mean(errors) < 0.155
