"""columnist data."""

from __future__ import annotations

import pytest


def test_the_list(cli, tmp_path):
    answer = cli("data", "list", "--data", tmp_path, "--json").json
    assert answer["folder"] == str(tmp_path)
    sets = {entry["name"]: entry for entry in answer["datasets"]}
    assert sets["vehicle"]["shape"] == [846, 18]
    assert not any(entry["present"] for entry in sets.values())
    assert "vehicle" in cli("data", "list", "--data", tmp_path).out
    assert cli("data", "list", "--data", tmp_path, "--present", "--json").json["datasets"] == []


def test_what_a_set_is(cli):
    assert "Cite" in cli("data", "show", "vehicle").out
    answer = cli("data", "show", "vehicel")
    assert answer.code == 2
    assert "vehicle" in answer.err


def test_where_it_is(cli, tmp_path):
    assert cli("data", "path", "--data", tmp_path).out.strip() == str(tmp_path)
    answer = cli("data", "path", "vehicle", "--data", tmp_path)
    assert answer.out.startswith(str(tmp_path))
    assert "columnist data fetch vehicle" in answer.err


def test_files_that_are_here_are_not_fetched_again(cli, tmp_path, monkeypatch):
    from columnist.datasets._catalogue import find_dataset

    monkeypatch.setattr("columnist.datasets._fetch.download_file", None)
    for file in find_dataset("slump").files:
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    answer = cli("data", "fetch", "slump", "--data", tmp_path, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["files_of"]["slump"] == [
        str(tmp_path / file.path) for file in find_dataset("slump").files
    ]


@pytest.mark.parametrize("command", ["fetch", "path"])
def test_unknown_sets(cli, command):
    answer = cli("data", command, "no such set")
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert "columnist data list" in answer.err
