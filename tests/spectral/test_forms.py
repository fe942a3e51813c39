"""Common forms reproduce their scores; responses against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from columnist.spectral import (
    HSIC,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    TraceRatio,
    common_form,
    rbf_similarity,
)
from columnist.spectral._features import ScaledColumns, prepare_columns
from columnist.spectral._forms import (
    lda_response,
    pca_response,
    spectral_response,
    svm_response,
)
from columnist.spectral._similarity import fisher_similarity
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


def labels(seed, n=20, c=3):
    rng = np.random.default_rng(seed)
    return np.concatenate([np.arange(c), rng.integers(0, c, n - c)])


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_lda_stands_for_the_fisher_similarity(seed, c):
    y = labels(seed, c=c)
    Y, n = lda_response(y), len(y)
    S = fisher_similarity(y).toarray()
    np.testing.assert_allclose(Y @ Y.T, n * S - 1.0, atol=1e-10)
    np.testing.assert_allclose(Y.sum(axis=0), 0.0, atol=1e-11)


def test_lda_is_the_printed_formula_and_gives_the_scatter_between_classes():
    y = labels(0)
    n, sizes = len(y), np.bincount(y)
    expected = np.array(
        [[np.sqrt(n / s) - np.sqrt(s / n) if y[i] == j else -np.sqrt(s / n)
          for j, s in enumerate(sizes)] for i in range(n)]
    )  # fmt: skip
    np.testing.assert_allclose(lda_response(y), expected, atol=1e-13)
    X = np.random.default_rng(0).standard_normal((n, 4))
    X -= X.mean(axis=0)
    means = np.array([X[y == j].mean(axis=0) for j in range(3)])
    between = (means.T * sizes) @ means / n
    along = X.T @ expected
    np.testing.assert_allclose(along @ along.T / n**2, between, atol=1e-12)


def test_svm():
    y = np.array(["b", "a", "c", "a"])
    expected = np.where(y[:, None] == np.array(["a", "b", "c"]), 1.0, -1.0)
    np.testing.assert_array_equal(svm_response(y), expected)


@pytest.mark.parametrize("n", [30, 300])  # all eigenpairs, or some by iteration
@pytest.mark.parametrize("center", [False, True])
def test_spectral_response_is_the_best_factor(n, center):
    X = np.random.default_rng(n).standard_normal((n, 3))
    S = rbf_similarity(X)
    whole = S.toarray()
    if center:
        whole = whole - whole.mean(axis=0)
        whole = whole - whole.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(whole)
    Y = spectral_response(S, 4, centering="mean" if center else "none")
    best = (vectors[:, -4:] * values[-4:]) @ vectors[:, -4:].T
    np.testing.assert_allclose(Y @ Y.T, best, atol=1e-8 * values[-1])
    np.testing.assert_allclose(np.square(Y).sum(axis=0), values[:-5:-1], rtol=1e-9)
    if center:
        np.testing.assert_allclose(Y.sum(axis=0), 0.0, atol=1e-7 * np.abs(Y).max())
    np.testing.assert_array_equal(
        Y, spectral_response(S, 4, centering="mean" if center else "none")
    )
    largest = np.abs(Y).argmax(axis=0)
    assert (Y[largest, range(4)] > 0.0).all()


def test_only_positive_eigenvalues_count():
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    S = (U * [3.0, 2.0, 0.0, 0.0, -1.0, -5.0]) @ U.T
    Y = spectral_response(S, 6)
    assert Y.shape == (6, 2)
    np.testing.assert_allclose(Y @ Y.T, (U[:, :2] * [3.0, 2.0]) @ U[:, :2].T, atol=1e-12)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        spectral_response(-np.eye(4), 2)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        spectral_response(np.ones((4, 4)), 2, centering="mean")
    with pytest.raises(ValueError, match="n_components must be"):
        spectral_response(S, 0)


@pytest.mark.parametrize(("n", "m"), [(30, 8), (300, 12), (250, 400)])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_pca(n, m, form):
    rng = np.random.default_rng(n)
    X = np.round(rng.standard_normal((n, m)), 1) * np.geomspace(1.0, 3.0, m)
    F = prepare_columns(form(X), "unit")
    Z = F.take(np.arange(m))
    expected = PCA(3, svd_solver="full").fit_transform(Z)
    Y = pca_response(F, 3)
    signs = np.sign(np.einsum("ij,ij->j", Y, expected))
    np.testing.assert_allclose(Y * signs, expected, atol=1e-8)


def test_pca_of_nothing():
    with pytest.raises(ValueError, match="All features are constant"):
        pca_response(prepare_columns(np.ones((4, 3)), "unit"), 1)
    Y = pca_response(ScaledColumns.plain(np.ones((4, 3))), 3)
    assert Y.shape == (4, 1)  # no more components than the rank


@pytest.mark.parametrize("response", [lda_response, svm_response])
def test_labels_are_needed(response):
    with pytest.raises(ValueError, match="requires y to be passed"):
        response(None)
    with pytest.raises(ValueError, match="at least two classes"):
        response([1, 1, 1])
    with pytest.raises(ValueError, match="needs class labels"):
        response([0.1, 0.7, 0.3])
