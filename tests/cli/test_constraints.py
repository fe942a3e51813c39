"""Constraints on the command line, against the library itself."""

from __future__ import annotations

import pytest
from sklearn.preprocessing import scale

from columnist import ColumnSelector
from columnist.constraints import AtMost, Budget, Groups, Requires
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
        (["-k", 3, "--at-most", "2=alcool"], "which is not there; did you mean alcohol"),
        (["-k", 3, "--requires", "alcohol"], "--requires takes a column and others"),
        (["-k", 3, "--groups", "missing.csv"], "missing.csv cannot be read"),
        (["-k", 3, "--groups", "WINE"], "needs name,group on each line; line 1 has"),
        (["-k", 3, "--costs", "GROUPS", "--budget", 3], "has no number for the cost of"),
        (["-k", 4, "--at-most", "1=alcohol:hue"], "There is room for"),
        (["-k", 2, "--groups", "GROUPS", "--method", "leverage"], "does not apply to leverage"),
        (["-k", 2, "--groups", "GROUPS", "--proof", "p"], "--proof does not go with --groups"),
        (["-k", "auto", "--tol", 0.1, "--at-most", "1=alcohol"], "does not go with constraints"),
    ],
)  # fmt: skip
def test_contradictions_are_one_line(cli, wine, costs, groups, options, message):
    files = {"COSTS": costs, "GROUPS": groups, "WINE": wine}
    answer = cli("select", wine, *READ, *(files.get(option, option) for option in options))
    assert answer.code == 2
    assert message in answer.err.strip().splitlines()[-1]
