"""Error criteria."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.criteria import (
    Criterion,
    Frobenius,
    KyFan,
    Nuclear,
    Schatten,
    Spectral,
    check_criterion,
    get_criterion,
)
from tests.oracles.brute_force import best_subsets
from tests.strategies import CRITERIA, LogEnergy, OneByOne

BUILT_IN = [Frobenius(), Spectral(), Nuclear(), Schatten(0.3), Schatten(3), KyFan(1), KyFan(3)]


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        (Frobenius(), 30.0),
        (Spectral(), 4.0),
        (Nuclear(), 10.0),
        (Schatten(1), 10.0),
        (Schatten(2), np.sqrt(30.0)),
        (Schatten(0.5), (2 + np.sqrt(3) + np.sqrt(2) + 1) ** 2),
        (KyFan(1), 4.0),
        (KyFan(2), 7.0),
        (KyFan(9), 10.0),
    ],
    ids=str,
)
def test_value(criterion, expected):
    value = criterion.value([4.0, 3.0, 2.0, 1.0])
    assert isinstance(value, float)
    assert value == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("criterion", BUILT_IN, ids=str)
def test_order_of_the_singular_values_does_not_matter(criterion):
    assert criterion.value([1.0, 4.0, 2.0]) == pytest.approx(criterion.value([4.0, 2.0, 1.0]))


@pytest.mark.parametrize("criterion", BUILT_IN, ids=str)
def test_nothing_is_no_error(criterion):
    assert criterion.value([]) == 0.0
    assert criterion.value(np.zeros(4)) == 0.0
    np.testing.assert_array_equal(criterion.values(np.zeros((3, 0))), np.zeros(3))


@pytest.mark.parametrize("criterion", [*BUILT_IN, LogEnergy(), OneByOne()], ids=str)
def test_many_spectra_at_once(criterion):
    spectra = -np.sort(-np.random.default_rng(0).exponential(size=(6, 4)), axis=1)
    values = criterion.values(spectra)
    assert values.shape == (6,) and values.dtype == np.float64
    np.testing.assert_allclose(values, [criterion.value(row) for row in spectra], rtol=1e-14)


@pytest.mark.parametrize("criterion", [Spectral(), Nuclear(), Schatten(0.5), Schatten(7), KyFan(2)],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e290])
def test_extreme_scales(criterion, scale):
    spectrum = np.array([4.0, 3.0, 1.0])
    assert criterion.value(scale * spectrum) / scale == pytest.approx(criterion.value(spectrum))


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_built_in_criteria_pass_their_check(criterion):
    check_criterion(criterion)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6), st.integers(0, 5), st.floats(0, 1e6))
def test_monotone(spectrum, at, growth):
    low = np.sort(spectrum)[::-1]
    high = low.copy()
    high[at % len(low)] += growth
    high = np.sort(high)[::-1]
    for criterion in BUILT_IN:
        assert criterion.value(high) >= criterion.value(low) * (1 - 1e-12)


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("frobenius", Frobenius()),
        ("spectral", Spectral()),
        ("nuclear", Nuclear()),
        ("schatten:0.5", Schatten(0.5)),
        ("schatten:3", Schatten(3)),
        ("kyfan:3", KyFan(3)),
    ],
)
def test_names_go_both_ways(name, criterion):
    assert get_criterion(name) == criterion
    assert str(criterion) == name
    assert get_criterion(str(criterion)) == criterion
    assert get_criterion(criterion) is criterion
    assert pickle.loads(pickle.dumps(criterion)) == criterion
    assert hash(criterion) == hash(get_criterion(name))


@pytest.mark.parametrize(
    "name", ["", "fro", "Frobenius", "frobenius:2", "schatten", "schatten:", "kyfan", None, 3, []]
)
def test_unknown_name(name):
    with pytest.raises(ValueError, match="Unknown criterion"):
        get_criterion(name)


@pytest.mark.parametrize("name", ["schatten:x", "schatten:-1", "schatten:inf", "kyfan:0.5"])
def test_name_with_bad_parameter(name):
    with pytest.raises(ValueError, match=f"criterion '{name}' is not valid"):
        get_criterion(name)


@pytest.mark.parametrize("p", [0, -1.0, np.inf, np.nan])
def test_schatten_needs_a_positive_exponent(p):
    with pytest.raises(ValueError, match="Schatten needs a finite p > 0"):
        Schatten(p)


@pytest.mark.parametrize("k", [0, -2, 1.5])
def test_ky_fan_needs_a_count(k):
    with pytest.raises(ValueError, match="KyFan needs an integer k >= 1"):
        KyFan(k)


@pytest.mark.parametrize("parameter", ["two", None])
@pytest.mark.parametrize("cls", [Schatten, KyFan])
def test_parameters_that_are_no_numbers(cls, parameter):
    with pytest.raises((TypeError, ValueError)):
        cls(parameter)


# --- your own --------------------------------------------------------------------------------


def test_value_is_required():
    with pytest.raises(TypeError, match="abstract"):
        Criterion()


class Falling(Criterion):
    name = "falling"

    def value(self, singular_values):
        return -float(np.sum(singular_values))


class Spread(Criterion):
    """Grows with some singular values only."""

    name = "spread"

    def value(self, singular_values):
        return float(np.max(singular_values) - 0.5 * np.min(singular_values))


class Mean(Criterion):
    name = "mean"

    def value(self, singular_values):
        return float(np.mean(singular_values))


class Count(Criterion):
    name = "count"

    def value(self, singular_values):
        return float(np.size(singular_values))


@pytest.mark.parametrize("criterion", [Falling(), Spread()], ids=str)
def test_check_finds_a_criterion_that_falls(criterion):
    with pytest.raises(ValueError, match=f"{criterion} (is not monotone|changes from)"):
        check_criterion(criterion)


def test_check_names_the_fall():
    with pytest.raises(ValueError, match="falling is not monotone"):
        check_criterion(Falling())


@pytest.mark.parametrize("criterion", [Mean(), Count()], ids=str)
def test_check_finds_a_criterion_that_sees_zeros(criterion):
    with pytest.raises(ValueError, match=f"{criterion} changes from .* when zeros are appended"):
        check_criterion(criterion)


def test_check_finds_a_criterion_that_cannot_take_an_empty_spectrum():
    class Top(Criterion):
        name = "top"

        def value(self, singular_values):
            return np.asarray(singular_values)[..., 0]

    # A search does meet an empty spectrum: nothing is left to explain.
    X = np.random.default_rng(0).standard_normal((5, 6))
    try:
        check_criterion(Top())
    except (ValueError, IndexError):
        return
    assert ColumnSelector(5, criterion=Top(), n_components=1).fit(X).error_ == 0.0


@pytest.mark.parametrize("criterion", [LogEnergy(), OneByOne()], ids=str)
@pytest.mark.parametrize("search", ["auto", "weighted", "optimistic"])
@pytest.mark.parametrize("n_components", [0, 1])
def test_your_own_in_a_search(criterion, search, n_components):
    X = np.random.default_rng(5).standard_normal((9, 7))
    selector = ColumnSelector(
        3, criterion=criterion, search=search, epsilon=0.0, n_components=n_components
    ).fit(X)
    error, subset = best_subsets(X, 3, criterion, n_components)[0]
    assert selector.error_ == pytest.approx(error, rel=1e-10)
    assert tuple(selector.selected_) == subset
    assert selector.certificate_.status == "optimal"
    assert selector.certificate_.criterion == criterion.name


def test_leading_values_spare_nothing_but_time():
    class AllOfThem(Criterion):
        """Ky Fan without saying that it depends on two values only."""

        name = "all"

        def value(self, singular_values):
            return KyFan(2).value(singular_values)

    assert (KyFan(2).n_leading, Spectral().n_leading, AllOfThem().n_leading) == (2, 1, None)
    X = np.random.default_rng(5).standard_normal((9, 7))
    short = ColumnSelector(3, criterion=KyFan(2), n_components=1).fit(X)
    full = ColumnSelector(3, criterion=AllOfThem(), n_components=1).fit(X)
    assert short.error_ == pytest.approx(full.error_, rel=1e-12)
    assert short.certificate_.nodes_expanded == full.certificate_.nodes_expanded


def test_a_criterion_is_finite_at_zero():
    class LogTop(Criterion):
        name = "logtop"

        def value(self, singular_values):
            with np.errstate(divide="ignore"):
                return np.log(np.max(singular_values, axis=-1, initial=0.0))

    for check in (check_criterion, get_criterion):
        with pytest.raises(ValueError, match="has to be finite there"):
            check(LogTop())


class WrongAxis(Criterion):
    """Adds up whatever it iterates over: the rows of a batch, not the values of a spectrum."""

    def value(self, singular_values):
        return sum(np.sqrt(s) for s in singular_values)


class OneAtATime(Criterion):
    """Fails on more than one spectrum, and does not say so."""

    def value(self, singular_values):
        return float(sum(np.sqrt(s) for s in singular_values))


@pytest.mark.parametrize("criterion", [WrongAxis(), OneAtATime()], ids=["wrong axis", "one"])
def test_a_criterion_for_one_spectrum_is_called_for_each(criterion):
    spectra = np.sort(np.random.default_rng(0).uniform(0, 3, (4, 4)), axis=1)[:, ::-1]
    np.testing.assert_allclose(criterion.values(spectra), np.sqrt(spectra).sum(axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_a_criterion_along_the_wrong_axis_proves_nothing_wrong(seed):
    X = np.random.default_rng(seed).standard_normal((12, 6))
    selector = ColumnSelector(2, criterion=WrongAxis()).fit(X)
    best = np.inf
    for subset in combinations(range(6), 2):
        Q = np.linalg.qr(X[:, list(subset)])[0]
        left = np.linalg.svd(X - Q @ (Q.T @ X), compute_uv=False)[:4]
        best = min(best, np.sqrt(left).sum())
    assert selector.error_ == pytest.approx(best, rel=1e-6)
