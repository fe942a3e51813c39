"""Double-double arithmetic against mpmath."""

import mpmath
import numpy as np
import pytest

from columnist.linalg import _accurate as accurate

mpmath.mp.dps = 60


def _pair(A):
    return np.ascontiguousarray(A, dtype=np.float64), np.zeros(np.shape(A))


def _matrix(A) -> mpmath.matrix:
    return mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in A])


def _sum(pair) -> mpmath.matrix:
    return _matrix(pair[0]) + _matrix(pair[1])


def _projected(columns, target) -> mpmath.matrix:
    """Target rows outside the span of the column rows, by normal equations in 60 digits."""
    C, T = _matrix(columns), _matrix(target)
    return T - (T * C.T) * mpmath.inverse(C * C.T) * C


def _singular(M: mpmath.matrix) -> np.ndarray:
    M = M if M.rows <= M.cols else M.T
    values = mpmath.eigsy(M * M.T, eigvals_only=True)
    return np.array(sorted((float(mpmath.sqrt(abs(v))) for v in values), reverse=True))


@pytest.mark.parametrize("apart", [1.0, 1e-5, 1e-8, 1e-12])
def test_residuals_of_near_copies(apart):
    rng = np.random.default_rng(0)
    columns, target = rng.standard_normal((3, 7)), rng.standard_normal((4, 7))
    columns[2] = columns[0] + apart * rng.standard_normal(7)
    rest, heights = accurate.residual(_pair(columns), _pair(target))
    wrong = _sum(rest) - _projected(columns, target)
    assert max(abs(x) for x in wrong) < 1e-28 / apart
    assert heights[2] < 3 * apart


def test_a_copy_adds_nothing():
    rng = np.random.default_rng(1)
    columns, target = rng.standard_normal((2, 6)), rng.standard_normal((2, 6))
    double = np.vstack([columns[0], 2.0 * columns[0], columns[1]])
    (hi, lo), heights = accurate.residual(_pair(double), _pair(target))
    once, _ = accurate.residual(_pair(columns), _pair(target))
    assert heights[2] < 1e-30
    np.testing.assert_allclose(hi, once[0], rtol=0, atol=1e-30 + np.abs(lo).max())


@pytest.mark.parametrize("shape", [(4, 4), (3, 8), (8, 3), (1, 5), (5, 1)])
@pytest.mark.parametrize("ratio", [1.0, 1e6, 1e12])
def test_singular_values_beside_a_dominating_one(shape, ratio):
    A = np.random.default_rng(2).standard_normal(shape)
    A[:, 0] *= ratio
    np.testing.assert_allclose(
        accurate.singular_values(_pair(A)), _singular(_matrix(A)), rtol=1e-15
    )


def test_singular_values_of_nothing():
    assert accurate.singular_values(_pair(np.zeros((0, 3)))).shape == (0,)
    np.testing.assert_array_equal(accurate.singular_values(_pair(np.zeros((2, 3)))), np.zeros(2))


def test_means_far_away():
    X = 1e9 + np.random.default_rng(3).standard_normal((2, 11))
    M = _matrix(X)
    hi, lo = accurate.centered(_pair(X))
    for i in range(2):
        mean = sum(M[i, :]) / 11
        for j in range(11):
            assert abs(mpmath.mpf(hi[i, j]) + mpmath.mpf(lo[i, j]) - (M[i, j] - mean)) < 1e-21
    expected = [float(sum((M[i, j] - sum(M[i, :]) / 11) ** 2 for j in range(11))) for i in range(2)]
    np.testing.assert_allclose(accurate.squares((hi, lo)), expected, rtol=1e-15)


def test_vectors_of_a_gram_matrix():
    A = np.random.default_rng(4).standard_normal((5, 4))  # five vectors in four dimensions
    A[1] = A[0] + 1e-4 * A[1]
    G = A @ A.T
    hi, lo = accurate.cholesky(G)
    F = _sum((hi, lo))
    # What the rank leaves out is the rounding of G.
    assert max(abs(x) for x in F * F.T - _matrix(G)) < 1e-14
    B = A[:4]
    F = _sum(accurate.cholesky(B @ B.T))
    assert max(abs(x) for x in F * F.T - _matrix(B @ B.T)) < 1e-26
