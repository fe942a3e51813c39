"""The protocol of matrices in blocks, on blocks in memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.data import is_target_given, open_blocks, register_blocks
from columnist.data._blocks import ArrayRows, BlockMoments, RowBlocks, as_rows
from tests.slices import Slices

matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).standard_normal((20, 4)) + 1.0
)
cuts = st.lists(st.integers(0, 20), max_size=6)


@settings(max_examples=40)
@given(matrices, cuts)
def test_shapes(X, edges):
    blocks = Slices(X, edges)
    assert blocks.shape == X.shape
    assert sum(blocks.lengths) == 20
    for start, length, part in zip(
        blocks.starts, blocks.lengths, blocks.collect(np.asarray), strict=True
    ):
        np.testing.assert_array_equal(X[start : start + length], part)
    np.testing.assert_array_equal(blocks.gather(), X)
    assert blocks.largest() == np.abs(X).max()


@settings(max_examples=40)
@given(matrices, cuts)
def test_moments_next_to_a_target(X, edges):
    y = X @ np.arange(4.0)
    moments = Slices(X, edges).moments(y, _column)
    joint = np.column_stack([X, y])
    assert moments.count == 20
    np.testing.assert_allclose(moments.mean, joint.mean(axis=0))
    np.testing.assert_allclose(moments.covariance(), np.cov(joint.T, bias=True), atol=1e-10)


def _column(y):
    return y[:, None]


@settings(max_examples=20)
@given(matrices, cuts, st.sampled_from(["none", "mean"]))
def test_estimators_need_nothing_else(X, edges, centering):
    there = ColumnSelector(2, centering=centering).fit(Slices(X, edges))
    here = ColumnSelector(2, centering=centering).fit(X)
    np.testing.assert_array_equal(there.selected_, here.selected_)
    np.testing.assert_allclose(there.error_, here.error_, rtol=1e-9)
    assert Slices(X).workers() is None


def test_sparse_blocks_next_to_a_target():
    rng = np.random.default_rng(0)
    X, y = sp.random_array((30, 5), density=0.3, rng=rng, format="csr"), rng.random(30)
    moments = BlockMoments(_column)(X, y)
    np.testing.assert_allclose(
        moments.covariance(), np.cov(np.column_stack([X.toarray(), y]).T, bias=True), atol=1e-12
    )


def test_operations():
    X, y = np.ones((10, 3)), np.ones(10)
    assert BlockMoments().operations(X) == 10 * 3**2
    assert BlockMoments(_column).operations(X, y) == 10 * 4**2


def test_no_rows():
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Slices(np.empty((0, 3))).moments()


def test_a_target_of_another_length():
    with pytest.raises(ValueError, match="has 4 rows, but its part of y has 3"):
        BlockMoments(_column)(np.ones((4, 2)), np.ones(3))


def test_largest_of_sparse_blocks():
    X = sp.csr_array(np.array([[0.0, -3.0], [2.0, 0.0]]))
    assert Slices(X.toarray()).largest() == 3.0
    empty = sp.csr_array((2, 2))
    assert BlockMoments()(empty).count == 2


def test_registration():
    class Elsewhere:
        """A collection of a library of its own."""

        def __init__(self, X):
            self.X = X

    Elsewhere.__module__ = "a_library.of_tables"
    data = Elsewhere(np.eye(3))
    assert open_blocks(data) is None
    register_blocks("a_library", lambda found: Slices(found.X))
    opened = open_blocks(data)
    assert isinstance(opened, Slices)
    assert open_blocks(opened) is opened
    assert not is_target_given(opened, None)
    assert not is_target_given(np.eye(3), None)


# --- an array as one block ------------------------------------------------------------


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((12, 4))


def total(parts):
    return sum(parts[1:], start=parts[0])


def test_visits_see_what_slices_see(X):
    one, cut = ArrayRows(X), Slices(X, [3, 7])
    weights = np.arange(12.0)

    def visit(block, w):
        return w @ block

    np.testing.assert_allclose(one.fold(visit, total, weights), cut.fold(visit, total, weights))
    assert one.shape == cut.shape == (12, 4)
    np.testing.assert_allclose(one.moments().gram(), cut.moments().gram())
    assert one.largest() == cut.largest()


def test_pairs_and_links(X):
    rows = ArrayRows(X)
    (products,) = rows.against(lambda a, b, i, j: a @ b.T, np.hstack)
    np.testing.assert_allclose(products, X @ X.T)
    links = sp.random_array((12, 12), density=0.3, rng=np.random.default_rng(1), format="csr")
    found = rows.fold_links(lambda a, b, tile: a.T @ (tile @ b), total, links)
    np.testing.assert_allclose(found, X.T @ (links @ X))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_columns_and_scales(X, make):
    rows = as_rows(make(X))
    assert isinstance(rows, RowBlocks) and rows.keeps_rows
    assert rows.is_sparse == (make is sp.csr_array)
    taken, half = rows.take(np.array([2, 0])), rows.divided(2.0).gather()
    taken, half = (a.toarray() if sp.issparse(a) else a for a in (taken, half))
    np.testing.assert_array_equal(taken, X[:, [2, 0]])
    np.testing.assert_array_equal(half, X / 2.0)


def test_what_is_cut_already_stays_as_it_is(X):
    cut = Slices(X, [5])
    assert as_rows(cut) is cut
    y = ArrayRows(np.arange(12.0))
    assert ArrayRows(X).fold(lambda block, part: float(part.sum()), total, y) == 66.0
