"""Outliers and certificates for a growing number of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.criteria import Frobenius, Nuclear, Spectral
from columnist.robust import _path as path_module
from columnist.robust._errors import RowErrors
from columnist.robust._path import NestedRows, OutlierPath, OutlierStep, _spaced, outlier_path
from columnist.search._certificate import Certificate
from tests.oracles.outliers import best_rows
from tests.robust.samples import contaminated


def steps(errors, bounds) -> list[OutlierStep]:
    """Steps of 0, 1, 2, ... outliers."""
    return [
        OutlierStep(np.arange(k), Certificate("time_limit", error, bound))
        for k, (error, bound) in enumerate(zip(errors, bounds, strict=True))
    ]


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["optimal", "mean", "none"]),
    st.sampled_from([Frobenius(), Frobenius(), Nuclear(), Spectral()]),
    st.integers(0, 2),
)
def test_every_number_against_enumeration(seed, centering, criterion, r):
    X = np.random.default_rng(seed).integers(-3, 4, size=(8, 3)) + 0.25
    path = outlier_path(
        X, r, 3, centering=centering, criterion=criterion, time_limit=None, random_state=0
    )
    assert path.n_outliers.tolist() == [0, 1, 2, 3]
    for k, step in enumerate(path):
        optimum, _ = best_rows(X, r, k, criterion=criterion, centering=centering)
        close = pytest.approx(optimum, rel=1e-7, abs=1e-7)
        assert step.certificate.error == close
        assert step.certificate.lower_bound == close
        assert step.certificate.selection == tuple(step.outliers)
    assert (np.diff(path.errors) <= 1e-9).all()


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"max_nodes": 0}, {"max_nodes": 2}])
def test_bounds_hold_at_every_limit(limit):
    X, _ = contaminated(30, 4, 1, 3, np.random.default_rng(0))
    optimal = outlier_path(X, 1, 5, time_limit=None, random_state=0)
    assert all(step.certificate.status == "optimal" for step in optimal)
    path = outlier_path(X, 1, 5, random_state=0, **limit)
    assert (path.lower_bounds <= optimal.errors * (1 + 1e-9)).all()
    assert (path.errors >= optimal.errors * (1 - 1e-9)).all()
    assert (np.diff(path.lower_bounds) <= 0.0).all()
    assert (path.lower_bounds <= path.errors).all()


# -- how many outliers --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["scattered", "clustered"])
@pytest.mark.parametrize(("n", "p", "r", "k"), [(40, 5, 1, 4), (30, 40, 2, 3), (40, 4, 2, 0)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_outliers_are_counted_up_to_one_good_row(kind, n, p, r, k, seed):
    X, _ = contaminated(n, p, r, k, np.random.default_rng(seed), kind=kind, noise=0.2)
    path = outlier_path(X, r, 6, max_gap=1.0, random_state=0)
    assert k <= path.suggested <= k + 1
    assert set(range(k)) <= set(path[path.suggested].outliers)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_the_suggestion_has_no_unit(unit):
    X, _ = contaminated(30, 4, 1, 3, np.random.default_rng(1))
    plain = outlier_path(X, 1, 4, max_gap=1.0, random_state=0)
    scaled = outlier_path(unit * X, 1, 4, max_gap=1.0, random_state=0)
    assert scaled.suggested == plain.suggested == 3
    np.testing.assert_allclose(scaled.drops / unit, plain.drops * unit, rtol=1e-6)
    assert scaled.limit == pytest.approx(plain.limit * unit * unit)


def test_rows_on_a_line_and_a_few_beside_it():
    X, _ = contaminated(40, 4, 1, 3, np.random.default_rng(2), noise=0.0)
    path = outlier_path(X, 1, 6, max_gap=1.0, random_state=0)
    assert path.suggested == 3
    np.testing.assert_array_equal(path[3].outliers, [0, 1, 2])


def test_the_limit_is_the_cut_off_for_the_farthest_of_all_rows():
    """On clean data about one set in forty has a row beyond it."""
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(40):
        X = rng.standard_normal((100, 6)) * [5.0, 1.0, 1.0, 1.0, 1.0, 1.0]
        path = outlier_path(X, 1, 0, time_limit=0.0)
        beyond += (X[:, 1:] ** 2).sum(axis=1).max() > path.limit
    assert beyond <= 6


def test_the_last_paying_step_is_suggested():
    # The third row pays again: a cluster of outliers leaves the fit together.
    path = OutlierPath(tuple(steps([20.0, 17.0, 16.0, 8.0, 7.5], [0.0] * 5)), limit=2.0)
    assert path.drops.tolist() == [3.0, 1.0, 8.0, 0.5]
    assert path.suggested == 3
    assert OutlierPath(path.steps, limit=9.0).suggested == 0
    assert OutlierPath(path.steps).suggested is None


def test_other_criteria_suggest_nothing():
    X, _ = contaminated(12, 3, 1, 2, np.random.default_rng(0))
    path = outlier_path(X, 1, 2, criterion="nuclear", random_state=0)
    assert path.limit is None and path.suggested is None
    assert path[0].certificate.criterion == "nuclear"


# -- the numbers tried --------------------------------------------------------------


@given(st.integers(0, 5000), st.integers(1, 60))
def test_numbers_are_all_or_spaced_out(most, n_steps):
    numbers = np.array(_spaced(most, n_steps))
    assert (numbers[0], numbers[-1]) == (0, most)
    assert (np.diff(numbers) > 0).all()
    assert len(numbers) == min(most, n_steps) + 1


def test_a_fraction_of_the_rows():
    X, _ = contaminated(50, 4, 1, 3, np.random.default_rng(0))
    path = outlier_path(X, 1, 0.2, n_steps=4, max_gap=1.0, random_state=0)
    assert len(path) == 5 and path.n_outliers[-1] == 10
    np.testing.assert_allclose(path.drops * np.diff(path.n_outliers), -np.diff(path.errors))


def test_time_is_shared_out(monkeypatch):
    X, _ = contaminated(20, 3, 1, 2, np.random.default_rng(0))
    shares = []

    class Recorder(path_module.RobustPCA):
        def _search(self, question, time_limit):
            shares.append(time_limit)
            return super()._search(question, time_limit)

    monkeypatch.setattr(path_module, "RobustPCA", Recorder)
    outlier_path(X, 1, 3, time_limit=100.0, random_state=0)
    assert len(shares) == 4 and shares[0] <= 25.0 < shares[-1] <= 100.0
    assert (np.diff(shares) > 0.0).all(), "what a step leaves over goes to the later ones"
    shares.clear()
    outlier_path(X, 1, 1, time_limit=None, random_state=0)
    assert shares == [None, None]


def test_a_sequence_of_steps():
    X, _ = contaminated(25, 3, 1, 2, np.random.default_rng(0))
    path = outlier_path(X, 1, 3, random_state=0)
    assert len(path) == len(list(path)) == 4
    assert isinstance(path[0], OutlierStep) and len(path[0].outliers) == 0
    assert [len(step.outliers) for step in path[1:3]] == [1, 2]
    np.testing.assert_allclose(path.relative_errors, path.errors / path.errors[0])
    lines = repr(path).splitlines()
    assert lines[0] == "OutlierPath, suggested: 2" and len(lines) == 2 + 4
    assert all(line.endswith("optimal") for line in lines[2:])
    with pytest.raises(AttributeError):
        path.limit = 0.0


def test_nothing_is_removed():
    X, _ = contaminated(25, 3, 1, 0, np.random.default_rng(0))
    path = outlier_path(X, 1, 0)
    assert len(path) == 1 and path.suggested == 0 and len(path.drops) == 0


@pytest.mark.filterwarnings("ignore:.*kept rows vary in 0 directions")
def test_nothing_to_explain():
    path = outlier_path(np.ones((6, 2)), 1, 2)
    np.testing.assert_array_equal(path.errors, np.zeros(3))
    np.testing.assert_array_equal(path.relative_errors, np.zeros(3))
    assert path.suggested == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_outliers": 10}, "below the number of rows"),
        ({"max_outliers": -1}, "at least 0"),
        ({"max_outliers": 1.5}, "fraction of the rows"),
        ({"max_outliers": 8, "n_components": 3}, "n_components=3 is too large"),
        ({"n_components": 1.0}, "n_components must be an integer"),
        ({"n_steps": 0}, "n_steps must be an integer >= 1"),
        ({"time_limit": -1.0}, "time_limit must be a number >= 0"),
        ({"centering": "median"}, "centering must be one of"),
        ({"X": np.full((10, 3), np.nan)}, "NaN"),
        ({"X": np.ones(10)}, "Expected 2D array"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    good = {"X": np.arange(30.0).reshape(10, 3) % 7, "n_components": 1, "max_outliers": 2}
    with pytest.raises(ValueError, match=message):
        outlier_path(**good | arguments)


def test_misspelt_options_are_errors():
    with pytest.raises(TypeError, match="centring"):
        outlier_path(np.eye(5), 1, 1, centring="none")


# -- steps where time is short -------------------------------------------------------


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()])
@pytest.mark.parametrize("centering", ["optimal", "mean", "none"])
@pytest.mark.parametrize("p", [5, 70])
def test_errors_are_those_of_the_sets(criterion, centering, p):
    X, _ = contaminated(90, p, 2, 8, np.random.default_rng(0))
    errors = RowErrors(X + 3.0, 2, criterion, centering, 4.0)
    nested = NestedRows(errors, np.zeros(0, dtype=int))
    for k in (0, 3, 4, 8, 20):
        removed, error = nested.to(k)
        assert len(removed) == k == len(set(removed.tolist()))
        kept = np.setdiff1d(np.arange(90), removed)
        assert error == pytest.approx(errors.evaluate(kept).value, rel=1e-9)
        if k == 8:
            np.testing.assert_array_equal(removed, np.arange(8))


def test_rows_that_dominated_leave_no_rounding_behind():
    X, _ = contaminated(60, 6, 2, 0, np.random.default_rng(1))
    X[:3] *= 1e9
    errors = RowErrors(X, 2, Frobenius(), "optimal")
    nested = NestedRows(errors, np.zeros(0, dtype=int))
    for k in (1, 2, 3, 4):
        removed, error = nested.to(k)
        kept = np.setdiff1d(np.arange(60), removed)
        assert error == pytest.approx(errors.evaluate(kept).value, rel=1e-9)
    assert len(set(removed) & {0, 1, 2}) >= 1  # a component may be theirs
