"""Undecided rows, with all others as a few rows: against the same problem with all rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._block_proof import BlockProof
from columnist.robust._concentrate import trimmed_error
from columnist.robust._errors import WeightedErrors
from columnist.robust._node import Incumbent
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._screening import removed_turn
from columnist.robust._undecided import Undecided
from columnist.search._run import Run
from tests.data.test_blocks import Slices


def data(seed, n=30, p=3):
    return np.random.default_rng(seed).standard_normal((n, p)) * [4.0, 2.0, 1.0] + 2.0


def many(X):
    return RowData(Slices(X, [11]))


class Choices:
    """Errors of sets of rows, from the rows themselves."""

    exact, least = True, 0.0

    def __init__(self, Z, r, centred):
        self.Z, self.r, self.centred = Z, r, centred

    def value(self, removed):
        kept = np.delete(np.arange(len(self.Z)), removed)
        return trimmed_error(self.Z, kept, self.r, self.centred)


@given(st.integers(0, 10**6), st.sampled_from(["optimal", "mean", "none"]), st.integers(0, 2))
@settings(max_examples=25)
def test_choices_among_undecided_rows_have_their_errors_and_the_best_is_found(seed, centering, r):
    X = data(seed)
    rows = many(X)
    mean = given_mean(rows, centering)
    kept = rows.without(np.array([0, 1, 2, 3]), r, mean)
    free = np.zeros(30, dtype=bool)
    free[[1, 2, 3, 10, 11, 12, 13]] = True
    found = Undecided.of(rows, kept, free)
    np.testing.assert_array_equal(found.gone, [0])
    Z, centred = (X, True) if mean is None else (X - mean, False)
    n_fixed, errors = np.count_nonzero(found.fixed), {}
    for chosen in combinations(range(7), 3):
        removed = np.append(0, found.numbers[list(chosen)])
        errors[chosen] = trimmed_error(Z, np.delete(np.arange(30), removed), r, centred)
        stay = np.delete(np.arange(len(found.rows)), np.array(chosen) + n_fixed)
        few = trimmed_error(found.rows, stay, r, centred, found.weights)
        np.testing.assert_allclose(few, errors[chosen], rtol=1e-9)
    run = Run(Choices(Z, r, centred))
    run.offer(kept.removed)
    best = Incumbent(WeightedErrors(found.rows, r, found.weights), 3, 5e-10, fixed=found.fixed)
    best.offer_removed(found.incumbent)
    run.drive([BlockProof(best, found.removed, lambda bound: bound)])
    assert run.stop == "optimal"
    error, removed = run.pool.entries[0]
    np.testing.assert_allclose(error, min(errors.values()), rtol=1e-9)
    chosen = tuple(np.flatnonzero(np.isin(found.numbers, removed)))
    np.testing.assert_allclose(errors[chosen], min(errors.values()), rtol=1e-9)


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
    np.testing.assert_allclose(
        removed_turn(rows.moments, kept, kept.eigenvalue_gaps()), expected, rtol=1e-6
    )
