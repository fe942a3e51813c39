"""The section on which columns are needed."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist import ColumnSelector, column_verdicts
from columnist.report import selection_report
from tests.report.pages import HOSTILE, check_page

WINE = scale(load_wine().data)
NAMES = load_wine().feature_names


def section(X, k, **options):
    selector = ColumnSelector(k).fit(X)
    names = options.pop("names", None)
    found = column_verdicts(X, k, **options)
    page = selection_report(selector, X, verdicts=found, names=names)
    return found, check_page(page).section("Which columns are needed")


def test_every_column_has_its_verdict():
    found, text = section(WINE, 4, tol=0.05, names=NAMES)
    for name, verdict in zip(NAMES, found.verdicts, strict=True):
        assert name in text
        assert verdict in text
    assert f"There are {len(found.solutions)} sets" in text
    assert "all sets with such an error are known" in text


@pytest.mark.parametrize(
    "options", [{"tol": 0.0}, {"tol": 0.1, "max_nodes": 0}, {"tol": 0.1, "n_solutions": 2}]
)
def test_partial_answers_say_so(options):
    found, text = section(WINE, 5, **options)
    assert ("undecided" in text) == bool(len(found.undecided))
    if not found.certificate.list_complete:
        assert "there may be more" in text


def test_hostile_names():
    _, text = section(WINE, 2, tol=0.5, names=HOSTILE[:13])
    assert text


def test_no_verdicts_no_section():
    page = selection_report(ColumnSelector(3).fit(WINE), WINE)
    assert "Which columns are needed" not in page
