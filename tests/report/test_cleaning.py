from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist._text import number, percent
from columnist.privacy import NullSpaceCleaner
from columnist.report import _cleaning as cleaning
from columnist.report import cleaning_report
from tests.report.pages import HOSTILE, check_page, hostile_data

WINE = scale(load_wine().data)
A = np.random.default_rng(0).standard_normal((2, 13))


def cleaned(X=WINE, coefficients=A, **options):
    cleaner = NullSpaceCleaner(coefficients, **options).fit(X)
    return cleaner, cleaner.transform(X)


def test_figures_are_those_of_the_rows():
    cleaner, after = cleaned(utility=0.3)
    outline = check_page(cleaning_report(cleaner, WINE, after))
    moved = np.sum(((WINE - after) @ A.T) ** 2, axis=1)
    assert number(moved.max()) in outline.section("What the predictor keeps")
    assert "11 of 13 dimensions" in outline.section("What was removed")
    share = percent(after.var(axis=0).sum() / WINE.var(axis=0).sum()).replace("\u00a0", " ")
    assert f"{share} of the variation" in outline.section("What was removed")
    tips = [a["data-tip"] for a, _ in outline.all("rect") if "data-tip" in a]
    own = after.var(axis=0) / WINE.var(axis=0)
    j = int(np.argmax(own))
    assert tips[0] == f"x{j}: {100 * own[j]:.1f}\u00a0%"


def test_rows_beyond_the_tolerance_are_said():
    cleaner, after = cleaned()
    outline = check_page(cleaning_report(cleaner, WINE, after + 1.0))
    assert any("more than the tolerance: see" in t for _, t in outline.all("p"))


def test_a_secret_hostile_names_and_constant_columns():
    X = hostile_data()
    X[:, 3] = 2.0
    rng = np.random.default_rng(1)
    secret = rng.standard_normal((1, len(HOSTILE)))
    cleaner, after = cleaned(X, rng.standard_normal((2, len(HOSTILE))), confidential=secret)
    outline = check_page(cleaning_report(cleaner, X, after, names=HOSTILE))
    assert "confidential outputs" in outline.section("What was removed")
    assert "1 column did not vary" in outline.section("Column by column")


def test_many_rows_are_sampled_and_it_is_said(monkeypatch):
    monkeypatch.setattr(cleaning, "_MOST_MEASURED", 100)
    cleaner, after = cleaned()
    outline = check_page(cleaning_report(cleaner, WINE, after))
    assert "100 of 178 rows" in outline.section("What was removed")


def test_other_rows_are_refused():
    cleaner, after = cleaned()
    with pytest.raises(ValueError, match="the same rows"):
        cleaning_report(cleaner, WINE, after[:5])
