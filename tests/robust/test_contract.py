from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._contract import contract
from tests.oracles.outliers import best_rows, trimmed_error


def tail(Y, top):
    sigma = np.linalg.svd(Y, compute_uv=False)
    return np.sum(sigma[top:] ** 2)


def incumbent(X, r, k, centred):
    """The best rows to keep."""
    kept = np.ones(len(X), dtype=bool)
    kept[list(best_rows(X, r, k, centering="optimal" if centred else "none")[1])] = False
    return kept


def everyone(X):
    return np.ones(len(X), dtype=bool)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3),
    st.sampled_from([0.0, 1e-4, 0.1, 0.5]), st.sampled_from([0.0, 3.0, 6.0]),
)  # fmt: skip
def test_no_set_has_an_error_below_what_its_tail_proves(seed, centred, r, loss, spread):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 4)) * 10.0 ** np.linspace(spread, 0.0, 4) + 3.0
    kept = np.ones(8, dtype=bool)
    kept[rng.choice(8, 2, replace=False)] = False
    contraction = contract(X, kept, everyone(X), r, centred, loss)
    for removed in combinations(range(8), 2):
        rows = np.delete(contraction.rows, removed, axis=0)
        error = trimmed_error(X, np.setdiff1d(np.arange(8), removed), r, centred)
        proven = contraction.proves(tail(rows, contraction.top))
        assert proven <= error * (1.0 + 1e-9) + 1e-12 * np.sum(X * X)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3))
def test_the_incumbent_keeps_its_error(seed, centred, r):
    X = np.random.default_rng(seed).standard_normal((8, 4)) * [9.0, 3.0, 1.0, 1.0]
    kept = incumbent(X, r, 2, centred)
    contraction = contract(X, kept, everyone(X), r, centred)
    error = trimmed_error(X, kept, r, centred)
    assert contraction.top == r + centred
    assert tail(contraction.rows[kept], contraction.top) == pytest.approx(error, rel=1e-10)


def test_leading_directions_shrink():
    X = np.random.default_rng(0).standard_normal((50, 4)) * [1e4, 1e2, 1.0, 0.9]
    kept = everyone(X)
    contraction = contract(X, kept, everyone(X), 2, False)
    scales = np.linalg.svd(contraction.rows, compute_uv=False) ** 2
    assert scales[0] <= 7.0 * scales[2] * (1.0 + 1e-9)
    assert trimmed_error(X, kept, 2, False) == pytest.approx(scales[2:].sum())


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.01, 0.2, 0.6]))
def test_directions_left_out_hold_what_is_said(seed, centred, loss):
    X = np.random.default_rng(seed).standard_normal((30, 6)) * [5, 3, 1, 0.3, 0.1, 0.1]
    kept = everyone(X)
    contraction = contract(X, kept, everyone(X), 2, centred, loss)
    assert 0.0 <= contraction.lost <= loss
    left = tail(contraction.rows, contraction.top) / trimmed_error(X, kept, 2, centred)
    assert left == pytest.approx(1.0 - contraction.lost, rel=1e-9)
    # one direction more would have been too much
    spectrum = np.linalg.svd(X - X.mean(axis=0) if centred else X, compute_uv=False)[2:] ** 2
    dropped = 6 - (contraction.rows.shape[1] - centred)
    shares = np.cumsum(spectrum[::-1]) / spectrum.sum()
    assert shares[dropped] > loss and (dropped == 0 or shares[dropped - 1] <= loss * (1 + 1e-9))


@given(st.floats(1e-6, 1e6), st.floats(0.0, 1e-6), st.floats(1.0, 1.0 + 1e-6))
def test_needed_proves(error, drift, stretch):
    X = np.random.default_rng(0).standard_normal((5, 2))
    contraction = contract(X, everyone(X), everyone(X), 1, False)
    object.__setattr__(contraction, "drift", drift)
    object.__setattr__(contraction, "stretch", stretch)
    tail_sum = contraction.needed(error)
    assert error <= contraction.proves(tail_sum) <= error * (1.0 + 1e-13)
    assert contraction.proves(tail_sum * 0.99) < error


def test_inactive_rows_vanish():
    X = np.random.default_rng(0).standard_normal((8, 3)) + 5.0
    active = everyone(X)
    active[2] = False
    contraction = contract(X, active, active, 1, True)
    assert not contraction.rows[2].any() and contraction.rows[3].all()


def test_a_far_row_does_not_spoil_the_others():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[4] = 1e12
    kept = everyone(X)
    kept[4] = False
    contraction = contract(X, kept, everyone(X), 1, True)
    error = trimmed_error(X, kept, 1, True)
    assert contraction.proves(tail(contraction.rows[kept], 2)) == pytest.approx(error, rel=1e-9)
    assert (
        np.linalg.norm(contraction.rows[4]) > np.linalg.norm(contraction.rows[kept], axis=1).max()
    )


def test_price_separates_kept_from_removed_rows():
    X = np.random.default_rng(1).standard_normal((12, 3))
    kept = incumbent(X, 1, 3, True)
    contraction = contract(X, kept, everyone(X), 1, True)
    Z = X - X[kept].mean(axis=0)
    axes = np.linalg.svd(Z[kept])[2][1:]
    np.testing.assert_allclose(contraction.squares, np.sum((Z @ axes.T) ** 2, axis=1), rtol=1e-10)
    nearest, farthest = contraction.squares[~kept].min(), contraction.squares[kept].max()
    assert contraction.price == pytest.approx((nearest + farthest) / 2.0)


def test_rows_of_low_rank():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 7))
    contraction = contract(X, everyone(X), everyone(X), 1, False)
    assert contraction.rows.shape == (10, 2)
    assert tail(contraction.rows, 1) == pytest.approx(trimmed_error(X, everyone(X), 1, False))
