"""Cleaned features: the toy table exactly, the others by their orders and what is determined."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from columnist.privacy import NullSpaceCleaner, attack, laplace_noise, utility_error
from reproduction import privacy_tables
from reproduction.data import Data
from reproduction.printed import printed
from reproduction.privacy_tables import (
    cleaners,
    judge,
    mean_cell,
    split,
    together,
)
from reproduction.registry import Run
from tests.reproduction.conventions import tables_data

TOLERANCE = 0.01
NAMED = {table.name: table for table in privacy_tables.TABLES}


def home() -> Data:
    return tables_data()


@lru_cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels, -1 and 1 for 0 and 1."""
    return privacy_tables.load(home(), name)


def test_toy_table_exactly(tmp_path):
    cells = list(NAMED["xu-9.1"].cells(Run(Data(tmp_path), quick=True)))
    assert len(cells) == 16 and {cell.verdict for cell in cells} == {"reproduced"}
    cleaned = [cell.ours for cell in cells if "cleaned" in cell.where]
    np.testing.assert_allclose(cleaned[:2], cleaned[2:4], rtol=0, atol=1e-15)  # 5 and 8 are one now


@pytest.mark.data
def test_sizes():
    cells = list(NAMED["xu-9.2"].cells(Run(home(), quick=True)))
    assert len(cells) == 12 and {cell.verdict for cell in cells} == {"reproduced"}


@pytest.mark.data
@pytest.mark.parametrize("name", ["scene", "wq", "oes97", "cal500"])
@pytest.mark.parametrize("centred", [False, True])
def test_theorems_1_and_3_on_real_data(name, centred):
    X, Y = data(name)
    for n_desired in (1, Y.shape[1] // 2):
        part = split(X, Y, n_desired, 0)
        rows = X[part.test]
        for cleaner in cleaners(part, TOLERANCE, centred=centred).values():
            errors = utility_error(rows, cleaner.transform(rows), cleaner.coef_)
            assert errors.max() <= TOLERANCE * n_desired


@pytest.mark.data
@pytest.mark.parametrize("name", ["scene", "wq", "oes97", "cal500"])
def test_orders_of_tables_9_3_and_9_4(name):
    X, Y = data(name)
    for n_desired in (1, Y.shape[1] // 2):
        part = split(X, Y, n_desired, 1)
        cleaner = cleaners(part, TOLERANCE, centred=False)["1"]
        found = judge(part, cleaner.transform, cleaner.coef_, centred=False)
        if cleaner.n_removed_ == 0:  # more outputs than features: there is nothing to be had free
            assert (name, n_desired) == ("cal500", 87)
            assert found["utility error"] <= TOLERANCE < found["privacy error"] < 0.156
            continue
        assert found["privacy error"] > 10 * TOLERANCE >= 10 * found["utility error"]
        # Who retrains finds much of it back, but not all.
        assert TOLERANCE < found["attacked privacy error"] < found["privacy error"]
        assert found["attacked linear privacy"] < 65.0


@pytest.mark.data
@pytest.mark.parametrize("n_desired", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_values_of_scene_that_the_protocol_determines(n_desired):
    # Averages of ten runs, as in print. Uncentred for 9.3, centred for 9.4.
    X, Y = data("scene")
    unaware, retrained = (
        next(
            row
            for row in printed(table)
            if (row["set"], row["desired"], row["algorithm"]) == ("scene", str(n_desired), "1")
        )
        for table in ("xu-9.3", "xu-9.4")
    )
    found = {}
    for centred in (False, True):
        parts = [split(X, Y, n_desired, seed) for seed in range(10)]
        # These figures are those of a tolerance for all labels together; one for each label, which
        # the figures of CAL500 and oes97 follow, gives 0.09 and not 0.047 for five labels.
        each = [
            (part, cleaners(part, TOLERANCE / n_desired, centred=centred)["1"]) for part in parts
        ]
        runs = together([judge(p, c.transform, c.coef_, centred=centred) for p, c in each])
        found[centred] = runs
    plain, mean = found[False], found[True]
    assert_as_printed(plain["privacy error"], unaware["privacy error"])
    assert_as_printed(plain["linear privacy"], unaware["linear privacy"])
    assert_as_printed(mean["attacked privacy error"], retrained["privacy error"])
    # Centred rows lead nobody astray: the printed 82% come from the origin.
    assert mean["linear privacy"].mean() < 60.0


def assert_as_printed(values, printed_mean):
    """Means of other random divisions, within four standard errors of their difference."""
    doubt = np.sqrt(2.0 / len(values)) * np.std(values, ddof=1)
    assert abs(np.mean(values) - float(printed_mean)) <= 4.0 * doubt
    assert doubt < 0.1 * np.mean(values)  # so that it says something


@pytest.mark.data
def test_order_of_table_9_7():
    X, Y = data("scene")
    part = split(X, Y, 1, 0)
    cleaner = cleaners(part, TOLERANCE, centred=False)["1"]
    coef = cleaner.coef_
    noise = judge(
        part, lambda rows: laplace_noise(rows, coef, TOLERANCE, random_state=0), coef, centred=False
    )
    cleaned = judge(part, cleaner.transform, coef, centred=False)
    assert noise["utility error"] == pytest.approx(TOLERANCE, rel=0.2)
    assert noise["privacy error"] == pytest.approx(0.009, abs=0.003)  # printed
    assert noise["privacy error"] < 0.1 * cleaned["attacked privacy error"]
    assert noise["linear privacy"] < cleaned["linear privacy"]


@pytest.mark.data
def test_order_of_tables_9_5_and_9_6(monkeypatch):
    monkeypatch.setattr(privacy_tables, "RUNS", 1)
    found = privacy_tables.machine_runs.__wrapped__(home(), "wq", 12)
    assert set(found) == {"1", "2", "2 corrected"}
    for measures in found.values():
        error, attacked = measures["privacy error"], measures["attacked privacy error"]
        assert len(error) == 1 and error > attacked > TOLERANCE


@pytest.mark.data
def test_attack_agrees_on_wq():
    X, Y = data("wq")
    cleaner = NullSpaceCleaner(utility=TOLERANCE).fit(X, Y[:, 0])
    linear = attack(cleaner, X, Y[:, 1:], random_state=0)
    assert linear.blind - 0.02 < linear.retrained < linear.original
    assert linear.unaware < linear.retrained + 0.02


@pytest.mark.data
def test_quick_cells_of_a_table(monkeypatch):
    monkeypatch.setattr(privacy_tables, "QUICK", ("wq",))
    monkeypatch.setattr(privacy_tables, "RUNS", 2)
    cells = list(NAMED["xu-9.3"].cells(Run(home(), quick=True)))
    privacy_tables.linear_runs.cache_clear()
    assert len(cells) == 72
    judged = [cell for cell in cells if cell.verdict != "skipped"]
    assert [cell.where[:2] for cell in judged] == ["wq"] * 18
    assert all(cell.why for cell in judged if cell.verdict in ("different", "better"))
    utility = [cell for cell in judged if cell.where.endswith("algorithm 1, utility error")]
    assert len(utility) == 3 and all(cell.ours <= TOLERANCE for cell in utility)


def test_agreement_of_means():
    values = np.array([1.0, 1.2, 1.1, 1.3])  # mean 1.15
    assert mean_cell("here, privacy error", "1.180", values, "x").verdict == "reproduced"
    assert mean_cell("here, privacy error", "1.190", values, "x").verdict == "different"
    wide = np.array([0.0, 2.3])  # our own spread makes no agreement
    assert mean_cell("here, privacy error", "1.300", wide, "x").verdict == "different"
    zero = np.zeros(4)  # an unspent tolerance is no gain
    assert mean_cell("here, utility error", "0.01", zero, "x").verdict == "different"
    assert mean_cell("here, utility error", "0.01", zero + 0.0096, "x").verdict == "reproduced"


@pytest.mark.data
def test_the_tolerance_is_that_of_a_label():
    """With one for all labels, figures of many labels are far below the print."""
    X, Y = data("cal500")
    errors = {}
    for kind, share in (("label", 1.0), ("row", 1.0 / 173.0)):
        parts = [split(X, Y, 173, seed) for seed in range(5)]
        pairs = [(p, cleaners(p, share * TOLERANCE, centred=False)["1"]) for p in parts]
        runs = together([judge(p, c.transform, c.coef_, centred=False) for p, c in pairs])
        errors[kind] = runs["privacy error"].mean()
    assert errors["row"] < 0.1 * 0.034 < 0.5 * 0.034 < errors["label"]
