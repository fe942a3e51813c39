"""columnist outliers, against the library itself."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.preprocessing import scale

from columnist.robust import CoherencePursuit, RobustPCA
from tests.cli.conftest import NAMES, WINE, read_columns
from tests.report.pages import Outline

SCALED = scale(WINE.data)
ONLY = ("--drop", "class", "--id", "bottle", "--center", "--scale")


def test_all_formats(cli, numbers):
    answer = cli("outliers", *numbers, "-k", 4, "-r", 2, "--center", "--scale", "--json").json
    fitted = RobustPCA(2, n_outliers=4).fit(SCALED)
    assert answer["removed"] == (fitted.outliers_ + 1).tolist()
    assert answer["outliers"] == (np.flatnonzero(fitted.predict(SCALED) < 0) + 1).tolist()
    assert answer["orthogonal_cutoff"] == pytest.approx(fitted.orthogonal_cutoff_)
    assert answer["certificate"]["status"] == "optimal"


def test_the_table_has_ids(cli, wine):
    answer = cli("outliers", wine, "-k", 4, *ONLY)
    assert answer.code == 0
    assert "b121" in answer.out and "122" in answer.out


@pytest.mark.parametrize(
    "method", ["schatten", "pursuit", "coherence", "hrpca", "robpca", "trimmed", "leverage"]
)
def test_every_method(cli, wine, method):
    answer = cli("outliers", wine, "-k", 0.05, "-r", 2, "--method", method, "--seed", 0, *ONLY,
                 "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    assert answer.json["components"] == 2
    assert answer.json["certificate"] is None
    if method == "coherence":
        fitted = CoherencePursuit(2, n_outliers=0.05).fit(SCALED)
        assert answer.json["removed"] == (fitted.outliers_ + 1).tolist()


def test_flags_and_removal(cli, wine, tmp_path):
    flagged, removed = tmp_path / "flagged.parquet", tmp_path / "removed.csv"
    answer = cli("outliers", wine, "-k", 4, *ONLY, "--out", flagged, "--json").json
    columns = read_columns(flagged)
    assert (np.flatnonzero(columns["outlier"]) + 1).tolist() == answer["outliers"]
    np.testing.assert_array_equal(columns["ash"], WINE.data[:, NAMES.index("ash")])
    assert cli("outliers", wine, "-k", 4, *ONLY, "--out", removed, "--remove").code == 0
    kept = np.delete(WINE.data[:, 2], np.array(answer["outliers"]) - 1)
    np.testing.assert_array_equal(read_columns(removed)["ash"], kept)


def test_row_numbers_are_those_of_the_file(cli, tmp_path):
    rng = np.random.default_rng(0)
    rows = [[f"{v:.4f}" for v in row] for row in rng.standard_normal((40, 3))]
    rows[3][1] = ""
    rows[30] = ["50", "-60", "70"]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(row) for row in rows))
    answer = cli("outliers", path, "-k", 1, "-r", 1, "--missing", "drop", "--json").json
    assert answer["removed"] == [31]


def test_rows_and_labels_agree_in_all_forms(cli, tmp_path):
    path, page = tmp_path / "gaps.csv", tmp_path / "page.html"
    rng = np.random.default_rng(0)
    rows = [[f"s{i}", x, 2 * x + 0.01 * e] for i, (x, e) in enumerate(rng.normal(size=(40, 2)))]
    rows[3][2], rows[20][2] = "", 50.0
    path.write_text("name,a,b\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    how = ("-k", 1, "-r", 1, "--missing", "drop", "--id", "name")
    answer = cli("outliers", path, *how, "--json", "--report", page).json
    told = {row["row"]: row["ids"]["name"] for row in answer["rows"]}
    assert told[21] == "s20" and answer["removed"] == [21]
    assert all(label == f"s{row - 1}" for row, label in told.items())
    shown = cli("outliers", path, *how).out
    assert re.search(r"\b21 +s20\b", shown)
    cells = [text.strip() for tag, _, text in Outline(page.read_text()).elements if tag == "td"]
    pairs = {(row, label) for row, label in pairwise(cells) if re.fullmatch(r"s\d+", label)}
    assert pairs == {(f"{i + 1}", f"s{i}") for i in range(40) if i != 3}


def test_a_report(cli, wine, tmp_path):
    page = tmp_path / "page.html"
    assert cli("outliers", wine, "-k", 4, *ONLY, "--report", page).code == 0
    assert "b121" in page.read_text(encoding="utf-8")


def test_bad_options(cli, wine):
    assert "number of rows" in cli("outliers", wine, "-k", 999, *ONLY).err
    assert "-k takes a number" in cli("outliers", wine, "-k", "few", *ONLY).err
    assert "--out" in cli("outliers", wine, "--remove", *ONLY).err
    answer = cli("outliers", wine, "-k", 3, "-r", 50, *ONLY)
    assert answer.code == 2
    assert "components" in answer.err
