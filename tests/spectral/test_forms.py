"""The table of equivalences: every score is a quadratic form (property P5 and table 4.1)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral import (
    HSIC,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    TraceRatio,
    common_form,
    rbf_similarity,
)
from tests.spectral.data import SEEDS, three_clusters

GAMMAS = st.sampled_from(["identity", "cube", 2, np.expm1])


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 6)) * rng.random(6) * 5.0 + rng.normal(size=6)
    y = rng.permutation(np.arange(24) % 3)
    X[:, 1] += y
    return X, y


@given(SEEDS, st.sampled_from(["phi1", "phi2", "phi3"]), GAMMAS, st.sampled_from(["knn", "rbf"]))
def test_spectral_scores(seed, score, gamma, similarity):
    X, _ = problem(seed)
    options = {"similarity": similarity, "gamma": gamma, "n_clusters": 4}
    form = common_form(score, X, **options)
    raw = SpectralSelector(score=score, **options).fit(X).raw_scores_
    np.testing.assert_allclose(np.linalg.norm(form.features, axis=0), 1.0)
    expected = raw if score == "phi3" else 1.0 - raw
    np.testing.assert_allclose(form.scores(), expected, atol=1e-10)


@given(SEEDS)
def test_classic_scores(seed):
    X, y = problem(seed)
    laplacian = LaplacianScore().fit(X).raw_scores_
    np.testing.assert_allclose(common_form("laplacian", X).scores(), 1.0 - laplacian, atol=1e-10)
    fisher = FisherScore().fit(X, y).raw_scores_
    form = common_form("fisher", X, y)
    np.testing.assert_allclose(1.0 - form.scores(), 1.0 / (1.0 + fisher), atol=1e-10)
    for labels in (y, None):
        hsic = HSIC(similarity="auto" if labels is not None else "rbf").fit(X, labels)
        form = common_form("hsic", X, labels, similarity="rbf")
        np.testing.assert_allclose(form.scores(), hsic.raw_scores_, atol=1e-10)
        ratio = TraceRatio(3).fit(X, labels)
        form = common_form("trace_ratio", X, labels, n_features_to_select=3)
        scale = 1.0 + abs(ratio.criterion_)
        np.testing.assert_allclose(form.scores(), ratio.raw_scores_, atol=1e-10 * scale)


def test_relief():
    """Equal classes whose nearest neighbours are mutual: the form is half of the score."""
    pairs = np.repeat(np.arange(8), 2)
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 8)
    form = common_form("relief", rng.normal(size=(16, 3)) + 50.0 * pairs[:, None], y, n_neighbors=1)
    f, S = form.features, form.similarity.toarray()
    np.testing.assert_allclose(form.scores(), np.diag(f.T @ S @ f))
    np.testing.assert_allclose(np.linalg.norm(f, axis=0), 1.0)


def test_constant_features_are_zero():
    X, y = problem(0)
    X[:, 2] = 7.0
    for criterion in ("phi1", "phi2", "phi3", "laplacian", "fisher", "trace_ratio", "hsic"):
        form = common_form(criterion, X, y, n_clusters=3)
        np.testing.assert_array_equal(form.features[:, 2], 0.0)
        assert form.scores()[2] == 0.0
        assert (np.linalg.norm(form.features[:, [0, 1, 3]], axis=0) > 0.9).all()


def test_sparse_data_and_own_similarity():
    X, _ = three_clusters(0)
    S = rbf_similarity(X[:, :2], width=1.0)
    dense = common_form("phi2", X, similarity=S).scores()
    np.testing.assert_allclose(common_form("phi2", sp.csr_matrix(X), similarity=S).scores(), dense)
    assert set(np.argsort(-dense)[:2]) == {0, 1}


@pytest.mark.parametrize(
    ("criterion", "options", "message"),
    [
        ("phi4", {}, "score must be one of 'phi1'"),
        ("phi3", {}, "needs n_clusters"),
        ("phi3", {"n_clusters": 1}, "n_clusters must be an integer >= 2"),
        ("fisher", {}, "requires y"),
        ("relief", {}, "requires y"),
    ],
)
def test_bad_input(criterion, options, message):
    X, _ = problem(0)
    with pytest.raises(ValueError, match=message):
        common_form(criterion, X, **options)


def test_an_infinite_ratio_has_no_form():
    X = np.array([[0.0, 1.0], [0.0, 1.5], [1.0, 3.0], [1.0, 4.0]])
    with pytest.raises(ValueError, match="infinite"):
        common_form("trace_ratio", X, [0, 0, 1, 1], n_features_to_select=1)
