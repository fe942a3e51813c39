"""Every selector gives on Dask collections what it gives in memory, whatever X and y are."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, VarianceThreshold

from benchmarks.counting import count_cost
from columnist import ColumnSelector, certify, selection_path
from columnist import selection as family
from columnist.data import _blocks
from columnist.distributed import RunningMoments
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    MultiLabelForwardClassifier,
    MultiLabelForwardClassifierCV,
    MultiLabelInformedSelector,
    NormSampler,
    PivotedQRSelector,
    RobustL21Selector,
    StrongRRQRSelector,
    SubsetClassifier,
    SubsetRegressor,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)

M, N = 60, 9

PLAIN = [
    ColumnSelector(3),
    ExchangeSelector(3),
    ForwardSelector(3),
    ForwardSelector(3, degree=2),
    ForwardSelector(3, centering="mean", criterion="nuclear"),
    GKSSelector(3),
    LeverageSampler(3, random_state=0),
    NormSampler(3, random_state=0),
    PivotedQRSelector(3),
    StrongRRQRSelector(3),
    UniformSampler(3, random_state=0),
    VolumeSampler(3, random_state=0),
    TwoStageSelector.lev_ge(3, random_state=0),
    TwoStageSelector.fkv_ge(3, weights="sampling", random_state=0),
    TwoStageSelector(PivotedQRSelector(), ForwardSelector(2), 5, centering="mean"),
    TwoStageSelector(VarianceThreshold(), PivotedQRSelector(2)),
]
VALUES = [
    ColumnSelector(3),
    CorrelationFilter(3),
    ExchangeSelector(3),
    ForwardSelector(3),
    ForwardSelector(2, degree=2, centering="mean"),
    MatchingFilter(3, centering="mean"),
    RobustL21Selector(3, alpha=0.5),
    SubsetRegressor(3),
    SubsetRegressor(2, alpha=0.5, fit_intercept=False),
    TwoStageSelector(MatchingFilter(), PivotedQRSelector(2), 5),
    TwoStageSelector(NormSampler(random_state=0), PivotedQRSelector(2), 5, target="X"),
    TwoStageSelector(PivotedQRSelector(), ForwardSelector(2), 5),
    TwoStageSelector(PivotedQRSelector(), ColumnSelector(2), 5, centering="mean"),
    TwoStageSelector(CorrelationFilter(), PivotedQRSelector(2), 5),
]
LABELS = [
    ColumnSelector(3),
    ForwardSelector(3),
    MatchingFilter(3),
    MultiLabelForwardClassifier(3),
    RobustL21Selector(3, alpha=0.5),
    SubsetClassifier(2),
    TwoStageSelector(MatchingFilter(), PivotedQRSelector(2), 5),
    TwoStageSelector(SelectKBest(), ForwardSelector(2), 5),
    TwoStageSelector(SelectKBest(), PivotedQRSelector(2), 5, weights="none"),
]
SEVERAL = [
    ForwardSelector(3),
    MatchingFilter(3),
    MultiLabelInformedSelector(3, gamma=0.5),
    MultiLabelForwardClassifier(3),
    MultiLabelForwardClassifierCV([1, 2], cv=3, random_state=0),
    TwoStageSelector(ForwardSelector(), StrongRRQRSelector(2), 5),
]
# Forms of X and y.
MIXED = [
    ("array", "array"), ("array", "numpy"), ("numpy", "array"), ("frame", "frame"),
    ("frame", "array"), ("unknown", "numpy"), ("numpy", "frame"),
]  # fmt: skip
MEASURES = (
    "error_", "relative_error_", "errors_", "probabilities_", "scores_", "weights_", "coef_",
    "second_error_", "thresholds_",
)  # fmt: skip


def data(sparse: bool = False):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((M, N)) @ np.diag(np.linspace(2.0, 1.0, N)) + 0.3
    X[:, 5] = X[:, 0] + 0.3 * X[:, 5]
    return X * (rng.random(X.shape) < 0.4) if sparse else X, rng


def collections(X: np.ndarray, sparse: bool = False):
    """X in every Dask form, cut in different ways."""
    array = da.from_array(X, chunks=((13, 1, 46), N))
    if sparse:
        return {"csr": array.map_blocks(sp.csr_array)}
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(N)])
    frame = dd.from_pandas(frame, npartitions=3)
    return {"array": array, "frame": frame, "unknown": frame.to_dask_array()}


def targets(y: np.ndarray):
    """y in memory and in Dask forms."""
    chunks = (20,) if y.ndim == 1 else (20, y.shape[1])
    pandas = pd.Series(y) if y.ndim == 1 else pd.DataFrame(y)
    return {
        "numpy": y,
        "array": da.from_array(y, chunks=chunks),
        "frame": dd.from_pandas(pandas, npartitions=2),
    }


def fit(estimator, *data):
    return clone(estimator).fit(*data)


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours.selected_, theirs.selected_)
    for name in MEASURES:
        if hasattr(theirs, name):
            np.testing.assert_allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9, err_msg=name
            )
    if hasattr(theirs, "error_bound_") and not np.isnan(theirs.error_bound_):
        assert ours.error_ <= ours.error_bound_ * (1.0 + 1e-12)
        assert ours.weight_error_ == pytest.approx(theirs.weight_error_, rel=1e-6)
        assert ours.error_bound_ == pytest.approx(theirs.error_bound_, rel=1e-6)


@pytest.mark.parametrize("selector", PLAIN, ids=str)
def test_without_target(selector):
    X, _ = data()
    expected = fit(selector, X)
    for collection in collections(X).values():
        assert_same(fit(selector, collection), expected)
    X, _ = data(sparse=True)
    expected = fit(selector, sp.csc_array(X))
    assert_same(fit(selector, collections(X, sparse=True)["csr"]), expected)


def assert_same_for_all(selector, X, y):
    expected = fit(selector, X, y)
    forms, kinds = {"numpy": X} | collections(X), targets(y)
    for form, kind in MIXED:
        assert_same(fit(selector, forms[form], kinds[kind]), expected)


@pytest.mark.filterwarnings("ignore:RobustL21Selector stopped")
@pytest.mark.parametrize("selector", VALUES, ids=str)
def test_values(selector):
    X, rng = data()
    assert_same_for_all(selector, X, X @ rng.standard_normal(N) + rng.standard_normal(M))


@pytest.mark.filterwarnings("ignore:RobustL21Selector stopped")
@pytest.mark.parametrize("selector", LABELS, ids=str)
@pytest.mark.parametrize("classes", [np.array(["a", "b", "c"]), np.array([4, 7])], ids=len)
def test_labels(selector, classes):
    X, rng = data()
    codes = np.argmax(X[:, : len(classes)] + 0.5 * rng.standard_normal((M, len(classes))), axis=1)
    assert_same_for_all(selector, X, classes[codes])


@pytest.mark.filterwarnings("ignore:MultiLabelInformedSelector stopped")
@pytest.mark.parametrize("selector", SEVERAL, ids=str)
def test_several_targets(selector):
    X, rng = data()
    Y = (X[:, [0, 3, 4]] + 0.5 * rng.standard_normal((M, 3)) > 0.3).astype(np.float64)
    assert_same_for_all(selector, X, Y)


def test_nobody_is_forgotten():
    public = {name for name in family.__all__ if isinstance(getattr(family, name), type)}
    tested = {type(each).__name__ for each in [*PLAIN, *VALUES, *LABELS, *SEVERAL]}
    others = "FastSelector PathStep SelectionPath Solution SubsetPath SubsetStep"
    others += " BudgetPath BudgetStep ColumnVerdicts Replacement SelectionStability"
    others += " StabilityProgress"
    assert public - tested == set(others.split())


def compositions(total: int):
    """Ways to cut so many rows or columns into chunks."""
    return st.lists(st.integers(1, total), max_size=4).map(
        lambda cuts: tuple(np.diff(np.unique([0, *(c for c in cuts if c < total), total])).tolist())
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=compositions(M), columns=compositions(N), targets=compositions(M),
    kind=st.sampled_from(["float64", "float32", "csr"]),
    selector=st.sampled_from([
        CorrelationFilter(3), MatchingFilter(3), ForwardSelector(3, centering="mean"),
        TwoStageSelector(MatchingFilter(), PivotedQRSelector(2), 5),
    ]),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::columnist.distributed.ChunkWarning")
def test_every_chunking(rows, columns, targets, kind, selector):
    X, rng = data(sparse=kind == "csr")
    X = X.astype(np.float32).astype(np.float64)
    y = X @ rng.standard_normal(N) + rng.standard_normal(M)
    collection = da.from_array(X.astype(kind) if kind != "csr" else X, chunks=(rows, columns))
    collection = collection.map_blocks(sp.csr_array) if kind == "csr" else collection
    expected = fit(selector, X, y)
    assert_same(fit(selector, collection, da.from_array(y, chunks=(targets,))), expected)


# -- the correlation filter reads y in its own way --------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.arange(M) % 5,
        (np.arange(M) % 3 == 0),
        np.where(np.arange(M) % 3 == 0, "no", "yes"),
        np.array([float(i % 4) for i in range(M)], dtype=object),
        np.array([i % 4 for i in range(M)], dtype=object),
    ],
    ids=["integers", "truths", "two classes", "objects", "whole objects"],
)
def test_correlation_with_every_kind_of_target(y):
    X, _ = data()
    expected = fit(CorrelationFilter(3), X, y)
    for collection in [X, *collections(X).values()]:
        for kind, target in targets(y).items():
            # Dask turns objects in frames into strings.
            if kind != "frame" or y.dtype != object:
                assert_same(fit(CorrelationFilter(3), collection, target), expected)


def test_correlation_errors():
    X, rng = data()
    D = collections(X)["array"]
    with pytest.raises(ValueError, match="needs one target; y has 2"):
        CorrelationFilter(2).fit(D, da.from_array(X[:, :2], chunks=(13, 2)))
    with pytest.raises(ValueError, match="3 classes"):
        CorrelationFilter(2).fit(D, da.from_array(rng.choice(["a", "b", "c"], M), chunks=13))
    with pytest.raises(ValueError, match="y is constant"):
        CorrelationFilter(2).fit(D, da.ones(M, chunks=13))
    with pytest.raises(ValueError, match="requires y"):
        CorrelationFilter(2).fit(D)
    with pytest.raises(ValueError, match="y is constant"):
        CorrelationFilter(2).fit(D[:1], da.ones(1))
    with pytest.raises(ValueError, match="y contains NaN"):
        CorrelationFilter(2).fit(D, da.full(M, np.nan, chunks=13))


@pytest.mark.parametrize("wide", [False, True])
def test_sums_instead_of_rows(wide, monkeypatch):
    if wide:  # there are no columns to cut, and the inner products are there already
        monkeypatch.setattr(_blocks, "_NARROW", 0)
        monkeypatch.setattr(_blocks, "_NARROW_TALL", 0)
    X, rng = data()
    y = X @ rng.standard_normal(N)
    sums = RunningMoments()
    for a in range(0, M, 20):
        sums.partial_fit(X[a : a + 20], y[a : a + 20])
    stages = TwoStageSelector(MatchingFilter(), PivotedQRSelector(2), 5)
    for selector in (CorrelationFilter(3), MatchingFilter(3), stages):
        assert_same(fit(selector, sums), fit(selector, X, y))
    with pytest.raises(ValueError, match="needs the rows themselves"):
        RobustL21Selector(2, alpha=0.1).fit(sums)


# -- how often data are read ------------------------------------------------------


@pytest.mark.parametrize(
    "selector",
    [
        TwoStageSelector.lev_ge(3, random_state=0),
        TwoStageSelector(PivotedQRSelector(), ColumnSelector(2), 5),
        CorrelationFilter(3),
        ForwardSelector(3),
    ],
    ids=str,
)
def test_one_pass(selector):
    X, rng = data()
    D, y = collections(X)["array"], da.from_array(rng.standard_normal(M), chunks=20)
    with count_cost() as cost:
        fit(selector, D, y)
    # One pass over the rows, after a look at the first block of y: it holds numbers.
    assert (cost.passes, cost.visits) == (2, 4)
    assert cost.operations == M * (N + 1) ** 2


# -- functions --------------------------------------------------------------------


@pytest.mark.parametrize("form", ["array", "frame"])
def test_certificates_and_paths(form):
    X, rng = data()
    y = X @ rng.standard_normal(N) + rng.standard_normal(M)
    D, target = collections(X)[form], da.from_array(y, chunks=20)
    for given_y in (None, target):
        plain = None if given_y is None else y
        ours, theirs = certify(D, [0, 1, 2], y=given_y), certify(X, [0, 1, 2], y=plain)
        assert (ours.status, ours.better) == (theirs.status, theirs.better)
        assert ours.error == pytest.approx(theirs.error, rel=1e-9)
        assert ours.lower_bound == pytest.approx(theirs.lower_bound, rel=1e-9)
        paths = selection_path(D, 4, y=given_y), selection_path(X, 4, y=plain)
        for here, there in zip(*paths, strict=True):
            np.testing.assert_array_equal(here.selection, there.selection)
            assert here.certificate.error == pytest.approx(there.certificate.error, rel=1e-9)


def test_predictions_of_a_classifier():
    X, rng = data()
    Y = (X[:, [0, 3]] + 0.5 * rng.standard_normal((M, 2)) > 0.3).astype(np.int64)
    D = collections(X)["array"]
    model = MultiLabelForwardClassifier(3).fit(D, da.from_array(Y, chunks=(20, 2)))
    np.testing.assert_array_equal(model.predict(D), model.predict(X))
    sparse_y = da.from_array(Y, chunks=(20, 2)).map_blocks(sp.csr_array)
    assert_same(MultiLabelForwardClassifier(3).fit(D, sparse_y), model)
