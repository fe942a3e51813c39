"""The reports of selectors without a proof: a ranking, and a comparison of several selectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, joined, number, percent, readable
from columnist.plotting._bars import FeatureScoresDisplay
from columnist.plotting._comparison import ComparisonDisplay
from columnist.report import _page as pages
from columnist.report._blocks import Block, KeyFigure, Names, Note, Section, Table, Text, Verdict
from columnist.report._figures import bar_figure, figure
from columnist.report._measures import read_data, redundancy
from columnist.report._stability import stability_section
from columnist.selection._stability import SelectionStability

# Bars of the picture, rows of the table, names of the list.
_MOST_BARS, _MOST_ROWS, _MOST_NAMES = 30, 3000, 400
# Errors this close to the bound reach it.
_REACHED = 1e-9
_MOST_COLUMNS = 500
_KINDS = {
    "error": ("Error", "number"), "relative_error": ("Share of the whole", "percent"),
    "gap": ("Proven gap", "percent"), "redundancy": ("Redundancy", "decimal"),
    "seconds": ("Seconds", "number"), "score": ("Score", "decimal"), "note": ("Remark", "text"),
}  # fmt: skip


def ranking_report(
    selector, X, y=None, *, names: Sequence[str] | None = None,
    stability: SelectionStability | None = None, asked: pages.Asked = None,
    title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """Write a report about the selected columns of any selector.

    Parameters
    ----------
    selector : selector
        Fitted; it has ``selected_``, and may have ``scores_``, ``ranking_`` and ``error_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    y : array-like, optional
        The target of the fit; the report only states whether there was one.
    names, stability, asked, title, origin
        As in :func:`selection_report`.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.report import ranking_report
    >>> from columnist.spectral import FisherScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> html = ranking_report(FisherScore(3).fit(X, y), X, y)
    >>> "Fisher" in html
    True
    """
    check_is_fitted(selector)
    method = type(selector).__name__
    data = read_data(X, names, selector)
    kept = np.asarray(selector.selected_, dtype=np.intp)
    settings = [("Data", pages.size_of(data.shape)), ("Method", method),
                ("Select", count(len(kept), "column")),
                ("Target", "none" if y is None else "given")]  # fmt: skip
    answer = [
        Names(
            "Selected columns, in order of selection", [data.names[j] for j in kept[:_MOST_NAMES]]
        ),
        *pages.left_out(len(kept), _MOST_NAMES, "{} more are not listed."),
        Note(f"{method} gives no proof: another choice may be better."),
    ]
    sections = [
        Section("The answer", answer),
        _scores_section(selector, kept, data.names),
        stability_section(stability, data.names),
        pages.redundancy_section(data, kept),
    ]
    fit = "fit(X)" if y is None else "fit(X, y)"
    code = pages.code_of(selector, "selector", fit, "selected_")
    title = title or f"{count(len(kept), 'column')} of {data.shape[1]:,} by {method}"
    figures = [KeyFigure("Selected", f"{len(kept):,}", f"of {count(data.shape[1], 'column')}")]
    error = getattr(selector, "error_", None)
    if error is not None and np.ndim(error) == 0:
        figures.append(KeyFigure("Error", number(float(error)), "of reconstruction"))
    rate = number(redundancy(data, kept)[0], 3)
    figures.append(KeyFigure("Redundancy", rate, "mean correlation of the selected"))
    head = {"kicker": "Ranking of columns", "figures": figures}
    return pages.report(title, asked, settings, sections, code, origin=origin, **head)


def _scores_section(selector, kept: np.ndarray, labels: list[str]) -> Section:
    title = "Scores"
    scores = getattr(selector, "scores_", None)
    if scores is None or np.shape(scores) != (len(labels),):
        return Section(title)
    found = FeatureScoresDisplay(
        scores, selected=kept, names=labels, ranking=getattr(selector, "ranking_", None)
    )
    scores, ranking = found.scores, found.ranking
    blocks: list[Block] = [bar_figure(
        replace(found._picture(_MOST_BARS), title="Scores of the best columns"),
        ("Score", "number"), "Larger is better.",
    )]  # fmt: skip
    if len(ranking) > _MOST_BARS:
        blocks.append(Note(f"The picture shows the best {_MOST_BARS} of {len(ranking):,} columns."))
    raw = getattr(selector, "raw_scores_", None)
    fits = raw is not None and np.shape(raw) == scores.shape
    raw = np.asarray(raw, dtype=np.float64) if fits else None
    blocks.append(_scores_table(scores, raw, ranking[:_MOST_ROWS], kept, labels))
    cut = pages.left_out(len(ranking), _MOST_ROWS, "{} lower-ranked columns are left out.")
    return Section(title, blocks + cut)


def _scores_table(scores, raw, shown, kept, labels: list[str]) -> Table:
    is_kept = np.isin(shown, kept)
    kinds = [("Rank", "count"), ("Column", "text"), ("Score", "number")]
    kinds += [("As published", "number")] if raw is not None else []
    kinds += [("Selected", "text")]
    rows = [
        (place, labels[j], float(scores[j]), *([] if raw is None else [float(raw[j])]),
         "yes" if k else "no")
        for place, (j, k) in enumerate(zip(shown, is_kept, strict=True), start=1)
    ]  # fmt: skip
    return Table("Columns by rank", kinds, rows, frozenset(np.flatnonzero(is_kept).tolist()))


def comparison_report(
    rows: Sequence[Mapping[str, Any]], *, bound: float | None = None, asked: pages.Asked = None,
    title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """Write a report that compares several selections.

    Parameters
    ----------
    rows : sequence of dict
        One per method: ``name``, and where known ``selected`` (names of columns), ``error``,
        ``relative_error``, ``gap``, ``redundancy``, ``seconds``, ``score``, ``note``.
    bound : float, optional
        Proven: no selection has a smaller error.
    asked, title, origin
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
    code = (
        "from columnist.metrics import reconstruction_error\n\n"
        "reconstruction_error(X, selected)  # the same measure for every method"
    )
    settings = [("Methods", count(len(rows), "selector"))]
    return pages.report(
        title or f"{count(len(rows), 'way')} to choose columns", asked, settings, sections, code,
        kicker="Comparison of selectors", verdict=_verdict(rows, bound),
        figures=_key_figures(rows, bound), origin=origin,
    )  # fmt: skip


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
        figures.append(KeyFigure("Lower bound", number(bound), "no selection has less"))
    return figures


def _verdict(rows, bound: float | None) -> Verdict | None:
    measured = _known(rows, "error")
    if not measured:
        return None
    least = min(row["error"] for row in measured)
    best = [readable(row["name"]) for row in measured if row["error"] <= least * (1 + _REACHED)]
    smallest = f"{joined(best, 4)} {'has' if len(best) == 1 else 'have'} the smallest error"
    if bound is None or not np.isfinite(bound):
        return Verdict("open", f"{smallest}; nothing is proven about it.")
    if least <= bound * (1 + _REACHED):
        return Verdict("proven", f"{smallest}, and it is proven that none can be smaller.")
    gap = percent((least - bound) / least)
    return Verdict("bounded", f"{smallest}; no selection can lower it by more than {gap}.")


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
        return []
    shares = all(row["relative_error"] and row["error"] for row in drawn)
    display = ComparisonDisplay(
        [readable(row["name"], 60) for row in drawn],
        *([row[key] for row in drawn] for key in ("error", "seconds")),
        bound=None if bound is None or not np.isfinite(bound) else bound,
        total=drawn[0]["error"] / drawn[0]["relative_error"] if shares else None,
        criterion="", target="an empty selection",
    )  # fmt: skip
    return [figure(display._picture(), "Lower is better, farther left is faster.")]


def _agreement(rows) -> Section:
    """Which columns the methods agree on."""
    title = "What the methods agree on"
    chosen = [row for row in rows if row["selected"] is not None]
    if len(chosen) < 2:
        return Section(title)
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
    text = f"{unanimous:,} of {count(len(votes), 'column')} are selected by all methods."
    table = Table("Columns by number of methods", kinds, cells)
    cut = pages.left_out(len(ranked), _MOST_COLUMNS, "{} columns are left out.")
    return Section(title, [Text(text), table, *cut])
