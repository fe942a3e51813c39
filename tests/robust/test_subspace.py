"""Affine subspaces: against scikit-learn's PCA and the definition of the distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from columnist.linalg._moments import moments_of
from columnist.robust._subspace import (
    fit_subspace,
    fix_signs,
    principal_axes,
    subspace_of_moments,
)
from tests.strategies import matrices


@pytest.mark.parametrize("shape", [(30, 5), (5, 5), (6, 40)])
def test_agrees_with_scikit_learn(shape):
    X = np.random.default_rng(0).standard_normal(shape) + 3.0
    ours, theirs = fit_subspace(X, 3), PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.mean, theirs.mean_)
    np.testing.assert_allclose(ours.components, fix_signs(theirs.components_), atol=1e-10)
    np.testing.assert_allclose(ours.variances, theirs.explained_variance_)


def test_by_hand():
    X = np.array([[0.0, 1.0], [3.0, 5.0]])
    for found in (fit_subspace(X, 1), subspace_of_moments(moments_of(X), 1)):
        np.testing.assert_allclose(found.mean, [1.5, 3.0])
        np.testing.assert_allclose(found.components, [[0.6, 0.8]])
        np.testing.assert_allclose(found.variances, [12.5])


def test_given_mean_is_kept():
    X = np.random.default_rng(0).standard_normal((20, 4)) + 5.0
    found = fit_subspace(X, 2, np.zeros(4))
    assert not found.free_mean
    np.testing.assert_array_equal(found.mean, 0.0)
    _, sigma, axes = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(found.components, fix_signs(axes[:2]), atol=1e-10)
    np.testing.assert_allclose(found.variances, sigma[:2] ** 2 / 20)


@given(matrices(min_rows=2), st.integers(1, 7), st.integers(0, 99))
def test_distances_by_definition(X, r, seed):
    found = fit_subspace(X, min(r, *X.shape))
    new = np.random.default_rng(seed).standard_normal((3, X.shape[1]))
    Z = new - found.mean
    T = Z @ found.components.T
    np.testing.assert_allclose(
        found.orthogonal_distances(new) ** 2,
        np.maximum((Z**2).sum(1) - (T**2).sum(1), 0.0),
        atol=1e-9 * max(1.0, (Z**2).sum()),
    )
    along = found.variances > 1e-12
    least = np.sqrt((T[:, along] ** 2 / found.variances[along]).sum(1))
    assert np.all(found.score_distances(new) >= least * (1 - 1e-9) - 1e-9)
    if along.all():
        np.testing.assert_allclose(found.score_distances(new), least, rtol=1e-9, atol=1e-9)


@given(matrices(min_rows=3, max_columns=5))
def test_rows_of_an_exact_fit_are_at_distance_zero(X):
    found = fit_subspace(X + 100.0, min(X.shape))
    assert np.all(found.orthogonal_distances(X + 100.0) == 0.0)


def test_leaving_along_an_axis_without_variance_is_far():
    X = np.outer(np.arange(9.0), [1.0, 0.0, 0.0])
    found = fit_subspace(X, 2)
    assert found.score_distances(X).max() < 3.0
    assert found.score_distances(X[:1] + 1e-3 * found.components[1])[0] > 1e6


def test_principal_axes_keep_the_span():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) * [3, 2, 1, 1]
    axes = np.linalg.qr(rng.standard_normal((4, 2)))[0].T
    found = principal_axes(X, axes, X.mean(axis=0))
    np.testing.assert_allclose(found.components.T @ found.components, axes.T @ axes, atol=1e-12)
    np.testing.assert_allclose(np.cov(found.scores(X).T), np.diag(found.variances), atol=1e-12)


def test_signs():
    np.testing.assert_array_equal(
        fix_signs(np.array([[0.6, -0.8], [-0.6, 0.0]])), [[-0.6, 0.8], [0.6, 0.0]]
    )
