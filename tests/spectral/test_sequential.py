"""MRMR and the zero-norm machine against plain loops and their properties."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif
from sklearn.metrics import mutual_info_score
from sklearn.svm import SVC

from columnist.metrics import redundancy_rate
from columnist.spectral._ratios import FisherScore
from columnist.spectral._sequential import MRMR, ZeroNormSVM
from tests.spectral.test_ratios import FORMS, labelled

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


def shares_by_hand(X, y, C, rounds) -> np.ndarray:
    """Scales of standardised features after some rounds, as shares of the largest."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scales, classes = np.ones(Z.shape[1]), np.unique(y)
    for _ in range(rounds):
        # As long, in the mean, as standardised samples.
        scales *= np.sqrt(Z.shape[1] / np.square(Z * scales).sum(axis=1).mean())
        squares = 0.0
        for label in classes if len(classes) > 2 else classes[:1]:
            machine = SVC(C=C, kernel="linear", tol=1e-4).fit(Z * scales, y == label)
            squares = squares + machine.coef_[0] ** 2
        scales *= np.sqrt(squares)
    return scales / scales.max()


@settings(max_examples=25)
@given(
    st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.1, 1.0]), st.integers(1, 3),
    st.sampled_from(FORMS),
)  # fmt: skip
def test_scales_by_definition(seed, c, C, rounds, form):
    X, y = labelled(seed, c=c)
    expected = shares_by_hand(X, y, C, rounds)
    fitted = ZeroNormSVM(1, C=C, max_iter=rounds).fit(form(X), y)
    assert fitted.n_iter_ == rounds
    # As exact as the machines are.
    np.testing.assert_allclose(fitted.raw_scores_, expected, rtol=0.02, atol=2e-3)
    np.testing.assert_array_equal(np.argsort(-fitted.scores_), fitted.ranking_)


@pytest.mark.parametrize("seed", range(5))
def test_finds_the_features_that_separate(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 100))
    margin = X[:, 7] + X[:, 30]
    X, y = X[np.abs(margin) > 0.3], np.sign(margin[np.abs(margin) > 0.3])
    fitted = ZeroNormSVM(2, C=100.0).fit(X * rng.exponential(size=100), y)
    assert set(fitted.selected_) == {7, 30}
    assert fitted.n_iter_ < 50
    assert (np.diff(fitted.scores_[fitted.ranking_]) == -1.0).all()


def test_what_leaves_earlier_is_ranked_further_behind():
    X, y = labelled(8, n=50, m=150)
    fitted = ZeroNormSVM(2, max_iter=8).fit(X, y)
    early = 0
    for rounds in range(3, fitted.n_iter_):
        gone = ZeroNormSVM(2, max_iter=rounds).fit(X, y).raw_scores_ <= 1e-6
        if gone.any():
            assert fitted.scores_[gone].max() < fitted.scores_[~gone].min()
            early += 1
    assert early >= 2


def test_stops_when_the_scales_settle():
    X, y = load_wine(return_X_y=True)
    fitted = ZeroNormSVM(1).fit(X, y)
    assert 5 < fitted.n_iter_ < 50
    more = ZeroNormSVM(1, max_iter=200).fit(X, y)
    assert more.n_iter_ == fitted.n_iter_
    longest = fitted.raw_scores_ > 1e-6
    assert set(fitted.ranking_[: longest.sum()]) == set(np.flatnonzero(longest))


def test_few_features_are_enough():
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = ZeroNormSVM(4).fit(X, y).selected_
    assert SVC(kernel="linear").fit(Z[:, chosen], y).score(Z[:, chosen], y) > 0.97


@pytest.mark.parametrize("form", FORMS)
def test_constant_features_rank_last_of_machines(form):
    X, y = labelled(3)
    X[:, 1], X[:, 2] = 0.0, 0.3
    fitted = ZeroNormSVM(3).fit(form(X), y)
    assert np.isnan(fitted.scores_[[1, 2]]).all()
    assert list(fitted.ranking_[-2:]) == [1, 2]
    with pytest.warns(UserWarning, match="1 of 5 features without a score"):
        ZeroNormSVM(5).fit(form(X), y)


# Powers of two change no digit, and the machines depend on digits.
@pytest.mark.parametrize("factor", [2.0**-500, 2.0**500])
def test_scales_of_the_data(factor):
    X, y = labelled(4)
    plain, moved = (ZeroNormSVM(2).fit(Z, y) for Z in (X, factor * X))
    np.testing.assert_array_equal(moved.ranking_, plain.ranking_)
    np.testing.assert_array_equal(moved.raw_scores_, plain.raw_scores_)


def test_units_and_float32_of_machines():
    X, y = labelled(5)
    X = X.astype(np.float32)
    expected = ZeroNormSVM(2, max_iter=4).fit(X.astype(np.float64), y)
    narrow = ZeroNormSVM(2, max_iter=4).fit(X, y)
    np.testing.assert_array_equal(narrow.raw_scores_, expected.raw_scores_)
    moved = X.astype(np.float64) * 10.0 ** np.arange(-3, 3) + 100.0
    shares = ZeroNormSVM(2, max_iter=4).fit(moved, y).raw_scores_
    np.testing.assert_allclose(shares, expected.raw_scores_, rtol=0.02, atol=2e-3)


def test_memory_is_checked(monkeypatch):
    X, y = labelled(6, n=200)
    monkeypatch.setattr("columnist.linalg._memory.available_memory", lambda: 10**5)
    with pytest.raises(MemoryError, match="kernel of 200 samples needs about"):
        ZeroNormSVM(2).fit(X, y)


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"C": 0.0}, np.eye(4), [0, 1, 0, 1], "C must be a number > 0"),
        ({"max_iter": 0}, np.eye(4), [0, 1, 0, 1], "max_iter must be an integer >= 1"),
        ({}, np.eye(4), None, "requires y"),
        ({}, np.eye(4), [0, 0, 0, 0], "at least two classes"),
        ({}, np.eye(4), [0.1, 1.5, 0.3, 2.5], "class labels"),
        ({}, np.ones((4, 2)), [0, 1, 0, 1], "All features are constant"),
        ({}, sp.csr_array(np.full((4, 2), np.nan)), [0, 1, 0, 1], "NaN"),
    ],
)
def test_bad_input_of_machines(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        ZeroNormSVM(**options).fit(X, y)
