"""Thresholds against all cuts, one after the other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.selection._multilabel import optimal_thresholds


def one_label(scores, labels):
    (threshold,) = optimal_thresholds(np.array(scores)[:, None], np.array(labels)[:, None])
    return float(threshold)


def mistakes(scores, labels, threshold):
    return int(np.sum((np.asarray(scores) > threshold) != np.asarray(labels)))


def all_cuts(scores, labels):
    """(mistakes, distance of the interval to 0.5, its ends) of every cut."""
    ends = [-np.inf, *np.unique(scores), np.inf]
    cuts = []
    for low, high in itertools.pairwise(ends):
        inside = low if np.isfinite(low) else high - 1.0
        distance = 0.0 if low <= 0.5 <= high else min(abs(low - 0.5), abs(high - 0.5))
        cuts.append((mistakes(scores, labels, inside), distance, low, high))
    return cuts


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(-8, 24), st.booleans()), min_size=1, max_size=12))
def test_no_cut_is_better(pairs):
    scores = np.array([score for score, _ in pairs]) / 16.0
    labels = np.array([label for _, label in pairs])
    threshold = one_label(scores, labels)
    cuts = all_cuts(scores, labels)
    fewest = min(cuts)[0]
    assert np.isfinite(threshold)
    assert mistakes(scores, labels, threshold) == fewest
    # Of the best cuts, the one that holds 0.5 or comes nearest, in its middle.
    nearest = min(distance for count, distance, _, _ in cuts if count == fewest)
    chosen = [c for c in cuts if c[2] <= threshold < c[3]]
    assert [c[:2] for c in chosen] == [(fewest, nearest)]
    low, high = chosen[0][2:]
    if np.isfinite(low) and np.isfinite(high):
        assert threshold == (low + high) / 2


@settings(max_examples=20)
@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_labels_do_not_see_one_another(m, n_labels, seed):
    rng = np.random.default_rng(seed)
    scores, labels = rng.standard_normal((m, n_labels)), rng.random((m, n_labels)) < 0.3
    together = optimal_thresholds(scores, labels)
    alone = [one_label(scores[:, j], labels[:, j]) for j in range(n_labels)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        ([0.0, 0.4, 0.6, 1.0], [0, 0, 1, 1], 0.5),
        ([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], 0.25),
        ([0.1, 0.2, 0.7], [0, 0, 0], 1.0),  # all negative: half the range above the largest
        ([0.1, 0.2, 0.3], [0, 0, 0], 0.5),
        ([0.2, 0.6, 0.9], [1, 1, 1], -0.15),
        ([0.6, 0.9], [1, 1], 0.5),
        ([0.7, 0.7], [0, 0], 1.2),  # no range
        ([0.0, 0.0], [1, 1], -0.5),
        ([0.3], [1], -0.2),
        ([0.5, 0.5, 0.5], [1, 0, 0], 1.0),  # cannot be told apart: the majority
        ([0.1, 0.4, 0.7, 0.9], [0, 1, 0, 1], 0.25),  # one mistake both ways: nearer to 0.5
        ([0.1, 0.3, 0.45, 0.6, 0.9], [0, 1, 0, 1, 1], 0.525),  # the cut around 0.5
    ],
)
def test_by_hand(scores, labels, expected):
    assert one_label(scores, labels) == pytest.approx(expected)


def test_neighbouring_numbers():
    # They differ by rounding only: no cut goes between.
    low = np.nextafter(0.5, 1.0)
    high = np.nextafter(low, 1.0)
    assert mistakes([low, high], [0, 1], one_label([low, high], [0, 1])) == 1


def test_rounding_does_not_separate():
    scores = np.array([0.3, 0.1 + 0.2, 0.9])
    assert one_label(scores, [0, 1, 1]) == pytest.approx(0.6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    scores = scale * np.array([-1.0, -0.5, 0.5, 1.0])
    labels = np.array([0, 0, 1, 1])
    assert mistakes(scores, labels, one_label(scores, labels)) == 0
