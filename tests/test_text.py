from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist._text import (
    count,
    joined,
    number,
    percent,
    readable,
    rounded_percent,
    seconds,
    shortened,
    ways,
)

FINITE = st.floats(-1e300, 1e300)


@given(st.text(st.characters(), max_size=400))
def test_readable_is_one_line_that_can_be_written(text):
    shown = readable(text)
    shown.encode("utf-8")
    assert shown and len(shown) <= 200
    assert shown.splitlines() == [shown]
    assert not any(ord(c) < 32 for c in shown)


def test_readable_leaves_markup_to_the_templates():
    assert readable("<b>&\"'") == "<b>&\"'"
    assert readable("a\nb\x00\ud800") == "a↵b␀?"
    assert readable("") == readable(" \u3000") == "(no name)"
    assert readable("a\u202eb") == "a\ufffdb"


def test_long_names_keep_both_ends():
    shown = readable("begin" + "x" * 999 + "end", 20)
    assert len(shown) == 20 and shown.startswith("begin") and shown.endswith("end")


@given(FINITE)
def test_numbers_can_be_read_back(value):
    text = number(value, 5).replace(",", "").replace("−", "-")
    mantissa, _, power = text.partition(" × 10")
    power = power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")).replace("−", "-")
    assert float(f"{mantissa}e{power or 0}") == pytest.approx(value, rel=1e-4)


@given(st.floats(1e-4, 0.9999))
def test_shares_can_be_read_back(share):
    assert float(percent(share).split()[0]) == pytest.approx(100 * share, rel=6e-3)


def test_a_share_below_one_is_never_said_to_be_all():
    for missing in (1e-3, 1e-5, 1e-7):
        assert not percent(1.0 - missing).startswith("100")
        assert not rounded_percent(1.0 - missing).startswith("100")


@given(st.integers(0, 9), st.integers(0, 9))
def test_ways_counts_sets(n, k):
    assert ways(n, k) == f"{len(list(combinations(range(n), k))):,}"


def test_ways_of_a_huge_choice():
    assert ways(20000, 50) == "about 10¹⁵¹"
    assert round(math.log10(math.comb(20000, 50))) == 151


def test_names_in_a_sentence():
    assert joined([]) == ""
    assert joined(["a", "b"]).count("“") == 2 and " and " in joined(["a", "b"])
    assert joined(list("abcd"), 2).endswith("and 2 more")
    assert count(1, "row") == "1 row" and count(0, "row") == "0 rows"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([readable("two\nlines"), shortened("temperature", 7)], ["two↵lines", "temp…re"]),
        ([count(1, "column"), count(1200, "column")], ["1 column", "1,200 columns"]),
        (
            [number(v) for v in (1234.567, 0.00001234, 3, None, float("inf"))],
            ["1,235", "1.234 × 10⁻⁵", "3", "–", "infinite"],
        ),
        (
            [percent(v) for v in (0.05123, 0.5, 0.0, 1e-7, 0.99999, None)],
            ["5.12\xa0%", "50\xa0%", "0\xa0%", "less than 0.01\xa0%", "more than 99.99\xa0%", "–"],
        ),
        (
            [rounded_percent(v) for v in (0.72, 0.9999, 1.0)],
            ["72.0\xa0%", "99.99\xa0%", "100.0\xa0%"],
        ),
        ([seconds(0.02061), seconds(75.2)], ["0.0206 s", "1 min 15 s"]),
        ([ways(30, 11), ways(20000, 50)], ["54,627,300", "about 10¹⁵¹"]),
    ],
)
def test_numbers_and_names_as_readers_see_them(shown, expected):
    assert shown == expected
