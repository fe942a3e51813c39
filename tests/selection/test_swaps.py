"""The table of exchanges against explicit least squares for every one of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from columnist.criteria import Frobenius
from columnist.linalg._reduce import reduce_data
from columnist.search._incumbent import greedy
from columnist.selection._columns import column_problem
from columnist.selection._swaps import SwapTable, add_columns, energy_left, exchange_columns
from tests.oracles.brute_force import subset_error
from tests.strategies import matrices, targets, tolerance


def left(X, columns, Y=None):
    """Squared error by least squares on the data themselves."""
    return subset_error(X, columns, Frobenius(), Y=Y)


def all_swaps(X, chosen, Y=None):
    """Gain of every exchange: one row per column of X, one column per chosen one."""
    error = left(X, chosen, Y)
    gains = np.zeros((X.shape[1], len(chosen)))
    for i in range(X.shape[1]):
        for position in range(len(chosen)):
            trial = [*chosen[:position], i, *chosen[position + 1 :]]
            gains[i, position] = error - left(X, trial, Y)
    return gains


def independent(X, k, rng):
    """Up to k independent columns of X, at random."""
    chosen = []
    for i in rng.permutation(X.shape[1]):
        if np.linalg.matrix_rank(X[:, [*chosen, i]]) == len(chosen) + 1 and len(chosen) < k:
            chosen.append(int(i))
    return chosen


def decaying(m, n, decay, seed=0):
    """Random matrix with singular values 1, decay, decay**2, ..."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((size, min(m, n))))[0] for size in (m, n))
    return U * decay ** np.arange(min(m, n)) @ V.T


# --- one table ------------------------------------------------------------------------------


@settings(max_examples=100)
@given(matrices(max_columns=8), st.booleans(), st.data())
def test_table_is_brute_force(X, supervised, data):
    Y = data.draw(targets(len(X)), label="y")[1] if supervised else None
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    chosen = independent(X, data.draw(st.integers(1, X.shape[1]), label="k"), rng)
    assume(chosen)
    reduced = reduce_data(X, Y)
    table = SwapTable(reduced.columns, reduced.weights, chosen)
    others = np.setdiff1d(np.arange(X.shape[1]), chosen)
    unit = reduced.scale**2
    tol = 10 * tolerance(Frobenius(), X if Y is None else Y)
    assert unit * table.error == pytest.approx(left(X, chosen, Y), abs=tol)
    np.testing.assert_allclose(
        unit * table.gains(others), all_swaps(X, chosen, Y)[others], rtol=1e-8, atol=tol
    )


def test_best_goes_to_the_first_among_equals():
    X = np.eye(6)[:, [0, 1, 2, 3, 3, 4]] * [1.0, 1.0, 2.0, 2.0, 2.0, 3.0]
    reduced = reduce_data(X)
    table = SwapTable(reduced.columns, reduced.weights, [5, 1, 0])
    everything, free = np.ones(6, dtype=bool), np.ones(3, dtype=bool)
    gain, position, item = table.best(everything, free)
    assert (position, item) == (2, 3)  # 3 and 4 are the same column; 0 and 1 weigh the same
    assert reduced.scale**2 * gain == pytest.approx(7.0)
    free[2] = False
    assert table.best(everything, free)[1:] == (1, 3)
    assert table.best(np.arange(6) == 4, free)[1:] == (1, 4)


def test_nothing_to_exchange():
    reduced = reduce_data(np.eye(3))
    table = SwapTable(reduced.columns, reduced.weights, [0, 1])
    assert table.best(np.arange(3) < 2, np.ones(2, dtype=bool))[0] == 0.0
    assert table.best(np.ones(3, dtype=bool), np.zeros(2, dtype=bool))[0] == 0.0


# --- the table after exchanges --------------------------------------------------------------

TROUBLE = {
    "gaussian": np.random.default_rng(0).standard_normal((60, 40)),
    "wide": np.random.default_rng(1).standard_normal((15, 50)),
    "condition 1e5": decaying(60, 40, 0.75),
    "condition 1e12": decaying(60, 40, 0.5),
    "twins": np.repeat(np.random.default_rng(2).standard_normal((60, 20)), 2, axis=1),
    "near twins": np.hstack(
        [
            np.random.default_rng(3).standard_normal((60, 20)),
            np.random.default_rng(3).standard_normal((60, 20))
            + 1e-6 * np.random.default_rng(4).standard_normal((60, 20)),
        ]
    ),
}


@pytest.mark.parametrize("name", TROUBLE)
@pytest.mark.parametrize("supervised", [False, True])
def test_updated_table_equals_a_new_one(name, supervised):
    X = TROUBLE[name]
    rng = np.random.default_rng(5)
    Y = X @ rng.standard_normal((X.shape[1], 3)) if supervised else None
    reduced = reduce_data(X, Y)
    table = SwapTable(reduced.columns, reduced.weights, independent(X, 10, rng))
    everything, free = np.ones(X.shape[1], dtype=bool), np.ones(10, dtype=bool)
    made = 0
    while made < 60:
        gain, position, item = table.best(everything, free)
        before = table.error
        if gain <= 1e-9 * before or not table.swap(position, item, gain):
            break
        made += 1
        assert before - table.error == pytest.approx(gain, rel=1e-5, abs=1e-8 * before)
        new = SwapTable(reduced.columns, reduced.weights, table.chosen)
        assert table.error == pytest.approx(new.error, rel=1e-9)
        rows = np.setdiff1d(np.arange(X.shape[1]), table.chosen)
        # Gains count beside the error; losses may be many times larger.
        expected, found = new.gains(rows), table.gains(rows)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * table.error)
    assert made >= 3


def test_a_false_promise_is_not_kept():
    X = TROUBLE["gaussian"]
    reduced = reduce_data(X)
    chosen, _ = exchange_columns(reduced.columns, reduced.weights, range(5))
    table = SwapTable(reduced.columns, reduced.weights, chosen)
    worse = int(np.setdiff1d(np.arange(40), chosen)[0])
    assert not table.swap(0, worse, 1.0)
    assert table.chosen == chosen and table.fresh


def test_a_wrong_promise_renews_the_table():
    X = TROUBLE["gaussian"]
    reduced = reduce_data(X)
    everything, free = np.ones(40, dtype=bool), np.ones(5, dtype=bool)
    table = SwapTable(reduced.columns, reduced.weights, range(5))
    gain, position, item = table.best(everything, free)
    assert table.swap(position, item, 2 * gain) and table.fresh
    gain, position, item = table.best(everything, free)
    assert table.swap(position, item, gain) and not table.fresh


# --- exchanging -----------------------------------------------------------------------------


def steepest_descent(X, chosen, Y=None):
    """The same by brute force: always the best exchange; also the errors."""
    chosen, errors = list(chosen), [left(X, chosen, Y)]
    while True:
        gains = all_swaps(X, chosen, Y)
        gains[chosen] = -np.inf
        item, position = np.unravel_index(gains.argmax(), gains.shape)
        if gains[item, position] <= 1e-10 * errors[-1]:
            return sorted(chosen), errors
        chosen[position] = int(item)
        errors.append(left(X, chosen, Y))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("supervised", [False, True])
def test_makes_the_exchanges_of_brute_force(seed, supervised):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 9)) @ rng.standard_normal((9, 9))
    Y = rng.standard_normal((12, 2)) if supervised else None
    reduced = reduce_data(X, Y)
    start = rng.choice(9, 4, replace=False).tolist()
    chosen, errors = exchange_columns(reduced.columns, reduced.weights, start)
    expected, expected_errors = steepest_descent(X, start, Y)
    assert chosen == expected
    np.testing.assert_allclose(np.array(errors) * reduced.scale**2, expected_errors, rtol=1e-9)


@settings(max_examples=100)
@given(matrices(max_columns=8), st.booleans(), st.data())
def test_end_is_a_local_optimum(X, supervised, data):
    Y = data.draw(targets(len(X)), label="y")[1] if supervised else None
    n = X.shape[1]
    start = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True), label="start")
    fixed = data.draw(st.lists(st.sampled_from(start), unique=True, max_size=2), label="fixed")
    others = np.setdiff1d(np.arange(n), start).tolist()
    barred = (
        data.draw(st.lists(st.sampled_from(others), unique=True), label="barred") if others else []
    )
    candidates = np.setdiff1d(np.arange(n), [*fixed, *barred])
    reduced = reduce_data(X, Y)
    chosen, errors = exchange_columns(
        reduced.columns, reduced.weights, start, fixed=fixed, candidates=candidates
    )
    tol = tolerance(Frobenius(), X if Y is None else Y)
    assert len(set(chosen)) == len(start) and chosen == sorted(chosen)
    assert set(fixed) <= set(chosen) <= {*fixed, *candidates.tolist()}
    assert (np.diff(errors) < 0.0).all()
    error = left(X, chosen, Y)
    assert reduced.scale**2 * errors[-1] == pytest.approx(error, rel=1e-9, abs=tol)
    assert reduced.scale**2 * errors[0] == pytest.approx(left(X, start, Y), rel=1e-9, abs=tol)
    for out in set(chosen) - set(fixed):
        for item in set(candidates.tolist()) - set(chosen):
            trial = [item if i == out else i for i in chosen]
            assert left(X, trial, Y) >= error * (1 - 1e-9) - tol


@pytest.mark.parametrize("decay", [0.75, 0.5])
def test_local_optimum_at_high_condition(decay):
    X = decaying(30, 20, decay**2)
    reduced = reduce_data(X)
    chosen, errors = exchange_columns(reduced.columns, reduced.weights, range(7))
    error = left(X, chosen)
    assert reduced.scale**2 * errors[-1] == pytest.approx(error, rel=1e-6)
    assert error < 0.9 * left(X, range(7))
    assert all_swaps(X, chosen).max() <= 1e-6 * error


def test_columns_that_depend_on_others_go_first():
    X = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])[:, [0, 0, 1, 2, 3, 4]]
    reduced = reduce_data(X)
    chosen, errors = exchange_columns(reduced.columns, reduced.weights, [0, 1, 5], max_swaps=1)
    assert chosen == [0, 4, 5]
    assert reduced.scale**2 * errors[-1] == pytest.approx(13.0)
    # Both twins stay where they must.
    kept, errors = exchange_columns(reduced.columns, reduced.weights, [0, 1, 2], fixed=[0, 1])
    assert kept == [0, 1, 5] and len(errors) == 2


@pytest.mark.parametrize("size", [1, 3, 4])
def test_nothing_left_to_explain(size):
    X = np.outer([1.0, 2.0, 2.0], [1.0, 0.0, 3.0, 1.0, 2.0])
    reduced = reduce_data(X)
    chosen, errors = exchange_columns(reduced.columns, reduced.weights, range(size))
    assert chosen == list(range(size)) and errors == [0.0]


def test_zero_matrix():
    reduced = reduce_data(np.zeros((3, 4)))
    assert exchange_columns(reduced.columns, reduced.weights, [1, 2]) == ([1, 2], [0.0])
    assert add_columns(reduced.columns, reduced.weights, [], np.arange(4), 2) == []


def test_limit_on_exchanges():
    X = TROUBLE["gaussian"]
    reduced = reduce_data(X)
    every, errors = exchange_columns(reduced.columns, reduced.weights, range(10))
    for most in range(len(errors) + 1):
        _, some = exchange_columns(reduced.columns, reduced.weights, range(10), max_swaps=most)
        assert some == errors[: most + 1]
    assert every != list(range(10))


def test_the_end_does_not_trust_an_updated_table(monkeypatch):
    X = TROUBLE["gaussian"]
    reduced = reduce_data(X)
    expected = exchange_columns(reduced.columns, reduced.weights, range(10))
    follow = SwapTable._follow

    def spoil(table, *change):
        followed = follow(table, *change)
        table.f[:] = 0.0
        table._h[:] = 0.0
        return followed

    monkeypatch.setattr(SwapTable, "_follow", spoil)
    found = exchange_columns(reduced.columns, reduced.weights, range(10))
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)


# --- adding ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TROUBLE)
def test_adding_is_brute_force_greedy(name):
    X = TROUBLE[name]
    reduced = reduce_data(X)
    added = add_columns(reduced.columns, reduced.weights, [7], np.arange(40), 8)
    assert added[0] == 7 and len(added) == 8
    for size in range(1, 8):
        errors = [left(X, [*added[:size], i]) for i in range(40)]
        assert errors[added[size]] <= min(errors) * (1 + 1e-9)


def test_adding_equals_the_greedy_search():
    X = decaying(80, 50, 0.9)
    reduced = reduce_data(X)
    problem = column_problem(reduced, 25, criterion=Frobenius())
    everything = np.arange(50)
    expected = greedy(problem, [], everything)
    assert add_columns(reduced.columns, reduced.weights, [], everything, 25) == expected


def test_adding_ends_where_nothing_is_gained():
    X = np.random.default_rng(0).standard_normal((10, 3)) @ np.ones((3, 6))
    reduced = reduce_data(X)
    assert add_columns(reduced.columns, reduced.weights, [], np.arange(6), 4) == [0]
    target = reduce_data(TROUBLE["gaussian"], TROUBLE["gaussian"][:, [3]])
    assert add_columns(target.columns, target.weights, [], np.arange(40), 5) == [3]


# --- energy ---------------------------------------------------------------------------------


@pytest.mark.parametrize("small", [1.0, 1e-3, 1e-6, 1e-10])
def test_energy_left_is_accurate(small):
    rng = np.random.default_rng(0)
    weights = np.array([1.0, 0.5, small**2, small**2 / 2])
    Q = np.linalg.qr(np.eye(4)[:, :2] + small * rng.standard_normal((4, 2)))[0]
    wide = Q.astype(np.longdouble)
    residual = np.eye(4) - wide @ np.linalg.inv(Q.T @ Q) @ wide.T
    residual -= wide @ (wide.T @ residual)
    expected = float((weights * (residual**2).sum(axis=0)).sum())
    assert energy_left(weights, Q) == pytest.approx(expected, rel=1e-9)
