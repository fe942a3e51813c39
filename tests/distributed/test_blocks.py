"""Dask arrays and dataframes as blocks of rows, against NumPy."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from columnist import ColumnSelector
from columnist.data._blocks import open_blocks
from columnist.distributed import ChunkWarning
from columnist.distributed._blocks import DaskRows, open_dask
from columnist.selection import ForwardSelector

rng = np.random.default_rng(81)
X = rng.standard_normal((23, 4)) + np.array([0.0, 1.0, -2.0, 0.5])
NAMES = ["a", "b", "c", "d"]


def frame(npartitions: int = 3) -> dd.DataFrame:
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=npartitions)


def unknown() -> da.Array:
    """Chunks whose lengths nobody knows."""
    return frame().to_dask_array()


def sparse(kind, chunks=(7, 4)) -> da.Array:
    return da.from_array(X, chunks=chunks).map_blocks(kind)


def some_empty() -> dd.DataFrame:
    """Partitions without rows in between."""
    parts = [X[:0], X[:9], X[9:9], X[9:10], X[10:], X[:0]]
    return dd.from_delayed([dask.delayed(pd.DataFrame)(part, columns=NAMES) for part in parts])


COLLECTIONS = {
    "array": lambda: da.from_array(X, chunks=(7, 4)),
    "one chunk": lambda: da.from_array(X, chunks=-1),
    "rows": lambda: da.from_array(X, chunks=(1, 4)),
    "uneven": lambda: da.from_array(X, chunks=((2, 15, 1, 5), 4)),
    "unknown": unknown,
    "csr_matrix": lambda: sparse(sp.csr_matrix),
    "csr_array": lambda: sparse(sp.csr_array),
    "csc_array": lambda: sparse(sp.csc_array),
    "frame": frame,
    "empty partitions": some_empty,
}


@pytest.fixture(params=COLLECTIONS)
def rows(request) -> DaskRows:
    return open_blocks(COLLECTIONS[request.param]())


def dense(block) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


def total(parts):
    return sum(parts[1:], start=parts[0])


def column_sums(block):
    return dense(block).sum(axis=0)


def products(block, weights, other):
    return dense(block).T @ (weights[:, None] * dense(other))


def cross(block, other, i, j):
    return [(i, j, dense(block) @ dense(other).T)]


def joined(parts):
    return [entry for part in parts for entry in part]


def linked(block, other, tile):
    return dense(block).T @ (tile @ dense(other))


def doubled(block):
    return 2.0 * dense(block)


def first(block):
    return dense(block)[:, 0]


def values(block):
    return dense(block).copy()


# -- every method ---------------------------------------------------------------


def test_shape(rows):
    assert rows.shape == X.shape
    assert sum(rows.lengths) == len(X)
    np.testing.assert_array_equal(rows.starts, np.cumsum([0, *rows.lengths[:-1]]))
    assert rows.dtype == np.float64
    assert rows.ndim == 2


def test_fold(rows):
    np.testing.assert_allclose(rows.fold(column_sums, total), X.sum(axis=0))


def test_fold_many_levels():
    many = DaskRows(da.from_array(np.arange(600.0).reshape(300, 2), chunks=(2, 2)))
    expected = np.arange(600.0).reshape(300, 2).sum(axis=0)
    np.testing.assert_allclose(many.fold(column_sums, total), expected)


def test_along(rows):
    """Arrays and blocks that are cut otherwise go along with the right rows."""
    weights, other = rng.random(len(X)), rng.standard_normal((len(X), 2))
    expected = X.T @ (weights[:, None] * other)
    for cut in (2, 7, 23):
        blocks = DaskRows(da.from_array(other, chunks=(cut, 2)))
        np.testing.assert_allclose(rows.fold(products, total, weights, blocks), expected)
    np.testing.assert_allclose(rows.fold(products, total, weights, other), expected)
    as_frame = open_blocks(dd.from_pandas(pd.DataFrame(other), npartitions=5))
    np.testing.assert_allclose(rows.fold(products, total, weights, as_frame), expected)


def test_collect(rows):
    parts = rows.collect(column_sums)
    edges = np.append(rows.starts, len(X))
    expected = [X[a:b].sum(axis=0) for a, b in pairwise(edges)]
    np.testing.assert_allclose(parts, expected, atol=1e-12)


def test_against(rows):
    found = np.full((len(X), len(X)), np.nan)
    for part in rows.against(cross, joined):
        for i, j, block in part:
            found[i : i + block.shape[0], j : j + block.shape[1]] = block
    np.testing.assert_allclose(found, X @ X.T)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5])
def test_fold_links(rows, density):
    links = sp.random_array((len(X), len(X)), density=density, rng=3, format="csr")
    expected = X.T @ (links @ X)
    np.testing.assert_allclose(rows.fold_links(linked, total, links), expected, atol=1e-12)


def test_map(rows):
    lazy = rows.map(doubled, 4)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), 2.0 * X)
    line = rows.map(first, None)
    assert line.ndim == 1
    np.testing.assert_allclose(line.compute(), X[:, 0])


def test_take(rows):
    taken = rows.take(np.array([2, 0]))
    assert type(taken) is type(rows.data)
    np.testing.assert_allclose(dense(open_blocks(taken).gather()), X[:, [2, 0]])


def test_divided(rows):
    np.testing.assert_allclose(dense(rows.divided(4.0).gather()), X / 4.0)


def test_gather_and_largest(rows):
    np.testing.assert_array_equal(dense(rows.gather()), X)
    assert sp.issparse(rows.gather()) == rows.is_sparse
    assert rows.largest() == np.abs(X).max()


def test_cut_like(rows):
    other = DaskRows(da.from_array(X, chunks=((4, 4, 15), 4)))
    cut = rows.cut_like(other)
    assert cut.lengths == other.lengths
    np.testing.assert_array_equal(dense(cut.gather()), X)


def test_moments(rows):
    moments = rows.moments()
    assert moments.count == len(X)
    np.testing.assert_allclose(moments.mean, X.mean(axis=0))
    np.testing.assert_allclose(moments.covariance(), np.cov(X.T, bias=True))


def test_series():
    line = open_blocks(frame()["b"])
    assert (line.ndim, line.shape) == (1, (23, 1))
    np.testing.assert_array_equal(line.gather(), X[:, 1])
    labels = open_blocks(dd.from_pandas(pd.Series(["u", "v"] * 10), npartitions=4))
    cut = labels.cut_like(DaskRows(da.ones((20, 1), chunks=(7, 1))))
    assert cut.gather().tolist() == ["u", "v"] * 10


# -- what is accepted -------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
def test_types_of_numbers(dtype):
    data = (40 * np.abs(X)).astype(dtype) if dtype is not bool else X > 0.3
    blocks = da.from_array(data, chunks=(6, 4))
    here, there = ColumnSelector(2).fit(data), ColumnSelector(2).fit(blocks)
    np.testing.assert_array_equal(there.selected_, here.selected_)
    np.testing.assert_allclose(there.error_, here.error_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [complex, object, str, "M8[s]"])
def test_other_types_are_refused(dtype):
    with pytest.raises(ValueError, match="X must hold real numbers; got entries of type"):
        ColumnSelector(2).fit(da.from_array(X.astype(dtype), chunks=(7, 4)))


def test_columns_that_are_not_numeric_are_named():
    data = pd.DataFrame(X, columns=NAMES).assign(
        word="x", count=pd.array([1] * 23, dtype="Int64"), kind=pd.Categorical(["u"] * 23)
    )
    with pytest.raises(ValueError, match=r"not numeric: .*'word'.*Drop or encode"):
        ColumnSelector(2).fit(dd.from_pandas(data, npartitions=2))
    for name in ("word", "count", "kind"):
        with pytest.raises(ValueError, match=f"not numeric: '{name}'"):
            ColumnSelector(2).fit(dd.from_pandas(data[["a", name]], npartitions=2))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (da.from_array(X[:, 0], chunks=7), "Expected 2D array, got 1D"),
        (frame()["a"], "Expected 2D array, got 1D"),
        (da.from_array(X[:, :, None], chunks=7), "got 3 dimensions"),
        (da.from_array(X, chunks=7).sum(), "got 0 dimensions"),
        (da.from_array(X[:, :0], chunks=(7, 1)), r"0 feature\(s\)"),
        (frame()[[]], r"0 feature\(s\)"),
        (da.from_array(X[:0], chunks=(1, 4)), r"0 sample\(s\)"),
        (frame()[frame()["a"] > 99.0], r"0 sample\(s\)"),
    ],
)
def test_wrong_shapes(data, words):
    with pytest.raises(ValueError, match=words):
        ColumnSelector(1).fit(data)


def test_other_collections_of_dask():
    with pytest.raises(TypeError, match="Dask array or dataframe, got a Dask Bag"):
        open_dask(dask.bag.from_sequence([1, 2]))
    with pytest.raises(TypeError, match="Dask array or dataframe, got a Dask Delayed"):
        ColumnSelector(1).fit(dask.delayed(X))


@pytest.mark.parametrize("centering", ["none", "mean"])
def test_one_row(centering):
    for data in (X[:1], da.from_array(X[:1], chunks=1)):
        with pytest.warns(UserWarning, match="explain everything"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ChunkWarning)
            selector = ColumnSelector(2, centering=centering).fit(data)
        np.testing.assert_array_equal(selector.selected_, [0, 1])
        assert selector.error_ == 0.0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers(kind, wrong):
    bad = X.copy()
    bad[12, 2] = wrong
    words = "Input X contains NaN" if np.isnan(wrong) else "Input X contains infinity"
    for data in (bad, da.from_array(bad, chunks=(7, 4)).map_blocks(kind)):
        with pytest.raises(ValueError, match=words):
            ColumnSelector(2).fit(data)


# -- targets ------------------------------------------------------------------------


@pytest.mark.parametrize("y", [np.ones(22), da.ones(22, chunks=7), da.ones(14, chunks=7)])
def test_targets_of_another_length(y):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ColumnSelector(2).fit(da.from_array(X, chunks=(7, 4)), y)


def test_partitions_of_other_lengths():
    y = dd.from_delayed([dask.delayed(pd.Series)(np.ones(n)) for n in (10, 10, 3)])
    with pytest.raises(ValueError, match="cut both into the same rows"):
        ColumnSelector(2).fit(frame(3), y)


# -- estimators ------------------------------------------------------------------------


def test_names_of_columns():
    selector = ColumnSelector(2).fit(frame())
    assert list(selector.feature_names_in_) == NAMES
    assert selector.certificate_.names == tuple(np.array(NAMES)[selector.selected_])
    renamed = frame().rename(columns={"a": "z"})
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(renamed)
    with pytest.raises(ValueError, match="3 features"):
        ColumnSelector(2).fit(X).transform(da.from_array(X[:, :3], chunks=7).rechunk({1: -1}))


def never(block):
    raise AssertionError("computed")


def test_transform_is_lazy():
    selector = ColumnSelector(2).fit(X)
    lazy = selector.transform(da.from_array(X, chunks=(7, 4)).map_blocks(never, dtype=float))
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (23, 2)
    named = ColumnSelector(2).fit(pd.DataFrame(X, columns=NAMES))
    lazy = named.transform(frame())
    assert isinstance(lazy, dd.DataFrame)
    assert list(lazy.columns) == list(np.array(NAMES)[named.selected_])
    np.testing.assert_array_equal(lazy.compute(), X[:, named.selected_])
    hybrid = ColumnSelector(1, n_components=1).fit(X)
    lazy = hybrid.transform(da.from_array(X, chunks=(7, 4)))
    np.testing.assert_allclose(lazy.compute(), hybrid.transform(X))


def test_pipelines_clones_and_pickles():
    blocks = da.from_array(X, chunks=(7, 4))
    pipeline = make_pipeline(ColumnSelector(3), ForwardSelector(2)).fit(blocks)
    expected = make_pipeline(ColumnSelector(3), ForwardSelector(2)).fit(X)
    np.testing.assert_allclose(pipeline.transform(blocks).compute(), expected.transform(X))
    fitted = pipeline[0]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.selected_, fitted.selected_)
    assert not hasattr(clone(fitted), "selected_")
    np.testing.assert_array_equal(clone(fitted).fit(blocks).selected_, fitted.selected_)


def test_blocks_are_found_by_their_library():
    rows = DaskRows(da.from_array(X, chunks=(7, 4)))
    assert open_blocks(rows) is rows
    assert open_blocks(X) is None
    assert open_blocks([[1.0]]) is None
