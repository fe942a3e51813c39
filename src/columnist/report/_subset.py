"""The report of a best-subset model: columns, coefficients and proof."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, joined, number, percent, ways
from columnist.data._validation import resolve_constraints
from columnist.plotting._subset import SubsetPathDisplay
from columnist.report import _page as pages
from columnist.report._blocks import Block, KeyFigure, Names, Note, Section, Table, Text, Verdict
from columnist.report._figures import figure
from columnist.report._measures import read_data
from columnist.search._words import Subject, conditions, verdict
from columnist.selection._subset import BestSubset

_RULES = {
    "aic": "AIC",
    "bic": "BIC",
    "ebic": "extended BIC",
    "cv": "cross-validation, one-standard-error rule",
}


def subset_report(
    model: BestSubset, X, *, names: Sequence[str] | None = None, asked: pages.Asked = None,
    title: str | None = None,
) -> str:  # fmt: skip
    """Write a report about a best-subset model: its columns, its coefficients and its proof.

    Parameters
    ----------
    model : SubsetRegressor or SubsetClassifier
        Fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    names : sequence of str, optional
        Names of the columns; those of the fit by default.
    asked : mapping of str to str, optional
        Settings of the run, as they are shown in the report.
    title : str, optional
        Title of the page.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from columnist import SubsetRegressor
    >>> from columnist.report import subset_report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> html = subset_report(SubsetRegressor("bic").fit(X, y), X)
    >>> "no other set of 5 columns" in html
    True
    """
    check_is_fitted(model)
    parts = _SubsetPage(model, X, names)
    sections = [
        parts.answer(),
        *pages.proof_sections(model.certificate_, parts.subject, len(model.solutions_)),
        pages.proof_file_section(getattr(model, "proof", None), "data.csv"),
        *parts.sizes(),
        pages.redundancy_section(parts.data, model.selected_),
    ]
    k, n = len(model.selected_), model.n_features_in_
    code = pages.code_of(
        model, "model", f"fit(X, y)  # {n:,} columns", "certificate_", home="columnist"
    )
    return pages.report(
        title or f"{count(k, 'column')} of {n:,}", asked, parts.settings(), sections, code,
        kicker="Best subset, with a proof", figures=parts.key_figures(),
        verdict=Verdict(*verdict(model.certificate_, parts.subject)),
    )  # fmt: skip


class _SubsetPage:
    """The parts of the report of one fitted model."""

    def __init__(self, model: BestSubset, X, names):
        self.model, self.path = model, model.path_
        self.data = read_data(X, names, model)
        self.names = self.data.names
        kept = self.data.X[:, model.selected_]
        kept = kept.toarray() if hasattr(kept, "toarray") else np.asarray(kept)
        self.deviations = kept.std(axis=0) * self.data.unit
        own = getattr(model, "feature_names_in_", None)
        n, size = model.n_features_in_, len(model.selected_)
        include, exclude = resolve_constraints(model.include, model.exclude, n, own)
        limits = conditions([self.names[j] for j in include], [self.names[j] for j in exclude])
        free = ways(n - len(include) - len(exclude), size - len(include))
        self.subject = Subject("column", size, free, self.path.total, limits)

    @property
    def loss(self) -> str:
        """What the model minimises."""
        loss = "log-loss" if is_classifier(self.model) else "sum of squared residuals"
        ridge = float(self.model.alpha)
        return f"{loss} + {number(ridge)} × squared length of the coefficients" if ridge else loss

    def settings(self) -> list[tuple[str, str]]:
        """The settings of the model."""
        m, rule = self.model, self.path.rule
        size = count(len(m.selected_), "column") if rule is None else f"chosen by {_RULES[rule]}"
        return [
            ("Data", pages.size_of(self.data.shape)),
            ("Number of columns", size),
            ("Minimised", self.loss),
            ("Intercept", "fitted" if m.fit_intercept else "none"),
            ("Time limit", "none" if m.time_limit is None else f"{number(m.time_limit)} s"),
        ]

    def key_figures(self) -> list[KeyFigure]:
        """The few numbers at the head."""
        m, certificate = self.model, self.model.certificate_
        gap = "0\u00a0%" if certificate.is_optimal else percent(certificate.gap)
        whole = "of the log-loss" if is_classifier(m) else "of the target's variance"
        note = "optimal" if certificate.is_optimal else "of the error, at most"
        return [
            KeyFigure("Kept", f"{len(m.selected_):,}", f"of {count(m.n_features_in_, 'column')}"),
            KeyFigure("Left unexplained", percent(m.error_ / self.path.total), whole),
            KeyFigure("Proven gap", gap, note),
            pages.time_figure(certificate, None),
        ]

    def answer(self) -> Section:
        """Columns and coefficients."""
        m = self.model
        names = [self.names[j] for j in m.selected_]
        blocks: list[Block] = [Names("Selected columns", names), self._coefficients(names)]
        intercepts = ", ".join(number(value, 6) for value in np.ravel(m.intercept_)[:10])
        if m.fit_intercept and np.size(m.intercept_) <= 10:
            blocks.append(Text(f"Intercept: {intercepts}."))
        blocks.append(Note("Fitted and selected on the same rows: errors on new rows are larger."))
        return Section("The answer", blocks)

    def _coefficients(self, names: list[str]) -> Table:
        """Coefficients, the largest effect of one standard deviation first."""
        coef = np.atleast_2d(self.model.coef_)[:, self.model.selected_]
        effect = np.linalg.norm(coef, axis=0) * self.deviations
        kinds = [
            ("Column", "text"),
            ("Coefficient", "number"),
            ("Per standard deviation", "number"),
        ]
        several = len(coef) > 1
        if several:
            kinds[1] = ("Length of the coefficients", "number")
        values = np.linalg.norm(coef, axis=0) if several else coef[0]
        rows = [
            (names[i], float(values[i]), float(values[i] * self.deviations[i]))
            for i in np.argsort(-effect, kind="stable")
        ]
        return Table("Coefficients, the largest effect first", kinds, rows)

    def sizes(self) -> list[Section]:
        """Error and criterion of every size that was examined."""
        path = self.path
        if len(path) < 2:
            return []
        display = SubsetPathDisplay._of_path(path)
        x = display._x_axis()
        chosen = len(self.model.selected_)
        error = display._error_display()._picture(chosen=chosen)
        blocks: list[Block] = [Text(self._chosen_by()), figure(error, table=self._size_table())]
        if display.scores is not None:
            blocks.append(figure(display._score_picture(x, log=False)))
        return [Section("How many columns are needed", blocks)]

    def _chosen_by(self) -> str:
        path = self.path
        if path.rule is None:
            return "The number of columns was given."
        chosen = f"{count(len(self.model.selected_), 'column')} were chosen by {_RULES[path.rule]}"
        if path.rule == "cv":
            return f"{chosen}, which proves nothing about the number."
        if path.proven:
            return f"{chosen}: no selection of any other number has a smaller criterion (proven)."
        open_sizes = joined([str(size) for size in self._open_sizes()], 20)
        return f"{chosen}. The search left open whether {open_sizes} columns have a smaller one."

    def _open_sizes(self) -> list[int]:
        best = self.path[self.path.chosen].score
        return [len(step.selection) for step in self.path if step.score_bound < best]

    def _size_table(self) -> Table:
        rows = [
            (len(step.selection), step.certificate.error / self.path.total,
             step.certificate.gap, step.certificate.status.replace("_", " "))
            for step in self.path
        ]  # fmt: skip
        kinds = [("Columns", "count"), ("Unexplained", "percent"), ("Gap", "percent"),
                 ("Status", "text")]  # fmt: skip
        return Table("Every number of columns", kinds, rows, frozenset({self.path.chosen}))
