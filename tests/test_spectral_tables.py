"""The benchmarks of spectral selection run, and the printed figures agree with themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import spectral_examples, spectral_tables
from benchmarks.data import Sets
from tests.reference import printed_spectral
from tests.reference.printed import agrees

SETS = ("ORL", "PIE", "TOX", "CLL-SUB")
BY_SET = {
    name: getattr(printed_spectral, f"TABLE_{name}")
    for name in ("4_3", "4_4", "4_5", "4_6_1", "4_6_5", "4_8")
}
SMALL_IS_GOOD = ("4_4", "4_5", "4_8")


@pytest.fixture(scope="module")
def table_rows():
    return spectral_tables.rows(Sets(None), quick=True)


@pytest.fixture(scope="module")
def example_rows():
    return spectral_examples.rows(Sets(None), quick=True)


@pytest.mark.parametrize("name", BY_SET)
def test_printed_means_are_those_of_the_sets(name):
    for line in BY_SET[name]:
        assert agrees(np.mean([float(line[column]) for column in SETS]), line["AVE"])


@pytest.mark.parametrize("name", BY_SET)
def test_printed_wins_are_best_values(name):
    """A win needs the best value; values that are equal as printed may both count."""
    lines, sign = BY_SET[name], -1.0 if name in SMALL_IS_GOOD else 1.0
    most = {column: max(sign * float(line[column]) for line in lines) for column in SETS}
    for line in lines:
        best = sum(sign * float(line[column]) == most[column] for column in SETS)
        assert int(line["WIN"]) <= best
    assert sum(int(line["WIN"]) for line in lines) >= len(SETS)


@pytest.mark.parametrize("name", ["4_3", "4_4"])
def test_printed_p_values_are_one_for_the_winner(name):
    figures, p_values = BY_SET[name], getattr(printed_spectral, f"TABLE_{name}_P")
    for column in SETS:
        (winner,) = [p["method"] for p in p_values if float(p[column]) == 1.0]
        values = {line["method"]: float(line[column]) for line in figures}
        best = min(values.values()) if name in SMALL_IS_GOOD else max(values.values())
        assert values[winner] == best


def test_printed_means_of_mcsf_appear_twice():
    (again,) = [line for line in printed_spectral.TABLE_4_7 if line["method"] == "MCSF"]
    for name, measure in {"4_5": "residue", "4_6_1": "Jaccard 1", "4_6_5": "Jaccard 5"}.items():
        (line,) = [line for line in BY_SET[name] if line["method"] == "MCSF"]
        assert line["AVE"] == again[measure]


def test_tables_run(table_rows):
    assert {row["set"] for row in table_rows} == {"digits"}
    groups: dict = {}
    for row in table_rows:
        groups.setdefault((row["case"], row["measure"]), []).append(row)
    for (case, measure), group in groups.items():
        assert any(row["best"] for row in group)
        values = [row["ours"] for row in group]
        assert np.isfinite(values).all() and min(values) >= 0.0
        if measure.startswith(("accuracy", "redundancy", "Jaccard")):
            assert max(values) <= 1.0
        if case == "classes" and measure in ("accuracy", "redundancy"):
            assert all(0.0 <= row["p value"] <= 1.0 for row in group)
    methods = {row["method"] for row in groups["classes", "accuracy"]}
    assert methods == set(spectral_tables.SUPERVISED)
    assert len(groups["kernel", "Jaccard 1"]) == len(spectral_tables.UNSUPERVISED) + 3
    json.dumps(table_rows)


def test_sets_chosen_together_are_less_redundant(table_rows):
    for case in ("classes", "kernel"):
        rates = {
            row["method"]: row["ours"]
            for row in table_rows
            if (row["case"], row["measure"]) == (case, "redundancy")
        }
        alone = {"Laplacian", "SPEC-1", "ReliefF", "Fisher", "HSIC", "Trace Ratio"} & set(rates)
        assert max(rates["MRSF"], rates["MCSF"]) < min(rates[method] for method in alone)


def test_refitting_brings_mrsf_nearer_to_the_kernel(table_rows):
    residues = {
        row["method"]: row["ours"]
        for row in table_rows
        if (row["case"], row["measure"]) == ("kernel", "centred residue")
    }
    assert residues["MRSF, W refitted"] < residues["MRSF, W"]


def test_tables_have_a_line_per_method(table_rows):
    tables = spectral_tables.tables(table_rows)
    (caption,) = [caption for caption in tables if caption.startswith("Table 4.3")]
    assert [line["method"] for line in tables[caption]] == list(spectral_tables.SUPERVISED)
    (caption,) = [caption for caption in tables if caption.startswith("Features")]
    assert [line["method"] for line in tables[caption]] == ["MRSF"]


def test_comparison_with_the_best():
    found = {
        "Fisher": [{"accuracy": 0.5, "redundancy": 0.6}, {"accuracy": 0.7, "redundancy": 0.5}],
        "MRSF": [{"accuracy": 0.8, "redundancy": 0.1}, {"accuracy": 0.9, "redundancy": 0.2}],
    }
    rows = spectral_tables.compared("classes", "tox-171", found)
    best = {(row["measure"], row["method"]): row["p value"] for row in rows}
    assert best["accuracy", "MRSF"] == best["redundancy", "MRSF"] == 1.0
    # t = 0.25 / 0.05 with one degree of freedom.
    assert best["accuracy", "Fisher"] == pytest.approx(1.0 - 2.0 / np.pi * np.arctan(5.0))
    figures = {(row["measure"], row["method"]): row["printed"] for row in rows}
    assert figures["accuracy", "MRSF"] == "0.79" and figures["redundancy", "Fisher"] == "0.56"
    assert spectral_tables.cell(rows[1]) == "0.850* (0.79)"
    assert spectral_tables.printed("classes", "accuracy", "glioma", "MRSF") == ""
    single = {method: runs[:1] for method, runs in found.items()}
    rows = spectral_tables.compared("kernel", "glioma", single)
    assert [row["method"] for row in rows if row["best"]] == ["MRSF", "MRSF"]


def values_of(rows, example: int) -> dict[str, float]:
    return {row["case"]: row["ours"] for row in rows if row["set"] == f"example {example}"}


def test_selection_restores_the_accuracy(example_rows):
    values = values_of(example_rows, 1)
    all_features = values["50 irrelevant features"]
    assert all_features < values["0 irrelevant features"]
    for name in ("Fisher", "ReliefF", "MRSF", "MCSF"):
        assert values[f"50 irrelevant features, two kept by {name}"] > all_features


def test_cuts_of_the_stars(example_rows):
    values = values_of(example_rows, 8)
    for n in (1, 2):
        assert values[f"cut 1, n = {n}"] == pytest.approx(np.exp(-0.5), rel=1e-14)
        assert values[f"cut 2, n = {n}"] == pytest.approx(np.exp(-9.0 / 8.0), rel=1e-14)
    figures = [values[f"normalised cut {c}, n = {n}"] for n in (1, 2) for c in (1, 2)]
    np.testing.assert_allclose(figures, [1.4830, 1.2111, 0.4565, 1.0641], atol=5e-5)


def test_copies_are_left_out(example_rows):
    values = values_of(example_rows, 13)
    for name in ("Fisher", "ReliefF", "Trace Ratio", "HSIC"):
        assert values[f"copies: {name}"] == values[f"sum: {name}"] == 0.0
    assert values["copies: MRSF"] == values["copies: MCSF"] == values["sum: MCSF"] == 1.0


def test_agreement_falls_with_noise(example_rows):
    values = list(values_of(example_rows, 14).values())
    assert len(values) == 8
    for group in (values[:4], values[4:]):
        assert group[0] == 1.0 and (np.diff(group) < 0.0).all()


def test_rows_vanish_as_the_penalty_grows(example_rows):
    values = list(values_of(example_rows, 15).values())
    half = len(values) // 2
    for group in (values[:half], values[half:]):
        assert group[0] == 60.0 and (np.diff(group) <= 0.0).all()
    assert 0.0 < values[1] < 60.0 and values[half - 1] == 0.0


def test_examples_have_a_table_each(example_rows):
    tables = spectral_examples.tables(example_rows)
    assert [caption.split(":")[0] for caption in tables] == [
        f"Example {example}" for example in (1, 8, 13, 14, 15)
    ]
    lines = tables["Example 8: two cuts of a graph"]
    assert [line["n"] for line in lines] == [1, 2] and set(lines[0]) == {
        "n", "cut 1", "normalised cut 1", "cut 2", "normalised cut 2"
    }  # fmt: skip
    json.dumps(example_rows)
