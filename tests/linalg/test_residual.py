"""Residuals after projecting on chosen columns."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg import _accurate as accurate
from columnist.linalg import _rounding as rounding
from columnist.linalg._residual import (
    chosen_basis,
    complete_basis,
    graded_basis,
    singular_values_outside,
    verified_residual,
)
from tests.examples import examples
from tests.oracles import brute_force
from tests.soak.oracle import ColumnTruth
from tests.strategies import matrices

mpmath.mp.dps = 60


@settings(max_examples=150)
@given(matrices(), st.data())
def test_basis_spans_the_columns(X, data):
    chosen = data.draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=7))
    Q = chosen_basis(X.T, chosen)
    assert Q.shape == (X.shape[0], np.linalg.matrix_rank(X[:, chosen]) if chosen else 0)
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
    kept = X[:, chosen]
    np.testing.assert_allclose(Q @ (Q.T @ kept), kept, atol=1e-10 * max(np.abs(X).max(), 1e-30))


@pytest.mark.parametrize(
    "columns",
    [
        [[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0]],  # the dependent one must not hide the third
        [[0.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]],
        [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]],  # more columns than rows
        [[0.0], [-1.0]],
        [[1.0, 0, 0], [1.0, 1.0, 0], [0, 1.0, 0], [0, 0, 1.0]],
    ],
)
def test_a_dependent_column_hides_no_other(columns):
    columns = np.array(columns)
    rank = np.linalg.matrix_rank(columns)
    Q = chosen_basis(columns, range(len(columns)))
    assert Q.shape[1] == rank
    np.testing.assert_allclose(Q @ (Q.T @ columns.T), columns.T, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-140, 1e-10, 1.0, 1e140])
def test_scale_does_not_decide_dependence(scale):
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((3, 6))
    columns[1] = scale * rng.standard_normal(6)
    columns[2] = 3.0 * columns[1] + 1e-14 * scale * rng.standard_normal(6)
    assert chosen_basis(columns, [0, 1]).shape[1] == 2
    assert chosen_basis(columns, [1, 2]).shape[1] == 1


@settings(max_examples=150)
@given(matrices(), st.booleans(), st.data())
def test_equal_to_the_oracle(X, with_target, data):
    chosen = data.draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=4, unique=True))
    Y = X[:, :1] + np.arange(X.shape[0])[:, None] if with_target else None
    found = singular_values_outside(chosen_basis(X.T, chosen), X if Y is None else Y)
    expected = brute_force.residual_singular_values(X, chosen, Y)
    assert (found >= 0).all() and (np.diff(found) <= 0).all()
    width = max(len(found), len(expected))
    np.testing.assert_allclose(
        np.pad(found, (0, width - len(found))),
        np.pad(expected, (0, width - len(expected))),
        rtol=1e-10,
        atol=1e-12 * np.abs(X if Y is None else Y).max(),
    )


def test_a_vanished_residual_is_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3)) @ rng.standard_normal((3, 6))
    values = singular_values_outside(chosen_basis(X.T, [0, 1, 2]), X)
    assert (values == 0.0).all()
    one_left = singular_values_outside(chosen_basis(X.T, [0, 1]), X)
    assert one_left[0] > 0.0 and (one_left[1:] == 0.0).all()


def test_nothing_chosen():
    X = np.random.default_rng(0).standard_normal((5, 4))
    assert chosen_basis(X.T, []).shape == (5, 0)
    np.testing.assert_allclose(
        singular_values_outside(chosen_basis(X.T, []), X), np.linalg.svd(X, compute_uv=False)
    )


@pytest.mark.parametrize("ordered", [False, True])
def test_no_direction_is_borrowed_from_the_rounding_of_a_near_copy(ordered):
    """The third column lies in the plane of the first two, which nearly are one."""
    for seed in range(examples(20)):
        rng = np.random.default_rng(seed)
        columns = np.zeros((3, 4))
        columns[:, 2:] = rng.standard_normal((3, 2))
        columns[1] = columns[0] * (1.0 + 10.0 ** rng.uniform(-9.0, -6.0) * rng.standard_normal(4))
        columns = columns @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
        lengths = np.linalg.norm(columns, axis=1)
        basis = graded_basis(columns, [0, 1, 2], lengths, ordered=ordered)
        assert basis.Q.shape[1] == 2
        assert ordered or (basis.growth < 1e6 and not basis.doubtful)


def test_columns_without_coordinates_have_no_basis(capfd):
    assert chosen_basis(np.zeros((3, 0)), [1]).shape == (0, 0)
    assert capfd.readouterr() == ("", "")  # LAPACK has nothing to complain about


# -- bases that know what rounding did to them ------------------------------------------


@pytest.mark.parametrize("apart", [1e-3, 1e-7, 1e-11])
def test_growth_covers_the_rounding_of_a_basis(apart):
    """What a target loses along the basis, in double precision and exactly."""
    for seed in range(examples(12)):
        rng = np.random.default_rng(seed)
        columns, target = rng.standard_normal((4, 7)), rng.standard_normal((7, 1))
        columns[2] = columns[0] + apart * columns[2]
        basis = graded_basis(columns, [0, 1, 2], np.linalg.norm(columns, axis=1))
        assert basis.Q.shape == (7, 3) and not basis.doubtful
        assert 0.1 / apart < basis.growth < 1e3 / apart
        low, high = ColumnTruth(columns.T, target, 3, criterion="spectral").of([0, 1, 2])
        found = singular_values_outside(basis.Q, target)[0]
        doubt = basis.growth * rounding.allowance(7, float(np.linalg.norm(target)))
        assert low - doubt <= found <= high + doubt


def test_copies_are_left_out_without_doubt():
    columns = np.random.default_rng(0).standard_normal((4, 7))
    columns[2] = -3.0 * columns[0]
    basis = graded_basis(columns, [0, 1, 2, 3], np.linalg.norm(columns, axis=1))
    assert basis.Q.shape == (7, 3) and not basis.doubtful
    assert basis.growth < 100.0


def test_heights_among_the_rounding_of_earlier_columns_are_doubtful():
    """A copy of a near copy: its height is real, or it is the rounding of the first one's."""
    rng = np.random.default_rng(1)
    columns = rng.standard_normal((4, 7))
    columns[1] = columns[0] + 1e-9 * columns[1]
    columns[2] = 0.5 * (columns[0] + columns[1]) + 1e-12 * columns[2]
    basis = graded_basis(columns, [0, 1, 2], np.linalg.norm(columns, axis=1))
    assert basis.doubtful and basis.Q.shape == (7, 2)


def test_gram_matrices_lose_digits_twice():
    columns = np.random.default_rng(2).standard_normal((3, 7))
    columns[2] = columns[0] + 1e-4 * columns[2]
    lengths = np.linalg.norm(columns, axis=1)
    once, twice = (graded_basis(columns, [0, 2], lengths, power) for power in (1, 2))
    assert twice.growth == pytest.approx(once.growth**2)
    columns[2] = columns[0] + 1e-8 * columns[1]
    assert graded_basis(columns, [0, 2], lengths, 1).Q.shape == (7, 2)
    assert graded_basis(columns, [0, 2], lengths, 2).Q.shape == (7, 1)


def test_a_basis_of_nothing():
    basis = graded_basis(np.eye(3), [], np.ones(3))
    assert basis.Q.shape == (3, 0) and basis.growth == 1.0 and not basis.doubtful
    zero = graded_basis(np.zeros((2, 3)), [0, 1], np.zeros(2))
    assert zero.Q.shape == (3, 0) and zero.growth == 1.0 and not zero.doubtful


@pytest.mark.parametrize("count", [0, 1, 3, 5, 7])
def test_a_basis_of_everything_begins_with_the_vectors(count):
    vectors = np.random.default_rng(count).standard_normal((5, count))
    Q, heights = complete_basis(vectors)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-14)
    R = Q.T @ vectors
    np.testing.assert_allclose(np.tril(R, -1), 0.0, atol=1e-14)
    np.testing.assert_allclose(heights, np.abs(np.diag(R)), atol=1e-14)


# --- residuals whose distance from the true ones is known, against mpmath --------------------


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
