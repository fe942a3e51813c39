"""Robust PCA pass by pass, against the same in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import _row_data as row_data
from columnist.robust._concentrate import Trimming
from columnist.robust._row_data import KeptRows, RowData, given_mean, worth_passes
from columnist.robust._subspace import fit_subspace, subspace_of_moments
from tests.data.test_blocks import Slices
from tests.oracles.cutoffs import classical_cutoffs, cross_fitted_cutoffs
from tests.oracles.outliers import trimmed_error

cuts = st.lists(st.integers(0, 50), max_size=4)


def data(seed=0, n=50, p=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(5.0, 1.0, p) + 3.0
    X[:3] += 6.0 * rng.standard_normal((3, p))
    return X


def many(X, edges=()):
    return RowData(Slices(X, edges), lambda largest, size: 1.0)


@given(cuts, st.integers(0, 10**6), st.sampled_from(["optimal", "mean", "none"]))
@settings(max_examples=30)
def test_concentration_ends_as_in_memory(edges, seed, centering):
    X = data(seed)
    rows = many(X, edges)
    mean = given_mean(centering, rows.moments.mean)
    found = rows.descend([subspace_of_moments(rows.moments, 2, mean)], 4, mean)
    Z = X if mean is None else X - mean
    trimming = Trimming(Z, 2, 4, mean is None)
    error, kept = trimming.descend(np.ones(50, dtype=bool))
    np.testing.assert_array_equal(found.removed, np.flatnonzero(~kept))
    np.testing.assert_allclose(found.error, error, rtol=1e-9)
    np.testing.assert_allclose(found.error, trimmed_error(Z, kept, 2, mean is None), rtol=1e-9)


def test_several_starts_end_in_the_best_of_them():
    X = data(1)
    rows = many(X, [20])
    starts = [fit_subspace(X[a : a + 10], 1) for a in range(0, 50, 10)]
    found = rows.descend(starts, 5, None)
    each = [rows.descend([start], 5, None).error for start in starts]
    np.testing.assert_allclose(found.error, min(each), rtol=1e-12)
    assert len({round(error, 6) for error in each}) > 1


@given(cuts, st.integers(0, 10**6), st.integers(0, 3), st.booleans())
@settings(max_examples=30)
def test_cutoffs(edges, seed, r, free):
    X = data(seed)
    rows = many(X, edges)
    mean = None if free else np.zeros(4)
    removed = np.array([0, 2, 31])
    kept = rows.without(removed, r, mean)
    fit = fit_subspace(np.delete(X, removed, axis=0), r, mean)
    measured = rows.measure(kept.subspace)
    for rule, expected in (
        ("classical", classical_cutoffs(X, fit)),
        ("cross-fitted", cross_fitted_cutoffs(X, removed, fit)),
    ):
        found = rows.cutoffs(kept.subspace, removed, measured, rule)
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-9)
        np.testing.assert_allclose(found.orthogonal, expected.orthogonal, rtol=1e-9)


def test_too_few_rows_for_folds_have_classical_cutoffs():
    X = data(n=6)
    rows = many(X)
    kept = rows.without(np.array([0]), 3, None)
    found = rows.cutoffs(kept.subspace, kept.removed, rows.measure(kept.subspace), "cross-fitted")
    fit = fit_subspace(X[1:], 3)
    np.testing.assert_allclose(found.orthogonal, classical_cutoffs(X, fit).orthogonal, rtol=1e-9)


def test_scaled_rows():
    X = data()
    rows = RowData(Slices(X, [9]), lambda largest, size: 8.0)
    assert rows.unit == 8.0
    np.testing.assert_allclose(rows.moments.mean, X.mean(axis=0) / 8.0)
    np.testing.assert_array_equal(rows.rows(np.array([3, 30])), X[[3, 30]] / 8.0)


def test_eigenvalue_gaps_count_rounding():
    X = data()
    kept = KeptRows.of(np.zeros(0, dtype=int), many(X).moments, 2, None)
    eigenvalues = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    np.testing.assert_allclose(kept.eigenvalue_gaps(), eigenvalues[:2] - eigenvalues[2], rtol=1e-9)
    assert (kept.eigenvalue_gaps() < eigenvalues[:2] - eigenvalues[2]).all()
    full = KeptRows.of(np.zeros(0, dtype=int), many(X).moments, 4, None)
    np.testing.assert_allclose(full.eigenvalue_gaps(), eigenvalues, rtol=1e-9)
    assert full.error == 0.0


def test_few_rows_and_wide_rows_are_not_worth_passes(monkeypatch):
    assert not worth_passes(Slices(data()))
    monkeypatch.setattr(row_data, "_FEW_ROWS", 49)
    assert worth_passes(Slices(data()))
    assert not worth_passes(Slices(data().T.repeat(20, axis=1)))
    monkeypatch.setattr(row_data, "_FEW_ROWS", 8000)
    monkeypatch.setattr(row_data, "available_memory", lambda: 100)
    assert worth_passes(Slices(data()))


def test_more_removed_rows_than_memory_holds(monkeypatch):
    rows = many(data())
    monkeypatch.setattr("columnist.linalg._memory.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="Lower n_outliers"):
        rows.descend([subspace_of_moments(rows.moments, 1, None)], 4, None)
