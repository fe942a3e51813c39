"""Times of searches: what is measured, and what is made of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reproduction import timing_figures
from reproduction.curves import panel_figure
from reproduction.data import Data
from reproduction.registry import Run
from reproduction.timing_figures import ALL_SETS, OPTIMAL, Timed

TABLES = {table.name: table for table in timing_figures.TABLES}
X = np.random.default_rng(0).standard_normal((20, 7))


def test_the_time_of_all_sets_is_that_of_one_times_their_number(monkeypatch):
    seen = []
    monkeypatch.setattr(timing_figures.time, "process_time", lambda: 2.0 * len(seen))
    seconds = timing_figures.exhaustive_seconds(10, 3, seen.append)
    assert seconds == pytest.approx(2.0 * math.comb(10, 3))
    assert all(len(set(chosen)) == 3 for chosen in seen)


def test_ratios_leave_out_what_was_given_up():
    found = Timed((1, 2, 3), {"a": [1.0, 9.0, 50.0], "b": [1.0, 4.0, math.nan]})
    assert found.ratio("a", "b") == pytest.approx(2.0)


@pytest.mark.parametrize("total", [0, 4])
def test_every_program_is_timed_at_every_size(total, monkeypatch):
    monkeypatch.setattr(timing_figures, "SAMPLE", 5)
    found = timing_figures.selections(X, (1, 2), total, (0.5,))
    assert set(found.seconds) == {ALL_SETS, OPTIMAL, "weight 0.5"}
    assert all(len(s) == 2 and np.isfinite(s).all() for s in found.seconds.values())
    removed = timing_figures.removals(X, (1, 2), 2, 1.0)
    assert set(removed.seconds) == {ALL_SETS, OPTIMAL, "weight 1"}


def test_errors_of_the_rows_that_are_left():
    removed, r = np.array([3, 4]), 2
    kept = np.delete(X, removed, axis=0)
    axes = np.linalg.svd(kept, full_matrices=False)[2][:r]
    expected = np.sum((kept - kept @ axes.T @ axes) ** 2)
    assert timing_figures.tail_error(X, removed, r) == pytest.approx(expected)


def test_statements_and_curves(monkeypatch):
    seconds = {ALL_SETS: [1.0, 9.0], OPTIMAL: [0.1, math.nan], "weight 1": [0.1, 0.1]}
    monkeypatch.setattr(timing_figures, "measured", lambda *_: Timed((1, 2), seconds))
    monkeypatch.setattr(Data, "matrix", lambda self, name: X)
    run = Run(Data("nowhere"), quick=False)
    cells = list(TABLES["he-fig3.4"].cells(run))
    assert [cell.verdict for cell in cells] == ["reproduced", "different"]
    assert all(cell.why for cell in cells if cell.verdict == "different")
    (panel,) = TABLES["he-fig3.4"].panels(run)
    assert panel.lines[OPTIMAL] == ([1], [0.1]) and "<svg" in panel_figure(panel).wide


def test_without_data(tmp_path):
    for table in TABLES.values():
        cells = list(table.cells(Run(Data(tmp_path), quick=False)))
        assert [cell.verdict for cell in cells] == ["not possible"] * 2
