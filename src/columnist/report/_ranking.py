"""The report of a selector without a proof: scores, ranking, redundancy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, number
from columnist.plotting._bars import FeatureScoresDisplay
from columnist.report._blocks import Block, KeyFigure, Names, Note, Section, Table
from columnist.report._figures import bar_figure
from columnist.report._measures import Data, read_data, redundancy
from columnist.report._page import code_of, left_out, redundancy_section, report_page, size_of

__all__ = ["ranking_report"]

# Bars of the picture, rows of the table, names of the list.
_MOST_BARS, _MOST_ROWS, _MOST_NAMES = 30, 3000, 400


def ranking_report(
    selector,
    X,
    y=None,
    *,
    names: Sequence[str] | None = None,
    asked: Mapping[str, object] | None = None,
    title: str | None = None,
) -> str:
    """A page about the columns that any selector chose.

    Parameters
    ----------
    selector : selector
        Fitted; it has ``selected_``, and may have ``scores_``, ``ranking_`` and ``error_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    y : array-like, optional
        The target of the fit; it is only mentioned.
    names, asked, title
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
    settings = [("Data", size_of(data.shape)), ("Method", method),
                ("Keep", count(len(kept), "column")),
                ("Target", "none" if y is None else "given")]  # fmt: skip
    answer = [
        Names("Kept columns, in order of selection", [data.names[j] for j in kept[:_MOST_NAMES]]),
        *left_out(len(kept), _MOST_NAMES, "{} more are not listed."),
        Note(f"{method} gives no proof: another choice may be better."),
    ]
    sections = [
        Section("The answer", answer),
        _scores_section(selector, kept, data.names),
        redundancy_section(data, kept),
    ]
    fit = "fit(X)" if y is None else "fit(X, y)"
    return report_page(
        title or f"{count(len(kept), 'column')} of {data.shape[1]:,} by {method}",
        sections,
        asked=asked,
        settings=settings,
        code=code_of(selector, "selector", fit, "selected_"),
        kicker="Ranking of columns",
        figures=_key_figures(selector, data, kept),
    )


def _key_figures(selector, data: Data, kept) -> list[KeyFigure]:
    found = [KeyFigure("Kept", f"{len(kept):,}", f"of {count(data.shape[1], 'column')}")]
    error = getattr(selector, "error_", None)
    if error is not None and np.ndim(error) == 0:
        found.append(KeyFigure("Error", number(float(error)), "of rebuilding"))
    rate, _ = redundancy(data, kept)
    return [*found, KeyFigure("Redundancy", number(rate, 3), "mean correlation of the kept")]


def _scores_section(selector, kept: np.ndarray, labels: list[str]) -> Section:
    title = "Scores"
    scores = getattr(selector, "scores_", None)
    if scores is None or np.shape(scores) != (len(labels),):
        text = f"{type(selector).__name__} does not score columns one by one."
        return Section(title, [Note(text)])
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
    cut = left_out(len(ranking), _MOST_ROWS, "{} lower-ranked columns are left out.")
    return Section(title, blocks + cut)


def _scores_table(scores, raw, shown, kept, labels: list[str]) -> Table:
    is_kept = np.isin(shown, kept)
    kinds = [("Rank", "count"), ("Column", "text"), ("Score", "number")]
    kinds += [("As published", "number")] if raw is not None else []
    kinds += [("Kept", "text")]
    rows = [
        (place, labels[j], float(scores[j]), *([] if raw is None else [float(raw[j])]),
         "yes" if k else "no")
        for place, (j, k) in enumerate(zip(shown, is_kept, strict=True), start=1)
    ]  # fmt: skip
    return Table("Columns by rank", kinds, rows, frozenset(np.flatnonzero(is_kept).tolist()))
