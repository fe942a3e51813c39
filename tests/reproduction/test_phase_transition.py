"""Outliers removed under Schatten sums."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction import phase_transition
from reproduction.data import Data
from reproduction.registry import Run

TABLES = {table.name: table for table in phase_transition.TABLES}


def test_planted_outliers_raise_the_rank():
    X = phase_transition.planted(20, 3, 5, 0)
    assert np.linalg.matrix_rank(X[5:]) == 3 and np.linalg.matrix_rank(X) == 8


def test_phases(monkeypatch):
    inside = phase_transition.phase("p = 0.1", 20, 0.1, 0.3, 2)
    assert inside.solved and inside.possible
    wrong = {"wrong": lambda X, k: np.arange(1, k + 1), "right": lambda X, k: np.arange(k)}
    monkeypatch.setattr(phase_transition, "methods", lambda: wrong)
    assert not phase_transition.phase("wrong", 20, 0.1, 0.3, 2).solved
    beyond = phase_transition.phase("right", 20, 0.5, 0.6, 2)
    assert beyond.solved and not beyond.possible


def test_no_good_rows_are_told_apart_beyond_their_rank():
    assert not phase_transition.phase("p = 0.1", 40, 0.5, 0.7, 1).solved


def test_the_border_is_below_the_first_failure():
    def cells(*solved):
        return [phase_transition.Phase("a", 0.1, 0.1 * (i + 1), s) for i, s in enumerate(solved)]

    assert phase_transition.border(cells(True, True, False, True)) == pytest.approx(0.2)
    assert phase_transition.border(cells(False, True)) == 0.0
    assert phase_transition.border(cells(True, True)) == pytest.approx(0.2)


def test_borders_are_drawn_for_every_method(monkeypatch):
    found = [
        phase_transition.Phase(name, 0.05, share, share < 0.4)
        for name in phase_transition.methods()
        for share in (0.5, 0.3)
    ]
    monkeypatch.setattr(phase_transition, "phases", lambda quick: found)
    (panel,) = phase_transition.border_panels(Run(Data("nowhere"), False))
    assert len(panel.lines) == 5
    assert panel.lines["p = 0.1"] == ([0.05], [0.3])


@pytest.mark.parametrize("noise", phase_transition.NOISES)
def test_a_line_is_recovered(noise):
    found = phase_transition.greedy(phase_transition.line(noise), 15, 0.1)
    assert set(range(10)) <= set(found.removal_order_)
    assert phase_transition.turn(found) < (1e-6 if noise == 0.0 else 1.0)


def test_cells(monkeypatch):
    """All statements hold on small matrices, but one about the threshold under noise."""
    monkeypatch.setattr(phase_transition, "QUICK_SIZE", 20)
    phase_transition.phases.cache_clear()
    for name, table in TABLES.items():
        cells = list(table.cells(Run(Data("nowhere"), True)))
        different = [cell.where for cell in cells if cell.verdict == "different"]
        assert different == (["noise 0.1, p = 0.1, after a threshold"] if "8.2" in name else [])
        assert all(cell.why for cell in cells if cell.verdict != "reproduced")
