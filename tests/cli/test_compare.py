"""columnist compare: errors, gaps and scores that hold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from columnist import ColumnSelector
from columnist.metrics import reconstruction_error, redundancy_rate
from columnist.spectral import FisherScore
from tests.cli.conftest import CLASSES, NAMES, WINE

SCALED = scale(WINE.data)


def test_errors_and_proven_gaps_in_all_formats(cli, numbers):
    by = "certified,forward,qr,uniform"
    answer = cli("compare", *numbers, "-k", 3, "--by", by, "--center", "--scale", "--seed", 1,
                 "--json").json  # fmt: skip
    best = ColumnSelector(3).fit(SCALED)
    assert answer["lower_bound"] == pytest.approx(best.certificate_.lower_bound)
    names = [f"x{i}" for i in range(1, 14)] if numbers[0].endswith("npy") else NAMES
    assert [row["name"] for row in answer["selectors"]] == by.split(",")
    for row in answer["selectors"]:
        columns = [names.index(name) for name in row["selected"]]
        error = reconstruction_error(SCALED, columns)
        assert row["error"] == pytest.approx(error)
        assert row["gap"] == pytest.approx(1 - best.error_ / error, abs=1e-9)
        assert row["redundancy"] == pytest.approx(redundancy_rate(SCALED, columns))
        assert row["score"] is None


def test_scores_are_of_pipelines_with_the_selector_inside(cli, wine):
    answer = cli("compare", wine, "-k", 3, "--by", "fisher,relief", "--target", "class", "--id",
                 "bottle", "--scale", "--json").json  # fmt: skip
    fisher, relief = answer["selectors"]
    pipeline = make_pipeline(
        StandardScaler(with_mean=False), FisherScore(3), StandardScaler(with_mean=False),
        LogisticRegression(max_iter=5000),
    )  # fmt: skip
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(pipeline, WINE.data, CLASSES.astype(str), cv=folds)
    assert fisher["score"] == pytest.approx(np.mean(scores))
    assert answer["scoring"] == "accuracy"
    # Relief is for two classes, and says so without stopping the others.
    assert relief["error"] is None
    assert "two" in relief["note"]


def test_values(cli, wine, tmp_path):
    page = tmp_path / "page.html"
    answer = cli("compare", wine, "-k", 2, "--by", "certified,correlation,fisher", "--target",
                 "alcohol", "--drop", "class", "--drop", "bottle", "--center", "--scale",
                 "--report", page, "--json").json  # fmt: skip
    rows = {row["name"]: row for row in answer["selectors"]}
    assert answer["scoring"] == "r2"
    assert rows["certified"]["score"] > 0.3
    assert rows["certified"]["error"] <= rows["correlation"]["error"] * (1 + 1e-9)
    assert "classes" in rows["fisher"]["note"]
    assert page.is_file()


def test_the_table(cli, wine):
    answer = cli("compare", wine, "-k", 3, "--non-numeric", "drop", "--scale")
    assert answer.code == 0
    assert "certified" in answer.out and "laplacian" in answer.out


def test_bad_options(cli, wine):
    assert "-k is missing" in cli("compare", wine, "--non-numeric", "drop").err
    assert "-k auto is for select" in cli("compare", wine, "-k", "auto").err
    assert "Did you mean" in cli("compare", wine, "-k", 2, "--by", "forwrd").err
    assert "--by takes" in cli("compare", wine, "-k", 2, "--by", ",").err


def test_a_selector_named_twice_runs_once(cli, wine):
    options = ["--non-numeric", "drop", "--scale", "--by", "qr,qr", "--json"]
    rows = cli("compare", wine, "-k", 2, *options).json["selectors"]
    assert [row["name"] for row in rows] == ["qr"]


def test_it_fails_when_no_selector_could_select(cli, wine):
    options = ["--non-numeric", "drop", "--scale", "--by", "fisher,relief"]
    answer = cli("compare", wine, "-k", 2, *options)
    assert (answer.code, answer.out) == (1, "")
    assert "fisher: needs a target" in answer.err
