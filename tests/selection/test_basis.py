"""A basis that grows: orthonormal however the vectors lie."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.linalg._passes import cross, cross_and_back
from columnist.selection._basis import GrowingBasis
from columnist.selection._forward_states import Residuals


def test_stays_orthonormal_for_nearly_dependent_vectors():
    rng = np.random.default_rng(0)
    first = rng.standard_normal(20)
    basis = GrowingBasis(20, 6)
    for step in range(6):
        assert basis.append(first + 1e-6 * step * rng.standard_normal(20)) is not None
    np.testing.assert_allclose(basis.Q.T @ basis.Q, np.eye(6), atol=1e-14)


def test_dependent_vectors_are_refused():
    basis = GrowingBasis(3, 3)
    basis.append(np.array([1.0, 1.0, 0.0]))
    assert basis.append(np.array([2.0, 2.0, 0.0])) is None
    assert basis.append(np.zeros(3)) is None
    assert basis.Q.shape == (3, 1)


def test_centred_residuals_have_mean_zero():
    basis = GrowingBasis(5, 1, center=True)
    rest = basis.residual(np.arange(10.0).reshape(5, 2))
    np.testing.assert_allclose(rest.sum(axis=0), 0.0, atol=1e-14)
    assert basis.append(np.full(5, 3.0)) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shrinking_leaves_the_data_alone(dtype):
    X = np.ones((3, 2), dtype=dtype)
    columns = Residuals(X, 1, center=False)
    columns.replace(np.array([1]), np.zeros((3, 1)))
    np.testing.assert_array_equal(cross(columns.data, np.ones(3)), [3.0, 0.0])
    w, back = cross_and_back(columns.data, np.ones(3))
    np.testing.assert_array_equal(w, [3.0, 0.0])
    np.testing.assert_array_equal(back, [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(X, 1.0)
