"""The report that compares several selectors on the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from columnist._text import count, joined, number, percent, readable
from columnist.plotting._comparison import ComparisonDisplay
from columnist.report._blocks import Block, KeyFigure, Note, Section, Table, Text, Verdict
from columnist.report._figures import figure
from columnist.report._page import left_out, report_page

__all__ = ["comparison_report"]

# Errors this close to the bound reach it.
_REACHED = 1e-9
_MOST_COLUMNS = 500
_KINDS = {
    "error": ("Error", "number"), "relative_error": ("Share of the whole", "percent"),
    "gap": ("Proven gap", "percent"), "redundancy": ("Redundancy", "decimal"),
    "seconds": ("Seconds", "number"), "score": ("Score", "decimal"), "note": ("Remark", "text"),
}  # fmt: skip


def comparison_report(
    rows: Sequence[Mapping[str, Any]],
    *,
    bound: float | None = None,
    asked: Mapping[str, object] | None = None,
    title: str | None = None,
) -> str:
    """A page that sets several selections side by side.

    Parameters
    ----------
    rows : sequence of dict
        One per method: ``name``, and where known ``selected`` (names of columns), ``error``,
        ``relative_error``, ``gap``, ``redundancy``, ``seconds``, ``score``, ``note``.
    bound : float, optional
        Proven: no selection has a smaller error.
    asked, title
        As in :func:`selection_report`.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from columnist.report import comparison_report
    >>> rows = [
    ...     {"name": "forward", "error": 5.0, "seconds": 0.1},
    ...     {"name": "certified", "error": 4.0, "seconds": 1.0},
    ... ]
    >>> "certified" in comparison_report(rows, bound=4.0)
    True
    """
    if not rows:
        raise ValueError("There is nothing to compare: rows is empty.")
    rows = [{"name": "?", **dict.fromkeys(("selected", *_KINDS)), **row} for row in rows]
    sections = [
        Section("Side by side", [_table(rows)]),
        Section("Error and time", _figure(rows, bound)),
        _agreement(rows),
    ]
    return report_page(
        title or f"{count(len(rows), 'way')} to choose columns",
        sections,
        asked=asked,
        settings=[("Methods", count(len(rows), "selector"))],
        code="from columnist.metrics import reconstruction_error\n\n"
        "reconstruction_error(X, selected)  # the same measure for every method",
        kicker="Comparison of selectors",
        verdict=_verdict(rows, bound),
        figures=_key_figures(rows, bound),
    )


def _known(rows, key: str) -> list[Mapping[str, Any]]:
    """Rows with a finite number under a key."""
    return [row for row in rows if row[key] is not None and np.isfinite(row[key])]


def _key_figures(rows, bound: float | None) -> list[KeyFigure]:
    figures = [KeyFigure("Compared", f"{len(rows)}", "methods")]
    errors = [row["error"] for row in _known(rows, "error")]
    if errors:
        figures.append(KeyFigure("Smallest error", number(min(errors))))
        figures.append(KeyFigure("Largest error", number(max(errors))))
    if bound is not None:
        figures.append(KeyFigure("Proven bound", number(bound), "no choice leaves less"))
    return figures


def _verdict(rows, bound: float | None) -> Verdict | None:
    measured = _known(rows, "error")
    if not measured:
        return None
    least = min(row["error"] for row in measured)
    best = [readable(row["name"]) for row in measured if row["error"] <= least * (1 + _REACHED)]
    smallest = f"{joined(best, 4)} {'leaves' if len(best) == 1 else 'leave'} the smallest error"
    if bound is None or not np.isfinite(bound):
        return Verdict("open", f"{smallest}; nothing is proven about it.")
    if least <= bound * (1 + _REACHED):
        return Verdict("proven", f"{smallest}, and it is proven that none can be smaller.")
    gap = percent((least - bound) / least)
    return Verdict("bounded", f"{smallest}; {gap} of it at most can be saved.")


def _table(rows) -> Table:
    used = [key for key in _KINDS if any(row[key] is not None for row in rows)]
    kinds = [("Method", "text"), *(_KINDS[key] for key in used)]
    cells = [(readable(row["name"]), *(_plain(row[key]) for key in used)) for row in rows]
    errors = [row["error"] if row["error"] is not None else np.inf for row in rows]
    best = frozenset(np.flatnonzero(np.isclose(errors, min(errors), rtol=1e-9)).tolist())
    return Table("All methods; the smallest error stands out", kinds, cells, best)


def _plain(value):
    return value if value is None or isinstance(value, str) else float(value)


def _figure(rows, bound: float | None) -> list[Block]:
    timed = _known(_known(rows, "error"), "seconds")
    drawn = [row for row in timed if row["seconds"] > 0]
    if len(drawn) < 2:
        return [Note("Fewer than two methods have both an error and a time: nothing to draw.")]
    shares = all(row["relative_error"] and row["error"] for row in drawn)
    display = ComparisonDisplay(
        [readable(row["name"], 60) for row in drawn],
        [row["error"] for row in drawn],
        [row["seconds"] for row in drawn],
        bound=None if bound is None or not np.isfinite(bound) else bound,
        total=drawn[0]["error"] / drawn[0]["relative_error"] if shares else None,
        criterion="",
        target="an empty selection",
    )
    return [figure(display._picture(), "Lower is better, farther left is faster.")]


def _agreement(rows) -> Section:
    """Which columns the methods agree on."""
    title = "What the methods agree on"
    chosen = [row for row in rows if row["selected"] is not None]
    if len(chosen) < 2:
        return Section(title, [Note("Fewer than two methods say which columns they keep.")])
    kept = {i: dict.fromkeys(map(readable, row["selected"])) for i, row in enumerate(chosen)}
    votes = Counter(name for names in kept.values() for name in names)
    ranked = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    cells = [
        (name, n / len(chosen), n,
         [readable(row["name"]) for i, row in enumerate(chosen) if name in kept[i]])
        for name, n in ranked[:_MOST_COLUMNS]
    ]  # fmt: skip
    kinds = [("Column", "text"), ("Share of the methods", "bar"), ("Methods", "count"),
             ("Which", "names")]  # fmt: skip
    unanimous = sum(n == len(chosen) for n in votes.values())
    text = f"{count(unanimous, 'column')} of {len(votes):,} that any method keeps are kept by all."
    table = Table("Columns by number of methods", kinds, cells)
    cut = left_out(len(ranked), _MOST_COLUMNS, "{} columns are left out.")
    return Section(title, [Text(text), table, *cut])
