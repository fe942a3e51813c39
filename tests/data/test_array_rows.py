"""An array as one block of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.data._array_rows import ArrayRows, as_rows
from columnist.data._blocks import RowBlocks
from tests.slices import Slices


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
