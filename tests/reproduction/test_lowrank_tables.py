"""How rankings by loadings are judged."""

from __future__ import annotations

import numpy as np

from columnist.lowrank import QuadraticPCA
from reproduction.lowrank_tables import measure, models, order_cell, ranked_by_loadings


def test_clear_groups_are_found_whatever_their_names():
    y = np.repeat([7, 3, 5], 10)
    part = 100.0 * y[:, None] + np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(measure(part, y), [1.0, 1.0, 1.0])


def test_one_group_is_no_help():
    y = np.repeat([0, 1], 50)
    part = np.random.default_rng(1).standard_normal((100, 2))
    accuracy, information, matched = measure(part, y)
    assert accuracy < 0.7 and information < 0.1 and 0.5 <= matched < 0.7


def test_the_order_of_loadings_is_the_ranking():
    model = QuadraticPCA(2).fit(np.random.default_rng(2).standard_normal((10, 6)))
    np.testing.assert_array_equal(ranked_by_loadings(model), model.ranking_)


def test_both_sparse_models_must_be_ahead():
    ours = dict(zip(models(2), np.array([[0.5, 0.5], [0.4, 0.4], [0.6, 0.6], [0.7, 0.45]]),
                    strict=True))  # fmt: skip
    ahead, behind = (order_cell("faces", ours, i) for i in range(2))
    assert ahead.verdict == "reproduced" and behind.verdict == "different" and behind.why
