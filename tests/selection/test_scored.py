"""`score`: the explained share of the variance of any rows, against plain least squares."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.preprocessing import scale

from columnist import ColumnSelector, ForwardSelector, selection
from tests.test_estimators import INSTANCES

X, LABELS = load_wine(return_X_y=True)
X = scale(X) + 0.5
TRAIN, TEST = np.arange(178) % 3 > 0, np.arange(178) % 3 == 0
FAST = [
    name for name in selection.__all__
    if isinstance(cls := getattr(selection, name), type)
    and issubclass(cls, selection.FastSelector) and cls is not selection.FastSelector
]  # fmt: skip


def share(rest, total, *, centred):
    total = total - total.mean(axis=0) if centred else total
    return 1.0 - np.square(rest).sum() / np.square(total).sum()


@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize("n_components", [0, 2])
def test_new_rows_are_predicted_by_the_coefficients_of_fit(centering, n_components):
    selector = ColumnSelector(3, n_components=n_components, centering=centering).fit(X[TRAIN])
    rest = X[TEST] - selector.reconstruct(selector.transform(X[TEST]))
    expected = share(rest, X[TEST], centred=centering == "mean")
    assert selector.score(X[TEST]) == pytest.approx(expected, rel=1e-10)
    assert selector.score(X[TRAIN]) == pytest.approx(1 - selector.relative_error_, rel=1e-10)


def test_the_score_for_numbers_is_their_r2():
    data, y = load_diabetes(return_X_y=True)
    selector = ColumnSelector(3, centering="mean").fit(data[:300], y[:300])
    predicted = data[300:, selector.selected_] @ selector.coef_ + selector.intercept_
    assert selector.score(data[300:], y[300:]) == pytest.approx(r2_score(y[300:], predicted))


def test_classes_are_those_of_fit_whatever_other_rows_hold():
    selector = ColumnSelector(3).fit(X, LABELS)
    some = LABELS == 1
    indicator = np.eye(3)[LABELS[some]]
    rest = indicator - X[some][:, selector.selected_] @ selector.coef_
    assert selector.score(X[some], LABELS[some]) == pytest.approx(
        share(rest, indicator, centred=False)
    )
    with pytest.raises(ValueError, match="labels that are not in classes"):
        selector.score(X, LABELS + 1)


@pytest.mark.parametrize("name", FAST)
def test_fast_selectors_score_their_columns_by_least_squares(name):
    cls = getattr(selection, name)
    selector = INSTANCES.get(name, lambda cls: [cls()])(cls)[0]
    y = X @ np.linspace(-1, 1, 13) + np.cos(np.arange(178))
    selector.fit(X[TRAIN], y[TRAIN])
    target = X if selector._rebuilds_x else y[:, None]
    chosen, T = X[TEST][:, selector.selected_], target[TEST]
    if selector._centered:
        chosen, T = chosen - chosen.mean(axis=0), T - T.mean(axis=0)
    rest = T - chosen @ np.linalg.lstsq(chosen, T, rcond=None)[0]
    assert selector.score(X[TEST], y[TEST]) == pytest.approx(share(rest, T, centred=False))
    if hasattr(selector, "error_"):
        at_home = selector.score(X[TRAIN], y[TRAIN])
        assert at_home == pytest.approx(1 - selector.relative_error_, abs=1e-10)


@pytest.mark.parametrize("y", [LABELS > 0, np.array(["a", "b"])[(LABELS > 0).astype(int)], LABELS])
def test_a_filter_scores_classes_as_it_reads_them(y):
    selector = selection.CorrelationFilter(2).fit(X, y)
    assert selector.score(X, y) == pytest.approx(1 - selector.relative_error_)


def test_every_kind_of_data_has_the_same_score():
    da = pytest.importorskip("dask.array")
    for options in ({}, {"centering": "mean"}, {"centering": "mean", "n_components": 1}):
        selector = ColumnSelector(3, **options).fit(X[TRAIN])
        expected = selector.score(X[TEST])
        assert selector.score(sp.csr_array(X[TEST])) == pytest.approx(expected)
        assert selector.score(da.from_array(X[TEST], chunks=(20, -1))) == pytest.approx(expected)
        assert selector.score(X[TEST] * 1.0) == expected
    huge = ColumnSelector(3).fit(X[TRAIN] * 2.0**400)
    assert huge.score(X[TEST] * 2.0**400) == pytest.approx(ColumnSelector(3).fit(X[TRAIN]).score(
        X[TEST]))  # fmt: skip


def test_model_selection_uses_the_score():
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(ColumnSelector(3), X, cv=folds)
    assert len(scores) == 4 and (scores < 1).all() and (scores > 0.4).all()
    search = GridSearchCV(ForwardSelector(), {"n_features_to_select": [1, 5]}, cv=folds).fit(X)
    assert search.best_params_ == {"n_features_to_select": 5}


def test_nothing_to_explain():
    selector = ColumnSelector(2, centering="mean").fit(X)
    assert selector.score(X[:1]) == 0.0
    assert ForwardSelector(2, centering="mean").fit(X).score(X[:1]) == 1.0


def test_a_missing_target_and_a_gram_matrix_are_refused():
    with pytest.raises(ValueError, match=r"call score\(X, y\)"):
        ColumnSelector(2).fit(X, LABELS).score(X)
    with pytest.raises(ValueError, match="score needs rows"):
        ColumnSelector(2, input="gram").fit(X.T @ X).score(X.T @ X)
