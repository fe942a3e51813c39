"""Secrets that nearly follow from the outputs: how far rows are moved to hide them."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.privacy import NullSpaceCleaner
from columnist.privacy._predictor import REACH, against_confidential, without_confidential

seeds = st.integers(0, 2**32 - 1)
types = st.sampled_from([np.float32, np.float64])
UTILITIES = [0.0, 1e-6, 1e-2, 1.0]
WARNING = "Confidential outputs nearly follow from the outputs of the predictor"


def fitted(X, A, C, **options):
    """A cleaner, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cleaner = NullSpaceCleaner(A, confidential=C, **options).fit(X)
    assert len(caught) <= 1 and all(str(each.message).startswith(WARNING) for each in caught)
    return cleaner, bool(caught)


def exactly_moved(X, cleaned, A):
    """Squared change of the outputs of every row, in exact arithmetic, rounded once."""
    rows = [[Fraction(float(v)) for v in a] for a in A]
    errors = []
    for x, z in zip(X, cleaned, strict=True):
        change = [Fraction(float(u)) - Fraction(float(v)) for u, v in zip(x, z, strict=True)]
        outputs = [sum(a * c for a, c in zip(row, change, strict=True)) for row in rows]
        errors.append(float(sum(out * out for out in outputs)))
    return np.array(errors)


def distances(rows, center):
    return np.linalg.norm(rows.astype(np.float64) - center, axis=1)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def assert_outputs_kept(X, cleaned, A, mean):
    """Up to twice the rounding of outputs that somebody computes from the given rows."""
    moved = np.sqrt(exactly_moved(X, cleaned, A))
    units = 2.0 * (4.0 + np.sqrt(X.shape[1])) * np.finfo(X.dtype).eps
    sizes = np.linalg.norm(X.astype(np.float64), axis=1) + np.linalg.norm(mean)
    assert np.all(moved <= 1.01 * units * np.linalg.norm(A.astype(np.float64)) * sizes)


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_stay_near_and_keep_their_outputs(dtype, utility):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n_features, n_outputs = int(rng.integers(4, 14)), int(rng.integers(1, 4))
        X = rng.standard_normal((8, n_features)).astype(dtype)
        A = rng.standard_normal((n_outputs, n_features))
        A = A.astype(np.float32) if seed % 3 == 0 else A
        near = 10.0 ** rng.uniform(-16.0, -3.0)
        C = A[:1] + near * rng.standard_normal((1, n_features))
        cleaner, _ = fitted(X, A, C, utility=utility)
        cleaned = cleaner.transform(X)
        before, after = distances(X, cleaner.mean_), distances(cleaned, cleaner.mean_)
        # Hiding the secret would take rows of a thousand times the length, or more.
        assert np.all(after <= 10.0 * before)
        if utility > 0.0:
            assert exactly_moved(X, cleaned, A).max() <= utility
        else:
            assert_outputs_kept(X, cleaned, A, cleaner.mean_)


@given(
    seed=seeds,
    dtype=types,
    near=st.floats(-16.0, 0.0),
    offset=st.sampled_from([0.0, 1.0, 1e3]),
    utility=st.sampled_from(UTILITIES),
)
def test_no_secret_takes_rows_too_far(seed, dtype, near, offset, utility):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(3, 9))
    A = rng.standard_normal((int(rng.integers(1, n_features)), n_features))
    C = rng.standard_normal((int(rng.integers(1, 5)), n_features))
    C[0] = rng.standard_normal(len(A)) @ A + 10.0**near * C[0]
    X, unseen = ((rng.standard_normal((9, n_features)) + offset).astype(dtype) for _ in range(2))
    cleaner, _ = fitted(X, A, C, utility=utility)
    cleaned = cleaner.transform(X)
    before, after = distances(X, cleaner.mean_), distances(cleaned, cleaner.mean_)
    if utility == 0.0:
        assert rms(after) <= 1.001 * np.hypot(1.0, REACH) * rms(before)
    for rows in (X, unseen, (100.0 * unseen).astype(dtype)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".* rows stay as they are", UserWarning)
            cleaned = cleaner.transform(rows)
        farthest = 100.0 * np.maximum(distances(rows, cleaner.mean_), rms(before))
        assert np.all(distances(cleaned, cleaner.mean_) <= 1.001 * farthest)
        if utility == 0.0:
            assert_outputs_kept(rows, cleaned, A, cleaner.mean_)
        else:
            assert exactly_moved(rows, cleaned, A).max() <= utility


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("utility", [0.0, 1e-2])
def test_rows_unlike_those_of_the_fit(dtype, utility):
    # The first output is the same for all rows of the fit, so that no move is too far for them.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5)).astype(dtype)
    X[:, 0] = 1.0
    A, C = np.eye(5)[:1], np.array([[1.0, 1e-6, 0.0, 0.0, 0.0]])
    cleaner, warned = fitted(X, A, C, utility=utility)
    assert not warned
    unseen = rng.standard_normal((20, 5)).astype(dtype)
    cleaned = cleaner.transform(unseen)
    assert np.all(distances(cleaned, cleaner.mean_) <= 101.0 * distances(X, cleaner.mean_).max())
    assert exactly_moved(unseen, cleaned, A).max() <= max(utility, 1e-10)


def test_one_warning_at_fit_says_how_far():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((50, 8)), rng.standard_normal((2, 8))
    free = rng.standard_normal((1, 8))
    near = A[:1] + 1e-4 * rng.standard_normal((1, 8))
    with pytest.warns(UserWarning, match=rf"{WARNING}.* have to be .*e\+03 times as long") as seen:
        cleaner = NullSpaceCleaner(A, confidential=np.vstack([near, free])).fit(X)
    assert len(seen) == 1 and seen[0].filename == __file__
    cleaned = cleaner.transform(X) - cleaner.mean_
    # What can be hidden is.
    assert np.abs(cleaned @ free.T).max() < 1e-3
    assert np.abs(cleaned @ near.T).max() > 1e-1
    # Secrets that follow from the outputs, and such that do not, are ordinary.
    coarse = A.astype(np.float32)
    for coef, secret in ((A, A[:1]), (A, 3.0 * A), (A, free), (coarse, coarse.sum(axis=0))):
        assert not fitted(X, coef, secret)[1]


def test_the_tolerance_is_spent_on_what_cannot_be_hidden_for_free():
    rng = np.random.default_rng(1)
    X, A = rng.standard_normal((30, 8)), rng.standard_normal((2, 8))
    C = A[:1] + 1e-5 * rng.standard_normal((1, 8))
    told = []
    for utility in (0.0, 0.01, 1.0):
        cleaner, warned = fitted(X, A, C, utility=utility)
        assert warned
        told.append(rms((cleaner.transform(X) - cleaner.mean_) @ C[0]))
    assert told[0] > 1.01 * told[1] and told[1] > 1.2 * told[2]


@given(seed=seeds)
def test_features_of_all_units_are_no_reason_to_stay(seed):
    # Long moves along features in small units are short for rows that have others.
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-2.0, 2.0, 9)
    X = rng.standard_normal((40, 9)) * units
    A, C = rng.standard_normal((2, 9)) / units, rng.standard_normal((1, 9)) / units
    cleaner, warned = fitted(X, A, C)
    told = np.abs((cleaner.transform(X) - cleaner.mean_) @ C.T).max()
    assert warned or told < 1e-6 * np.abs((X - cleaner.mean_) @ C.T).max()
    assert not warned or without_units(A * units, C * units) > 2.0


def without_units(A, C):
    """How far rows of standardised features have to move."""
    found = against_confidential(A, C)
    return max(found.stretch, found.too_far)


# Directions


@pytest.mark.parametrize("precision", [np.finfo(np.float64).eps, np.finfo(np.float32).eps])
def test_what_is_rounding_of_the_secret_is_no_direction(precision):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((2, 9))
        C = (rng.standard_normal((3, 2)) @ A) * 10.0 ** rng.uniform(-8.0, 8.0, (3, 1))
        C *= 1.0 + precision * rng.uniform(-0.5, 0.5, C.shape)
        found = against_confidential(A, C, 0.0, precision)
        np.testing.assert_array_equal(found.rebuild, found.basis)
        assert found.too_far == 0.0
        # The same direction twice is one.
        twice = np.vstack([D := rng.standard_normal((1, 9)), D * (1.0 + 0.5 * precision), C])
        found = against_confidential(A, twice, 0.0, precision)
        once = against_confidential(A, D, 0.0, precision)
        np.testing.assert_allclose(found.rebuild, once.rebuild, atol=1e4 * precision)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_lengths_of_other_secrets_do_not_matter(scale):
    rng = np.random.default_rng(0)
    A, free = rng.standard_normal((2, 7)), rng.standard_normal((1, 7))
    found = against_confidential(A, np.vstack([A[:1], scale * free]))
    np.testing.assert_allclose(free @ found.rebuild, 0.0, atol=1e-5)


@pytest.mark.parametrize(("share", "moved"), [(12.0, False), (9.0, True)])
def test_equal_directions_are_used_together_or_not_at_all(share, moved):
    # The secrets are rotated: what they tell, and what hides them, stays.
    A, C = np.array([[1.0, 0.0, 0.0]]), np.array([[share, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for angle in np.linspace(0.0, np.pi, 9):
        c, s = np.cos(angle), np.sin(angle)
        found = against_confidential(A, np.array([[c, -s], [s, c]]) @ C)
        expected = [[1.0], [-share if moved else 0.0], [0.0]]
        sign = np.sign(found.basis[0, 0])
        np.testing.assert_allclose(sign * found.rebuild, expected, atol=1e-12)
        assert found.too_far == pytest.approx(0.0 if moved else share)


def test_moves_that_are_short_for_typical_rows_are_made():
    A, C = np.eye(4)[:2], np.array([[100.0, 0.0, 1.0, 0.0], [0.0, 100.0, 0.0, 1.0]])
    typical = np.diag([1.0, 0.01, 0.0, 0.0])
    for found, expected in (
        (against_confidential(A, C), 100.0 * np.sqrt(2.0)),
        (against_confidential(A, C, typical=typical), np.hypot(100.0, 1.0)),
    ):
        assert found.stretch == 1.0 and found.too_far == pytest.approx(expected)
    small = against_confidential(A, C, typical=0.05 * typical)
    np.testing.assert_allclose(C @ small.rebuild, 0.0, atol=1e-12)
    assert small.too_far == 0.0 and without_confidential(A).too_far == 0.0
