"""Errors of sets of rows: intervals that hold, digits that count."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from columnist.criteria import Frobenius, Nuclear, Schatten, Spectral
from columnist.robust._errors import RowErrors, WeightedErrors
from columnist.robust._subspace import about_mean
from tests.examples import examples

CENTERINGS = ["optimal", "mean", "none"]


def exact_error(X, kept, r, centering, power):
    """Sum of powers of singular values with fifty digits."""
    with mpmath.workdps(50):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in X]
        chosen = [rows[i] for i in kept]
        whole = rows if centering == "mean" else chosen
        if centering != "none":
            mean = [mpmath.fsum(column) / len(whole) for column in zip(*whole, strict=True)]
            chosen = [[x - m for x, m in zip(row, mean, strict=True)] for row in chosen]
        sigma = sorted(mpmath.svd_r(mpmath.matrix(chosen), compute_uv=False), reverse=True)
        return float(mpmath.fsum(s**power for s in sigma[r:]))


def hostile(kind, rng):
    X = rng.standard_normal((7, 4))
    if kind == "dominating":
        X[:2] += 1e8 * rng.standard_normal(4)
    elif kind == "offset":
        X += 1e8
    elif kind == "near copies":
        X[5:] = X[:2] + 1e-8 * rng.standard_normal((2, 4))
    elif kind == "all at once":
        X[:2] *= 1e7
        X += 1e6
        X[6] = X[5] + 1e-6 * rng.standard_normal(4)
    return X


@pytest.mark.parametrize("centering", CENTERINGS)
@pytest.mark.parametrize("kind", ["plain", "dominating", "offset", "near copies", "all at once"])
def test_against_fifty_digits(kind, centering):
    for seed in range(4):
        X = hostile(kind, np.random.default_rng(seed))
        kept = np.array([0, 1, 3, 4, 5, 6])
        for criterion, power in ((Frobenius(), 2), (Nuclear(), 1)):
            for r in (0, 1, 3):
                errors = RowErrors(X, r, criterion, centering)
                truth = exact_error(X, kept, r, centering, power)
                found = errors.evaluate(kept)
                assert found.precise
                assert found.value == pytest.approx(truth, rel=1e-10)
                for interval in (found, errors.interval(kept), errors.exact(kept)):
                    assert interval.low <= truth * (1 + 1e-14)
                    assert interval.high >= truth * (1 - 1e-14)


def test_double_precision_alone_is_not_trusted():
    X = hostile("dominating", np.random.default_rng(0))
    errors = RowErrors(X, 2, Frobenius(), "optimal")
    assert not errors.interval(np.arange(7)).precise
    assert errors.evaluate(np.arange(7)).precise


@pytest.mark.parametrize("centering", CENTERINGS)
def test_an_error_that_is_rounding_is_none(centering):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 5))
    X *= 10.0 ** rng.uniform(-3, 3, (9, 1))  # no matter how long the rows are
    r = 3 if centering == "mean" else 2
    errors = RowErrors(X, r, Frobenius(), "none" if centering == "mean" else centering)
    assert errors.evaluate(np.arange(1, 9)).high == 0.0
    X[4, 0] *= 1.0 + 1e-8
    errors = RowErrors(X, 2, Frobenius(), centering)
    assert errors.evaluate(np.arange(1, 9)).low > 0.0


def test_a_short_row_off_the_subspace_counts_beside_long_ones():
    X = np.zeros((5, 3))
    X[:, 0] = [1e12, -2e12, 3e12, 1.0, -1.0]
    X[4, 1] = 1e-3
    found = RowErrors(X, 1, Spectral(), "none").evaluate(np.arange(5))
    assert found.value == pytest.approx(1e-3, rel=1e-9) and found.precise


@pytest.mark.parametrize("away", [1e3, 1e5, 3e7, 1e9])
def test_rows_that_lie_together_far_from_the_others(away):
    """What they are apart is no rounding, whatever the others are like."""
    for seed in range(examples(20)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 2))
        X[:4] += away * rng.standard_normal(2)
        found = RowErrors(X, 1, Nuclear(), "optimal").evaluate(np.arange(4))
        truth = exact_error(X, np.arange(4), 1, "optimal", 1)
        assert found.precise and found.value == pytest.approx(truth, rel=1e-9)


def test_few_rows_have_no_error_whatever_they_are():
    X = np.random.default_rng(0).standard_normal((6, 4)) * 1e5
    for centering, count in (("optimal", 3), ("none", 2)):
        errors = RowErrors(X, 2, Schatten(0.5), centering)
        assert errors.evaluate(np.arange(count)).high == 0.0
        assert errors.evaluate(np.zeros(6, dtype=bool)).high == 0.0


@pytest.mark.parametrize("centering", CENTERINGS)
def test_more_columns_than_rows(centering):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6, 11))
    X[0] *= 1e8
    errors = RowErrors(X, 2, Frobenius(), centering)
    assert errors.short.shape == (6, 6)
    for kept in (np.arange(6), np.arange(1, 6)):
        truth = exact_error(X, kept, 2, centering, 2)
        interval = errors.interval(kept)
        assert interval.low <= truth <= interval.high
        assert errors.evaluate(kept).value == pytest.approx(truth, rel=1e-10)


def test_units_and_scales():
    X = np.random.default_rng(2).standard_normal((8, 3))
    errors = RowErrors(X, 1, Nuclear(), "mean")
    kept = np.array([0, 2, 3, 5, 7])
    other = errors.divided(2.0**20, 3.0)
    assert other.evaluate(kept).value == pytest.approx(
        3.0 * 2.0**-20 * errors.evaluate(kept).value, rel=1e-13
    )
    assert errors.divided(1.0, 1.0).rows is errors.rows


def test_too_much_work_for_better_arithmetic(monkeypatch):
    X = hostile("dominating", np.random.default_rng(0))
    monkeypatch.setattr("columnist.robust._errors._SECONDS", 0.0)
    errors = RowErrors(X, 2, Frobenius(), "optimal")
    monkeypatch.setattr(errors, "affordable", lambda kept, seconds=0.0: False)
    found = errors.evaluate(np.arange(7))
    truth = exact_error(X, range(7), 2, "optimal", 2)
    assert not found.precise and found.low <= truth <= found.high


def test_weighted_rows_stand_for_others():
    rng = np.random.default_rng(3)
    X, extra = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    base, mean = about_mean(extra)
    rows = np.vstack([base, 2.0 * mean, X])
    weights = np.r_[np.zeros(4), 2.0, np.ones(5)]
    found = WeightedErrors(rows, 1, weights).evaluate(np.arange(9))
    whole = RowErrors(np.vstack([extra, X[:4]]), 1, Frobenius(), "optimal").evaluate(np.arange(8))
    assert found.value == pytest.approx(whole.value, rel=1e-12)
    assert found.low <= whole.value <= found.high
