"""The command python -m reproduction."""

from __future__ import annotations

import json

import pytest

from reproduction import Cell, PrintedTable, Reproduction, TableResult, __main__, list_tables


@pytest.fixture
def command(capsys):
    """Run the command in this process: its exit code, output and messages."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = __main__.main([str(argument) for argument in arguments])
        except SystemExit as error:
            code = int(error.code or 0)
        return code, *capsys.readouterr()

    return run


def test_the_list(command):
    code, out, _ = command("--list")
    assert code == 0
    for line, table in zip(out.splitlines(), list_tables(), strict=True):
        assert line.startswith(table.name) and table.document in line and table.title in line


def test_a_table(command, tmp_path):
    page, stored, text = (tmp_path / f"page{ending}" for ending in (".html", ".json", ".md"))
    outputs = ("--out", page, "--out", stored, "--out", text)
    code, out, err = command("he-sec3.2.1", "--quick", *outputs)
    assert code == 0, err
    assert ["all", "10"] == out.splitlines()[-1].split()[:2]
    assert json.loads(stored.read_text(encoding="utf-8"))["counts"]["reproduced"] == 10
    assert all("he-sec3.2.1" in path.read_text(encoding="utf-8") for path in (page, text))


def test_differences_without_a_reason_fail(command, monkeypatch):
    def run(tables, **_):
        table = PrintedTable("he-9.9", "made up", lambda run: iter(()))
        cells = [Cell("here", "1.0", 2.0, "different", why) for why in reasons]
        return Reproduction([TableResult(table, cells, complete=True)])

    monkeypatch.setattr(__main__, "reproduce", run)
    reasons = ["tested: a typo in print", "unknown"]
    assert command("he-9.9")[0] == 0
    reasons = ["a typo in print"]
    code, out, _ = command("he-9.9")
    assert code == 1
    assert "he-9.9, here: printed 1.0, ours 2.0" in out


def test_bad_options(command, tmp_path):
    for arguments, message in (
        ((), "--list"),
        (("he-99.99",), "No printed table"),
        (("all", "--out", tmp_path / "no" / "page.html"), "--out"),
        (("all", "--out", tmp_path / "page.txt"), "--out"),
        (("he-3.2", "--data", tmp_path / "no"), "no such folder"),
    ):
        code, _, err = command(*arguments)
        assert code == 2
        assert message in err
