"""What follows from settings that were tried, and that they are what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.privacy._printed import PrintedDirections
from columnist.robust import CoherencePursuit, LeverageOutliers
from reproduction import experiments, kernel_readings, outlier_readings, vector_readings
from reproduction import privacy_readings as readings
from reproduction.cells import Cell
from reproduction.experiments import EXPERIMENTS, FOLDER, Trial, explained, groups, tried
from reproduction.privacy_tables import cleaners, judge, split
from reproduction.robust_tables import average_error
from tests.privacy.textbook import printed_algorithm_2


def trials(*agreements, group="g", setting="s"):
    return [
        Trial(group, "he-1.1", f"place {i}", "1.0", setting, 1.0, agrees)
        for i, agrees in enumerate(agreements)
    ]


@pytest.fixture
def stored(monkeypatch):
    """Reasons from these trials in place of the stored ones."""

    def use(found):
        known = groups(found)
        reasons = {
            (t.table, t.where): experiments.reason(known[t.group], (t.table, t.where))
            for t in found
        }
        monkeypatch.setattr(experiments, "reasons", lambda: reasons)

    return use


def why(place, before="unknown; x", table="he-1.1", verdict="different"):
    return explained(table, Cell(place, "1.0", 2.0, verdict, before)).why


def test_one_setting_has_to_give_half_of_a_group(stored):
    stored([*trials(True, True, False, setting="a"), *trials(False, False, True, setting="b")])
    assert why("place 0") == (
        "tested: another setting (a) gives this and 2 of the 3 figures it was tried on"
    )
    assert why("place 2").startswith("unknown; of 2 settings tried the best (a) gives 2 of")
    stored(trials(True, False, False))
    assert why("place 0").startswith("unknown; of 1 settings tried the best (s) gives 1 of")


def test_only_unknown_differences_are_explained(stored):
    stored(trials(True))
    assert why("place 0").startswith("tested: another")
    assert why("place 0", before="tested: y") == "tested: y"
    assert why("place 0", verdict="reproduced") == "unknown; x"
    assert why("place 9") == "unknown; x" and why("place 0", table="he-1.2") == "unknown; x"


def test_trials_are_judged_as_cells_are():
    assert tried("g", "he-1.1", "a", "1.00", "s", 1.02, random=True).agrees
    assert not tried("g", "he-1.1", "a", "1.00", "s", 1.02).agrees
    assert not tried("g", "he-1.1", "a", "1.00", "s", 0.5, random=True).agrees  # smaller is no gain


def test_every_experiment_is_stored_with_its_facts():
    for name in EXPERIMENTS:
        found = experiments.Stored(name, FOLDER)
        assert found.rows and all(run["commit"] for run in found.runs), name
        for group in groups(Trial(**row) for row in found.rows).values():
            assert group.settings > 1 and 0 <= len(group.met) <= group.size


def problem(n_labels=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) + 1.0
    weights = rng.standard_normal((6, n_labels))
    return split(X, np.sign(X @ weights + rng.standard_normal((80, n_labels))), 2, 0)


@pytest.mark.parametrize("centred", [False, True])
def test_the_reading_of_the_tables_is_one_of_those_tried(centred):
    part = problem()
    cleaner = cleaners(part, 0.01, centred=centred)["1"]
    judged = judge(part, cleaner.transform, cleaner.coef_, centred=centred)
    found = readings.one_run(part, 0.01 * 2, centred)
    assert found["error"] == pytest.approx(judged["privacy error"])
    assert found["linear privacy"] == pytest.approx(judged["linear privacy"])


def test_all_readings(monkeypatch):
    part = problem()
    monkeypatch.setattr(readings, "load", lambda *_: (part.X, part.Y))
    monkeypatch.setattr(readings, "RUNS", 2)
    found = dict(readings.readings(None, "any", 2))
    assert len(found) == 2 * 2 * 2 * 2 * 2
    total = {
        words.replace("sum over", "mean over"): v for words, v in found.items() if "sum" in words
    }
    for words, values in total.items():
        assert values["privacy error"] == pytest.approx(2.0 * found[words]["privacy error"])


@pytest.mark.parametrize("centred", [False, True])
def test_the_corrected_algorithm_of_the_tables_is_one_of_those_tried(centred):
    part = problem(n_labels=10)
    found = vector_readings.one_run(part, centred)
    cleaner = cleaners(part, 0.01, centred=centred)["2 corrected"]
    judged = judge(part, cleaner.transform, cleaner.coef_, centred=centred)
    values = found[f"eigenvectors {vector_readings.CORRECTED}, a tolerance for each label"]
    assert values == pytest.approx({measure: judged[measure] for measure in values})


def test_eigenvectors_of_another_length():
    rng = np.random.default_rng(0)
    coef, rows = rng.standard_normal((2, 6)), rng.standard_normal((5, 6))
    secret = rng.standard_normal((7, 6))
    directions = PrintedDirections(coef, secret)
    unit = vector_readings.resized(directions, "of length one")
    np.testing.assert_allclose(np.linalg.norm(unit.vectors, axis=0), 1.0)
    for other in (unit, vector_readings.resized(directions, "ten times longer")):
        costs = np.sum((coef @ other.vectors) ** 2, axis=0)
        np.testing.assert_allclose(other.desired, costs, atol=1e-9 * costs.max())
        assert not np.allclose(other.cleaned(rows, 0.1), directions.cleaned(rows, 0.1))
    literal = [printed_algorithm_2(x, coef, secret, 0.1, scale=10.0) for x in rows]
    np.testing.assert_allclose(other.cleaned(rows, 0.1), literal, atol=1e-6)


def test_kernels_are_similarities():
    X = np.random.default_rng(0).standard_normal((12, 5)) + 2.0
    for name, kernel in kernel_readings.KERNELS.items():
        K = kernel(X).toarray()
        assert K.shape == (12, 12) and np.all(K <= 1.0 + 1e-12), name
    for name, features in kernel_readings.FEATURES.items():
        np.testing.assert_allclose(np.linalg.norm(features(X), axis=0), 1.0, err_msg=name)


def test_settings_of_outliers_against_the_estimators():
    X = np.random.default_rng(0).standard_normal((30, 6)) + 1.0
    r, k = 2, 4
    ours = outlier_readings.SETTINGS["CoP"]["absolute cosines of points centred"](X, r, k)
    theirs = CoherencePursuit(r, n_outliers=k, centering="mean", norm="l1").fit(X).outliers_
    assert set(ours) == set(theirs)
    ours = outlier_readings.SETTINGS["leverage"]["k singular vectors of points raw"](X, r, k)
    theirs = LeverageOutliers(r, n_outliers=k, centering="none").fit(X)
    assert set(ours) == set(theirs.outliers_)
    error = outlier_readings.error("he-4.2", X, ours, r)
    assert error == pytest.approx(theirs.error_ / np.sum(X * X))
    assert outlier_readings.error("he-5.2", X, ours, r) == average_error(X, ours, r)
    for method, settings in outlier_readings.SETTINGS.items():
        for name, rank in settings.items():
            assert len(set(rank(X, r, k))) == k, (method, name)
