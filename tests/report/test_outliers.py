from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist._text import readable
from columnist.report import _outliers as outliers
from columnist.report import outlier_report
from columnist.robust import RobustPCA, TrimmedPCA
from tests.report.pages import HOSTILE, check_page, hostile_data

WINE = scale(load_wine().data)


def marks(outline):
    return [a for _, a, _ in outline.elements if "data-tip" in a]


def test_every_row_is_on_the_map_and_flagged_as_predicted():
    estimator = TrimmedPCA(2, n_outliers=5).fit(WINE)
    outline = check_page(outlier_report(estimator, WINE))
    tips = [a["data-tip"] for a in marks(outline)]
    assert len(tips) == 2 * len(WINE)  # wide and narrow
    flagged = np.flatnonzero(estimator.predict(WINE) == -1)
    told = {int(t.split("\n")[0]) for t in tips if t.split("\n")[1] != "regular"}
    assert told == set(flagged.tolist())


def test_removed_rows_are_listed_by_label():
    labels = [f"bottle {i}" for i in range(len(WINE))]
    frame = pd.DataFrame(WINE, index=labels)
    estimator = TrimmedPCA(2, n_outliers=5).fit(WINE)
    text = check_page(outlier_report(estimator, frame.to_numpy(), labels=labels)).section(
        "Removed rows"
    )
    assert all(f"bottle {i}" in text for i in estimator.outliers_)


def test_a_searched_fit_has_its_proof():
    estimator = RobustPCA(2, n_outliers=3).fit(WINE)
    outline = check_page(outlier_report(estimator, WINE))
    assert "ways to choose 3 rows to remove" in outline.section("What is proven")


def test_hostile_labels_and_names():
    X = hostile_data()
    labels = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
    html = outlier_report(TrimmedPCA(2, n_outliers=20).fit(X), X, names=HOSTILE, labels=labels)
    text = check_page(html).section("Removed rows")
    assert readable(HOSTILE[0], 80) in text


def test_no_outliers_far_outliers_and_samples(monkeypatch):
    outline = check_page(outlier_report(TrimmedPCA(2, n_outliers=0).fit(WINE), WINE))
    assert "Removed rows" not in [text for _, text in outline.all("h2")]
    X = WINE.copy()
    X[:3] *= 1e6
    monkeypatch.setattr(outliers, "_MOST_REGULAR", 50)
    outline = check_page(outlier_report(TrimmedPCA(2, n_outliers=3).fit(X), X))
    assert "logarithmic" in outline.section("Outlier map")
    assert "of 178 rows are drawn" in outline.section("Outlier map")


def test_bad_input_is_refused():
    estimator = TrimmedPCA(2, n_outliers=3).fit(WINE)
    with pytest.raises(ValueError, match="labels needs one entry"):
        outlier_report(estimator, WINE, labels=["a"])
    with pytest.raises(ValueError, match="pass the rows of the fit"):
        outlier_report(estimator, WINE[:5])
