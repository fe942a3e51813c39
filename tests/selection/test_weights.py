"""A weight of two equals a repeated row, and a weight of zero its absence."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from columnist import ColumnSelector, SubsetClassifier, SubsetRegressor, certify, selection_path
from columnist.distributed import RunningMoments
from columnist.metrics import reconstruction_error
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    NormSampler,
    PivotedQRSelector,
    RobustL21Selector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)

# What uses a target, and what does not.
SUPERVISED = [
    ColumnSelector(3),
    ColumnSelector(3, centering="mean"),
    ColumnSelector(2, criterion="nuclear", n_components=1, centering="mean"),
    ColumnSelector(2, criterion="schatten:0.5", n_solutions=3),
    ForwardSelector(3, centering="mean"),
    ForwardSelector(3, criterion="spectral"),
    ExchangeSelector(2, start="random", random_state=0),
    ExchangeSelector(2, start=ForwardSelector(2), centering="mean"),
    MatchingFilter(2, centering="mean"),
    SubsetRegressor(2),
    SubsetRegressor("bic"),
    SubsetRegressor("ebic", fit_intercept=False),
    SubsetRegressor(2, alpha=0.5),
]
UNSUPERVISED = [
    PivotedQRSelector(3),
    GKSSelector(3),
    StrongRRQRSelector(3),
    UniformSampler(2, random_state=0),
    NormSampler(2, random_state=0),
    LeverageSampler(2, random_state=0),
    VolumeSampler(2, random_state=0),
    TwoStageSelector(NormSampler(random_state=0), StrongRRQRSelector(2), 4),
    TwoStageSelector(NormSampler(random_state=0), ForwardSelector(2), 4, centering="mean"),
    TwoStageSelector(PivotedQRSelector(), ForwardSelector(2, centering="mean"), 4),
]
CLASSIFIERS = [
    SubsetClassifier(2),
    SubsetClassifier(2, fit_intercept=False),
    SubsetClassifier("bic", alpha=0.5),
]
COMPARED = (
    "error_", "relative_error_", "coef_", "intercept_", "column_r2_", "errors_", "scores_",
    "probabilities_",
)  # fmt: skip


def label(estimator) -> str:
    return str(estimator).replace("\n", " ")


class Case:
    """Data whose rows have whole weights, and the same with repeated rows."""

    def __init__(self, seed: int, m: int = 20, n: int = 6):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((m, n)) @ rng.standard_normal((n, n)) + 3 * rng.random(n)
        self.Y = self.X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((m, 2))
        self.classes = rng.integers(0, 3, m)
        self.weights = rng.integers(0, 4, m).astype(float)
        self.weights[:8] = [1, 2, 3, 2, 1, 2, 1, 0]
        self.classes[:7] = [0, 1, 2, 0, 1, 2, 0]
        self.rows = np.repeat(np.arange(m), self.weights.astype(int))


def assert_alike(found, expected):
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    for name in COMPARED:
        if hasattr(expected, name):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-8, err_msg=name
            )
    if hasattr(expected, "certificate_"):
        ours, theirs = found.certificate_, expected.certificate_
        assert ours.status == theirs.status
        np.testing.assert_allclose(
            [ours.error, ours.lower_bound], [theirs.error, theirs.lower_bound], rtol=1e-8
        )


@pytest.mark.parametrize("estimator", SUPERVISED, ids=label)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans())
def test_a_weight_is_a_number_of_rows_for_a_target(estimator, seed, sparse):
    case = Case(seed)
    X = sp.csr_array(case.X) if sparse else case.X
    found = clone(estimator).fit(X, case.Y, sample_weight=case.weights)
    assert_alike(found, clone(estimator).fit(X[case.rows], case.Y[case.rows]))


@pytest.mark.parametrize("estimator", [*SUPERVISED[:8], *UNSUPERVISED], ids=label)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans())
def test_a_weight_is_a_number_of_rows_for_all_columns(estimator, seed, sparse):
    case = Case(seed)
    X = sp.csr_array(case.X) if sparse else case.X
    found = clone(estimator).fit(X, sample_weight=case.weights)
    assert_alike(found, clone(estimator).fit(X[case.rows]))


@pytest.mark.parametrize("estimator", [*SUPERVISED[:7], *CLASSIFIERS], ids=label)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_weight_is_a_number_of_rows_for_classes(estimator, seed):
    case = Case(seed)
    y = case.classes.astype(str)
    y[case.weights == 0.0] = "absent"
    found = clone(estimator).fit(case.X, y, sample_weight=case.weights)
    assert_alike(found, clone(estimator).fit(case.X[case.rows], y[case.rows]))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_correlations_are_weighted(seed):
    case = Case(seed)
    y = case.Y[:, 0]
    found = CorrelationFilter(2).fit(case.X, y, sample_weight=case.weights)
    assert_alike(found, CorrelationFilter(2).fit(case.X[case.rows], y[case.rows]))


@pytest.mark.parametrize(
    "estimator",
    [SubsetRegressor("cv"), SubsetRegressor("cv", alpha=1.0), SubsetClassifier("cv")],
    ids=label,
)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_weights_go_along_with_the_folds(estimator, seed):
    case = Case(seed, m=36)
    y = case.Y[:, 0]
    if isinstance(estimator, SubsetClassifier):
        case.weights += 1.0
        case.rows, y = np.repeat(np.arange(36), case.weights.astype(int)), np.arange(36) % 2
    folds = list(KFold(3).split(case.X))
    repeated = [tuple(np.flatnonzero(np.isin(case.rows, part)) for part in fold) for fold in folds]
    found = clone(estimator).set_params(cv=folds).fit(case.X, y, sample_weight=case.weights)
    expected = clone(estimator).set_params(cv=repeated).fit(case.X[case.rows], y[case.rows])
    assert_alike(found, expected)
    np.testing.assert_allclose(found.path_.scores, expected.path_.scores, rtol=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), centering=st.sampled_from(["none", "mean"]),
    criterion=st.sampled_from(["frobenius", "nuclear", "schatten:0.5"]), target=st.booleans(),
    wide=st.booleans(),
)  # fmt: skip
def test_bounds_hold_for_any_weights(seed, centering, criterion, target, wide):
    """Against enumeration of errors that are computed by least squares on weighted rows."""
    rng = np.random.default_rng(seed)
    case = Case(seed, m=12)
    case.X, case.Y = (A[: 5 if wide else 12] for A in (case.X, case.Y))
    weights = rng.exponential(1.0, len(case.X)) * 10.0 ** rng.integers(-3, 4)
    weights[-1] = 0.0
    root = np.sqrt(weights)[:, None]
    T = case.Y if target else case.X
    power = {"frobenius": 2.0, "nuclear": 1.0, "schatten:0.5": 0.5}[criterion]

    def error(columns) -> float:
        design = case.X[:, columns]
        if centering == "mean":
            design = np.column_stack([np.ones(len(design)), design])
        rest = root * T - root * design @ np.linalg.lstsq(root * design, root * T, rcond=None)[0]
        sigma = np.linalg.svd(rest, compute_uv=False)
        rank = min(T.shape[1] - (0 if target else len(columns)), len(T) - 1 - design.shape[1])
        total = (sigma[: max(rank, 0)] ** power).sum()
        return float(total if criterion == "frobenius" else total ** (1.0 / power))

    errors = {c: error(list(c)) for c in combinations(range(6), 2)}
    how = {"criterion": criterion, "centering": centering}
    y, best = case.Y if target else None, min(errors.values())
    for max_nodes in (0, 1, 3, None):
        selector = ColumnSelector(2, max_nodes=max_nodes, **how)
        selector.fit(case.X, y, sample_weight=weights)
        certificate = selector.certificate_
        assert certificate.lower_bound <= best * (1 + 1e-7)
        assert certificate.error >= best * (1 - 1e-7)
        expected = errors[tuple(selector.selected_.tolist())]
        np.testing.assert_allclose(selector.error_, expected, rtol=1e-7)
        found = reconstruction_error(case.X, selector.selected_, y=y, sample_weight=weights, **how)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert certificate.status in ("optimal", "precision_limit")


def test_certificates_and_paths_are_weighted():
    case = Case(1)
    w, rows = case.weights, case.rows
    given = certify(case.X, [0, 1], sample_weight=w, centering="mean")
    expected = certify(case.X[rows], [0, 1], centering="mean")
    assert given.better == expected.better
    np.testing.assert_allclose(given.error, expected.error)
    np.testing.assert_allclose(given.lower_bound, expected.lower_bound)
    path = selection_path(case.X, 4, y=case.Y, sample_weight=w)
    other = selection_path(case.X[rows], 4, y=case.Y[rows])
    np.testing.assert_allclose(path.relative_errors, other.relative_errors)


def test_weights_that_leave_nothing_are_proven():
    """What is left of dependent columns is the rounding of roots, and counts as nothing."""
    rng = np.random.default_rng(0)
    X = rng.integers(-5, 6, (30, 3)) @ rng.integers(-2, 3, (3, 6)) + 0.0
    for weights in (rng.exponential(1.0, 30), rng.integers(0, 5, 30)):
        for centering in ("none", "mean"):
            selector = ColumnSelector(3, centering=centering).fit(X, sample_weight=weights)
            assert selector.error_ == 0.0
            assert selector.certificate_.status == "optimal"


def test_a_tiny_rest_is_no_false_proof():
    """Beside columns far from zero nothing of the rest is known, unless rows can be repeated."""
    rng = np.random.default_rng(0)
    base = 1e6 + rng.standard_normal((40, 1))
    X = base + 1e-5 * rng.standard_normal((40, 5))
    fractions = ColumnSelector(2).fit(X, sample_weight=rng.exponential(1.0, 40))
    assert fractions.certificate_.lower_bound <= fractions.error_
    whole = rng.integers(1, 3, 40)
    rows = np.repeat(np.arange(40), whole)
    selector = ColumnSelector(2).fit(X, sample_weight=whole)
    repeated = ColumnSelector(2).fit(X[rows])
    np.testing.assert_allclose(selector.error_, repeated.error_, rtol=1e-6)
    assert selector.certificate_.lower_bound <= repeated.error_ * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_weights_of_any_size(scale):
    case = Case(2)
    weights = case.weights * scale
    expected = ColumnSelector(2, centering="mean").fit(case.X, sample_weight=case.weights)
    found = ColumnSelector(2, centering="mean").fit(case.X, sample_weight=weights)
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    np.testing.assert_allclose(found.error_ / scale, expected.error_)


BAD = [
    ([1.0, -1.0, 1.0, 1.0], "[Nn]egative"),
    ([1.0, np.nan, 1.0, 1.0], "NaN"),
    ([1.0, np.inf, 1.0, 1.0], "infinity"),
    ([1.0, 1.0], "sample_weight"),
    ([[1.0], [1.0], [1.0], [1.0]], "1D"),
    ([0.0, 0.0, 0.0, 0.0], "zero"),
    ([1e308] * 4, "too large"),
]


@pytest.mark.parametrize(("weights", "words"), BAD)
@pytest.mark.parametrize(
    "estimator", [ColumnSelector(1), ForwardSelector(1), SubsetRegressor(1), SubsetClassifier(1)],
    ids=label,
)  # fmt: skip
def test_weights_that_are_none(estimator, weights, words):
    X = np.random.default_rng(0).standard_normal((4, 3))
    with pytest.raises(ValueError, match=words):
        clone(estimator).fit(X, [0, 1, 0, 1], sample_weight=weights)


def test_where_weights_do_not_apply():
    case = Case(3)
    G = case.X.T @ case.X
    with pytest.raises(ValueError, match="input='gram' has no rows to weigh"):
        ColumnSelector(2, input="gram").fit(G, sample_weight=np.ones(len(G)))
    with pytest.raises(ValueError, match="more than inner products"):
        ForwardSelector(2, degree=2).fit(case.X, case.Y, sample_weight=case.weights)
    with pytest.raises(TypeError):
        RobustL21Selector(2).fit(case.X, case.classes, sample_weight=case.weights)
    with pytest.raises(ValueError, match="rescale the weights"):
        SubsetRegressor("bic").fit(case.X, case.Y, sample_weight=case.weights / case.weights.sum())
    with pytest.raises(ValueError, match="partial_fit"):
        ColumnSelector(2).fit(RunningMoments().partial_fit(case.X), sample_weight=case.weights)


def test_streams_have_weights_in_their_batches():
    case = Case(4, m=40)
    stream = RunningMoments()
    for part in np.array_split(np.arange(40), 4):
        stream.partial_fit(case.X[part], case.Y[part], sample_weight=case.weights[part])
    assert stream.n_samples_seen_ == case.weights.sum()
    np.testing.assert_allclose(stream.mean_, case.X[case.rows].mean(axis=0))
    for centering in ("none", "mean"):
        found = ColumnSelector(3, centering=centering).fit(stream)
        assert_alike(
            found,
            ColumnSelector(3, centering=centering).fit(case.X[case.rows], case.Y[case.rows]),
        )


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("centering", ["none", "mean"])
def test_dask_collections_are_weighted(target, centering):
    da = pytest.importorskip("dask.array")
    case = Case(5, m=60)
    y = case.Y if target else None
    X, w = da.from_array(case.X, chunks=(13, -1)), da.from_array(case.weights, chunks=20)
    expected = ColumnSelector(3, centering=centering).fit(
        case.X[case.rows], None if y is None else y[case.rows]
    )
    for weights in (w, case.weights):
        found = ColumnSelector(3, centering=centering).fit(X, y, sample_weight=weights)
        assert_alike(found, expected)


def test_pipelines_and_grid_search_route_weights():
    case = Case(6, m=60)
    y = case.Y[:, 0]
    with sklearn.config_context(enable_metadata_routing=True):
        selector = ColumnSelector(2, centering="mean").set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), selector)
        pipeline.fit(case.X, sample_weight=case.weights)
        direct = ColumnSelector(2, centering="mean")
        direct.fit(StandardScaler().fit_transform(case.X), sample_weight=case.weights)
        assert_alike(pipeline[-1], direct)
        model = SubsetRegressor(1).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"n_features_to_select": [1, 2]}, cv=3)
        search.fit(case.X, y, sample_weight=case.weights + 1.0)
        best = SubsetRegressor(**search.best_params_).fit(
            case.X, y, sample_weight=case.weights + 1.0
        )
        assert_alike(search.best_estimator_, best)


def test_weights_are_left_as_they_are():
    case = Case(7)
    X, weights = case.X.copy(), case.weights.copy()
    ColumnSelector(2).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(X, case.X)
    np.testing.assert_array_equal(weights, case.weights)
