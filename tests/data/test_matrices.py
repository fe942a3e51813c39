"""Errors from the data: the intervals hold the true error, whatever the data are like."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.criteria import get_criterion
from columnist.data import Matrices, _matrices
from tests.examples import examples
from tests.soak.oracle import ColumnTruth

KINDS = ("gaussian", "near copies", "long column", "short column", "offset", "graded")
ULPS = 1e-13


def hostile(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Data, a target, and whether means are free."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X, Y = rng.standard_normal((9, 6)), rng.standard_normal((9, 2))
    if kind == "near copies":
        X[:, 4] = X[:, 0] + 10.0 ** rng.uniform(-8, -3) * X[:, 4]
        X[:, 5] = X[:, 1] + X[:, 0] + 10.0 ** rng.uniform(-8, -3) * X[:, 5]
    elif kind == "long column":
        X[:, 2] *= 10.0 ** rng.uniform(3, 8)
    elif kind == "short column":
        X[:, 2] *= 10.0 ** rng.uniform(-100, -8)
    elif kind == "offset":
        X, Y = X + 10.0 ** rng.uniform(3, 8), Y + 10.0 ** rng.uniform(0, 8)
    elif kind == "graded":
        X *= 10.0 ** rng.uniform(-6, 6, 6)
    return X, Y, kind == "offset"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["frobenius", "nuclear", "spectral", "schatten:0.5"])
def test_intervals_hold_the_error(kind, criterion):
    own = get_criterion(criterion)
    for seed in range(examples(6)):
        X, Y, center = hostile(kind, seed)
        for target, n_components in ((None, 0), (None, 1), (Y, 0)):
            truth = ColumnTruth(
                X, target, 3, criterion=criterion, n_components=n_components, center=center
            )
            for data in (X, sp.csr_array(X)):
                matrices = Matrices(data, target, center=center)
                for subset in combinations(range(6), 3):
                    low, high = matrices.interval(subset, own, n_components)
                    least, most = truth.of(subset)
                    assert low <= most * (1.0 + ULPS)
                    assert high >= least * (1.0 - ULPS)
                    # Sharp enough to tell sets apart, or as sharp as can be.
                    assert high - low <= 1e-10 * abs(low) + (most - least)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_double_precision_knows_what_it_does_not_know(kind, criterion):
    """The interval before better arithmetic is asked: wide perhaps, but never beside the error."""
    own, wide = get_criterion(criterion), 0
    for seed in range(examples(8)):
        X, Y, center = hostile(kind, seed)
        for target in (None, Y):
            truth = ColumnTruth(X, target, 3, criterion=criterion, center=center)
            for data in (X, sp.csr_array(X)):
                matrices = Matrices(data, target, center=center)
                for subset in combinations(range(6), 3):
                    low, high = _matrices._double_interval(matrices, subset, own, 0)
                    least, most = truth.of(subset)
                    assert low <= most * (1.0 + 1e-15)
                    assert high >= least * (1.0 - 1e-15)
                    wide += high > low
    assert wide > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["frobenius", "nuclear", "spectral", "schatten:0.5"])
def test_verified_residuals_enclose_the_error(kind, criterion):
    """Sharp, or nothing at all: never beside the error."""
    own, known = get_criterion(criterion), 0
    for seed in range(examples(8)):
        X, Y, center = hostile(kind, seed)
        for target, n_components in ((None, 0), (None, 1), (Y, 0)):
            truth = ColumnTruth(
                X, target, 4, criterion=criterion, n_components=n_components, center=center
            )
            matrices = Matrices(X, target, center=center)
            for subset in combinations(range(6), 4):
                low, high = _matrices._verified_interval(matrices, subset, own, n_components)
                least, most = truth.of(subset)
                assert low <= most * (1.0 + 1e-15)
                assert high >= least * (1.0 - 1e-15)
                known += np.isfinite(high)
    assert known > 0


def test_rounding_of_entries_is_left_to_better_arithmetic():
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[:, 3] = X[:, :3] @ [1.0, 2.0, 3.0]
    own = get_criterion("frobenius")
    assert _matrices._verified_interval(Matrices(X), (0, 1, 2), own, 0) == (0.0, np.inf)
    assert Matrices(X).interval((0, 1, 2), own) == (0.0, 0.0)
    assert _matrices._verified_interval(Matrices(X), (0, 1, 2, 3), own, 0) == (0.0, 0.0)


def test_intervals_of_gram_matrices():
    for seed in range(examples(10)):
        X = np.random.default_rng(seed).standard_normal((9, 5))
        truth = ColumnTruth(X, None, 2, criterion="frobenius")
        matrices = Matrices(X.T @ X, gram=True)
        for subset in combinations(range(5), 2):
            low, high = matrices.interval(subset, get_criterion("frobenius"))
            assert low == pytest.approx(truth.of(subset)[0], rel=1e-12)
            assert low <= high


def test_what_is_too_large_for_better_arithmetic_keeps_its_doubt(monkeypatch):
    monkeypatch.setattr("columnist.data._matrices._MOST_ACCURATE", 0.0)
    X, _, _ = hostile("near copies", 0)
    X[:, 4] = X[:, 0] + 1e-8 * X[:, 4]
    Y = np.random.default_rng(1).standard_normal((9, 1))
    low, high = Matrices(X, Y).interval((0, 2, 4), get_criterion("frobenius"))
    least, most = ColumnTruth(X, Y, 3, criterion="frobenius").of((0, 2, 4))
    assert low < least <= most < high
