"""Orders that rounding does not change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.linalg._ties import evened, levels, ranked

VALUES = st.one_of(st.integers(-5, 5).map(float), st.sampled_from([np.nan, np.inf, -np.inf]))


@given(st.lists(VALUES, max_size=20), st.integers(0, 2**32 - 1))
def test_rounding_does_not_change_the_order(values, seed):
    values = np.array(values)
    order = ranked(values)
    expected = sorted(
        range(len(values)),
        key=lambda i: (np.isnan(values[i]), 0.0 if np.isnan(values[i]) else -values[i], i),
    )
    np.testing.assert_array_equal(order, expected)
    rounded = values * (1.0 + 1e-15 * np.random.default_rng(seed).normal(size=len(values)))
    np.testing.assert_array_equal(ranked(rounded), expected)


@pytest.mark.parametrize("values", [[], [1.0], [np.nan]])
def test_short_lists(values):
    np.testing.assert_array_equal(ranked(np.array(values)), range(len(values)))


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf, -1.0, np.nan]), min_size=1, max_size=9))
def test_levels(scores):
    found = levels(np.array(scores))
    for a, s in zip(found, scores, strict=True):
        for b, t in zip(found, scores, strict=True):
            if np.isnan(s) or np.isnan(t):
                assert (a == b) == (np.isnan(s) and np.isnan(t))
                assert a >= b if np.isnan(s) else True
            else:
                assert (a < b) == (s > t)


def test_near_ties_are_made_equal():
    assert np.ptp(evened(np.array([1.0, 1.0 + 1e-15]))) == 0.0
    np.testing.assert_array_equal(evened(np.array([1.0, 2.0, 1.5])), [1.0, 2.0, 1.5])
    assert np.ptp(evened(np.array([1e-15, 3e-15, 1.0]), unit=1.0)[:2]) == 0.0
