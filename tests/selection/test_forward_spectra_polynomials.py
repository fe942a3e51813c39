"""Bases of powers against explicit powers, orthogonal polynomials and extended precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import legendre

from columnist.linalg import _passes as passes
from columnist.selection import _forward_spectra as powers
from columnist.selection._forward_spectra import fit_polynomials, power_blocks
from tests.strategies import matrices

centrings = pytest.mark.parametrize("center", [False, True])


def raw_powers(x, degree):
    return x[:, None] ** np.arange(1, degree + 1)


def bases(X, degree, *, center):
    """Basis of every column, shape (n, m, degree)."""
    return power_blocks(X, degree, center=center).take(np.arange(X.shape[1]))


def projector(B):
    return B @ B.T


def exact_fit(x, y, degree, *, center):
    """Projection of y on the powers of x, computed with 60 digits."""
    with mpmath.workdps(60):
        lowest = 0 if center else 1
        P = mpmath.matrix([[mpmath.mpf(t) ** j for j in range(lowest, degree + 1)] for t in x])
        fitted = P * mpmath.lu_solve(P.T * P, P.T * mpmath.matrix(list(y)))
        return np.array([float(value) for value in fitted])


@centrings
def test_spans_of_well_scaled_powers(center):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (30, 4))
    for x, B in zip(X.T, bases(X, 4, center=center), strict=True):
        P = raw_powers(x, 4)
        Q = np.linalg.qr(P - P.mean(axis=0) if center else P)[0]
        np.testing.assert_allclose(projector(B), projector(Q), atol=1e-12)


@centrings
def test_far_from_zero(center):
    # Raw powers of these numbers have condition 1e20.
    rng = np.random.default_rng(1)
    x = rng.uniform(9.0, 11.0, 40)
    y = rng.standard_normal(40)
    (B,) = bases(x[:, None], 10, center=center)
    np.testing.assert_allclose(B.T @ B, np.eye(10), atol=1e-14)
    fitted = projector(B) @ y + (y.mean() if center else 0.0)
    np.testing.assert_allclose(fitted, exact_fit(x, y, 10, center=center), atol=1e-11)


@pytest.mark.parametrize("degree", [1, 3, 12])
def test_same_span_as_legendre(degree):
    x = np.random.default_rng(2).uniform(-1.0, 1.0, 60)
    (B,) = bases(x[:, None] + 5.0, degree, center=True)
    V = legendre.legvander(x, degree)[:, 1:]
    Q = np.linalg.qr(V - V.mean(axis=0))[0]
    np.testing.assert_allclose(projector(B), projector(Q), atol=1e-11)


@pytest.mark.parametrize(
    ("x", "plain", "centred"),
    [
        ([0.0, 0.0, 0.0, 0.0], 0, 0),
        ([0.1, 0.1, 0.1, 0.1], 1, 0),
        ([0.3, 0.1 + 0.2, 0.3, 0.3], 1, 0),  # constant but for rounding
        ([0.0, 1.0, 1.0, 0.0], 1, 1),
        ([-1.0, 1.0, 1.0, -1.0], 2, 1),
        ([0.0, 1.0, 2.0, 1.0], 2, 2),
        ([1.0, 2.0, 3.0, 1.0], 3, 2),
        ([1.0, 2.0, 3.0, 4.0], 3, 3),
    ],
)
def test_dependent_powers_are_dropped(x, plain, centred):
    x = np.array(x)[:, None]
    for form in (x, sp.csc_array(x)):
        for center, rank in ((False, plain), (True, centred)):
            blocks = power_blocks(form, 3, center=center)
            assert blocks.rank.tolist() == [rank]
            (B,) = blocks.take(np.array([0]))
            expected = np.diag((np.arange(3) < rank).astype(float))
            np.testing.assert_allclose(B.T @ B, expected, atol=1e-14)


def test_one_row():
    assert power_blocks(np.array([[3.0]]), 2, center=False).rank.tolist() == [1]
    assert power_blocks(np.array([[3.0]]), 2, center=True).rank.tolist() == [0]


@settings(max_examples=80)
@given(matrices(), st.integers(1, 4), st.booleans(), st.booleans())
def test_orthonormal_and_complete(X, degree, center, sparse):
    B = bases(sp.csc_array(X) if sparse else X, degree, center=center)
    for x, basis in zip(X.T, B, strict=True):
        used = basis[:, basis.any(axis=0)]
        np.testing.assert_allclose(used.T @ used, np.eye(used.shape[1]), atol=1e-12)
        P = raw_powers(x / max(np.abs(x).max(), 1e-300), degree)
        P = P - P.mean(axis=0) if center else P
        np.testing.assert_allclose(projector(basis) @ P, P, atol=1e-8)


@settings(max_examples=40)
@given(matrices(min_rows=2), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_polynomials_on_other_rows(X, degree, seed):
    rng = np.random.default_rng(seed)
    new = rng.standard_normal((5, X.shape[1]))
    for center in (False, True):
        polynomials = fit_polynomials(X, degree, center=center)
        np.testing.assert_allclose(
            polynomials.evaluate(X).transpose(1, 0, 2), bases(X, degree, center=center), atol=1e-8
        )
        # Rows do not see one another.
        both = polynomials.evaluate(np.vstack([X, new]))
        np.testing.assert_array_equal(both[len(X) :], polynomials.evaluate(new))


@centrings
def test_the_same_polynomial_everywhere(center):
    rng = np.random.default_rng(3)
    x, new = rng.uniform(-1.0, 1.0, 20), rng.uniform(-2.0, 2.0, 7)
    polynomials = fit_polynomials(x[:, None], 3, center=center)
    fitted = np.polynomial.polynomial.polyfit(x, polynomials.evaluate(x[:, None])[:, 0], 3)
    expected = np.polynomial.polynomial.polyval(new, fitted).T
    np.testing.assert_allclose(polynomials.evaluate(new[:, None])[:, 0], expected, atol=1e-11)
    if not center:  # no constant term
        np.testing.assert_allclose(fitted[0], 0.0, atol=1e-12)


@centrings
def test_new_rows_of_a_hard_column(center):
    # Degree 8 of numbers near 10: the recurrence keeps what raw coefficients lose.
    rng = np.random.default_rng(4)
    x = rng.uniform(9.0, 11.0, 50)
    polynomials = fit_polynomials(x[:40, None], 8, center=center)
    y = np.sin(3 * x)
    B, new = (polynomials.evaluate(part[:, None])[:, 0] for part in (x[:40], x[40:]))
    start = y[:40].mean() if center else 0.0
    predicted = new @ (B.T @ (y[:40] - start)) + start
    with mpmath.workdps(60):
        lowest = 0 if center else 1
        P = mpmath.matrix([[mpmath.mpf(t) ** j for j in range(lowest, 9)] for t in x])
        train = P[:40, :]
        coef = mpmath.lu_solve(train.T * train, train.T * mpmath.matrix(list(y[:40])))
        expected = np.array([float(value) for value in P[40:, :] * coef])
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)


@centrings
def test_first_polynomial_is_a_line(center):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.standard_normal(9) + 3.0, np.ones(9), np.zeros(9)])
    polynomials = fit_polynomials(X, 2, center=center)
    slope, offset = polynomials.line()
    new = rng.standard_normal((4, 3))
    np.testing.assert_allclose(polynomials.evaluate(new)[:, :, 0], new * slope + offset, atol=1e-13)


def test_shifts_matter_only_without_an_intercept():
    x = np.random.default_rng(6).standard_normal((12, 1))
    centred, shifted = (bases(t, 2, center=True)[0] for t in (x, 7.0 - 3.0 * x))
    np.testing.assert_allclose(projector(centred), projector(shifted), atol=1e-12)
    plain, shifted = (bases(t, 2, center=False)[0] for t in (x, x + 7.0))
    assert np.abs(projector(plain) - projector(shifted)).max() > 0.1


@centrings
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_does_not_matter(center, scale):
    X = np.random.default_rng(7).standard_normal((10, 3))
    np.testing.assert_allclose(
        bases(scale * X, 3, center=center), bases(X, 3, center=center), atol=1e-12
    )


# --- sparse, narrow types, little memory ---------------------------------------------------


def awkward_sparse():
    """Full, empty and constant columns, stored zeros, duplicate entries."""
    X = np.random.default_rng(8).standard_normal((9, 6))
    X[np.random.default_rng(9).random(X.shape) < 0.5] = 0.0
    X[:, 0], X[:, 1], X[:, 2] = np.arange(1.0, 10.0), 0.0, 2.0
    stored = sp.coo_array(X)
    rows, columns = stored.coords
    data = np.concatenate([stored.data / 2, stored.data / 2, [0.0]])
    rows, columns = np.concatenate([rows, rows, [4]]), np.concatenate([columns, columns, [1]])
    # A CSC matrix built from its parts keeps duplicates.
    order = np.lexsort((rows, columns))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=6))])
    return X, sp.csc_array((data[order], rows[order], indptr), shape=X.shape)


@centrings
def test_sparse_equals_dense(center):
    X, S = awkward_sparse()
    stored = S.nnz
    dense, sparse = (power_blocks(form, 3, center=center) for form in (X, S))
    np.testing.assert_array_equal(dense.rank, sparse.rank)
    some = np.array([0, 2, 5])
    np.testing.assert_allclose(sparse.take(some), dense.take(some), atol=1e-12)
    Q = np.random.default_rng(10).standard_normal((9, 2))
    np.testing.assert_allclose(sparse.products(Q), dense.products(Q), atol=1e-12)
    assert S.nnz == stored  # the caller's matrix is untouched


@centrings
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_products_are_with_the_bases(center, form):
    X = np.random.default_rng(11).standard_normal((8, 5)).astype(np.float32)
    blocks = power_blocks(form(X), 2, center=center)
    Q = np.random.default_rng(12).standard_normal((8, 3))
    B = blocks.take(np.arange(5))
    assert B.dtype == np.float64
    np.testing.assert_allclose(blocks.products(Q), B.transpose(0, 2, 1) @ Q, atol=1e-14)


@centrings
def test_blocks_of_features(monkeypatch, center):
    X = np.random.default_rng(13).standard_normal((8, 7))
    Q = np.random.default_rng(14).standard_normal((8, 3))
    whole = power_blocks(X, 2, center=center)
    monkeypatch.setattr(passes, "_BLOCK", 40)
    for kept in (2**27, 0):
        monkeypatch.setattr(powers, "_KEPT", kept)
        blocks = power_blocks(X, 2, center=center)
        assert bool(blocks._kept) == (kept > 0)
        np.testing.assert_allclose(blocks.products(Q), whole.products(Q), atol=1e-14)
        some = np.array([1, 2, 6])
        np.testing.assert_allclose(blocks.take(some), whole.take(some), atol=1e-14)
        np.testing.assert_array_equal(blocks.rank, whole.rank)
