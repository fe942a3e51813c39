"""The figures of reports: pictures of the displays, drawn as SVG, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from columnist._text import count, number, percent
from columnist.plotting._error_path import ErrorPathDisplay
from columnist.plotting._picture import Axis, Bars, Line, Mark, Picture, Points, Rule
from columnist.plotting._search_progress import SearchProgressDisplay
from columnist.report._blocks import Block, Figure, Legend, Note, Table
from columnist.report._charts import bars, chart, heat_map, legend
from columnist.report._measures import Data, Spectrum, correlations
from columnist.search._certificate import Certificate, tightened
from columnist.selection._path import SelectionPath

__all__ = [
    "bar_figure", "correlation_figure", "figure", "history_figure", "path_figure",
    "spectrum_figure",
]  # fmt: skip

# Widths of the drawings for screens and for telephones.
_WIDTHS = (720.0, 340.0)
# A wider range than this asks for a logarithmic axis.
_WIDE_RANGE = 30.0
_HISTORY_ROWS = 200
# Rows and columns of a heat map.
_MOST_ROWS, _MOST_COLUMNS = 30, 40


def figure(picture: Picture, caption: str = "", table: Table | None = None) -> Figure:
    """A picture, drawn for wide pages and for narrow ones."""
    wide, narrow = (chart(picture, width) for width in _WIDTHS)
    return Figure(picture.title, wide, narrow, caption, legend(picture), table)


def bar_figure(picture: Bars, heading: tuple[str, str], caption: str = "") -> Figure:
    """Bars, and their table; ``heading`` is that of their values."""
    wide, narrow = (bars(picture, width) for width in _WIDTHS)
    signs = zip(("c-found", "c-other"), ("✓ ", ""), picture.labels, strict=False)
    legends = [Legend("square", color, f"{tick}{text}") for color, tick, text in signs]
    cells = list(zip(picture.names, picture.values.tolist(), strict=True))
    table = Table(picture.title, [("Column", "text"), heading], cells)
    return Figure(picture.title, wide, narrow, caption, legends, table)


def path_figure(path: SelectionPath, own: Certificate) -> Figure:
    """Error against the number of columns, with what is proven to be possible.

    Parameters
    ----------
    path : SelectionPath
        A selection for every size.
    own : Certificate
        That of the chosen size: it may prove more than the path had the time for.
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
        why = "it ended with its first step" if certificate.history else "none was recorded"
        return Note(f"There is no course of the search to draw: {why}.")
    kinds = [("Seconds", "number"), ("Best error found", "number"), ("Proven bound", "number"),
             ("Expanded", "count"), ("Open", "count")]  # fmt: skip
    every = np.unique(np.linspace(0, len(history) - 1, _HISTORY_ROWS).round().astype(int))
    rows = [
        (h["elapsed"], h["incumbent"], h["bound"], int(h["expanded"]), int(h["open"]))
        for h in (history[i] for i in every)
    ]
    found = SearchProgressDisplay._of_certificate(replace(certificate, history=history))
    caption = "When the two lines meet, the proof is complete."
    return figure(found._picture(), caption, Table("Course of the search", kinds, rows))


def spectrum_figure(found: Spectrum, chosen: int, most: int = 300) -> Figure:
    """Singular values, and what the leading ones leave."""
    values = found.values[:most]
    positive = values[values > 1e-10 * (values[0] or 1.0)] if len(values) else values
    log = len(positive) > 1 and bool(positive[0] > _WIDE_RANGE * positive[-1])
    left = np.clip(1.0 - np.cumsum(values**2) / (found.energy or 1.0), 0.0, 1.0)
    left = left if found.energy > 0 else 0 * values
    kinds = [("Number", "count"), ("Singular value", "number"), ("Variation beyond it", "percent")]
    rows = list(zip(range(1, len(values) + 1), values.tolist(), left.tolist(), strict=True))
    parts = [found.remark] if found.remark else []
    if len(found.values) > most:
        parts.append(f"The first {most} of {len(found.values):,} are shown.")
    if log and len(positive) < len(values):
        parts.append(f"{len(values) - len(positive)} of them are zero, and not drawn.")
    drawn = positive if log else values
    picture = _spectrum_picture(drawn, left, chosen if chosen < len(values) else 0, log)
    return figure(picture, " ".join(parts), Table("Singular values", kinds, rows))


def _spectrum_picture(values: np.ndarray, left: np.ndarray, chosen: int, log: bool) -> Picture:
    places = np.arange(1, len(values) + 1)
    marks: list[Mark] = [Line(places, values, key="line", color="other")]
    if chosen > 0:
        words = f"as many as selected: {chosen}"
        marks.append(Rule("x", chosen + 0.5, key="chosen", color="ink", label=words))
    ends = f"{number(values[0])} down to {number(values[-1])}" if len(values) else "none"

    def tip(i: int) -> str:
        beyond = f"{percent(left[i])} of the variation is beyond it"
        return f"value {i + 1}: {number(values[i])}\n{beyond}"

    inside, small = places <= (chosen or len(values)), len(values) > 80
    marks.append(Points(places, values, filled=inside, tip=tip, small=small, key="values"))
    return Picture(
        Axis(0.5, len(values) + 0.5, "number of the singular value", whole=True),
        Axis.around(values, "singular value", log=log, zero=not log),
        marks, "Singular values of the data", f"{len(values)} values: {ends}.",
    )  # fmt: skip


def correlation_figure(
    data: Data, rows, columns, names: Sequence[str], *, title: str, what: str
) -> list[Block]:
    """Heat map of the correlations of some columns with others, the first of each only."""
    rows, columns = np.asarray(rows), np.asarray(columns)
    shown_rows, shown_columns = rows[:_MOST_ROWS], columns[:_MOST_COLUMNS]
    part, remark = data.sampled(len(shown_rows) + len(shown_columns))
    values = correlations(part, shown_rows, shown_columns)
    row_names = [names[i] for i in shown_rows]
    column_names = [names[j] for j in shown_columns]
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
        left_out = f"{count(cut[0], 'row')} and {count(cut[1], 'column')}"
        blocks.append(
            Note(f"To stay readable, the picture leaves out {left_out} of the full grid.")
        )
    return blocks
