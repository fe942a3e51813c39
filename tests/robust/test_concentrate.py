from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import _concentrate as module
from columnist.robust._concentrate import Trimming, concentrated_rows
from tests.oracles.outliers import best_rows, row_errors, trimmed_error
from tests.robust.samples import contaminated


def found(X, r, k, centred=True, **options):
    rng = np.random.default_rng(0)
    kept = concentrated_rows(X, r, k, centred=centred, rng=rng, **options)
    return trimmed_error(X, kept, r, centred), kept


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 4))
def test_trimmed_error(seed, centred, r):
    X = np.random.default_rng(seed).standard_normal((9, 4))
    errors = row_errors(X, r, 2, centering="optimal" if centred else "none")
    for removed in ((0, 1), (3, 8)):
        kept = np.ones(9, dtype=bool)
        kept[list(removed)] = False
        expected = pytest.approx(errors[removed], rel=1e-10, abs=1e-12)
        assert trimmed_error(X, kept, r, centred) == expected
        assert trimmed_error(X, np.flatnonzero(kept), r, centred) == expected


def test_trimmed_error_of_nothing():
    assert trimmed_error(np.ones((3, 2)), np.zeros(3, dtype=bool), 1, True) == 0.0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3), st.integers(0, 4))
def test_error_is_that_of_the_rows_and_no_step_raises_it(seed, centred, r, k):
    X = np.random.default_rng(seed).standard_normal((12, 4))
    trimming = Trimming(X, r, k, centred)
    error, kept = trimming.descend(np.ones(12, dtype=bool))
    assert kept.sum() == 12 - k
    assert error == pytest.approx(trimmed_error(X, kept, r, centred), rel=1e-9, abs=1e-12)
    # a fixed point: refitting and keeping the nearest rows changes nothing for the better
    again, _ = trimming.descend(kept)
    assert again >= error * (1.0 - 1e-9)
    exchanged, rows = trimming.exchanged(error, kept)
    assert exchanged <= error and rows.sum() == 12 - k
    assert exchanged == pytest.approx(trimmed_error(X, rows, r, centred), rel=1e-9, abs=1e-12)


def test_usually_the_best_set():
    hits = 0
    for seed in range(30):
        X = np.random.default_rng(seed).standard_normal((11, 3))
        error, kept = found(X, 1, 3)
        best, _ = best_rows(X, 1, 3)
        assert error >= best * (1.0 - 1e-9) and kept.sum() == 8
        hits += error <= best * (1.0 + 1e-9)
    assert hits >= 28


@pytest.mark.parametrize("kind", ["scattered", "clustered"])
def test_planted_outliers(kind):
    X, _ = contaminated(200, 6, 2, 20, np.random.default_rng(0), kind=kind)
    _, kept = found(X, 2, 20)
    np.testing.assert_array_equal(np.flatnonzero(~kept), np.arange(20))


def test_exchanges_help_where_concentration_is_stuck():
    helped = 0
    for seed in range(40):
        X = np.random.default_rng(seed).standard_normal((14, 3))
        trimming = Trimming(X, 1, 4, True)
        error, kept = trimming.descend(np.ones(14, dtype=bool))
        helped += trimming.exchanged(error, kept)[0] < error * (1.0 - 1e-6)
    assert helped


def test_rows_with_a_given_place():
    X, _ = contaminated(30, 4, 1, 3, np.random.default_rng(1))
    must_keep, must_remove = np.zeros(30, dtype=bool), np.zeros(30, dtype=bool)
    must_keep[0], must_remove[12] = True, True
    trimming = Trimming(X, 1, 4, True, must_keep, must_remove)
    error, kept = trimming.exchanged(*trimming.descend(np.ones(30, dtype=bool)))
    assert kept[0] and not kept[12] and kept.sum() == 26
    assert error == pytest.approx(trimmed_error(X, kept, 1, True))


def test_more_columns_than_rows():
    X = np.random.default_rng(2).standard_normal((9, 40))
    for centred in (True, False):
        error, kept = found(X, 2, 2, centred)
        best, _ = best_rows(X, 2, 2, centering="optimal" if centred else "none")
        assert error == pytest.approx(best, rel=1e-9)
        assert error == pytest.approx(trimmed_error(X, kept, 2, centred))


def test_ties_go_to_the_smaller_index():
    trimming = Trimming(np.ones((5, 1)), 0, 2, False)
    np.testing.assert_array_equal(trimming.nearest(np.ones(5)), [1, 1, 1, 0, 0])
    np.testing.assert_array_equal(
        trimming.nearest(np.array([2.0, 1.0, 2.0, 1.0, 2.0])), [1, 1, 0, 1, 0]
    )


def test_all_rows_equal():
    error, kept = found(np.full((20, 3), 4.0), 1, 3)
    assert error == 0.0 and kept.sum() == 17


def test_nothing_to_remove():
    X = np.random.default_rng(0).standard_normal((10, 3))
    error, kept = found(X, 1, 0)
    assert kept.all() and error == pytest.approx(trimmed_error(X, kept, 1, True))


def test_tall_data_are_searched_on_a_sample(monkeypatch):
    monkeypatch.setattr(module, "_SAMPLE", 100)
    X, _ = contaminated(600, 5, 2, 60, np.random.default_rng(3), kind="clustered")
    error, kept = found(X, 2, 60)
    np.testing.assert_array_equal(np.flatnonzero(~kept), np.arange(60))
    assert error == pytest.approx(trimmed_error(X, kept, 2, True))


def test_no_time():
    X, _ = contaminated(100, 4, 1, 5, np.random.default_rng(4))
    error, kept = found(X, 1, 5, deadline=time.perf_counter() - 1.0)
    assert kept.sum() == 95 and error == pytest.approx(trimmed_error(X, kept, 1, True))


def test_same_generator_same_answer():
    X = np.random.default_rng(5).standard_normal((40, 4))
    one, other = found(X, 2, 6), found(X, 2, 6)
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])
