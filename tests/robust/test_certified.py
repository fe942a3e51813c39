"""RobustPCA: optimal against enumeration, honest when stopped, clear when wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from columnist.criteria import Frobenius, Nuclear
from columnist.robust import BiasCentered, RobustPCA, TrimmedPCA
from tests.oracles.outliers import best_rows, row_errors
from tests.robust.samples import contaminated, largest_angle
from tests.strategies import CRITERIA, matrices, tolerance

# Kept rows of low rank are normal here, and said aloud.
few_directions = pytest.mark.filterwarnings("ignore:.*vary in .* directions only:UserWarning")

CENTERINGS = ["optimal", "mean", "none"]


@st.composite
def cases(draw):
    """Rows, a number of components and of outliers, a criterion and a centring."""
    X = draw(matrices(min_rows=4, max_rows=9, max_columns=5))
    k = draw(st.integers(0, min(3, len(X) - 2)))
    r = draw(st.integers(0, min(2, len(X) - k, X.shape[1])))
    return X, r, k, draw(st.sampled_from(CRITERIA)), draw(st.sampled_from(CENTERINGS))


@few_directions
@settings(max_examples=150)
@given(cases())
def test_the_best_rows_are_removed(case):
    X, r, k, criterion, centering = case
    found = RobustPCA(r, n_outliers=k, criterion=criterion, centering=centering).fit(X)
    errors = row_errors(X, r, k, criterion=criterion, centering=centering)
    tol = tolerance(criterion, X - X.mean(axis=0) if centering == "mean" else X)
    assert found.certificate_.status == "optimal"
    assert found.error_ == pytest.approx(min(errors.values()), abs=tol)
    assert errors[tuple(found.outliers_)] == pytest.approx(found.error_, abs=tol)
    assert found.certificate_.lower_bound <= min(errors.values()) + tol


@few_directions
@settings(max_examples=40)
@given(cases(), st.sampled_from(["auto", "weighted", "greedy", "optimistic"]), st.integers(0, 3))
def test_certificates_hold_wherever_the_search_stops(case, order, nodes):
    X, r, k, criterion, centering = case
    found = RobustPCA(
        r, n_outliers=k, criterion=criterion, centering=centering,
        search=order, epsilon=0.5, max_nodes=nodes,
    ).fit(X)  # fmt: skip
    optimum, _ = best_rows(X, r, k, criterion=criterion, centering=centering)
    tol = tolerance(criterion, X - X.mean(axis=0) if centering == "mean" else X)
    certificate = found.certificate_
    assert certificate.lower_bound <= optimum + tol
    assert certificate.error >= optimum - tol
    assert len(certificate.history) > 0
    for entry in certificate.history:
        assert entry["bound"] <= optimum + tol


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_bias_trick_as_its_constant_grows(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 3)) + rng.standard_normal(3) * 4.0
    found = RobustPCA(1, n_outliers=2).fit(X)
    distances = []
    for gamma in (1.0, 10.0, 1e3):
        inner = RobustPCA(1, n_outliers=2)
        biased = BiasCentered(inner, gamma=gamma).fit(X)
        bias = biased.bias_
        wide = np.column_stack([X, np.full(10, bias)])
        exhaustive, removed = best_rows(wide, 2, 2, centering="none")
        assert biased.estimator_.error_ == pytest.approx(exhaustive, rel=1e-9)
        assert tuple(biased.outliers_) == removed
        distances.append(abs(exhaustive - found.error_))
    assert exhaustive <= found.error_ * (1 + 1e-9)
    assert distances[2] <= 1e-4 * found.error_
    assert distances == sorted(distances, reverse=True)
    np.testing.assert_array_equal(biased.outliers_, found.outliers_)


@pytest.mark.parametrize("kind", ["clustered", "scattered"])
def test_finds_the_subspace_of_the_good_rows(kind):
    X, axes = contaminated(60, 6, 2, 8, np.random.default_rng(0), kind=kind)
    found = RobustPCA(2, n_outliers=8, random_state=0).fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(8))
    assert largest_angle(axes, found.components_) < 2.0
    assert found.certificate_.is_optimal
    assert np.all(found.predict(X[:8]) == -1)


def test_more_outliers_than_there_are_do_no_harm():
    X, axes = contaminated(100, 5, 2, 6, np.random.default_rng(1))
    found = RobustPCA(2, n_outliers=20, random_state=0, time_limit=5).fit(X)
    assert largest_angle(axes, found.components_) < 3.0
    flagged = np.flatnonzero(found.predict(X) == -1)
    assert set(range(6)) <= set(flagged)
    assert len(flagged) <= 6 + 10


def test_never_worse_than_trimming():
    X = load_iris().data
    for k in (5, 11):
        ours = RobustPCA(1, n_outliers=k, random_state=0).fit(X)
        assert ours.error_ <= TrimmedPCA(1, n_outliers=k).fit(X).error_ * (1 + 1e-12)
        assert ours.certificate_.is_optimal


def test_greedy_removes_the_best_row_each_time():
    X = np.random.default_rng(5).standard_normal((12, 4))
    found = RobustPCA(1, n_outliers=3, search="greedy", criterion="nuclear").fit(X)
    removed = ()
    for _ in range(3):
        errors = row_errors(X, 1, len(removed) + 1, criterion=Nuclear())
        removed = min((e, s) for s, e in errors.items() if set(removed) <= set(s))[1]
    assert tuple(found.outliers_) == removed
    assert found.certificate_.status in ("heuristic", "optimal")
    assert found.certificate_.a_priori_bound is not None


def test_weighted_search_keeps_its_guarantee():
    X = np.random.default_rng(6).standard_normal((12, 10))
    optimum, _ = best_rows(X, 1, 3)
    found = RobustPCA(1, n_outliers=3, search="weighted", epsilon=2.0).fit(X)
    assert found.error_ - optimum <= found.certificate_.a_priori_bound + 1e-9
    assert found.certificate_.status in ("bounded", "optimal")


# --- limits, progress and interruption -------------------------------------------------------


@pytest.fixture
def hard():
    """Rows without outliers: a proof takes long."""
    return np.random.default_rng(7).standard_normal((120, 8))


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_time_limit(hard, criterion):
    found = RobustPCA(2, n_outliers=20, criterion=criterion, time_limit=0.0).fit(hard)
    certificate = found.certificate_
    assert certificate.status == "time_limit"
    assert 0.0 <= certificate.lower_bound < certificate.error
    assert len(found.outliers_) == 20


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_node_limit_and_warning(hard, criterion):
    options = {"n_outliers": 20, "criterion": criterion, "max_nodes": 1}
    assert RobustPCA(2, **options).fit(hard).certificate_.status == "node_limit"
    with pytest.warns(ConvergenceWarning, match="not proven optimal") as caught:
        RobustPCA(2, search="optimal", **options).fit(hard)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_callback_sees_progress_and_stops(hard, criterion):
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 2

    found = RobustPCA(2, n_outliers=20, criterion=criterion, callback=stop).fit(hard)
    assert found.certificate_.status == "interrupted"
    assert len(seen) >= 2
    assert seen[-1].bound <= found.error_ * (1 + 1e-9)


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_ctrl_c_keeps_the_best(hard, criterion):
    def interrupt(progress):
        raise KeyboardInterrupt

    found = RobustPCA(2, n_outliers=20, criterion=criterion, callback=interrupt).fit(hard)
    assert found.certificate_.status == "interrupted"
    assert len(found.outliers_) == 20


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_gap(hard, criterion):
    found = RobustPCA(2, n_outliers=3, criterion=criterion, max_gap=0.9).fit(hard)
    assert found.certificate_.status in ("gap_reached", "optimal")
    assert found.certificate_.gap <= 0.9


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_log_ends_with_the_certificate(capsys, criterion):
    X = np.random.default_rng(8).standard_normal((15, 3))
    RobustPCA(1, n_outliers=2, criterion=criterion, verbose=True).fit(X)
    printed = capsys.readouterr().out
    assert "Incumbent" in printed
    assert "optimal (no other choice has a smaller error)" in printed


@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e140])
@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
def test_scales(scale, criterion):
    X = np.random.default_rng(9).standard_normal((12, 3))
    options = {"n_outliers": 3, "criterion": criterion, "random_state": 0}
    plain = RobustPCA(1, **options).fit(X)
    scaled = RobustPCA(1, **options).fit(X * scale)
    power = 2 if criterion == "frobenius" else 1
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)
    assert scaled.error_ == pytest.approx(plain.error_ * scale**power, rel=1e-9)
    bounds = [entry["bound"] for entry in scaled.certificate_.history]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= scaled.error_ * (1 + 1e-12)


def test_very_many_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 3)) * [5.0, 1.0, 1.0]
    X[:20, 1] += 40.0
    found = RobustPCA(1, n_outliers=20, time_limit=1.0, random_state=0).fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(20))
    assert found.certificate_.status in ("optimal", "time_limit", "memory_limit")
    assert 0.0 <= found.certificate_.lower_bound <= found.error_


def test_random_state_makes_runs_equal(hard):
    runs = [RobustPCA(2, n_outliers=20, random_state=3, max_nodes=1).fit(hard) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].outliers_, runs[1].outliers_)
    assert runs[0].certificate_.lower_bound == runs[1].certificate_.lower_bound


# --- odd and bad input -----------------------------------------------------------------------


@few_directions
@pytest.mark.parametrize("criterion", ["frobenius", "schatten:0.5"])
@pytest.mark.parametrize("centering", CENTERINGS)
def test_all_points_equal(criterion, centering):
    X = np.ones((8, 3))
    found = RobustPCA(1, n_outliers=2, criterion=criterion, centering=centering).fit(X)
    assert found.error_ == pytest.approx(0.0, abs=1e-12)
    assert found.certificate_.is_optimal
    assert np.all(found.predict(X) == 1)


def test_exact_fit_without_the_outliers():
    line = np.outer(np.arange(12.0), [1.0, 2.0, -1.0]) + 5.0
    X = np.vstack([line, [[9.0, 0.0, 0.0], [0.0, 9.0, 0.0]]])
    found = RobustPCA(1, n_outliers=2).fit(X)
    np.testing.assert_array_equal(found.outliers_, [12, 13])
    assert found.error_ == pytest.approx(0.0, abs=1e-20)
    assert found.certificate_.is_optimal
    np.testing.assert_array_equal(found.predict(X), [1] * 12 + [-1] * 2)


def test_no_components_is_a_trimmed_mean():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [40.0]])
    found = RobustPCA(0, n_outliers=1).fit(X)
    np.testing.assert_array_equal(found.outliers_, [4])
    assert found.mean_ == pytest.approx([1.5])
    assert found.error_ == pytest.approx(5.0)
    assert found.components_.shape == (0, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_outliers": 12}, "n_outliers must be at least 0 and below the number of rows"),
        ({"n_outliers": -1}, "n_outliers"),
        ({"n_outliers": 1.5}, "n_outliers"),
        ({"n_outliers": "some"}, "n_outliers"),
        ({"n_components": 4}, "n_components=4 is too large"),
        ({"n_components": -1}, "n_components must be an integer >= 0"),
        ({"n_components": 3, "n_outliers": 10}, "too large for 2 kept rows"),
        ({"centering": "median"}, "centering must be one of"),
        ({"criterion": "frobenious"}, "Unknown criterion"),
        ({"search": "best"}, "search must be one of"),
        ({"cutoff": "none"}, "cutoff must be one of"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"max_gap": 2.0}, "max_gap"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_memory": 0.0}, "max_memory"),
        ({"callback": 3}, "callback must be callable"),
    ],
)
def test_bad_parameters(changes, message):
    X = np.random.default_rng(0).standard_normal((12, 3))
    with pytest.raises(ValueError, match=message):
        RobustPCA(**{"n_components": 1, "n_outliers": 2, **changes}).fit(X)


def test_certificate_speaks_of_the_fit():
    X = np.random.default_rng(0).standard_normal((12, 3))
    found = RobustPCA(1, n_outliers=2).fit(X)
    certificate = found.certificate_
    assert certificate.selection == tuple(found.outliers_)
    assert certificate.error == found.error_
    assert certificate.criterion == str(Frobenius())
    assert certificate.elapsed > 0.0
