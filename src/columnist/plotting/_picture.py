"""Descriptions of pictures: axes, series, marks, texts and the roles of colours.

A display describes its picture here, once. :mod:`columnist.plotting._draw` draws it with
Matplotlib, :mod:`columnist.report._figures` as SVG; this module needs neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from columnist._text import number
from columnist.search._words import CRITERIA

# The roles of colours. Most are from Okabe and Ito's palette: distinguished under every common
# colour blindness, and in grey. "warn" is a darker "open", for small marks.
COLORS = {
    "found": "#0072B2", "proven": "#D55E00", "open": "#E69F00", "warn": "#A56A00",
    "other": "#5F6670", "ink": "#404040",
}  # fmt: skip
FOUND, PROVEN, OPEN = COLORS["found"], COLORS["proven"], COLORS["open"]
# A logarithmic axis shorter than this many powers of ten is labelled at 2 and 5 as well.
_SHORT = 2.2


@dataclass(frozen=True)
class Axis:
    """Range of one axis; ``whole`` asks for labels at whole numbers only."""

    low: float
    high: float
    label: str
    log: bool = False
    whole: bool = False

    @classmethod
    def around(cls, values, label: str, *, log: bool = False, zero: bool = False) -> Axis:
        """An axis that holds the finite values with some air; logarithmic if all are positive."""
        values = np.asarray(values, dtype=np.float64).ravel()
        values = values[np.isfinite(values)]
        log = log and len(values) > 0 and values.min() > 0.0
        if not len(values):
            return cls(0.0, 1.0, label)
        low, high = float(values.min()), float(values.max())
        if log:
            air = max((high / low) ** 0.05, 1.02)
            return cls(low / air, high * air, label, log=True)
        low = min(low, 0.0) if zero else low
        air = 0.05 * (high - low) or abs(high) * 0.1 or 1.0
        return cls(low if zero and low == 0.0 else low - air, high + air, label)

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
        return number(round(value, 12) if abs(value) < 1e3 else value)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One element of a picture: ``key`` names it, ``color`` is a role, ``label`` its legend."""

    key: str
    color: str = "found"
    label: str = ""


@dataclass(frozen=True)
class Line(Mark):
    """A line through points; ``step`` holds each value until the next."""

    x: np.ndarray
    y: np.ndarray
    dashed: bool = False
    step: bool = False


@dataclass(frozen=True)
class Band(Mark):
    """The area between two lines, or two flights of steps."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    step: bool = False


@dataclass(frozen=True)
class Points(Mark):
    """One mark per point; ``tip(i)`` is the tooltip of point i."""

    x: np.ndarray
    y: np.ndarray
    shape: str = "dot"  # "square", "triangle", "diamond", or "ring" (around other marks)
    filled: np.ndarray | bool = True
    open_label: str = ""  # legend of those not filled
    tip: Callable[[int], str] | None = None
    scattered: bool = False  # they represent themselves, and do not mark places of a line
    small: bool = False
    faint: bool = False
    hidden: bool = False  # only there to be pointed at


@dataclass(frozen=True)
class Rule(Mark):
    """A straight line across the picture at a value of the axis ``"x"`` or ``"y"``."""

    axis: str
    value: float
    dashed: bool = True


@dataclass(frozen=True)
class Below(Mark):
    """The area under a value."""

    value: float


@dataclass(frozen=True)
class Names:
    """Names beside points; they cover no name and no point, nor one ``around``.

    ``must_fit`` leaves out a name that has no room; ``above`` is a level that names stay above.
    """

    x: np.ndarray
    y: np.ndarray
    names: Sequence[str]
    around: tuple[np.ndarray, np.ndarray] = (np.empty(0), np.empty(0))
    above: float | None = None
    must_fit: bool = False


@dataclass(frozen=True)
class Picture:
    """Two axes and marks, in the order of the legend; areas lie below lines, lines below points.

    ``description`` is for screen readers.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    description: str = ""
    names: Names | None = None


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, the first on top; ``texts`` stand at their ends, ``marked`` ones stand out.

    ``labels`` are the legends of marked and other bars.
    """

    names: Sequence[str]
    values: np.ndarray
    texts: Sequence[str]
    title: str
    marked: np.ndarray
    description: str = ""
    label: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """A table of filled and empty cells; those of ``strong`` rows stand out.

    ``label`` says what the columns are, ``labels`` are the legends of strong and other rows.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    filled: np.ndarray
    strong: np.ndarray
    title: str
    description: str = ""
    label: str = ""
    labels: tuple[str, str] = ("", "")


def unit_of(
    total: float | None, relative: bool, criterion: str, target: str = "X"
) -> tuple[float, str]:
    """What errors are multiplied by to be drawn, and the label of their axis."""
    norm = CRITERIA.get(criterion, criterion)
    if relative and total:
        return 100.0 / total, f"error (% of the {norm or 'error'} of {target})"
    return 1.0, f"error ({norm})" if norm else "error"
