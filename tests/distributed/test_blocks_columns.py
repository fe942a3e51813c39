"""Data that are cut into blocks of columns give what the same data give in memory."""

from __future__ import annotations

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from benchmarks.counting import count_cost
from columnist import ColumnSelector
from columnist.data import _blocks, _open, matrices_of, open_blocks
from columnist.datasets import make_wide_sparse
from columnist.distributed import ChunkWarning
from columnist.distributed import _blocks as columns
from columnist.distributed._blocks import DaskColumns
from columnist.linalg import _passes as passes
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    MatchingFilter,
    NormSampler,
    PivotedQRSelector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)
from columnist.selection import _factors as factors
from tests.strategies import random_matrix

pytestmark = pytest.mark.usefixtures("all_wide")
KINDS = ("dense", "float32", "sparse", "sparse float32")


def in_memory(X: np.ndarray, kind: str):
    X = X.astype(np.float32) if "float32" in kind else X
    return sp.csc_array(X) if "sparse" in kind else X


def in_dask(X: np.ndarray, kind: str, chunks) -> da.Array:
    X = X.astype(np.float32) if "float32" in kind else X
    array = da.from_array(X, chunks=chunks)
    return array.map_blocks(sp.csr_array) if "sparse" in kind else array


def compositions(total: int):
    """Ways to cut so many rows or columns into chunks."""
    return st.lists(st.integers(1, total), max_size=4).map(
        lambda cuts: tuple(np.diff(np.unique([0, *(c for c in cuts if c < total), total])).tolist())
    )


@st.composite
def problems(draw):
    """A matrix, how it is stored and how it is cut."""
    m, n = draw(st.integers(2, 12)), draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    kind = draw(st.sampled_from(["gaussian", "integers", "zero columns", "scaled columns"]))
    X = random_matrix(kind, m, n, rng) * (rng.random((m, n)) < draw(st.sampled_from([0.3, 1.0])))
    X = X.astype(np.float32).astype(np.float64)
    return X, draw(st.sampled_from(KINDS)), (draw(compositions(m)), draw(compositions(n)))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problem=problems(), seed=st.integers(0, 100))
@pytest.mark.filterwarnings("ignore::columnist.distributed.ChunkWarning")
def test_columns_of_every_chunking(problem, seed):
    X, kind, chunks = problem
    parts = open_blocks(in_dask(X, kind, chunks)).by_columns()
    assert isinstance(parts, DaskColumns) and parts.shape == X.shape
    assert parts.is_sparse == ("sparse" in kind)
    assert parts.dtype == (np.float32 if "float32" in kind else np.float64)
    gathered = parts.gather()
    assert sp.issparse(gathered) == parts.is_sparse and gathered.dtype == parts.dtype
    np.testing.assert_array_equal(gathered.toarray() if parts.is_sparse else gathered, X)
    which = np.random.default_rng(seed).integers(0, X.shape[1], 4)
    taken = parts.take(which)
    np.testing.assert_array_equal(taken.toarray() if parts.is_sparse else taken, X[:, which])
    assert parts.largest == np.abs(X).max()
    if parts.is_sparse and X.any():
        np.testing.assert_array_equal(parts.places, np.flatnonzero(X.any(axis=0)))
        np.testing.assert_array_equal(
            parts.column_counts, np.count_nonzero(X, axis=0)[parts.places]
        )
        np.testing.assert_array_equal(parts.row_counts, np.count_nonzero(X, axis=1))
    half = (parts / 2.0).filled().gather()
    np.testing.assert_array_equal(
        half.toarray() if parts.is_sparse else half, X[:, parts.places] / 2.0
    )


SELECTORS = {
    "forward": ForwardSelector(3),
    "centred forward": ForwardSelector(3, centering="mean", include=[1], exclude=[0]),
    "nuclear forward": ForwardSelector(3, criterion="nuclear"),
    "exchange": ExchangeSelector(3),
    "norm": NormSampler(3, random_state=0),
    "leverage": LeverageSampler(3, random_state=0),
    "uniform": UniformSampler(3, random_state=0),
    "volume": VolumeSampler(3, random_state=0),
    "pivoted": PivotedQRSelector(3),
    "strong": StrongRRQRSelector(3),
    "gks": GKSSelector(3),
    "certified": ColumnSelector(3),
    "lev_ge": TwoStageSelector.lev_ge(3, random_state=0),
    "fkv_ge": TwoStageSelector.fkv_ge(3, weights="sampling", random_state=0),
    "two stages": TwoStageSelector(PivotedQRSelector(), ColumnSelector(3), 9),
    "centred stages": TwoStageSelector(
        ColumnSelector(search="greedy"), ForwardSelector(3), 9, centering="mean", weights="clipped"
    ),
    "three stages": TwoStageSelector(
        TwoStageSelector(NormSampler(random_state=0), ForwardSelector(6), 12), ForwardSelector(3)
    ),
}
WITH_TARGET = {
    "forward": ForwardSelector(3),
    "centred forward": ForwardSelector(3, centering="mean"),
    "matching": MatchingFilter(3),
    "centred matching": MatchingFilter(3, centering="mean"),
    "correlation": CorrelationFilter(3),
    "certified": ColumnSelector(3),
    "stages": TwoStageSelector(MatchingFilter(), PivotedQRSelector(3), 9),
    "supervised stages": TwoStageSelector(PivotedQRSelector(), ForwardSelector(3), 9),
    "filtered stages": TwoStageSelector(CorrelationFilter(), ForwardSelector(3), 9),
}


def problem(kind: str, m: int = 25, n: int = 60):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((m, n)) * (rng.random((m, n)) < (0.2 if "sparse" in kind else 1.0))
    X[:, [2, 30]] = 0.0
    X = X.astype(np.float32).astype(np.float64) * np.linspace(3.0, 1.0, n).astype(np.float32)
    return X.astype(np.float32).astype(np.float64), rng


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours.selected_, theirs.selected_)
    assert ours.n_features_in_ == theirs.n_features_in_
    for name in ("error_", "relative_error_", "errors_", "probabilities_", "scores_"):
        if hasattr(theirs, name):
            np.testing.assert_allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-12, err_msg=name
            )
    for name in ("weights_", "weight_error_", "second_error_", "error_bound_"):
        if hasattr(theirs, name):
            np.testing.assert_allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-6, err_msg=name
            )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_equal_those_in_memory(name, kind):
    X, _ = problem(kind)
    selector = SELECTORS[name]
    ours = dask_fit(selector, in_dask(X, kind, ((7, 1, 17), 60)))
    # All entries are float32 numbers: what is computed from them must not be.
    assert_same(ours, dask_fit(selector, in_memory(X, kind.removesuffix("float32"))))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", WITH_TARGET)
def test_targets(name, kind):
    X, rng = problem(kind)
    y = X @ rng.standard_normal(60) + rng.standard_normal(25)
    selector = WITH_TARGET[name]
    expected = dask_fit(selector, in_memory(X, kind), y)
    D = in_dask(X, kind, ((7, 1, 17), 60))
    for target in (y, da.from_array(y, chunks=(10, 15)), pd.Series(y)):
        assert_same(dask_fit(selector, D, target), expected)


@pytest.mark.parametrize("selector", [MatchingFilter(3), ForwardSelector(3)], ids=str)
def test_class_labels(selector):
    X, rng = problem("sparse")
    y = rng.choice(["a", "b", "c"], 25)
    expected = dask_fit(selector, in_memory(X, "sparse"), y)
    D = in_dask(X, "sparse", ((7, 1, 17), 60))
    assert_same(dask_fit(selector, D, da.from_array(y, chunks=10)), expected)


def dask_fit(selector, X, y=None):
    return clone(selector).fit(X) if y is None else clone(selector).fit(X, y)


def test_what_is_wide(monkeypatch):
    monkeypatch.setattr(_blocks, "_NARROW", 5)
    monkeypatch.setattr(_blocks, "_NARROW_TALL", 9)
    cases = {(20, 5): False, (3, 5): False, (20, 6): False, (6, 6): False, (5, 6): True,
             (20, 9): False, (20, 10): True}  # fmt: skip
    for shape, wide in cases.items():
        rows = open_blocks(da.ones(shape, chunks=(4, -1)))
        parts = matrices_of(rows, target=False, passes=True)
        assert isinstance(parts.X, DaskColumns) == wide


def test_iterated_leverages(monkeypatch):
    monkeypatch.setattr(factors, "_BLOCK", 10)
    monkeypatch.setattr(factors, "_EXACT_SIDE", 5)
    X, _ = problem("sparse")
    sampler = LeverageSampler(5, random_state=3)
    expected = dask_fit(sampler, in_memory(X, "sparse")).probabilities_
    ours = dask_fit(sampler, in_dask(X, "sparse", (10, 60))).probabilities_
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_dataframes():
    X, _ = problem("dense")
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(60)])
    ours = ForwardSelector(3, include=["c5"]).fit(dd.from_pandas(frame, npartitions=4))
    theirs = ForwardSelector(3, include=["c5"]).fit(frame)
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    X, _ = problem("sparse")
    D = in_dask(X * scale, "sparse", (10, 60))
    for selector in (ForwardSelector(3), TwoStageSelector.fkv_ge(3, random_state=0)):
        ours, theirs = dask_fit(selector, D), dask_fit(selector, in_memory(X * scale, "sparse"))
        np.testing.assert_array_equal(ours.selected_, theirs.selected_)
        assert ours.relative_error_ == pytest.approx(theirs.relative_error_, rel=1e-9)


def test_parts_that_do_not_fit_are_dealt_out_again(monkeypatch):
    X, _ = problem("sparse")
    D = in_dask(X, "sparse", (10, 60))
    visited = []
    D = D.map_blocks(lambda block: visited.append(1) or block, meta=D._meta)
    with dask.config.set(scheduler="synchronous"):
        kept = ForwardSelector(3).fit(D)
        once = len(visited)
        monkeypatch.setattr(columns, "_KEPT", 0.0)
        visited.clear()
        assert_same(ForwardSelector(3).fit(D), kept)
    assert once == 6  # three blocks are counted and then dealt out
    assert len(visited) > 2 * once


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=30).filter(any),
    n_parts=st.integers(1, 12),
)
def test_parts_hold_about_as_much(counts, n_parts):
    edges = columns._edges(np.array(counts), n_parts)
    assert edges[0] == 0 and edges[-1] == len(counts) and (np.diff(edges) > 0).all()
    assert len(edges) <= n_parts + 1
    held = np.add.reduceat(counts, edges[:-1])
    assert held.max() <= sum(counts) / n_parts + max(counts)


def test_entries_given_twice_or_as_zero():
    X, _ = problem("sparse")
    D = in_dask(X, "sparse", (10, 60))
    D = D.map_blocks(_doubled, dtype=D.dtype, meta=D._meta)
    parts = open_blocks(D).by_columns()
    np.testing.assert_array_equal(parts.gather().toarray(), 2.0 * X)
    assert parts.column_counts.sum() == np.count_nonzero(X)


def _doubled(block):
    twice = sp.hstack([block, block, 0.0 * block], format="csr")
    indices = twice.indices % block.shape[1]
    return sp.csr_array((twice.data, indices, twice.indptr), shape=block.shape)


def test_whole_numbers():
    X = np.arange(60).reshape(6, 10) % 7
    parts = open_blocks(da.from_array(X, chunks=(4, 10))).by_columns()
    assert parts.dtype == np.float64
    np.testing.assert_array_equal(parts.gather(), X)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_nothing_but_zeros(kind):
    D = in_dask(np.zeros((6, 9)), kind, (4, 9))
    with pytest.warns(UserWarning, match="selected 1 of 2"):
        selector = ForwardSelector(2).fit(D)
    assert selector.error_ == 0.0 and len(selector.selected_) == 1
    assert len(NormSampler(2, random_state=0).fit(D).selected_) == 2


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_no_numbers(kind, bad):
    X = np.ones((6, 9))
    X[4, 5] = bad
    with pytest.raises(ValueError, match="X contains"):
        ForwardSelector(2).fit(in_dask(X, kind, (4, 9)))


def test_wrong_input(monkeypatch):
    D = in_dask(np.ones((6, 9)), "dense", (4, 9))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ForwardSelector(2).fit(D, da.ones(5))
    with pytest.raises(ValueError, match="0 sample"):
        ForwardSelector(2).fit(D[:0])
    monkeypatch.setattr(_open, "check_memory", _no_memory)
    with pytest.raises(MemoryError, match="leave wide data where they are"):
        ColumnSelector(2).fit(D)


def _no_memory(need, what, instead):
    raise MemoryError(f"{what} {instead}")


def test_chunks_of_columns_are_put_together_with_a_warning():
    X, _ = problem("dense")
    with pytest.warns(ChunkWarning):
        ours = ForwardSelector(3).fit(da.from_array(X, chunks=(10, 20)))
    assert_same(ours, ForwardSelector(3).fit(X))


def test_traffic_of_a_step(monkeypatch):
    """Two passes a step, each with one vector of the length of a column to every part."""
    monkeypatch.setattr(columns, "_PART", 20_000)
    X = make_wide_sparse(200, 5000, per_row=20, random_state=0)[0]
    D = da.from_array(X.toarray(), chunks=(50, -1)).map_blocks(sp.csr_array)
    costs = []
    for size in (5, 15):
        with count_cost() as cost:
            ForwardSelector(size).fit(D)
        costs.append(cost)
    parts = open_blocks(D).by_columns()
    filled, n_parts = len(parts.places), len(parts.parts)
    assert n_parts > 2
    few, many = costs
    assert 20 <= many.passes - few.passes <= 24
    # The error at the end also sends all directions once.
    vectors = (many.broadcast - few.broadcast) / (n_parts * X.shape[0] * 8)
    assert 20 <= vectors - 10 <= 24
    # Both passes bring back a number per column, one of them a vector per part.
    back = 10 * (2 * filled * 8 + n_parts * X.shape[0] * 8)
    assert back <= many.reduced - few.reduced <= 1.5 * back


def test_on_a_cluster(cluster, monkeypatch):
    monkeypatch.setattr(columns, "_PART", 10_000)
    X = make_wide_sparse(100, 3000, per_row=20, random_state=0)[0]
    D = da.from_array(X.toarray(), chunks=(30, -1)).map_blocks(sp.csr_array)
    for selector in (
        ForwardSelector(2),
        TwoStageSelector.fkv_ge(2, weights="sampling", random_state=0),
    ):
        assert_same(dask_fit(selector, D), dask_fit(selector, X))


def test_parts_of_a_worker_that_dies_are_dealt_out_again(new_cluster):
    X, rng = problem("sparse")
    q = rng.standard_normal(25)
    with new_cluster(2) as client:
        parts = open_blocks(in_dask(X, "sparse", (10, 60))).by_columns()
        np.testing.assert_allclose(passes.cross(parts, q), X.T @ q, rtol=1e-12)
        assert len({place for who in client.who_has().values() for place in who}) == 2
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        np.testing.assert_allclose(passes.cross_and_back(parts, q)[1], X @ (X.T @ q), rtol=1e-12)
