"""A proof repeats the preparation of the data, also what the data decided."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from sklearn.datasets import load_wine


@pytest.fixture
def proven(cli, tmp_path):
    """A file with ids and columns of different units, and the proof of a selection from it."""
    frame = load_wine(as_frame=True).data
    frame.insert(0, "id", range(1, len(frame) + 1))
    frame.to_csv(tmp_path / "wine.csv", index=False)
    answer = cli("select", tmp_path / "wine.csv", "-k", 3, "--proof", tmp_path / "wine.proof")
    assert answer.code == 0, answer.err
    return tmp_path


def test_the_proof_of_a_prepared_file_holds(cli, proven):
    answer = cli("verify", proven / "wine.proof", proven / "wine.csv", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["holds"] and "id" not in found["selected"]
    assert found["data"]["centered"] and found["data"]["scaled"]


def test_other_data_are_refuted_and_a_damaged_proof_is_unreadable(cli, proven):
    text = (proven / "wine.csv").read_text()
    (proven / "other.csv").write_text(text.replace("14.23,", "14.22,", 1))
    answer = cli("verify", proven / "wine.proof", proven / "other.csv")
    assert answer.code == 1 and "other data" in answer.out
    damaged = (proven / "wine.proof").read_bytes()[:-20]
    (proven / "damaged.proof").write_bytes(damaged)
    answer = cli("verify", proven / "damaged.proof", proven / "wine.csv")
    assert answer.code == 2 and "Traceback" not in answer.err


def test_other_methods_give_no_proof(cli, proven):
    options = ("--method", "forward", "--proof", proven / "x.proof")
    answer = cli("select", proven / "wine.csv", "-k", 3, *options)
    assert answer.code == 2 and "--method certified" in answer.err


def test_a_proof_never_replaces_the_file_that_is_read(cli, proven):
    before = (proven / "wine.csv").read_bytes()
    answer = cli("select", proven / "wine.csv", "-k", 3, "--proof", proven / "wine.csv")
    assert answer.code == 2 and "is the file that is read" in answer.err
    assert (proven / "wine.csv").read_bytes() == before


def test_no_proof_and_no_file(cli, proven):
    assert cli("verify", proven / "wine.csv", proven / "wine.csv").code == 2
    assert cli("verify", proven / "none", proven / "wine.csv").code == 2


def test_a_sample_says_so_and_exact_arithmetic_counts(cli, proven):
    files = proven / "wine.proof", proven / "wine.csv"
    answer = cli("verify", *files, "--sample", 1)
    assert answer.code == 0 and "A sample of 1 of" in answer.out
    found = json.loads(cli("verify", *files, "--exact", "--jobs", 2, "--json").out)
    assert found["holds"] and found["sample"] is None
    assert found["exact"]["complete sets"] >= found["exact"]["in doubt"]
    for wrong in (("--sample", 0), ("--jobs", 0)):
        assert cli("verify", *files, *wrong).code == 2


def test_the_report_says_how_to_check_the_proof(cli, proven):
    """The hash of the file, what it holds, and the command."""
    proof, page = proven / "wine.proof", proven / "page.html"
    options = ("-k", 3, "--proof", proof, "--report", page)
    assert cli("select", proven / "wine.csv", *options).code == 0
    text = page.read_text(encoding="utf-8")
    assert hashlib.sha256(proof.read_bytes()).hexdigest() in text
    assert "columnist verify wine.proof " in text
    assert re.search(r"lists? \d", text)


def test_the_proof_of_removed_rows(cli, proven):
    file, proof = proven / "wine.csv", proven / "rows.proof"
    page = proven / "page.html"
    answer = cli("outliers", file, "-k", 2, "-r", 2, "--proof", proof, "--report", page, "--json")
    assert answer.code == 0, answer.err
    assert "columnist verify rows.proof " in page.read_text(encoding="utf-8")
    found = cli("verify", proof, file, "--json")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    removed = json.loads(answer.out)["removed"]
    assert told["holds"] and told["removed"] == [str(row) for row in removed]
    assert "removed" in cli("verify", proof, file).out
    (proven / "other.csv").write_text(file.read_text().replace("14.23,", "14.22,", 1))
    assert cli("verify", proof, proven / "other.csv").code == 1


@pytest.mark.parametrize("option", [("--exact",), ("--sample", 3), ("--jobs", 2)])
def test_proofs_about_rows_are_checked_whole(cli, proven, option):
    file, proof = proven / "wine.csv", proven / "rows.proof"
    assert cli("outliers", file, "-k", 1, "-r", 2, "--proof", proof).code == 0
    answer = cli("verify", proof, file, *option)
    assert answer.code == 2 and "about rows" in answer.err and "Traceback" not in answer.err


@pytest.mark.parametrize("option", [("--method", "trimmed"), ("--max-distance", 1)])
def test_no_proof_of_other_outliers(cli, proven, option):
    answer = cli("outliers", proven / "wine.csv", "-k", 2, "--proof", proven / "x", *option)
    assert answer.code == 2 and "--proof" in answer.err and not (proven / "x").exists()
