"""Constraints on the command line, against the library itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import scale

from columnist import ColumnSelector
from columnist.constraints import AtMost, Budget, Groups, Requires
from columnist.io import read_table
from tests.cli.conftest import NAMES, WINE

SCALED = scale(WINE.data)
READ = ("--drop", "class", "--drop", "bottle", "--center", "--scale")


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.csv"
    lines = [f"{name},{i % 4 + 1}" for i, name in enumerate(NAMES)]
    path.write_text("\n".join(["column,cost", *lines, "class,3"]))
    return path


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("\n".join(f"{name},g{i // 2}" for i, name in enumerate(NAMES[:12])))
    return path


def test_a_budget_without_a_number(cli, wine, costs):
    answer = cli("select", wine, *READ, "--costs", costs, "--budget", 6, "--json").json
    prices = [i % 4 + 1 for i in range(13)]
    best, more = (ColumnSelector(constraints=[Budget(prices, b)]).fit(SCALED) for b in (6, 7))
    assert answer["indices"] == best.selected_.tolist()
    assert answer["certificate"]["status"] == "optimal"
    assert answer["constraints"] == ["a budget of 6"]
    assert any("also names class" in note for note in answer["notes"])
    assert answer["budget"]["cost"] == sum(prices[i] for i in best.selected_)
    assert answer["budget"]["next"]["budget"] == 7
    assert answer["budget"]["next"]["error"] == pytest.approx(more.error_)


@pytest.mark.parametrize("method", ["forward", "exchange"])
def test_a_fast_method_says_what_its_selection_costs(cli, wine, costs, method):
    options = (*READ, "-k", 3, "--method", method, "--costs", costs, "--budget", 6)
    answer = cli("select", wine, *options, "--json").json
    assert answer["budget"] == {
        "budget": 6.0,
        "cost": sum(i % 4 + 1 for i in answer["indices"]),
        "selected": answer["selected"],
        "error": answer["error"],
        "lower_bound": None,
        "status": None,
        "next": None,
    }
    assert "What the budget costs" in cli("select", wine, *options).out


def test_the_report_says_what_the_budget_costs(cli, wine, costs, tmp_path):
    page = tmp_path / "page.html"
    answer = cli("select", wine, *READ, "--costs", costs, "--budget", 6, "--report", page)
    assert answer.code == 0
    assert "What the budget costs" in answer.out
    text = page.read_text()
    assert "What the budget costs" in text
    assert "no other set of columns (given a budget of 6) leaves a smaller error" in text


def test_groups_and_the_other_options(cli, wine, groups):
    answer = cli(
        "select", wine, *READ, "-k", 3, "--groups", groups, "--path", 3,
        "--at-most", f"1={NAMES[0]},{NAMES[2]}", "--requires", f"{NAMES[4]}={NAMES[6]}", "--json",
    ).json  # fmt: skip
    constraints = [
        Groups([i // 2 for i in range(13)]), AtMost([0, 2], 1), Requires(4, [6])
    ]  # fmt: skip
    best = ColumnSelector(3, constraints=constraints).fit(SCALED)
    assert answer["indices"] == best.selected_.tolist()
    assert answer["constraints"][1] == f"at most 1 of {NAMES[0]}, {NAMES[2]}"
    assert answer["path"][-1]["selected"] == answer["selected"]
    forward = cli(
        "select", wine, *READ, "-k", 2, "--groups", groups, "--method", "forward", "--json"
    )
    assert forward.code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", 3, "--budget", 5], "--budget needs --costs"),
        (["-k", 3, "--costs", "COSTS"], "--costs needs --budget"),
        (["--costs", "COSTS", "--budget", "-1"], "budget must be a number >= 0"),
        (["-k", 9, "--costs", "COSTS", "--budget", 2], "cannot pay for 9 columns"),
        (["-k", 3, "--at-most", "alcohol"], "--at-most takes a number and columns"),
        (["-k", 3, "--at-most", "2=alcool"], "which the data do not have; did you mean alcohol"),
        (["-k", 3, "--requires", "alcohol"], "--requires takes a column and others"),
        (["-k", 3, "--groups", "missing.csv"], "missing.csv cannot be read"),
        (["-k", 3, "--groups", "WINE"], "needs name,group on each line; line 1 has"),
        (["-k", 3, "--costs", "GROUPS", "--budget", 3], "has no number for the cost of"),
        (["-k", 4, "--at-most", "1=alcohol:hue"], "There is room for"),
        (["-k", 2, "--groups", "GROUPS", "--method", "leverage"], "does not apply to leverage"),
        (["-k", "auto", "--tol", 0.1, "--at-most", "1=alcohol"], "does not go with constraints"),
    ],
)  # fmt: skip
def test_contradictions_are_one_line(cli, wine, costs, groups, options, message):
    files = {"COSTS": costs, "GROUPS": groups, "WINE": wine}
    answer = cli("select", wine, *READ, *(files.get(option, option) for option in options))
    assert answer.code == 2
    assert message in answer.err.strip().splitlines()[-1]


@pytest.fixture
def plants(tmp_path):
    """Two columns of text, of which one has a gap, among numbers."""
    rng = np.random.default_rng(1)
    colours, shapes = rng.choice(["red", "blue"], 40), rng.choice(["flat", "round"], 40)
    lines = ["colour,size,weight,shape"]
    for i in range(40):
        size = rng.standard_normal()
        shape = "" if i == 7 else shapes[i]
        lines.append(f"{colours[i]},{size:.3f},{2 * size + rng.standard_normal():.3f},{shape}")
    path = tmp_path / "plants.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_dummies_are_kept_whole(cli, plants, tmp_path):
    out = tmp_path / "kept.csv"
    answer = cli("select", plants, "-k", 2, "--dummies", "--missing", "drop", "--include", "colour",
                 "--out", out, "--json")  # fmt: skip
    found = answer.json
    assert found["data"]["dummies"] == {
        "colour": ["colour_blue", "colour_red"], "shape": ["shape_flat", "shape_round"],
    }  # fmt: skip
    assert found["data"]["rows"] == 39
    assert {"colour_blue", "colour_red"} < set(found["selected"])
    assert found["certificate"]["status"] == "optimal"
    assert any("colour holds text" in note for note in found["notes"])
    first = out.read_text().splitlines()[0]
    assert first.split(",")[0].startswith(("colour", "size", "weight"))
    table = read_table(plants, non_numeric="dummies", missing="drop")
    labels = ["size", "weight", "colour", "colour", "shape", "shape"]
    best = ColumnSelector(2, include=["colour_blue"], constraints=[Groups(labels)])
    best.fit(pd.DataFrame(table.X, columns=list(table.names)))
    assert sorted(found["selected"]) == sorted(best.get_feature_names_out())


def test_a_proof_repeats_the_dummies(cli, plants, tmp_path):
    proof, page = tmp_path / "plants.proof", tmp_path / "page.html"
    answer = cli("select", plants, "-k", 2, "--dummies", "--missing", "mean", "--proof", proof,
                 "--report", page)  # fmt: skip
    assert answer.code == 0, answer.err
    verdict = cli("verify", proof, plants, "--json")
    assert verdict.code == 0 and "obey the constraints (groups)" in verdict.json["statement"]
    assert "groups 1" in page.read_text(encoding="utf-8")


def test_excluded_text_leaves_its_dummies_out(cli, plants):
    answer = cli("select", plants, "-k", 2, "--dummies", "--missing", "mean", "--exclude", "shape",
                 "--json")  # fmt: skip
    assert not any(name.startswith("shape") for name in answer.json["selected"])


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--dask"], "--dummies needs the data in memory"),
     (["--groups", "groups.csv"], "--dummies and --groups do not go together")],
)  # fmt: skip
def test_dummies_refuse(cli, plants, options, words):
    answer = cli("select", plants, "-k", 2, "--dummies", "--missing", "mean", *options)
    assert answer.code == 2
    assert words in answer.err


def test_too_many_categories(cli, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("name,a,b\n" + "".join(f"n{i},{i % 3},{i * i % 7}\n" for i in range(20)))
    answer = cli("select", path, "-k", 1, "--dummies")
    assert answer.code == 2
    assert "20 different values in 20 rows: too many for categories" in answer.err


@pytest.mark.parametrize("more", [("-k", 2, "--dummies"), ("--budget", 3)], ids=str)
def test_verdicts_are_about_the_selection(cli, plants, tmp_path, more):
    costs = tmp_path / "costs.csv"
    costs.write_text("name,cost\nsize,2\nweight,2\n")
    options = ["--dummies"] if "--dummies" in more else ["--costs", costs, "--drop", "colour,shape"]
    options += [option for option in more if option != "--dummies"]
    answer = cli("select", plants, *options, "--missing", "mean", "--verdicts", "--json")
    assert answer.code == 0, answer.err
    found = answer.json
    assert found["certificate"]["status"] == "optimal"
    best = found["verdicts"]["solutions"][0]
    assert len(best["columns"]) == len(found["selected"])
    assert best["error"] == pytest.approx(found["error"], rel=1e-9)
