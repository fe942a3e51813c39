"""--weight: the answer for a file with weights is that for a file with repeated rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import NAMES, WINE


@pytest.fixture
def files(tmp_path):
    """The same rows, once with weights, once repeated."""
    frame = pd.DataFrame(WINE.data, columns=NAMES).assign(kind=WINE.target)
    counts = np.random.default_rng(0).integers(0, 4, len(frame))
    weighted, repeated = tmp_path / "weighted.csv", tmp_path / "repeated.csv"
    frame.assign(times=counts).to_csv(weighted, index=False)
    frame.loc[frame.index.repeat(counts)].to_csv(repeated, index=False)
    return weighted, repeated


@pytest.mark.parametrize("arguments", [
    ("-k", 3), ("-k", 3, "--target", "kind"), ("-k", 2, "--method", "forward", "--center"),
    ("-k", 2, "--center", "--no-scale", "--path", 2),
])  # fmt: skip
def test_select(cli, files, arguments, tmp_path):
    drop = () if "--target" in arguments else ("--drop", "kind")
    page = tmp_path / "page.html"
    found = cli(
        "select", files[0], "--weight", "times", *drop, *arguments, "--json", "--report", page
    )
    expected = cli("select", files[1], *drop, *arguments, "--json")
    assert found.code == expected.code == 0, found.err
    ours, theirs = found.json, expected.json
    assert ours["selected"] == theirs["selected"]
    assert ours["error"] == pytest.approx(theirs["error"])
    assert ours["column_r2"] == pytest.approx(theirs["column_r2"])
    assert [step["selected"] for step in ours["path"] or ()] == [
        step["selected"] for step in theirs["path"] or ()
    ]
    assert ours["data"]["weight"] == "times"
    assert ours["data"]["columns"] == theirs["data"]["columns"]
    assert "rows are weighted by times" in ours["notes"]
    assert theirs["data"]["weight"] is None
    html = page.read_text()
    assert "weighted by times" in html and "--weight times" in html


def test_certify(cli, files, tmp_path):
    given = ("alcohol", "hue", "--drop", "kind", "--json")
    found = cli(
        "certify", files[0], *given, "--weight", "times", "--report", tmp_path / "page.html"
    )
    expected = cli("certify", files[1], *given)
    assert found.code == 0, found.err
    assert found.json["error"] == pytest.approx(expected.json["error"])
    assert found.json["better"] == expected.json["better"]


def test_compare(cli, files):
    given = ("-k", 3, "--target", "kind", "--json", "--by", "certified,forward,laplacian")
    found = cli("compare", files[0], *given, "--weight", "times")
    expected = cli("compare", files[1], *given, "--no-score")
    assert found.code == 0, found.err
    ours, theirs = (
        {row["name"]: row for row in answer.json["selectors"]} for answer in (found, expected)
    )
    for name in ("certified", "forward"):
        assert ours[name]["error"] == pytest.approx(theirs[name]["error"])
        assert ours[name]["selected"] == theirs[name]["selected"]
        assert 0.0 < ours[name]["score"] <= 1.0
    assert "--weight does not apply" in ours["laplacian"]["note"]


@pytest.mark.parametrize(("arguments", "words"), [
    (("--weight", "weight"), "'weight'"),
    (("--weight", "kind", "--target", "kind"), "twice"),
    (("--weight", "times", "--method", "laplacian"), "--weight does not apply to LaplacianScore"),
    (("--weight", "below"), "--weight"),
    (("--weight", "text"), "does not hold numbers"),
])  # fmt: skip
def test_bad_weights(cli, files, arguments, words, tmp_path):
    frame = pd.read_csv(files[0])
    frame["below"], frame["text"] = frame["times"] - 1, "a"
    path = tmp_path / "bad.csv"
    frame.to_csv(path, index=False)
    apart = [name for name in ("below", "text") if name not in arguments]
    answer = cli("select", path, "-k", 2, "--drop", ",".join(apart), *arguments)
    assert answer.code == 2
    assert words in answer.err, answer.err
    assert answer.err.count("error:") == 1 and "Traceback" not in answer.err
