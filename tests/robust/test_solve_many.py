"""Undecided rows, with all others as a few rows: against the same problem with all rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._concentrate import trimmed_error
from columnist.robust._many_rows import ManyRows, given_mean
from columnist.robust._prove import prove
from columnist.robust._solve_many import _removed_turn, _Undecided, certified_many
from columnist.search._options import SearchOptions
from tests.data.test_blocks import Slices


def data(seed, n=30, p=3):
    return np.random.default_rng(seed).standard_normal((n, p)) * [4.0, 2.0, 1.0] + 2.0


def many(X):
    return ManyRows(Slices(X, [11]), lambda largest, size: 1.0)


@given(st.integers(0, 10**6), st.sampled_from(["optimal", "mean", "none"]), st.integers(0, 2))
@settings(max_examples=25)
def test_choices_among_undecided_rows_have_their_errors_and_the_best_is_found(seed, centering, r):
    X = data(seed)
    rows = many(X)
    mean = given_mean(rows, centering)
    kept = rows.without(np.array([0, 1, 2, 3]), r, mean)
    free = np.zeros(30, dtype=bool)
    free[[1, 2, 3, 10, 11, 12, 13]] = True
    found = _Undecided.of(rows, kept, free)
    np.testing.assert_array_equal(found.gone, [0])
    Z, centred = (X, True) if mean is None else (X - mean, False)
    n_fixed, errors = np.count_nonzero(found.fixed), {}
    for chosen in combinations(range(7), 3):
        removed = np.append(0, found.numbers[list(chosen)])
        errors[chosen] = trimmed_error(Z, np.delete(np.arange(30), removed), r, centred)
        stay = np.delete(np.arange(len(found.rows)), np.array(chosen) + n_fixed)
        few = trimmed_error(found.rows, stay, r, centred, found.weights)
        np.testing.assert_allclose(few, errors[chosen], rtol=1e-9)
    proof = prove(
        found.rows, r, 3, centering="optimal" if centred else "none",
        incumbents=[found.incumbent], must_keep=found.fixed, weights=found.weights,
    )  # fmt: skip
    assert proof.proven
    np.testing.assert_allclose(proof.error, min(errors.values()), rtol=1e-9)
    choice = found.choice(proof, kept, mean)
    np.testing.assert_allclose(choice.error, min(errors.values()), rtol=1e-9)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=20)
def test_removed_rows_turn_together(seed, free):
    """By the largest eigenvalue of their own inner products, computed from the rows."""
    X = data(seed)
    X[:5] *= 3.0
    rows = many(X)
    kept = rows.without(np.arange(5), 2, None if free else np.zeros(3))
    whitened = kept.subspace.scores(X[:5]) / np.sqrt(kept.eigenvalue_gaps())
    if free:
        whitened = np.column_stack([whitened, np.full(5, 25**-0.5)])
    expected = np.linalg.svd(whitened, compute_uv=False)[0]
    np.testing.assert_allclose(_removed_turn(rows.moments, kept), expected, rtol=1e-6)


@pytest.mark.parametrize("mean", [None, np.zeros(3)])
def test_a_certificate_for_all_rows(mean):
    X = data(0)
    X[[4, 20]] += [0.0, 0.0, 12.0]
    rng = np.random.default_rng(0)
    certificate, kept, measured = certified_many(many(X), 1, 2, SearchOptions(), mean, rng)
    errors = {
        removed: trimmed_error(X, np.delete(np.arange(30), removed), 1, mean is None)
        for removed in combinations(range(30), 2)
    }
    best = min(errors, key=errors.get)
    assert certificate.selection == best == tuple(kept.removed)
    assert certificate.status == "optimal"
    np.testing.assert_allclose(certificate.error, errors[best], rtol=1e-12)
    assert len(measured.orthogonal) == 30


def test_an_interrupt_after_the_first_choice_keeps_it():
    X = data(0)
    X[[4, 20]] += [0.0, 0.0, 12.0]

    def interrupt(progress):
        raise KeyboardInterrupt

    options = SearchOptions(callback=interrupt)
    rng = np.random.default_rng(0)
    certificate, kept, measured = certified_many(many(X), 1, 2, options, None, rng)
    error = trimmed_error(X, np.delete(np.arange(30), kept.removed), 1, True)
    assert certificate.selection == tuple(kept.removed) and len(measured.orthogonal) == 30
    assert certificate.status in ("interrupted", "optimal")
    np.testing.assert_allclose(certificate.error, error, rtol=1e-9)
    assert certificate.lower_bound <= error * (1 + 1e-9)
