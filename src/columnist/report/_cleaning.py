"""The report of a cleaning: what was removed from the features, and what remains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from columnist._text import count, number, percent, rounded_percent
from columnist.plotting._picture import Bars
from columnist.privacy import NullSpaceCleaner
from columnist.privacy._evaluation import PrivacyReport, make_report
from columnist.report import _page as pages
from columnist.report._blocks import Block, KeyFigure, Note, Section, Table, Text, Verdict
from columnist.report._figures import bar_figure
from columnist.report._measures import column_names

# Rows that figures are measured on, bars of the picture, rows of the table.
_MOST_MEASURED, _MOST_BARS, _MOST_ROWS = 20_000, 30, 3000


def cleaning_report(
    cleaner: NullSpaceCleaner, X, cleaned, *, names: Sequence[str] | None = None,
    asked: pages.Asked = None, title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """Write a page about what cleaning removed from the features.

    Parameters
    ----------
    cleaner : NullSpaceCleaner
        Fitted.
    X, cleaned : array-like of shape (n_samples, n_features)
        Rows before and after.
    names, asked, title, origin
        As in :func:`selection_report`.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy import NullSpaceCleaner
    >>> from columnist.report import cleaning_report
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> cleaner = NullSpaceCleaner([[1.0, -1.0, 0.0, 0.0]]).fit(X)
    >>> "3 of 4 dimensions" in cleaning_report(cleaner, X, cleaner.transform(X))
    True
    """
    check_is_fitted(cleaner)
    X, cleaned = (check_array(M, dtype=[np.float64, np.float32]) for M in (X, cleaned))
    if X.shape != cleaned.shape or X.shape[1] != cleaner.n_features_in_:
        raise ValueError(
            f"X has the shape {X.shape} and cleaned {cleaned.shape}; both need the "
            f"{cleaner.n_features_in_} columns of the fit, and the same rows."
        )
    labels = column_names(names, cleaner, X.shape[1])
    measured, before, after = _measured(X, cleaned)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        figures = make_report(cleaner, before, after, None)
    variances = _variances_left(before, after)
    secret = "none named" if cleaner.confidential_coef_ is None else "named"
    tolerance = f"{number(cleaner.utility)} (squared norm)"
    settings = [("Data", pages.size_of(X.shape)), ("Tolerance", tolerance), ("Secret", secret)]
    sections = [
        _removed(figures, measured),
        _columns(variances, labels),
        _kept(cleaner, figures),
        Section("What this does not protect", [*map(Text, _limits(figures))]),
    ]
    removed = figures.n_features - figures.n_numbers_left
    key_figures = [
        KeyFigure("Removed", f"{removed:,}", f"of {figures.n_features:,} dimensions"),
        KeyFigure("Variation left", percent(figures.variance_left), "of all features"),
        KeyFigure("Outputs moved", number(figures.largest_utility_error), "at most, squared"),
        KeyFigure("Tolerance", number(figures.utility), "squared"),
    ]
    code = (
        "from columnist.privacy import NullSpaceCleaner\n\n"
        f"cleaner = NullSpaceCleaner(predictor, utility={cleaner.utility!r})\n"
        "cleaned = cleaner.fit(X, y).transform(X)"
    )
    return pages.report(
        title or "What cleaning removed", asked, settings, sections, code,
        kicker="Features reduced to what the predictor needs", verdict=_verdict(figures),
        figures=key_figures, origin=origin,
    )  # fmt: skip


def _measured(X: np.ndarray, cleaned: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
    """Rows to measure: all, or some of very many."""
    if len(X) <= _MOST_MEASURED:
        return "", X.astype(np.float64, copy=False), cleaned.astype(np.float64, copy=False)
    rows = np.sort(np.random.default_rng(0).choice(len(X), _MOST_MEASURED, replace=False))
    remark = f"Measured on {_MOST_MEASURED:,} of {len(X):,} rows, taken at random."
    return remark, X[rows].astype(np.float64), cleaned[rows].astype(np.float64)


def _variances_left(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Variance of every column after cleaning, as a share of that before; NaN if it had none."""
    scale = np.abs(before).max(axis=0, initial=0.0)
    scale = np.where(scale > 0, scale, 1.0)
    was, now = np.var(before / scale, axis=0), np.var(after / scale, axis=0)
    varied = was > (4 * np.finfo(np.float64).eps) ** 2
    return np.where(varied, now / np.where(varied, was, 1.0), np.nan)


def _verdict(figures: PrivacyReport) -> Verdict:
    removed = figures.n_features - figures.n_numbers_left
    if removed == 0 and figures.utility == 0:
        return Verdict("open", "Nothing could be removed: the predictor reads every direction.")
    within = figures.largest_utility_error <= figures.utility + 1e-8 * (1.0 + figures.utility)
    if not within:
        text = "Some outputs of the predictor move by more than the tolerance: see below."
        return Verdict("open", text)
    return Verdict(
        "proven",
        f"{removed} of {figures.n_features} dimensions were removed from every row, and no output "
        "of the predictor moves by more than the tolerance.",
    )


def _removed(figures: PrivacyReport, remark: str) -> Section:
    removed = figures.n_features - figures.n_numbers_left
    texts = [
        f"A cleaned row is determined by {count(figures.n_numbers_left, 'number')}: {removed} "
        f"of {figures.n_features} dimensions were taken out of every row. "
        f"{percent(figures.variance_left)} of the variation of the features is left, and a "
        f"linear model can recover {percent(figures.recoverable)} of it from cleaned rows."
    ]
    if figures.secret_recoverable is not None:
        found = percent(figures.secret_recoverable)
        texts.append(f"Of the confidential outputs, a linear model finds {found} in cleaned rows.")
    if figures.n_rows_at_mean:
        texts.append(
            f"Nothing at all is left of {count(figures.n_rows_at_mean, 'row')}: within the "
            "tolerance they equal the mean."
        )
    notes = [Note(remark)] if remark else []
    return Section("What was removed", [*map(Text, texts), *notes])


def _columns(shares: np.ndarray, labels: list[str]) -> Section:
    """Variation left in every column."""
    order = np.argsort(np.where(np.isnan(shares), np.inf, -shares), kind="stable")
    shown = [j for j in order[:_MOST_BARS] if not np.isnan(shares[j])]
    text = (
        "How much of its own variation each column still has. Above 100 % it varies more than "
        "before, because rows were moved to hide the confidential outputs."
    )
    blocks: list[Block] = [Text(text)]
    if shown:
        texts = [rounded_percent(float(shares[j])) for j in shown]
        picture = Bars(
            [labels[j] for j in shown], shares[shown], texts,
            "Columns that keep the most of their variation", np.ones(len(shown), dtype=bool),
            f"{len(shown)} columns, from {texts[0]} down to {texts[-1]}.",
        )  # fmt: skip
        blocks.append(bar_figure(picture, ("Variation left", "percent")))
    if len(order) > _MOST_BARS:
        kinds = [("Column", "text"), ("Variation left", "bar")]
        known = [
            (labels[j], None if np.isnan(shares[j]) else float(shares[j]))
            for j in order[:_MOST_ROWS]
        ]
        blocks.append(Table("Variation left in each column", kinds, known))
    blocks += pages.left_out(len(order), _MOST_ROWS, "{} columns are left out of the table.")
    if np.isnan(shares).any():
        blocks.append(Note(f"{count(int(np.isnan(shares).sum()), 'column')} did not vary before."))
    return Section("Column by column", blocks)


def _kept(cleaner: NullSpaceCleaner, figures: PrivacyReport) -> Section:
    strengths = np.asarray(cleaner.singular_values_, dtype=np.float64)[:_MOST_ROWS]
    text = (
        f"The predictor computes {count(figures.n_outputs, 'output')} from a row, and reads "
        f"{count(figures.n_numbers_left, 'direction')} of it. Cleaning may move the outputs of a "
        f"row by {number(figures.utility)} at most, in squared norm: this holds for every row, "
        f"seen or not. On the rows measured here the largest move is "
        f"{number(figures.largest_utility_error)}, the mean {number(figures.mean_utility_error)}."
    )
    rows = [(i + 1, float(s)) for i, s in enumerate(strengths)]
    table = Table("How strongly the predictor reads each direction",
                  [("Direction", "count"), ("Strength", "number")], rows)  # fmt: skip
    return Section("What the predictor keeps", [Text(text), *([table] if rows else [])])


def _limits(figures: PrivacyReport) -> list[str]:
    said = [
        "Information in the outputs of the predictor: these can be computed from a cleaned row, "
        "and everything that is correlated with them can be inferred.",
        "Who a row belongs to: equal rows stay equal, and may be recognised in other data. This "
        "is not differential privacy, and nonlinear models may find more than linear ones.",
    ]
    if figures.secret_recoverable is not None:
        said.append("Secrets other than the one that was named.")
    return said
