"""The report of a certified selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, joined, number, percent, ways
from columnist.criteria import get_criterion, leading_values
from columnist.data._target import as_target
from columnist.data._validation import resolve_constraints
from columnist.linalg._passes import columns_of, squared_norms
from columnist.report._blocks import (
    Block,
    KeyFigure,
    Names,
    Note,
    Section,
    Table,
    Text,
    Verdict,
)
from columnist.report._common import (
    call_of,
    column_names,
    proof_sections,
    redundancy_section,
    swapped,
)
from columnist.report._figures import (
    correlation_figure,
    path_figure,
    spectrum_figure,
)
from columnist.report._measures import Data, Spectrum, correlations, read_data, spectrum
from columnist.report._page import asked_section, page, reproduce_section
from columnist.search._words import CRITERIA, Subject, conditions, verdict
from columnist.selection._certified import ColumnSelector
from columnist.selection._path import SelectionPath

__all__ = ["selection_report"]

# Rows of the table of columns, and names in a list.
_MOST_ROWS, _MOST_NAMES = 3000, 400
_NOT_CENTRED = (
    "The data are not centred, and means were not free: R² is the share of a column's sum of "
    "squares, while correlations are about the means."
)


def selection_report(
    selector: ColumnSelector,
    X,
    y=None,
    *,
    names: Sequence[str] | None = None,
    path: SelectionPath | None = None,
    asked: Mapping[str, object] | None = None,
    title: str | None = None,
) -> str:
    """A page that tells what a certified selection kept, and defends it.

    Parameters
    ----------
    selector : ColumnSelector
        Fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    y : array-like, optional
        The target of the fit, if it had one.
    names : sequence of str, optional
        Names of the columns; those of the fit by default.
    path : SelectionPath, optional
        Selections of every size, for the curve of the error.
    asked : mapping of str to str, optional
        What was asked, in the words to be shown.
    title : str, optional
        Title of the page.

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
        asked_section(asked, parts.settings()),
        parts.answer(),
        *proof_sections(selector.certificate_, parts.subject, len(selector.solutions_)),
        parts.sizes(path),
        parts.spectrum(),
        *parts.targets(),
        parts.dropped(),
        redundancy_section(parts.data, selector.selected_, parts.names),
        reproduce_section(parts.code()),
    ]
    k, n = len(selector.selected_), parts.n_columns
    return page(
        title or f"{count(k, 'column')} of {n:,}",
        sections,
        kicker="Column selection, with a proof",
        verdict=Verdict(*verdict(selector.certificate_, parts.subject)),
        figures=parts.key_figures(),
    )


class _SelectionPage:
    """The parts of the report of one fitted selector."""

    def __init__(self, selector: ColumnSelector, X, y, names):
        self.selector = selector
        self.n_columns = selector.n_features_in_
        self.gram = selector.input == "gram"
        self.data: Data = read_data(X, gram=self.gram, n_columns=self.n_columns)
        self.names = column_names(names, selector, self.n_columns)
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
        return Subject("column", size, ways(free, size - len(include)), total, limits)

    # -- the parts ----------------------------------------------------------------

    def settings(self) -> list[tuple[str, str]]:
        """What the selector was told."""
        s, (n_rows, n) = self.selector, self.data.shape
        shape = f"a Gram matrix of {n} columns" if self.gram else (
            f"{count(n_rows, 'row')}, {count(n, 'column')}")  # fmt: skip
        wish = s.n_features_to_select
        keep = (
            f"the fewest columns with a relative error of at most {percent(s.tol)}"
            if wish == "auto"
            else count(len(s.selected_), "column")
        )
        what = "the target y" if not self.on_x else "all columns of the data themselves"
        rows = [("Data", shape), ("Keep", keep), ("To rebuild", what)]
        rows += [("Measure of error", CRITERIA.get(self.criterion.name, self.criterion.name))]
        if s.n_components:
            rows.append(("Beside the columns", f"{count(s.n_components, 'free direction')}"))
        rows += [
            ("Centring", "column means are free" if s.centering == "mean" else "none"),
            ("Search", s.search),
        ]
        if self.include:
            rows.append(("Always kept", joined(self.include, 30)))
        if self.exclude:
            rows.append(("Never kept", joined(self.exclude, 30)))
        limit = "none" if s.time_limit is None else f"{number(s.time_limit)} s"
        rows.append(("Time limit", limit))
        if s.max_nodes is not None:
            rows.append(("Limit on steps", f"{s.max_nodes:,}"))
        if s.max_gap > 0:
            rows.append(("Gap that is good enough", percent(s.max_gap)))
        return rows

    def key_figures(self) -> list[KeyFigure]:
        """The few numbers at the head."""
        s, certificate = self.selector, self.selector.certificate_
        proven = certificate.is_optimal
        gap = "0\u00a0%" if proven else percent(certificate.gap)
        return [
            KeyFigure("Kept", f"{len(s.selected_):,}", f"of {count(self.n_columns, 'column')}"),
            KeyFigure("Left unexplained", percent(s.relative_error_), f"of {self._whole()}"),
            KeyFigure("Proven gap", gap, "optimal" if proven else "of the error, at most"),
            KeyFigure("Time", f"{number(certificate.elapsed, 3)} s", "to find and prove"),
        ]

    def _whole(self) -> str:
        thing = "the data" if self.on_x else "the target"
        if self.criterion.name == "frobenius":
            return f"the variation of {thing}"
        return f"{thing}, by the {self.criterion.name} measure"

    def answer(self) -> Section:
        """The kept columns and the runners-up."""
        s = self.selector
        kept = [self.names[j] for j in s.selected_]
        blocks: list[Block] = [Names("Keep these columns", kept[:_MOST_NAMES])]
        if len(kept) > _MOST_NAMES:
            blocks.append(Note(f"{len(kept) - _MOST_NAMES:,} more are in the table below."))
        extra = count(s.n_components, "free direction") if s.n_components else ""
        extra = f", together with {extra}" if extra else ""
        thing = "all columns" if self.on_x else "the target"
        left = f"{percent(s.relative_error_)} of {self._whole()} is unexplained"
        rebuilt = f"{thing} can be rebuilt up to an error of {number(s.error_, 6)}: {left}."
        blocks.append(Text(f"By linear regression on them{extra}, {rebuilt}"))
        return Section("The answer", blocks + self._runners_up())

    def _runners_up(self) -> list[Block]:
        s = self.selector
        if len(s.solutions_) < 2:
            return [Note("Runners-up were not asked for (n_solutions).")]
        rows = []
        for place, solution in enumerate(s.solutions_, start=1):
            new, gone = swapped(s.selected_, solution, self.names)
            worse = solution.error / s.error_ - 1.0 if s.error_ > 0 and place > 1 else None
            rows.append((place, new, gone, solution.error, worse))
        kinds = [("Place", "count"), ("Takes", "names"), ("Instead of", "names"),
                 ("Error", "number"), ("Worse by", "percent")]  # fmt: skip
        proven = "proven" if s.certificate_.is_optimal else "found so far, not proven"
        table = Table(f"The best {len(rows)} sets, {proven}", kinds, rows, frozenset({0}))
        text = (
            "If one of these is easier to measure, this is exactly what it costs."
            if s.certificate_.is_optimal
            else "The search did not finish: other sets may lie between these."
        )
        return [table, Note(text)]

    def sizes(self, path: SelectionPath | None) -> Section:
        """Error against the number of columns."""
        title = "How many columns are needed"
        if path is None or len(path) < 2:
            text = "Only one number of columns was tried, so there is no curve to show."
            return Section(title, [Note(text)])
        return Section(title, [path_figure(path, self.selector.certificate_)])

    def spectrum(self) -> Section:
        """Singular values, and what no method at all can beat."""
        title = "Compared with principal components"
        s = self.selector
        found = spectrum(self.data, center=s.centering == "mean")
        if found is None:
            text = "The data are too large for their singular values to be computed here."
            return Section(title, [Note(text)])
        size = len(s.selected_) + int(s.n_components)
        return Section(title, [Text(self._against_pca(found, size)), spectrum_figure(found, size)])

    def _against_pca(self, found: Spectrum, size: int) -> str:
        if not self.on_x:
            return (
                "The singular values of the data say how many independent directions the columns "
                "have; few large ones mean that the columns repeat one another."
            )
        best = _left_by_pca(found, size, self.criterion)
        start = (
            "Principal components mix all columns, so they are not a choice of columns, but no "
            f"choice can beat them. With {size} of them, "
        )
        if best is None:
            return (
                start + "how much would be left cannot be told here: only the leading singular "
                "values are known."
            )
        s = self.selector
        about = "" if found.complete else "about "
        return (
            start + f"{about}{percent(best)} would be left; the {len(s.selected_)} kept columns "
            f"leave {percent(s.relative_error_)}. The difference is the price of keeping real "
            "columns."
        )

    def targets(self) -> list[Section]:
        """How well the target is explained."""
        if self.on_x:
            return []
        title = "How well the target is explained"
        if self.y is None:
            return [Section(title, [Note("The target was not handed to this report.")])]
        shares, labels = self._target_shares()
        rows = list(zip(labels, shares, strict=True))[:_MOST_ROWS]
        kinds = [("Target", "text"), ("Explained (R²)", "bar")]
        table = Table("Share of each target that the kept columns explain", kinds, rows)
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
        """Which kept column stands for each dropped one."""
        s = self.selector
        title = "What stands for the dropped columns"
        dropped = np.setdiff1d(np.arange(self.n_columns), s.selected_)
        if not len(dropped):
            return Section(title, [Text("No column was dropped.")])
        r2 = s.column_r2_[dropped]
        worst = dropped[np.argmin(r2)]
        text = (
            f"The kept columns together rebuild {percent(float(r2.mean()))} of a dropped column on "
            f"average. Least of all they rebuild {joined([self.names[worst]])}: "
            f"{percent(float(r2.min()))}. The nearest kept column is the one most like it."
        )
        order = dropped[np.argsort(r2, kind="stable")]
        blocks: list[Block] = [Text(text), *self._column_table(order), *_cut(len(order), "column")]
        if s.centering == "none" and not self.gram and self._off_centre():
            blocks.append(Note(_NOT_CENTRED))
        group = np.searchsorted(s.selected_, s.representative_[order])
        by_group = order[np.argsort(group, kind="stable")]
        blocks += correlation_figure(
            self.data, s.selected_, by_group, self.names,
            title="Correlation of kept and dropped columns",
            what="Kept columns down the side, dropped ones along the top.",
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
        kinds = [("Dropped column", "text"), ("Nearest kept column", "text"),
                 ("Correlation", "decimal"), ("Rebuilt by all kept (R²)", "bar")]  # fmt: skip
        table = Table("Dropped columns, the worst rebuilt first", kinds, rows)
        return [table, *([Note(f"Correlations: {remark}")] if remark else [])]

    def _off_centre(self) -> bool:
        X = self.data.sampled(self.n_columns)[0].X
        means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        return bool((means**2 > 1e-4 * squared_norms(X) / X.shape[0]).any())

    def code(self) -> str:
        """Lines that give the same answer again."""
        fit = "X" if self.on_x else "X, y"
        return (
            "from columnist import ColumnSelector\n\n"
            f"selector = {call_of(self.selector)}\n"
            f"selector.fit({fit})  # {self.n_columns:,} columns\n"
            "selector.certificate_"
        )


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
