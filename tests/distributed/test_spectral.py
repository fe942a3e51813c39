"""Spectral selectors of Dask collections; tests/spectral/test_blocks.py tries every cut."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.counting import count_cost
from columnist.spectral import (
    HSIC,
    MCSF,
    MRMR,
    MRSF,
    FisherScore,
    LaplacianScore,
    ReliefF,
    SemiSupervisedSelector,
    ZeroNormSVM,
    knn_similarity,
    l21_regression,
)
from tests.spectral.test_blocks import ON_BLOCKS, SEEDS, assert_same, samples, thinned

FEW = settings(max_examples=5)
# Rows of a chunk.
HEIGHTS = st.integers(4, 30)


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(X, height):
    """X as a Dask array in chunks of rows, sparse ones if X is."""
    if not sp.issparse(X):
        return da.from_array(X, chunks=(height, *X.shape[1:]))
    return da.from_array(X.toarray(), chunks=(height, X.shape[1])).map_blocks(sp.csr_matrix)


@given(SEEDS, HEIGHTS, st.sampled_from(["dense", "sparse", "float32"]))
@FEW
def test_arrays(seed, height, kind):
    X, y = samples(seed, n=30)
    X = thinned(X, seed) if kind == "sparse" else X
    X = X.astype(np.float32).astype(np.float64) if kind == "float32" else X
    chunks = cut(X.astype(np.float32) if kind == "float32" else X, height)
    for selector in ON_BLOCKS:
        expected = selector.fit(X, y)
        fitted = type(selector)(2).fit(chunks, cut(y, 11))
        assert_same(fitted, expected)
        assert_array_equal(getattr(fitted, "classes_", 0), getattr(expected, "classes_", 0))


def test_rows_in_chunks_of_one():
    X, y = samples(n=12)
    for selector in ON_BLOCKS:
        assert_same(type(selector)(2).fit(cut(X, 1), y), selector.fit(X, y))


def test_responses_in_chunks():
    X, _ = samples(n=30)
    Y = np.column_stack([X[:, 0] - X[:, 1], X[:, 2]])
    fitted = MRSF(3, output="components").fit(cut(X, 10), cut(Y, 7))
    expected = MRSF(3, output="components").fit(X, Y)
    assert_allclose(fitted.coef_, expected.coef_, rtol=1e-7, atol=1e-12)
    extracted = fitted.transform(cut(X, 10))
    assert isinstance(extracted, da.Array)
    assert_allclose(extracted.compute(), expected.transform(X), rtol=1e-7)
    found = l21_regression(cut(X, 10), cut(Y, 7), alpha_ratio=0.5)
    assert_allclose(found.objective, l21_regression(X, Y, alpha_ratio=0.5).objective, rtol=1e-7)


def frame(X, parts=3):
    names = [f"x{i}" for i in range(X.shape[1])]
    return dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=parts, sort=False)


GATHERING = [ReliefF(2), HSIC(2), MRMR(2), ZeroNormSVM(2), MCSF(2, form="residual")]


@pytest.mark.parametrize("selector", [*ON_BLOCKS, *GATHERING], ids=lambda s: type(s).__name__)
def test_frames(selector):
    X, y = samples()
    labels = np.array(["a", "b", "c"])[y]
    series = dd.from_pandas(pd.Series(labels), npartitions=3, sort=False)
    expected = selector.fit(pd.DataFrame(X, columns=[f"x{i}" for i in range(6)]), labels)
    data = frame(X)
    fitted = type(selector)(**selector.get_params()).fit(data, series)
    assert_same(fitted, expected)
    assert_array_equal(fitted.feature_names_in_, expected.feature_names_in_)
    if hasattr(expected, "classes_"):
        assert_array_equal(fitted.classes_, expected.classes_)
    chosen = fitted.transform(data)
    assert list(chosen.columns) == list(fitted.get_feature_names_out())


def test_semi_supervised():
    X, y = samples()
    y[::2] = -1
    expected = SemiSupervisedSelector(2).fit(X, y)
    assert_same(SemiSupervisedSelector(2).fit(cut(X, 20), cut(y, 7)), expected)


def test_on_a_cluster(cluster):
    X, y = samples(n=100)
    with dask.config.set(scheduler=None):
        for selector in (LaplacianScore(2), MRSF(2), FisherScore(2), MCSF(2)):
            assert_same(type(selector)(2).fit(cut(X, 40), y), selector.fit(X, y))


# -- what it costs --------------------------------------------------------------------


def cost_of(selector, X, y, height):
    with count_cost() as cost:
        selector.fit(cut(X, height), y)
    return cost


def test_work_does_not_depend_on_the_cut():
    X, y = samples(n=20)
    n, m = X.shape
    for height in (20, 7, 3):
        assert cost_of(FisherScore(2), X, y, height).operations == 2 * n * m
        assert cost_of(FisherScore(2), X, y, height).passes == 1
        graph = knn_similarity(X).matrix
        edges = (graph.nnz - graph.diagonal().astype(bool).sum()) // 2
        laplacian = cost_of(LaplacianScore(2), X, None, height)
        assert laplacian.operations == n * n * m + 5 * n * m + 2 * edges * m
        assert cost_of(MRSF(2), X, y, height).operations == n * (m + 3) ** 2
        assert cost_of(MCSF(2), X, y, height).operations == n * m**2 + n * m * 3


def test_traffic_grows_with_the_blocks():
    """Every block sends its sums, and every level of the tree sends them on."""
    X, y = samples(n=64)
    sums = 8 * (3 + 6 + 3 * 6 + 6 + 6 + 1)
    for parts in (2, 4, 8):
        cost = cost_of(FisherScore(2), X, y, 64 // parts)
        assert cost.reduced == parts * sums
        assert cost.levels == 1


# -- mistakes ----------------------------------------------------------------------


@pytest.mark.parametrize("selector", ON_BLOCKS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_entries_must_be_finite(selector, value):
    X, y = samples()
    X[40, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        selector.fit(cut(X, 20), y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        knn_similarity(cut(X, 20))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        l21_regression(cut(X, 20), np.ones(61), alpha=1.0)


@pytest.mark.parametrize("selector", ON_BLOCKS, ids=lambda s: type(s).__name__)
def test_bad_input(selector):
    X, y = samples()
    if not isinstance(selector, LaplacianScore):  # in memory, too, it ignores y
        with pytest.raises(ValueError, match="inconsistent"):
            selector.fit(cut(X, 20), y[:-1])
        with pytest.raises(ValueError, match="inconsistent"):
            selector.fit(cut(X, 20), cut(np.append(y, 0), 20))
    with pytest.raises(ValueError, match="minimum of 2"):
        selector.fit(cut(X[:1], 1), y[:1])
    with pytest.raises(ValueError, match="n_features_to_select"):
        type(selector)(100).fit(cut(X, 20), y)
