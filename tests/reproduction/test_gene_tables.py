"""Tables whose data are not at hand."""

from __future__ import annotations

import pytest

from reproduction import gene_tables
from reproduction.data import Data
from reproduction.registry import Run


@pytest.mark.parametrize(
    ("table", "size"), list(zip(gene_tables.TABLES, (77, 29), strict=True)), ids=["6.5", "6.6"]
)
def test_every_figure_has_a_cell(table, size):
    cells = list(table.cells(Run(Data("nowhere"), False)))
    assert len(cells) == len({cell.where for cell in cells}) == size
    assert all(cell.verdict == "not possible" and "GSE2604" in cell.why for cell in cells)
