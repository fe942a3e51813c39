"""The reports of certified selections, and of certificates for given selections."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, joined, number, percent, ways
from columnist.criteria import get_criterion, leading_values
from columnist.data._target import as_target
from columnist.data._validation import resolve_constraints
from columnist.linalg._passes import columns_of, squared_norms
from columnist.plotting._bars import RepresentativeDisplay
from columnist.report import _page as pages
from columnist.report._blocks import Block, KeyFigure, Names, Note, Section, Table, Text, Verdict
from columnist.report._figures import bar_figure, correlation_figure, path_figure, spectrum_figure
from columnist.report._measures import Data, Spectrum, correlations, read_data, spectrum
from columnist.report._stability import stability_section
from columnist.report._verdicts import verdict_blocks
from columnist.search._certificate import Certificate
from columnist.search._words import CRITERIA, Subject, conditions, verdict
from columnist.selection._budget import BudgetPath
from columnist.selection._certified import ColumnSelector
from columnist.selection._path import SelectionPath
from columnist.selection._stability import SelectionStability
from columnist.selection._verdicts import ColumnVerdicts

# Rows of the table of columns, bars of the picture, and names in a list.
_MOST_ROWS, _MOST_BARS, _MOST_NAMES = 3000, 30, 400
_MOST_SETS = 100
_GROUPS = "Columns below the selected column closest to them, the largest group first."
_NOT_CENTRED = (
    "The data are not centred: R² is a share of the column's sum of squares, means included, while "
    "correlations are about the means."
)


def selection_report(
    selector: ColumnSelector, X, y=None, *, names: Sequence[str] | None = None,
    path: SelectionPath | None = None, stability: SelectionStability | None = None,
    verdicts: ColumnVerdicts | None = None, budgets: BudgetPath | None = None,
    asked: pages.Asked = None, title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """Write a report of a certified selection: its columns, its error and its proof.

    Parameters
    ----------
    selector : ColumnSelector
        Fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    y : array-like, optional
        The target of the fit, if there was one.
    names : sequence of str, optional
        Names of the columns; those of the fit by default.
    path : SelectionPath, optional
        Selections of every size, for the curve of the error.
    stability : SelectionStability, optional
        The same selection from resampled rows.
    verdicts : ColumnVerdicts, optional
        Which columns are necessary, replaceable or useless.
    asked : mapping of str to str, optional
        Settings of the run, as they are shown in the report.
    title : str, optional
        Title of the page.
    origin : Origin, optional
        The run of the command line that the page reports.
    budgets : BudgetPath, optional
        Selections for this budget and others.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ColumnSelector
    >>> from columnist.report import selection_report
    >>> wine = load_wine()
    >>> X = scale(wine.data)
    >>> html = selection_report(ColumnSelector(3).fit(X), X, names=wine.feature_names)
    >>> "Proven best: no other set of 3 columns" in html
    True
    """
    check_is_fitted(selector)
    parts = _SelectionPage(selector, X, y, names)
    sections = [
        parts.answer(),
        *pages.proof_sections(selector.certificate_, parts.subject, len(selector.solutions_)),
        parts.verdicts(verdicts),
        pages.proof_file_section(selector.proof, origin.file if origin else "data.csv"),
        parts.sizes(path),
        stability_section(stability, parts.names),
        *parts.money(budgets),
        parts.spectrum(),
        *parts.targets(),
        parts.dropped(),
        pages.redundancy_section(parts.data, selector.selected_),
    ]
    k, n = len(selector.selected_), parts.n_columns
    fit = f"{'fit(X)' if parts.on_x else 'fit(X, y)'}  # {n:,} columns"
    code = pages.code_of(selector, "selector", fit, "certificate_", home="columnist")
    return pages.report(
        title or f"{count(k, 'column')} of {n:,}", asked, parts.settings(), sections, code,
        kicker="Column selection, with a proof", figures=parts.key_figures(origin),
        verdict=Verdict(*verdict(selector.certificate_, parts.subject)), origin=origin,
    )  # fmt: skip


class _SelectionPage:
    """The parts of the report of one fitted selector."""

    def __init__(self, selector: ColumnSelector, X, y, names):
        self.selector = selector
        self.n_columns = selector.n_features_in_
        self.gram = selector.input == "gram"
        self.data: Data = read_data(X, names, selector, gram=self.gram)
        self.names = self.data.names
        self.y = y
        self.criterion = get_criterion(selector.criterion)
        self.on_x = selector._rebuilds_x
        self.subject = self._subject()

    def _subject(self) -> Subject:
        s = self.selector
        own = getattr(s, "feature_names_in_", None)
        include, exclude = resolve_constraints(s.include, s.exclude, self.n_columns, own)
        self.include = [self.names[j] for j in include]
        self.exclude = [self.names[j] for j in exclude]
        free = self.n_columns - len(include) - len(exclude)
        size = len(s.selected_)
        total = s.error_ / s.relative_error_ if s.relative_error_ > 0 else None
        limits = conditions(self.include, self.exclude)
        if s.constraints:
            obeyed = ", ".join(one.describe(self.names) for one in s.constraints)
            most = "at most 2 to the power of " + str(free)
            return Subject("column", size, most, total, f"{limits} (given {obeyed})", any_size=True)
        return Subject("column", size, ways(free, size - len(include)), total, limits)

    # -- the parts ----------------------------------------------------------------

    def money(self, budgets: BudgetPath | None) -> list[Section]:
        """The errors for this budget and for a larger one."""
        if budgets is None:
            return []
        rows = []
        for step, relative in zip(budgets, budgets.relative_errors, strict=True):
            found, chosen = step.certificate, [self.names[j] for j in step.selection]
            bound = found.lower_bound / budgets.total if budgets.total > 0.0 else 0.0
            status = found.status.replace("_", " ")
            rows.append([number(step.budget), float(relative), float(bound), chosen, status])
        head = [
            ("Budget", "figure"), ("Error", "percent"), ("Lower bound", "percent"),
            ("Selected", "names"), ("Status", "text"),
        ]  # fmt: skip
        text = (
            "The error with this budget, and with one that is larger by the smallest cost of a "
            "column. No selection within the budget has an error below the bound."
        )
        return [Section("What the budget costs", [Text(text), Table("Budgets", head, rows)])]

    def settings(self) -> list[tuple[str, str]]:
        """The settings of the selector."""
        s, (n_rows, n) = self.selector, self.data.shape
        free = count(s.n_components, "extracted component") if s.n_components else ""
        keep = count(len(s.selected_), "column")
        if s.n_features_to_select == "auto":
            keep = f"the fewest columns with a relative error of at most {percent(s.tol)}"
        rows = [
            ("Data", f"a Gram matrix of {n} columns" if self.gram else pages.size_of((n_rows, n))),
            ("Select", keep),
            ("Explains", "all columns" if self.on_x else "the target y"),
            ("Measure of error", CRITERIA.get(self.criterion.name, self.criterion.name)),
            ("In addition", free),
            ("Centring", "with an intercept" if s.centering == "mean" else "none by the selector"),
            ("Search", s.search),
            ("Included", joined(self.include, 30)),
            ("Excluded", joined(self.exclude, 30)),
            (
                "Sets listed",
                ""
                if s.solution_tol is None
                else f"with an error at most {percent(s.solution_tol)} above the best",
            ),
            ("Constraints", ", ".join(one.describe(self.names) for one in s.constraints or ())),
            ("Time limit", "none" if s.time_limit is None else f"{number(s.time_limit)} s"),
            ("Limit on steps", "" if s.max_nodes is None else f"{s.max_nodes:,}"),
            ("Accepted gap", percent(s.max_gap) if s.max_gap > 0 else ""),
        ]
        return [(term, text) for term, text in rows if text]

    def key_figures(self, origin: pages.Origin | None) -> list[KeyFigure]:
        """The few numbers at the head."""
        s, certificate = self.selector, self.selector.certificate_
        proven = certificate.is_optimal
        gap = "0\u00a0%" if proven else percent(certificate.gap)
        return [
            KeyFigure("Selected", f"{len(s.selected_):,}", f"of {count(self.n_columns, 'column')}"),
            KeyFigure("Unexplained", percent(s.relative_error_), f"of {self._whole()}"),
            KeyFigure("Proven gap", gap, "optimal" if proven else "of the error, at most"),
            pages.time_figure(certificate, origin),
        ]

    def _whole(self) -> str:
        thing = "the data" if self.on_x else "the target"
        if self.criterion.name == "frobenius":
            centred = self.selector.centering == "mean" or not self._off_centre()
            return f"the {'total variance' if centred else 'sum of squares'} of {thing}"
        return f"{thing}, by the {self.criterion.name} measure"

    def answer(self) -> Section:
        """The selected columns and the runners-up."""
        s = self.selector
        kept = [self.names[j] for j in s.selected_]
        extra = count(s.n_components, "extracted component") if s.n_components else ""
        extra = f", together with {extra}" if extra else ""
        thing = "all columns" if self.on_x else "the target"
        left = f"{percent(s.relative_error_)} of {self._whole()} is unexplained"
        rebuilt = f"{thing} can be reconstructed with an error of {number(s.error_, 6)}: {left}."
        return Section("The answer", [
            *self._kept_or_dropped(kept),
            Text(f"By linear regression on the selected columns{extra}, {rebuilt}"),
            *self._runners_up(),
        ])  # fmt: skip

    def _kept_or_dropped(self, kept: list[str]) -> list[Block]:
        """The selected columns; where these are more than half, the dropped ones first."""
        dropped = [
            name for j, name in enumerate(self.names) if j not in set(self.selector.selected_)
        ]
        lists = [("Selected columns", kept)]
        if 0 < len(dropped) < len(kept):
            lists.insert(0, ("Dropped columns", dropped))
        blocks: list[Block] = []
        for label, names in lists:
            blocks.append(Names(label, names[:_MOST_NAMES]))
            blocks += pages.left_out(len(names), _MOST_NAMES, "{} more are not listed.")
        return blocks

    def _runners_up(self) -> list[Block]:
        s = self.selector
        if len(s.solutions_) < 2:
            return []
        rows = []
        for place, solution in enumerate(s.solutions_[:_MOST_SETS], start=1):
            new, gone = _swapped(s.selected_, solution, self.names)
            worse = solution.error / s.error_ - 1.0 if s.error_ > 0 and place > 1 else None
            rows.append((place, new, gone, solution.error, worse))
        kinds = [("Rank", "count"), ("Adds", "names"), ("Instead of", "names"),
                 ("Error", "number"), ("Worse by", "percent")]  # fmt: skip
        proven = "proven" if s.certificate_.is_optimal else "found so far, not proven"
        table = Table(f"The best {len(rows)} sets, {proven}", kinds, rows, frozenset({0}))
        text = "The search did not finish: other sets may lie between these."
        if s.certificate_.is_optimal:
            text = "If one of these sets is easier to measure, this is what it costs in accuracy."
        left = pages.left_out(len(s.solutions_), _MOST_SETS, "{} more are not listed.")
        return [table, *left, Note(text)]

    def verdicts(self, found: ColumnVerdicts | None) -> Section:
        """Which columns a good selection needs."""
        return Section("Which columns are needed", verdict_blocks(found, self.names))

    def sizes(self, path: SelectionPath | None) -> Section:
        """Error against the number of columns."""
        title = "How many columns are needed"
        if path is None or len(path) < 2:
            return Section(title)
        return Section(title, [path_figure(path, self.selector.certificate_)])

    def spectrum(self) -> Section:
        """Singular values, and the error of principal components."""
        title = "Compared with principal components"
        s = self.selector
        found = spectrum(self.data, center=s.centering == "mean")
        if found is None:
            return Section(title)
        size = len(s.selected_) + int(s.n_components)
        return Section(title, [Text(self._against_pca(found, size)), spectrum_figure(found, size)])

    def _against_pca(self, found: Spectrum, size: int) -> str:
        if not self.on_x:
            return (
                "The singular values of the data say how many independent directions the columns "
                "have; few large ones mean that the columns are redundant."
            )
        best, s = _left_by_pca(found, size, self.criterion), self.selector
        about = "" if found.complete else "about "
        told = (
            f"{about}{percent(best)} would be unexplained; with the {len(s.selected_)} selected "
            f"columns it is {percent(s.relative_error_)}. The difference is the cost of using "
            "actual columns."
        )
        if best is None:
            told = "the unexplained share is not known here: only the leading singular values are."
        return (
            "Principal components are combinations of all columns; no selection of as many columns "
            f"can have a smaller error. With {size} of them, {told}"
        )

    def targets(self) -> list[Section]:
        """How well the target is explained."""
        if self.on_x:
            return []
        title = "How well the target is explained"
        if self.y is None:
            return []
        shares, labels = self._target_shares()
        rows = list(zip(labels, shares, strict=True))[:_MOST_ROWS]
        kinds = [("Target", "text"), ("Explained (R²)", "bar")]
        table = Table("Share of each target that the selected columns explain", kinds, rows)
        return [Section(title, [table, *_cut(len(shares), "target")])]

    def _target_shares(self) -> tuple[list[float], list[str]]:
        s = self.selector
        Y, _, classes = as_target(self.y, self.data.shape[0])
        kept = columns_of(self.data.X, s.selected_) * self.data.unit
        residual = Y - kept @ s.coef_ - s.intercept_
        around = Y - Y.mean(axis=0) if s.centering == "mean" else Y
        total, left = np.square(around).sum(axis=0), np.square(residual).sum(axis=0)
        shares = np.where(total > 0, 1.0 - left / np.where(total > 0, total, 1.0), 1.0)
        return np.clip(shares, 0.0, 1.0).tolist(), _target_labels(self.y, Y.shape[1], classes)

    def dropped(self) -> Section:
        """Which selected column represents each dropped one."""
        s = self.selector
        title = "How well the dropped columns are represented"
        dropped = np.setdiff1d(np.arange(self.n_columns), s.selected_)
        if not len(dropped):
            return Section(title)
        r2 = s.column_r2_[dropped]
        worst = dropped[np.argmin(r2)]
        text = (
            f"The selected columns together explain {percent(float(r2.mean()))} of a dropped "
            f"column on average. The worst explained is {joined([self.names[worst]])}, with "
            f"{percent(float(r2.min()))}. The nearest selected column is the most similar one."
        )
        order = dropped[np.argsort(r2, kind="stable")]
        stands = RepresentativeDisplay(s.column_r2_, s.representative_, feature_names=self.names)
        blocks: list[Block] = [
            Text(text),
            *self._column_table(order),
            *_cut(len(order), "column"),
            bar_figure(stands._picture(_MOST_BARS), ("Explained (R²)", "percent"), _GROUPS),
            *pages.left_out(self.n_columns, _MOST_BARS, "{} columns are left out of the picture."),
        ]
        if s.centering == "none" and not self.gram and self._off_centre():
            blocks.append(Note(_NOT_CENTRED))
        by_group = order[np.argsort(s.representative_[order], kind="stable")]
        blocks += correlation_figure(
            self.data, s.selected_, by_group,
            title="Correlation of selected and dropped columns",
            what="Selected columns down the side, dropped columns along the top.",
        )  # fmt: skip
        return Section(title, blocks)

    def _column_table(self, order: np.ndarray) -> list[Block]:
        """Dropped columns, the worst rebuilt first."""
        s, shown = self.selector, order[:_MOST_ROWS]
        near = s.representative_[shown]
        leaders, place = np.unique(near, return_inverse=True)
        part, remark = self.data.sampled(len(leaders) + len(shown))
        pairs = np.empty(len(shown))
        for i, leader in enumerate(leaders):
            mine = place == i
            pairs[mine] = correlations(part, [leader], shown[mine])[0]
        names, told = self.names, [None if np.isnan(c) else float(c) for c in pairs]
        rows = [
            (names[j], names[r], c, float(s.column_r2_[j]))
            for j, r, c in zip(shown, near, told, strict=True)
        ]
        kinds = [("Dropped column", "text"), ("Nearest selected column", "text"),
                 ("Correlation", "decimal"), ("Explained by all (R²)", "bar")]  # fmt: skip
        table = Table("Dropped columns, the worst explained first", kinds, rows)
        return [table, *([Note(f"Correlations: {remark}")] if remark else [])]

    def _off_centre(self) -> bool:
        X = self.data.sampled(self.n_columns)[0].X
        means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        return bool((means**2 > 1e-4 * squared_norms(X) / X.shape[0]).any())


def _swapped(first, other, names: Sequence) -> tuple[list, list]:
    """Names of the columns that a second selection adds, and of those it drops."""
    new = [names[j] for j in sorted(set(other) - set(first))]
    gone = [names[j] for j in sorted(set(first) - set(other))]
    return new, gone


def _left_by_pca(found: Spectrum, size: int, criterion) -> float | None:
    """Relative error of as many principal components; None if it is not known."""
    values = found.values
    if criterion.name == "frobenius":
        explained = float(np.sum(values[:size] ** 2))
        return max(1.0 - explained / found.energy, 0.0) if found.energy else 0.0
    leading = leading_values(criterion)
    if not found.complete and (leading is None or size + leading > len(values)):
        return None
    total = float(criterion.value(values)) if len(values) else 0.0
    rest = values[size:] if size < len(values) else np.zeros(1)
    return float(criterion.value(rest)) / total if total > 0 else 0.0


def _target_labels(y, n_targets: int, classes: np.ndarray | None) -> list[str]:
    if classes is not None:
        return [f"class {label}" for label in classes]
    columns = getattr(y, "columns", None)
    if columns is not None and len(columns) == n_targets:
        return [str(name) for name in columns]
    return ["y"] if n_targets == 1 else [f"y{i}" for i in range(n_targets)]


def _cut(n_rows: int, what: str) -> list[Block]:
    if n_rows <= _MOST_ROWS:
        return []
    rest = count(n_rows - _MOST_ROWS, what)
    return [Note(f"The table ends after {_MOST_ROWS:,} rows; {rest} are left out.")]


def certificate_report(
    certificate: Certificate, X, *, names: Sequence[str] | None = None, asked: pages.Asked = None,
    title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """Write a report about the certificate of a given selection.

    Parameters
    ----------
    certificate : Certificate
        From :func:`columnist.certify`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the certificate.
    names, asked, title, origin
        As in :func:`selection_report`; names are those of a data frame by default.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import certify
    >>> from columnist.report import certificate_report
    >>> X = scale(load_wine().data)
    >>> html = certificate_report(certify(X, [0, 6, 9]), X)
    >>> "A better set of 3 columns exists" in html
    True
    """
    if not certificate.selection:
        raise ValueError("The certificate names no selection: pass one that certify returned.")
    names = getattr(X, "columns", None) if names is None else names
    data = read_data(X, names)
    given = np.array(certificate.selection)
    if given.max() >= data.shape[1]:
        raise ValueError(
            f"The certificate is about column {given.max()}, but X has {data.shape[1]} columns: "
            "pass the data it was asked about."
        )
    subject = Subject("column", len(given), ways(data.shape[1], len(given)))
    target = "all columns of the data" if certificate.target == "X" else "the target y"
    settings = [
        ("Data", pages.size_of(data.shape)),
        ("Explains", target),
        ("Measure of error", CRITERIA.get(certificate.criterion, certificate.criterion)),
    ]
    sections = [
        _answer(certificate, data.names),
        *pages.proof_sections(certificate, subject),
        *_exchange(certificate, data),
        pages.redundancy_section(data, given),
    ]
    figures = [
        KeyFigure("Given", f"{len(given):,}", f"of {count(data.shape[1], 'column')}"),
        KeyFigure("Error", number(certificate.error), certificate.criterion),
        KeyFigure("Proven gap", percent(certificate.gap), "of the error, at most"),
        pages.time_figure(certificate, origin),
    ]
    arguments = f"X, {given.tolist()!r}, criterion={certificate.criterion!r}"
    return pages.report(
        title or f"Is this choice of {count(len(given), 'column')} good?", asked, settings,
        sections, f"from columnist import certify\n\ncertify({arguments})",
        kicker="Certificate of a selection", figures=figures,
        verdict=Verdict(*verdict(certificate, subject)), origin=origin,
    )  # fmt: skip


def _answer(certificate: Certificate, labels: list[str]) -> Section:
    given = [labels[j] for j in certificate.selection]
    blocks: list[Block] = [Names("The given columns", given)]
    if certificate.better is None:
        return Section("The answer", [*blocks, Text("No better set of this size was found.")])
    new, gone = _swapped(certificate.selection, certificate.better, labels)
    blocks.append(Names("A better set", [labels[j] for j in certificate.better]))
    kinds = [("Takes", "text"), ("Instead of", "text")]
    caption = "What the better set exchanges (in no particular order)"
    blocks.append(Table(caption, kinds, [*zip_longest(new, gone)], sortable=False))
    reached = certificate.history[-1]["incumbent"] if certificate.history else np.inf
    if np.isfinite(reached) and certificate.error > 0:
        saved = percent(max(1.0 - reached / certificate.error, 0.0))
        blocks.append(Text(f"Its error is {number(reached, 6)} instead of "
                           f"{number(certificate.error, 6)}: {saved} less."))  # fmt: skip
    return Section("The answer", blocks)


def _exchange(certificate: Certificate, data: Data) -> list[Section]:
    """Correlations of the columns that are exchanged."""
    if certificate.better is None:
        return []
    new, gone = _swapped(certificate.selection, certificate.better, range(data.shape[1]))
    if not new or not gone:
        return []
    blocks = correlation_figure(
        data, new, gone, title="Correlation of the columns that are exchanged",
        what="New columns down the side, those they replace along the top.",
    )  # fmt: skip
    return [Section("What is exchanged", blocks)]
