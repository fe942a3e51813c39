from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.lowrank._solve import Solver, fit_exactly
from columnist.lowrank._table import as_table
from tests.strategies import matrices


def solver(A, rank, loss="quadratic", tol=1e-4) -> Solver:
    return Solver.of(
        as_table(A, "none"), rank, loss, n_starts=3, tol=tol, max_iter=2000,
        rng=np.random.default_rng(0),
    )  # fmt: skip


@settings(max_examples=40)
@given(matrices(min_rows=2, min_columns=2), st.data())
def test_exactly_so_many_columns(A, data):
    size = data.draw(st.integers(1, A.shape[1]))
    ours = solver(A, 1)
    choice = fit_exactly(ours, size)
    free = ours.solve(0.0).n_active
    assert choice.factors.n_active == min(size, free)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_the_columns_with_signal_are_found(loss):
    rng = np.random.default_rng(1)
    A = 0.1 * rng.standard_normal((40, 15))
    A[:, [3, 7, 11]] += rng.standard_normal((40, 2)) @ rng.standard_normal((2, 3))
    choice = fit_exactly(solver(A, 2, loss), 3)
    assert set(np.flatnonzero(choice.factors.Y.any(axis=1))) == {3, 7, 11}


def test_equal_columns_make_the_number_jump():
    A = np.tile(np.random.default_rng(2).standard_normal((8, 1)), (1, 4))
    choice = fit_exactly(solver(A, 1), 2)
    assert choice.jumped
    np.testing.assert_array_equal(np.flatnonzero(choice.factors.Y.any(axis=1)), [0, 1])


def test_all_columns_need_no_penalty_at_the_most():
    A = np.random.default_rng(3).standard_normal((9, 5))
    choice = fit_exactly(solver(A, 2), 5)
    assert choice.factors.n_active == 5
