"""The same answers as in memory, however the rows are cut and however many workers there are."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from columnist import ColumnSelector, certify, selection_path
from columnist.selection import ExchangeSelector, ForwardSelector
from tests.examples import examples

M, N = 36, 7


@st.composite
def cuts(draw, total: int = M) -> tuple[int, ...]:
    """Lengths of chunks: any number of them, some without rows."""
    edges = sorted(draw(st.lists(st.integers(0, total), max_size=8)))
    return tuple(np.diff([0, *edges, total]).tolist())


seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["dense", "float32", "sparse", "frame", "unknown", "far from zero"])
targets = st.sampled_from(["X", "values", "matrix", "labels"])


def matrix(seed: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, 4)) @ rng.standard_normal((4, N))
    X += 0.3 * rng.standard_normal((M, N))
    if kind == "sparse":
        X[rng.random((M, N)) < 0.6] = 0.0
    if kind == "far from zero":
        X += 1e4 * rng.standard_normal(N)
    return X.astype(np.float32) if kind == "float32" else X


def target(X: np.ndarray, kind: str, seed: int):
    rng = np.random.default_rng(seed)
    Y = X @ rng.standard_normal((N, 2)) + rng.standard_normal((M, 2))
    if kind == "labels":
        return np.array(["low", "middle", "high"])[np.digitize(Y[:, 0], np.quantile(Y, [0.3, 0.6]))]
    return {"X": None, "values": Y[:, 0], "matrix": Y}[kind]


def collection(X: np.ndarray, kind: str, lengths: tuple[int, ...]):
    blocks = da.from_array(X, chunks=(lengths, N))
    if kind == "sparse":
        return blocks.map_blocks(sp.csr_array)
    if kind in ("frame", "unknown"):
        frame = dd.from_dask_array(blocks, columns=[f"x{i}" for i in range(N)])
        return frame if kind == "frame" else frame.to_dask_array()
    return blocks


def in_memory(X: np.ndarray, kind: str):
    if kind == "frame":
        return pd.DataFrame(X, columns=[f"x{i}" for i in range(N)])
    return sp.csr_array(X) if kind == "sparse" else X


def assert_same(there, here, *, rtol: float) -> None:
    np.testing.assert_array_equal(there.selected_, here.selected_)
    np.testing.assert_allclose(there.error_, here.error_, rtol=rtol)


def check(seed, kind, which, centering, lengths, y_lengths) -> None:
    X = matrix(seed, kind)
    y = target(X, which, seed)
    blocks, data = collection(X, kind, lengths), in_memory(X, kind)
    y_blocks = y
    if y is not None and y_lengths is not None:
        y_blocks = da.from_array(y, chunks=(y_lengths, *y.shape[1:]))
    # Means of 1e4 take eight digits of a sum of squares with them, in memory as well.
    rtol = 1e-5 if kind == "far from zero" and centering == "none" else 1e-8
    for selector in (
        ColumnSelector(3, centering=centering),
        ForwardSelector(3, centering=centering),
        ExchangeSelector(3, centering=centering),
    ):
        here = type(selector)(**selector.get_params()).fit(data, y)
        assert_same(selector.fit(blocks, y_blocks), here, rtol=rtol)
    columns = [0, 2, 5]
    there = certify(blocks, columns, y=y_blocks, centering=centering)
    here = certify(data, columns, y=y, centering=centering)
    assert (there.status, there.better) == (here.status, here.better)
    np.testing.assert_allclose(there.error, here.error, rtol=rtol)
    np.testing.assert_allclose(there.lower_bound, here.lower_bound, rtol=rtol)


partitionings = given(
    seeds, kinds, targets, st.sampled_from(["none", "mean"]), cuts(), st.none() | cuts()
)


@settings(max_examples=30)
@partitionings
def test_every_partitioning(seed, kind, which, centering, lengths, y_lengths):
    check(seed, kind, which, centering, lengths, y_lengths)


@pytest.fixture(scope="module")
def growing(new_cluster):
    """A cluster that grows from one to four workers, test by test."""
    with new_cluster(1) as client:
        yield client


@pytest.mark.parametrize("n_workers", [1, 2, 3, 4])
def test_every_number_of_workers(growing, n_workers):
    growing.cluster.scale(n_workers)
    growing.wait_for_workers(n_workers, timeout=120)

    @settings(max_examples=3)
    @partitionings
    def run(seed, kind, which, centering, lengths, y_lengths):
        check(seed, kind, which, centering, lengths, y_lengths)

    with growing.as_current():
        run()
    assert len(growing.nthreads()) == n_workers


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
@pytest.mark.parametrize("offset", [2e6, 1e7])
def test_offsets_are_decided_as_in_memory(offset, criterion):
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((7, 5)) + offset, rng.standard_normal((7, 1))
        lazy = da.from_array(X, chunks=(3, 5))
        for Y in (None, y):
            selector = ColumnSelector(4, criterion=criterion, centering="mean")
            here = clone(selector).fit(X, Y)
            found = clone(selector).fit(lazy, Y)
            assert found.certificate_.status == here.certificate_.status == "optimal"
            np.testing.assert_array_equal(found.selected_, here.selected_)
            assert found.error_ == pytest.approx(here.error_, rel=1e-10)
            np.testing.assert_allclose(found.coef_, here.coef_, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(found.column_r2_, here.column_r2_, rtol=1e-7)
            scale = offset * (1.0 + np.abs(here.coef_).sum(axis=0))
            assert (np.abs(found.intercept_ - here.intercept_) <= 1e-7 * scale).all()


def test_the_pass_over_the_data_does_not_count_as_search(clock):
    """A limit that ends before the pass does still leaves the search its time."""

    def slowly(block):
        clock.now += 10.0
        return block

    X = np.random.default_rng(0).standard_normal((40, 6))
    rows = da.from_array(X, chunks=(10, 6)).map_blocks(slowly, dtype=float)
    with dask.config.set(scheduler="synchronous"):
        selector = ColumnSelector(2, time_limit=1.0).fit(rows)
        path = selection_path(rows, 2, time_limit=1.0)
        verdict = certify(rows, selector.selected_, time_limit=1.0)
    assert clock.now >= 1000.0 + 3 * 40.0
    assert selector.certificate_.is_optimal and verdict.status == "optimal"
    assert [step.certificate.status for step in path] == ["optimal", "optimal"]
