"""Verdicts: what counts as agreement, as better, as different."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.cells import (
    VERDICTS,
    Cell,
    agrees,
    compare,
    last_unit,
    not_possible,
    ours_text,
    p_value,
    skipped,
)


@pytest.mark.parametrize(
    ("printed", "unit"),
    [("1.252e2", 0.1), ("247.58", 0.01), ("18", 1.0), ("6.05e8", 1e6), ("5.790e-4", 1e-7)],
)
def test_unit_of_the_last_digit(printed, unit):
    assert last_unit(printed) == pytest.approx(unit, rel=1e-12)


def test_rounding_and_truncation_agree_but_no_more():
    assert agrees(77.4575, "77.4") and agrees(77.4575, "77.5")
    assert not agrees(77.4575, "77.3") and not agrees(77.4575, "77.6")
    assert agrees(2000, "2000", units=0) and not agrees(1999, "2000", units=0)


@pytest.mark.parametrize(
    ("ours", "better", "verdict"),
    [
        (81.16, "smaller", "reproduced"),
        (81.03, "smaller", "better"),
        (81.30, "smaller", "different"),
        (81.03, "larger", "different"),
        (81.30, "larger", "better"),
        (81.03, None, "different"),
        (math.nan, "smaller", "different"),
    ],
)
def test_verdicts(ours, better, verdict):
    cell = compare("here", "81.16", ours, better=better, why="because", detail="proven")
    assert cell.verdict == verdict
    assert cell.why == ("" if verdict == "reproduced" else "because")
    assert cell.detail == "proven"


def test_random_figures_agree_within_a_share_of_the_print():
    near = compare("here", "0.215", 0.221, random=True)
    assert near.verdict == "reproduced" and near.tolerance == pytest.approx(0.00645)
    assert compare("here", "0.215", 0.222, random=True).verdict == "different"
    assert compare("here", "0.03", 0.04, random=True).verdict == "reproduced"  # one unit
    assert compare("here", "0.215", 0.224, spread=0.01).verdict == "reproduced"


@pytest.mark.parametrize("whose", ["competitor", "search"])
def test_only_the_method_of_a_document_can_be_better(whose):
    assert compare("here", "5", 3.0, better="smaller").verdict == "better"
    cell = compare("here", "5", 3.0, better="smaller", whose=whose, why="unknown")
    assert (cell.verdict, cell.whose, cell.why) == ("different", whose, "unknown")


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("0.04", 0.021, "reproduced"),
        ("0.04", 0.001, "different"),  # the same side of 0.05 is not enough
        ("0.00", 0.009, "reproduced"),
        ("0.60", 1.0, "reproduced"),
        ("0.06", 0.04, "reproduced"),
        ("0.40", 0.10, "different"),
    ],
)
def test_p_values_agree_when_they_are_near(printed, ours, verdict):
    assert p_value("here", printed, ours, whose="method", why="x").verdict == verdict


def test_cells_without_a_comparison():
    assert not_possible("here", "3", "no data") == Cell(
        "here", "3", None, "not possible", "no data"
    )
    assert not_possible("here", "0.58", "time", 0.01).ours == 0.01
    assert skipped("here", "3").verdict == "skipped" and skipped("here", "3").why
    assert {"reproduced", "better", "different", "not possible", "skipped"} == set(VERDICTS)


@given(
    st.floats(1e-6, 1e9),
    st.integers(0, 4),
    st.booleans(),
    st.floats(-0.99, 0.99),
)
def test_any_figure_agrees_with_its_own_print(value, decimals, scientific, share):
    """A printed figure agrees with whatever rounds to it, also after one more digit is shown."""
    printed = f"{value:.{decimals}e}" if scientific else f"{value:.{decimals}f}"
    printed = printed.replace("e+", "e")
    assert agrees(value, printed)
    off = float(printed) + share * last_unit(printed)
    cell = compare("here", printed, off, better="smaller")
    assert cell.verdict == "reproduced"
    # 0.99 units off and half a unit of the next digit
    assert agrees(float(ours_text(cell)), printed, units=1.05)


@pytest.mark.parametrize(
    ("printed", "ours", "text"),
    [
        ("6.05e8", 604536341.25, "6.045e8"),
        ("5.790e-4", 0.00057912, "5.7912e-4"),
        ("5.3e10", 5.3e10, "5.30e10"),
        ("81.16", 81.0328, "81.033"),
        ("0.58", 0.00551, "0.00551"),
        ("2000", 2000, "2000"),
        ("3231957", 3231961.0, "3231961"),
        ("17", 17.26, "17.3"),
        ("1 2 4", "1 2 3", "1 2 3"),
        ("1 2 4", 3.25, "3.25"),
        ("0.7", math.nan, "nan"),
        ("7e2", math.inf, "inf"),
        ("0.7", None, ""),
    ],
)
def test_our_figure_in_the_form_of_the_print(printed, ours, text):
    assert ours_text(Cell("here", printed, ours, "different")) == text
