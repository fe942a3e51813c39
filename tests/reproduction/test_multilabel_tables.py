"""Multi-label losses against scikit-learn's linear regression, and the verdicts of statements."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import hamming_loss
from sklearn.model_selection import RepeatedKFold

from columnist.selection._multilabel import optimal_thresholds
from reproduction import multilabel_tables
from reproduction.multilabel_tables import (
    Losses,
    exponent_cell,
    exponent_losses,
    loss_cell,
    plain_loss,
    power_cells,
    ranked_losses,
)

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
    for figure, verdict in (("0.207", "reproduced"), ("0.215", "better"), ("0.195", "different")):
        cell = loss_cell(None, "emotions", "FS", "here", figure)
        assert cell.verdict == verdict and cell.detail.startswith("k = 12")
        assert bool(cell.why) == (verdict != "reproduced")
