"""Volume sampling against the enumeration of all sets."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import chisquare

from columnist.criteria import Frobenius
from columnist.selection import _factors as factors
from columnist.selection._expected_volume import least_expected
from columnist.selection._sampling import (
    VolumeSampler,
    choose_vectors,
    log_symmetric,
    volume_sample,
)
from tests.oracles.brute_force import subset_error
from tests.strategies import matrices


def rng(seed=0):
    return np.random.default_rng(seed)


def symmetric(weights, size):
    """The elementary symmetric polynomial, term by term."""
    return sum(np.prod(part) for part in combinations(weights, size))


def volumes(X, size):
    """Squared volume of every set of columns."""
    sets = list(combinations(range(X.shape[1]), size))
    return sets, np.array([max(np.linalg.det(X[:, S].T @ X[:, S]), 0.0) for S in sets])


def assert_distributed(draws, sets, probabilities):
    """Sets drawn with these probabilities, by a chi-square test at one in a thousand."""
    counts = dict.fromkeys(sets, 0)
    for draw in draws:
        counts[tuple(sorted(draw))] += 1
    observed = np.array(list(counts.values()))
    assert (observed[probabilities < 1e-12] == 0).all()
    possible = probabilities >= 1e-12
    assert chisquare(observed[possible], len(draws) * probabilities[possible]).pvalue > 1e-3


# --- symmetric polynomials ----------------------------------------------------------------------


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8), st.data())
def test_symmetric_polynomials(weights, data):
    size = data.draw(st.integers(1, len(weights)), label="size")
    table = np.exp(log_symmetric(np.log(weights), size))
    for i in range(len(weights) + 1):
        expected = [symmetric(weights[:i], j) for j in range(size + 1)]
        np.testing.assert_allclose(table[i], expected, rtol=1e-10)


def test_beyond_the_range_of_numbers():
    """A binomial coefficient of 601 digits, and products of 200 numbers of 1e-13."""
    ones = log_symmetric(np.zeros(2000), 1000)[-1, -1]
    assert ones == pytest.approx(gammaln(2001) - 2 * gammaln(1001), rel=1e-10)
    tiny = log_symmetric(np.full(300, np.log(1e-13)), 200)[-1, -1]
    exact = np.log(float(comb(300, 200))) + 200 * np.log(1e-13)
    assert tiny == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_vectors_by_their_products(size):
    values = np.array([2.0, 1.5, 1.0, 0.7, 0.2])
    sets = list(combinations(range(5), size))
    products = np.array([np.prod(values[list(S)] ** 2) for S in sets])
    generator = rng()
    draws = [choose_vectors(values, size, generator) for _ in range(3000)]
    assert_distributed(draws, sets, products / products.sum())


def test_vectors_of_a_spectrum_that_hardly_fits():
    """Nearly every draw keeps the 40 large values, though the others are products of 1e-12."""
    values = np.r_[np.full(40, 1e6), np.full(1000, 1e-6)]
    chosen = choose_vectors(values, 60, rng())
    assert len(chosen) == len(set(chosen)) == 60
    assert set(range(40)) <= set(chosen)


def test_all_vectors():
    assert sorted(choose_vectors(np.array([3.0, 2.0, 1e-9]), 3, rng())) == [0, 1, 2]


# --- sets of columns ----------------------------------------------------------------------------

CASES = {
    "gaussian": rng(1).standard_normal((4, 6)),
    "tall": rng(2).standard_normal((20, 6)) * [1.0, 0.5, 2.0, 1.0, 0.3, 1.0],
    "duplicates": rng(3).standard_normal((5, 3))[:, [0, 1, 2, 0, 2, 1]],
    "zero column": rng(4).standard_normal((5, 6)) * [1, 1, 0, 1, 1, 1],
}


@pytest.mark.parametrize(
    ("case", "size"),
    [("gaussian", 1), ("gaussian", 3), ("tall", 2), ("duplicates", 2), ("zero column", 3)],
)
def test_sets_by_their_volume(case, size):
    X = CASES[case]
    sets, squared = volumes(X, size)
    generator = rng(5)
    draws = [volume_sample(X, size, generator) for _ in range(1000)]
    assert_distributed(draws, sets, squared / squared.sum())


@pytest.mark.parametrize("dense_block", [0, 2**22])
@pytest.mark.parametrize("case", CASES)
def test_sparse_data_give_the_same_draws(case, dense_block, monkeypatch):
    monkeypatch.setattr(factors, "_BLOCK", dense_block)
    X = CASES[case]
    for seed in range(30):
        drawn = volume_sample(sp.csc_array(X), 3, rng(seed))
        assert drawn == volume_sample(X, 3, rng(seed))


@given(matrices(max_rows=6, max_columns=6), st.data())
def test_expected_error(X, data):
    """E||X - P_S X||^2 = (k+1) e_{k+1} / e_k: the identity the docstring states."""
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    sets, squared = volumes(X, size)
    values = np.linalg.svd(X, compute_uv=False) ** 2
    top = symmetric(values, size)
    if top > 1e-8 * max(values.max(initial=0.0), 1e-3) ** size:
        assert squared.sum() == pytest.approx(top, rel=1e-6)
        errors = np.array([subset_error(X, S, Frobenius()) for S in sets])
        stated = (size + 1) * symmetric(values, size + 1) / top
        assert squared @ errors / top == pytest.approx(stated, rel=1e-6, abs=1e-6 * values.sum())


def test_mean_error_of_samples():
    X, size = rng(6).standard_normal((6, 8)) * np.geomspace(1, 0.1, 8), 3
    values = np.linalg.svd(X, compute_uv=False) ** 2
    stated = (size + 1) * symmetric(values, size + 1) / symmetric(values, size)
    generator = rng(7)
    error = {}
    drawn = []
    for _ in range(1500):
        S = tuple(sorted(volume_sample(X, size, generator)))
        if S not in error:
            error[S] = subset_error(X, S, Frobenius())
        drawn.append(error[S])
    assert abs(np.mean(drawn) - stated) < 3.5 * np.std(drawn) / np.sqrt(len(drawn))


@given(matrices(max_rows=8, max_columns=8), st.integers(1, 8), st.integers(0, 2**16))
def test_samples_are_independent_columns(X, size, seed):
    drawn = volume_sample(X, size, rng(seed))
    rank = np.linalg.matrix_rank(X)
    assert len(drawn) == len(set(drawn)) == min(size, rank)
    assert np.linalg.matrix_rank(X[:, drawn], tol=1e-9) == len(drawn)


def test_a_large_draw():
    X = rng(8).standard_normal((150, 400)) * np.geomspace(1.0, 1e-4, 150)[:, None]
    drawn = volume_sample(X, 120, rng(9))
    assert len(set(drawn)) == 120
    assert np.linalg.matrix_rank(X[:, drawn]) == 120


# --- without chance -----------------------------------------------------------------------------


def expected_errors(X, chosen, size):
    """Mean error of a volume sample among the sets that contain some columns, by enumeration."""
    sets, weights = volumes(X, size)
    inside = [i for i, S in enumerate(sets) if set(chosen) <= set(S)]
    errors = np.array([subset_error(X, sets[i], Frobenius()) for i in inside])
    return float(weights[inside] @ errors / weights[inside].sum())


@given(seed=st.integers(0, 10**6), size=st.integers(1, 4))
def test_every_column_has_the_least_expected_error(seed, size):
    X = rng(seed).standard_normal((6, 7)) * rng(seed + 1).uniform(0.1, 3.0, 7)
    chosen = least_expected(X, size)
    assert len(set(chosen)) == size
    before = expected_errors(X, [], size)
    for i, column in enumerate(chosen):
        others = [j for j in range(7) if j not in chosen[:i]]
        means = {j: expected_errors(X, [*chosen[:i], j], size) for j in others}
        assert means[column] <= min(means.values()) * (1 + 1e-8) + 1e-12
        assert means[column] <= before * (1 + 1e-8) + 1e-12  # so the guarantee holds for certain
        before = means[column]
    sigma = np.linalg.svd(X, compute_uv=False)
    assert subset_error(X, chosen, Frobenius()) <= (size + 1) * np.sum(sigma[size:] ** 2) + 1e-9


def test_dependent_columns_are_not_taken_twice():
    X = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    assert sorted(least_expected(X, 4)) in ([0, 2], [1, 2])
    assert least_expected(np.zeros((3, 2)), 2) == []
    np.testing.assert_array_equal(least_expected(sp.csr_array(X), 2), least_expected(X, 2))
    assert least_expected(1e150 * X, 2) == least_expected(1e-150 * X, 2)
    selector = VolumeSampler(2, deterministic=True)
    assert sorted(selector.fit(X).selected_) == sorted(least_expected(X, 2))
