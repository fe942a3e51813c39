"""Multi-label losses against scikit-learn's linear regression, and the verdicts of statements."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import hamming_loss
from sklearn.model_selection import RepeatedKFold

from columnist.selection._multilabel import optimal_thresholds
from reproduction import multilabel_tables
from reproduction.curves import panel_figure
from reproduction.data import Data
from reproduction.multilabel_figures import (
    TABLES,
    decreases,
    exponent_cell,
    exponent_losses,
    plain_loss,
    power_cells,
)
from reproduction.multilabel_tables import (
    GRID,
    Losses,
    grid,
    loss_cell,
    loss_reason,
    penalised,
    ranked_losses,
    row_draws,
)
from reproduction.registry import Run

TRAIN, TEST = np.arange(40), np.arange(40, 60)


def labelled(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6))
    return X, (X[:, :2] + rng.standard_normal((60, 2)) > 0.0).astype(float)


def test_ranked_losses_are_those_of_linear_regression():
    X, Y = labelled()
    ranking = np.array([1, 4, 0])
    losses = ranked_losses(ranking, X, Y, TRAIN, TEST)
    for size, loss in enumerate(losses, 1):
        columns = X[:, ranking[:size]]
        model = LinearRegression().fit(columns[TRAIN], Y[TRAIN])
        cuts = optimal_thresholds(model.predict(columns[TRAIN]), Y[TRAIN])
        predicted = model.predict(columns[TEST]) > cuts
        assert loss == pytest.approx(hamming_loss(Y[TEST], predicted), abs=1e-12)


def test_plain_losses_have_no_intercept():
    X, Y = labelled()
    model = LinearRegression(fit_intercept=False).fit(X[TRAIN], Y[TRAIN])
    expected = hamming_loss(Y[TEST], model.predict(X[TEST]) > 0.5)
    assert plain_loss(X, Y, TRAIN, TEST) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("criterion", ["frobenius", "schatten:3"])
def test_all_columns_leave_no_choice_to_a_norm(criterion):
    X, Y = labelled()
    folds = RepeatedKFold(n_splits=10, n_repeats=3, random_state=0)
    model = LinearRegression(fit_intercept=False)
    expected = np.mean(
        [
            hamming_loss(Y[test], model.fit(X[train], Y[train]).predict(X[test]) > 0.5)
            for train, test in folds.split(X)
        ]
    )
    assert exponent_losses(X, Y, (6,), criterion) == pytest.approx([expected], abs=1e-12)


def curve(least, k, rise):
    """Losses that fall to ``least`` at k and rise by ``rise`` up to 60 columns."""
    sizes = np.arange(1, 61)
    means = least + np.where(sizes < k, 0.01 * (k - sizes), rise * (sizes - k) / (60 - k))
    return Losses(sizes, means, np.full(60, 0.001))


def test_statements_about_powers():
    places = [("power", "2"), ("size", "falls"), ("rise", "typically worse")]
    found = [curve(0.21, 30, 0.01), curve(0.20, 20, 0.02), curve(0.22, 10, 0.03)]
    assert [cell.verdict for cell in power_cells(places, found)] == ["reproduced"] * 3
    found = [curve(0.19, 10, 0.04), curve(0.20, 20, 0.02), curve(0.22, 30, 0.03)]
    cells = list(power_cells(places, found))
    assert [cell.verdict for cell in cells] == ["different"] * 3
    assert all(cell.why for cell in cells) and cells[1].ours == "10, 20, 30"
    assert found[0].least() == (pytest.approx(0.19), 0.001, 10)


def test_statements_about_exponents():
    falls = {(4, 1.2): 1.0, (4, 4.8): 6.4, (8, 1.2): 2.0, (8, 4.8): -3.0}

    def cell(what, said, k="", p=""):
        return exponent_cell({"what": what, "k": k, "p": p}, "here", said, falls)

    assert cell("decrease [%]", "6", "4", "4.8").verdict == "reproduced"
    assert cell("decrease [%]", "3", "8", "4.8").verdict == "different"
    assert cell("best p", "1.2", "8").verdict == "reproduced"
    assert cell("larger p", "smaller loss", "4").verdict == "reproduced"
    assert cell("larger p", "smaller loss", "8").verdict == "different"
    best = cell("largest decrease [%]", "2")
    assert best.verdict == "better" and best.detail == "k = 4, p = 4.8"


def test_agreement_does_not_depend_on_our_spread(monkeypatch):
    monkeypatch.setattr(multilabel_tables, "forward", lambda *_: curve(0.2052, 12, 0.1))
    monkeypatch.setattr(multilabel_tables, "row_draws", lambda *_: [0.2, 0.21])
    for figure, verdict in (("0.207", "reproduced"), ("0.215", "better"), ("0.195", "different")):
        cell = loss_cell(None, {"set": "emotions", "FS": figure}, "FS", "here", figure)
        assert cell.verdict == verdict and cell.detail.startswith("k = 12")
        assert bool(cell.why) == (verdict != "reproduced")


def test_the_grid_is_the_printed_one():
    assert len(GRID) == 10 and len(list(grid("RFS", 5, GRID))) == 10
    settings = list(grid("MIFS", 5, GRID))
    assert len({(one.alpha, one.beta, one.gamma) for one in settings}) == 1000


@pytest.fixture
def made_up(monkeypatch):
    """A small set with the name of a printed one."""
    X, Y = labelled()
    monkeypatch.setattr(Data, "matrix", lambda self, name: X)
    monkeypatch.setattr(Data, "labels", lambda self, name: Y)
    monkeypatch.setattr(multilabel_tables, "TRAINING", {"emotions": (40, 1)})
    return Data("nowhere"), X, Y


def test_settings_are_judged_by_all_folds(made_up, monkeypatch):
    data, X, Y = made_up
    monkeypatch.setattr(multilabel_tables, "GRID", (0.1, 10.0))
    found = penalised.__wrapped__(data, "emotions", "RFS")
    folds = list(RepeatedKFold(n_splits=5, n_repeats=10, random_state=0).split(X[:40]))
    each = [
        multilabel_tables.fold_losses(one, multilabel_tables.standardised(X[:40]), Y[:40], folds)
        for one in grid("RFS", 6, (0.1, 10.0))
    ]
    assert found.least() == min(losses.least() for losses in each)


def test_reasons_of_losses(made_up, monkeypatch):
    data, *_ = made_up
    draws = row_draws.__wrapped__(data, "emotions", 1)
    assert len(draws) == 10 and len(set(draws)) > 1
    monkeypatch.setattr(multilabel_tables, "row_draws", lambda *_: draws)

    def reason(method, loss=0.3, **printed):
        return loss_reason(data, {"set": "emotions", **printed}, method, loss, 1)

    assert reason("FS", FS=f"{max(draws):.3f}"[:4]).startswith(("tested", "unknown"))
    assert reason("FS", FS="0.001").startswith("unknown; single draws")
    assert reason("RFS", RFS="0.9", MIFS="0.1").startswith("tested: the print is worse")
    assert reason("RFS", RFS="0.2", MIFS="0.3").startswith("tested: the column of the other")
    assert reason("MIFS", RFS="0.1", MIFS="0.2").startswith("unknown")


def test_curves_can_be_drawn(made_up, monkeypatch):
    data, *_ = made_up
    monkeypatch.setattr("reproduction.multilabel_figures.EXPONENTS", {"emotions": ((2, 4), (1.0,))})
    (table,) = (table for table in TABLES if table.name == "xu-fig8.5")
    (panel,) = table.panels(Run(data, quick=False))
    decreases.cache_clear()
    assert set(panel.lines) == {"k = 2", "k = 4"}
    drawn = panel_figure(panel)
    assert "<svg" in drawn.wide and len(drawn.table.rows) == 2
