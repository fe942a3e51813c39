"""Without any data every printed figure still has its cell, with a reason."""

from __future__ import annotations

import pytest

from reproduction import lowrank_tables, multilabel_tables, privacy_tables, two_stage_tables
from reproduction.data import Data
from reproduction.printed import printed
from reproduction.registry import Run

MODULES = (two_stage_tables, multilabel_tables, privacy_tables, lowrank_tables)
TABLES = [table for module in MODULES for table in module.TABLES if table.name != "xu-9.1"]
# Columns that say which figure is meant.
HEADS = {"set", "k", "p", "what", "model", "desired", "confidential", "algorithm", "figure of"}


def figures(name):
    """Printed figures of a table; table 9.7 is headed by its utility error."""
    heads = HEADS | {"utility error"} if name == "xu-9.7" else HEADS
    return [row[key] for row in printed(name) for key in row if key not in heads and row[key]]


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_figure_has_a_cell(table, quick, tmp_path):
    cells = list(table.cells(Run(Data(tmp_path), quick)))
    assert [cell.printed for cell in cells] == figures(table.name)
    assert {cell.verdict for cell in cells} <= {"not possible", "skipped"}
    assert all(cell.why for cell in cells)
    assert len({cell.where for cell in cells}) == len(cells)
