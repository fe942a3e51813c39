"""The benchmark of the low-rank models measures what it says. Nothing here looks at a clock."""

from __future__ import annotations

from benchmarks import lowrank
from benchmarks.data import Sets


def test_corrupted_rows_mislead_squares_only():
    assert lowrank.recovered(0, 0, "quadratic") == 1.0
    assert lowrank.recovered(0, 6, "robust") > lowrank.recovered(0, 6, "quadratic")


def test_sets_that_are_not_there_are_told():
    said = []
    assert list(lowrank.pictures(Sets(None, say=said.append), quick=False)) == []
    assert len(said) == 3 and "orl" in said[0]


def test_tables_keep_every_row():
    rows = [{"part": part, "value": 1} for part in ("rankings", "speed", "corrupt", "large")]
    shown = lowrank.tables(rows)
    assert [len(lines) for lines in shown.values()] == [1, 1, 1, 1]
