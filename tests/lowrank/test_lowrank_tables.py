"""The benchmark of the low-rank models measures what it says. Nothing here looks at a clock."""

from __future__ import annotations

import numpy as np

from benchmarks import lowrank_tables
from benchmarks.data import Sets
from columnist.lowrank import QuadraticPCA


def test_clear_groups_are_found_whatever_their_names():
    y = np.repeat([7, 3, 5], 10)
    part = 100.0 * y[:, None] + np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(lowrank_tables.measure(part, y), [1.0, 1.0, 1.0])


def test_one_group_is_no_help():
    y = np.repeat([0, 1], 50)
    part = np.random.default_rng(1).standard_normal((100, 2))
    accuracy, information, matched = lowrank_tables.measure(part, y)
    assert accuracy < 0.7 and information < 0.1 and 0.5 <= matched < 0.7


def test_corrupted_rows_mislead_squares_only():
    assert lowrank_tables.recovered(0, 0, "quadratic") == 1.0
    assert lowrank_tables.recovered(0, 6, "robust") > lowrank_tables.recovered(0, 6, "quadratic")


def test_the_order_of_loadings_is_the_ranking():
    model = QuadraticPCA(2).fit(np.random.default_rng(2).standard_normal((10, 6)))
    np.testing.assert_array_equal(lowrank_tables.ranked_by_loadings(model), model.ranking_)


def test_sets_that_are_not_there_are_told():
    said = []
    assert list(lowrank_tables.faces(Sets(None, say=said.append), quick=False)) == []
    assert len(said) == 3 and "orl" in said[0]


def test_tables_keep_every_row():
    rows = [{"part": part, "value": 1} for part in ("table 1", "speed", "corrupt", "large")]
    shown = lowrank_tables.tables(rows)
    assert [len(lines) for lines in shown.values()] == [1, 1, 1, 1]
