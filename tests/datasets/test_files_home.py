"""Where data sets are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from columnist.datasets import data_home
from columnist.datasets._files import user_cache


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    monkeypatch.delenv("COLUMNIST_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


def test_argument_then_variable_then_cache(monkeypatch, tmp_path):
    assert data_home() == user_cache() / "columnist"
    monkeypatch.setenv("COLUMNIST_DATA", str(tmp_path / "named"))
    assert data_home() == tmp_path / "named"
    assert data_home(tmp_path / "given") == tmp_path / "given"


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("COLUMNIST_DATA", "")
    assert data_home() == user_cache() / "columnist"


def test_nothing_is_created(tmp_path):
    data_home()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", ".cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")],
)
def test_cache_of_the_platform(monkeypatch, tmp_path, platform, folder):
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr("columnist.datasets._files.sys.platform", platform)
    assert user_cache() == tmp_path / folder


def test_cache_by_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_home() == tmp_path / "cache" / "columnist"
