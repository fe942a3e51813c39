"""The figures of reports: pictures of the displays, drawn as SVG, and the numbers behind them.

Elements are built as a tree and written by the standard library, which escapes every text and
attribute. Colours are classes (``c-found``, ``c-proven``, ...), so that the page's style sheet
sets them for light, dark and print. A mark with a ``data-tip`` shows that text when it is
pointed at or reached by the arrow keys.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count as counter
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from columnist._text import count, number, percent, readable, shortened
from columnist.plotting import _picture as pic
from columnist.plotting._paths import ErrorPathDisplay, SearchProgressDisplay
from columnist.report._blocks import Block, Figure, Legend, Note, Table
from columnist.report._measures import Data, Spectrum, correlations
from columnist.search._certificate import Certificate, tightened
from columnist.selection._path import SelectionPath

_IDS = counter(1)
_FONT, _HEIGHT = 12.0, 340.0
_SHAPES = {
    "square": "M-4,-4h8v8h-8z",
    "triangle": "M0,-5L5,4H-5z",
    "diamond": "M0,-5.5L5.5,0L0,5.5L-5.5,0z",
}
# Widths of the drawings for screens and for telephones.
_WIDTHS = (720.0, 340.0)
# A wider range than this asks for a logarithmic axis.
_WIDE_RANGE = 30.0
_HISTORY_ROWS = 200
# Rows and columns of a heat map.
_MOST_ROWS, _MOST_COLUMNS = 30, 40


def figure(picture: pic.Picture, caption: str = "", table: Table | None = None) -> Figure:
    """A picture, drawn for wide pages and for narrow ones."""
    wide, narrow = (chart(picture, width) for width in _WIDTHS)
    return Figure(picture.title, wide, narrow, caption, legend(picture), table)


def bar_figure(picture: pic.Bars, heading: tuple[str, str], caption: str = "") -> Figure:
    """Bars, and their table; ``heading`` is that of their values."""
    wide, narrow = (bars(picture, width) for width in _WIDTHS)
    signs = zip(("c-found", "c-other"), ("✓ ", ""), picture.labels, strict=False)
    legends = [Legend("square", color, f"{tick}{text}") for color, tick, text in signs]
    cells = list(zip(picture.names, picture.values.tolist(), strict=True))
    table = Table(picture.title, [("Column", "text"), heading], cells)
    return Figure(picture.title, wide, narrow, caption, legends, table)


def cell_figure(picture: pic.Cells, caption: str = "") -> Figure:
    """Filled cells, for wide pages and for narrow ones."""
    wide, narrow = (cell_table(picture, width) for width in _WIDTHS)
    signs = zip(("c-ink", "c-found"), picture.labels, strict=True)
    legends = [Legend("square", color, text) for color, text in signs]
    return Figure(picture.title, wide, narrow, caption, legends)


def path_figure(path: SelectionPath, own: Certificate) -> Figure:
    """Error and lower bound against the number of columns.

    ``own``, the certificate of the chosen size, may prove more than the path had the time for.
    """
    path, chosen = _with_own(path, own), len(own.selection)
    rows = [
        (size, found.error, share, found.lower_bound, found.gap, found.status.replace("_", " "))
        for size, share, found in zip(
            path.sizes.tolist(), path.relative_errors.tolist(),
            (step.certificate for step in path), strict=True,
        )
    ]  # fmt: skip
    kinds = [("Columns", "count"), ("Error", "number"), ("Share of the whole", "percent"),
             ("Lower bound", "number"), ("Gap", "percent"), ("Status", "text")]  # fmt: skip
    marked = frozenset(np.flatnonzero(path.sizes == chosen).tolist())
    table = Table("Error and lower bound for every number of columns", kinds, rows, marked)
    picture = ErrorPathDisplay._of_path(path)._picture(chosen=chosen)
    return figure(picture, "Where the line has become flat, further columns add little.", table)


def _with_own(path: SelectionPath, own: Certificate) -> SelectionPath:
    """The path with the certificate of the chosen size, where that is the better one."""
    steps = [
        step._replace(selection=np.array(own.selection), certificate=own)
        if len(step.selection) == len(own.selection) and own.gap < step.certificate.gap
        else step
        for step in path
    ]
    return replace(path, steps=tightened(steps))


def history_figure(certificate: Certificate) -> Block:
    """Best choice and bound over time; a sentence where there is nothing to draw."""
    history = [h for h in certificate.history if np.isfinite(h["incumbent"])]
    if len(history) < 2:
        why = "the search ended with its first step" if certificate.history else "none was recorded"
        return Note(f"There is no search history to draw: {why}.")
    kinds = [("Seconds", "number"), ("Best error found", "number"), ("Proven bound", "number"),
             ("Expanded", "count"), ("Open", "count")]  # fmt: skip
    every = np.unique(np.linspace(0, len(history) - 1, _HISTORY_ROWS).round().astype(int))
    rows = [
        (h["elapsed"], h["incumbent"], h["bound"], int(h["expanded"]), int(h["open"]))
        for h in (history[i] for i in every)
    ]
    found = SearchProgressDisplay._of_certificate(replace(certificate, history=history))
    caption = "When the two lines meet, the proof is complete."
    return figure(found._picture(), caption, Table("Search history", kinds, rows))


def spectrum_figure(found: Spectrum, chosen: int, most: int = 300) -> Figure:
    """Singular values, and the share of the variation in the later ones."""
    values = found.values[:most]
    positive = values[values > 1e-10 * (values[0] or 1.0)] if len(values) else values
    log = len(positive) > 1 and bool(positive[0] > _WIDE_RANGE * positive[-1])
    left = np.clip(1.0 - np.cumsum(values**2) / (found.energy or 1.0), 0.0, 1.0)
    left = left if found.energy > 0 else 0 * values
    kinds = [
        ("Number", "count"),
        ("Singular value", "number"),
        ("Variation in later ones", "percent"),
    ]
    rows = list(zip(range(1, len(values) + 1), values.tolist(), left.tolist(), strict=True))
    parts = [found.remark] if found.remark else []
    if len(found.values) > most:
        parts.append(f"The first {most} of {len(found.values):,} are shown.")
    if log and len(positive) < len(values):
        parts.append(f"{len(values) - len(positive)} of them are zero, and not drawn.")
    drawn = positive if log else values
    picture = _spectrum_picture(drawn, left, chosen if chosen < len(values) else 0, log)
    return figure(picture, " ".join(parts), Table("Singular values", kinds, rows))


def _spectrum_picture(values: np.ndarray, left: np.ndarray, chosen: int, log: bool) -> pic.Picture:
    places = np.arange(1, len(values) + 1)
    marks: list[pic.Mark] = [pic.Line(places, values, key="line", color="other")]
    if chosen > 0:
        words = f"as many as selected: {chosen}"
        marks.append(pic.Rule("x", chosen + 0.5, key="chosen", color="ink", label=words))
    ends = f"{number(values[0])} down to {number(values[-1])}" if len(values) else "none"

    def tip(i: int) -> str:
        beyond = f"{percent(left[i])} of the variation is in later ones"
        return f"value {i + 1}: {number(values[i])}\n{beyond}"

    inside, small = places <= (chosen or len(values)), len(values) > 80
    marks.append(pic.Points(places, values, filled=inside, tip=tip, small=small, key="values"))
    return pic.Picture(
        pic.Axis(0.5, len(values) + 0.5, "number of the singular value", whole=True),
        pic.Axis.around(values, "singular value", log=log, zero=not log),
        marks, "Singular values of the data", f"{len(values)} values: {ends}.",
    )  # fmt: skip


def correlation_figure(data: Data, rows, columns, *, title: str, what: str) -> list[Block]:
    """Heat map of the correlations of some columns with others, the first of each only."""
    rows, columns = np.asarray(rows), np.asarray(columns)
    shown_rows, shown_columns = rows[:_MOST_ROWS], columns[:_MOST_COLUMNS]
    part, remark = data.sampled(len(shown_rows) + len(shown_columns))
    values = correlations(part, shown_rows, shown_columns)
    row_names = [data.names[i] for i in shown_rows]
    column_names = [data.names[j] for j in shown_columns]
    size = f"{len(row_names)} by {len(column_names)}"
    picture = heat_map(row_names, column_names, values, title=title,
                       description=f"{size} correlations between -1 and 1.")  # fmt: skip
    kinds = [("", "text")] + [(name, "decimal") for name in column_names]
    cells = [
        (name, *(None if np.isnan(v) else float(v) for v in line))
        for name, line in zip(row_names, values, strict=True)
    ]
    caption = f"{what} Blue: they rise together; orange: one falls as the other rises."
    if np.isnan(values).any():
        caption += " Dashed: a constant column has no correlation."
    caption += f" {remark}" if remark else ""
    table = Table(title, kinds, cells, sortable=False)
    blocks: list[Block] = [Figure(title, picture, caption=caption, table=table)]
    cut = len(rows) - len(shown_rows), len(columns) - len(shown_columns)
    if any(cut):
        cells_cut = f"{count(cut[0], 'row')} and {count(cut[1], 'column')} of the full grid"
        blocks.append(Note(f"To stay readable, the picture leaves out {cells_cut}."))
    return blocks


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


def _root(width: float, height: float, title: str, description: str, **attributes) -> ET.Element:
    """An SVG with a name and a description for screen readers."""
    key = next(_IDS)
    svg = ET.Element("svg", {
        "viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}",
        "role": "img", "aria-labelledby": f"t{key} d{key}", "tabindex": "0", "class": "chart",
    } | attributes)  # fmt: skip
    ET.SubElement(svg, "title", {"id": f"t{key}"}).text = readable(title)
    ET.SubElement(svg, "desc", {"id": f"d{key}"}).text = readable(description, 2000)
    return svg


def _text(parent, x, y, text: str, cls: str = "tick", **attributes) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": cls}
    ET.SubElement(parent, "text", place | attributes).text = text


def chart(picture: pic.Picture, width: float = 720.0) -> str:
    """A picture with two axes."""
    plot = _Plot(picture, width)
    for kind, draw in _DRAW.items():
        for mark in picture.marks:
            if isinstance(mark, kind):
                draw(plot, mark)
    if picture.names is not None:
        plot.write_names(picture.names)
    return ET.tostring(plot.root, encoding="unicode")


def legend(picture: pic.Picture) -> list[Legend]:
    """What the marks with a label mean."""
    return [entry for mark in picture.marks for entry in _entries(mark)]


def _entries(mark) -> Iterator[Legend]:
    color = f"c-{mark.color}"
    if isinstance(mark, pic.Points):
        if mark.label:
            opened = "open-" if mark.filled is False else ""
            yield Legend(f"{opened}{mark.shape}", color, mark.label)
        if mark.open_label:
            yield Legend(f"open-{mark.shape}", color, mark.open_label)
    elif mark.label and isinstance(mark, pic.Band | pic.Below):
        yield Legend("band", "c-open" if isinstance(mark, pic.Below) else color, mark.label)
    elif mark.label:
        yield Legend("dashed" if mark.dashed else "line", color, mark.label)


class _Plot:
    """The axes of a chart, and what is drawn between them."""

    def __init__(self, picture: pic.Picture, width: float):
        self.x, self.y = picture.x, picture.y
        self.width, self.height = width, _HEIGHT
        self.root = _root(width, _HEIGHT, picture.title, picture.description)
        ticks = [(v, self.y.tick_text(v)) for v in self.y.ticks(6)]
        widest = max((text_width(text) for _, text in ticks), default=0.0)
        self.left, self.right = min(max(34.0, widest + 12), 110.0), width - 14.0
        self.top, self.bottom = 30.0, self.height - 44.0
        self._draw_axes(ticks)

    def _draw_axes(self, y_ticks: list[tuple[float, str]]) -> None:
        frame = ET.SubElement(self.root, "g", {"class": "axes", "aria-hidden": "true"})
        for value, text in y_ticks:
            y = self.place_y(value)
            _stroke(frame, self.left, y, self.right, y, "grid")
            _text(frame, self.left - 8, y + 4, text, **{"text-anchor": "end"})
        room = 64 if self.width > 500 else 52
        for value in self.x.ticks(max(2, int((self.right - self.left) / room))):
            x = self.place_x(value)
            _stroke(frame, x, self.bottom, x, self.bottom + 5, "stub")
            _text(frame, x, self.bottom + 19, self.x.tick_text(value), **{"text-anchor": "middle"})
        _stroke(frame, self.left, self.bottom, self.right, self.bottom, "base")
        x_label, y_label = (
            fitted(axis.label + (", logarithmic" if axis.log else ""), self.width - 20)
            for axis in (self.x, self.y)
        )
        _text(frame, self.right, self.height - 6, x_label, "label", **{"text-anchor": "end"})
        _text(frame, 2, 13, y_label, "label")

    def place_x(self, value: float) -> float:
        """Pixel of a value on the horizontal axis."""
        return self.left + min(max(self.x.share(value), -0.02), 1.02) * (self.right - self.left)

    def place_y(self, value: float) -> float:
        """Pixel of a value on the vertical axis."""
        return self.bottom - min(max(self.y.share(value), -0.02), 1.02) * (self.bottom - self.top)

    def spots(self, xs, ys) -> list[tuple[float, float]]:
        """Pixels of the points that have two finite numbers."""
        pairs = np.column_stack([np.asarray(xs, float), np.asarray(ys, float)])
        pairs = pairs[np.isfinite(pairs).all(axis=1)]
        return [(self.place_x(x), self.place_y(y)) for x, y in pairs.tolist()]

    def path(self, spots: list[tuple[float, float]], cls: str, end: str = "") -> None:
        """A line through pixels."""
        corners = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in spots) + end
        ET.SubElement(self.root, "path", {"d": corners, "class": cls})

    def line(self, mark: pic.Line) -> None:
        """A line through points, or steps."""
        spots = self.spots(mark.x, mark.y)
        spots = _steps(spots) if mark.step else spots
        if len(spots) > 1:
            self.path(spots, f"line c-{mark.color}{' dashed' if mark.dashed else ''}")

    def band(self, mark: pic.Band) -> None:
        """The area between two lines."""
        finite = np.isfinite(np.asarray(mark.low, float) + np.asarray(mark.high, float))
        xs, low, high = (np.asarray(v, float)[finite] for v in (mark.x, mark.low, mark.high))
        upper, lower = self.spots(xs, high), self.spots(xs, low)
        spots = _steps(upper) + _steps(lower)[::-1] if mark.step else upper + lower[::-1]
        if len(spots) > 2:
            self.path(spots, f"band c-{mark.color}", "z")

    def points(self, mark: pic.Points) -> None:
        """One mark per point, with its tooltip, if any."""
        looks = {"faint": mark.faint, "hits": mark.hidden, "rings": mark.shape == "ring"}
        classes = " ".join(["points", f"c-{mark.color}", *(k for k, on in looks.items() if on)])
        group = ET.SubElement(self.root, "g", {"class": classes})
        radius = 8.0 if mark.shape == "ring" else 6.0 if mark.hidden else 2.5 if mark.small else 4.5
        filled = np.broadcast_to(mark.filled, np.shape(mark.x))
        for i, (x, y) in enumerate(zip(mark.x, mark.y, strict=True)):
            if not (np.isfinite(x) and np.isfinite(y)):
                continue
            left, top = f"{self.place_x(x):.1f}", f"{self.place_y(y):.1f}"
            look = {} if mark.tip is None else {"data-tip": mark.tip(i)}
            look |= {} if filled[i] else {"class": "open-mark"}
            if mark.shape in _SHAPES:
                place = {"d": _SHAPES[mark.shape], "transform": f"translate({left},{top})"}
                ET.SubElement(group, "path", place | look)
            else:
                ET.SubElement(group, "circle", {"cx": left, "cy": top, "r": f"{radius:g}"} | look)

    def rule(self, mark: pic.Rule) -> None:
        """A straight line across the picture."""
        ends = (self.left, self.place_y(mark.value), self.right, self.place_y(mark.value))
        if mark.axis == "x":
            ends = (self.place_x(mark.value), self.top, self.place_x(mark.value), self.bottom)
        _stroke(self.root, *ends, f"line thin c-{mark.color}{' dashed' if mark.dashed else ''}")

    def below(self, mark: pic.Below) -> None:
        """The area under a value."""
        y = self.place_y(mark.value)
        size = (f"{self.right - self.left:.1f}", f"{self.bottom - y:.1f}")
        _rect(self.root, self.left, y, *size, "band c-open")

    def write_names(self, names: pic.Names) -> None:
        """Names beside points, where they cover nothing; others are left out."""
        spots = self.spots(names.x, names.y) + self.spots(*names.around)
        taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in spots]
        if names.above is not None:
            taken.append((self.left, self.place_y(names.above) - 2, self.right, self.bottom))
        for x, y, name in zip(names.x, names.y, names.names, strict=True):
            left, top, text = self.place_x(x), self.place_y(y), fitted(name, 150.0)
            width = text_width(text)
            for dx, dy in ((9, 4), (-9 - width, 4), (9, -9), (9, 17), (-9 - width, -9)):
                box = (left + dx, top + dy - 11, left + dx + width, top + dy + 3)
                inside = self.left <= box[0] and box[2] <= self.width and box[1] >= self.top - 8
                if inside and not any(_overlap(box, other) for other in taken):
                    taken.append((box[0] - 4, box[1], box[2] + 4, box[3]))
                    _text(self.root, box[0], top + dy, text, "note")
                    break


# What is drawn first lies below the rest.
_DRAW: dict[type[pic.Mark], Any] = {
    pic.Below: _Plot.below, pic.Band: _Plot.band, pic.Rule: _Plot.rule, pic.Line: _Plot.line,
    pic.Points: _Plot.points,
}  # fmt: skip


def _stroke(parent, x1, y1, x2, y2, cls: str) -> None:
    ends = zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
    ET.SubElement(parent, "line", {k: f"{v:.1f}" for k, v in ends} | {"class": cls})


def _rect(parent, x, y, width: str, height: str, cls: str, **attributes) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": width, "height": height, "class": cls}
    ET.SubElement(parent, "rect", place | attributes)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _steps(spots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of a line that holds each height until the next spot."""
    return spots[:1] + [corner for a, b in pairwise(spots) for corner in ((b[0], a[1]), b)]


def bars(picture: pic.Bars, width: float = 720.0) -> str:
    """Bars, negative ones to the left; one that is not finite has its text only."""
    row, finite = 24.0, np.where(np.isfinite(picture.values), picture.values, 0.0)
    ticked = [f"✓ {n}" if m and picture.labels else n
              for n, m in zip(picture.names, picture.marked, strict=True)]  # fmt: skip
    texts = [readable(text) if text else "" for text in picture.texts]
    svg = _root(width, row * len(ticked) + 8, picture.title, picture.description)
    room = min(max((text_width(readable(n)) for n in ticked), default=0.0), 0.36 * width)
    left, right = room + 12, width - max((text_width(t) for t in texts), default=0.0) - 12
    low, high = min(finite.min(initial=0.0), 0.0), max(finite.max(initial=0.0), 0.0)
    # Dividing first: values near the largest number there is must not overflow.
    unit = max(abs(low), abs(high)) or 1.0
    scale = (right - left) / ((high / unit - low / unit) or 1.0)
    zero = left - low / unit * scale
    for i, (name, value, text, marked) in enumerate(
        zip(ticked, finite, texts, picture.marked, strict=True)
    ):
        cls = ("c-found kept" if picture.labels else "c-found") if marked else "c-other"
        y, length = 4 + i * row, abs(value) / unit * scale
        start = zero - (length if value < 0 else 0.0)
        _text(svg, room + 4, y + 16, fitted(name, room), f"name {cls}", **{"text-anchor": "end"})
        size, tip = (f"{max(length, 1.0):.1f}", f"{row - 8:g}"), f"{readable(name)}: {text}"
        _rect(svg, start, y + 4, *size, f"bar {cls}", **{"rx": "2", "data-tip": tip})
        _text(svg, start + length + 6, y + 16, text, "tick")
    return ET.tostring(svg, encoding="unicode")


def cell_table(picture: pic.Cells, width: float = 720.0) -> str:
    """Rows of filled and empty cells under slanted names of their columns."""
    left = min(max(text_width(readable(n)) for n in picture.rows), 0.36 * width) + 12
    n_rows, n_columns = picture.filled.shape
    cell = min(max((width - left - 40.0) / n_columns, 4.0), 22.0)
    top = 0.72 * max(text_width(readable(n)) for n in picture.columns) + 20
    row = max(cell, 16.0)
    # Not narrower than the page, or the browser enlarges it.
    size = max(left + cell * n_columns + 40.0, width), top + row * n_rows + 4
    stride = {"data-stride": str(n_columns)}
    svg = _root(size[0], size[1], picture.title, picture.description, **stride)
    every = max(1, math.ceil(14.0 / cell))  # names need room
    for j in range(0, n_columns, every):
        x, y = left + (j + 0.5) * cell + 3, top - 8
        turn = f"rotate(-45 {x:.1f} {y:.1f})"
        _text(svg, x, y, readable(picture.columns[j]), transform=turn)
    for i, name in enumerate(picture.rows):
        y, cls = top + i * row, "c-ink" if picture.strong[i] else "c-found"
        _text(svg, left - 8, y + row / 2 + 4, fitted(name, left - 12), **{"text-anchor": "end"})
        for j in range(n_columns):
            filled = bool(picture.filled[i, j])
            word = "contained" if filled else "not contained"
            tip = f"{readable(name, 60)}, {readable(picture.columns[j])}: {word}"
            _rect(
                svg, left + j * cell + 0.5, y + 0.5, f"{cell - 1:g}", f"{row - 1:g}",
                f"bar {cls}" if filled else "cell empty", **{"data-tip": tip},
            )  # fmt: skip
    return ET.tostring(svg, encoding="unicode")


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: np.ndarray, *, title: str, description: str
) -> str:
    """Numbers between -1 and 1 as coloured cells, written out where there is room."""
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
            pair = f"{readable(name, 60)} × {readable(columns[j], 60)}"
            _cell(svg, (left + j * cell, top + i * cell), cell, float(value), pair)
    return ET.tostring(svg, encoding="unicode")


def _cell(svg, spot: tuple[float, float], size: float, value: float, pair: str) -> None:
    known = math.isfinite(value)
    step = round(5 * min(max(value, -1.0), 1.0)) if known else 0
    said = number(round(value, 3)) if known else "not defined"
    cls, side = f"cell h{step + 5}" if known else "cell empty", f"{size - 1:g}"
    tip = {"data-tip": f"{pair}: {said}"}
    _rect(svg, spot[0] + 0.5, spot[1] + 0.5, side, side, cls, **tip)
    if size > 20 and known:
        text = f"{abs(value):.2f}".removeprefix("0")
        text = f"−{text}" if value < 0 and text != ".00" else text
        place = (spot[0] + size / 2, spot[1] + size / 2 + 4)
        _text(svg, *place, text, f"figure f{step + 5}", **{"text-anchor": "middle"})
