"""The figures that reports share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from columnist._text import count, number, percent
from columnist.report._blocks import Block, Figure, Legend, Note, Table
from columnist.report._charts import Axis, Plot, heat_map
from columnist.report._measures import Data, Spectrum, correlations
from columnist.search._certificate import Certificate
from columnist.search._path import tightened
from columnist.selection._path import SelectionPath

__all__ = [
    "WIDTHS", "correlation_figure", "drawn_twice", "history_figure", "path_figure",
    "spectrum_figure",
]  # fmt: skip

# Widths of the drawings for screens and for telephones.
WIDTHS = (720.0, 340.0)
# A wider range than this asks for a logarithmic axis.
_WIDE_RANGE = 30.0
# Moments of a history that can be pointed at; its line has them all.
_MOMENTS = 40
_HISTORY_ROWS = 200
# Rows and columns of a heat map.
_MOST_ROWS, _MOST_COLUMNS = 30, 40


def drawn_twice(draw: Callable[[float], str]) -> dict[str, Any]:
    """A drawing for wide pages and one for narrow ones."""
    return {"wide": draw(WIDTHS[0]), "narrow": draw(WIDTHS[1])}


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
    sizes, total = path.sizes, path.total if path.total > 0 else 1.0
    errors, bounds = 100 * path.errors / total, 100 * np.maximum(path.lower_bounds, 0.0) / total
    proven = np.array([step.certificate.is_optimal for step in path])
    tips = [
        f"{count(int(k), 'column')}\n{percent(e / 100)} left unexplained\n"
        + ("proven best" if p else f"no set leaves less than {percent(b / 100)}")
        for k, e, b, p in zip(sizes, errors, bounds, proven, strict=True)
    ]

    def draw(width: float) -> str:
        plot = Plot(
            Axis(sizes.min() - 0.4, sizes.max() + 0.4, "number of columns kept", whole=True),
            Axis.around(np.append(errors, bounds), "error, % of the whole", zero=True),
            title="Error against the number of columns",
            description=f"The error falls from {percent(errors[0] / 100)} with "
            f"{count(int(sizes[0]), 'column')} to {percent(errors[-1] / 100)} with {sizes[-1]}.",
            width=width,
        )  # fmt: skip
        if chosen in sizes:
            plot.upright(chosen, "c-ink dashed thin", f"chosen: {chosen}")
        plot.band(sizes, bounds, errors, "c-open")
        plot.line(sizes, bounds, "c-proven dashed")
        plot.line(sizes, errors, "c-found")
        for shape, here in (("dot", proven), ("diamond", ~proven)):
            cls = "c-found" if shape == "dot" else "c-found open-mark"
            picked = [t for t, p in zip(tips, here, strict=True) if p]
            plot.points(sizes[here], errors[here], cls, picked, shape=shape)
        return plot.svg()

    legend = [
        Legend("dot", "c-found", "error, proven best"),
        Legend("dashed", "c-proven", "proven limit: no set leaves less"),
    ]
    if not proven.all():
        legend.insert(1, Legend("open-diamond", "c-found", "error, not proven best"))
        legend.append(Legend("band", "c-open", "between the two the best set is still open"))
    caption = "Where the line has become flat, further columns add little."
    return Figure("Error against the number of columns", **drawn_twice(draw), caption=caption,
                  legend=legend, table=_path_table(path, chosen))  # fmt: skip


def _path_table(path: SelectionPath, chosen: int) -> Table:
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
    return Table("Error and proven limit for every number of columns", kinds, rows, marked)


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
        return Note(
            "There is no course of the search to draw: it ended with its first step."
            if certificate.history
            else "There is no course of the search to draw: none was recorded."
        )
    column = {name: np.array([h[name] for h in history], dtype=float) for name in history[0]}
    time, best, bound = column["elapsed"], column["incumbent"], column["bound"]
    bound = np.where(np.isfinite(bound), bound, np.nan)
    given = certificate.error if certificate.better is not None else None
    shown = np.unique(np.linspace(0, len(time) - 1, _MOMENTS).round().astype(int))
    tips = [
        f"after {number(time[i], 3)} s\nbest choice {number(best[i], 5)}\n"
        f"proven limit {number(bound[i], 5)}\n{int(column['expanded'][i]):,} steps"
        for i in shown
    ]

    def draw(width: float) -> str:
        span = Axis.around(time, "seconds", zero=True)
        levels = np.concatenate([best, bound, [] if given is None else [given]])
        plot = Plot(
            span, Axis.around(levels, "error"), title="Course of the search",
            description=f"The error of the best choice falls to {number(best[-1], 5)}, the proven "
            f"limit rises to {number(bound[-1], 5)}.", width=width, height=300,
        )  # fmt: skip
        plot.band(time, bound, best, "c-open", step=True)
        plot.line(time, bound, "c-proven dashed", step=True)
        plot.line(time, best, "c-found", step=True)
        if given is not None:
            plot.level(given, "c-ink thin", "the set handed in")
        plot.points(time[shown], best[shown], "c-found hits", tips, radius=6)
        return plot.svg()

    legend = [Legend("line", "c-found", "best choice so far"),
              Legend("dashed", "c-proven", "proven limit"),
              Legend("band", "c-open", "gap")]  # fmt: skip
    caption = "When the two lines meet, the proof is complete."
    return Figure("Best choice and proven limit over time", **drawn_twice(draw), caption=caption,
                  legend=legend, table=_history_table(history))  # fmt: skip


def _history_table(history: Sequence[Mapping[str, float]]) -> Table:
    kinds = [("Seconds", "number"), ("Best choice", "number"), ("Proven limit", "number"),
             ("Expanded", "count"), ("Open", "count")]  # fmt: skip
    every = np.unique(np.linspace(0, len(history) - 1, _HISTORY_ROWS).round().astype(int))
    rows = [
        (h["elapsed"], h["incumbent"], h["bound"], int(h["expanded"]), int(h["open"]))
        for h in (history[i] for i in every)
    ]
    return Table("Course of the search", kinds, rows)


def spectrum_figure(found: Spectrum, chosen: int, most: int = 300) -> Figure:
    """Singular values, and what the leading ones leave."""
    values = found.values[:most]
    places = np.arange(1, len(values) + 1)
    energy = found.energy or 1.0
    left = (
        np.clip(1.0 - np.cumsum(values**2) / energy, 0.0, 1.0) if found.energy > 0 else 0 * values
    )
    tips = [
        f"value {i}: {number(v)}\n{percent(r)} of the variation is beyond it"
        for i, v, r in zip(places, values, left, strict=True)
    ]
    positive = values[values > 1e-10 * (values[0] or 1.0)] if len(values) else values
    log = len(positive) > 1 and positive[0] > _WIDE_RANGE * positive[-1]

    def draw(width: float) -> str:
        plot = Plot(
            Axis(0.5, len(values) + 0.5, "number of the singular value", whole=True),
            Axis.around(positive if log else values, "singular value", log=bool(log), zero=not log),
            title="Singular values of the data", width=width, height=300,
            description=f"{len(values)} values from {number(values[0])} down to "
            f"{number(values[-1])}.",
        )  # fmt: skip
        if 0 < chosen < len(values):
            plot.upright(chosen + 0.5, "c-ink dashed thin", f"as many as kept: {chosen}")
        drawn = len(positive) if log else len(values)
        plot.line(places[:drawn], values[:drawn], "c-other")
        before = places[:drawn] <= chosen
        for cls, here in (("c-found", before), ("c-other", ~before)):
            told = [t for t, h in zip(tips[:drawn], here, strict=True) if h]
            plot.points(places[:drawn][here], values[:drawn][here], cls, told,
                        radius=4 if drawn <= 80 else 2.5)  # fmt: skip
        return plot.svg()

    kinds = [("Number", "count"), ("Singular value", "number"), ("Variation beyond it", "percent")]
    rows = [(int(i), float(v), float(r)) for i, v, r in zip(places, values, left, strict=True)]
    parts = [found.remark]
    if len(found.values) > most:
        parts.append(f"The first {most} of {len(found.values):,} are shown.")
    if log and len(positive) < len(values):
        parts.append(f"{len(values) - len(positive)} of them are zero, and not drawn.")
    caption = " ".join(p for p in parts if p)
    table = Table("Singular values", kinds, rows)
    return Figure("Singular values of the data", **drawn_twice(draw), caption=caption, table=table)


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
    picture = heat_map(
        row_names, column_names, values, title=title,
        description=f"{len(row_names)} by {len(column_names)} correlations between -1 and 1.",
    )  # fmt: skip
    kinds = [("", "text")] + [(name, "decimal") for name in column_names]
    cells = [
        (name, *(None if np.isnan(v) else float(v) for v in line))
        for name, line in zip(row_names, values, strict=True)
    ]
    cut = len(rows) - len(shown_rows), len(columns) - len(shown_columns)
    caption = f"{what} Blue: they rise together; orange: one falls as the other rises."
    if np.isnan(values).any():
        caption += " Dashed: a constant column has no correlation."
    blocks: list[Block] = [
        Figure(
            title,
            picture,
            caption=caption + (f" {remark}" if remark else ""),
            table=Table(title, kinds, cells, sortable=False),
        )
    ]
    if any(cut):
        blocks.append(
            Note(
                f"To stay readable, the picture leaves out {count(cut[0], 'row')} and "
                f"{count(cut[1], 'column')} of the full grid."
            )
        )
    return blocks
