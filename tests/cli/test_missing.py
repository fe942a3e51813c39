"""--missing covariance: columns are chosen without filling."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from columnist import ColumnSelector
from tests.cli.conftest import NAMES, WINE


@pytest.fixture
def gappy(tmp_path):
    frame = pd.DataFrame(WINE.data, columns=NAMES)
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.15)
    frame["kind"] = WINE.target
    path = tmp_path / "gappy.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_select(cli, gappy, tmp_path):
    path, frame = gappy
    page, out = tmp_path / "page.html", tmp_path / "out.csv"
    answer = cli(
        "select", path, "-k", 3, "--drop", "kind", "--missing", "covariance", "--json",
        "--path", 2, "--report", page, "--out", out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    X = frame[NAMES]
    Z = (X - X.mean()) / X.std(ddof=0)
    expected = ColumnSelector(3, missing="covariance", centering="mean").fit(Z)
    assert answer.json["indices"] == expected.selected_.tolist()
    assert answer.json["error"] == pytest.approx(expected.error_, rel=1e-6)
    told = answer.json["certificate"]["missing"]
    assert told["share"] == pytest.approx(X.isna().to_numpy().mean())
    assert len(answer.json["path"]) == 2
    assert any("estimated by the EM algorithm" in note for note in answer.json["notes"])
    html = page.read_text()
    assert "covariance estimated by EM" in html
    assert "--missing covariance" in html
    written = pd.read_csv(out)
    np.testing.assert_allclose(written, X[answer.json["selected"]])


def test_a_target(cli, gappy, tmp_path):
    answer = cli(
        "select", gappy[0], "-k", 2, "--target", "kind", "--missing", "covariance", "--json",
        "--report", tmp_path / "page.html",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert answer.json["certificate"]["target_kind"] == "classes"


def test_certify(cli, gappy, tmp_path):
    answer = cli(
        "certify", gappy[0], "alcohol", "hue", "--drop", "kind", "--missing", "covariance",
        "--json", "--report", tmp_path / "page.html",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert answer.json["better"] is not None
    assert answer.json["certificate"]["missing"]["method"] == "covariance"


@pytest.mark.parametrize(("command", "more", "words"), [
    ("compare", (), "--missing covariance is for select and certify"),
    ("select", ("--method", "forward"), "--missing does not apply to forward"),
    ("select", ("--weight", "kind"), "--missing covariance is for select and certify"),
])  # fmt: skip
def test_where_it_does_not_apply(cli, gappy, command, more, words):
    answer = cli(command, gappy[0], "-k", 2, "--missing", "covariance", *more)
    assert answer.code == 2
    assert words in answer.err


def test_messages_point_to_it(cli, gappy):
    answer = cli("select", gappy[0], "-k", 2)
    assert "select --missing covariance needs none of these" in answer.err
    frame = gappy[1].copy()
    frame.loc[:, "hue"] = np.where(np.arange(len(frame)) < 20, frame["hue"], np.nan)
    frame.to_csv(gappy[0], index=False)
    answer = cli("select", gappy[0], "-k", 2, "--missing", "mean")
    assert answer.code == 2
    assert "select --missing covariance needs no filling" in answer.err
