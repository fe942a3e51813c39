"""A file is replaced whole, or stays as it was."""

from __future__ import annotations

import os

import pytest

from columnist.io import atomic_path


def test_a_failure_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.txt"]


def test_new_files_have_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    with atomic_path(tmp_path / "ours") as temporary:
        temporary.write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_links_and_permissions_are_kept(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("old")
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
