"""Bounds by blocks of rows: the powers that add up, and every partial choice by enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_iris

from columnist.criteria import Frobenius, KyFan, Nuclear, Schatten, Spectral
from columnist.robust import RobustPCA, _block_floors
from columnist.robust._block_floors import BlockFloors, _power, elsewhere_by_maximum
from columnist.robust._errors import RowErrors, all_but
from columnist.robust._solve import RemovedRows
from tests.examples import examples
from tests.strategies import LogEnergy, OneByOne

POWERS = [
    (Frobenius(), 1.0), (Nuclear(), 2.0), (Schatten(0.1), 2.0), (Schatten(0.5), 2.0),
    (Schatten(1.5), 2.0), (Schatten(2.0), 2.0), (Schatten(2.5), 2.5), (Schatten(4.0), 4.0),
    (Spectral(), np.inf), (KyFan(2), np.inf), (LogEnergy(), np.inf), (OneByOne(), np.inf),
]  # fmt: skip
OTHERS = [criterion for criterion, _ in POWERS[1:]]


def hostile(rng, n, d):
    """Rows of very different size, near copies, far from zero, nearly in a line, on a grid."""
    X = rng.standard_normal((n, d))
    kind = rng.integers(0, 7)
    if kind == 1:
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == 2:
        X *= 10.0 ** rng.integers(-6, 7, d)
    elif kind == 3:
        X *= 10.0 ** rng.integers(-6, 7, (n, 1))
    elif kind == 4:
        X = X[rng.integers(0, max(1, n // 3), n)] + 1e-9 * X
    elif kind == 5:
        X += 10.0 ** rng.integers(0, 9)
    elif kind == 6:
        X = rng.standard_normal((n, 1)) @ rng.standard_normal((1, d)) + 1e-3 * X
    return X


def error(criterion, X, r, centred):
    Z = X - X.mean(axis=0) if centred else X
    sigma = np.linalg.svd(Z, compute_uv=False)[r:]
    return float(criterion.value(sigma if len(sigma) else np.zeros(1)))


def joined(parts, power):
    """What blocks say together."""
    if np.isinf(power) or max(parts) == 0.0:
        return max(parts)
    return max(parts) * float(np.sum((np.array(parts) / max(parts)) ** power)) ** (1.0 / power)


def excess(criterion, power, rng):
    """By how much a bound is above the error, as a share of the whole; usually negative."""
    n, r, centred = int(rng.integers(2, 14)), int(rng.integers(0, 4)), bool(rng.integers(0, 2))
    X = hostile(rng, n, int(rng.integers(1, 7)))
    labels = rng.integers(0, rng.integers(1, 5), n)
    parts = [error(criterion, X[labels == b], r, centred) for b in np.unique(labels)]
    whole = error(criterion, X, 0, False)
    return (joined(parts, power) - error(criterion, X, r, centred)) / (whole or 1.0)


@pytest.mark.parametrize(("criterion", "power"), POWERS, ids=lambda value: str(value))
def test_powers_of_errors_are_superadditive(criterion, power):
    assert _power(criterion) == power
    rng = np.random.default_rng(0)
    assert max(excess(criterion, power, rng) for _ in range(examples(2000))) < 1e-12


@pytest.mark.parametrize(("criterion", "power"), [(Nuclear(), 1.5), (Schatten(3.0), 2.0)])
def test_smaller_powers_are_not(criterion, power):
    rng = np.random.default_rng(0)
    assert max(excess(criterion, power, rng) for _ in range(200)) > 1e-3


@pytest.mark.parametrize("size", [2, 3, 5, 30])
def test_floors_hold_for_every_partial_choice(size, monkeypatch):
    """The error of every complete choice is at least the floor of each of its rows."""
    monkeypatch.setattr(_block_floors, "block_size", lambda n, k: min(n, size))
    rng, positive = np.random.default_rng(size), 0
    for _ in range(examples(300)):
        n, k, r = int(rng.integers(4, 9)), int(rng.integers(1, 4)), int(rng.integers(0, 3))
        criterion = OTHERS[rng.integers(len(OTHERS))]
        X = hostile(rng, n, int(rng.integers(1, 6)))
        errors = RowErrors(X, r, criterion, ["none", "mean", "optimal"][rng.integers(3)])
        blocks = BlockFloors(errors, k)
        rows = rng.permutation(n)
        removed, out = rows[: rng.integers(0, k)], rng.integers(0, n - k + 1)
        candidates = np.setdiff1d(rows[: n - out], removed)
        floors = blocks.floors(removed, candidates)
        least = np.full(n, np.inf)
        for others in combinations(candidates.tolist(), k - len(removed)):
            high = errors.evaluate(all_but(n, [*removed, *others])).high
            least[list(others)] = np.minimum(least[list(others)], high)
        assert (floors <= least[candidates]).all()
        positive += (floors > 0.0).any() and np.isfinite(floors).all()
    assert positive or size == 2  # two rows are a line through their mean


@pytest.mark.parametrize("criterion", OTHERS, ids=str)
def test_one_block_knows_the_optimum(criterion):
    """Of all choices, and of those of row 3 and two of rows 0, 1, 5, 6 and 8."""
    X = np.random.default_rng(0).standard_normal((10, 4))
    errors = RowErrors(X, 1, criterion, "optimal")
    blocks = BlockFloors(errors, 3)
    for removed, candidates in (([], range(10)), ([3], [0, 1, 5, 6, 8])):
        floors = blocks.floors(np.array(removed, dtype=int), np.array(candidates))
        sets = [{*removed, *others} for others in combinations(candidates, 3 - len(removed))]
        for row, floor in zip(candidates, floors, strict=True):
            best = min(errors.evaluate(all_but(10, list(s))).value for s in sets if row in s)
            assert floor == pytest.approx(best, rel=1e-9)


def test_time_is_up():
    errors = RowErrors(np.random.default_rng(0).standard_normal((10, 4)), 1, Nuclear(), "optimal")
    floors = BlockFloors(errors, 3, expired=lambda: True).floors(np.arange(0), np.arange(10))
    np.testing.assert_array_equal(floors, 0.0)


def test_least_of_the_largest():
    rng = np.random.default_rng(0)
    for _ in range(examples(200)):
        count, width, k = rng.integers(1, 5), rng.integers(1, 4), int(rng.integers(0, 6))
        least = np.where(rng.random((count, width)) < 0.2, np.inf, rng.random((count, width)))
        found = elsewhere_by_maximum(least, k)
        for b, j in product(range(count), range(min(width, k + 1))):
            totals = [
                max((least[a, i] for a, i in zip(np.delete(range(count), b), s, strict=True)),
                    default=-np.inf)
                for s in product(range(width), repeat=count - 1) if sum(s) == k - j
            ]  # fmt: skip
            assert found[b, j] == min(totals, default=np.inf)


def test_rows_in_few_dimensions_are_bounded():
    """The bound by interlacing is zero here: r + k is at least the number of features."""
    X = load_iris().data[::3]
    for criterion, share in (("nuclear", 0.5), ("schatten:3", 0.2)):
        fitted = RobustPCA(1, n_outliers=4, criterion=criterion, max_nodes=1, time_limit=None)
        certificate = fitted.fit(X).certificate_
        assert certificate.status == "node_limit"
        assert certificate.lower_bound > share * certificate.error


def test_blocks_that_say_less_are_left_out():
    """Few rows in many dimensions: interlacing is the better bound."""
    X = np.random.default_rng(0).standard_normal((50, 40))
    problem = RemovedRows(RowErrors(X, 2, Nuclear(), "optimal"), 4)
    problem.add_floors(lambda: False)
    assert problem.blocks is None
    np.testing.assert_array_equal(problem.floors(*problem.root()), -np.inf)
