"""Whatever runs on blocks of columns equals what runs on the matrix itself."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.linalg import _passes as passes
from columnist.linalg import _second_moment as second_moment
from columnist.linalg._column_parts import ColumnParts, total
from columnist.selection import _factors as factors
from columnist.selection._factors import column_squares, pivoted_columns, right_vectors
from columnist.selection._forward_states import ColumnForms, TargetForward, WideForward

SHAPE = (19, 41)


class LocalParts(ColumnParts):
    """The protocol at its simplest: a list of blocks in this process."""

    def __init__(self, X, edges):
        counts = np.full(X.shape[1], X.shape[0])
        self.is_sparse = sp.issparse(X)
        self.places = np.arange(X.shape[1])
        if self.is_sparse:
            X = sp.csc_array(X)
            counts = np.diff(X.indptr)
            self.places = np.flatnonzero(counts)
        self.shape, self.dtype, self.X = X.shape, X.dtype, X
        self.column_counts = counts[self.places]
        self.row_counts = np.diff(X.tocsr().indptr) if self.is_sparse else np.full(*X.shape)
        self.largest = float(np.abs(X).max())
        self.edges = np.unique([0, *np.minimum(edges, len(self.places)), len(self.places)])
        held = X[:, self.places]
        self.parts = [held[:, a:b] for a, b in pairwise(self.edges)]

    def collect(self, visit, *along):
        pieces = [[each[self.places][a:b] for a, b in pairwise(self.edges)] for each in along]
        return [visit(*row) for row in zip(self.parts, *pieces, strict=True)]

    def fold(self, visit, merge, *along):
        results = self.collect(visit, *along)
        return merge([merge(results[:2]), *results[2:]])

    def against(self, visit, merge):
        gathered = [[] for _ in self.parts]
        for a, b in combinations_with_replacement(range(len(self.parts)), 2):
            first, second = visit(self.parts[a], self.parts[b])
            gathered[a].append(first)
            if a != b:
                gathered[b].append(second)
        return [merge(results) for results in gathered]

    def take(self, columns):
        return self.X[:, columns]

    def __truediv__(self, scale):
        return LocalParts(self.X / scale, self.edges)

    def filled(self):
        return LocalParts(self.X[:, self.places], self.edges)


@pytest.fixture(params=["dense", "float32", "sparse", "sparse float32"])
def data(request):
    """Blocks of columns, the matrix in memory, and the same as a float64 array."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal(SHAPE), 2) * (rng.random(SHAPE) < 0.3)
    X[:, [4, 5, 40]] = 0.0
    X = X.astype(np.float32)
    given = X if "float32" in request.param else X.astype(np.float64)
    given = sp.csc_array(given) if "sparse" in request.param else given
    return LocalParts(given, [3, 4, 20]), given, X.astype(np.float64)


def basis(j: int, center: bool = False) -> np.ndarray:
    columns = np.random.default_rng(1).standard_normal((SHAPE[0], j))
    columns = np.column_stack([np.ones(SHAPE[0]), columns]) if center else columns
    return np.linalg.qr(columns)[0]


def test_passes(data):
    parts, _, X = data
    Q = np.random.default_rng(2).standard_normal((SHAPE[0], 3))
    w = np.random.default_rng(3).standard_normal((SHAPE[1], 2))
    close = dict(rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(passes.squared_norms(parts), (X**2).sum(axis=0), **close)
    np.testing.assert_allclose(passes.cross(parts, Q), X.T @ Q, **close)
    np.testing.assert_allclose(passes.cross(parts, Q[:, 0]), X.T @ Q[:, 0], **close)
    assert passes.cross(parts, Q[:, :0]).shape == (SHAPE[1], 0)
    np.testing.assert_allclose(passes.apply(parts, w), X @ w, **close)
    np.testing.assert_allclose(passes.apply(parts, w[:, 0]), X @ w[:, 0], **close)
    np.testing.assert_allclose(passes.kernel_product(parts, Q), X @ (X.T @ Q), **close)
    squares = (X.T @ Q) ** 2
    np.testing.assert_allclose(passes.energies_along(parts, Q), squares.sum(axis=0), **close)
    np.testing.assert_allclose(passes.squares_along(parts, Q), squares.sum(axis=1), **close)
    for got, expected in zip(
        passes.cross_and_back(parts, Q[:, 0]), (X.T @ Q[:, 0], X @ (X.T @ Q[:, 0])), strict=True
    ):
        np.testing.assert_allclose(got, expected, **close)
    np.testing.assert_array_equal(passes.columns_of(parts, [40, 1, 1]), X[:, [40, 1, 1]])


@pytest.mark.parametrize("short", [False, True])
def test_kernel_and_forms(data, short, monkeypatch):
    parts, _, X = data
    if short and not parts.is_sparse:
        assert not second_moment.has_short_rows(parts)
        return
    monkeypatch.setattr(second_moment, "has_short_rows", lambda X: short)
    monkeypatch.setattr("columnist.selection._forward_states.has_short_rows", lambda X: short)
    monkeypatch.setattr(second_moment, "_PRODUCT", 7)
    monkeypatch.setattr(passes, "_BLOCK", 150)
    K = X @ X.T
    for rows, block in second_moment.kernel_blocks(parts):
        np.testing.assert_allclose(block, K[rows], rtol=1e-12, atol=1e-13)
    for rows, block in second_moment.kernel_blocks(parts, upper=True):
        np.testing.assert_allclose(block, K[rows, rows.start :], rtol=1e-12, atol=1e-13)
    assert second_moment.squared_kernel_norm(parts) == pytest.approx((K**2).sum(), rel=1e-12)
    assert second_moment.kernel_cost(parts) > 0.0
    forms = ColumnForms(parts)
    for Q in (np.zeros((SHAPE[0], 0)), basis(3), basis(2, center=True)):
        rest = X - Q @ (Q.T @ X)
        expected = np.square(X.T @ rest).sum(axis=0)
        np.testing.assert_allclose(forms.outside(Q), expected, rtol=1e-10, atol=1e-10)


def test_gram_is_chosen_for_short_rows_alone():
    rng = np.random.default_rng(0)
    short = sp.random_array((300, 5000), density=0.002, rng=rng, format="csc")
    assert second_moment.has_short_rows(LocalParts(short, [100]))
    one_long = sp.lil_array(short)
    one_long[0] = 1.0
    long = LocalParts(one_long.tocsc(), [100])
    assert second_moment.has_short_rows(long) == (
        second_moment._PAIR * 5000.0**2 < second_moment._kernel_cost(long.shape, long.column_counts)
    )
    assert not second_moment.has_short_rows(LocalParts(short.toarray(), [100]))


@pytest.mark.parametrize("center", [False, True])
def test_forward_steps(data, center):
    parts, given, _ = data
    Y = np.random.default_rng(4).standard_normal((SHAPE[0], 2))
    for ours, theirs in [
        (WideForward(parts, 6, center=center), WideForward(given, 6, center=center)),
        (TargetForward(parts, Y, 6, center=center), TargetForward(given, Y, 6, center=center)),
    ]:
        allowed = np.ones(SHAPE[1], dtype=bool)
        for _ in range(6):
            column, gain = theirs.best(allowed)
            got, got_gain = ours.best(allowed)
            assert got == column
            assert got_gain == pytest.approx(gain, rel=1e-8)
            ours.add(column)
            theirs.add(column)
            allowed[column] = False
        assert ours.error() == pytest.approx(theirs.error(), rel=1e-9)


def test_forward_computes_anew_what_has_shrunk():
    """Nearly dependent columns: the running figures are rounding after two steps."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 60))
    X += 1e-7 * rng.standard_normal(X.shape)
    ours, theirs = WideForward(LocalParts(X, [7, 30]), 4), WideForward(X, 4)
    allowed = np.ones(60, dtype=bool)
    for _ in range(4):
        column, gain = theirs.best(allowed)
        assert ours.best(allowed)[1] == pytest.approx(gain, rel=1e-5)
        ours.add(column)
        theirs.add(column)
        allowed[column] = False


def test_columns_that_may_be_next_come_together(data, monkeypatch):
    parts, _, _ = data
    fetched = []
    take = parts.filled().take
    state = WideForward(parts, 6)
    monkeypatch.setattr(state._X, "take", lambda which: fetched.append(which) or take(which))
    allowed = np.ones(SHAPE[1], dtype=bool)
    for _ in range(6):
        column, _ = state.best(allowed)
        state.add(column)
        allowed[column] = False
    assert 1 <= len(fetched) < 6


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_leverages(data, exact, wide, monkeypatch):
    parts, given, X = data
    if not wide:
        given, X = given.T, X.T
        parts = LocalParts(given, [5, 6])
    monkeypatch.setattr(factors, "_BLOCK", 10)
    monkeypatch.setattr(factors, "_EXACT_SIDE", 100 if exact else 5)
    rank = 4
    ours = right_vectors(parts, rank, np.random.default_rng(0))
    theirs = right_vectors(given, rank, np.random.default_rng(0))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-10)
    mine, expected = (column_squares(vectors.data, vectors.left) for vectors in (ours, theirs))
    np.testing.assert_allclose(mine, expected, rtol=1e-7, atol=1e-10)
    if exact:
        V = np.linalg.svd(X, full_matrices=False)[2][:rank]
        np.testing.assert_allclose(mine, (V**2).sum(axis=0), rtol=1e-8, atol=1e-10)


def test_pivots(data):
    parts, given, _ = data
    assert pivoted_columns(parts, 8) == pivoted_columns(given, 8)


def test_spread_puts_results_in_their_places(data):
    parts, _, X = data
    spread = parts.spread(parts.collect(lambda part: np.ones(part.shape[1])), fill=np.nan)
    empty = (X == 0.0).all(axis=0) & parts.is_sparse
    np.testing.assert_array_equal(np.isnan(spread), empty)
    assert total([1, 2, 3]) == 6
    assert parts.nbytes >= parts.column_counts.sum() * parts.dtype.itemsize
