"""Aggregated rankings against the definition, an independent optimiser, and theorems."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from columnist.knowledge._aggregation import aggregate_levels, aggregate_rankings


def random_orders(seed: int, n_lists: int, m: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.permutation(m) for _ in range(n_lists)]


def rank_probability(order) -> np.ndarray:
    """P(r) by feature, from the definition."""
    m = len(order)
    B = sum(np.exp(1.0 / j) for j in range(1, m + 1))
    rank = {feature: r for r, feature in enumerate(order, start=1)}
    return np.array([np.exp(1.0 / rank[feature]) / B for feature in range(m)])


def quietly(*args, **kwargs):
    """Without the warning of a collapse, which some random lists deserve."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="EM gives", category=UserWarning)
        return aggregate_rankings(*args, **kwargs)


problems = st.tuples(st.integers(0, 10**6), st.integers(2, 6), st.integers(3, 30))


@given(problems, st.booleans())
@settings(max_examples=60)
def test_em_is_a_monotone_maximiser(problem, supervised):
    orders = random_orders(*problem)
    m = len(orders[0])
    known = list(range(0, m, 2)) if supervised else None
    result = quietly(orders, known=known)
    P = np.array([rank_probability(order) for order in orders])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(result.weights.sum(), 1.0)
    assert (np.diff(result.log_likelihood) >= 0.0).all()
    part = P if known is None else P[:, known]
    value = np.log(result.weights @ part).sum()
    np.testing.assert_allclose(result.log_likelihood[-1], value)
    # The gradient of a concave function bounds how far its maximum is.
    gradient = (part / (result.weights @ part)).mean(axis=1)
    assert part.shape[1] * (gradient.max() - 1.0) <= 1e-8 + 1e-12
    assert result.gap <= 1e-8
    np.testing.assert_allclose(result.scores, result.weights @ P)
    np.testing.assert_allclose(result.contributions, result.weights[:, None] * P)


@given(problems)
@settings(max_examples=10)
def test_em_against_a_general_optimiser(problem):
    orders = random_orders(*problem)
    P = np.array([rank_probability(order) for order in orders])
    known = list(range(0, P.shape[1], 2))
    result = quietly(orders, known=known)
    best = minimize(
        lambda z: -np.log(np.exp(z - z.max()) / np.exp(z - z.max()).sum() @ P[:, known]).sum(),
        np.zeros(len(orders)),
        method="Nelder-Mead",
        options={"maxfev": 4000, "xatol": 1e-8, "fatol": 1e-12},
    )
    assert result.log_likelihood[-1] >= -best.fun - 1e-8


def test_never_worse_than_plain_em():
    orders = random_orders(5, 4, 9)
    P, known = np.array([rank_probability(order) for order in orders]), [0, 2, 3, 5]
    part, weights, plain = P[:, known], np.full(4, 0.25), []
    for _ in range(2000):
        plain.append(np.log(weights @ part).sum())
        responsibilities = weights[:, None] * part / (weights @ part)
        weights = responsibilities.mean(axis=1)
    ours = quietly(orders, known=known)
    for i, value in enumerate(ours.log_likelihood):
        assert value >= plain[i] - 1e-12
    np.testing.assert_allclose(ours.weights, weights, atol=1e-3)


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        aggregate_rankings(random_orders(5, 4, 9), known=[0, 2, 3, 5], max_iter=1, tol=0.0)


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(["em", "borda"]))
def test_equal_lists_give_that_list(seed, n_lists, method):
    (order,) = random_orders(seed, 1, 12)
    result = aggregate_rankings([order] * n_lists, method)
    np.testing.assert_array_equal(result.ranking, order)
    np.testing.assert_allclose(result.weights, 1.0 / n_lists)


@given(problems)
@settings(max_examples=30)
def test_all_features_never_collapse_onto_one_list(problem):
    orders = random_orders(*problem)
    P = np.array([rank_probability(order) for order in orders])
    for i, row in enumerate(P):  # no vertex is optimal unless the lists are equal
        assert all((other / row).mean() >= 1.0 - 1e-12 for other in np.delete(P, i, axis=0))
    result = quietly(orders)
    distinct = {tuple(order) for order in orders}
    if len(distinct) == len(orders):
        assert result.weights.max() < 1.0 - 1e-6


def test_collapse_is_warned_of_with_the_name():
    orders = [[0, 1, 2, 3], [3, 2, 1, 0], [3, 1, 2, 0]]
    with pytest.warns(UserWarning, match="100.0% of the weight to ranking 'number 0'"):
        result = aggregate_rankings(orders, known=[0])
    np.testing.assert_allclose(result.weights, [1.0, 0.0, 0.0], atol=1e-3)
    with pytest.warns(UserWarning, match="ranking 'first'"):
        aggregate_levels(np.array([[0, 1], [1, 0]]), known=[0], names=["first", "second"])


@given(problems)
@settings(max_examples=30)
def test_borda_counts_who_is_beaten(problem):
    orders = random_orders(*problem)
    m = len(orders[0])
    result = aggregate_rankings(orders, "borda")
    beaten = [sum(m - 1 - list(order).index(f) for order in orders) for f in range(m)]
    np.testing.assert_allclose(result.scores, np.array(beaten) / (m * len(orders)))
    by_hand = sorted(range(m), key=lambda f: (-beaten[f], f))
    np.testing.assert_array_equal(result.ranking, by_hand)


@given(problems, st.integers(0, 10**6))
@settings(max_examples=30)
def test_names_do_not_matter(problem, seed):
    orders = random_orders(*problem)
    m = len(orders[0])
    shuffled = np.random.default_rng(seed).permutation(m)
    names = np.array([f"f{i:03d}" for i in range(m)])
    plain = quietly(orders)
    named = quietly([names[shuffled[order]].tolist() for order in orders])
    back = dict(zip(named.features, named.scores, strict=True))
    np.testing.assert_allclose([back[names[shuffled[i]]] for i in range(m)], plain.scores)


def test_ties_are_broken_by_the_other_lists():
    tied = [["a", "b", "c", "d"]]
    result = aggregate_rankings([tied, ["d", "b", "c", "a"]])
    assert result.ranking.tolist() == ["d", "b", "c", "a"]
    borda = aggregate_rankings([["a", {"b", "c"}], ["c", "b", "a"]], "borda")
    np.testing.assert_allclose(borda.scores, np.array([2, 1.5, 2.5]) / 6)


def test_weights_of_borda():
    orders = [["a", "b"], ["b", "a"]]
    assert aggregate_rankings(orders, "borda", weights=[1, 3]).ranking.tolist() == ["b", "a"]
    np.testing.assert_allclose(
        aggregate_rankings(orders, "borda", weights=[1, 3]).weights, [0.25, 0.75]
    )


@pytest.mark.parametrize(
    ("rankings", "options", "message"),
    [
        ([], {}, "no rankings"),
        ([[]], {}, "Ranking 0 is empty"),
        ([["a"], []], {}, "Ranking 1 is empty"),
        ([["a", "b"], ["a", "c"]], {}, "Rankings 0 and 1 are of different features.* b, c"),
        ([["a", "b", "a"]], {}, "'a' more than once"),
        (["ab"], {}, "must be a sequence"),
        ([["a", "b"]], {"method": "mean"}, "method must be one of"),
        ([["a", "b"]], {"known": []}, "known is empty"),
        ([["a", "b"]], {"known": ["z"]}, "no ranking has: .'z'"),
        ([["a", "b"]], {"weights": [1]}, "EM learns the weights"),
        ([["a", "b"]], {"method": "borda", "known": ["a"]}, "does not learn"),
        ([["a", "b"]], {"method": "borda", "weights": [1, 2]}, "as many weights"),
        ([["a", "b"]], {"method": "borda", "weights": [0]}, "must be positive"),
        ([["a", "b"]], {"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_input(rankings, options, message):
    with pytest.raises(ValueError, match=message):
        aggregate_rankings(rankings, **options)
