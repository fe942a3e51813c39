"""The search tables: verdicts and figures of the cells that take no minutes.

The searches behind them have tests of their own, against enumeration of all subsets
(``test_printed_optimal``); here the figures that are known to be right meet the cells.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from columnist.criteria import get_criterion
from reproduction import (
    column_tables,
    example_tables,
    list_tables,
    searches,
    weighted_tables,
)
from reproduction.column_tables import SLOW, WRONG, why_wrong, wrong_exponent
from reproduction.data import Data, MissingData
from reproduction.registry import Run
from reproduction.searches import Problem, after_extraction, searched
from tests.oracles.brute_force import best_subsets, subset_error
from tests.real_data import load_vehicle
from tests.reproduction.conventions import tables_data

NAMED = {table.name: table for table in list_tables()}


@pytest.fixture(scope="module")
def run():
    return Run(tables_data(), quick=True)


def cells(run, name):
    return {cell.where: cell for cell in NAMED[name].cells(run)}


@pytest.mark.parametrize("name", ["he-2.1", "he-sec3.2.1"])
def test_examples_need_no_data(name, tmp_path):
    found = list(NAMED[name].cells(Run(Data(tmp_path), quick=False)))
    assert found and all(cell.verdict == "reproduced" for cell in found)


def test_a_wrong_example_would_be_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(example_tables, "KG_PER_POUND", 0.5)
    found = list(example_tables.persons(Run(Data(tmp_path), quick=False)))
    assert [cell.verdict for cell in found[:3]] == ["reproduced", "different", "different"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["xu-4.2", "xu-5.2"])
def test_sizes(run, name):
    found = cells(run, name)
    assert {cell.verdict for where, cell in found.items() if where[0] in "TD"} <= {"not possible"}
    rest = [cell for where, cell in found.items() if where[0] not in "TD"]
    assert len(rest) == 6 and all(cell.verdict == "reproduced" for cell in rest)


@pytest.mark.data
def test_searches_meet_enumeration(run):
    """Optimal choices, alone and followed by extraction, against all subsets of vehicle."""
    X = load_vehicle()
    for criterion in ("frobenius", "nuclear"):
        problem = Problem(run.data, "vehicle", 2, criterion, 3)
        found = searched(problem)
        assert found.error == pytest.approx(best_subsets(X, 2, get_criterion(criterion), 3)[0][0])
        assert found.proof == "proven optimal"
        alone = best_subsets(X, 2, get_criterion(criterion))[0][1]
        expected = subset_error(X, alone, get_criterion(criterion), 3)
        assert after_extraction(problem) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.data
def test_optima_of_vehicle_are_reproduced_and_proven(run):
    found = cells(run, "he-3.2")
    assert len(found) == 24 and {cell.verdict for cell in found.values()} == {"reproduced"}
    assert found["vehicle, r1 = 4, r2 = 6, nuclear"].ours == pytest.approx(418.66, abs=0.01)
    assert found["vehicle, r1 = 4, r2 = 6, nuclear"].detail == "proven optimal"


@pytest.mark.data
def test_misprinted_sizes(run):
    found = {cell.where: cell for cell in islice(NAMED["xu-5.4"].cells(run), 6)}
    cell = found["vehicle, r1 = 5, optimal"]
    assert (cell.printed, cell.verdict) == ("351.43", "different")
    assert cell.ours == pytest.approx(247.585, abs=1e-3) and "misprinted for 4" in cell.why
    assert found["vehicle, r1 = 6, optimal"].ours == pytest.approx(219.388, abs=1e-3)
    assert found["vehicle, r1 = 7, optimal"].verdict == "reproduced"
    assert "misprinted for 6" in found["vehicle, r1 = 7, GE"].why


def test_misprinted_exponents():
    assert wrong_exponent("3.014e2", 3014.41).endswith("by 1")
    assert wrong_exponent("1.268e3", 126777.8).endswith("by 2")
    assert wrong_exponent("3.014e2", 301.41) == wrong_exponent("3.014e2", 3050.0) == ""


def test_a_reason_is_given_only_for_what_it_explains():
    (table, key, column), (right, why) = next(iter(WRONG.items()))
    assert why_wrong(table, key, column, right) == why
    assert why_wrong(table, key, column, 1.01 * right) == ""
    assert why_wrong(table, key, "no such column", right) == ""


@pytest.mark.data
def test_entries_of_the_residual(run):
    found = cells(run, "he-3.4")
    columns = searched(Problem(run.data, "vehicle", 5, "frobenius", 5)).columns
    X = load_vehicle()
    S = X[:, columns]
    R = X - S @ np.linalg.lstsq(S, X)[0]
    U, s, Vt = np.linalg.svd(R, full_matrices=False)
    R = np.abs(R - (U[:, :5] * s[:5]) @ Vt[:5])
    l0, l1 = (found[f"vehicle, r1 = 5, r = 10, frobenius, {name}"] for name in ("l0", "l1"))
    assert (l0.ours, l1.ours) == pytest.approx(((R > 0.5).mean(), R.mean()), rel=1e-9)
    assert l0.verdict == l1.verdict == "reproduced"


@pytest.mark.data
def test_quick_runs_skip_what_is_slow(run, monkeypatch):
    monkeypatch.setattr(column_tables, "answer", lambda problem, column: (1.0, ""))
    slow = tuple(f"{name}, r1 = {k}, {criterion}" for name, k, criterion in SLOW)
    for name in ("xu-5.3", "he-3.1"):
        quick, full = (list(NAMED[name].cells(Run(run.data, mode))) for mode in (True, False))
        assert [cell.where for cell in quick] == [cell.where for cell in full]
        assert not any(cell.verdict == "skipped" for cell in full)
        for cell in quick:
            left_out = cell.where.startswith(slow) and not cell.where.endswith("ARSS")
            assert (cell.verdict == "skipped") == left_out


@pytest.mark.data
def test_an_interrupted_search_is_no_answer(run, monkeypatch):
    class Interrupted:
        def __init__(self, *args, **options):
            self.certificate_ = type("C", (), {"status": "interrupted"})

        def fit(self, X):
            return self

    monkeypatch.setattr(searches, "ColumnSelector", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        searched(Problem(run.data, "vehicle", 3, "kyfan:2"))


@pytest.mark.data
@pytest.mark.parametrize("method", ["GKS", "GE", "LEV_GE"])
def test_other_methods_are_no_better_than_the_optimum(method, monkeypatch):
    X = load_vehicle()
    monkeypatch.setattr(weighted_tables, "N_DRAWS", 2)
    best = best_subsets(X, 3, get_criterion("frobenius"))[0][0]
    assert min(weighted_tables.METHODS[method](X, 3)) >= best * (1 - 1e-9)


@pytest.mark.data
def test_times_are_shown_but_not_compared(run, monkeypatch):
    """One run stands behind an error and its time; the quick mode keeps k = 20 and no draws."""
    found = weighted_tables.Measured(4272.57, 90.0, (4272.57,))
    monkeypatch.setattr(weighted_tables, "measured", lambda *problem: found)
    monkeypatch.setattr(weighted_tables, "matrix", absent_text)
    errors, minutes = cells(run, "xu-4.3"), cells(run, "xu-4.4")
    assert errors["cnae9+label, k = 20, order h"].verdict == "reproduced"
    assert "f = 1.01" in errors["cnae9+label, k = 20, GE"].detail
    assert errors["cnae9+label, k = 60, order h"].verdict == "skipped"
    assert errors["cnae9+label, k = 20, LEV_GE"].verdict == "skipped"
    assert errors["Day1, k = 20, GKS"].verdict == "not possible"
    cell = minutes["cnae9+label, k = 20, order h"]
    assert (cell.printed, cell.ours, cell.verdict) == ("1.82", 1.5, "not possible")
    assert "machine" in cell.why


def absent_text(data, name):
    if name in weighted_tables.NOT_AT_HAND:
        raise MissingData(weighted_tables.NOT_AT_HAND[name])
