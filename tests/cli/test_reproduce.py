"""columnist reproduce."""

from __future__ import annotations

from columnist.reproduce import Cell, PrintedTable, Reproduction, TableResult


def test_the_list(cli):
    tables = cli("reproduce", "--list", "--json").json["tables"]
    assert {"name", "document", "title"} <= tables[0].keys()
    assert tables[0]["name"] in cli("reproduce", "--list").out


def test_a_table(cli, tmp_path):
    page = tmp_path / "page.html"
    answer = cli("reproduce", "he-sec3.2.1", "--quick", "--out", page, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["counts"]["reproduced"] == 10
    assert "he-sec3.2.1" in page.read_text(encoding="utf-8")


def test_differences_without_a_reason_fail(cli, monkeypatch):
    def run(tables, **_):
        table = PrintedTable("he-9.9", "made up", lambda run: iter(()))
        cells = [Cell("here", "1.0", 2.0, "different", why) for why in reasons]
        return Reproduction([TableResult(table, cells, complete=True)])

    monkeypatch.setattr("columnist.reproduce.reproduce", run)
    reasons = ["a typo in print"]
    assert cli("reproduce", "he-9.9").code == 0
    reasons = [""]
    answer = cli("reproduce", "he-9.9")
    assert answer.code == 1
    assert "he-9.9, here: printed 1.0, ours 2.0" in answer.out


def test_bad_options(cli, tmp_path):
    assert cli("reproduce").code == 2
    answer = cli("reproduce", "he-99.99")
    assert answer.code == 2
    assert "No printed table" in answer.err
    assert cli("reproduce", "all", "--out", tmp_path / "no" / "page.html").code == 2
    assert "--out" in cli("reproduce", "all", "--out", tmp_path / "page.txt").err
    assert "no such folder" in cli("reproduce", "he-3.2", "--data", tmp_path / "no").err
