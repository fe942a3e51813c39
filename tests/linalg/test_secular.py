"""Eigenvalues of a diagonal matrix downdated by one vector."""

from __future__ import annotations

import doctest

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.linalg import _secular as secular
from columnist.linalg._secular import downdated_eigenvalues
from tests.oracles import secular as oracle

EPS = np.finfo(float).eps


def solve(d, z, **kwargs):
    """Eigenvalues for a single vector."""
    return downdated_eigenvalues(d, np.asarray(z, dtype=float)[None, :], **kwargs)[0]


def descending(values):
    return np.sort(np.asarray(values, dtype=float))[::-1].copy()


def size(d, z):
    """The scale of rounding errors: largest entry of ``d`` plus ``|z|**2``."""
    return np.abs(d).max() + np.dot(z, z)


def assert_interlaced(d, values):
    assert not np.isnan(values).any()
    assert (values <= d).all()
    assert (values[:-1] >= d[1:]).all()


# --- properties -------------------------------------------------------------------------

# Few distinct values make ties and zeros common; the others are in general position.
entries = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0 + EPS, 1.0 - EPS, 2.0, 1e-8, -1.0]),
    st.floats(-10.0, 10.0),
)


@st.composite
def problems(draw):
    n = draw(st.integers(1, 12))
    d = descending(draw(st.lists(entries, min_size=n, max_size=n)))
    return d, np.array(draw(st.lists(entries, min_size=n, max_size=n)))


@given(problems())
def test_interlacing_is_exact(problem):
    d, z = problem
    assert_interlaced(d, solve(d, z))


@given(problems())
def test_trace(problem):
    d, z = problem
    assert abs(solve(d, z).sum() - (d.sum() - z @ z)) <= 4 * len(d) * EPS * size(d, z)


@given(problems())
def test_equal_to_a_dense_solver(problem):
    d, z = problem
    dense = np.linalg.eigvalsh(np.diag(d) - np.outer(z, z))[::-1]
    np.testing.assert_allclose(solve(d, z), dense, rtol=0, atol=10 * EPS * size(d, z))


@given(problems(), st.randoms(use_true_random=False))
def test_order_within_equal_entries_and_signs_do_not_matter(problem, random):
    d, z = problem
    mixed = np.array([random.choice([-1.0, 1.0]) for _ in z]) * z
    for value in np.unique(d):
        members = np.flatnonzero(d == value)
        mixed[members] = mixed[random.sample(list(members), len(members))]
    np.testing.assert_allclose(solve(d, mixed), solve(d, z), rtol=0, atol=4 * EPS * size(d, z))


@given(problems(), st.data())
def test_a_range_is_a_slice_of_everything(problem, data):
    d, z = problem
    first = data.draw(st.integers(0, len(d)))
    last = data.draw(st.integers(first, len(d)))
    np.testing.assert_array_equal(solve(d, z, first=first, last=last), solve(d, z)[first:last])


@given(st.integers(1, 8), st.data())
def test_any_finite_input_gives_numbers(n, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    d = descending(data.draw(st.lists(finite, min_size=n, max_size=n)))
    z = data.draw(st.lists(finite, min_size=n, max_size=n))
    values = solve(d, z)
    assert_interlaced(d, values)
    # Only the last can overflow: nothing bounds it from below.
    assert np.isfinite(values[:-1]).all()


# --- larger matrices ----------------------------------------------------------------------


def residual_moment(n, rng, decay=0.9):
    """A positive semidefinite problem as the search meets it, with the matrix singular."""
    d = descending(decay ** np.arange(n) * rng.uniform(0.5, 1.0, n))
    z = rng.standard_normal(n) * np.sqrt(d)
    return d, z / np.sqrt(np.sum(z * z / d))


@pytest.mark.parametrize("n", [7, 8, 9, 16, 17, 90, 300])
def test_large_against_a_dense_solver(n):
    d, z = residual_moment(n, np.random.default_rng(n))
    dense = np.linalg.eigvalsh(np.diag(d) - np.outer(z, z))[::-1]
    np.testing.assert_allclose(solve(d, z), dense, rtol=0, atol=20 * EPS * size(d, z))


def test_rows_do_not_depend_on_one_another():
    rng = np.random.default_rng(0)
    d = residual_moment(40, rng)[0]
    Z = rng.standard_normal((101, 40)) * np.sqrt(d) / 7
    together = downdated_eigenvalues(d, Z, last=6)
    np.testing.assert_array_equal(together[17], solve(d, Z[17], last=6))


def test_narrow_and_wide_loops_agree_to_the_last_bit():
    d, z = residual_moment(83, np.random.default_rng(1))
    wide = solve(d, z)
    secular._use_wide_kernel(False)
    try:
        np.testing.assert_array_equal(solve(d, z), wide)
    finally:
        secular._use_wide_kernel(True)


# --- hard cases against many digits -------------------------------------------------------


def powers(low, high, n):
    return 10.0 ** np.linspace(high, low, n)


def psd_weights(d, fraction):
    """``z`` with ``sum z**2 / d == fraction``: below 1 the result is positive definite."""
    return np.sqrt(fraction * np.asarray(d) / len(d))


CLUSTER = 1.0 + EPS * np.array([9.0, 8.0, 7.0, 4.0, 2.0, 1.0, 0.0])
MIXED = descending(np.concatenate([1e-8 * CLUSTER[:4], CLUSTER[:4], 1e-150 * CLUSTER[:2]]))

# name: (d, z, relative). Where `relative`, each eigenvalue is well conditioned with respect to
# relative changes of z**2 and must be accurate in its own last digits.
HARD = {
    "graded": (powers(-300, 0, 7), psd_weights(powers(-300, 0, 7), 0.5), True),
    "graded, equal z": (powers(-300, 0, 7), np.ones(7), True),
    "graded, z against it": (powers(-250, 0, 6), np.sqrt(powers(-250, 0, 6))[::-1], True),
    "cluster": (CLUSTER, np.full(7, 0.1), True),
    "cluster, tiny z": (CLUSTER, np.full(7, 1e-9), True),
    "cluster, huge z": (CLUSTER, np.full(7, 1e9), True),
    "clusters at three scales": (MIXED, psd_weights(MIXED, 0.3), True),
    "wide z": (np.arange(7.0, 0.0, -1.0), powers(-140, 1, 7), True),
    "wide z, ascending": (np.arange(7.0, 0.0, -1.0), powers(-140, 1, 7)[::-1], True),
    "repeated": (np.array([3.0, 3, 3, 1, 1, 0.5]), np.array([0.3, 0.2, 0.1, 0.5, 0, 0.2]), True),
    "all equal": (np.full(6, 0.7), np.array([0.1, 0.2, 0.0, 0.3, 0.1, 0.2]), True),
    "negative": (np.array([-1.0, -2, -2, -5]), np.array([1.0, 1e-3, 2, 3]), True),
    "one entry": (np.array([2.0]), np.array([1.3]), True),
    # The smallest eigenvalue is zero but for the rounding of z: no digit of it is certain.
    "singular": (powers(-3, 0, 6), psd_weights(powers(-3, 0, 6), 1.0), False),
    "singular with zeros": (
        np.array([1.0, 0.5, 0.25, 0, 0, 0]),
        np.array([*psd_weights([1.0, 0.5, 0.25], 1.0), 0, 0, 0]),
        False,
    ),
    "rounding noise on zeros": (
        np.array([1.0, 0.5, 0.25, 0, 0, 0]),
        np.array([0.5, 0.3, 0.2, 1e-17, -2e-17, 0]),
        False,
    ),
}


def scaled_cases():
    """Names and exponents; 4**250 is about 1e150, for which extreme gradings leave no room."""
    for name, (d, _, _) in HARD.items():
        graded = np.abs(d[d != 0]).min() < 1e-100
        yield from ((name, exponent) for exponent in ([0] if graded else [0, -250, 249]))


@pytest.mark.parametrize(("name", "exponent"), list(scaled_cases()))
def test_hard_cases(name, exponent):
    d, z, relative = HARD[name]
    d, z = d * 4.0**exponent, z * 2.0**exponent
    values = solve(d, z)
    exact = oracle.downdated_eigenvalues(d, z)
    assert_interlaced(d, values)
    for value, reference in zip(values, exact, strict=True):
        scale = abs(reference) if relative else size(d, z)
        # An eigenvalue that is exactly zero comes out of the oracle as noise in its digits.
        slack = mpmath.mpf(10) ** -50 * size(d, z) if 0.0 in d else 0
        assert abs(mpmath.mpf(float(value)) - reference) <= 8 * EPS * scale + slack


def test_random_gradings_are_as_accurate_as_the_data_allow():
    """All eigenvalues are positive, and 1 / (1 - sum z**2 / d) is their condition number."""
    rng = np.random.default_rng(4)
    for _ in range(150):
        n = rng.integers(1, 7)
        d = descending(10.0 ** rng.uniform(-290, 0, n))
        z = rng.standard_normal(n) * np.sqrt(d)
        fraction = rng.uniform(0.0, 0.999)
        z *= np.sqrt(fraction / np.sum(z * z / d))
        exact = oracle.downdated_eigenvalues(d, z, relative=30)
        for value, reference in zip(solve(d, z), exact, strict=True):
            error = abs(mpmath.mpf(float(value)) / reference - 1)
            assert error <= 4 * EPS / (1 - fraction)


def test_scaling_by_powers_of_two_scales_the_result():
    d, z = residual_moment(12, np.random.default_rng(2), decay=0.5)
    values = solve(d, z * 0.9)
    for exponent in (-240, -3, 1, 250):
        scaled = solve(d * 4.0**exponent, z * 0.9 * 2.0**exponent)
        np.testing.assert_array_equal(scaled, values * 4.0**exponent)


# --- exact answers ------------------------------------------------------------------------


def test_zero_vector_leaves_the_diagonal():
    d = np.array([2.0, 2.0, 1.0, 0.0, -3.0])
    np.testing.assert_array_equal(solve(d, np.zeros(5)), d)


def test_a_single_non_zero_entry_is_sorted_in():
    d = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(solve(d, [0, 1.5, 0, 0, 0]), [5.0, 3.0, 2.0, 1.75, 1.0])
    np.testing.assert_array_equal(solve(d, [0, 0, 0, 0, 1.0]), [5.0, 4.0, 3.0, 2.0, 0.0])


def test_one_of_equal_entries_moves():
    np.testing.assert_array_equal(solve(np.full(4, 5.0), np.ones(4)), [5.0, 5.0, 5.0, 1.0])


def test_removing_a_whole_direction():
    np.testing.assert_array_equal(solve([4.0, 1.0, 0.0], [2.0, 0, 0]), [1.0, 0.0, 0.0])


def test_when_the_square_of_z_overflows():
    d = np.array([4.0, 3.0, 2.0, 1.0]) * 1e300
    for z in ([1e200, 1e300, 1.0, 1e160], [0, 1e300, 0, 0], [1e308, 1e308, 1e308, 1e308]):
        values = solve(d, z)
        assert_interlaced(d, values)
        assert np.isfinite(values[:-1]).all()
        assert values[-1] in (-np.inf, d[-1])
    # Here the answer is known: the entry leaves the spectrum downwards.
    np.testing.assert_array_equal(solve(d, [0, 1e300, 0, 0]), [4e300, 2e300, 1e300, -np.inf])


# --- interface ----------------------------------------------------------------------------


def test_empty_requests():
    d = np.array([2.0, 1.0])
    assert downdated_eigenvalues(d, np.empty((0, 2))).shape == (0, 2)
    assert downdated_eigenvalues(d, np.ones((3, 2)), first=1, last=1).shape == (3, 0)


@pytest.mark.parametrize(("first", "last"), [(-1, 1), (1, 0), (0, 3)])
def test_ranges_outside_the_matrix_are_refused(first, last):
    with pytest.raises(ValueError, match="need 0 <= first <= last <= 2"):
        downdated_eigenvalues([2.0, 1.0], np.ones((1, 2)), first=first, last=last)


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="do not match"):
        downdated_eigenvalues([2.0, 1.0], np.ones((1, 3)))


def test_docstrings():
    result = doctest.testmod(secular)
    assert result.attempted >= 2
    assert result.failed == 0
