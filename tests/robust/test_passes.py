"""Visits of blocks, against the same for all rows at once."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._moments import moments_of
from columnist.robust._concentrate import Trimming
from columnist.robust._passes import (
    BASE,
    CHOSEN,
    GONE,
    Farthest,
    farthest,
    fold_moments,
    held_out,
    look_around,
    measure,
    merged_farthest,
    merged_folds,
    merged_looks,
    merged_sorted,
    sort_out,
)
from columnist.robust._subspace import fit_subspace
from tests.data.test_blocks import Slices

cuts = st.lists(st.integers(0, 40), max_size=5)


def data(seed=0, n=40, p=4, offset=0.0):
    return np.random.default_rng(seed).standard_normal((n, p)) * [5.0, 3.0, 1.0, 1.0] + offset


def assert_moments(found, rows):
    assert found.count == len(rows)
    if len(rows):
        np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.gram(), rows.T @ rows, rtol=1e-11, atol=1e-11)


@given(cuts, st.integers(0, 10**6), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=30)
def test_first_look(edges, seed, dtype):
    X = data(seed).astype(dtype)
    seen = Slices(X, edges).fold(look_around, merged_looks)
    exact = X.astype(np.float64)
    assert_moments(seen.moments, exact)
    assert seen.largest == np.abs(exact).max()
    np.testing.assert_allclose(seen.longest, np.linalg.norm(exact, axis=1).max(), rtol=1e-12)


@given(
    cuts,
    st.integers(0, 10**6),
    st.integers(0, 39),
    st.sampled_from([0.0, 1e3, 1e7]),
    st.booleans(),
)
@settings(max_examples=60)
def test_farthest_rows_and_the_moments_of_the_others(edges, seed, count, offset, doubled):
    """Also where differences of squares are rounding only, and with ties."""
    X = data(seed, offset=offset)
    if doubled:
        X = np.repeat(X[::2], 2, axis=0)
    subspaces = [fit_subspace(X[start::3], 2) for start in range(3)]
    blocks = Slices(X, edges)
    found = blocks.fold(Farthest(subspaces, count), partial(merged_farthest, count), range(40))
    for number, subspace in enumerate(subspaces):
        removed, moments = found.split(number, count)
        squares = np.sum(subspace.residuals(X) ** 2, axis=1)
        kept = np.delete(np.arange(40), removed)
        assert len(removed) == count
        if not doubled:
            trimming = Trimming(X, 2, count, True)
            np.testing.assert_array_equal(kept, np.flatnonzero(trimming.nearest(squares)))
        assert squares[removed].min(initial=np.inf) >= squares[kept].max() * (1 - 1e-6)
        assert moments.count == 40 - count
        # A mean near zero is rounded like the entries that it is the mean of.
        size = 1e-12 * np.abs(X).max()
        np.testing.assert_allclose(moments.mean, X[kept].mean(axis=0), rtol=0.0, atol=size)


def test_of_equals_the_later_rows_are_far():
    squares = np.array([1.0, 3.0, 3.0, 3.0, 0.0])
    np.testing.assert_array_equal(np.sort(farthest(squares, np.arange(5), 2)), [2, 3])
    np.testing.assert_array_equal(np.sort(farthest(squares, np.arange(5)[::-1], 2)), [1, 2])
    assert len(farthest(squares, np.arange(5), 0)) == 0
    np.testing.assert_array_equal(farthest(squares, np.arange(5), 7), np.arange(5))


@given(cuts, st.lists(st.sampled_from([BASE, CHOSEN, GONE]), min_size=40, max_size=40))
@settings(max_examples=30)
def test_rows_by_their_place(edges, places):
    X, place = data(), np.array(places)
    found = Slices(X, edges).fold(sort_out, merged_sorted, range(40), place)
    assert_moments(found.moments, X[place == BASE])
    np.testing.assert_array_equal(found.numbers, np.flatnonzero(place == CHOSEN))
    np.testing.assert_array_equal(found.rows, X[place == CHOSEN])


@given(cuts)
@settings(max_examples=20)
def test_distances(edges):
    X = data(3, offset=2.0)
    fit = fit_subspace(X[:30], 2)
    found = np.concatenate(
        Slices(X, edges).collect(partial(measure, fit, np.array([4.0, 9.0]), 0.25))
    )
    t = fit.scores(X)
    np.testing.assert_allclose(found[:, 0], fit.score_distances(X), rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], fit.orthogonal_distances(X), rtol=1e-12)
    np.testing.assert_allclose(found[:, 2] ** 2, 4 * t[:, 0] ** 2 + 9 * t[:, 1] ** 2 + 0.25)
    np.testing.assert_allclose(found[:, 3], np.linalg.norm(X - fit.mean, axis=1), rtol=1e-12)


@given(cuts)
@settings(max_examples=20)
def test_folds(edges):
    X, fold = data(4), np.arange(40) % 3 - (np.arange(40) < 4) * 5
    blocks = Slices(X, edges)
    for number, part in enumerate(blocks.fold(partial(fold_moments, 3), merged_folds, fold)):
        assert_moments(part, X[fold == number])
    fits = [fit_subspace(X[(fold >= 0) & (fold != number)], 2) for number in range(3)]
    found = np.concatenate(blocks.collect(partial(held_out, fits), fold))
    for number, fit in enumerate(fits):
        here = fold == number
        np.testing.assert_allclose(found[here, 0], fit.score_distances(X[here]), rtol=1e-12)
        np.testing.assert_allclose(found[here, 1], fit.orthogonal_distances(X[here]), rtol=1e-12)
    assert not found[fold < 0].any()


def test_moments_of_nothing_merge():
    found = Slices(data(), [0, 0, 40]).fold(look_around, merged_looks)
    np.testing.assert_allclose(found.moments.gram(), moments_of(data()).gram())
