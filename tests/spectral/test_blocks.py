"""The spectral family on blocks of rows: the same graphs, scores and selections as in memory."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import f_classif

from columnist.data._blocks import RowBlocks
from columnist.spectral import (
    MCSF,
    MRSF,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    TraceRatio,
    common_form,
    knn_similarity,
    l21_regression,
    linear_similarity,
    resolve_similarity,
)
from columnist.spectral._graph import Graph
from columnist.spectral._symmetric import RowProducts
from tests.spectral.listed import ListedRows

FEW = settings(max_examples=25)
SEEDS = st.integers(0, 2**32 - 1)
# Lengths of blocks that are repeated until all rows are used up.
LENGTHS = st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any)
ON_BLOCKS = [FisherScore(2), LaplacianScore(2), TraceRatio(2), MCSF(2), MRSF(2)]

cut = ListedRows.cut


def samples(seed=0, n=61, m=6, n_classes=3):
    """Three classes that some features tell apart, all entries positive."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, m)) * 10.0 ** rng.integers(-2, 3, m)
    X[:, ::2] += y[:, None] * X[:, ::2].std(axis=0)
    return X - X.min(axis=0) + 0.1, rng.permutation(y)


def thinned(X, seed=0):
    """A sparse matrix of some of the entries."""
    return sp.csr_matrix(X * (np.random.default_rng(seed).random(X.shape) < 0.7))


def assert_same(fitted, expected, rtol=1e-9):
    """Scores to rounding, and the same order."""
    scale = np.nanmax(np.abs(expected.raw_scores_[np.isfinite(expected.raw_scores_)]))
    assert_allclose(fitted.raw_scores_, expected.raw_scores_, rtol=rtol, atol=1e-12 * scale)
    assert_array_equal(fitted.ranking_, expected.ranking_)
    assert_array_equal(fitted.selected_, expected.selected_)


def both(selector, X, y, lengths):
    """The selector fitted to blocks, and fitted in memory."""
    expected = selector.fit(X, y)
    return type(selector)(**selector.get_params()).fit(cut(X, lengths), y), expected


# -- graphs --------------------------------------------------------------------------


def nearest(X, k):
    """Neighbours by sorting all distances; the first of equal ones is nearer."""
    X = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.argsort(squares, axis=1, kind="stable")[:, :k], squares


@given(SEEDS, LENGTHS, st.integers(1, 7), st.sampled_from(["tree", "products", "sparse"]))
@FEW
def test_neighbours_are_the_nearest(seed, lengths, k, kind):
    X, _ = samples(seed, n=25, m=3 if kind == "tree" else 20)
    X = thinned(X, seed) if kind == "sparse" else X
    graph = knn_similarity(cut(X, lengths), n_neighbors=k)
    assert_allclose(graph.toarray(), knn_similarity(X, n_neighbors=k).toarray(), rtol=1e-9)
    rows, _ = nearest(X, k)
    links = np.zeros((25, 25), dtype=bool)
    links[np.arange(25)[:, None], rows] = True
    assert_array_equal(graph.toarray() > 0.0, links | links.T)


@given(SEEDS, LENGTHS, st.sampled_from([2, 20]), st.booleans())
@FEW
def test_equal_distances_are_ordered_by_index(seed, lengths, m, sparse):
    """Many samples are alike, and still the cut into blocks decides nothing."""
    X = np.random.default_rng(seed).integers(0, 2, (25, m)).astype(np.float64)
    rows, squares = nearest(X, 4)
    links = np.zeros((25, 25), dtype=bool)
    links[np.arange(25)[:, None], rows] = True
    X = sp.csr_array(X) if sparse else X
    for rows in (X, cut(X, lengths)):
        graph = knn_similarity(rows, n_neighbors=4, width=1.0).toarray()
        assert_allclose(graph, np.where(links | links.T, np.exp(-0.5 * squares), 0.0), rtol=1e-12)


def test_neighbours_far_from_zero():
    """Inner products alone would blur these distances."""
    rng = np.random.default_rng(0)
    X = 1e7 + rng.standard_normal((60, 20))
    X[30:] = X[:30] + 1e-6 * rng.standard_normal((30, 20)).round(3)
    graph = knn_similarity(cut(X, [7]), n_neighbors=3, width=1.0)
    rows, squares = nearest(X, 3)
    assert_allclose(graph.toarray()[np.arange(60)[:, None], rows],
                    np.exp(-0.5 * np.take_along_axis(squares, rows, 1)), rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("m", [3, 20])
def test_many_tiles(monkeypatch, m):
    X = np.random.default_rng(0).standard_normal((90, m))
    whole = knn_similarity(cut(X, [90])).toarray()
    for name, value in (("_ROWS", 7), ("_BLOCK", 50), ("_MANY_FEATURES", 20)):
        monkeypatch.setattr(f"columnist.spectral._neighbors.{name}", value)
    assert_array_equal(knn_similarity(cut(X, [50])).toarray(), whole)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["knn", "rbf", "linear", "polynomial", "cosine", "relief"])
def test_similarities(name, sparse):
    X, y = samples(m=20)
    X[3] = 0.0
    X = sp.csr_matrix(np.where(X > np.median(X, axis=0), X, 0.0)) if sparse else X
    expected = resolve_similarity(name, X, y, width=2.0)
    S = resolve_similarity(name, cut(X, [1, 20, 3]), y, width=2.0)
    assert S.n == 61
    assert_allclose(S.toarray(), expected.toarray(), rtol=1e-9, atol=1e-12)
    assert_allclose(S.sums(), expected.sums(), rtol=1e-9, atol=1e-9)
    assert_allclose(S.diagonal(), expected.diagonal(), rtol=1e-9, atol=1e-12)


def test_linear_similarity_of_more_features_than_samples():
    X = np.random.default_rng(0).standard_normal((9, 30))
    S = linear_similarity(cut(X, [4]), constant=2.0)
    assert_allclose(S.toarray(), X @ X.T + 2.0, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_automatic_width(dtype):
    X = samples(n=1203, m=2)[0].astype(dtype)
    exact = X.astype(np.float64)
    for name in ("knn", "rbf"):
        S = resolve_similarity(name, cut(X, [500, 1]))
        assert_allclose(S.times(np.ones(1203)), resolve_similarity(name, exact).sums(), rtol=1e-9)


# -- scores ---------------------------------------------------------------------------

SIMILARITIES = ["knn", "rbf", "linear", "polynomial", "cosine", "label", "fisher"]


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("score", ["phi1", "phi2", "phi3"])
def test_scores(similarity, score):
    X, y = samples()
    for lengths, gamma in (([1, 30], "identity"), ([61], "cube"), ([13], 0.5)):
        selector = SpectralSelector(3, score=score, gamma=gamma, similarity=similarity)
        assert_same(*both(selector, X, y, lengths))


@given(SEEDS, LENGTHS, st.sampled_from(["dense", "sparse", "float32"]))
@FEW
def test_laplacian_score(seed, lengths, kind):
    X, _ = samples(seed, n=25)
    X[:, 4] = 0.3
    X = thinned(X, seed) if kind == "sparse" else X
    X = X.astype(np.float32).astype(np.float64) if kind == "float32" else X
    expected = LaplacianScore(2).fit(X)
    X = X.astype(np.float32) if kind == "float32" else X
    assert_same(LaplacianScore(2).fit(cut(X, lengths)), expected)


@given(SEEDS, LENGTHS)
@FEW
def test_sums_over_samples_give_the_second_score(seed, lengths):
    """The book's form for samples on many machines, eq. (5.9), from dense matrices."""
    X, _ = samples(seed, n=25)
    S = knn_similarity(X).toarray()
    d, D = S.sum(axis=1), np.diag(S.sum(axis=1))
    volume, energy = d.sum(), np.diag(X.T @ D @ X)
    expected = volume * (energy - np.diag(X.T @ S @ X)) / (volume * energy - (d @ X) ** 2)
    assert_allclose(SpectralSelector().fit(cut(X, lengths)).raw_scores_, expected, rtol=1e-8)


def test_order_of_rows_does_not_matter():
    X, y = samples()
    order = np.random.default_rng(1).permutation(len(X))
    for selector in (LaplacianScore(2), TraceRatio(2), FisherScore(2)):
        moved = type(selector)(2).fit(cut(X[order], [9]), y[order])
        assert_same(moved, selector.fit(cut(X, [25]), y))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_scales(scale):
    X, y = samples()
    for selector in (
        FisherScore(2),
        LaplacianScore(2),
        TraceRatio(2),
        MCSF(2),
        MCSF(2, scaling="none"),
        MRSF(2),
        MRSF(2, response="pca"),
    ):
        assert_same(*both(selector, X * scale, y, [20]))


def test_data_far_from_zero():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)) + 1e10, np.arange(200) % 2
    for selector in (LaplacianScore(2), FisherScore(2)):
        fitted, expected = both(selector, X, y, [1, 30])
        assert_allclose(fitted.raw_scores_, expected.raw_scores_, rtol=1e-9)


def test_given_similarities():
    X, _ = samples()
    dense = np.exp(-np.abs(X[:, :1] - X[:, :1].T))
    for S in (dense, sp.csr_matrix(np.where(dense > 0.5, dense, 0.0)), lambda X: dense):
        assert_same(*both(LaplacianScore(2, similarity=S), X, None, [20, 1]))


@given(SEEDS, LENGTHS, st.sampled_from(["dense", "sparse", "float32"]))
@FEW
def test_fisher_score(seed, lengths, kind):
    X, y = samples(seed)
    X = thinned(X, seed) if kind == "sparse" else X
    X = X.astype(np.float32) if kind == "float32" else X
    fitted = FisherScore(2).fit(cut(X, lengths), y)
    oracle = f_classif(X.astype(np.float64), y)[0] * 2 / (X.shape[0] - 3)
    assert_allclose(fitted.raw_scores_, oracle, rtol=1e-7)
    assert_same(fitted, FisherScore(2).fit(X, y))
    assert_array_equal(fitted.classes_, [0, 1, 2])


@pytest.mark.parametrize("laplacian", ["supervised", "unsupervised"])
def test_trace_ratio(laplacian):
    X, y = samples()
    fitted, expected = both(TraceRatio(2, laplacian=laplacian), X, y, [10])
    assert_same(fitted, expected)
    assert_allclose(fitted.criterion_, expected.criterion_, rtol=1e-9)


# -- sets of features ---------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("similarity", ["auto", "knn", "rbf", "linear", "cosine", "label"])
def test_mcsf(similarity, scaling):
    X, y = samples()
    X[:, 3] = 0.1
    for form in (X, thinned(X)):
        selector = MCSF(3, similarity=similarity, scaling=scaling)
        fitted, expected = both(selector, form, y, [1, 30])
        assert_same(fitted, expected)
        assert_allclose(fitted.factor_, expected.factor_, rtol=1e-12)


def assert_same_path(fitted, expected):
    assert_same(fitted, expected)
    assert_allclose(fitted.path_.alpha, expected.path_.alpha, rtol=1e-9)
    assert_allclose(fitted.path_.residual, expected.path_.residual, rtol=1e-9)
    for name in ("coef_", "intercept_"):
        size = np.abs(getattr(expected, name)).max()
        assert_allclose(getattr(fitted, name), getattr(expected, name), atol=1e-9 * size)
    assert fitted.kkt_ < 1e-8


@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("response", ["auto", "lda", "svm", "pca", "spectral"])
def test_mrsf(response, scaling):
    X, y = samples()
    X[:, 3] = 0.1
    for form in (X, thinned(X)):
        selector = MRSF(3, response=response, n_components=3, scaling=scaling)
        assert_same_path(*both(selector, form, y, [1, 30]))


@pytest.mark.parametrize("similarity", ["knn", "linear", "cosine", "fisher"])
def test_mrsf_of_a_similarity(similarity):
    X, y = samples()
    selector = MRSF(3, response="spectral", n_components=2, similarity=similarity)
    assert_same_path(*both(selector, X, y, [17]))


@given(SEEDS, LENGTHS)
@FEW
def test_mrsf_of_values(seed, lengths):
    X, _ = samples(seed)
    rng = np.random.default_rng(seed)
    Y = X[:, :2] @ rng.standard_normal((2, 2)) / X[:, :2].std() + rng.standard_normal((61, 2))
    expected = MRSF(3, output="components").fit(X, Y)
    fitted = MRSF(3, output="components").fit(cut(X, lengths), Y)
    assert_same_path(fitted, expected)
    extracted = fitted.transform(cut(X, lengths)).gather()
    assert_allclose(extracted, expected.transform(X), rtol=1e-7)


def test_common_forms():
    X, y = samples()
    form = common_form("fisher", X, y)
    assert_same(*both(MCSF(2, similarity=form), X, None, [10]))
    assert_same(*both(MRSF(2, response=form), X, None, [10]))


@given(SEEDS, LENGTHS, st.sampled_from(["accelerated", "coordinate"]))
@FEW
def test_l21_regression(seed, lengths, solver):
    X, _ = samples(seed)
    X /= np.linalg.norm(X, axis=0)
    Y = np.random.default_rng(seed).standard_normal((61, 2))
    expected = l21_regression(X, Y, alpha_ratio=0.3, solver=solver)
    found = l21_regression(cut(X, lengths), Y, alpha_ratio=0.3, solver=solver)
    assert found.converged
    assert_allclose(found.alpha, expected.alpha, rtol=1e-9)
    assert_allclose(found.objective, expected.objective, rtol=1e-8)
    assert_allclose(found.W, expected.W, atol=1e-3 * np.abs(expected.W).max())


# -- without the whole -----------------------------------------------------------------


def test_data_are_not_gathered(monkeypatch):
    X, y = samples()
    monkeypatch.delattr(RowBlocks, "gather")
    for selector in (*ON_BLOCKS, SpectralSelector(2, score="phi3"), MCSF(2, similarity="cosine"),
                     MRSF(2, response="spectral", similarity="knn")):  # fmt: skip
        selector.fit(cut(X, [20]), y)


@pytest.mark.parametrize("most", [2000, 1])
@pytest.mark.parametrize("similarity", ["knn", "linear", "cosine"])
def test_eigenvectors_on_blocks(monkeypatch, similarity, most):
    """From products of features, or by Lanczos steps with products on the blocks."""
    monkeypatch.setattr("columnist.spectral._symmetric._MOST_FEATURES", most)
    X, _ = samples(n=230)
    X /= X.max(axis=0)
    selector = SpectralSelector(2, score="phi3", n_clusters=3, similarity=similarity)
    assert_same(*both(selector, X, None, [100]))
    values, vectors = Graph.of(resolve_similarity(similarity, cut(X, [70, 0]))).eigenpairs(3)
    expected, others = Graph.of(resolve_similarity(similarity, X)).eigenpairs(3)
    assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(np.abs(vectors.T @ others), np.eye(3), atol=1e-7)
    for scaling in ("unit", "none"):
        options = {"response": "spectral", "n_components": 3, "scaling": scaling}
        assert_same_path(*both(MRSF(3, similarity=similarity, **options), X, None, [100]))


def test_eigenvectors_of_products():
    """Against the singular vectors of the centred, weighted rows; not where digits are lost."""
    X, _ = samples(n=40)
    X /= X.max(axis=0)
    c, u = np.linspace(1.0, 2.0, 40), np.full(40, 40**-0.5)
    S = RowProducts(cut(X, [15]), c)
    values, vectors = S.leading(3, u)
    Z = c[:, None] * X
    U, s, _ = np.linalg.svd(Z - np.outer(u, u @ Z))
    assert_allclose(values, s[:3] ** 2, rtol=1e-10)
    assert_allclose(np.abs(vectors.T @ U[:, :3]), np.eye(3), atol=1e-9)
    # More pairs than features, or features that depend on one another: by iteration, or all.
    assert_allclose(S.leading(7, u)[0][:6], s[:6] ** 2, rtol=1e-9)
    X[:, 1] = X[:, 0]
    found = RowProducts(cut(X, [15])).leading(6)[0]
    assert_allclose(found, np.linalg.eigvalsh(X @ X.T)[::-1][:6], atol=1e-9 * found[0])


def test_too_many_neighbours():
    with pytest.raises(ValueError, match="n_neighbors=5"):
        LaplacianScore(2).fit(cut(samples()[0][:5], [2]))


def test_memory_of_a_dense_similarity(monkeypatch):
    monkeypatch.setattr("columnist.linalg._memory.available_memory", lambda: 1000)
    X, y = samples()
    for selector in (LaplacianScore(2, similarity="rbf"), LaplacianScore(2, similarity="relief")):
        with pytest.raises(MemoryError, match="knn"):
            selector.fit(cut(X, [20]), y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "selector",
    [
        FisherScore(2),
        LaplacianScore(2),
        SpectralSelector(2, score="phi1", gamma="square"),
        SpectralSelector(2, score="phi3", n_clusters=3),
        TraceRatio(2, laplacian="unsupervised"),
        MCSF(2),
        MRSF(2),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_one_answer(selector, sparse):
    """However the data come in: an array, a frame, sparse rows, or blocks of either."""
    X, y = samples()
    X /= X.max(axis=0)
    X = np.where(X > np.median(X, axis=0), X, 0.0) if sparse else X
    rows = sp.csr_array(X) if sparse else X
    expected = type(selector)(**selector.get_params()).fit(X, y)
    for form in (pd.DataFrame(X), sp.csc_array(X), rows, cut(rows, [61]), cut(rows, [1, 7, 0, 20])):
        found = type(selector)(**selector.get_params()).fit(form, y)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.raw_scores_, expected.raw_scores_, rtol=1e-10, atol=1e-14)
