"""Reasons say what a computation shows, and nothing else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from reproduction import Cell, PrintedTable, Reproduction, TableResult
from reproduction.column_tables import exchanged, near_choices
from reproduction.data import Data
from reproduction.reasons import by_draws, by_setting, is_honest
from reproduction.robust_tables import other_leverage
from reproduction.searches import Problem, searched


def test_a_setting_is_a_reason_only_if_it_gives_the_print():
    assert by_setting("1.50", "f = 2", 1.509).startswith("tested: f = 2 gives the print")
    assert by_setting("1.50", "f = 2", 1.511).startswith("unknown")


def test_draws_are_a_reason_only_around_the_print():
    assert by_draws("1.5", [1.5, 1.9], "the seed").startswith("tested")
    for draws in ([1.51, 1.9], [1.1, 1.49]):
        assert by_draws("1.5", draws, "the seed").startswith("unknown")


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


def test_leverage_by_every_number_of_vectors():
    X = np.diag([5.0, 4.0, 3.0]) + 0.1
    kept = X[1:]  # the first vector marks the first row
    error = np.linalg.svd(kept, compute_uv=False)[1] ** 2 / np.sum(X * X)
    assert other_leverage(X, f"{error:.4f}", 1, 1).startswith("tested: 1")
    assert other_leverage(X, "0.9999", 1, 1).startswith("unknown; none of 1 to 3")
