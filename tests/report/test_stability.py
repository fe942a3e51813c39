"""The section about stability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist import ColumnSelector, ForwardSelector, selection_stability
from columnist.report import ranking_report, selection_report
from tests.report.pages import HOSTILE, check_page

WINE = scale(load_wine().data)
NAMES = load_wine().feature_names
TITLE = "How stable the selection is"


@pytest.fixture(scope="module")
def found():
    return selection_stability(
        ColumnSelector(3), WINE, n_resamples=20, sizes=range(1, 5), random_state=0
    )


def test_the_section(found):
    page = selection_report(ColumnSelector(3).fit(WINE), WINE, names=NAMES, stability=found)
    told = check_page(page).section(TITLE)
    assert f"stability index is {found.index:.2f}" in told
    assert "20 resamples" in told
    assert NAMES[found.replacements[0].by] in told
    assert "within one standard error of the least" in told


def test_interrupted_and_unproven_resamples_are_told(found):
    cut = replace(found, interrupted=True, n_proven=3, replacements=())
    page = selection_report(ColumnSelector(3).fit(WINE), WINE, stability=cut)
    told = check_page(page).section(TITLE)
    assert "interrupted" in told
    assert "3 of 20 selections are proven" in told
    assert "No column takes the place" in told


def test_other_selectors_and_hostile_names(found):
    names = [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(13)]
    one = replace(found, sizes=np.array([3]), losses=found.losses[:, :1], target="y")
    page = ranking_report(ForwardSelector(3).fit(WINE), WINE, names=names, stability=one)
    assert "the target of the rows left out is unexplained" in check_page(page).section(TITLE)
