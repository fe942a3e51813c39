from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given

from columnist.lowrank._factors import Factors, canonical, objective_of, penalty_of, polar
from columnist.lowrank._table import as_table
from tests.oracles.lowrank import objective
from tests.strategies import matrices


def factors(X, Y) -> Factors:
    return Factors(X, Y, np.ones(len(Y)), 0.0, np.zeros(1), np.zeros((1, 2)), True)


@given(matrices(min_rows=3, min_columns=1, max_columns=3))
def test_polar_maximises_the_inner_product(M):
    X = polar(M)
    np.testing.assert_allclose(X.T @ X, np.eye(M.shape[1]), atol=1e-12)
    nuclear = np.linalg.svd(M, compute_uv=False).sum()
    assert np.vdot(X, M) == pytest.approx(nuclear, abs=1e-12 * (1.0 + nuclear))


def test_polar_of_a_tall_matrix_is_that_of_scipy():
    M = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(polar(M), scipy.linalg.polar(M)[0], atol=1e-13)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@given(matrices(min_rows=3, min_columns=2))
def test_turning_changes_neither_product_nor_lengths(loss, A):
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((len(A), 2)))[0]
    Y = rng.standard_normal((A.shape[1], 2)) * rng.integers(0, 2, (A.shape[1], 1))
    turned = canonical(factors(X, Y))
    np.testing.assert_allclose(turned.X @ turned.Y.T, X @ Y.T, atol=1e-12)
    np.testing.assert_array_equal(turned.Y.any(axis=1), Y.any(axis=1))
    gram = turned.Y.T @ turned.Y
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    assert gram[0, 0] >= gram[1, 1] - 1e-12
    exact = objective(A, X, Y, 0.7, loss)
    penalties = np.full(len(Y), 0.7)
    ours = objective_of(as_table(A, "none"), turned.X, turned.Y, penalties, loss)
    assert ours == pytest.approx(exact, rel=1e-10)
    if loss == "quadratic":
        sparse = objective_of(as_table(sp.csr_array(A), "none"), X, Y, penalties, loss)
        assert sparse == pytest.approx(exact, rel=1e-9)


def test_the_turn_is_fixed():
    rng = np.random.default_rng(2)
    X, Y = np.linalg.qr(rng.standard_normal((5, 2)))[0], rng.standard_normal((4, 2))
    R = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    one, other = canonical(factors(X, Y)), canonical(factors(X @ R, Y @ R))
    np.testing.assert_allclose(one.Y, other.Y, atol=1e-12)
    np.testing.assert_allclose(one.X, other.X, atol=1e-12)


def test_a_column_that_is_kept_out_costs_nothing():
    Y = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert penalty_of(Y, np.array([2.0, np.inf])) == 10.0
    assert factors(np.eye(3, 2), Y).n_active == 1
