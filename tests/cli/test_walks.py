"""The jobs of new users on data shaped like theirs: no answer may be wrong without a word."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from columnist.cli import main
from tests.robust.classical import HBK, WOOD


def write(path, names, rows):
    """A CSV file."""
    lines = [",".join(map(str, names))] if names is not None else []
    lines += [",".join("" if v is None else str(v) for v in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def spectra(n=40, m=60, seed=0):
    """Smooth spectra, in the order of their wavelengths."""
    rng = np.random.default_rng(seed)
    shapes = np.cumsum(rng.standard_normal((3, m)), axis=1)
    noise = 0.001 * rng.standard_normal((n, m))
    return (3 + 0.05 * rng.standard_normal((n, 3)) @ shapes + noise).round(5)


# -- spectra ------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [(), ("--dask",)], ids=["memory", "dask"])
def test_wavelengths_are_names(cli, tmp_path, where):
    waves = np.arange(850, 970, 2)
    path = write(tmp_path / "nir.csv", waves, spectra())
    answer = cli("select", path, "-k", 3, "--json", *where)
    assert answer.code == 0, answer.err
    assert answer.json["data"]["rows"] == 40 and answer.json["data"]["header"] is True
    assert {int(name) for name in answer.json["selected"]} <= set(waves.tolist())
    assert any("--no-header" in note for note in answer.json["notes"])


def test_a_header_in_doubt_is_asked_for(cli, tmp_path):
    rng = np.random.default_rng(0)
    path = write(tmp_path / "uneven.csv", np.sort(rng.uniform(0, 4, 12)).round(3),
                 rng.uniform(0, 4, (30, 12)).round(3))  # fmt: skip
    answer = cli("select", path, "-k", 3)
    assert answer.code == 2 and answer.out == ""
    assert "--header" in answer.err and "--no-header" in answer.err
    for option, rows in (("--header", 30), ("--no-header", 31)):
        found = cli("select", path, "-k", 3, option, "--json").json
        assert found["data"]["rows"] == rows


def test_every_run_says_where_names_come_from(cli, tmp_path):
    X = spectra(20, 5)
    named = write(tmp_path / "a.csv", list("abcde"), X)
    bare = write(tmp_path / "b.csv", None, X)
    assert "names from the first line" in cli("select", named, "-k", 2).out.splitlines()[0]
    answer = cli("select", bare, "-k", 2)
    assert "no header" in answer.out.splitlines()[0]
    assert "no header" in answer.err


# -- scales, and words that follow the gap --------------------------------------------------


def test_the_first_line_states_centring_and_scaling(cli, tmp_path):
    X = spectra(20, 5)
    path = write(tmp_path / "units.csv", list("abcde"), X * [1, 1, 1, 1, 1e4])
    for options, words in (
        ((), "centred and scaled, because their units differ"),
        (("--no-scale",), "as read: neither centred nor scaled"),
        (("--center", "--scale"), "centred and scaled"),
        (("--center",), "centred"),
    ):
        answer = cli("select", path, "-k", 2, *options)
        assert words in answer.out.splitlines()[0], options
    assert "factor of" in cli("select", path, "-k", 2).err


def test_a_wide_gap_is_not_called_close(cli, tmp_path):
    path = write(tmp_path / "noise.csv", None, np.random.default_rng(0).standard_normal((40, 35)))
    page = tmp_path / "noise.html"
    options = ("-k", 12, "--time-limit", 0.001, "--report", page)
    answer = cli("select", path, *options)
    found = cli("select", path, *options, "--json").json["certificate"]
    assert found["gap"] > 0.1 and found["status"] == "time_limit"
    text = html.unescape(page.read_text(encoding="utf-8"))
    for words in (answer.out, text):
        assert "close to" not in words and "is not excluded" in words
        assert "Proven best" not in words and "optimal (" not in words


# -- questionnaires -----------------------------------------------------------------------


def questionnaire(seed=0):
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 12))
    return np.clip(np.rint(3.5 + traits / 2), 1, 6).astype(int)


def test_running_numbers_are_no_answers(cli, tmp_path):
    X = questionnaire()
    rows = [[1000 + 7 * i, i + 1, 20240101 + i % 28, *row] for i, row in enumerate(X)]
    names = ["respondent_id", "row", "date", *(f"q{j}" for j in range(1, 13))]
    path = write(tmp_path / "survey.csv", names, rows)
    found = cli("select", path, "-k", 3, "--json")
    assert found.code == 0, found.err
    assert all(name.startswith("q") for name in found.json["selected"])
    assert set(found.json["data"]["ignored"]) == {"respondent_id", "row", "date"}
    assert any("--keep-ids" in note for note in found.json["notes"])
    kept = cli("select", path, "-k", 3, "--keep-ids", "--json").json
    assert kept["data"]["columns"] == 15
    named = cli("select", path, "-k", 3, "--include", "row", "--json").json
    assert "row" in named["selected"] and named["data"]["columns"] == 13


def test_names_in_lists_and_ranges(cli, tmp_path):
    path = write(tmp_path / "survey.csv", [f"q{j}" for j in range(1, 13)], questionnaire())
    found = cli("select", path, "-k", 3, "--drop", "q1,q2", "--drop", "q10:q12", "--json").json
    assert found["data"]["columns"] == 7
    shown = cli("select", path, "-k", 10, "--exclude", "q2-q3").out.splitlines()
    assert shown[1].startswith("Dropped 2 columns: q2, q3")
    certified = cli("certify", path, "--columns", "q1:q3", "--json").json
    assert certified["selected"] == ["q1", "q2", "q3"]


def test_every_list_takes_commas_and_ranges(cli, tmp_path):
    rows = [[f"r{i}", *row] for i, row in enumerate(questionnaire())]
    path = write(tmp_path / "survey.csv", ["who", *(f"q{j}" for j in range(1, 13))], rows)
    ids = ("--id", "who")
    found = cli("select", path, *ids, "-k", 5, "--include", "q1,q3", "--include", "q5:q6", "--json")
    assert {"q1", "q3", "q5", "q6"} <= set(found.json["selected"])
    several = cli("select", path, *ids, "-k", 2, "--target", "q10:q11,q12", "--json").json
    assert several["data"]["columns"] == 9
    both = cli("select", path, "--id", "who,q1", "-k", 2, "--json").json
    assert both["data"]["columns"] == 11
    hidden = cli("clean", path, *ids, "--target", "q1", "--confidential", "q2,q3-q4", "--json")
    assert hidden.json["confidential"] == ["q2", "q3", "q4"]
    assert cli("certify", path, *ids, "q1,q2", "--json").json["selected"] == ["q1", "q2"]


# -- stations with missing values -----------------------------------------------------------


def stations(tmp_path, shares):
    rng = np.random.default_rng(0)
    X = np.exp(rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6)) / 2)
    X += rng.uniform(0, 0.3, X.shape)
    gone = rng.random(X.shape) < np.array(shares)
    rows = [[None if g else round(v, 4) for v, g in zip(*pair, strict=True)]
            for pair in zip(X, gone, strict=True)]  # fmt: skip
    return write(tmp_path / "air.csv", [f"st{j}" for j in range(6)], rows)


@pytest.mark.parametrize("where", [(), ("--dask",)], ids=["memory", "dask"])
def test_filled_values_are_told(cli, tmp_path, where):
    path, page = stations(tmp_path, [0, 0.01, 0.1, 0.3, 0.4, 0]), tmp_path / "air.html"
    answer = cli("select", path, "-k", 2, "--missing", "mean", "--report", page, "--json", *where)
    assert answer.code == 0, answer.err
    warning = next(note for note in answer.json["notes"] if note.startswith("warning"))
    assert all(name in warning for name in ("st2", "st3", "st4")) and "st1" not in warning
    assert "--missing covariance" in warning and warning in answer.err
    html = page.read_text(encoding="utf-8")
    assert html.index("are filled, not measured") < html.index("<main")


def test_mostly_filled_columns_are_refused(cli, tmp_path):
    path = stations(tmp_path, [0, 0, 0.7, 0, 0.1, 0])
    answer = cli("select", path, "-k", 2, "--missing", "mean")
    assert answer.code == 2 and "st2 (" in answer.err and "--max-filled" in answer.err
    assert cli("select", path, "-k", 2, "--missing", "mean", "--max-filled", 0.9).code == 0
    assert cli("select", path, "-k", 2, "--missing", "mean", "--drop", "st2").code == 0


# -- everything that is said, in all forms --------------------------------------------------------


def mixed(tmp_path):
    """Running numbers, text, a gap, a constant column, and units that differ."""
    rows = [[i + 1, *row[:4], 1000 * row[4], 7, ("Ulm", "Kiel", "Jena")[i % 3]]
            for i, row in enumerate(questionnaire().tolist())]  # fmt: skip
    for row in rows[:20]:
        row[2] = None
    names = ["id", "q1", "q2", "q3", "q4", "pay", "same", "city"]
    return write(tmp_path / "mixed file.csv", names, rows)


@pytest.mark.parametrize("text", [("--non-numeric", "drop"), ("--dummies",)], ids=" ".join)
def test_what_is_said_stands_in_json_and_report(cli, tmp_path, text):
    path, page = mixed(tmp_path), tmp_path / "mixed.html"
    answer = cli("select", path, "-k", 2, "--missing", "mean", *text,
                 "--report", page, "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    notes = answer.json["notes"]
    said = [line.removeprefix("note: ") for line in answer.err.splitlines()]
    assert said == [*notes, f"written: {page}"]
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert [note for note in notes if note not in text] == []
    for word in ("id (running numbers)", "filled in: q2", "warning: many", "one scale", "same",
                 "city"):  # fmt: skip
        assert any(word in note for note in notes), word


def test_preparation_counts_into_the_time(cli, tmp_path):
    path = write(tmp_path / "hbk.csv", list("abcd"), HBK)
    for command in (("select", path, "-k", 2), ("outliers", path, "-k", 4)):
        page = tmp_path / f"{command[0]}.html"
        answer = cli(*command, "--time-limit", 2, "--report", page)
        assert "to read and prepare the data" in answer.out
        assert "of it to read and prepare" in page.read_text(encoding="utf-8")


# -- outliers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "k", "masked"),
    [(HBK, 14, list(range(1, 11))), (WOOD, 4, [4, 6, 8, 19])], ids=["hbk", "wood"],
)  # fmt: skip
def test_masked_outliers_are_told_in_all_forms(cli, tmp_path, X, k, masked):
    path = write(tmp_path / "rows.csv", [f"v{j}" for j in range(X.shape[1])], X)
    page = tmp_path / "page.html"
    options = ["-k", k, "-r", 2, "--center", "--scale", "--time-limit", 2]
    if k == 14:
        options.remove("--scale")
        options.remove("--center")
    answer = cli("outliers", path, *options, "--json", "--report", page)
    assert answer.code == 0, answer.err
    found = answer.json
    assert set(masked) <= set(found["reference"]["outliers"])
    assert found["reference"]["only_here"] == masked == found["mcd"]["only_here"]
    told = f"warning: ROBPCA and MCD flag {len(masked)} rows that this fit keeps"
    assert any(note.startswith(told) for note in found["notes"])
    assert not set(masked) & set(found["removed"])
    html = page.read_text(encoding="utf-8")
    assert told in html and "counted from 1" in html and "mask one another" in html
    rows = {row["row"] for row in found["rows"]}
    assert set(masked) <= rows and 0 not in rows
    limited = cli("outliers", path, *options, "--max-distance", 1, "--json").json
    assert set(masked) <= set(limited["removed"]) and set(masked) <= set(limited["far"])


@pytest.mark.parametrize(
    ("shape", "why"), [((40, 31), "30 columns"), ((20, 8), "3 rows per column")], ids=str
)
def test_an_mcd_that_is_not_run_says_why(cli, tmp_path, shape, why):
    X = np.random.default_rng(0).standard_normal(shape)
    path = write(tmp_path / "rows.csv", [f"v{j}" for j in range(shape[1])], X)
    found = cli("outliers", path, "-k", 2, "--time-limit", 1, "--json").json
    assert found["mcd"] is None and found["reference"]["method"] == "robpca"
    assert any("MCD was not run" in note and why in note for note in found["notes"])


def test_the_limit_is_for_the_certified_search(cli, tmp_path):
    path = write(tmp_path / "hbk.csv", list("abcd"), HBK)
    answer = cli("outliers", path, "-k", 14, "--max-distance", 1, "--method", "robpca")
    assert answer.code == 2 and "--max-distance needs --method certified" in answer.err


# -- everything again from the report ---------------------------------------------------------


def test_the_command_of_a_report_runs_again(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "my survey.csv", [f"q {j}" for j in range(1, 13)], questionnaire())
    first = cli("select", path.name, "-k", 3, "--drop", "q 1,q 2", "--report", "a.html", "--json")
    html = (tmp_path / "a.html").read_text(encoding="utf-8")
    command = re.search(r"columnist select [^<\n]*", html)[0]
    command = command.replace("&#39;", "'").replace("&#34;", '"').replace("&amp;", "&")
    assert re.search(r"\b[0-9a-f]{64}\b", html)
    words = shlex.split(command)
    assert words[0] == "columnist"
    again = cli(*words[1:])
    assert again.json["selected"] == first.json["selected"]


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("outliers", "-k", 3, "--drop", "q 1"), "removed"),
        (("rank", "--by", "qr", "-k", 2), "selected"),
        (("certify", "q 2", "q 5"), "selected"),
        (("compare", "-k", 2, "--by", "forward,gks"), "selectors"),
        (("clean", "--target", "q 1", "--confidential", "q 2"), "removed_dimensions"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_command_of_every_report_runs_again(cli, tmp_path, monkeypatch, words, result):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "my survey.csv", [f"q {j}" for j in range(1, 13)], questionnaire())
    command, *options = words
    first = cli(command, path.name, *options, "--report", "a.html", "--json")
    assert first.code == 0, first.err
    page = html.unescape((tmp_path / "a.html").read_text(encoding="utf-8"))
    line = re.search(rf"columnist {command} [^<\n]*", page)[0]
    again = cli(*shlex.split(line)[1:])
    if result == "selectors":
        assert [[one["selected"] for one in found[result]] for found in (again.json,)] == [
            [one["selected"] for one in first.json[result]]
        ]
    else:
        assert again.json[result] == first.json[result]


@pytest.mark.skipif(os.name != "posix", reason="pastes into a POSIX shell")
def test_the_command_of_a_report_works_in_a_shell(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["it's $5", 'a "b"', *(f"q{j}" for j in range(3, 13))]
    path = write(tmp_path / "my survey.csv", None, questionnaire())
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path.write_text(quoted + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    first = cli("select", path.name, "-k", 2, "--include", names[0], "--report", "a.html", "--json")
    assert first.code == 0, first.err
    page = html.unescape((tmp_path / "a.html").read_text(encoding="utf-8"))
    line = re.search(r"columnist select [^\n]*?--json", page)[0]
    start = f'columnist() {{ {shlex.quote(sys.executable)} -m columnist "$@"; }}; '
    run = subprocess.run(["sh", "-c", start + line], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["selected"] == first.json["selected"]


def test_notes_stand_in_the_report(cli, tmp_path):
    rows = [[i, *row] for i, row in enumerate(questionnaire())]
    path = write(tmp_path / "s.csv", ["row", *(f"q{j}" for j in range(1, 13))], rows)
    for command, options in (("select", ("-k", 2)), ("rank", ("--by", "qr", "-k", 2)),
                             ("outliers", ("-k", 3)), ("certify", ("q1",)),
                             ("compare", ("-k", 2, "--by", "forward,gks"))):  # fmt: skip
        page = tmp_path / f"{command}.html"
        answer = (
            cli(command, path, *options, "--report", page, "--json", "--time-limit", 1)
            if command != "rank"
            else cli(command, path, *options, "--report", page, "--json")
        )
        assert answer.code == 0, answer.err
        html = page.read_text(encoding="utf-8")
        assert "it only labels the rows: row" in html
        assert html.index("Settings") < html.rindex("Reproduce this")


# -- files of other programs --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["excel", "spss"])
def test_files_of_other_programs_are_read(cli, tmp_path, kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(questionnaire(), columns=[f"q{j}" for j in range(1, 13)])
    if kind == "excel":
        pytest.importorskip("openpyxl")
        path = tmp_path / "survey.xlsx"
        frame.to_excel(path, index=False)
    else:
        path = tmp_path / "survey.sav"
        pytest.importorskip("pyreadstat").write_sav(frame, str(path))
    text = write(tmp_path / "survey.csv", frame.columns, frame.to_numpy())
    found, expected = (cli("select", file, "-k", 3, "--json").json for file in (path, text))
    assert found["selected"] == expected["selected"]
    assert found["certificate"]["status"] == "optimal"


# -- genes, and many rows ----------------------------------------------------------------------


def test_genes_are_read_and_labelled(cli, tmp_path):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(1.0, 1.0, 40), (80, 40)).astype(float)
    cells = pd.DataFrame({"kind": ["a", "b"] * 40}, index=[f"c{i}" for i in range(80)])
    genes = pd.DataFrame(index=[f"g{j}" for j in range(40)])
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(counts, obs=cells, var=genes).write_h5ad(path)
    found = cli("select", path, "-k", 4, "--target", "kind", "--time-limit", 2, "--json")
    assert found.code == 0, found.err
    assert all(name.startswith("g") for name in found.json["selected"])


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 4)) @ rng.standard_normal((4, 10))
    X = np.column_stack([np.arange(len(X)), X])
    path = tmp_path / "big.npy"
    np.save(path, X)
    assert main(["select", str(path), "-k", "3", "--quiet", "--dask"]) == 0
    assert main(["outliers", str(path), "-k", "5", "--quiet", "--time-limit", "5"]) == 0
