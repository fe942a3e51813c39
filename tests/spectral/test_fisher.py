"""Fisher score against scikit-learn's F statistic, exact arithmetic and the Laplacian score."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import f_classif

from columnist.spectral._fisher import FisherScore
from columnist.spectral._graph import Graph
from columnist.spectral._similarity import fisher_similarity
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
