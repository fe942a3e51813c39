"""Curves that a figure shows: our own, where the print has no numbers to compare them with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from columnist.plotting import _picture as pic
from columnist.report._blocks import Figure, Table
from columnist.report._figures import figure

__all__ = ["Panel", "panel_figure"]

COLORS = ("found", "proven", "open", "other", "ink", "warn")


@dataclass(frozen=True)
class Panel:
    """One panel of a figure.

    Attributes
    ----------
    title : str
        What it shows.
    x, y : str
        Labels of the axes.
    lines : mapping
        Abscissae and ordinates by the name of a curve.
    log : str
        The axes that are logarithmic if their values allow: ``""``, ``"x"``, ``"y"``, ``"xy"``.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]]
    log: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The panel as plain numbers and text."""
        lines = {
            name: [np.asarray(part, dtype=np.float64).tolist() for part in xy]
            for name, xy in self.lines.items()
        }
        return {**asdict(self), "lines": lines}


def panel_figure(panel: Panel) -> Figure:
    """The panel as a drawing for pages, with its numbers."""
    lines = [(name, np.asarray(x), np.asarray(y)) for name, (x, y) in panel.lines.items()]
    marks = [
        pic.Line(x, y, key=name, label=name, color=COLORS[i % len(COLORS)], dashed=i >= len(COLORS))
        for i, (name, x, y) in enumerate(lines)
    ]
    axes = [
        pic.Axis.around(np.concatenate(values), label, log=which in panel.log)
        for which, label, values in (
            ("x", panel.x, [x for _, x, _ in lines]),
            ("y", panel.y, [y for _, _, y in lines]),
        )
    ]
    whole = all(float(value).is_integer() for _, x, _ in lines for value in x)
    axes[0] = replace(axes[0], whole=whole)
    rows = [[name, x, y] for name, xs, ys in lines for x, y in zip(xs, ys, strict=True)]
    numbers = Table(
        panel.title,
        [("Curve", "text"), (panel.x, "number"), (panel.y, "number")],
        [[name, float(x), float(y)] for name, x, y in rows],
    )
    words = f"{panel.title}: {panel.y} by {panel.x}, one curve each for {', '.join(panel.lines)}."
    return figure(pic.Picture(axes[0], axes[1], marks, panel.title, words), table=numbers)
