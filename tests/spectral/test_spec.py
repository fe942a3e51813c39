"""SpectralSelector and LaplacianScore as estimators."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from columnist.spectral import LaplacianScore, SpectralSelector, knn_similarity, rbf_similarity
from columnist.spectral._graph import Graph
from tests.examples import examples
from tests.spectral.data import SEEDS, three_clusters

SCORES = ["phi1", "phi2", "phi3"]


@pytest.mark.parametrize("score", SCORES)
def test_informative_features_come_first(score):
    """Example 9: always, with a graph of the two features that have a meaning."""
    for seed in range(examples(200)):
        X, _ = three_clusters(seed)
        S = rbf_similarity(X[:, :2], width=1.0)
        selector = SpectralSelector(2, score=score, n_clusters=3, similarity=S).fit(X)
        assert set(selector.selected_) == {0, 1}


@given(SEEDS)
def test_laplacian_score_is_its_formula(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 6)) * 10.0 ** rng.integers(-3, 4, 6) + 1.0
    selector = LaplacianScore(3).fit(X)
    S = knn_similarity(X, n_neighbors=5).toarray()
    d = S.sum(axis=1)
    L = np.diag(d) - S
    centred = X - d @ X / d.sum()
    expected = np.diag(centred.T @ L @ centred) / (d @ np.square(centred))
    np.testing.assert_allclose(selector.raw_scores_, expected, rtol=1e-9)
    np.testing.assert_array_equal(selector.scores_, -selector.raw_scores_)
    np.testing.assert_array_equal(selector.ranking_, np.argsort(expected))
    np.testing.assert_array_equal(selector.selected_, selector.ranking_[:3])
    same = SpectralSelector(3, score="phi2").fit(X)
    np.testing.assert_array_equal(same.raw_scores_, selector.raw_scores_)


@pytest.mark.parametrize("score", SCORES)
def test_direction(score):
    X, _ = three_clusters(0)
    selector = SpectralSelector(score=score, n_clusters=3).fit(X)
    sign = 1.0 if score == "phi3" else -1.0
    np.testing.assert_array_equal(selector.scores_, sign * selector.raw_scores_)
    assert (np.diff(selector.scores_[selector.ranking_]) <= 0.0).all()


def test_classes_decide_the_number_of_clusters():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for similarity in ("label", "fisher"):
        selector = SpectralSelector(score="phi3", similarity=similarity).fit(X, y)
        assert selector.n_clusters_ == 3


def test_number_of_clusters_is_read_off_the_gap():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)) + 60.0 * i for i in range(4)])
    selector = SpectralSelector(1, score="phi3", n_neighbors=20).fit(X)
    assert selector.n_clusters_ == 4
    assert SpectralSelector(1, score="phi3", n_neighbors=1).fit(X[:2]).n_clusters_ == 2
    assert SpectralSelector(1, score="phi3", n_clusters=9).fit(X[:6]).n_clusters_ == 6


def test_constant_features_rank_last():
    X, _ = three_clusters(0)
    X[:, 2] = 3.0
    X[:, 0] = 0.1
    for score in SCORES:
        selector = SpectralSelector(2, score=score, n_clusters=3).fit(X)
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(selector.raw_scores_)), [0, 2])
        np.testing.assert_array_equal(selector.ranking_[-2:], [0, 2])
    with pytest.warns(UserWarning, match="selected 1 of 5 features without a score.*only 4"):
        SpectralSelector(5).fit(X)


def test_equal_features_keep_their_order():
    X, _ = three_clusters(0)
    X = np.hstack([X, X[:, ::-1], X])
    ranking = SpectralSelector(score="phi2").fit(X).ranking_
    twins = {0: (0, 11, 12), 1: (1, 10, 13)}
    for group in twins.values():
        places = [int(np.flatnonzero(ranking == f)[0]) for f in group]
        assert places == list(range(places[0], places[0] + 3))


@pytest.mark.parametrize("unit", [1e-150, 1e150])
@pytest.mark.parametrize("similarity", ["knn", "rbf", "cosine"])
def test_units_do_not_matter(unit, similarity):
    X = np.random.default_rng(0).random((40, 6))
    expected = SpectralSelector(similarity=similarity).fit(X)
    selector = SpectralSelector(similarity=similarity).fit(X * unit)
    np.testing.assert_allclose(selector.raw_scores_, expected.raw_scores_, rtol=1e-9)


def test_sparse_input():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 10)) < 0.3, rng.random((60, 10)), 0.0)
    S = knn_similarity(X)
    for score in SCORES:
        dense = SpectralSelector(score=score, n_clusters=3, similarity=S).fit(X)
        for kind in (sp.csr_matrix, sp.csc_array):
            sparse = SpectralSelector(score=score, n_clusters=3, similarity=S).fit(kind(X))
            np.testing.assert_allclose(sparse.raw_scores_, dense.raw_scores_, rtol=1e-10)


def test_score_is_a_parameter_and_no_method():
    selector = SpectralSelector(score="phi3")
    assert selector.get_params()["score"] == "phi3"
    assert not hasattr(selector, "score")
    assert clone(selector).set_params(score="phi1").get_params()["score"] == "phi1"
    assert "score='phi3'" in repr(selector)


def test_in_a_grid_search():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), SpectralSelector(similarity="fisher"), KNeighborsClassifier()
    )
    grid = {
        "spectralselector__n_features_to_select": [2, 5],
        "spectralselector__score": ["phi2", "phi3"],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["spectralselector__n_features_to_select"] == 5


def test_a_graph_in_pieces():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)) + 100.0 * i for i in range(2)])
    for score in SCORES:
        raw = SpectralSelector(score=score, n_clusters=2, n_neighbors=3).fit(X).raw_scores_
        assert np.isfinite(raw).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"score": "phi4"}, "score must be one of 'phi1', 'phi2', 'phi3'"),
        ({"gamma": "log"}, "gamma must be one of"),
        ({"similarity": "heat"}, "similarity must be one of"),
        ({"similarity": "fisher"}, "similarity='fisher' requires y to be passed"),
        ({"similarity": np.eye(7)}, "7 samples, but X has 90 rows"),
        ({"similarity": -np.eye(90)}, "negative degree"),
        ({"score": "phi3", "n_clusters": 1}, "n_clusters must be an integer >= 2"),
        ({"n_neighbors": 90}, "n_neighbors=90 needs more than 90 samples"),
        ({"n_features_to_select": 7}, "between 1 and the number of features"),
    ],
)
def test_bad_parameters(parameters, message):
    X, _ = three_clusters(0)
    with pytest.raises(ValueError, match=message):
        SpectralSelector(**parameters).fit(X)


def test_bad_data():
    X, y = three_clusters(0)
    with pytest.raises(ValueError, match="NaN"):
        SpectralSelector().fit(np.where(X > 5, np.nan, X))
    with pytest.raises(ValueError, match="needs class labels in y"):
        SpectralSelector(similarity="label").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SpectralSelector(similarity="label").fit(X, y[1:])
    with pytest.raises(ValueError, match="minimum of 2"):
        LaplacianScore().fit(X[:1])


def test_labels_never_make_a_square_matrix(monkeypatch):
    """The classes are used as a factor: quadratic memory would stop this."""
    monkeypatch.setattr("columnist.spectral._symmetric.DenseMatrix.__init__", None)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50_000)
    X = rng.normal(size=(50_000, 4)).astype(np.float32)
    X[:, 2] += y
    for score in SCORES:
        selector = SpectralSelector(1, score=score, similarity="fisher", n_clusters=3).fit(X, y)
        assert selector.selected_ == [2]
    assert Graph.of(knn_similarity(X[:1000, :2])).similarity.matrix.nnz < 20_000


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_a_given_width_has_the_unit_of_the_data(unit):
    X = np.random.default_rng(0).random((40, 6))
    expected = SpectralSelector(width=0.3).fit(X)
    selector = SpectralSelector(width=0.3 * unit).fit(X * unit)
    np.testing.assert_allclose(selector.raw_scores_, expected.raw_scores_, rtol=1e-9)
