"""Selections in two stages: the printed weights, the verdicts, and figures known to come out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from columnist.selection import LeverageSampler
from reproduction import two_stage_tables
from reproduction.two_stage_tables import (
    SECOND,
    _Drawn,
    excess_cells,
    signed_correlation,
    stage_cell,
    supervised,
    two_ways,
)
from tests.real_data import load_arcene, load_isolet5


def test_draws_with_given_leverages_are_those_of_the_sampler():
    X = np.random.default_rng(0).standard_normal((30, 12)) * np.arange(1, 13)
    sampler = LeverageSampler(4, random_state=3).fit(X)
    drawn = _Drawn(4, scores=sampler.probabilities_, random_state=3).fit(X)
    np.testing.assert_array_equal(drawn.selected_, sampler.selected_)


def left_over(S, y):
    return np.sum((y - S @ np.linalg.lstsq(S, y)[0]) ** 2) / np.sum(y**2)


@pytest.mark.parametrize("second", ["GE", "GKS"])
def test_printed_weights(second):
    """Candidates by signed correlation; weights by solving the linear system and clipping."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 30))
    y = X[:, :6] @ rng.standard_normal(6) + rng.standard_normal(40)
    once, ours = two_ways(SelectKBest(signed_correlation), SECOND[second](3), X, y, 3)
    S = X[:, np.sort(np.argsort(-np.corrcoef(X.T, y)[-1, :-1])[:12])]
    z = np.linalg.solve((S.T @ S) ** 2, (S.T @ y) ** 2)
    weighted = S * np.sqrt(np.maximum(z, 0.0))
    assert once == pytest.approx(left_over(S[:, SECOND[second](3).fit(weighted).selected_], y))
    assert ours < once + 0.2


def test_the_printed_way_is_judged():
    draws = np.array([[0.30, 0.20], [0.32, 0.22]])
    cell = stage_cell("here", "0.315", draws)
    assert (cell.verdict, cell.ours) == ("reproduced", pytest.approx(0.31))
    cell = stage_cell("here", "0.40", draws)
    assert (cell.verdict, cell.ours) == ("better", pytest.approx(0.31))
    assert "0.210" in cell.detail
    cell = stage_cell("here", "0.10", draws)
    assert cell.verdict == "different" and cell.why


def test_statements_about_the_second_stage():
    places = [("order", "typically"), ("size", "very small")]
    small = list(excess_cells(iter(places), np.array([0.01, 0.02, -0.01])))
    assert [cell.verdict for cell in small] == ["reproduced", "reproduced"]
    assert small[0].ours == "after 2 of 3 first stages" and small[1].ours == "at most 2.0 %"
    other = list(excess_cells(iter(places), np.array([0.2, -0.02, -0.01])))
    assert [cell.verdict for cell in other] == ["different", "different"]
    assert all(cell.why for cell in other)


@pytest.mark.data
@pytest.mark.parametrize(("k", "printed"), [(10, "0.249"), (30, "0.136"), (50, "0.117")])
def test_label_of_isolet5(k, printed):
    """Table 6.6, forward selection among the columns with the largest signed correlation."""
    data = load_isolet5()
    assert f"{supervised(data[:, :-1], data[:, -1], k):.3f}" == printed


@pytest.mark.data
def test_label_of_arcene():
    X, y = load_arcene()
    y = y.ravel()
    assert f"{supervised(X, y, 20):.3f}" == "0.490"
    pearson = SelectKBest(signed_correlation)
    for second in ("GE", "GKS"):
        once, _ = two_ways(pearson, SECOND[second](20), X, y, 20)
        assert f"{once:.3f}" == "0.501"


def test_fitted_weights_beat_probabilities():
    X = np.random.default_rng(2).standard_normal((60, 40)) @ np.diag(np.geomspace(1.0, 30.0, 40))
    by_probability, fitted = (
        two_stage_tables.weighted(X, 5, how, 5) for how in ("sampling", "quadratic")
    )
    assert np.mean(fitted) < np.mean(by_probability)
