"""Directions in the order of removal, and how much of each is removed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from columnist.privacy._predictor import (
    against_confidential,
    fractional_knapsack,
    removed_shares,
    without_confidential,
)
from tests.privacy.textbook import linear_program, printed_knapsack

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_outputs=st.integers(1, 5), n_features=st.integers(1, 6))
def test_rebuilt_rows_have_the_same_outputs(seed, n_outputs, n_features):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (n_outputs, n_features)).astype(float)
    C = rng.integers(-2, 3, (2, n_features)).astype(float)
    for found in (without_confidential(A), against_confidential(A, C)):
        assert found.rank == np.linalg.matrix_rank(A)
        assert found.basis.shape == found.rebuild.shape == (n_features, found.rank)
        np.testing.assert_allclose(A @ found.rebuild @ found.basis.T, A, atol=1e-12)


@given(seed=seeds)
def test_coordinates_measure_the_change_of_outputs_and_of_secrets(seed):
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal((3, 6)), rng.standard_normal((5, 6))
    found = against_confidential(A, C)
    a = rng.standard_normal((4, 3))
    tau = found.coordinates(a)
    kept = rng.random(tau.shape)
    change = found.keep(a.copy(), tau.copy(), 1.0 - kept) @ found.rebuild.T  # what is removed
    outputs = np.sum((change @ A.T) ** 2, axis=1)
    np.testing.assert_allclose(outputs, found.scale**2 * np.sum(((1 - kept) * tau) ** 2, axis=1))
    secrets = change @ C.T  # orthogonal over directions: squares add up
    parts = [
        found.keep(a.copy(), tau.copy(), np.eye(3)[j] * (1 - kept)) @ found.rebuild.T @ C.T
        for j in range(3)
    ]
    total = sum(np.sum(part**2, axis=1) for part in parts)
    np.testing.assert_allclose(np.sum(secrets**2, axis=1), total, rtol=1e-8)


def test_directions_are_the_generalized_eigenvectors():
    rng = np.random.default_rng(0)
    A, C = rng.standard_normal((3, 5)), rng.standard_normal((6, 5))
    found = against_confidential(A, C)
    ratios = scipy.linalg.eigh(A.T @ A, C.T @ C, eigvals_only=True)[-3:]
    columns = found.rebuild @ found.keep(np.eye(3), found.coordinates(np.eye(3)), np.ones((3, 3))).T
    V = found.rebuild @ np.linalg.inv(found.mix).T  # directions of the coordinates
    seen = np.sum((A @ V) ** 2, axis=0) / np.sum((C @ V) ** 2, axis=0)
    np.testing.assert_allclose(seen, ratios, rtol=1e-9)
    np.testing.assert_allclose(columns, found.rebuild, atol=1e-12)


def test_no_gain_no_spending():
    # One confidential output outside the reach of the predictor: it goes at no cost.
    free = against_confidential(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert free.n_spendable == 0
    # The confidential output is the predictor's own: only the tolerance can hide it.
    same = against_confidential(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]))
    assert same.n_spendable == 1


def test_weakest_direction_first_and_ties_grouped():
    found = without_confidential(np.diag([3.0, 1.0, 1.0, 2.0]))
    np.testing.assert_allclose(found.strengths * found.scale, [1.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found.starts, [0, 2, 3])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_scale_of_coefficients_does_not_matter(scale):
    rng = np.random.default_rng(2)
    A, C = rng.standard_normal((2, 5)), rng.standard_normal((4, 5))
    plain = against_confidential(A, C)
    for found in (against_confidential(scale * A, C), against_confidential(A, scale * C)):
        np.testing.assert_allclose(found.rebuild @ found.basis.T, plain.rebuild @ plain.basis.T)
        assert found.n_spendable == plain.n_spendable
    assert against_confidential(scale * A, C).scale == pytest.approx(scale * plain.scale)


def test_a_predictor_of_nothing():
    for found in (
        without_confidential(np.zeros((2, 3))),
        against_confidential(np.zeros((2, 3)), np.ones((1, 3))),
        against_confidential(np.ones((1, 3)), np.zeros((1, 3))),
    ):
        assert found.rebuild.shape == (3, found.rank)
    assert without_confidential(np.zeros((2, 3))).rank == 0


@given(seed=seeds, n_items=st.integers(1, 7), share=st.floats(0.0, 1.3))
def test_value_is_that_of_the_linear_program(seed, n_items, share):
    rng = np.random.default_rng(seed)
    costs = rng.integers(1, 4, n_items) * (0.01 + rng.random(n_items))
    gains = rng.random(n_items)
    budget = share * costs.sum()
    order = np.argsort(-gains / costs)
    taken = fractional_knapsack(costs[order, None], np.array([budget]))[0]
    shares = np.pad(taken, (0, n_items - len(taken)))
    assert np.all((shares >= 0.0) & (shares <= 1.0))
    assert shares @ costs[order] <= budget * (1 + 1e-12)
    best = linear_program(gains, costs, budget)
    np.testing.assert_allclose(shares @ gains[order], best, rtol=1e-7, atol=1e-9)


def test_squared_shares_against_a_nonlinear_solver():
    # The variation with alpha squared, solved as it is written, from several starts.
    rng = np.random.default_rng(1)
    tau = np.array([0.5, 0.9, 1.4, 2.0])
    strengths = np.array([0.3, 0.8, 1.0, 2.0])
    gains, budget = (tau / strengths) ** 2, 1.5
    taken = removed_shares(tau[None], np.sqrt([budget]), np.arange(4), per_row_order=False)[0]
    alpha = np.pad(taken, (0, 4 - len(taken)))
    solved = min(
        (
            minimize(
                lambda a: -gains @ a**2, rng.random(4), method="SLSQP", bounds=[(0, 1)] * 4,
                constraints={"type": "ineq", "fun": lambda a: budget - tau**2 @ a**2},
                options={"ftol": 1e-12},
            )
            for _ in range(10)
        ),
        key=lambda found: found.fun,
    )  # fmt: skip
    np.testing.assert_allclose(gains @ alpha**2, -solved.fun, rtol=1e-7)
    np.testing.assert_allclose(tau**2 @ alpha**2, budget, rtol=1e-12)


@given(seed=seeds, per_row=st.booleans(), power=st.sampled_from([-150, -20, 0, 20, 150]))
def test_rows_agree_with_the_printed_recipe_at_every_scale(seed, per_row, power):
    rng = np.random.default_rng(seed)
    tau = rng.standard_normal((5, 6)) * rng.integers(0, 2, (5, 6))
    tolerances = 2.0 * rng.random(5)
    found = removed_shares(
        tau * 10.0**power, tolerances * 10.0**power, np.arange(6), per_row_order=per_row
    )
    found = np.pad(found, ((0, 0), (0, 6 - found.shape[1])))
    for row, tolerance, shares in zip(tau, tolerances, found, strict=True):
        gains = np.ones(6) if per_row else row**2 / np.arange(1.0, 7.0)
        expected = printed_knapsack(gains, row**2, tolerance**2)
        np.testing.assert_allclose(shares * row, expected * row, atol=1e-6)
        assert np.sum((shares * row) ** 2) <= tolerance**2 * (1 + 1e-12)


@given(seed=seeds, per_row=st.booleans())
def test_basis_of_a_group_does_not_matter(seed, per_row):
    rng = np.random.default_rng(seed)
    tau, tolerances = rng.standard_normal((4, 5)), rng.random(4) * 3
    starts = np.array([0, 1, 4])  # the middle group has three coordinates
    Q = np.eye(5)
    Q[1:4, 1:4] = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    plain = removed_shares(tau, tolerances, starts, per_row_order=per_row)
    turned = removed_shares(tau @ Q, tolerances, starts, per_row_order=per_row)
    np.testing.assert_allclose(turned, plain, atol=1e-7)


def test_nothing_to_remove_and_nothing_to_spend():
    tau = np.array([[0.0, 0.0], [1.0, 2.0]])
    found = removed_shares(tau, np.zeros(2), np.arange(2), per_row_order=False)
    np.testing.assert_array_equal(found, [[1.0], [0.0]])  # what costs nothing may go or stay
    empty = removed_shares(np.empty((3, 0)), np.ones(3), np.arange(0), per_row_order=False)
    assert empty.shape == (3, 0)
