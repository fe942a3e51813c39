from __future__ import annotations

import numpy as np
import pytest

from columnist.report import comparison_report
from tests.report.pages import HOSTILE, check_page

ROWS = [
    {"name": "quick", "selected": ["a", "b"], "error": 5.0, "relative_error": 0.5, "seconds": 0.01},
    {"name": "best", "selected": ["a", "c"], "error": 4.0, "relative_error": 0.4, "seconds": 1.0,
     "gap": 0.0, "redundancy": 0.25, "score": 0.875, "note": "certified"},
]  # fmt: skip


def verdict(outline):
    return next(t for a, t in outline.all("p") if "verdict" in a.get("class", ""))


def test_the_smallest_error_wins_and_is_proven_by_the_bound():
    outline = check_page(comparison_report(ROWS, bound=4.0))
    assert "best" in verdict(outline) and "proven" in verdict(outline)
    outline = check_page(comparison_report(ROWS, bound=3.0))
    assert "25" in verdict(outline)  # (4 - 3) / 4
    assert "nothing is proven" in verdict(check_page(comparison_report(ROWS)))


def test_unknown_figures_are_dashes():
    outline = check_page(comparison_report(ROWS, bound=4.0))
    cells = [t.replace("\u00a0", " ") for _, t in outline.all("td")][:16]
    assert cells == ["quick", "5", "50 %", "–", "–", "0.01", "–", "–",
                     "best", "4", "40 %", "0 %", "0.250", "1", "0.875", "certified"]  # fmt: skip


def test_points_are_drawn_in_per_cent_with_the_bound():
    outline = check_page(comparison_report(ROWS, bound=4.0))
    tips = {a["data-tip"] for a, _ in outline.all("circle") if "data-tip" in a}
    assert tips == {"quick\nerror 50\n0.01 s", "best\nerror 40\n1 s"}


def test_agreement_counts_methods():
    text = check_page(comparison_report(ROWS)).section("What the methods agree on")
    assert "1 of 3 columns are selected by all methods" in text


@pytest.mark.parametrize(
    "rows",
    [
        [{"name": "only"}],
        [{"name": "a", "error": np.inf, "seconds": 0.0}, {"name": "b", "error": None}],
        [{"name": "a", "error": 0.0, "relative_error": 0.0, "seconds": 1.0}] * 2,
        [{"name": name, "selected": HOSTILE, "error": 1.0, "seconds": 1.0} for name in HOSTILE],
    ],
    ids=["nothing", "infinite", "zero", "hostile"],
)
@pytest.mark.parametrize("bound", [None, 0.0, np.nan])
def test_odd_rows(rows, bound):
    check_page(comparison_report(rows, bound=bound))


def test_nothing_to_compare():
    with pytest.raises(ValueError, match="nothing to compare"):
        comparison_report([])
