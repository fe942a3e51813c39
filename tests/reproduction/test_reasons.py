"""Reasons say what a computation shows, and nothing else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from reproduction import Cell, PrintedTable, Reproduction, TableResult
from reproduction.column_tables import exchanged, near_choices
from reproduction.data import Data
from reproduction.reasons import by_draws, by_setting, by_spread, is_honest
from reproduction.searches import Problem, searched


def test_a_setting_is_a_reason_only_if_it_gives_the_print():
    assert by_setting("1.50", "f = 2", 1.509).startswith("tested: f = 2 gives the print")
    assert by_setting("1.50", "f = 2", 1.511).startswith("unknown")


def test_draws_are_a_reason_only_around_the_print():
    assert by_draws("1.5", [1.5, 1.9], "the seed").startswith("tested")
    for draws in ([1.51, 1.9], [1.1, 1.49]):
        assert by_draws("1.5", draws, "the seed").startswith("unknown")


def test_chance_is_a_reason_within_two_deviations_of_a_difference_of_means():
    rng = np.random.default_rng(0)
    means = rng.standard_normal((4000, 2, 10)).mean(axis=2)
    values = rng.standard_normal(10)
    values = 9.0 + (values - values.mean()) / values.std(ddof=1)  # mean 9, deviation 1
    reach = next(
        x for x in np.arange(0, 5, 0.001) if "unknown" in by_spread(f"{9 + x}", values, "x")
    )
    beyond = np.mean(np.abs(means[:, 0] - means[:, 1]) > reach)
    assert 0.03 < beyond < 0.06  # 4.6 % of a Gaussian lie beyond two deviations
    assert by_spread("19", values, "x") == "unknown; x"


def test_chance_above_half_of_the_print_explains_nothing():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert by_spread("3.0", values, "x").startswith("unknown; two means of 4 runs")
    assert by_spread("3.0", values / 2.0 + 1.5, "x").startswith("tested")


@pytest.mark.parametrize(
    ("why", "honest"),
    [("tested: x", True), ("unknown", True), ("unknown; x", True), ("", False),
     ("testedly", False), ("not tested", False), ("the seed is not stated", False)],
)  # fmt: skip
def test_a_difference_says_whether_its_reason_was_tested(why, honest):
    assert is_honest(why) == honest
    cell = Cell("a", "1.5", 1.9, "different", why)
    part = TableResult(PrintedTable("he-1.1", "x", iter), [cell], complete=True)
    assert (Reproduction([part]).unexplained == []) == honest


def test_exchanges_are_all_choices_with_one_or_two_other_columns():
    n, chosen = 7, (1, 4, 5)
    expected = [c for c in combinations(range(n), 3) if 1 <= len(set(c) & set(chosen)) < 3]
    assert sorted(exchanged(chosen, n)) == expected
    assert sorted(exchanged((2,), n)) == [(j,) for j in range(n) if j != 2]


def test_near_choices_that_give_the_print_are_counted(monkeypatch):
    X = np.random.default_rng(0).integers(0, 3, (12, 6)).astype(float)
    monkeypatch.setattr(Data, "matrix", lambda self, name: X)
    problem = Problem(Data("nowhere"), "any", 2, "frobenius")
    found = searched(problem)
    monkeypatch.setattr("reproduction.column_tables.NEAR", 10.0)  # every choice counts as near
    from reproduction.column_tables import entries

    another = entries(problem, tuple(j for j in range(6) if j not in found.columns)[:2])
    row = {key: f"{value:.6f}" for key, value in another.items()}
    others = [c for c in combinations(range(6), 2) if c != found.columns]
    met = sum(entries(problem, c) == pytest.approx(another, abs=1e-6) for c in others)
    assert met >= 1
    assert near_choices(problem, found, row).startswith(f"tested: {met} of {len(others)} other")
    assert near_choices(problem, found, {"l0": "9.0", "l1": "9.0"}).startswith("unknown; none")
