"""Residuals of least squares whose distance from the true ones is known, against mpmath."""

import mpmath
import numpy as np
import pytest

from columnist.data._verified import verified_residual
from columnist.linalg import _accurate as accurate
from tests.examples import examples

mpmath.mp.dps = 60


def _matrix(A) -> mpmath.matrix:
    return mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in A])


def _moment(columns, targets) -> mpmath.matrix:
    """Inner products of what the columns leave of the targets, in 60 digits."""
    C, T = _matrix(columns), _matrix(targets)
    rest = T - (T * C.T) * mpmath.inverse(C * C.T) * C
    return rest * rest.T


def _problem(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    columns, targets = rng.standard_normal((3, 300)), rng.standard_normal((2, 300))
    columns[2] = columns[0] + apart * columns[2]
    targets[1] = columns.sum(axis=0) + 1e-4 * targets[1]
    return columns, targets


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6])
def test_energies_and_singular_values_are_enclosed(apart):
    for seed in range(examples(5)):
        columns, targets = _problem(seed, apart)
        found, moment = verified_residual(columns, targets), _moment(columns, targets)
        low, high = found.energy()
        assert low <= float(moment[0, 0] + moment[1, 1]) <= high
        assert high - low <= 1e-10 * high
        values = sorted(float(mpmath.sqrt(v)) for v in mpmath.eigsy(moment, eigvals_only=True))
        ends = found.singular_values()
        for least, value, most in zip(ends[0], values[::-1], ends[1], strict=True):
            assert least <= value <= most


def test_what_is_inside_the_span_is_bounded():
    """The lengths of the residuals alone are too large where the coefficients are poor."""
    columns, targets = _problem(0, 1e-6)
    found, moment = verified_residual(columns, targets), _moment(columns, targets)
    for i in range(2):
        square = sum(mpmath.mpf(float(x)) ** 2 for x in found.rest[i])
        assert square - moment[i, i] <= (found.inside[i] + found.off[i]) ** 2 + 1e-15 * square


@pytest.mark.parametrize("apart", [0.0, 1e-12])
def test_near_copies_are_left_to_better_arithmetic(apart):
    assert verified_residual(*_problem(0, apart)) is None


def test_no_columns_and_empty_columns():
    targets = np.ones((1, 4))
    assert verified_residual(np.zeros((0, 4)), targets) is None
    assert verified_residual(np.zeros((1, 4)), targets) is None


@pytest.mark.parametrize("m", [1, 255, 256, 700])
def test_combinations_are_rounded_once(m):
    rng = np.random.default_rng(m)
    columns, coefficients = rng.standard_normal((4, m)), rng.standard_normal((2, 4))
    targets = coefficients @ columns + 1e-14 * rng.standard_normal((2, m))
    exact = _matrix(targets) - _matrix(coefficients) * _matrix(columns)
    found = accurate.combined(columns, targets, coefficients)
    for i in range(2):
        for j in range(m):
            assert abs(found[i, j] - exact[i, j]) <= 2e-16 * abs(exact[i, j]) + 1e-30
