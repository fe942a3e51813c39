"""Solvers of row-sparse least squares, on small data."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction import row_sparse_tables
from reproduction.data import Data
from reproduction.printed import printed
from reproduction.registry import Run

TABLES = {table.name: table for table in row_sparse_tables.TABLES}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(row_sparse_tables, "SHAPE", (60, 150, 3))
    monkeypatch.setattr(row_sparse_tables, "SIZE", 8)
    row_sparse_tables.accelerated.cache_clear()
    yield
    row_sparse_tables.accelerated.cache_clear()


def test_features_grow_as_the_penalty_falls():
    X, Y = row_sparse_tables.draw(60, 150, 3)
    found = [row_sparse_tables.solved(X, Y, ratio, "coordinate") for ratio in (1.0, 0.5, 0.1, 0.0)]
    features = [solve.features for solve in found]
    assert features[0] == 0 and features == sorted(features) and features[-1] == 150
    residuals = [solve.residual for solve in found]
    assert residuals[0] == pytest.approx(np.linalg.norm(Y))
    assert residuals == sorted(residuals, reverse=True) and residuals[-1] < 1e-9


@pytest.mark.parametrize("quick", [False, True])
def test_every_figure_has_a_cell(small, quick):
    cells = list(TABLES["zl-3.1"].cells(Run(Data("nowhere"), quick)))
    figures = [row[key] for row in printed("zl-3.1") for key in row if key != "penalty"]
    assert sorted(cell.printed for cell in cells) == sorted(figures)
    cells += TABLES["zl-ex16"].cells(Run(Data("nowhere"), quick))
    assert all(cell.why for cell in cells if cell.verdict not in ("reproduced", "better"))
    assert ("skipped" in {cell.verdict for cell in cells}) == quick
