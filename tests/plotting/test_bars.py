"""Bars of scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from columnist.plotting import FeatureScoresDisplay
from columnist.selection import PivotedQRSelector
from columnist.spectral import FisherScore, LaplacianScore


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_best_features_first(ax):
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = FisherScore(3).fit(X, y)
    display = FeatureScoresDisplay.from_estimator(selector, ax=ax, max_features=5)
    expected = [X.columns[j] for j in selector.ranking_[:5]]
    assert labels(ax) == expected
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, np.sort(selector.scores_)[::-1][:5])
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold"] * 3 + ["normal"] * 2
    assert ax.get_title() == "FisherScore: 3 selected, 8 more not shown"
    assert display.ax_ is ax and display.figure_ is ax.figure
    # The best is on top.
    assert ax.yaxis_inverted()


def test_without_names_and_for_small_scores(ax):
    X, _ = load_wine(return_X_y=True)
    display = FeatureScoresDisplay.from_estimator(LaplacianScore(2).fit(X), ax=ax)
    assert labels(ax)[0].startswith("x")
    assert all(bar.get_width() <= 0.0 for bar in display.bars_)


def test_scores_that_cannot_be_drawn(ax):
    FeatureScoresDisplay([1.0, np.nan, np.inf], names=["a", "b", "c"]).plot(ax)
    assert labels(ax) == ["c", "a", "b"]
    assert [text.get_text().strip() for text in ax.texts] == ["infinite", "no score"]
    ax.figure.canvas.draw()


def test_bad_input():
    with pytest.raises(ValueError, match="2 scores need as many names; got 1"):
        FeatureScoresDisplay([1.0, 2.0], names=["a"])
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        FeatureScoresDisplay([1.0]).plot(max_features=0)
    with pytest.raises(NotFittedError):
        FeatureScoresDisplay.from_estimator(FisherScore())
    X, _ = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="PivotedQRSelector does not score features"):
        FeatureScoresDisplay.from_estimator(PivotedQRSelector(2).fit(X))
