"""The same data give the same answer, whichever way they come in.

Every estimator of the registry is fitted to one data set as an array, a data frame, a sparse matrix
(where it takes one), a Dask array in three chunks, and sums over a stream (where these are enough).
"""

from __future__ import annotations

import functools
import warnings

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from columnist import ColumnSelector, RobustPCA, certify, column_verdicts, selection_path
from columnist.distributed import RunningMoments
from columnist.robust import outlier_path
from tests.test_estimators import ALL, label

# Estimators that need no more than sums over the rows.
STREAMED = {
    "ColumnSelector", "CorrelationFilter", "ExchangeSelector", "ForwardSelector", "GKSSelector",
    "LeverageSampler", "MatchingFilter", "NormSampler", "PivotedQRSelector", "StrongRRQRSelector",
    "SubsetRegressor", "TwoStageSelector", "UniformSampler", "VolumeSampler",
}  # fmt: skip
CHOICES = ("selected_", "outliers_", "ranking_", "candidates_")
ERRORS = ("error_", "relative_error_", "errors_", "objective_")
MEASURES = ("scores_", "components_", "mean_", "center_", "coef_", "probabilities_", "weights_")


@functools.cache
def samples() -> tuple[np.ndarray, np.ndarray]:
    """A third of the wine data: standardised, but with means that are not zero."""
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X)[::3] + 0.25, y[::3]


def ready(estimator):
    """A copy without chance."""
    estimator = clone(estimator)
    seeds = {name: 0 for name in estimator.get_params() if name.endswith("random_state")}
    return estimator.set_params(**seeds)


def target_of(estimator, X, y):
    """Classes, two of them where more are not allowed, or values."""
    if is_regressor(estimator) or type(estimator).__name__ == "CorrelationFilter":
        return X[:, 0] * 0.5 + X[:, 3] + np.cos(np.arange(len(X)))
    tags = get_tags(estimator).classifier_tags
    return (y == 0).astype(int) if tags is not None and not tags.multi_class else y


def fitted(estimator, X, y):
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        return ready(estimator).fit(X) if y is None else ready(estimator).fit(X, y)


def stream(X, y):
    labels = y is not None and y.dtype.kind == "i"
    sums = RunningMoments(classes=np.unique(y) if labels else None)
    for rows in np.array_split(np.arange(len(X)), 3):
        sums.partial_fit(X[rows], None if y is None else y[rows])
    return sums


def forms(estimator, X, y):
    """X and y in every form that the estimator takes."""
    yield "frame", pd.DataFrame(X), None if y is None else pd.Series(y)
    if get_tags(estimator).input_tags.sparse:
        yield "sparse", sp.csr_array(X), y
    chunks = (25, 10, len(X) - 35)
    yield (
        "dask", da.from_array(X, chunks=(chunks, -1)),
        None if y is None else da.from_array(y, chunks=(chunks,)),
    )  # fmt: skip
    if takes_streams(estimator):
        yield "stream", stream(X, y), None


def takes_streams(estimator) -> bool:
    degree = getattr(estimator, "degree", 1)
    return type(estimator).__name__ in STREAMED and degree == 1


def assert_same(ours, theirs, form: str) -> None:
    for name in CHOICES:
        if hasattr(theirs, name):
            np.testing.assert_array_equal(
                getattr(ours, name), getattr(theirs, name), f"{form} {name}"
            )
    for names, rtol in ((ERRORS, 1e-10), (MEASURES, 1e-7)):
        for name in names:
            if isinstance(value := getattr(theirs, name, None), (float, np.ndarray)):
                size = float(np.nanmax(np.abs(value), initial=0.0))
                np.testing.assert_allclose(
                    getattr(ours, name),
                    value,
                    rtol=rtol,
                    atol=rtol * size,
                    err_msg=f"{form} {name}",
                )
    if hasattr(theirs, "certificate_"):
        assert ours.certificate_.status == theirs.certificate_.status, form
        assert ours.certificate_.error == pytest.approx(theirs.certificate_.error, rel=1e-10)


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_all_doors_lead_to_the_same_answer(estimator, supervised):
    X, y = samples()
    if not supervised and get_tags(estimator).target_tags.required:
        return
    y = target_of(estimator, X, y) if supervised else None
    expected = fitted(estimator, X, y)
    for form, data, target in forms(estimator, X, y):
        assert_same(fitted(estimator, data, target), expected, form)


@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_streams_are_taken_where_sums_are_enough(estimator):
    X, y = samples()
    if takes_streams(estimator):
        return
    y = target_of(estimator, X, y) if get_tags(estimator).target_tags.required else None
    with pytest.raises((TypeError, ValueError)):
        fitted(estimator, stream(X, y), None)


def certificates(function, X, y) -> list:
    """What a function says of data in one form."""
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        found = function(X, y)
    return [step.certificate for step in found] if isinstance(found, list) else [found]


FUNCTIONS = {
    "certify": (ColumnSelector(3), lambda X, y: certify(X, [0, 3, 6], y=y)),
    "column_verdicts": (
        ColumnSelector(3),
        lambda X, y: column_verdicts(X, 3, y=y, tol=0.05).certificate,
    ),
    "selection_path": (ColumnSelector(3), lambda X, y: list(selection_path(X, 4, y=y))),
    "outlier_path": (RobustPCA(2, n_outliers=3), lambda X, y: list(outlier_path(X, 2, 4))),
}


@pytest.mark.parametrize(
    ("name", "supervised"),
    [
        ("certify", False),
        ("certify", True),
        ("column_verdicts", False),
        ("column_verdicts", True),
        ("selection_path", False),
        ("selection_path", True),
        ("outlier_path", False),
    ],
)
def test_functions_certify_the_same(name, supervised):
    X, y = samples()
    estimator, function = FUNCTIONS[name]
    y = y if supervised else None
    expected = certificates(function, X, y)
    for form, data, target in forms(estimator, X, y):
        found = certificates(function, data, target)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours.status, ours.selection) == (theirs.status, theirs.selection), form
            assert ours.error == pytest.approx(theirs.error, rel=1e-10), form
            assert ours.lower_bound == pytest.approx(theirs.lower_bound, rel=1e-8), form
