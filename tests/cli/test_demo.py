"""columnist demo."""

from __future__ import annotations

from columnist.cli import _demo as demo
from tests.cli.conftest import read_columns


def test_the_story(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "PATH_SECONDS", 0.5)
    answer = cli("demo", "--out", tmp_path / "new")
    assert answer.code == 0, answer.err
    assert "optimal" in answer.out
    assert "Forward selection cannot tell" in answer.out.replace("\n", " ")
    assert (tmp_path / "new" / "demo-report.html").stat().st_size > 1000
    assert len(read_columns(tmp_path / "new" / "demo-data.csv")) == 30


def test_bad_folder(cli, tmp_path):
    (tmp_path / "file").write_text("")
    assert cli("demo", "--out", tmp_path / "file").code == 2
