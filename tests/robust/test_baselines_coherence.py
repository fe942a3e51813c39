"""Coherence: against the explicit matrix of cosines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.robust import _baselines
from columnist.robust._baselines import CoherencePursuit
from tests.robust.samples import contaminated, largest_angle
from tests.strategies import matrices


def coherences(X, norm):
    """The definition."""
    lengths = np.linalg.norm(X, axis=1)
    U = X / np.where(lengths > 0, lengths, 1.0)[:, None]
    G = np.abs(U @ U.T)
    np.fill_diagonal(G, 0.0)
    return (G**2 if norm == "l2" else G).sum(axis=1)


@pytest.mark.filterwarnings("ignore:CoherencePursuit")
@pytest.mark.parametrize("norm", ["l2", "l1"])
@given(X=matrices(min_rows=2))
def test_by_definition(norm, X):
    found = CoherencePursuit(1, n_outliers=1, norm=norm, centering="none").fit(X)
    np.testing.assert_allclose(-found.outlyingness_, coherences(X, norm), atol=1e-12)


@pytest.mark.parametrize(("norm", "p"), [("l1", 4), ("l2", 40)])
def test_blocks(norm, p, monkeypatch):
    X = np.random.default_rng(0).standard_normal((25, p))
    monkeypatch.setattr(_baselines, "_BLOCK", 60)
    found = CoherencePursuit(1, n_outliers=1, norm=norm, centering="none").fit(X)
    np.testing.assert_allclose(-found.outlyingness_, coherences(X, norm))


@pytest.mark.parametrize("location", ["mean", "median"])
def test_centre(location):
    X = np.random.default_rng(0).standard_normal((30, 5)) + 9.0
    found = CoherencePursuit(2, n_outliers=3, location=location).fit(X)
    centre = X.mean(axis=0) if location == "mean" else np.median(X, axis=0)
    np.testing.assert_allclose(-found.outlyingness_, coherences(X - centre, "l2"))
    np.testing.assert_allclose(found.mean_, np.delete(X, found.outliers_, axis=0).mean(axis=0))


def test_the_mean_of_all_rows():
    X = np.random.default_rng(0).standard_normal((30, 5)) + 9.0
    found = CoherencePursuit(2, n_outliers=3, centering="mean").fit(X)
    np.testing.assert_allclose(-found.outlyingness_, coherences(X - X.mean(axis=0), "l2"))
    np.testing.assert_allclose(found.mean_, X.mean(axis=0))


@given(st.integers(0, 2**32 - 1))
def test_rotation_and_permutation(seed):
    rng = np.random.default_rng(seed)
    X, _ = contaminated(40, 6, 2, 5, rng)
    plain = CoherencePursuit(2, n_outliers=5, centering="mean").fit(X)
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    order = rng.permutation(40)
    moved = CoherencePursuit(2, n_outliers=5, centering="mean").fit((X @ turn + 3.0)[order])
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    assert moved.error_ == pytest.approx(plain.error_)
    assert largest_angle(moved.components_ @ turn.T, plain.components_) < 1e-4


def test_few_inliers_among_many_outliers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 100))
    X[:100] = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 100))
    found = CoherencePursuit(5, n_outliers=2000, centering="none").fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(100, 2100))


def test_misspelt_norm():
    with pytest.raises(ValueError, match="norm must be one of 'l2', 'l1'"):
        CoherencePursuit(1, n_outliers=1, norm="L2").fit(np.eye(4))
