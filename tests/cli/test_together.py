"""Options of ``columnist select`` together: each pair works, or one line says why not."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import NAMES, WINE
from tests.examples import slow_if

# What each option asks for, and the entry of the JSON that answers it.
OPTIONS = {
    "groups": (["--groups", "GROUPS"], "constraints"),
    "budget": (["--costs", "COSTS", "--budget", "20"], "budget"),
    "at most": (["--at-most", f"1={NAMES[0]},{NAMES[2]}"], "constraints"),
    "requires": (["--requires", f"{NAMES[4]}={NAMES[6]}"], "constraints"),
    "weight": (["--weight", "times"], None),
    "gaps": (["--missing", "covariance"], None),
    "verdicts": (["--verdicts"], "verdicts"),
    "bootstrap": (["--bootstrap", "2"], "stability"),
    "path": (["--path", "3"], "path"),
    "solutions": (["--solutions", "2"], "solutions"),
    "tolerance": (["--tolerance", "0.1"], "solutions"),
    "include": (["--include", NAMES[3]], None),
    "exclude": (["--exclude", NAMES[12]], None),
    "target": (["--target", "kind"], None),
    "components": (["--components", "1"], None),
    "jobs": (["--jobs", "2"], None),
    "criterion": (["--criterion", "nuclear"], None),
    "forward": (["--method", "forward"], None),
    "proof": (["--proof", "PROOF"], None),
    "dask": (["--dask"], None),
}
# Pairs that are refused, with words of the one line that says so.
REFUSED = {
    ("weight", "gaps"): "without --dask and --weight",
    ("gaps", "dask"): "without --dask and --weight",
    ("weight", "dask"): "--weight needs the data in memory: leave out --dask",
    ("gaps", "proof"): "missing values are estimated",
    ("gaps", "forward"): "--missing does not apply to forward",
    ("proof", "dask"): "proof needs the data in memory",
    ("bootstrap", "dask"): "--bootstrap needs the rows in memory: leave out --dask",
    ("verdicts", "forward"): "--verdicts needs --method certified",
    ("tolerance", "forward"): "--tolerance needs --method certified",
    ("solutions", "forward"): "--solutions does not apply to forward",
    ("components", "forward"): "does not apply to forward",
    ("jobs", "forward"): "--jobs does not apply to forward",
    ("forward", "proof"): "--proof needs --method certified",
}
PAIRS = list(itertools.combinations(OPTIONS, 2))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Wine with gaps and without, what the columns cost, and groups of them."""
    folder = tmp_path_factory.mktemp("together")
    frame = pd.DataFrame(WINE.data, columns=NAMES)
    names = {"kind": WINE.target, "times": np.random.default_rng(0).integers(1, 3, len(frame))}
    frame.assign(**names).to_csv(folder / "whole.csv", index=False)
    gaps = frame.copy()
    gaps.iloc[::7, 0] = gaps.iloc[3::11, 5] = np.nan
    gaps.assign(**names).to_csv(folder / "gaps.csv", index=False)
    (folder / "COSTS").write_text("\n".join(f"{n},{i % 4 + 1}" for i, n in enumerate(NAMES)))
    (folder / "GROUPS").write_text("\n".join(f"{n},g{i // 2}" for i, n in enumerate(NAMES)))
    return folder


def arguments(files, chosen, tmp_path) -> list[str]:
    """The command line with these options."""
    given = itertools.chain.from_iterable(OPTIONS[name][0] for name in chosen)
    made = {"COSTS": files / "COSTS", "GROUPS": files / "GROUPS", "PROOF": tmp_path / "proof"}
    data = files / ("gaps.csv" if "gaps" in chosen else "whole.csv")
    spare = [column for column, name in (("kind", "target"), ("times", "weight"))
             if name not in chosen]  # fmt: skip
    drop = itertools.chain.from_iterable(("--drop", column) for column in spare)
    k = ["-k", "3"]
    return ["select", str(data), *k, *drop, *(str(made.get(word, word)) for word in given)]


def check(answer, chosen) -> None:
    """All that was asked for is answered."""
    assert answer.code == 0, answer.err
    found = answer.json
    for name in chosen:
        entry = OPTIONS[name][1]
        if entry == "budget" and "forward" in chosen:
            entry = "constraints"  # what more money would bring is a question of proofs
        assert entry is None or found[entry], name
    assert found["certificate"] is None or found["certificate"]["status"] == "optimal"
    if "solutions" in chosen and "tolerance" not in chosen and "forward" not in chosen:
        assert len(found["solutions"]) == 2


def check_proof(cli, files, folder) -> None:
    """The proof that was written holds for this file, and not for another one."""
    proof = folder / "proof"
    answer = cli("verify", proof, files / "whole.csv", "--json")
    assert answer.code == 0 and answer.json["holds"]
    frame = pd.read_csv(files / "whole.csv")
    frame.loc[3, NAMES[1]] += 1e-9
    frame.to_csv(folder / "other.csv", index=False)
    assert cli("verify", proof, folder / "other.csv").code == 1


@pytest.mark.parametrize("pair", [
    pytest.param(pair, marks=slow_if(i % 10 > 0), id=" and ".join(pair))
    for i, pair in enumerate(PAIRS)
])  # fmt: skip
def test_pairs(cli, files, pair, tmp_path):
    answer = cli(*arguments(files, pair, tmp_path), "--json")
    words = REFUSED.get(pair)
    if words is None:
        check(answer, pair)
        if "proof" in pair:
            check_proof(cli, files, tmp_path)
        return
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("error: ") == 1
    assert answer.err.strip().splitlines()[-1].startswith("error: ")


def test_everything_at_once(cli, files, tmp_path):
    chosen = ["groups", "budget", "at most", "requires", "weight", "verdicts", "bootstrap", "path"]
    page = tmp_path / "page.html"
    answer = cli(*arguments(files, chosen, tmp_path), "--report", page, "--json")
    check(answer, chosen)
    found = answer.json
    assert len(found["constraints"]) == 4
    assert any("with --groups the error on rows left out" in note for note in found["notes"])
    assert found["verdicts"]["complete"]
    assert found["verdicts"]["columns"][NAMES[0]] == found["verdicts"]["columns"][NAMES[1]]
    text = page.read_text()
    for words in ("What the budget costs", "Verdicts on the columns", "How stable"):
        assert words in text


def test_everything_at_once_with_missing_values(cli, files, tmp_path):
    chosen = ["budget", "at most", "requires", "gaps", "verdicts", "bootstrap", "path"]
    page = tmp_path / "page.html"
    answer = cli(*arguments(files, chosen, tmp_path), "--report", page, "--json")
    check(answer, chosen)
    errors = answer.json["stability"]["left_out_errors"]
    assert [entry["size"] for entry in errors] == [1, 2, 3]
    assert all(0.0 < entry["relative_error"] < 1.0 for entry in errors)
