"""mRMR against a plain loop over textbook statistics of SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif
from sklearn.metrics import mutual_info_score

from columnist.metrics import redundancy_rate
from columnist.spectral._fisher import FisherScore
from columnist.spectral._mrmr import MRMR
from tests.spectral.test_fisher import FORMS, labelled

SCHEMES = ["quotient", "difference"]
MEASURES = ["correlation", "mutual_information"]


def states(column, cut):
    away = (column - column.mean()) / column.std()
    return np.where(away > cut, 1, np.where(away < -cut, -1, 0))


class _Rows(dict):
    """Rows of a matrix, computed when asked for."""

    def __init__(self, row):
        self.row = row

    def __missing__(self, i):
        self[i] = self.row(i)
        return self[i]


def by_hand(X, y, size, scheme, measure, cut):
    """Order and values of the definition."""
    m = X.shape[1]
    if measure == "correlation":
        relevance, redundancy = f_classif(X, y)[0], np.abs(np.corrcoef(X.T))
    else:
        Z = [states(column, cut) for column in X.T]
        relevance = np.array([mutual_info_score(z, y) for z in Z])
        redundancy = _Rows(lambda i: np.array([mutual_info_score(Z[i], z) for z in Z]))
    order = [int(np.argmax(relevance))]
    values = [relevance[order[0]]]
    while len(order) < size:
        mean = np.mean([redundancy[i] for i in order], axis=0)
        both = relevance - mean if scheme == "difference" else relevance / np.maximum(mean, 1e-3)
        best = max((j for j in range(m) if j not in order), key=lambda j: both[j])
        order.append(best)
        values.append(both[best])
    return order, values


def related(seed, n=40, m=8):
    rng = np.random.default_rng(seed)
    X, y = labelled(seed, n=n, m=m)
    return X @ rng.standard_normal((m, m)), y


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(1, 8),
    st.sampled_from(SCHEMES),
    st.sampled_from(MEASURES),
    st.sampled_from([0.5, 1.0]),
)
def test_by_definition(seed, size, scheme, measure, cut):
    X, y = related(seed)
    fitted = MRMR(size, scheme=scheme, measure=measure, cut=cut).fit(X, y)
    order, values = by_hand(X, y, size, scheme, measure, cut)
    np.testing.assert_allclose(fitted.raw_scores_[order], values, rtol=1e-8)
    np.testing.assert_array_equal(fitted.selected_, order)
    np.testing.assert_array_equal(np.argsort(-fitted.scores_), fitted.ranking_)
    if measure == "correlation":
        for form in FORMS[1:]:
            sparse = MRMR(size, scheme=scheme).fit(form(X), y)
            np.testing.assert_array_equal(sparse.selected_, order)


def test_a_smaller_selection_begins_a_larger_one():
    X, y = related(1)
    for measure in MEASURES:
        ranking = MRMR(8, measure=measure).fit(X, y).ranking_
        for size in range(1, 8):
            fitted = MRMR(size, measure=measure).fit(X, y)
            np.testing.assert_array_equal(fitted.selected_, ranking[:size])


def test_less_redundant_than_the_best_single_features():
    X, y = load_wine(return_X_y=True)
    copies = X[:, [6, 6, 6]] + 0.01 * np.random.default_rng(0).standard_normal((len(X), 3))
    X = np.hstack([X, copies])
    alone = redundancy_rate(X, FisherScore(4).fit(X, y).selected_)
    for measure in MEASURES:
        assert redundancy_rate(X, MRMR(4, measure=measure).fit(X, y).selected_) < 0.8 * alone


@pytest.mark.parametrize("measure", MEASURES)
def test_constant_features_rank_last(measure):
    X, y = labelled(3)
    X[:, 1], X[:, 2] = 0.0, 0.3
    fitted = MRMR(3, measure=measure).fit(X, y)
    assert np.isnan(fitted.scores_[[1, 2]]).all()
    assert list(fitted.ranking_[-2:]) == [1, 2]
    with pytest.warns(UserWarning, match="1 of 5 features without a score"):
        MRMR(5, measure=measure).fit(X, y)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_features_that_do_not_vary_within_classes(scheme):
    X, y = labelled(4)
    X[:, 1] = np.array([3.0, 1.0, 2.0])[y]
    X[:, 4] = X[:, 1] + (y == 2)
    X[:, 5] = np.array([0.0, 0.5, -0.5])[y]
    fitted = MRMR(3, scheme=scheme).fit(X, y)
    assert set(fitted.selected_) == {1, 4, 5}
    assert np.isinf(fitted.relevance_[[1, 4, 5]]).all()
    if scheme == "quotient":  # of these the one that is least like the first
        r = np.abs(np.corrcoef(X.T))
        assert fitted.selected_[1] == (4 if r[1, 4] < r[1, 5] else 5)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
@pytest.mark.parametrize("measure", MEASURES)
def test_scales(factor, measure):
    X, y = related(5)
    plain, moved = (MRMR(5, measure=measure).fit(Z, y) for Z in (X, factor * X))
    np.testing.assert_array_equal(moved.ranking_, plain.ranking_)
    np.testing.assert_allclose(moved.raw_scores_, plain.raw_scores_, rtol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_units_and_float32(measure):
    X, y = related(6)
    X = X.astype(np.float32)
    expected = MRMR(5, measure=measure).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(MRMR(5, measure=measure).fit(X, y).ranking_, expected.ranking_)
    moved = X.astype(np.float64) * 10.0 ** np.arange(-4, 4) + np.arange(8)
    np.testing.assert_array_equal(
        MRMR(5, measure=measure).fit(moved, y).selected_, expected.selected_
    )


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"scheme": "ratio"}, np.eye(4), [0, 1, 0, 1], "scheme must be one of"),
        ({"measure": "entropy"}, np.eye(4), [0, 1, 0, 1], "measure must be one of"),
        ({"cut": 0}, np.eye(4), [0, 1, 0, 1], "cut must be a number > 0"),
        ({}, np.eye(4), None, "requires y"),
        ({}, np.eye(4), [0.1, 1.5, 0.3, 2.5], "class labels"),
        ({}, np.ones((4, 2)), [0, 1, 0, 1], "All features are constant"),
        ({}, np.eye(2), ["a", "b"], "Every class in y has one sample"),
        ({}, np.full((4, 2), np.inf), [0, 1, 0, 1], "infinity"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_bad_input(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        MRMR(**options).fit(X, y)


def test_mutual_information_refuses_sparse_data():
    with pytest.raises(TypeError, match="dense data is required"):
        MRMR(1, measure="mutual_information").fit(sp.csr_array(np.eye(4)), [0, 1, 0, 1])
