"""Spectral selection on faces and genes: the print agrees with itself, and the cells are right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit

from columnist.spectral import rbf_similarity
from reproduction import spectral_tables
from reproduction.cells import agrees
from reproduction.data import Data
from reproduction.printed import printed
from reproduction.registry import Run

SETS = tuple(spectral_tables.SETS)
TABLES = {table.name: table for table in spectral_tables.TABLES}
BY_SET = {
    "4.3": printed("zl-4.3"),
    "4.4": printed("zl-4.4"),
    "4.5": printed("zl-4.5"),
    "4.6, 1": tuple(row for row in printed("zl-4.6") if row["neighbours"] == "1"),
    "4.6, 5": tuple(row for row in printed("zl-4.6") if row["neighbours"] == "5"),
    "4.8": printed("zl-4.8"),
}
SMALL_IS_GOOD = ("4.4", "4.5", "4.8")


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


@pytest.mark.parametrize("name", ["4.3", "4.4"])
def test_printed_p_values_are_one_for_the_winner(name):
    for column in SETS:
        (winner,) = [row for row in BY_SET[name] if float(row[f"p {column}"]) == 1.0]
        values = [float(row[column]) for row in BY_SET[name]]
        best = min(values) if name in SMALL_IS_GOOD else max(values)
        assert float(winner[column]) == best


def test_printed_means_of_mcsf_appear_twice():
    (again,) = [row for row in printed("zl-4.7") if row["method"] == "MCSF"]
    for name, measure in {"4.5": "residue", "4.6, 1": "Jaccard 1", "4.6, 5": "Jaccard 5"}.items():
        (line,) = [line for line in BY_SET[name] if line["method"] == "MCSF"]
        assert line["AVE"] == again[measure]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:120], y[:120]


@pytest.fixture(scope="module")
def supervised(digits):
    splits = StratifiedShuffleSplit(2, test_size=0.5, random_state=0)
    return spectral_tables.judged(*digits, splits, (5, 10))


@pytest.fixture(scope="module")
def unsupervised(digits):
    F = digits[0][:, np.ptp(digits[0], axis=0) > 0.0]
    F = F - F.mean(axis=0)
    F /= np.linalg.norm(F, axis=0)
    return spectral_tables.preserved(F, rbf_similarity(F).toarray())


def test_measures(supervised, unsupervised):
    assert set(supervised) == set(spectral_tables.SUPERVISED)
    assert set(unsupervised) == {*spectral_tables.UNSUPERVISED, "MRSF_W"}
    for measures in supervised.values():
        for values in measures.values():
            assert len(values) == 2 and 0.0 <= values.min() <= values.max() <= 1.0
    for measures in unsupervised.values():
        assert measures["residue"] > 0.0 and 0.0 <= measures["Jaccard 5"] <= 1.0


def test_features_chosen_together_are_less_redundant(supervised, unsupervised):
    with_classes = {name: found["redundancy"].mean() for name, found in supervised.items()}
    without = {n: found["redundancy"] for n, found in unsupervised.items() if "redundancy" in found}
    for rates in (with_classes, without):
        alone = {"Laplacian", "SPEC-1", "ReliefF", "Fisher", "HSIC", "Trace Ratio"} & set(rates)
        assert max(rates["MRSF"], rates["MCSF"]) < min(rates[method] for method in alone)


def test_a_kernel_agrees_with_its_own_features():
    part = np.random.default_rng(0).standard_normal((12, 4))
    found = spectral_tables.agreement(part, part @ part.T)
    assert found["residue"] == pytest.approx(0.0, abs=1e-12)
    assert found["Jaccard 1"] == found["Jaccard 5"] == 1.0
    assert spectral_tables.agreement(part, 2.0 * part @ part.T)["residue"] == pytest.approx(
        np.linalg.norm(part @ part.T)
    )


def test_cells_of_one_method():
    """Only the book's methods can be better; p values agree if they are near."""
    found = {
        "Fisher": {"accuracy": np.array([0.70, 0.72, 0.74])},
        "ReliefF": {"accuracy": np.array([0.80, 0.82, 0.84])},
        "MRSF": {"accuracy": np.array([0.90, 0.93, 0.93])},
    }
    rows = {row["method"]: row for row in BY_SET["4.3"]}
    mean, p = spectral_tables.two_cells(rows["Fisher"], "TOX", found, "accuracy", "larger")
    assert mean.verdict == "reproduced" and mean.ours == pytest.approx(0.72)
    assert p.verdict == "reproduced" and p.ours < 0.01
    mean, _ = spectral_tables.two_cells(rows["ReliefF"], "TOX", found, "accuracy", "larger")
    assert (mean.verdict, mean.whose) == ("different", "competitor")
    mean, p = spectral_tables.two_cells(rows["MRSF"], "TOX", found, "accuracy", "larger")
    assert mean.verdict == "better" and mean.why and p.ours == 1.0
    found["Fisher"]["accuracy"] = found["MRSF"]["accuracy"] - np.array([0.1, -0.1, 0.01])
    _, p = spectral_tables.two_cells(rows["Fisher"], "TOX", found, "accuracy", "larger")
    assert p.verdict == "different" and "MRSF" in p.why


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("name", TABLES)
def test_without_data_every_figure_has_a_cell(name, quick, tmp_path):
    cells = list(TABLES[name].cells(Run(Data(tmp_path), quick)))
    assert all(cell.verdict == "not possible" and cell.why for cell in cells)
    assert len({cell.where for cell in cells}) == len(cells)
    if name != "zl-fig4.4":
        heads = ("method", "set", "neighbours")
        figures = [row[key] for row in printed(name) for key in row if key not in heads]
        assert sorted(cell.printed for cell in cells) == sorted(figures)
