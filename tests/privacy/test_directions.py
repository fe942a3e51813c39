"""Directions: what the two algorithms find is the same as by plain eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from columnist.privacy._directions import against_confidential, without_confidential

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_outputs=st.integers(1, 5), n_features=st.integers(1, 6))
def test_rebuilt_rows_have_the_same_outputs(seed, n_outputs, n_features):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (n_outputs, n_features)).astype(float)
    C = rng.integers(-2, 3, (2, n_features)).astype(float)
    for found in (without_confidential(A), against_confidential(A, C)):
        assert found.rank == np.linalg.matrix_rank(A)
        assert found.basis.shape == found.rebuild.shape == (n_features, found.rank)
        np.testing.assert_allclose(A @ found.rebuild @ found.basis.T, A, atol=1e-12)


@given(seed=seeds)
def test_coordinates_measure_the_change_of_outputs_and_of_secrets(seed):
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal((3, 6)), rng.standard_normal((5, 6))
    found = against_confidential(A, C)
    a = rng.standard_normal((4, 3))
    tau = found.coordinates(a)
    kept = rng.random(tau.shape)
    change = found.keep(a.copy(), tau.copy(), 1.0 - kept) @ found.rebuild.T  # what is removed
    outputs = np.sum((change @ A.T) ** 2, axis=1)
    np.testing.assert_allclose(outputs, found.scale**2 * np.sum(((1 - kept) * tau) ** 2, axis=1))
    secrets = change @ C.T  # orthogonal over directions: squares add up
    parts = [
        found.keep(a.copy(), tau.copy(), np.eye(3)[j] * (1 - kept)) @ found.rebuild.T @ C.T
        for j in range(3)
    ]
    total = sum(np.sum(part**2, axis=1) for part in parts)
    np.testing.assert_allclose(np.sum(secrets**2, axis=1), total, rtol=1e-8)


def test_directions_are_the_generalized_eigenvectors():
    rng = np.random.default_rng(0)
    A, C = rng.standard_normal((3, 5)), rng.standard_normal((6, 5))
    found = against_confidential(A, C)
    ratios = scipy.linalg.eigh(A.T @ A, C.T @ C, eigvals_only=True)[-3:]
    columns = found.rebuild @ found.keep(np.eye(3), found.coordinates(np.eye(3)), np.ones((3, 3))).T
    V = found.rebuild @ np.linalg.inv(found.mix).T  # directions of the coordinates
    seen = np.sum((A @ V) ** 2, axis=0) / np.sum((C @ V) ** 2, axis=0)
    np.testing.assert_allclose(seen, ratios, rtol=1e-9)
    np.testing.assert_allclose(columns, found.rebuild, atol=1e-12)


def test_no_gain_no_spending():
    # One confidential output outside the reach of the predictor: it goes at no cost.
    free = against_confidential(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert free.n_spendable == 0
    # The confidential output is the predictor's own: only the tolerance can hide it.
    same = against_confidential(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]))
    assert same.n_spendable == 1


def test_weakest_direction_first_and_ties_grouped():
    found = without_confidential(np.diag([3.0, 1.0, 1.0, 2.0]))
    np.testing.assert_allclose(found.strengths * found.scale, [1.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found.starts, [0, 2, 3])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_scale_of_coefficients_does_not_matter(scale):
    rng = np.random.default_rng(2)
    A, C = rng.standard_normal((2, 5)), rng.standard_normal((4, 5))
    plain = against_confidential(A, C)
    for found in (against_confidential(scale * A, C), against_confidential(A, scale * C)):
        np.testing.assert_allclose(found.rebuild @ found.basis.T, plain.rebuild @ plain.basis.T)
        assert found.n_spendable == plain.n_spendable
    assert against_confidential(scale * A, C).scale == pytest.approx(scale * plain.scale)


def test_a_predictor_of_nothing():
    for found in (
        without_confidential(np.zeros((2, 3))),
        against_confidential(np.zeros((2, 3)), np.ones((1, 3))),
        against_confidential(np.ones((1, 3)), np.zeros((1, 3))),
    ):
        assert found.rebuild.shape == (3, found.rank)
    assert without_confidential(np.zeros((2, 3))).rank == 0
