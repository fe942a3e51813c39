"""Charts as inline SVG: axes, lines, steps, bands, points, bars and heat maps.

Elements are built as a tree and written by the standard library, which escapes every text and
attribute. Colours are classes (``c-found``, ``c-proven``, ...), so that the page's style sheet
sets them for light, dark and print. A mark with a ``data-tip`` shows that text when it is
pointed at or reached by the arrow keys.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as counter
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np

from columnist._text import number, readable, shortened

__all__ = ["Axis", "Plot", "bars", "heat_map", "text_width"]

_IDS = counter(1)
_FONT = 12.0
_SHAPES = {
    "square": "M-4,-4h8v8h-8z",
    "triangle": "M0,-5L5,4H-5z",
    "diamond": "M0,-5.5L5.5,0L0,5.5L-5.5,0z",
}
# A logarithmic axis shorter than this many powers of ten is labelled at 2 and 5 as well.
_SHORT = 2.2


def text_width(text: str, size: float = _FONT) -> float:
    """Roughly how wide a text is, in pixels."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return size * (0.6 * len(text) + 0.5 * wide)


def fitted(text: str, room: float, size: float = _FONT) -> str:
    """The text, shortened in its middle until it is no wider than ``room``."""
    whole = readable(text)
    longest, shown = len(whole), whole
    while text_width(shown, size) > room + 1.0 and longest > 4:
        longest -= 1
        shown = shortened(whole, longest)
    return shown


@dataclass(frozen=True)
class Axis:
    """Range of one axis.

    Attributes
    ----------
    low, high : float
        Ends; positive for a logarithmic axis.
    label : str
        What it measures.
    log, whole : bool
        Logarithmic; whole numbers only.
    unit : str
        Written after every tick.
    """

    low: float
    high: float
    label: str
    log: bool = False
    whole: bool = False
    unit: str = ""

    @classmethod
    def around(cls, values, label: str, *, log: bool = False, zero: bool = False, **options):
        """An axis that holds the finite values with some air.

        A logarithmic axis needs positive values, and turns into a linear one without them.
        """
        values = np.asarray(values, dtype=np.float64).ravel()
        values = values[np.isfinite(values)]
        log = log and len(values) > 0 and values.min() > 0.0
        if not len(values):
            return cls(0.0, 1.0, label, **options)
        low, high = float(values.min()), float(values.max())
        if log:
            air = max((high / low) ** 0.05, 1.02)
            return cls(low / air, high * air, label, log=True, **options)
        low = min(low, 0.0) if zero else low
        air = 0.05 * (high - low) or abs(high) * 0.1 or 1.0
        return cls(low if zero and low == 0.0 else low - air, high + air, label, **options)

    def share(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high end."""
        if self.log:
            value = max(value, self.low)
            return math.log(value / self.low) / math.log(self.high / self.low)
        # Halves, because the difference of two huge numbers may overflow.
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def ticks(self, most: int) -> list[float]:
        """Round numbers along the axis, ``most`` of them at most."""
        found = self._powers(most) if self.log else []
        return found if len(found) > 1 else self._steps(most)

    def _steps(self, most: int) -> list[float]:
        span = self.high - self.low
        if not (math.isfinite(span) and span > 0.0):
            return [self.low]
        raw = span / max(most, 1)
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * m for m in (1, 2, 5, 10, 20) if power * m >= raw)
        step = max(1.0, step) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)][: most + 2]

    def _powers(self, most: int) -> list[float]:
        low, high = math.log10(self.low), math.log10(self.high)
        factors = (1.0, 2.0, 5.0) if high - low < _SHORT else (1.0,)
        stride = max(1, math.ceil((high - low) / max(most, 1)))
        powers = range(math.floor(low), math.ceil(high) + 1, stride)
        values = [f * 10.0**p for p in powers for f in factors]
        return [v for v in values if self.low * (1 - 1e-9) <= v <= self.high * (1 + 1e-9)]

    def tick_text(self, value: float) -> str:
        """A tick's label."""
        if self.log and not 1e-3 <= value < 1e5:
            return number(value, 1)
        return number(round(value, 12) if abs(value) < 1e3 else value) + self.unit


def _root(width: float, height: float, title: str, description: str, **attributes) -> ET.Element:
    """An SVG with the name and the description that screen readers tell."""
    key = next(_IDS)
    svg = ET.Element("svg", {
        "viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}",
        "role": "img", "aria-labelledby": f"t{key} d{key}", "tabindex": "0", "class": "chart",
    } | attributes)  # fmt: skip
    ET.SubElement(svg, "title", {"id": f"t{key}"}).text = readable(title)
    ET.SubElement(svg, "desc", {"id": f"d{key}"}).text = readable(description, 2000)
    return svg


def _text(parent, x, y, text: str, cls: str = "tick", **attributes) -> ET.Element:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": cls}
    element = ET.SubElement(parent, "text", place | attributes)
    element.text = text
    return element


def _markup(svg: ET.Element) -> str:
    return ET.tostring(svg, encoding="unicode")


class Plot:
    """A chart with two axes.

    Parameters
    ----------
    x, y : Axis
        The axes.
    title, description : str
        For readers who do not see it.
    width, height : float
        In pixels.

    Examples
    --------
    >>> from columnist.report._charts import Axis, Plot
    >>> plot = Plot(Axis(0, 2, "size"), Axis(0, 1, "error"), title="t", description="d")
    >>> plot.line([0, 1, 2], [1, 0.5, 0.2], "c-found")
    >>> plot.svg().startswith("<svg")
    True
    """

    def __init__(
        self, x: Axis, y: Axis, *, title: str, description: str,
        width: float = 720.0, height: float = 340.0,
    ):  # fmt: skip
        self.x, self.y, self.width, self.height = x, y, width, height
        self.root = _root(width, height, title, description)
        self._y_ticks = [(v, y.tick_text(v)) for v in y.ticks(6)]
        widest = max((text_width(t) for _, t in self._y_ticks), default=0.0)
        self.left, self.right = min(max(34.0, widest + 12), 110.0), width - 14.0
        self.top, self.bottom = 30.0, height - 44.0
        self._draw_axes()

    def _draw_axes(self) -> None:
        frame = ET.SubElement(self.root, "g", {"class": "axes", "aria-hidden": "true"})
        for value, text in self._y_ticks:
            y = self.place_y(value)
            self._rule(frame, self.left, y, self.right, y, "grid")
            _text(frame, self.left - 8, y + 4, text, **{"text-anchor": "end"})
        room = 64 if self.width > 500 else 52
        ticks = self.x.ticks(max(2, int((self.right - self.left) / room)))
        for value in ticks:
            x = self.place_x(value)
            self._rule(frame, x, self.bottom, x, self.bottom + 5, "stub")
            _text(frame, x, self.bottom + 19, self.x.tick_text(value), **{"text-anchor": "middle"})
        self._rule(frame, self.left, self.bottom, self.right, self.bottom, "base")
        x_label = fitted(self.x.label, self.width - 20)
        _text(frame, self.right, self.height - 6, x_label, "label", **{"text-anchor": "end"})
        _text(frame, 2, 13, fitted(self.y.label, self.width - 20), "label")

    def _rule(self, parent, x1, y1, x2, y2, cls: str) -> None:
        ends = zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
        ET.SubElement(parent, "line", {k: f"{v:.1f}" for k, v in ends} | {"class": cls})

    def place_x(self, value: float) -> float:
        """Pixel of a value on the horizontal axis."""
        return self.left + min(max(self.x.share(value), -0.02), 1.02) * (self.right - self.left)

    def place_y(self, value: float) -> float:
        """Pixel of a value on the vertical axis."""
        return self.bottom - min(max(self.y.share(value), -0.02), 1.02) * (self.bottom - self.top)

    def _spots(self, xs, ys) -> list[tuple[float, float]]:
        """Pixels of the points that have two finite numbers."""
        pairs = zip(np.asarray(xs, float), np.asarray(ys, float), strict=True)
        return [
            (self.place_x(x), self.place_y(y))
            for x, y in pairs
            if np.isfinite(x) and np.isfinite(y)
        ]

    def line(self, xs, ys, cls: str, *, step: bool = False) -> None:
        """A line through points, or steps that hold each value until the next."""
        spots = _steps(self._spots(xs, ys)) if step else self._spots(xs, ys)
        if len(spots) > 1:
            path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in spots)
            ET.SubElement(self.root, "path", {"d": path, "class": f"line {cls}"})

    def band(self, xs, low, high, cls: str, *, step: bool = False) -> None:
        """The area between two lines, or two flights of steps."""
        finite = np.isfinite(np.asarray(low, float)) & np.isfinite(np.asarray(high, float))
        xs, low, high = (np.asarray(v, float)[finite] for v in (xs, low, high))
        upper, lower = self._spots(xs, high), self._spots(xs, low)
        spots = _steps(upper) + _steps(lower)[::-1] if step else upper + lower[::-1]
        if len(spots) > 2:
            path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in spots) + "z"
            ET.SubElement(self.root, "path", {"d": path, "class": f"band {cls}"})

    def points(
        self, xs, ys, cls: str, tips: Sequence[str] | None, *, shape="dot", radius=4.0
    ) -> None:
        """One mark per point, with what it tells, if anything."""
        group = ET.SubElement(self.root, "g", {"class": f"points {cls}"})
        marks: Sequence[str | None] = tips or [None] * len(xs)
        for x, y, tip in zip(xs, ys, marks, strict=True):
            if not (np.isfinite(x) and np.isfinite(y)):
                continue
            left, top = f"{self.place_x(x):.1f}", f"{self.place_y(y):.1f}"
            told = {} if tip is None else {"data-tip": tip}
            if shape in _SHAPES:
                place = {"d": _SHAPES[shape], "transform": f"translate({left},{top})"}
                ET.SubElement(group, "path", place | told)
            else:
                place = {"cx": left, "cy": top, "r": f"{radius:g}"}
                ET.SubElement(group, "circle", place | told)

    def level(self, value: float, cls: str, text: str = "") -> None:
        """A horizontal line at a value."""
        y = self.place_y(value)
        self._rule(self.root, self.left, y, self.right, y, f"line {cls}")
        if text:
            _text(self.root, self.right, y - 6, text, "note", **{"text-anchor": "end"})

    def below(self, value: float, cls: str) -> None:
        """The area under a value."""
        y = self.place_y(value)
        area = {"x": f"{self.left:.1f}", "y": f"{y:.1f}", "class": f"band {cls}"}
        size = {"width": f"{self.right - self.left:.1f}", "height": f"{self.bottom - y:.1f}"}
        ET.SubElement(self.root, "rect", area | size)

    def upright(self, value: float, cls: str, text: str = "") -> None:
        """A vertical line at a value."""
        x = self.place_x(value)
        self._rule(self.root, x, self.top, x, self.bottom, f"line {cls}")
        if text:
            near_end = x + text_width(text) + 8 > self.right
            anchor = {"text-anchor": "end" if near_end else "start"}
            _text(self.root, x - 6 if near_end else x + 6, self.top + 8, text, "note", **anchor)

    def labels(
        self, xs, ys, names: Sequence[str], *, level: float | None = None, around=((), ())
    ) -> None:
        """Names beside points, where they cover no level, no name and no point, nor one around."""
        spots = self._spots(xs, ys) + self._spots(*around)
        taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in spots]
        if level is not None:
            y = self.place_y(level)
            taken.append((self.left, y - 2, self.right, y + 2))
        for x, y, name in zip(xs, ys, names, strict=True):
            left, top = self.place_x(x), self.place_y(y)
            text = fitted(name, 150.0)
            width = text_width(text)
            for dx, dy in ((9, 4), (-9 - width, 4), (9, -9), (9, 17), (-9 - width, -9)):
                box = (left + dx, top + dy - 11, left + dx + width, top + dy + 3)
                inside = self.left <= box[0] and box[2] <= self.width and box[1] >= self.top - 8
                if inside and not any(_overlap(box, other) for other in taken):
                    taken.append(box)
                    _text(self.root, box[0], top + dy, text, "note")
                    break

    def svg(self) -> str:
        """The markup."""
        return _markup(self.root)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _steps(spots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of a line that holds each height until the next spot."""
    return spots[:1] + [corner for a, b in pairwise(spots) for corner in ((b[0], a[1]), b)]


def bars(
    names: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    classes: Sequence[str],
    *,
    title: str,
    description: str,
    width: float = 720.0,
) -> str:
    """Horizontal bars, the first on top; negative ones run to the left.

    ``texts`` are written at the bars' ends; a bar that is not finite has its text only.
    """
    row, lengths = 24.0, np.asarray(values, dtype=np.float64)
    texts = [readable(text) if text else "" for text in texts]
    finite = np.where(np.isfinite(lengths), lengths, 0.0)
    svg = _root(width, row * len(names) + 8, title, description)
    room = min(max((text_width(readable(n)) for n in names), default=0.0), 0.36 * width)
    at_end = max((text_width(t) for t in texts), default=0.0) + 12
    left, right = room + 12, width - at_end
    low, high = min(finite.min(initial=0.0), 0.0), max(finite.max(initial=0.0), 0.0)
    # Dividing first: values near the largest number there is must not overflow.
    unit = max(abs(low), abs(high)) or 1.0
    span = (high / unit - low / unit) or 1.0
    zero = left - low / unit / span * (right - left)
    for i, (name, value, text, cls) in enumerate(zip(names, finite, texts, classes, strict=True)):
        y, length = 4 + i * row, abs(value) / unit / span * (right - left)
        start = zero - (length if value < 0 else 0.0)
        _text(svg, room + 4, y + 16, fitted(name, room), f"name {cls}", **{"text-anchor": "end"})
        place = {"x": f"{start:.1f}", "y": f"{y + 4:.1f}", "width": f"{max(length, 1.0):.1f}"}
        tip = f"{readable(name)}: {text}"
        look = {"height": f"{row - 8:g}", "class": f"bar {cls}", "rx": "2", "data-tip": tip}
        ET.SubElement(svg, "rect", place | look)
        _text(svg, start + length + 6, y + 16, text, "tick")
    return _markup(svg)


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: np.ndarray, *, title: str, description: str
) -> str:
    """Numbers between -1 and 1 as coloured cells; written out where there is room.

    Not finite: an empty cell.
    """
    cell = 34.0 if len(columns) <= 14 else 30.0 if len(columns) <= 22 else 18.0
    left = min(max((text_width(readable(n)) for n in rows), default=0.0), 190.0) + 12
    top = 0.72 * min(max((text_width(readable(n)) for n in columns), default=0.0), 190.0) + 20
    beyond = 0.72 * min(text_width(readable(columns[-1])), 190.0)
    width, height = left + cell * len(columns) + beyond, top + cell * len(rows) + 4
    svg = _root(width, height, title, description, **{"data-stride": str(len(columns))})
    for j, name in enumerate(columns):
        x, y = left + (j + 0.5) * cell + 3, top - 8
        _text(svg, x, y, fitted(name, 190.0), transform=f"rotate(-45 {x:.1f} {y:.1f})")
    for i, name in enumerate(rows):
        y = top + (i + 0.5) * cell
        _text(svg, left - 8, y + 4, fitted(name, left - 12), **{"text-anchor": "end"})
        for j, value in enumerate(values[i]):
            spot = (left + j * cell, top + i * cell)
            _cell(
                svg, spot, cell, float(value), f"{readable(name, 60)} × {readable(columns[j], 60)}"
            )
    return _markup(svg)


def _cell(svg, spot: tuple[float, float], size: float, value: float, pair: str) -> None:
    known = math.isfinite(value)
    step = round(5 * min(max(value, -1.0), 1.0)) if known else 0
    said = number(round(value, 3)) if known else "not defined"
    look = {
        "x": f"{spot[0] + 0.5:.1f}", "y": f"{spot[1] + 0.5:.1f}", "width": f"{size - 1:g}",
        "height": f"{size - 1:g}", "class": f"cell h{step + 5}" if known else "cell empty",
        "data-tip": f"{pair}: {said}",
    }  # fmt: skip
    ET.SubElement(svg, "rect", look)
    if size > 20 and known:
        text = f"{abs(value):.2f}".removeprefix("0")
        text = f"−{text}" if value < 0 and text != ".00" else text
        place = (spot[0] + size / 2, spot[1] + size / 2 + 4)
        _text(svg, *place, text, f"figure f{step + 5}", **{"text-anchor": "middle"})
