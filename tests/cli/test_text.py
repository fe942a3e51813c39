"""Names of unknown origin and numbers."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from columnist._text import count, seconds
from columnist.cli._text import listed, number, percent, plain, visible


@given(st.text())
def test_nothing_that_is_shown_controls_the_terminal(text):
    shown = visible(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or ord(c) in (0x202E, 0x2028) for c in shown)
    assert "\x1b" not in shown
    shown.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N"])), st.integers(3, 50))
def test_short_names_stay_and_long_ones_fit(text, width):
    shown = visible(text, width)
    assert shown == text if len(text) <= width else len(shown) == width


def test_beginning_and_end_of_a_long_name_are_kept():
    assert visible("sensor_temperature_outlet_17", 15) == "sensor_…tlet_17"


def test_lists_are_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcd"), most=1) == "a and 3 more"


def test_numbers_have_a_dash_where_there_is_none():
    assert number(None) == number(float("nan")) == percent(None) == percent(float("inf")) == "-"
    assert number(1234.5678, 6) == "1234.57"
    assert percent(0.12345) == "12.35%"
    assert percent(0.0) == "0.00%"
    assert percent(0.0000123) == "0.001%"


def test_counts_and_times():
    assert count(1, "row") == "1 row"
    assert count(1000, "row") == "1,000 rows"
    assert seconds(0.5) == "0.5 s"
    assert seconds(125) == "2 min 05 s"


def test_json_holds_no_nan():
    value = {"a": np.nan, "b": [np.float64(np.inf), np.int32(3)], 4: np.array(["x"]), "c": np.True_}
    assert plain(value) == {"a": None, "b": [None, 3], "4": ["x"], "c": True}
    json.dumps(plain(value), allow_nan=False)
