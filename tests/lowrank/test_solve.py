from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.lowrank._solve import Solver
from columnist.lowrank._table import as_table
from tests.oracles.lowrank import quadratic_minimum
from tests.strategies import matrices


def solver(A, rank, loss="quadratic", **options) -> Solver:
    options = {"n_starts": 4, "tol": 1e-6, "max_iter": 5000, **options}
    return Solver.of(as_table(A, "none"), rank, loss, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_no_worse_than_another_solver_from_many_starts(share):
    for seed in range(3):
        A = np.random.default_rng(seed).standard_normal((6, 5))
        ours = solver(A, 2)
        best = quadratic_minimum(A, 2, share * ours.top, 12, np.random.default_rng(seed))
        assert ours.solve(share * ours.top).objective <= best * (1.0 + 1e-6)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@settings(max_examples=40)
@given(matrices(min_rows=2, min_columns=2), st.floats(0.9, 1.1))
def test_the_largest_penalty(loss, A, share):
    ours = solver(A, 1, loss, tol=1e-4)
    found = ours.solve(share * ours.top)
    if share >= 1.0:
        assert found.n_active == 0
        full = np.linalg.norm(A) ** 2 if loss == "quadratic" else np.linalg.norm(A, axis=1).sum()
        assert found.objective == pytest.approx(full)
    elif share < 0.999 and A.any():
        assert found.n_active > 0


def test_zero_is_a_trap_that_the_starts_avoid():
    A = np.random.default_rng(0).standard_normal((60, 30))
    A[:, 0] *= 3.0
    ours = solver(A, 3)
    assert ours.solve(0.9 * ours.top).n_active == 1
    cold = [np.linalg.qr(np.random.default_rng(i).standard_normal((60, 3)))[0] for i in range(5)]
    starts = [type(ours.starts[0])(X) for X in cold]
    assert ours.solve(0.9 * ours.top, starts=starts).n_active == 0


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_a_refit_is_free_of_the_penalty(loss):
    A = np.random.default_rng(1).standard_normal((20, 8)) * np.arange(1.0, 9.0)
    ours = solver(A, 2, loss, tol=1e-7)
    found = ours.solve(0.3 * ours.top)
    columns = np.flatnonzero(found.Y.any(axis=1))
    again = ours.refit(found, columns)
    assert set(np.flatnonzero(again.Y.any(axis=1))) == set(columns)
    if loss == "quadratic":
        left = np.linalg.svd(A[:, columns], compute_uv=False)[2:]
        rest = np.delete(A, columns, axis=1)
        assert again.objective == pytest.approx(np.sum(left**2) + np.sum(rest**2))
    else:
        before = np.linalg.norm(A - found.X @ found.Y.T, axis=1).sum()
        assert again.objective < before


def test_a_refit_on_fewer_columns_than_components():
    A = np.random.default_rng(2).standard_normal((9, 5))
    ours = solver(A, 3)
    found = ours.refit(ours.solve(0.0), np.array([1]))
    assert found.n_active == 1
    assert found.objective == pytest.approx(np.sum(np.delete(A, 1, axis=1) ** 2))


def test_sparse_is_dense():
    A = np.random.default_rng(3).standard_normal((15, 9))
    A[np.random.default_rng(4).random(A.shape) < 0.6] = 0.0
    dense, sparse = solver(A, 2), solver(sp.csc_array(A), 2)
    alpha = 0.3 * dense.top
    np.testing.assert_allclose(sparse.solve(alpha).Y, dense.solve(alpha).Y, atol=1e-6)
