"""Bad input is answered in one line, with code 2, before the long work."""

from __future__ import annotations

import errno
import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.cli import main
from tests.cli.conftest import WINE

SCRIPT = "<script>alert(1)</script>"
COMMANDS = {
    "select": ("-k", "2"),
    "certify": ("a",),
    "rank": ("--by", "qr"),
    "compare": ("-k", "2"),
    "outliers": ("-k", "1"),
    "clean": ("--target", "a"),
}


def one_line(answer) -> str:
    assert answer.code == 2
    assert answer.out == ""
    lines = [line for line in answer.err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_files(cli, tmp_path, command):
    options = COMMANDS[command]
    empty, text, image = (tmp_path / name for name in ("empty.csv", "text.csv", "picture.png"))
    empty.write_bytes(b"")
    text.write_text("It was a dark night.\nThe rain fell in torrents,\nexcept at intervals.\n")
    image.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    assert "no such file" in one_line(cli(command, tmp_path / "absent.csv", *options))
    assert "empty" in one_line(cli(command, empty, *options))
    one_line(cli(command, text, *options))
    one_line(cli(command, image, *options))
    assert "folder" in one_line(cli(command, tmp_path, *options))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_column_gets_close_ones(cli, wine, command):
    options = ["--drop", "class", "--drop", "botle", *COMMANDS[command]]
    assert "'bottle'" in one_line(cli(command, wine, *options))


def test_columns_of_text_are_named(cli, wine):
    message = one_line(cli("select", wine, "-k", "2"))
    assert "'bottle'" in message and "'class'" in message and "--non-numeric drop" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", "0"), "-k"),
        (("-k", "14"), "between 1 and the number of features (13)"),
        (("-k", "1.5"), "-k takes a number of columns, a share below 1, or auto; got '1.5'"),
        (("-k", "nan"), "-k takes"),
        (("-k", "auto"), "-k auto needs --tol"),
        (("-k", "auto", "--tol", "2"), "--tol must be"),
        (("-k", "2", "--tol", "0.1"), "--tol needs -k auto"),
        (("-k", "two"), "-k takes"),
        ((), "-k is missing"),
        (("-k", "2", "--time-limit", "soon"), "--time-limit"),
        (("-k", "2", "--time-limit", "-1"), "--time-limit"),
        (("-k", "2", "--jobs", "0"), "--jobs takes"),
        (("-k", "2", "--criterion", "euclid"), "'kyfan:<k>'."),
        (("-k", "2", "--max-gap", "7"), "--max-gap"),
        (("-k", "2", "--include", "hue", "--exclude", "hue"), "both name hue"),
        (("-k", "2", "--include", "heu"), "did you mean hue"),
        (("-k", "2", "--explain", "y"), "--target"),
        (("-k", "2", "--path", "99"), "--path takes a number from 1 to 13"),
        (("-k", "2", "--path", "13", "--exclude", "hue"), "from 1 to 12"),
        (("-k", "2", "--id", "zzz"), "no column 'zzz' among"),
        (("-k", "2", "--method", "fisher"), "--target"),
        (("-k", "2", "--method", "magic"), "No selector"),
        (("-k", "2", "-o", "x"), "name=value"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_options(cli, wine, options, message):
    answer = cli("select", wine, "--drop", "class", "--drop", "bottle", *options)
    assert message in one_line(answer)


def test_outputs_are_checked_before_the_fit(cli, wine, tmp_path):
    read = mock.patch("columnist.io.read_table", side_effect=AssertionError("was read"))
    wrong = {
        "no folder": ("--out", tmp_path / "nowhere" / "kept.csv"),
        "report": ("--report", tmp_path / "nowhere" / "page.html"),
        "folder": ("--out", tmp_path),
        "extension": ("--out", tmp_path / "kept.xyz"),
        "page": ("--report", tmp_path / "page.csv"),
        "model": ("--model", tmp_path / "model.pkl"),
        "itself": ("--out", wine),
        "twice": ("--report", tmp_path / "a.html", "--model", tmp_path / "a.html"),
        "both": ("--out", "-", "--json"),
    }
    with read:
        for options in wrong.values():
            one_line(cli("select", wine, "-k", 2, *options))
    assert list(tmp_path.iterdir()) == []


def test_a_format_without_room_for_text_is_refused_before_the_fit(cli, wine, tmp_path):
    with mock.patch("columnist.ColumnSelector.fit", side_effect=AssertionError("was fitted")):
        answer = cli("select", wine, "-k", 2, "--target", "class", "--id", "bottle", "--scale",
                     "--out", tmp_path / "kept.npy")  # fmt: skip
    assert "kept.npy" in one_line(answer)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to(cli, wine, tmp_path):
    with mock.patch("os.access", return_value=False):
        message = one_line(cli("select", wine, "-k", 2, "--out", tmp_path / "kept.csv"))
    assert "cannot be written to" in message


def test_a_full_disk(cli, wine, tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "kept.csv"))
    with mock.patch("columnist.io._write.write_table", side_effect=full):
        answer = cli(
            "select", wine, "-k", 2, "--non-numeric", "drop", "--out", tmp_path / "kept.csv"
        )
    assert "No space left" in one_line(answer)


def test_too_little_memory(cli, wine):
    with mock.patch("columnist.ColumnSelector.fit", side_effect=MemoryError("needs 99 GB")):
        answer = cli("select", wine, "-k", 2, "--non-numeric", "drop")
    assert "not enough memory" in one_line(answer)


def test_a_bug_is_one_line_and_says_how_to_see_more(cli, wine, monkeypatch):
    broken = mock.patch("columnist.ColumnSelector.fit", side_effect=KeyError("surprise"))
    with broken:
        answer = cli("select", wine, "-k", 2, "--non-numeric", "drop", "--scale")
    assert answer.code == 1
    assert "COLUMNIST_DEBUG=1" in answer.err
    assert answer.err.count("error: ") == 1


@pytest.fixture
def hostile(tmp_path):
    """A file whose header tries everything."""
    names = [SCRIPT, "[red]x[/red]", "[/]", "\x1b[31mred", "a,b", 'q"q', "{{7*7}}", "x" * 300]
    path = tmp_path / "hostile.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = np.random.default_rng(0).standard_normal((20, len(names)))
    body = "\n".join(",".join(f"{v:.6f}" for v in row) for row in rows)
    path.write_text(f"{header}\n{body}\n", encoding="utf-8")
    return path


def test_names_are_shown_as_text(cli, hostile, tmp_path):
    page, model = tmp_path / "page.html", tmp_path / "model.json"
    options = ["-k", 4, "--include", SCRIPT, "--include", "[red]x[/red]", "--include", "[/]"]
    answer = cli("select", hostile, *options, "--report", page, "--model", model, "--path", 5)
    assert answer.code == 0, answer.err
    assert SCRIPT in answer.out
    assert "[red]x[/red]" in answer.out
    assert "[/]" in answer.out
    assert "\x1b" not in answer.out + answer.err
    html = page.read_text(encoding="utf-8")
    assert SCRIPT not in html
    assert "alert(1)" in html
    found = cli("select", hostile, *options, "--json").json["selected"]
    assert {SCRIPT, "[red]x[/red]", "[/]"} <= set(found)
    assert cli("apply", model, hostile).code == 0


def test_hostile_names_in_every_command(cli, hostile, tmp_path):
    for command in ("rank", "compare", "outliers", "certify"):
        options = (SCRIPT,) if command == "certify" else COMMANDS[command]
        page = tmp_path / f"{command}.html"
        answer = cli(command, hostile, *options, "--report", page)
        assert answer.code == 0, answer.err
        assert "\x1b" not in answer.out + answer.err
        assert SCRIPT not in page.read_text(encoding="utf-8")


@settings(max_examples=40)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.text(st.sampled_from("0123456789.,;\t-eE\"'\nabn "), max_size=200).map(str.encode),
    ),
    ending=st.sampled_from(
        ["csv", "tsv", "npy", "npz", "mtx", "svm", "arff", "mat", "parquet", "x"]
    ),
    command=st.sampled_from(sorted(COMMANDS)),
)
def test_no_bytes_lead_to_a_traceback(tmp_path_factory, content, ending, command):
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(content)
    options = [*COMMANDS[command], "--quiet"]
    if command in ("select", "outliers", "compare"):
        options += ["--time-limit", "0.2"]
    assert main([command, str(path), *options]) in (0, 2)


def test_sparse_files(cli, tmp_path):
    import scipy.io
    import scipy.sparse as sp

    path = tmp_path / "sparse.mtx"
    X = sp.random_array((50, 12), density=0.3, rng=np.random.default_rng(0), format="coo")
    scipy.io.mmwrite(path, X)
    found = cli("select", path, "-k", 3, "--scale", "--json").json
    assert len(found["selected"]) == 3
    assert "sparse" in one_line(cli("select", path, "-k", 3, "--center"))
    assert "dense" in one_line(cli("outliers", path, "-k", 3))
    assert cli("rank", path, "--by", "qr", "-k", 3).code == 0


def test_wide_scales(cli, tmp_path):
    for factor in (1e-150, 1e150):
        path = tmp_path / "scales.npy"
        np.save(path, WINE.data * factor)
        answer = cli("select", path, "-k", 3, "--center", "--scale", "--json").json
        assert answer["selected"] == ["x4", "x7", "x10"]
