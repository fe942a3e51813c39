"""Sums over groups of rows, merged from parts, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose

from columnist.spectral._scatter import block_sums, class_sums, merged_groups
from tests.spectral.data import SEEDS


def exact(x, codes, weights):
    """Between, within and centre of one column."""
    rows = [(Fraction(v), int(c), Fraction(w)) for v, c, w in zip(x, codes, weights, strict=True)]
    total = sum(w for _, _, w in rows)
    center = sum(v * w for v, _, w in rows) / total
    between = within = Fraction(0)
    for group in set(codes.tolist()):
        part = [(v, w) for v, c, w in rows if c == group and w]
        if part:
            size = sum(w for _, w in part)
            mean = sum(v * w for v, w in part) / size
            between += size * (mean - center) ** 2
            within += sum(w * (v - mean) ** 2 for v, w in part)
    return float(between), float(within), float(center)


@given(SEEDS, st.lists(st.integers(0, 12), max_size=4), st.sampled_from([0.0, 1.0, 1e9]))
def test_classes(seed, cuts, offset):
    rng = np.random.default_rng(seed)
    X, codes = rng.standard_normal((12, 3)) + offset, rng.integers(0, 3, 12)
    X[:, 2] *= rng.random(12) < 0.5
    edges = [0, *sorted(cuts), 12]
    for form in (np.asarray, sp.csr_array):
        parts = [class_sums(form(X[a:b]), codes[a:b], 3) for a, b in pairwise(edges)]
        sums = merged_groups([merged_groups(parts[:2]), *parts[2:]])
        for j in range(3):
            between, within, center = exact(X[:, j], codes, np.ones(12))
            assert_allclose(sums.between()[j], between, rtol=1e-11, atol=doubt(X[:, j], between))
            assert_allclose(sums.within[j], within, rtol=1e-11, atol=doubt(X[:, j], within))
            assert_allclose(sums.center()[j], center, rtol=1e-14, atol=1e-14)


def doubt(x, squares):
    """What rounding can do to sums of squares around means.

    Means are relative to one of the values, so that they are rounded at the size of the
    differences, not of the values. In groups a billion apart that shows.
    """
    mean = 8.0 * np.finfo(float).eps * np.ptp(x)
    return 2.0 * mean * np.sqrt(len(x) * squares) + len(x) * mean**2 + 1e-13


@given(SEEDS, st.integers(0, 10))
def test_weights(seed, cut):
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((10, 2)), rng.random(10) * (rng.random(10) < 0.8)
    weights[0] = 1.0
    parts = [block_sums(X[:cut], weights[:cut]), block_sums(X[cut:], weights[cut:])]
    sums = merged_groups(parts)
    for j in range(2):
        _, within, center = exact(X[:, j], np.zeros(10, dtype=int), weights)
        assert_allclose(sums.within[j], within, rtol=1e-12, atol=1e-15)
        assert_allclose(sums.center()[j], center, rtol=1e-12, atol=1e-15)
    assert_allclose(sums.lengths, weights @ X**2, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_units(scale):
    """Blocks of very different sizes are summed in the unit of the largest."""
    X = np.arange(12.0).reshape(6, 2) ** 2
    codes = np.array([0, 1, 0, 1, 0, 1])
    plain = merged_groups([class_sums(X[:3], codes[:3], 2), class_sums(X[3:], codes[3:], 2)])
    sums = merged_groups(
        [class_sums(scale * X[:3], codes[:3], 2), class_sums(scale * X[3:], codes[3:], 2)]
    )
    assert_allclose(sums.between() / sums.within, plain.between() / plain.within, rtol=1e-12)
    assert_allclose(sums.center(), scale * plain.center(), rtol=1e-12)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="3 rows, but its part of y has 2"):
        class_sums(np.ones((3, 1)), np.array([0, 1]), 2)
