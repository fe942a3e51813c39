"""Greedy removal of rows against the definition by singular values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._removal import _Kept, _Rule, remove_rows
from tests.strategies import KINDS, matrices

POWERS = (0.01, 0.1, 0.5, 0.7, 1.0, 1.5)


def spectrum(X, free):
    return np.linalg.svd(X - X.mean(axis=0) if free else X, compute_uv=False)


def rounding(X, free, size):
    """Singular values of the rows below this are zero."""
    largest = max(spectrum(X, free)[0], np.linalg.norm(X.mean(axis=0)) * np.sqrt(len(X)) * free)
    return size * np.finfo(np.float64).eps * largest


def measure(X, p, free, floor):
    sigma = spectrum(X, free)
    return float(np.sum(sigma[sigma > floor] ** p))


def assert_greedy(X, order, p, free):
    """Every row removed is the first of those without which the sum is smallest."""
    rows = np.arange(len(X))
    for row in order:
        floor = rounding(X[rows], free, max(X.shape))
        sums = np.array([measure(X[rows[rows != c]], p, free, floor) for c in rows])
        near = 1e-10 * measure(X[rows], p, free, floor)
        assert row == rows[np.flatnonzero(sums <= sums.min() + near)[0]]
        rows = rows[rows != row]


def remove(X, count, p, free):
    return remove_rows(X, count, p, mean=None if free else np.zeros(X.shape[1]))


@settings(max_examples=150)
@given(
    st.sampled_from(KINDS).flatmap(
        lambda kind: matrices(min_columns=2, max_columns=10, kinds=(kind,))
    ),
    st.sampled_from(POWERS),
    st.booleans(),
    st.data(),
)
def test_against_the_definition(columns, p, free, data):
    """The strategies make awkward columns; here they are rows."""
    X = columns.T
    if data.draw(st.booleans()):
        X = X + np.arange(X.shape[1])
    count = data.draw(st.integers(0, len(X) - 1))
    found = remove(X, count, p, free)
    assert_greedy(X, found.order, p, free)
    for step in range(count + 1):
        left = np.delete(X, found.order[:step], axis=0)
        expected = measure(left, p, free, rounding(left, free, max(X.shape)))
        assert found.sums[step] == pytest.approx(expected, abs=1e-11 * max(found.sums[0], 1e-300))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("n", "q"), [(40, 6), (25, 25), (20, 50)])
def test_larger(n, q, free):
    X = np.random.default_rng(0).standard_normal((n, q)) * np.geomspace(1.0, 1e-3, q)
    assert_greedy(X, remove(X, n // 2, 0.1, free).order, 0.1, free)


@given(st.integers(0, 2**32 - 1), st.sampled_from(POWERS), st.integers(1, 7), st.integers(0, 9))
def test_quadrature(seed, p, d, decades):
    """Graded spectra, and rows of every leverage up to that of a lone direction."""
    rng = np.random.default_rng(seed)
    lam = np.sort(10.0 ** -rng.uniform(0, decades, d))[::-1]
    lam /= lam[0]
    units = rng.standard_normal((6, d))
    units /= np.linalg.norm(units, axis=1)[:, None]
    gaps = np.array([1.0, 0.9, 0.5, 1e-2, 0.0, 0.0])
    u = np.sqrt(1.0 - gaps)[:, None] * units
    found = _Rule(lam, p / 2, lam[-1] * 1e-2).changes(u**2, gaps)
    for change, row, gap in zip(found, u, gaps, strict=True):
        # The eigenvalues through singular values: no squares are lost.
        core = np.diag(np.sqrt(lam)) - np.outer(row, row * np.sqrt(lam)) / (1 + np.sqrt(gap))
        sigma = np.linalg.svd(core, compute_uv=False)[: d - (gap == 0.0)]
        expected = np.sum(sigma**p) - np.sum(lam ** (p / 2))
        assert change == pytest.approx(expected, abs=3e-12 * np.sum(lam ** (p / 2)))


@pytest.mark.parametrize("free", [False, True])
def test_updates_stay_orthonormal(free):
    X = np.random.default_rng(1).standard_normal((80, 30))
    kept = _Kept(X, None if free else np.zeros(30))
    for _ in range(60):
        kept.remove(*kept.best(0.1))
        U = kept.U
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
        np.testing.assert_allclose(kept.sigma, spectrum(X[kept.rows], free)[: U.shape[1]])


def test_equal_rows_go_in_order():
    X = np.repeat(np.eye(3), 2, axis=0)
    np.testing.assert_array_equal(remove(X, 4, 0.5, free=False).order[:2], [0, 1])
    np.testing.assert_array_equal(remove(np.ones((4, 2)), 3, 0.1, free=True).order, [0, 1, 2])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_motions_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    plain, moved = remove(X, 6, 0.1, True), remove(X @ turn + 3.0, 6, 0.1, True)
    np.testing.assert_array_equal(moved.order, plain.order)
    np.testing.assert_allclose(moved.sums, plain.sums)


def test_a_given_mean_is_subtracted():
    X = np.random.default_rng(0).standard_normal((15, 4))
    one = remove_rows(X + 5.0, 6, 0.1, mean=np.full(4, 5.0))
    np.testing.assert_array_equal(one.order, remove(X, 6, 0.1, False).order)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("tiny", [1e-2, 1e-6, 1e-9])
def test_a_small_step_out_of_the_subspace_costs_a_dimension(free, tiny):
    """Squared, the last of these would be lost in rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 8))
    X[7] += tiny * rng.standard_normal(8)
    found = remove(X, 1, 0.1, free)
    np.testing.assert_array_equal(found.order, [7])
    assert_greedy(X, found.order, 0.1, free)


def test_small_rows_count_again_when_a_huge_one_is_gone():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[4] *= 1e18
    found = remove(X, 2, 0.1, False)
    assert found.order[0] == 4
    np.testing.assert_allclose(found.sums[1], np.sum(spectrum(X[np.arange(20) != 4], False) ** 0.1))


@pytest.mark.parametrize("free", [False, True])
def test_all_but_one(free):
    X = np.random.default_rng(0).standard_normal((6, 3))
    found = remove(X, 5, 0.3, free)
    assert len(set(found.order)) == 5
    left = np.delete(X, found.order, axis=0)
    assert found.sums[-1] == pytest.approx(0.0 if free else np.linalg.norm(left) ** 0.3)
