"""The promise to every row: outputs move by no more than the tolerance, whatever the numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression, Ridge

from columnist.privacy import NullSpaceCleaner, utility_error
from columnist.privacy._cleaner import Guard

seeds = st.integers(0, 2**32 - 1)
types = st.sampled_from([np.float32, np.float64])
NOISES = [0.0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2]


def dependent(rng, n_outputs, n_features, noise):
    """Coefficients whose last row is the sum of the others but for some noise."""
    A = rng.standard_normal((n_outputs, n_features))
    A[-1] = A[:-1].sum(axis=0) + noise * rng.standard_normal(n_features)
    return A


def secrets(rng, A, noise):
    """Secrets of all kinds: free, nearly the predictor's own, and its own."""
    free = rng.standard_normal((rng.integers(0, 3), A.shape[1]))
    near = A[:1] + noise * rng.standard_normal((1, A.shape[1]))
    return np.vstack([free, near, A[rng.integers(len(A))][None]])


def fitted(X, A, **options):
    """A cleaner, whether or not rows would have to move too far to hide all of the secret."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Confidential outputs nearly follow", UserWarning)
        return NullSpaceCleaner(A, **options).fit(X)


def assert_kept(X, cleaned, A, utility):
    """By exact differences, and by somebody who computes both outputs in their precision."""
    assert utility_error(X, cleaned, A).max() <= utility
    A = A.astype(X.dtype)
    assert np.square(X @ A.T - cleaned @ A.T).sum(axis=1).max() <= utility


def growth(X, cleaned, center):
    """How much farther from the centre rows are after cleaning, at most."""
    before, after = (np.linalg.norm(rows - center, axis=1) for rows in (X, cleaned))
    return np.max(after / before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("noise", NOISES)
def test_nearly_dependent_outputs(noise, dtype):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = (17.0 * rng.standard_normal((40, 20))).astype(dtype)
        A = dependent(rng, 4, 20, noise)
        C = np.vstack([rng.standard_normal((2, 20)), A[:1]])
        for secret in (None, C):
            cleaner = NullSpaceCleaner(A, utility=1.0, confidential=secret).fit(X)
            cleaned = cleaner.transform(X)
            assert_kept(X, cleaned, A, 1.0)
            assert growth(X, cleaned, cleaner.mean_) < 100.0
            # The tolerance is there to be spent, if not by rows that would have to move far.
            spent = np.median(utility_error(X, cleaned, A))
            assert spent > 0.9 if noise <= 1e-6 else spent > 0.0


@given(
    seed=seeds,
    noise=st.sampled_from(NOISES),
    near=st.sampled_from([0.0, 1e-9, 1e-7, 1e-5, 1e-3]),
    offset=st.sampled_from([0.0, 1.0, 1e3]),
    utility=st.sampled_from([1e-4, 0.01, 1.0, 1e4]),
    coarse=st.booleans(),
)
def test_any_secret_in_double_precision(seed, noise, near, offset, utility, coarse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 8)) + offset
    A = dependent(rng, int(rng.integers(2, 7)), 8, noise)
    A = A.astype(np.float32) if coarse else A
    cleaner = fitted(X, A, utility=utility, confidential=secrets(rng, A, near))
    assert_kept(X, cleaner.transform(X), A.astype(float), utility)


@given(
    seed=seeds,
    noise=st.sampled_from(NOISES),
    near=st.sampled_from([0.0, 1e-7, 1e-5, 1e-3, 1e-1]),
    utility=st.sampled_from([0.01, 1.0, 1e4]),
    coarse=st.booleans(),
)
def test_any_secret_in_single_precision(seed, noise, near, utility, coarse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 8)).astype(np.float32)
    A = dependent(rng, int(rng.integers(2, 7)), 8, noise)
    A = A.astype(np.float32) if coarse else A
    cleaner = fitted(X, A, utility=utility, confidential=secrets(rng, A, near))
    assert_kept(X, cleaner.transform(X), A.astype(float), utility)


@pytest.mark.filterwarnings("ignore:Confidential outputs nearly follow")
@given(seed=seeds, dtype=types, gain=st.sampled_from(["distance", "count"]))
def test_features_of_all_units(seed, dtype, gain):
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-4.0, 4.0, 7)
    X = (rng.standard_normal((25, 7)) * units).astype(dtype)
    A = dependent(rng, 3, 7, 1e-9) / units
    for secret in (None, A[:1], rng.standard_normal((2, 7)) / units):
        cleaner = NullSpaceCleaner(A, utility=0.1, confidential=secret, gain=gain).fit(X)
        cleaned = cleaner.transform(X)
        assert utility_error(X, cleaned, A).max() <= 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", [Ridge(), LinearRegression()], ids=str)
def test_digits(model, dtype):
    X, y = load_digits(return_X_y=True)
    X = X.astype(dtype)
    coef = model.fit(X, np.eye(10)[y]).coef_  # the ten outputs sum to one
    for secret in (None, coef[3:5], coef[:1] + coef[1:2]):
        cleaner = NullSpaceCleaner(model, utility=0.01, confidential=secret).fit(X)
        cleaned = cleaner.transform(X)
        assert_kept(X, cleaned, coef.astype(float), 0.01)
        assert growth(X, cleaned, cleaner.mean_) < 10.0
        assert np.median(utility_error(X, cleaned, coef)) > 0.0098


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rank_of_coefficients_is_judged_by_their_precision(dtype):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = dependent(rng, 5, 30, 0.0).astype(dtype)
        X = rng.standard_normal((8, 30))
        assert NullSpaceCleaner(A).fit(X).n_removed_ == 26
        noisy = A.astype(float) + 1e-4 * rng.standard_normal(A.shape)
        assert NullSpaceCleaner(noisy.astype(dtype)).fit(X).n_removed_ == 25
        # What counts as not read is not forgotten where the tolerance is finer than that.
        cleaned = NullSpaceCleaner(A, utility=1e-16).fit(X).transform(X)
        assert utility_error(X, cleaned, A).max() <= 1e-16


def test_a_tolerance_below_rounding_leaves_the_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 5)).astype(np.float32)
    A = rng.standard_normal((2, 5))
    cleaner = NullSpaceCleaner(A, utility=1e-30).fit(X)
    with pytest.warns(UserWarning, match=r"rows stay as they are: .* in float32"):
        cleaned = cleaner.transform(X)
    assert utility_error(X, cleaned, A).max() <= 1e-30


def test_rows_are_not_moved_beyond_their_type():
    # To hide the second output alone, rows of single precision would have to become infinite.
    X = np.array([[1e36, 3e36, -1e36], [1.0, 2.0, 3.0]], dtype=np.float32)
    A = np.array([[1.0, 0.0, 0.0], [1.0, 1e-3, 0.0]])
    C = np.array([[1.0, 1e-3, 1e-3]])
    for utility in (1e60, 0.0):
        # Rows whose outputs do not vary would not move; but others do.
        for seen in (X, X[[1, 1]] + np.float32([[0.0, 0.0, 1e-3], [0.0, 0.0, 0.0]])):
            cleaned = fitted(seen, A, utility=utility, confidential=C).transform(X)
            assert np.isfinite(cleaned).all()
            assert utility_error(X, cleaned, A).max() <= max(utility, 1e60)


def test_the_guard_is_not_fooled():
    rng = np.random.default_rng(0)
    for n_outputs in (2, 30):
        A, X = rng.standard_normal((n_outputs, 6)), rng.standard_normal((50, 6))
        Z = X + 0.1 * rng.standard_normal(X.shape)
        errors = utility_error(X, Z, A)
        utility = float(np.median(errors))
        np.testing.assert_array_equal(Guard(A).holds(X, Z, utility), errors < utility)
        assert np.all(Guard(A).moved(X, Z) ** 2 >= errors * (1.0 - 1e-15))
    beyond = Guard(A).holds(X, np.full_like(X, np.inf), 1.0)
    assert not beyond.any()
