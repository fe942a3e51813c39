"""The benchmarks run, and what they compare agrees. Nothing here looks at a clock."""

from __future__ import annotations

import json

import pytest

from benchmarks import reach, run, secular, table, textbook
from benchmarks.data import Sets


def test_textbook_rows_agree_on_the_optimum():
    skipped = []
    sets = Sets(None, say=skipped.append)
    name, X = next(sets.these("wdbc"))
    row = textbook.compare(name, X, 2, quick=True)
    assert row["same optimum"]
    assert (row["set"], row["columns"], row["k"]) == ("wdbc", 30, 2)
    assert row["textbook nodes"] >= 1 and row["our nodes"] >= 1
    assert all(isinstance(row[key], float) for key in ("ratio fit", "ratio search"))
    assert not skipped


def test_sets_without_a_folder_are_skipped_with_a_line():
    skipped = []
    names = [name for name, _ in Sets(None, say=skipped.append).these("wdbc", "libras", "digits")]
    assert names == ["wdbc", "digits"]
    assert len(skipped) == 1 and "libras" in skipped[0]


def test_run_writes_json_and_markdown_and_merges(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(textbook, "QUICK_SIZES", {"wdbc": (2,)})
    out = tmp_path / "results.json"
    out.write_text(json.dumps({"textbook": [{"set": "libras", "k": 2}, {"set": "wdbc", "k": 9}]}))
    monkeypatch.setattr(run, "report", lambda results: "# report\n")
    assert run.main(["textbook", "--quick", "--out", str(out)]) == 0
    stored = json.loads(out.read_text())
    assert [(row["set"], row["k"]) for row in stored["textbook"]] == [("libras", 2), ("wdbc", 2)]
    assert out.with_suffix(".md").read_text().startswith("#")
    assert str(tmp_path) not in out.read_text()
    assert "same optimum" in capsys.readouterr().out


def test_unknown_benchmark_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.parse(["nonsense"])
    assert "nonsense" in capsys.readouterr().err


def test_reach_summary():
    row = {"set": "s", "columns": 7, "criterion": "frobenius", "nodes": 1, "cores": 2.0}
    times = {1: 1.0, 2: 20.0, 3: 61.0, 6: 5.0, 7: 0.1}
    group = [row | {"k": k, "seconds": s, "proven": s <= 60} for k, s in times.items()]
    (line,) = reach.tables(group)[""]
    assert line["10 s: every k up to"] == 1 and line["60 s: every k up to"] == 2
    assert line["also in 10 s"] == line["also in 60 s"] == "6-7"


def test_lapack_reference_agrees():
    d, Z = secular.residual_like(5, 3)
    assert secular.lapack_time(d, Z, budget=0.0) is None or secular.compare(5, 3, 0.0)


def test_tables_line_up():
    lines = table.fixed_width([{"a": 1, "b": "x"}, {"a": 10.5, "b": "long"}]).splitlines()
    assert lines[0].startswith("   a  b") and lines[2].startswith("   1  x")
    assert table.markdown_table([{"a": 1}]).count("|") == 6
