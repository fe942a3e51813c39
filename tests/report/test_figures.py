from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.plotting._picture import Axis, Band, Bars, Below, Line, Names, Picture, Points, Rule
from columnist.report._figures import _Plot, bars, chart, fitted, heat_map, legend, text_width
from tests.report.pages import HOSTILE

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(VALUES, st.integers(2, 12))
def test_ticks_are_round_ascending_and_inside(values, most):
    axis = Axis.around(values, "x")
    ticks = axis.ticks(most)
    assert ticks == sorted(set(ticks)) and len(ticks) <= most + 2
    air = 1e-6 * (axis.high - axis.low)
    assert all(axis.low - air <= t <= axis.high + air for t in ticks)
    if len(ticks) > 2:
        steps = np.diff(ticks)
        assert steps == pytest.approx(np.full(len(steps), steps[0]), rel=1e-6)
        assert f"{steps[0]:.3e}"[:5] in ("1.000", "2.000", "5.000")


@given(st.floats(1e-12, 1e12), st.floats(1.001, 1e9))
def test_logarithmic_axis_holds_its_values(low, ratio):
    axis = Axis.around([low, low * ratio], "x", log=True)
    assert axis.log and 0.0 < axis.share(low) < axis.share(low * ratio) < 1.0
    middle = low * np.sqrt(ratio)
    assert axis.share(middle) == pytest.approx(0.5, abs=1e-6)
    assert all(axis.low * 0.999 <= t <= axis.high * 1.001 for t in axis.ticks(6))


def test_a_logarithmic_axis_needs_positive_values():
    assert not Axis.around([0.0, 1.0], "x", log=True).log


@pytest.mark.parametrize(
    "values", [[], [np.nan], [np.inf, -np.inf], [0.0], [3.0, 3.0], [-1e300, 1e300]]
)
def test_axes_of_odd_values_have_a_length(values):
    axis = Axis.around(values, "x")
    assert np.isfinite([axis.low, axis.high]).all() and axis.low < axis.high
    assert 0.0 <= axis.share(axis.low / 2 + axis.high / 2) <= 1.0
    assert len(axis.ticks(5)) >= 1


def circles(svg: str) -> np.ndarray:
    root = ET.fromstring(svg)
    return np.array([(float(c.get("cx")), float(c.get("cy"))) for c in root.iter("circle")])


def picture(*marks, ends=(0.0, 2.0), **more) -> Picture:
    return Picture(Axis(*ends, "x"), Axis(*ends, "y"), marks, **more)


def test_points_lie_where_their_values_say():
    points = Points([0.0, 5.0, 10.0], [0.0, 2.0, 4.0], tip=lambda i: "abc"[i], key="points")
    shown = Picture(Axis(0.0, 10.0, "x"), Axis(0.0, 4.0, "y"), [points])
    plot, svg = _Plot(shown, 720.0), chart(shown)
    spots = circles(svg)
    assert spots[:, 0] == pytest.approx(
        [plot.left, (plot.left + plot.right) / 2, plot.right], abs=0.1
    )
    assert spots[:, 1] == pytest.approx(
        [plot.bottom, (plot.top + plot.bottom) / 2, plot.top], abs=0.1
    )
    assert [c.get("data-tip") for c in ET.fromstring(svg).iter("circle")] == ["a", "b", "c"]


def test_what_is_not_finite_is_not_drawn():
    values = np.array([0.0, np.nan, np.inf, 1.0])
    svg = chart(
        picture(
            Points(values, values, key="points"),
            Line(values, values, step=True, key="line"),
            Band(values, values, values, key="band"),
        )
    )
    assert len(circles(svg)) == 2 and not re.search(r"\b(nan|inf)\b", svg)


def test_steps_hold_each_value_until_the_next():
    steps = np.arange(3.0)
    svg = chart(picture(Line(steps, steps, step=True, key="line")))
    path = next(e.get("d") for e in ET.fromstring(svg).iter("path"))
    spots = [tuple(map(float, p.split(","))) for p in path[1:].split("L")]
    assert len(spots) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(spots))


def test_the_legend_has_a_sign_for_each_labelled_mark():
    here = np.array([0.5, 1.5])
    shown = picture(
        Line(here, here, True, key="a", color="proven", label="dashes"),
        Line(here, here, key="b"),
        Points(here, here, "diamond", filled=False, key="c", label="open"),
        Points(here, here, filled=here > 1, key="d", label="best", open_label="others"),
        Rule("x", 1.0, False, key="e", color="ink", label="rule"),
        Below(1.0, key="f", color="proven", label="impossible"),
    )
    assert [(entry.sign, entry.color, entry.text) for entry in legend(shown)] == [
        ("dashed", "c-proven", "dashes"),
        ("open-diamond", "c-found", "open"),
        ("dot", "c-found", "best"),
        ("open-dot", "c-found", "others"),
        ("line", "c-ink", "rule"),
        ("band", "c-open", "impossible"),
    ]
    marks = [e.get("class") for e in ET.fromstring(chart(shown)).iter("circle")]
    assert marks == ["open-mark", None]


def test_names_cover_neither_one_another_nor_the_level():
    spots = np.full(3, 1.0), np.full(3, 1.0)
    named = picture(names=Names(*spots, ["one", "two", "three"], above=1.0))
    texts = [t for t in ET.fromstring(chart(named)).iter("text") if t.get("class") == "note"]
    level = _Plot(named, 720.0).place_y(1.0)
    assert texts and all(float(t.get("y")) < level for t in texts)
    places = [(t.get("x"), t.get("y")) for t in texts]
    assert len(set(places)) == len(places)


def barred(names, values, texts, **more) -> str:
    marked = np.zeros(len(names), dtype=bool)
    return bars(Bars(names, np.array(values), texts, more.pop("title", "t"), marked, **more))


def test_bars_are_as_long_as_their_values():
    svg = barred(["a", "b", "c", "d"], [4.0, 2.0, -2.0, np.nan], ["4", "2", "-2", "none"])
    rects = [r for r in ET.fromstring(svg).iter("rect")]
    widths = [float(r.get("width")) for r in rects]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.2)
    assert widths[1] == pytest.approx(widths[2], abs=0.2) and widths[3] == 1.0
    assert float(rects[2].get("x")) + widths[2] == pytest.approx(float(rects[0].get("x")), abs=0.2)


def test_bars_near_the_largest_number():
    svg = barred(["a", "b"], [1e308, -1e308], ["", ""])
    assert not re.search(r"\b(nan|inf)\b", svg)


def test_heat_map_cells_tell_names_and_values():
    svg = heat_map(["r1", "r2"], ["c1", "c2", "c3"], np.array([[1, 0, -1], [0.52, -0.004, np.nan]]),
                   title="t", description="d")  # fmt: skip
    cells = [r for r in ET.fromstring(svg).iter("rect")]
    assert [c.get("class") for c in cells] == [
        "cell h10", "cell h5", "cell h0", "cell h8", "cell h5", "cell empty",
    ]  # fmt: skip
    assert cells[0].get("data-tip") == "r1 × c1: 1"
    assert cells[5].get("data-tip") == "r2 × c3: not defined"
    figures = [t.text for t in ET.fromstring(svg).iter("text") if "figure" in t.get("class")]
    assert figures == ["1.00", ".00", "−1.00", ".52", ".00"]


def test_names_are_data_everywhere():
    values = np.zeros((len(HOSTILE), len(HOSTILE)))
    pictures = [
        heat_map(HOSTILE, HOSTILE, values, title=HOSTILE[0], description=HOSTILE[1]),
        barred(HOSTILE, values[0], HOSTILE, title="</title>", description="<"),
    ]
    for svg in pictures:
        tags = {element.tag for element in ET.fromstring(svg).iter()}
        assert tags <= {"svg", "title", "desc", "rect", "text", "g"}
        svg.encode("utf-8")


@given(st.text(max_size=60), st.floats(40, 300))
def test_fitted_text_fits(text, room):
    assert text_width(fitted(text, room)) <= max(room + 1.0, text_width("漢" * 4))
