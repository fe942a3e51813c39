from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from columnist._text import number
from columnist.metrics import redundancy_rate
from columnist.report import _selectors as ranking
from columnist.report import ranking_report
from columnist.selection import ForwardSelector, PivotedQRSelector
from columnist.spectral import FisherScore
from tests.report.pages import HOSTILE, check_page, hostile_data

X, y = load_wine(return_X_y=True, as_frame=True)


def test_scores_are_shown_best_first():
    selector = FisherScore(3).fit(X, y)
    outline = check_page(ranking_report(selector, X, y))
    tips = [a["data-tip"] for a, _ in outline.all("rect") if "bar" in a.get("class", "").split()]
    best = selector.ranking_[0]
    assert tips[0] == f"✓ {X.columns[best]}: {number(selector.scores_[best], 3)}"
    assert sum(tip.startswith("✓") for tip in tips) == 2 * 3  # a wide and a narrow drawing
    rate = redundancy_rate(X, selector.selected_)
    assert number(rate, 3) in outline.section("Redundancy")


def test_a_selector_without_scores_has_no_section_for_them():
    outline = check_page(ranking_report(PivotedQRSelector(3).fit(X), X))
    assert "Scores" not in [text for _, text in outline.all("h2")]


def test_undefined_scores_and_hostile_names():
    data = hostile_data()
    selector = FisherScore(4).fit(data, np.arange(40) % 2)
    selector.scores_ = selector.scores_.copy()
    selector.scores_[3], selector.scores_[4] = np.nan, np.inf
    outline = check_page(ranking_report(selector, data, names=HOSTILE))
    assert "not defined" in outline.section("Scores")


def test_many_columns_are_cut_and_it_is_said(monkeypatch):
    monkeypatch.setattr(ranking, "_MOST_ROWS", 40)
    data = sp.random_array((50, 60), density=0.3, rng=np.random.default_rng(0), format="csr")
    selector = ForwardSelector(5).fit(data)
    selector.scores_ = np.arange(60.0)
    text = check_page(ranking_report(selector, data)).section("Scores")
    assert "best 30 of 60" in text and "20 lower-ranked columns" in text


def test_code_names_the_public_module():
    code = check_page(ranking_report(FisherScore(3).fit(X, y), X, y)).all("code")[0][1]
    assert code.startswith(
        "from columnist.spectral import FisherScore\n\nselector = FisherScore(3)"
    )


def test_other_data_are_refused():
    with pytest.raises(ValueError, match="pass the data of the fit"):
        ranking_report(FisherScore(3).fit(X, y), X.iloc[:, :4], y)
