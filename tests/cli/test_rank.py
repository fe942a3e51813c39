"""columnist rank, against the library itself."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.selection import PivotedQRSelector
from columnist.spectral import FisherScore, LaplacianScore
from tests.cli.conftest import NAMES, WINE, read_columns

TARGET = ("--target", "class", "--id", "bottle")


def test_scores_in_all_formats(cli, numbers):
    answer = cli("rank", *numbers, "--by", "laplacian", "--json").json
    fitted = LaplacianScore().fit(WINE.data)
    assert [entry["index"] for entry in answer["ranking"]] == fitted.ranking_.tolist()
    np.testing.assert_allclose(
        [entry["score"] for entry in answer["ranking"]], fitted.scores_[fitted.ranking_]
    )


def test_classes(cli, wine, tmp_path):
    out, page = tmp_path / "ranking.csv", tmp_path / "page.html"
    answer = cli(
        "rank", wine, "--by", "fisher", *TARGET, "--top", 2, "--out", out, "--report", page
    )
    fitted = FisherScore().fit(WINE.data, WINE.target)
    assert NAMES[fitted.ranking_[1]] in answer.out
    assert NAMES[fitted.ranking_[-1]] not in answer.out
    np.testing.assert_allclose(read_columns(out)["score"], fitted.scores_[fitted.ranking_])
    assert page.is_file()


def test_an_order_without_scores(cli, wine):
    answer = cli("rank", wine, "--by", "PivotedQRSelector", "-k", 3, "--non-numeric", "drop",
                 "--json").json  # fmt: skip
    assert answer["indices"] == PivotedQRSelector(3).fit(WINE.data).selected_.tolist()
    assert [entry["score"] for entry in answer["ranking"]] == [None] * 3


def test_parameters(cli, wine):
    found = cli("rank", wine, "--by", "relief-f", "-o", "n_neighbors=3", *TARGET, "--json").json
    assert found["parameters"]["n_neighbors"] == 3
    answer = cli("rank", wine, "--by", "relief-f", "-o", "neighbours=3", *TARGET)
    assert answer.code == 2
    assert "n_neighbors" in answer.err


def test_the_list(cli):
    answer = cli("rank", "--list")
    assert answer.code == 0
    assert "relief-f" in answer.out
    names = {entry["name"] for entry in cli("rank", "--list", "--json").json["selectors"]}
    assert {"certified", "qr", "mrmr", "two-stage"} <= names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--by is missing"),
        (("--by", "fisher"), "--target"),
        (("--by", "fischer"), "Did you mean fisher"),
        (("--by", "qr", "--top", "0"), "--top"),
        (("--by", "qr", "-k", "many"), "-k takes"),
        (("--by", "qr", "-k", "99"), "between 1 and"),
    ],
    ids=["by", "target", "misspelt", "top", "size", "too many"],
)
def test_bad_options(cli, wine, options, message):
    answer = cli("rank", wine, "--non-numeric", "drop", *options)
    assert answer.code == 2
    assert message in answer.err


def test_a_format_without_room_for_names_is_refused_before_the_file_is_read(cli, tmp_path):
    absent, out = tmp_path / "absent.csv", tmp_path / "ranking.npy"
    answer = cli("rank", absent, "--by", "qr", "--out", out)
    assert answer.code == 2
    assert f"--out {out}: NPY files hold numbers only" in answer.err
