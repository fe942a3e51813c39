"""Fisher score and trace ratio against definitions and enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import f_classif
from sklearn.preprocessing import scale as standardize

from columnist.spectral._graph import Graph
from columnist.spectral._ratios import FisherScore, TraceRatio, maximize_trace_ratio
from columnist.spectral._similarity import fisher_similarity, knn_similarity
from columnist.spectral._spec import LaplacianScore
from tests.spectral.test_scatter import exact_classes

FORMS = [np.asarray, sp.csr_array, sp.csc_array]


def labelled(seed: int, n: int = 40, m: int = 6, c: int = 3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.standard_normal((n, m)) + rng.standard_normal(m) * y[:, None]
    return X, y


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(FORMS))
def test_equals_the_f_statistic(seed, c, form):
    X, y = labelled(seed, c=c)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = 0.0
    fitted = FisherScore(2).fit(form(X), y)
    expected = f_classif(X, y)[0] * (c - 1) / (len(y) - c)
    np.testing.assert_allclose(fitted.raw_scores_, expected, rtol=1e-9)
    np.testing.assert_array_equal(fitted.ranking_, np.argsort(-fitted.raw_scores_))
    np.testing.assert_array_equal(fitted.selected_, fitted.ranking_[:2])


@given(st.integers(0, 10**6))
def test_laplacian_score_of_the_class_graph(seed):
    X, y = labelled(seed)
    graph = Graph.of(fisher_similarity(y))
    centred = graph.centred(X)
    phi2 = graph.laplacian_forms(X) / (graph.degrees @ centred**2)
    np.testing.assert_allclose(1.0 / (1.0 + FisherScore().fit(X, y).scores_), phi2, rtol=1e-10)


@given(st.integers(0, 10**6), st.floats(0.1, 100.0), st.floats(-100.0, 100.0))
def test_units_and_origin_do_not_matter(seed, scale, shift):
    X, y = labelled(seed)
    scores = FisherScore().fit(X, y).scores_
    np.testing.assert_allclose(FisherScore().fit(scale * X + shift, y).scores_, scores, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_digits_of_data_far_from_zero(form):
    X, y = labelled(1)
    X = X + 1e8
    between, within = exact_classes(X, y)
    scores = FisherScore().fit(form(X), y).scores_
    np.testing.assert_allclose(scores, np.divide(between, within), rtol=1e-12)
    assert Fraction(X[0, 0]) != Fraction(round(X[0, 0]))


@pytest.mark.parametrize("form", FORMS)
def test_constant_features_rank_last_and_perfect_ones_first(form):
    X, y = labelled(2)
    X[:, 1], X[:, 3] = 0.0, 0.3
    X[:, 4] = np.array([0.1, 0.7, 0.3])[y]
    fitted = FisherScore(4).fit(form(X), y)
    assert np.isnan(fitted.scores_[[1, 3]]).all()
    assert fitted.scores_[4] == np.inf
    assert fitted.selected_[0] == 4
    assert list(fitted.ranking_[-2:]) == [1, 3]
    with pytest.warns(UserWarning, match="1 of 5 features without a score"):
        FisherScore(5).fit(form(X), y)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", FORMS)
def test_scales(scale, form):
    X, y = load_wine(return_X_y=True)
    expected = FisherScore().fit(X, y).scores_
    np.testing.assert_allclose(FisherScore().fit(form(scale * X), y).scores_, expected, rtol=1e-9)


def test_float32():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    expected = FisherScore().fit(X.astype(np.float64), y).scores_
    for form in FORMS:
        np.testing.assert_allclose(FisherScore().fit(form(X), y).scores_, expected, rtol=1e-12)


def test_a_class_with_one_sample():
    X, y = labelled(3)
    y[0] = 7
    fitted = FisherScore().fit(X, y)
    expected = f_classif(X, y)[0] * 3 / (len(y) - 4)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.eye(4), None, "requires y"),
        (np.eye(4), [0, 0, 0, 0], "at least two classes"),
        (np.eye(4), [0.5, 0.2, 1.7, 2.5], "class labels"),
        (np.eye(4), [0, 1, 0], "inconsistent numbers of samples"),
        (np.full((4, 2), np.nan), [0, 1, 0, 1], "NaN"),
        (np.eye(2), ["a", "b"], "Every class in y has one sample"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_bad_input(X, y, message):
    with pytest.raises(ValueError, match=message):
        FisherScore().fit(X, y)


def forms_of(X, y=None):
    """f'L_b f and f'L_w f from n x n matrices, by their definitions."""
    n = len(X)
    if y is not None:
        S = fisher_similarity(y).toarray()
        between, within = S - np.ones((n, n)) / n, np.eye(n) - S
    else:
        S = knn_similarity(X, n_neighbors=5).toarray()
        degrees = S.sum(axis=1)
        between = np.diag(degrees) - np.outer(degrees, degrees) / degrees.sum()
        within = np.diag(degrees) - S
    return (np.einsum("ij,ik,kj->j", X, L, X) for L in (between, within))


def best_ratio(between, within, size) -> float:
    sets = (list(columns) for columns in combinations(range(len(between)), size))
    return max(between[F].sum() / within[F].sum() for F in sets)


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_global_optimum_of_given_terms(seed, size, ties):
    rng = np.random.default_rng(seed)
    terms = rng.integers(1, 4, (2, 7)).astype(float) if ties else rng.exponential(size=(2, 7)) ** 3
    scores, history = maximize_trace_ratio(*terms, size)
    assert history[-1] == pytest.approx(best_ratio(*terms, size), rel=1e-12)
    assert (np.diff(history) > 0.0).all()
    np.testing.assert_array_equal(scores, terms[0] - history[-1] * terms[1])
    top = np.argsort(-scores, kind="stable")[:size]
    assert terms[0][top].sum() / terms[1][top].sum() == pytest.approx(history[-1], rel=1e-12)


@given(
    st.integers(0, 10**6), st.integers(1, 5), st.booleans(), st.sampled_from(["unit", "none"]),
    st.sampled_from(FORMS),
)  # fmt: skip
def test_global_optimum_on_data(seed, size, supervised, scaling, form):
    X, y = labelled(seed, n=25)
    X *= np.random.default_rng(seed).exponential(size=X.shape[1])
    fitted = TraceRatio(
        size, scaling=scaling, laplacian="supervised" if supervised else "unsupervised"
    ).fit(form(X), y)
    lengths = np.square(X - X.mean(axis=0)).sum(axis=0) if scaling == "unit" else 1.0
    between, within = (part / lengths for part in forms_of(X, y if supervised else None))
    expected = best_ratio(between, within, size)
    assert fitted.criterion_ == pytest.approx(expected, rel=1e-9)
    F = fitted.selected_
    assert between[F].sum() / within[F].sum() == pytest.approx(expected, rel=1e-9)
    slack = 1e-9 * between.max()  # the difference is zero for one feature
    np.testing.assert_allclose(fitted.raw_scores_, between - expected * within, atol=slack)
    assert fitted.n_iter_ == len(fitted.history_)
    assert fitted.history_[-1] == fitted.criterion_


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_sets_of_the_fisher_score(seed, size):
    X, y = labelled(seed)
    X *= np.random.default_rng(seed).exponential(size=X.shape[1])
    fisher = FisherScore(size).fit(X, y).selected_
    assert set(TraceRatio(size).fit(X, y).selected_) == set(fisher)
    assert TraceRatio(1, scaling="none").fit(X, y).selected_ == fisher[:1]


def test_scaling_matters():
    """Why the default is free of units: with raw features few sets agree with Fisher's."""
    agree = {"unit": 0, "none": 0}
    for seed in range(100):
        X, y = labelled(seed, n=30, m=8)
        X *= 10.0 ** np.random.default_rng(seed).uniform(-1.0, 1.0, X.shape[1])
        fisher = set(FisherScore(3).fit(X, y).selected_)
        for scaling in agree:
            agree[scaling] += set(TraceRatio(3, scaling=scaling).fit(X, y).selected_) == fisher
    assert agree["unit"] == 100
    assert agree["none"] < 50


@given(st.integers(0, 10**6), st.sampled_from(["unit", "none"]))
def test_one_feature_is_the_best_laplacian_score(seed, scaling):
    X, _ = labelled(seed)
    fitted = TraceRatio(1, scaling=scaling).fit(X)
    laplacian = LaplacianScore(1).fit(X)
    assert fitted.selected_ == laplacian.selected_
    best = laplacian.raw_scores_[laplacian.selected_[0]]
    assert fitted.criterion_ == pytest.approx(1.0 / best, rel=1e-9)


def test_auto_uses_y_if_given():
    X, y = load_wine(return_X_y=True)
    X = standardize(X)
    for given_y, laplacian in ((y, "supervised"), (None, "unsupervised")):
        auto = TraceRatio(4).fit(X, given_y)
        told = TraceRatio(4, laplacian=laplacian).fit(X, y)
        np.testing.assert_array_equal(auto.scores_, told.scores_)
    assert not hasattr(TraceRatio(4, laplacian="unsupervised").fit(X, y), "classes_")


@pytest.mark.parametrize("form", FORMS)
def test_features_that_do_not_vary_within_classes(form):
    X, y = labelled(4)
    X[:, 1] = np.array([3.0, 1.0, 2.0])[y]
    X[:, 5] = np.array([0.1, 0.7, 0.3])[y]
    for size in (1, 2):
        fitted = TraceRatio(size, scaling="none").fit(form(X), y)
        assert list(fitted.selected_) == [1, 5][:size]
        assert fitted.criterion_ == np.inf
        assert (fitted.scores_[[0, 2, 3, 4]] == -np.inf).all()
    fitted = TraceRatio(3).fit(form(X), y)
    assert {1, 5} < set(fitted.selected_)
    assert np.isfinite(fitted.criterion_)
    assert set(fitted.selected_) == set(FisherScore(3).fit(X, y).selected_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("supervised", [True, False])
def test_constant_features_rank_last(form, scaling, supervised):
    X, y = labelled(5)
    X[:, 0], X[:, 3] = 0.0, 0.3
    y = y if supervised else None
    fitted = TraceRatio(4, scaling=scaling).fit(form(X), y)
    assert np.isnan(fitted.scores_[[0, 3]]).all()
    assert list(fitted.ranking_[-2:]) == [0, 3]
    with pytest.warns(UserWarning, match="1 of 5 features without a score"):
        more = TraceRatio(5, scaling=scaling).fit(form(X), y)
    assert more.criterion_ == pytest.approx(fitted.criterion_)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
@pytest.mark.parametrize("scaling", ["unit", "none"])
def test_scales_of_sets(factor, scaling):
    X, y = labelled(6)
    for given_y in (y, None):
        plain = TraceRatio(3, scaling=scaling).fit(X, given_y)
        moved = TraceRatio(3, scaling=scaling).fit(factor * X, given_y)
        np.testing.assert_array_equal(moved.ranking_, plain.ranking_)
        assert moved.criterion_ == pytest.approx(plain.criterion_, rel=1e-9)
        expected = plain.raw_scores_ * (factor**2 if scaling == "none" else 1.0)
        slack = 1e-12 * np.abs(expected).max()
        np.testing.assert_allclose(moved.raw_scores_, expected, rtol=1e-6, atol=slack)


def test_float32_of_sets():
    X, y = labelled(7)
    X = X.astype(np.float32)
    for given_y in (y, None):
        narrow = TraceRatio(3).fit(X, given_y)
        wide = TraceRatio(3).fit(X.astype(np.float64), given_y)
        np.testing.assert_allclose(narrow.raw_scores_, wide.raw_scores_, rtol=1e-5)


def test_own_similarity():
    X, y = labelled(8)
    graph = TraceRatio(3, similarity=fisher_similarity(y).toarray()).fit(X)
    classes = TraceRatio(3).fit(X, y)
    # All degrees are 1: what varies among all samples is the sum of between and within.
    assert graph.criterion_ == pytest.approx(1.0 + classes.criterion_, rel=1e-9)
    assert set(graph.selected_) == set(classes.selected_)


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"laplacian": "superwised"}, np.eye(4), None, "laplacian must be one of"),
        ({"scaling": "std"}, np.eye(4), None, "scaling must be one of"),
        ({"laplacian": "supervised"}, np.eye(4), None, "requires y"),
        ({"n_features_to_select": 5}, np.eye(4), [0, 1, 0, 1], "between 1 and the number"),
        ({}, np.eye(4), [0.5, 1.5, 0.1, 2.5], "class labels"),
        ({}, np.ones((4, 2)), [0, 1, 0, 1], "All features are constant"),
        ({}, np.eye(4), None, "n_neighbors"),
        ({"similarity": np.eye(3)}, np.eye(4), None, "3 samples, but X has 4 rows"),
        ({}, sp.csr_array(np.full((4, 2), np.inf)), [0, 1, 0, 1], "infinity"),
    ],
)
def test_bad_input_of_sets(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        TraceRatio(**options).fit(X, y)
