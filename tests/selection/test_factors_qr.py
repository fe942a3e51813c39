"""Pivoted and strong rank-revealing QR against SciPy, extended precision and the theorem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.selection import _factors as factors
from columnist.selection._factors import (
    Deflated,
    column_squares,
    pivoted_columns,
    strong_rrqr,
    triangle,
)
from tests.strategies import matrices, random_matrix

FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csc": sp.csc_array,
    "csc matrix": sp.csc_matrix,
}


def gaussian(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def graded(m, n, smallest, seed=0):
    """Singular values falling evenly from 1 to ``smallest``."""
    U, _ = np.linalg.qr(gaussian(m, min(m, n), seed))
    V, _ = np.linalg.qr(gaussian(n, min(m, n), seed + 1))
    return (U * np.geomspace(1.0, smallest, min(m, n))) @ V.T


def kahan(n, c=0.285):
    """Upper triangular; pivoted QR leaves its columns in place, and misses its rank."""
    R = np.eye(n) - c * np.triu(np.ones((n, n)), 1)
    return np.sqrt(1 - c * c) ** np.arange(n)[:, None] * R


def lengths_left(X, chosen):
    """Residual lengths of all columns, by least squares."""
    S = X[:, chosen]
    fit = S @ np.linalg.lstsq(S, X, rcond=None)[0] if len(chosen) else 0.0
    return np.linalg.norm(X - fit, axis=0)


def unit_rank(X):
    """Rank of X with its columns scaled to length one."""
    lengths = np.linalg.norm(X, axis=0)
    return np.linalg.matrix_rank(X[:, lengths > 0] / lengths[lengths > 0], tol=1e-8)


# --- triangular factor --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 3), (40, 4), (200, 3), (5, 5)])
def test_triangle_keeps_inner_products(form, dtype, shape, monkeypatch):
    monkeypatch.setattr(factors, "_BLOCK", 30)
    X = gaussian(*shape).astype(dtype)
    R = triangle(form(X))
    assert R.dtype == np.float64 and R.shape == (shape[1], shape[1])
    X = X.astype(np.float64)
    np.testing.assert_allclose(R.T @ R, X.T @ X, rtol=1e-12, atol=1e-12)


def test_triangle_is_as_accurate_as_an_unblocked_one(monkeypatch):
    monkeypatch.setattr(factors, "_BLOCK", 1)
    X = graded(300, 8, 1e-12)
    values = np.linalg.svd(triangle(X), compute_uv=False)
    np.testing.assert_allclose(values, np.geomspace(1.0, 1e-12, 8), atol=1e-14)


def test_a_wide_matrix_is_its_own_triangle():
    X = gaussian(3, 5)
    np.testing.assert_array_equal(triangle(X), X)


# --- lengths ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squared_lengths_of_a_product(form, dtype):
    X, left = gaussian(6, 9).astype(dtype), gaussian(4, 6, 1)
    expected = np.square(left @ X.astype(np.float64)).sum(axis=0)
    np.testing.assert_allclose(column_squares(form(X), left), expected, rtol=1e-12)


@given(matrices(max_rows=10), st.data())
def test_lengths_after_taking_columns(X, data):
    order = data.draw(st.permutations(range(X.shape[1])), label="order")
    columns = Deflated(X, min(X.shape))
    taken = []
    for j in order[: min(X.shape)]:
        if columns.take(j):
            taken.append(j)
            expected = lengths_left(X, taken) ** 2
            np.testing.assert_allclose(columns.squares, expected, atol=1e-12 * np.vdot(X, X))
        assert columns.squares[j] == 0.0
    assert len(taken) == unit_rank(X[:, order[: min(X.shape)]])


# --- pivoted QR ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["gaussian", "scaled columns"])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (90, 12), (1, 5), (5, 1), (6, 6)])
def test_pivots_of_scipy(form, dtype, kind, shape):
    X = random_matrix(kind, *shape, np.random.default_rng(3)).astype(dtype)
    pivots = scipy.linalg.qr(X.astype(np.float64), mode="r", pivoting=True)[1]
    for size in range(1, min(shape) + 1):
        assert pivoted_columns(form(X), size) == list(pivots[:size])


def extended_pivots(X, size):
    """Pivoted Gram-Schmidt with explicit residuals and 64-bit mantissas."""
    rest, pivots = X.astype(np.longdouble), []
    for _ in range(size):
        pivots.append(int(np.argmax((rest * rest).sum(axis=0))))
        q = rest[:, pivots[-1]] / np.sqrt((rest[:, pivots[-1]] ** 2).sum())
        for _ in range(2):
            rest = rest - q[:, None] * (q @ rest)
    return pivots


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_graded_matrix_in_extended_precision(form, seed):
    X = graded(60, 40, 1e-9, seed)
    assert pivoted_columns(form(X), 36) == extended_pivots(X, 36)


@given(matrices(max_rows=10, max_columns=10), st.data())
def test_every_pivot_is_the_longest_residual(X, data):
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    pivots = pivoted_columns(X, size)
    assert len(pivots) == len(set(pivots)) == min(size, unit_rank(X))
    for step, pivot in enumerate(pivots):
        left = lengths_left(X, pivots[:step])
        assert left[pivot] >= left.max() - 1e-10 * np.abs(X).max()


@given(matrices(max_rows=10, max_columns=10), st.data())
def test_sparse_pivots_are_dense_pivots(X, data):
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    assert pivoted_columns(sp.csc_array(X), size) == pivoted_columns(X, size)


def test_ties_go_to_the_smaller_index():
    X = np.eye(6)[:, [3, 1, 4, 0, 5, 2]]
    assert pivoted_columns(X, 4) == [0, 1, 2, 3]
    assert pivoted_columns(sp.csc_array(X), 4) == [0, 1, 2, 3]


def test_nothing_to_choose():
    assert pivoted_columns(np.zeros((3, 2)), 2) == []
    assert strong_rrqr(sp.csc_array((3, 2)), 2, 2.0) == []


def test_tiny_columns_are_judged_by_their_own_length():
    X = np.diag([1.0, 1e-30, 1e-60])
    assert pivoted_columns(X, 3) == [0, 1, 2]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_pivots_of_a_product_that_is_not_formed(form):
    X, left = gaussian(7, 20), gaussian(4, 7, 1)
    expected = list(scipy.linalg.qr(left @ X, mode="r", pivoting=True)[1][:4])
    assert pivoted_columns(form(X), 9, left=left) == expected


# --- strong rank-revealing QR -------------------------------------------------------------------


def assert_bounds(X, chosen, f):
    """The guarantees of Gu and Eisenstat."""
    k, n = len(chosen), X.shape[1]
    others = [j for j in range(n) if j not in chosen]
    R = np.linalg.qr(X[:, [*chosen, *others]], mode="r")
    q = np.sqrt(1.0 + f * f * k * (n - k))
    values = np.linalg.svd(X, compute_uv=False)
    slack = 1e-12 * values[0]
    inner = np.linalg.svd(R[:k, :k], compute_uv=False)
    assert (inner >= values[:k] / q - slack).all()
    if others and len(R) > k:
        outer = np.linalg.svd(R[k:, k:], compute_uv=False)
        assert (outer[: len(values) - k] <= values[k:] * q + slack).all()


def log_volume(X, columns):
    return np.log(np.linalg.svd(X[:, columns], compute_uv=False)).sum()


def assert_no_swap(X, chosen, f):
    """No single swap multiplies the volume, computed from scratch, by more than f."""
    volume = log_volume(X, chosen)
    with np.errstate(divide="ignore"):
        swapped = [
            log_volume(X, [*chosen[:place], j, *chosen[place + 1 :]])
            for place in range(len(chosen))
            for j in set(range(X.shape[1])) - set(chosen)
        ]
    assert max(swapped, default=-np.inf) <= volume + np.log(f) + 1e-6


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-7])
@pytest.mark.parametrize("seed", range(5))
def test_largest_growth_of_the_volume(form, smallest, seed):
    """The ratio and its swap for any choice, not only a good one."""
    X = graded(7, 9, smallest, seed)
    chosen = list(np.random.default_rng(seed).permutation(9)[: seed + 2])
    ratio, place, column = factors._largest_ratio(form(X), column_squares(X), chosen, 2.0)
    volume = log_volume(X, chosen)
    growth = {
        (i, j): np.exp(log_volume(X, [*chosen[:i], j, *chosen[i + 1 :]]) - volume)
        for i in range(len(chosen))
        for j in set(range(9)) - set(chosen)
    }
    assert ratio == pytest.approx(max(growth.values()), rel=1e-6)
    assert growth[place, column] == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("seed", range(8))
def test_growth_by_residuals_below_the_rounding_of_lengths(form, seed):
    X = np.array([[1.0, 1.0, 1.0], [0.0, 1e-8, 0.0], [0.0, 0.0, 3e-8], [2.0, 2.0, 2.0]])
    X = np.linalg.qr(gaussian(4, 4, seed))[0] @ X
    ratio, place, column = factors._largest_ratio(form(X), column_squares(X), [0, 1], 2.0)
    assert ratio == pytest.approx(np.sqrt(10), rel=1e-6)
    assert (place, column) == (0, 2)


def test_swaps_with_another_column_only():
    X = np.diag([3.0, 2.0, 1.0])
    ratio, place, column = factors._largest_ratio(X, column_squares(X), [0, 1], 2.0)
    assert (place, column) == (1, 2)
    assert ratio == pytest.approx(0.5)


@given(matrices(max_rows=9, max_columns=9), st.sampled_from([1.0001, 1.2, 2.0, 10.0]), st.data())
def test_bounds_hold_and_no_swap_is_left(X, f, data):
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    form = data.draw(st.sampled_from([np.asarray, sp.csc_array]), label="form")
    chosen = strong_rrqr(form(X), size, f)
    assert len(chosen) == len(set(chosen)) == min(size, unit_rank(X))
    if chosen:
        assert_bounds(X, chosen, f)
        assert_no_swap(X, chosen, f)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("f", [1.1, 2.0])
def test_kahan(form, f):
    X = kahan(60)
    pivots = pivoted_columns(form(X), 59)
    assert pivots == list(range(59))
    with pytest.raises(AssertionError):
        assert_no_swap(X, pivots, f)
    chosen = strong_rrqr(form(X), 59, f)
    assert_bounds(X, chosen, f)
    assert_no_swap(X, chosen, f)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("size", [5, 15, 24])
def test_graded_bounds(form, size):
    X = graded(30, 40, 1e-9)
    chosen = strong_rrqr(form(X), size, 1.5)
    assert len(chosen) == size
    assert_bounds(X, chosen, 1.5)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_residuals_of_rounding_cause_no_swaps(form):
    """Copies of well scaled columns beside a chosen pair that is nearly parallel."""
    X = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 1e-8, 0.0, 1e-8], [0.3, 0.3, 0.3, 0.3]])
    chosen = strong_rrqr(form(X), 2, 1.01)
    assert_no_swap(X, chosen, 1.01)


@pytest.mark.parametrize("seed", range(20))
def test_swaps_on_equal_volumes_end(seed):
    """Rounding makes some of many equal volumes look larger, and the search could go round."""
    Q, _ = np.linalg.qr(gaussian(6, 6, seed))
    X = np.hstack([Q, Q, Q])
    chosen = strong_rrqr(X, 4, np.nextafter(1.0, 2.0))
    assert_no_swap(X, chosen, 1.0)


def test_tall_data_are_reduced_to_the_same_choice():
    X = gaussian(200, 12)
    assert strong_rrqr(X, 8, 1.05) == strong_rrqr(sp.csc_array(X), 8, 1.05)
