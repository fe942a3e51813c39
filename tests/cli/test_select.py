"""columnist select, against the library itself."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from sklearn.preprocessing import scale

from columnist import ColumnSelector, column_verdicts
from columnist.selection import ForwardSelector
from tests.cli.conftest import CLASSES, NAMES, WINE, read_columns

SCALED = scale(WINE.data)
KEYS = {
    "command", "version", "data", "method", "explains", "selected", "indices", "error",
    "relative_error", "certificate", "solutions", "column_r2", "representative", "path",
    "stability", "verdicts", "constraints", "budget", "notes", "files",
}  # fmt: skip


def test_all_formats_give_the_selection_of_the_library(cli, numbers):
    answer = cli("select", *numbers, "-k", 4, "--center", "--scale", "--json")
    best = ColumnSelector(4).fit(SCALED)
    assert answer.code == 0
    assert answer.json["indices"] == best.selected_.tolist()
    assert answer.json["error"] == pytest.approx(best.error_, rel=1e-9)
    assert answer.json["certificate"]["status"] == "optimal"
    assert answer.json.keys() == KEYS


def test_the_table_names_what_is_kept(cli, wine):
    answer = cli("select", wine, "-k", 4, "--drop", "class", "--drop", "bottle", "--scale")
    assert answer.code == 0
    assert "Selected 4 columns of 13" in answer.out
    assert "optimal" in answer.out
    assert "\x1b" not in answer.out
    assert not any(0x2500 <= ord(c) < 0x2580 for c in answer.out)


def test_a_target_is_explained(cli, wine):
    options = ["--target", "class", "--id", "bottle", "--center", "--scale", "--json"]
    answer = cli("select", wine, "-k", 3, *options).json
    best = ColumnSelector(3, centering="mean").fit(SCALED, CLASSES.astype(str))
    assert answer["explains"] == "y"
    assert answer["indices"] == best.selected_.tolist()
    assert answer["relative_error"] == pytest.approx(best.relative_error_, rel=1e-9)
    answer = cli("select", wine, "-k", 3, *options, "--explain", "X").json
    assert answer["indices"] == ColumnSelector(3).fit(SCALED).selected_.tolist()


def test_constraints_and_runners_up(cli, numbers):
    names = [f"x{i}" for i in range(1, 14)] if numbers[0].endswith("npy") else NAMES
    answer = cli(
        "select", *numbers, "-k", 3, "--include", names[0], "--exclude", names[12],
        "--solutions", 3, "--path", 4, "--no-scale", "--json",
    ).json  # fmt: skip
    best = ColumnSelector(3, include=[0], exclude=[12], n_solutions=3).fit(WINE.data)
    assert [s["columns"] for s in answer["solutions"]] == [
        [names[i] for i in s] for s in best.solutions_
    ]
    assert [step["size"] for step in answer["path"]] == [1, 2, 3, 4]


def test_written_columns_are_those_of_the_file(cli, wine, tmp_path):
    for ending in ("csv", "parquet", "npz"):
        out = tmp_path / f"kept.{ending}"
        answer = cli(
            "select", wine, "-k", 3, "--target", "class", "--id", "bottle", "--center", "--scale",
            "--out", out, "--json",
        )  # fmt: skip
        assert answer.code == 0, answer.err
        written = read_columns(out)
        for name in answer.json["selected"]:
            np.testing.assert_array_equal(written[name], WINE.data[:, NAMES.index(name)])
    header = (tmp_path / "kept.csv").read_text().splitlines()[0].split(",")
    assert header[0] == "bottle" and header[-1] == "class" and len(header) == 5


def test_data_to_standard_output_leave_the_table_to_the_other(cli, wine):
    answer = cli("select", wine, "-k", 2, "--non-numeric", "drop", "--out", "-")
    assert answer.out.splitlines()[0].count(",") == 1
    assert len(answer.out.splitlines()) == 179
    assert "Selected 2 columns" in answer.err


def test_quiet_says_nothing(cli, wine, tmp_path):
    out = tmp_path / "kept.csv"
    answer = cli("select", wine, "-k", 2, "--non-numeric", "drop", "--quiet", "--out", out)
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert out.is_file()


def test_other_methods(cli, wine):
    options = ["--drop", "class,bottle", "--no-scale", "--json"]
    answer = cli("select", wine, "-k", 3, "--method", "forward", *options).json
    best = ForwardSelector(3).fit(WINE.data)
    assert answer["indices"] == best.selected_.tolist()
    assert answer["error"] == pytest.approx(best.error_, rel=1e-6)
    assert answer["certificate"] is None
    answer = cli("select", wine, "-k", 3, "--method", "gks", "--criterion", "nuclear", *options)
    assert (answer.code, answer.out) == (2, "")
    assert "--criterion does not apply to gks" in answer.err


def test_auto_needs_a_tolerance(cli, wine):
    options = ["--drop", "class", "--drop", "bottle", "--center", "--scale"]
    answer = cli("select", wine, "-k", "auto", "--tol", 0.3, *options, "--json").json
    best = ColumnSelector("auto", tol=0.3).fit(SCALED)
    assert answer["indices"] == best.selected_.tolist()
    assert cli("select", wine, "-k", "auto", *options).code == 2


def test_units_that_differ_are_put_on_one_scale(cli, wine):
    options = ["--drop", "class", "--drop", "bottle"]
    answer = cli("select", wine, "-k", 2, *options)
    assert "--no-scale keeps them as read" in answer.err
    assert "centred and scaled, because their units differ" in answer.out.splitlines()[0]
    found = cli("select", wine, "-k", 2, *options, "--json").json
    assert found["indices"] == ColumnSelector(2).fit(SCALED).selected_.tolist()
    assert found["data"]["centered"] and found["data"]["scaled"]
    assert cli("select", wine, "-k", 2, "--scale", *options).err == ""
    assert (
        "--scale puts all on one scale" in cli("select", wine, "-k", 2, "--no-scale", *options).err
    )


def test_the_hint_for_sparse_data_is_one_that_works(cli, tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1 2:900\n1 1:2 2:500\n0 2:700\n")
    answer = cli("select", path, "-k", 1)
    assert "; --scale puts" in answer.err
    assert cli("select", path, "-k", 1, "--scale").code == 0


def test_a_path_that_was_interrupted_says_so(cli, wine):
    def interrupted(*_, callback, **__):
        callback.__self__.interrupted = True

    options = ["--drop", "class", "--drop", "bottle", "--scale", "--path", 3]
    with mock.patch("columnist.selection_path", side_effect=interrupted):
        answer = cli("select", wine, "-k", 2, *options)
    assert answer.code == 0
    assert "interrupted: best so far kept" in answer.err


def test_constant_columns_are_not_scaled(cli, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("a,b,c\n1,5,2\n2,5,1\n4,5,7\n")
    answer = cli("select", path, "-k", 1, "--scale")
    assert answer.code == 0
    assert "constant columns are not scaled: b" in answer.err


def test_nearly_constant_columns_are_not_scaled_after_centring(cli, tmp_path):
    path = tmp_path / "c.csv"
    # The mean fills a gap with the next number to 0.1.
    rows = "".join(f"{i % 7},{'' if i == 5 else 0.1},{i % 3}\n" for i in range(50))
    path.write_text("a,b,c\n" + rows)
    answer = cli("select", path, "-k", 2, "--missing", "mean", "--center", "--scale", "--json")
    assert "constant columns are not scaled: b" in answer.err
    assert sorted(answer.json["selected"]) == ["a", "c"]
    assert answer.json["relative_error"] < 1e-12


def test_missing_values_are_counted_or_filled(cli, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n,3\n3,\n4,9\n")
    answer = cli("select", path, "-k", 1)
    assert answer.code == 2
    assert "'a' (1)" in answer.err and "--missing mean or --missing median" in answer.err
    answer = cli("select", path, "-k", 1, "--missing", "median", "--json").json
    assert answer["data"]["imputed"]["a"] == {"count": 1, "value": 3.0}
    assert cli("select", path, "-k", 1, "--missing", "drop", "--json").json["data"]["rows"] == 2


def test_a_report_is_a_page(cli, wine, tmp_path):
    page = tmp_path / "page.html"
    options = ["--target", "class", "--id", "bottle"]
    for method in ("certified", "fisher"):
        answer = cli("select", wine, "-k", 3, *options, "--method", method, "--report", page)
        assert answer.code == 0, answer.err
        assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
        assert f"written: {page}" in answer.err


def test_warnings_become_notes(cli, tmp_path):
    path = tmp_path / "twins.csv"
    path.write_text("a,b,c\n1,1,2\n2,2,4\n3,3,6\n")
    answer = cli("select", path, "-k", 2, "--json")
    assert any("explain everything" in note for note in answer.json["notes"])
    assert "note: " in answer.err and "Warning" not in answer.err


def test_bootstrap(cli, wine, tmp_path):
    options = ["-k", 2, "--drop", "class", "--drop", "bottle", "--scale", "--center"]
    options += ["--path", 3, "--bootstrap", 6]
    page = tmp_path / "wine.html"
    answer = cli("select", wine, *options, "--json", "--report", page)
    found = answer.json["stability"]
    assert found["resamples"] == found["proven"] == 6
    assert not found["interrupted"]
    assert sum(row["frequency"] for row in found["columns"]) == pytest.approx(2.0)
    assert [row["size"] for row in found["left_out_errors"]] == [1, 2, 3]
    assert "How stable the selection is" in page.read_text()
    shown = cli("select", wine, *options)
    assert "Stability (6 resamples)" in shown.out
    assert "smallest within one standard error" in shown.out


def test_bootstrap_of_other_methods(cli, wine):
    options = ["-t", "class", "--drop", "bottle", "--method", "fisher", "--bootstrap", 3]
    found = cli("select", wine, "-k", 2, *options, "--json").json["stability"]
    assert found["proven"] is None
    assert found["one_standard_error_size"] is None
    assert len(found["left_out_errors"]) == 1


def test_a_bootstrap_that_was_interrupted_says_so(cli, wine):
    options = ["--drop", "class", "--drop", "bottle", "--bootstrap", 3]
    with mock.patch("columnist.selection_stability", side_effect=KeyboardInterrupt):
        answer = cli("select", wine, "-k", 2, *options)
    assert answer.code == 0
    assert "interrupted: too few resamples" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--bootstrap", 1], "--bootstrap takes a number from 2"),
     (["--bootstrap", 5, "--dask"], "leave out --dask")],
)  # fmt: skip
def test_bootstrap_refuses(cli, wine, options, words):
    answer = cli("select", wine, "-k", 2, *options)
    assert answer.code == 2
    assert words in answer.err


def test_verdicts_on_columns(cli, wine, tmp_path):
    page = tmp_path / "page.html"
    options = ("-k", 3, "--drop", "class,bottle", "--center", "--scale", "--tolerance", 0.05)
    answer = cli("select", wine, *options, "--verdicts", "--report", page, "--json").json
    found = column_verdicts(SCALED, 3, tol=0.05)
    assert answer["verdicts"]["columns"] == dict(zip(NAMES, found.verdicts, strict=True))
    assert answer["verdicts"]["replaceable"] == {
        NAMES[j]: [NAMES[i] for i in by] for j, by in found.replaceable.items()
    }
    assert answer["verdicts"]["tolerance"] == 0.05
    assert answer["verdicts"]["complete"] and answer["certificate"]["list_complete"]
    listed = [s["columns"] for s in answer["verdicts"]["solutions"]]
    assert listed == [s["columns"] for s in answer["solutions"]]
    assert "Which columns are needed" in page.read_text()
    shown = cli("select", wine, *options, "--verdicts").out
    assert "Verdicts on the columns" in shown
    assert "necessary" in shown and "Useless: malic_acid" in shown
    assert cli("select", wine, *options, "--json").json["verdicts"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tolerance", 2), "--tolerance must be a number >= 0 and < 1"),
        (("--tolerance", 0.1, "--method", "forward"), "--tolerance needs --method certified"),
        (("--verdicts", "--method", "forward"), "--verdicts needs --method certified"),
    ],
)
def test_verdicts_need_a_proof(cli, wine, options, message):
    answer = cli("select", wine, "-k", 3, "--drop", "class,bottle", *options)
    assert answer.code == 2
    assert message in answer.err
