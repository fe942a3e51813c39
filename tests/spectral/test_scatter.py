"""Sums of squares against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral._scatter import class_scatter, column_scatter
from tests.strategies import matrices

FORMS = [np.asarray, np.asfortranarray, sp.csc_array, sp.csc_matrix]


def exact_classes(X, codes) -> tuple[list[float], list[float]]:
    """Sums of squares between and within classes, in fractions."""
    between, within = [], []
    for column in X.T:
        values = [Fraction(float(v)) for v in column]
        mean = sum(values) / len(values)
        parts = [[v for v, c in zip(values, codes, strict=True) if c == k] for k in set(codes)]
        centres = [sum(part) / len(part) for part in parts]
        between.append(
            sum(len(part) * (m - mean) ** 2 for part, m in zip(parts, centres, strict=True))
        )
        within.append(
            sum((v - m) ** 2 for part, m in zip(parts, centres, strict=True) for v in part)
        )
    return [float(b) for b in between], [float(w) for w in within]


def exact_columns(X, weights) -> list[float]:
    result, weights = [], [Fraction(float(w)) for w in weights]
    for column in X.T:
        values = [Fraction(float(v)) for v in column]
        mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
        squares = (w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True))
        result.append(float(sum(squares)))
    return result


@given(matrices(min_rows=3), st.sampled_from(FORMS), st.sampled_from([0.0, 3.0, 1e8]), st.data())
def test_scatter_is_exact(X, form, far, data):
    n = X.shape[0]
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    codes = np.unique(codes, return_inverse=True)[1]
    X = X + far
    scatter = class_scatter(form(X), codes)
    between, within = exact_classes(X, codes)
    slack = 1e-13 * n  # as close as if the data were not far from zero
    np.testing.assert_allclose(scatter.between, between, rtol=1e-9, atol=slack)
    np.testing.assert_allclose(scatter.within, within, rtol=1e-9, atol=slack)
    np.testing.assert_allclose(scatter.total, exact_columns(X, np.ones(n)), rtol=1e-9, atol=slack)


@given(
    matrices(min_rows=2), st.sampled_from(FORMS), st.sampled_from([0.0, 1e8]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_weighted_scatter_is_exact(X, form, far, seed):
    n = X.shape[0]
    X, weights = X + far, np.random.default_rng(seed).random(n) + 0.01
    for scatter, w in (
        (column_scatter(form(X), weights), weights),
        (column_scatter(form(X)), [1] * n),
    ):
        np.testing.assert_allclose(scatter, exact_columns(X, w), rtol=1e-9, atol=1e-13 * n)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [0.1, 1.0 / 3.0, 1e8 / 7.0, -1e-8 / 3.0])
def test_rounding_is_no_variation(form, value):
    n = 30_001
    codes = np.arange(n) % 3
    X = np.column_stack([np.full(n, value), np.where(codes == 1, value, 2.0 * value)])
    scatter = class_scatter(form(X), codes)
    assert scatter.between[0] == scatter.within[0] == 0.0
    assert scatter.within[1] == 0.0
    assert scatter.between[1] > 0.0
    assert column_scatter(form(X))[0] == 0.0
    assert column_scatter(form(X), np.linspace(0.1, 7.0, n))[0] == 0.0


def test_many_blocks(monkeypatch):
    X = sp.random_array((30, 200), density=0.2, format="csc", rng=np.random.default_rng(0))
    codes = np.arange(30) % 4
    whole = class_scatter(X, codes)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 500)
    monkeypatch.setattr("columnist.spectral._scatter._CACHED", 1000)
    monkeypatch.setattr("columnist.spectral._scatter._LEAST_ROWS", 2)
    for form in (X, X.toarray()):
        parts = class_scatter(form, codes)
        np.testing.assert_allclose(parts.between, whole.between, rtol=1e-12)
        np.testing.assert_allclose(parts.within, whole.within, rtol=1e-12)
        np.testing.assert_allclose(column_scatter(form), whole.total, rtol=1e-12)
