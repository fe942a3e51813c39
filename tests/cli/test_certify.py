"""columnist certify, against the library itself."""

from __future__ import annotations

import json

import pytest
from sklearn.preprocessing import scale

from columnist import certify
from tests.cli.conftest import NAMES, WINE

SCALED = scale(WINE.data)
GIVEN = ["alcohol", "flavanoids", "hue"]
ONLY = ("--drop", "class", "--drop", "bottle", "--center", "--scale")


def test_all_formats(cli, numbers):
    names = [f"x{i}" for i in range(1, 14)] if numbers[0].endswith("npy") else NAMES
    given = [names[i] for i in (0, 6, 10)]
    answer = cli("certify", *numbers, *given, "--center", "--scale", "--json")
    expected = certify(SCALED, [0, 6, 10])
    assert answer.code == 0
    assert answer.json["error"] == pytest.approx(expected.error)
    assert answer.json["better_indices"] == list(expected.better)
    assert answer.json["better"] == [names[i] for i in expected.better]


def test_strict_fails_where_there_is_something_better(cli, wine):
    answer = cli("certify", wine, *GIVEN, *ONLY, "--strict")
    assert answer.code == 1
    assert "Better:    alcalinity_of_ash, flavanoids, color_intensity" in answer.out
    best = ["alcalinity_of_ash", "flavanoids", "color_intensity"]
    answer = cli("certify", wine, *best, *ONLY, "--strict")
    assert answer.code == 0
    assert "No other selection of this size has a smaller error." in answer.out


def test_columns_come_from_many_places(cli, wine, tmp_path):
    wanted = cli("certify", wine, *GIVEN, *ONLY, "--json").json["selected"]
    assert (
        cli("certify", wine, "--columns", ", ".join(GIVEN), *ONLY, "--json").json["selected"]
        == wanted
    )
    model, result = tmp_path / "model.json", tmp_path / "result.json"
    lines, names = tmp_path / "lines.txt", tmp_path / "names.json"
    lines.write_text("\n".join(GIVEN) + "\n\n")
    names.write_text(json.dumps(GIVEN))
    for path in (lines, names):
        assert (
            cli("certify", wine, "--columns-from", path, *ONLY, "--json").json["selected"] == wanted
        )
    result.write_text(cli("select", wine, "-k", 2, *ONLY, "--json", "--model", model).out)
    selected = json.loads(result.read_text())["selected"]
    for path in (model, result):
        found = cli("certify", wine, "--columns-from", path, *ONLY, "--json").json
        assert found["selected"] == selected
        assert found["better"] is None


def test_a_misspelt_column_gets_close_ones(cli, wine):
    answer = cli("certify", wine, "alcohl", *ONLY)
    assert answer.code == 2
    assert "did you mean alcohol" in answer.err


def test_nothing_to_certify(cli, wine, tmp_path):
    assert cli("certify", wine, *ONLY).code == 2
    path = tmp_path / "empty.json"
    path.write_text('{"selected": [3]}')
    assert "holds no selection" in cli("certify", wine, "--columns-from", path, *ONLY).err


def test_a_report(cli, wine, tmp_path):
    page = tmp_path / "page.html"
    assert cli("certify", wine, *GIVEN, *ONLY, "--report", page).code == 0
    assert "flavanoids" in page.read_text(encoding="utf-8")
