"""Trimmed PCA: a fixed point, never worse than trimming once, never better than the best."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.robust._baselines import TrimmedPCA
from columnist.robust._subspace import fit_subspace
from tests.robust.samples import contaminated, largest_angle

CENTERINGS = ("optimal", "mean", "none")


def centre(X, centering):
    return {"optimal": None, "mean": X.mean(axis=0), "none": np.zeros(X.shape[1])}[centering]


def error_without(X, outliers, r, mean):
    """The definition, by singular values."""
    kept = np.delete(X, outliers, axis=0)
    Z = kept - (kept.mean(axis=0) if mean is None else mean)
    return float(np.sum(np.linalg.svd(Z, compute_uv=False)[r:] ** 2))


@pytest.mark.parametrize("centering", CENTERINGS)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 3), k=st.integers(0, 3))
def test_local_optimum(centering, seed, r, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 4)) * [3, 2, 1, 1] + 1.0
    found = TrimmedPCA(r, n_outliers=k, centering=centering).fit(X)
    mean = centre(X, centering)
    assert len(found.outliers_) == k
    assert found.error_ == pytest.approx(error_without(X, found.outliers_, r, mean), rel=1e-8)
    distances = found.orthogonal_distances(X)
    kept = np.delete(distances, found.outliers_)
    assert k == 0 or kept.max() <= distances[found.outliers_].min() + 1e-9
    once = fit_subspace(X, r, mean).orthogonal_distances(X)
    assert found.error_ <= error_without(X, np.argsort(-once)[:k], r, mean) * (1 + 1e-9) + 1e-12
    best = min(error_without(X, list(c), r, mean) for c in combinations(range(9), k))
    assert found.error_ >= best * (1 - 1e-9) - 1e-12


@given(st.integers(0, 2**32 - 1))
def test_motions_and_permutations(seed):
    rng = np.random.default_rng(seed)
    X, _ = contaminated(40, 5, 2, 4, rng)
    plain = TrimmedPCA(2, n_outliers=4).fit(X)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    order = rng.permutation(40)
    moved = TrimmedPCA(2, n_outliers=4).fit((X @ turn + 7.0)[order])
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    assert moved.error_ == pytest.approx(plain.error_)
    np.testing.assert_allclose(moved.mean_, plain.mean_ @ turn + 7.0, atol=1e-9)
    assert largest_angle(moved.components_ @ turn.T, plain.components_) < 1e-4
    np.testing.assert_allclose(
        moved.decision_function(X @ turn + 7.0), plain.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("centering", CENTERINGS)
def test_mean(centering):
    X = np.random.default_rng(0).standard_normal((30, 4)) + 2.0
    found = TrimmedPCA(1, n_outliers=3, centering=centering).fit(X)
    kept = np.delete(X, found.outliers_, axis=0)
    expected = kept.mean(axis=0) if centering == "optimal" else centre(X, centering)
    np.testing.assert_allclose(found.mean_, expected)


def test_misspelt_centering():
    with pytest.raises(ValueError, match="centering must be one of 'optimal', 'mean', 'none'"):
        TrimmedPCA(1, n_outliers=1, centering="median").fit(np.eye(4))
