"""Copies and zero columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.selection import _duplicates as duplicates
from columnist.selection._duplicates import shared_by_copies


def distinct_columns(columns, allowed):
    """Of columns that are the data themselves."""
    return duplicates.distinct_columns(columns, allowed, columns.T)


def plain(columns, allowed):
    """First of every group of copies, by trying all factors."""
    kept, factors = [], [sign * 2.0**power for sign in (-1, 1) for power in range(-3, 4)]
    for i in allowed:
        copies = (np.array_equal(f * columns[i], columns[k]) for f in factors for k in kept)
        if columns[i].any() and not any(copies):
            kept.append(int(i))
    return kept


@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 2**32 - 1), st.data())
def test_first_of_every_group(r, n, seed, data):
    columns = np.random.default_rng(seed).integers(-2, 3, (n, r)).astype(float)
    allowed = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))))
    expected = plain(columns, allowed)
    np.testing.assert_array_equal(distinct_columns(columns, allowed), expected)


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_scales_and_signs(scale):
    a, b = np.random.default_rng(0).standard_normal((2, 5))
    tiny = 2.0**-100
    columns = np.array([scale * a, -4.0 * scale * a, b, tiny * b, np.zeros(5), a + 1e-6 * b])
    np.testing.assert_array_equal(distinct_columns(columns, np.arange(6)), [0, 2, 5])


def test_the_last_digit_counts():
    """How much it matters is for the other columns to say."""
    a, b = np.random.default_rng(0).standard_normal((2, 5))
    columns = np.array([a, 3.0 * a, b, a * (1.0 + np.finfo(float).eps * np.arange(5))])
    np.testing.assert_array_equal(distinct_columns(columns, np.arange(4)), [0, 1, 2, 3])


def test_many_columns_at_once():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((300, 20))
    source = np.concatenate([np.arange(300), rng.integers(0, 300, 700)])
    columns = base[source] * rng.choice([-1.0, 2.0, 0.5], 1000)[:, None]
    np.testing.assert_array_equal(distinct_columns(columns, np.arange(1000)), np.arange(300))


def test_nothing():
    np.testing.assert_array_equal(distinct_columns(np.zeros((3, 2)), np.arange(3)), [])
    np.testing.assert_array_equal(distinct_columns(np.zeros((3, 0)), np.arange(3)), [])


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csc_array, np.float32])
def test_copies_share_their_coefficients(form):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        # Ones and zeros: most columns have a length in common, and few are equal.
        base = rng.integers(0, 2, (9, 40)).astype(float) * rng.choice([1.0, -1.0])
        X = base[:, rng.integers(0, 40, 60)]
        W = rng.standard_normal((60, 2))
        shared = shared_by_copies(form(X), W)
        for j in range(60):
            equal = np.flatnonzero((X == X[:, [j]]).all(axis=0))
            np.testing.assert_allclose(shared[j], W[equal].mean(axis=0), atol=1e-12)
            np.testing.assert_array_equal(shared[equal], np.tile(shared[j], (len(equal), 1)))


def test_sparse_and_dense_data_have_the_same_copies():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6, 3)) * (rng.random((6, 3)) < 0.7)
    X = np.column_stack([X, -X[:, 1], 4.0 * X[:, 0], 3.0 * X[:, 2]])
    for data in (X, sp.csr_array(X), sp.csc_matrix(X)):
        kept = duplicates.distinct_columns(np.ascontiguousarray(X.T), np.arange(6), data)
        np.testing.assert_array_equal(kept, [0, 1, 2, 5])
