"""Bounds for all choices at once, against all choices one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._block_proof import BlockProof, Incumbent
from columnist.robust._conditioned import Seen
from columnist.robust._errors import WeightedErrors
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._screening import (
    Rows,
    Undecided,
    _farthest_subspace,
    removed_turn,
    screen,
    screen_rows,
)
from columnist.robust._subspace import fit_subspace
from columnist.search._run import Run
from tests.data.test_blocks import Slices
from tests.oracles.outliers import trimmed_error


def measured(X, removed, r, mean):
    """A choice, and what is measured of all rows from it."""
    seen = Seen(RowData(X), mean, np.zeros(len(X)))
    kept = seen.without(np.asarray(removed), r)
    return kept, screen_rows(seen, kept)


def all_errors(X, k, r, mean):
    """Errors of all choices."""
    Z, centred = (X, True) if mean is None else (X - mean, False)
    rows = np.arange(len(X))
    return {
        removed: trimmed_error(Z, np.setdiff1d(rows, removed), r, centred)
        for removed in combinations(range(len(X)), k)
    }


@st.composite
def problems(draw, largest=11):
    n, p = draw(st.integers(6, largest)), draw(st.integers(2, 4))
    r, k = draw(st.integers(0, p - 1)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    spread = draw(st.sampled_from([1.0, 5.0, 40.0]))
    X = rng.standard_normal((n, p)) * np.array([spread, spread, 1.0, 1.0])[:p] + 2.0
    X[: draw(st.integers(0, k))] += draw(st.sampled_from([0.0, 3.0, 30.0])) * rng.standard_normal(p)
    free = draw(st.booleans())
    mean = None if free else draw(st.sampled_from([np.zeros(p), X.mean(axis=0)]))
    return X, k, r, mean


@given(problems(), st.data())
@settings(max_examples=60)
def test_distances_from_any_other_subspace_are_within_their_bounds(problem, data):
    """The theorem itself, for all choices: s, both bounds on distances, and the excess."""
    X, k, r, mean = problem
    every = list(combinations(range(len(X)), k))
    removed = np.array(data.draw(st.sampled_from(every)))
    kept, rows = measured(X, removed, r, mean)
    axes, gaps = kept.subspace.components, kept.eigenvalue_gaps()
    inside = ~rows.removed
    for other in every:
        found = fit_subspace(np.delete(X, other, axis=0), r, mean)
        outside = axes - axes @ found.components.T @ found.components
        turned = np.sum(np.maximum(gaps, 0.0) * np.sum(outside**2, axis=1))
        moved = 0.0
        if mean is None:
            moved = kept.moments.count * np.sum(found.residuals(kept.subspace.mean[None]) ** 2)
        s = np.sqrt(turned + moved)
        distances = np.linalg.norm(found.residuals(X), axis=1)
        close = 1e-9 * (1.0 + rows.lengths)
        assert np.sum(distances[inside] ** 2) >= (kept.error + s * s) * (1.0 - 1e-9) - 1e-9
        assert (distances <= rows.upper(s) + close).all()
        assert (distances >= rows.lower(s) - close).all()
        swapped_in = np.setdiff1d(removed, other)
        moved_by = np.sqrt(np.sum(distances[swapped_in] ** 2))
        least = rows.shrinkage(s) * np.sqrt(np.sum(rows.distances[swapped_in] ** 2))
        assert moved_by >= least - s * rows.turn - 1e-9 * (1.0 + least)
        if np.sum(np.delete(distances, other) ** 2) <= kept.error:
            assert s <= _farthest_subspace(rows, min(k, len(X) - k)) + 1e-9


@given(problems(), st.data())
@settings(max_examples=50)
def test_no_choice_is_below_the_bound_and_the_best_differs_in_free_rows_only(problem, data):
    X, k, r, mean = problem
    errors = all_errors(X, k, r, mean)
    best = min(errors, key=errors.get)
    removed = np.array(data.draw(st.one_of(st.just(best), st.sampled_from(list(errors)))))
    kept, rows = measured(X, removed, r, mean)
    found = screen(rows, kept.error, 0.0)
    tiny = 1e-9 * (errors[best] + 1.0)
    assert found.lower_bound <= errors[best] + tiny
    assert found.lower_bound <= found.settled_bound
    if errors[best] < found.settled_bound - tiny:
        assert set(best) ^ set(removed.tolist()) <= set(np.flatnonzero(found.free).tolist())


def test_many_rows_prove_the_best_choice_and_refute_another():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)) * [9.0, 5.0, 1.0, 1.0]
    X[[7, 300]] += [0.0, 0.0, 7.0, -7.0]
    kept, rows = measured(X, np.array([7, 300]), 2, None)
    found = screen(rows, kept.error, 0.0)
    assert found.lower_bound == kept.error == found.settled_bound
    assert not found.free.any()
    kept, rows = measured(X, np.array([8, 300]), 2, None)
    found = screen(rows, kept.error, 0.0)
    assert found.lower_bound < kept.error
    assert found.free[[7, 8]].all() and np.count_nonzero(found.free) < 20


@pytest.mark.parametrize("steep", [False, True])
def test_nothing_is_known_where_half_of_the_rows_go(steep):
    X = np.random.default_rng(1).standard_normal((8, 3))
    kept, rows = measured(X, np.arange(5), 1, None)
    if steep:
        rows = replace(rows, slopes=rows.slopes * 1e100)
    found = screen(rows, kept.error, 0.0)
    assert found.lower_bound == 0.0 and found.free.all()


def test_without_removals_there_is_one_choice():
    X = np.random.default_rng(1).standard_normal((8, 3))
    kept, rows = measured(X, np.zeros(0, dtype=int), 1, None)
    found = screen(rows, kept.error, 0.0)
    assert found.lower_bound == kept.error and not found.free.any()


def test_slack_settles_what_does_not_matter():
    """Two rows at the same distance: the other one is as good, up to rounding."""
    distances = np.array([1.0, 1.0, 0.5, 0.2])
    rows = Rows(
        distances, np.full(4, 1e-3), distances + 1.0, np.full(4, 1e-14),
        np.array([True, False, False, False]), np.inf, 1e-3,
    )  # fmt: skip
    loose = screen(rows, 1.29, 1e-2)
    assert not loose.free.any()
    assert 1.29 - 1e-2 <= loose.lower_bound < 1.29
    assert screen(rows, 1.29, 0.0).free[:2].all()


# -- undecided rows, with all others as a few rows -----------------------------------


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
    mean = given_mean(centering, rows.moments.mean)
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
