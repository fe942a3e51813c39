"""Samplers against the exact distributions they state."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from columnist.criteria import Frobenius
from columnist.selection import _sampling as sampling
from columnist.selection._sampling import (
    LeverageSampler,
    NormSampler,
    UniformSampler,
    VolumeSampler,
    draw_distinct,
    draw_repeated,
)
from tests.oracles.brute_force import subset_error
from tests.strategies import matrices, tolerance

SAMPLERS = [UniformSampler, NormSampler, LeverageSampler, VolumeSampler]
every = pytest.mark.parametrize("cls", SAMPLERS, ids=lambda cls: cls.__name__)
X = np.random.default_rng(0).standard_normal((12, 6)) * [1.0, 3.0, 0.5, 1.0, 2.0, 0.2]


def assert_distributed(draws, probabilities):
    """Draws with these probabilities, by a chi-square test at one in a thousand."""
    counts = Counter(draws)
    assert counts.keys() <= probabilities.keys()
    observed = [counts[outcome] for outcome in probabilities]
    expected = len(draws) * np.array(list(probabilities.values()))
    assert chisquare(observed, expected).pvalue > 1e-3


def ordered_probability(probabilities, order):
    """Chance of this order when every draw renormalises what is left."""
    left, chance = 1.0, 1.0
    for index in order:
        chance *= probabilities[index] / left
        left -= probabilities[index]
    return chance


def refuses(message, estimator, data=X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            estimator.fit(data)


# --- drawing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_draws_without_replacement(size):
    p = np.array([0.5, 0.0, 0.3, 0.15, 0.05])
    rng = np.random.default_rng(size)
    draws = [tuple(draw_distinct(p, size, rng)) for _ in range(4000)]
    orders = permutations([0, 2, 3, 4], size)
    assert_distributed(draws, {order: ordered_probability(p, order) for order in orders})


def test_draws_with_replacement():
    p = np.array([0.5, 0.0, 0.3, 0.2])
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(3000):
        indices, counts = draw_repeated(p, 3, rng)
        assert counts.sum() == 3 and len(indices) == len(counts) == len(set(indices))
        draws.append(tuple(sorted(zip(indices.tolist(), counts.tolist(), strict=True))))
    multisets = Counter()
    for order in np.ndindex(4, 4, 4):
        if 1 not in order:
            multisets[tuple(sorted(Counter(order).items()))] += np.prod(p[list(order)])
    assert_distributed(draws, multisets)


def test_the_first_draw_comes_first():
    """In order of appearance, with and without replacement."""
    p = np.array([0.1, 0.2, 0.7])
    rng = np.random.default_rng(1)
    for draw in (lambda: draw_distinct(p, 2, rng)[0], lambda: draw_repeated(p, 5, rng)[0][0]):
        assert_distributed([int(draw()) for _ in range(2000)], dict(enumerate(p)))


def test_more_wanted_than_possible():
    drawn = draw_distinct(np.array([0.5, 0.0, 0.5, 0.0]), 3, np.random.default_rng(0))
    assert sorted(drawn) == [0, 2]


def test_probabilities_far_apart():
    p = np.array([1e-300, 1.0, 1e-200])
    assert list(draw_distinct(p, 3, np.random.default_rng(0))) == [1, 2, 0]


# --- probabilities ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("data", [X, X.T], ids=["tall", "wide"])
def test_stated_probabilities(data, form):
    n = data.shape[1]

    def stated(sampler):
        return sampler.set_params(random_state=0).fit(form(data)).probabilities_

    np.testing.assert_allclose(stated(UniformSampler(2)), np.full(n, 1 / n))
    np.testing.assert_allclose(stated(NormSampler(2)), (data**2).sum(axis=0) / (data**2).sum())
    V = np.linalg.svd(data)[2]
    for rank in (1, 2, 4):
        leverages = np.square(V[:rank]).sum(axis=0) / rank
        np.testing.assert_allclose(stated(LeverageSampler(2, rank=rank)), leverages, atol=1e-12)
        np.testing.assert_allclose(stated(LeverageSampler(rank)), leverages, atol=1e-12)


@pytest.mark.parametrize("sampler", [UniformSampler(2), NormSampler(2), LeverageSampler(2)])
def test_draws_follow_the_stated_probabilities(sampler):
    draws = [tuple(sampler.set_params(random_state=s).fit(X).selected_) for s in range(400)]
    p = sampler.probabilities_
    first = [draw[0] for draw in draws]
    assert_distributed(first, dict(enumerate(p)))
    pairs = {pair: ordered_probability(p, pair) for pair in permutations(range(6), 2)}
    likely = {pair: chance for pair, chance in pairs.items() if chance > 0.02}
    rest = sum(chance for pair, chance in pairs.items() if pair not in likely)
    grouped = [draw if draw in likely else "rest" for draw in draws]
    assert_distributed(grouped, likely | {"rest": rest} if rest > 1e-12 else likely)


@pytest.mark.parametrize("cls", [NormSampler, LeverageSampler])
def test_repeats_are_merged(cls):
    sampler = cls(6, replace=True)
    totals, sizes = np.zeros(6), set()
    for seed in range(200):
        sampler.set_params(random_state=seed).fit(X)
        assert sampler.counts_.sum() == 6
        assert len(sampler.counts_) == len(sampler.selected_) == len(set(sampler.selected_))
        totals[sampler.selected_] += sampler.counts_
        sizes.add(len(sampler.selected_))
    assert min(sizes) < 6
    assert chisquare(totals, 1200 * sampler.probabilities_).pvalue > 1e-3


def test_counts_without_replacement():
    np.testing.assert_array_equal(NormSampler(4, random_state=0).fit(X).counts_, np.ones(4))


def test_volumes():
    data = X[:, :5]
    volumes = {S: np.linalg.det(data[:, S].T @ data[:, S]) for S in combinations(range(5), 2)}
    total = sum(volumes.values())
    sampler = VolumeSampler(2)
    draws = [
        tuple(sorted(sampler.set_params(random_state=s).fit(data).selected_)) for s in range(400)
    ]
    assert_distributed(draws, {S: volume / total for S, volume in volumes.items()})


# --- any data -----------------------------------------------------------------------------------


@every
@given(X=matrices(), seed=st.integers(0, 2**16), data=st.data())
def test_a_valid_answer_on_any_data(cls, X, seed, data):
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sampler = cls(size, random_state=seed).fit(X)
    selected = sampler.selected_
    assert 1 <= len(selected) == len(set(selected)) <= size
    assert len(caught) == (len(selected) < size)
    if cls is not VolumeSampler:
        assert sampler.probabilities_.sum() == pytest.approx(1.0)
        assert (sampler.probabilities_[selected] > 0.0).all()
    expected = subset_error(X, selected, Frobenius())
    assert sampler.error_ == pytest.approx(expected, rel=1e-8, abs=tolerance(Frobenius(), X))


@every
@pytest.mark.parametrize("data", [X, X.T], ids=["tall", "wide"])
def test_sparse_as_dense(cls, data):
    data = data * (np.abs(data) > 0.4)
    dense, sparse = (cls(3, random_state=0).fit(form(data)) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(sparse.selected_, dense.selected_)
    assert sparse.error_ == pytest.approx(dense.error_)


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_float32(cls, form):
    data = X.astype(np.float32)
    single = cls(3, random_state=0).fit(form(data))
    double = cls(3, random_state=0).fit(data.astype(np.float64))
    np.testing.assert_array_equal(single.selected_, double.selected_)
    if cls is not VolumeSampler:
        np.testing.assert_allclose(single.probabilities_, double.probabilities_, rtol=1e-12)


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_tiny_and_huge_scales(cls, form, scale):
    plain, scaled = (cls(3, random_state=0).fit(form(s * X)) for s in (1.0, scale))
    np.testing.assert_array_equal(scaled.selected_, plain.selected_)
    assert scaled.relative_error_ == pytest.approx(plain.relative_error_)


@every
def test_y_is_ignored(cls):
    plain, other = (cls(3, random_state=0).fit(X, y) for y in (None, X[:, 0]))
    np.testing.assert_array_equal(other.selected_, plain.selected_)


@every
def test_the_random_state_decides(cls):
    first, second = (cls(3, random_state=5).fit(X).selected_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    draws = {tuple(cls(3, random_state=seed).fit(X).selected_) for seed in range(20)}
    assert len(draws) > 1
    state = np.random.RandomState(0)
    assert len({tuple(cls(3, random_state=state).fit(X).selected_) for _ in range(20)}) > 1


# --- trouble ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [NormSampler, LeverageSampler])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_fewer_positive_probabilities_than_wanted(cls, form):
    data = np.diag([1.0, 2.0, 0.0, 0.0, 3.0])
    with pytest.warns(UserWarning, match="selected 3 of 4 columns: no others have a positive"):
        sampler = cls(4, random_state=0).fit(form(data))
    assert sorted(sampler.selected_) == [0, 1, 4]


def test_volume_above_the_rank():
    data = X[:, :2] @ np.random.default_rng(1).standard_normal((2, 6))
    with pytest.warns(UserWarning, match=re.escape("selected 2 of 4 columns")):
        sampler = VolumeSampler(4, random_state=0).fit(data)
    assert np.linalg.matrix_rank(data[:, sampler.selected_]) == 2


def test_rank_above_the_numerical_one():
    data = X[:, :2] @ np.random.default_rng(1).standard_normal((2, 6))
    sampler = LeverageSampler(3, rank=5, random_state=0).fit(data)
    assert sampler.rank_ == 2
    expected = np.square(np.linalg.svd(data)[2][:2]).sum(axis=0) / 2
    np.testing.assert_allclose(sampler.probabilities_, expected, atol=1e-12)
    assert len(sampler.selected_) == 3


@pytest.mark.parametrize("cls", [UniformSampler, NormSampler, LeverageSampler])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_a_matrix_of_zeros(cls, form):
    sampler = cls(2, random_state=0).fit(form(np.zeros((4, 5))))
    np.testing.assert_array_equal(sampler.probabilities_, np.full(5, 0.2))
    assert len(sampler.selected_) == 2
    assert sampler.error_ == sampler.relative_error_ == 0.0


def test_no_volume_at_all():
    with pytest.warns(UserWarning, match="selected 1 of 2"):
        assert list(VolumeSampler(2, random_state=0).fit(np.zeros((4, 5))).selected_) == [0]


@every
def test_one_row(cls):
    sampler = cls(1, random_state=0).fit([[0.0, 2.0, 0.0]])
    assert len(sampler.selected_) == 1
    if cls is not UniformSampler:
        assert list(sampler.selected_) == [1]
        assert sampler.error_ == 0.0


@every
def test_bad_input(cls):
    refuses("between 1 and the number of features", cls(7))
    refuses("must be an integer >= 1, a fraction", cls("half"))
    broken = X.copy()
    broken[2, 3] = np.nan
    refuses("Input X contains NaN", cls(2), broken)
    refuses("Input X contains NaN", cls(2), sp.csc_array(broken))


@pytest.mark.parametrize("rank", [0, -1, 2.0, "k"])
def test_rank_of_no_meaning(rank):
    refuses("rank must be an integer >= 1", LeverageSampler(2, rank=rank))


@pytest.mark.parametrize("cls", [NormSampler, LeverageSampler])
def test_replace_is_a_flag(cls):
    refuses("replace must be True or False; got 'no'", cls(2, replace="no"))


def test_volume_needs_memory(monkeypatch):
    monkeypatch.setattr(sampling, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="Use LeverageSampler, or select rows or columns first"):
        VolumeSampler(2).fit(X)
