"""The knapsack against a solver for linear programs, and its invariances."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from columnist.privacy._knapsack import fractional_knapsack, removed_shares
from tests.privacy.textbook import linear_program, printed_knapsack

seeds = st.integers(0, 2**32 - 1)


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
