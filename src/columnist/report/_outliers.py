"""The report of a robust PCA: which rows are outliers, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, number, readable, ways
from columnist.report._blocks import (
    Block,
    Facts,
    Figure,
    KeyFigure,
    Legend,
    Note,
    Section,
    Table,
    Text,
    Verdict,
)
from columnist.report._charts import Axis, Plot
from columnist.report._common import call_of, column_names
from columnist.report._figures import drawn_twice, history_figure
from columnist.report._page import asked_section, page, reproduce_section
from columnist.robust._base import BaseRobustPCA
from columnist.search._words import Subject, details, explained, verdict

__all__ = ["outlier_report"]

_REGIONS = (
    ("regular", "near in both", "dot", "c-other"),
    ("good leverage", "far within the subspace", "square", "c-found"),
    ("orthogonal outlier", "off the subspace", "triangle", "c-warn"),
    ("bad leverage", "both", "diamond", "c-proven"),
)
# Points of the map that are not regular, those that are, and rows of the table.
_MOST_STRANGE, _MOST_REGULAR, _MOST_ROWS = 700, 800, 2000
# Names on the map, and the farthest a linear axis goes, in cut-offs.
_NAMED, _FAR, _EDGE = 8, 8.0, 1e-2


def outlier_report(
    estimator: BaseRobustPCA,
    X,
    *,
    names: Sequence[str] | None = None,
    labels: Sequence[object] | None = None,
    asked: Mapping[str, object] | None = None,
    title: str | None = None,
) -> str:
    """A page about the rows that a robust PCA set aside.

    Parameters
    ----------
    estimator : estimator of columnist.robust
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The rows of the fit.
    names : sequence of str, optional
        Names of the columns.
    labels : sequence, optional
        Names of the rows; by default the index of a data frame, else row numbers from 0.
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
    >>> from columnist.report import outlier_report
    >>> from columnist.robust import TrimmedPCA
    >>> X = scale(load_wine().data)
    >>> html = outlier_report(TrimmedPCA(2, n_outliers=4).fit(X), X)
    >>> "orthogonal outlier" in html
    True
    """
    check_is_fitted(estimator)
    story = _Story(estimator, X, names, labels)
    certificate = getattr(estimator, "certificate_", None)
    subject = story.subject()
    return page(
        title or f"{count(len(story.removed), 'row')} set aside",
        [
            asked_section(asked, story.settings()),
            Section("Outlier map", story.map()),
            Section("The rows set aside", story.table()),
            *([] if certificate is None else _proof(certificate, subject)),
            Section("The subspace of the other rows", story.subspace()),
            reproduce_section(story.code()),
        ],
        kicker="Outliers, and a PCA that survives them",
        verdict=None if certificate is None else Verdict(*verdict(certificate, subject)),
        figures=story.key_figures(),
    )


def _proof(certificate, subject: Subject) -> list[Section]:
    words = [*map(Text, explained(certificate, subject))]
    facts = Facts(details(certificate, subject))
    return [
        Section("What is proven", [*words, facts]),
        Section("How the search went", [history_figure(certificate)]),
    ]


class _Story:
    """The parts of the report of one fitted estimator."""

    def __init__(self, estimator: BaseRobustPCA, X, names, labels):
        self.estimator = estimator
        if labels is None and hasattr(X, "iloc"):
            labels = X.index
        self.removed = np.asarray(estimator.outliers_, dtype=np.intp)
        self.score = estimator.score_distances(X)
        self.orthogonal = estimator.orthogonal_distances(X)
        n = len(self.score)
        if len(self.removed) and self.removed.max() >= n:
            raise ValueError(
                f"Row {self.removed.max()} was removed by the fit, but X has {n} rows: pass the "
                "rows of the fit."
            )
        labels = range(n) if labels is None else labels
        if len(labels) != n:
            raise ValueError(f"labels needs one entry per row ({n}); got {len(labels)}.")
        self.labels = labels
        self.names = column_names(names, estimator, estimator.n_features_in_)
        self.X = X
        off = self.orthogonal > estimator.orthogonal_cutoff_
        self.region = 2 * off + (self.score > estimator.score_cutoff_)
        self.far = np.maximum(
            self.score / estimator.score_cutoff_, self.orthogonal / estimator.orthogonal_cutoff_
        )

    def label(self, row: int) -> str:
        """Name of a row."""
        return readable(self.labels[row], 80)

    def subject(self) -> Subject:
        """What a certificate is about."""
        n, k = len(self.score), len(self.removed)
        return Subject("row", k, ways(n, k))

    def settings(self) -> list[tuple[str, str]]:
        """What the estimator was told."""
        e, n = self.estimator, len(self.score)
        shape = f"{count(n, 'row')}, {count(e.n_features_in_, 'column')}"
        return [
            ("Data", shape),
            ("Method", type(e).__name__),
            ("Components", f"{e.n_components_}"),
            ("Rows to set aside", f"{len(self.removed):,}"),
        ]

    def key_figures(self) -> list[KeyFigure]:
        """The few numbers at the head."""
        flagged = int((self.region > 0).sum())
        return [
            KeyFigure("Set aside", f"{len(self.removed):,}", f"of {count(len(self.score), 'row')}"),
            KeyFigure("Beyond a cut-off", f"{flagged:,}", "rows, set aside or not"),
            KeyFigure("Components", f"{self.estimator.n_components_}"),
            KeyFigure("Error", number(float(self.estimator.error_)), "of the rows that stay"),
        ]

    def map(self) -> list[Block]:
        """Score distance against orthogonal distance."""
        shown, remark = self._shown()
        draw = self._draw(shown)
        present = [i for i in range(4) if (self.region == i).any()]
        legend = [
            Legend(_REGIONS[i][2], _REGIONS[i][3],
                   f"{_REGIONS[i][0]}: {_REGIONS[i][1]} ({(self.region == i).sum():,})")
            for i in present
        ]  # fmt: skip
        if len(self.removed):
            legend.append(Legend("ring", "c-ink", f"set aside by the fit ({len(self.removed):,})"))
        legend.append(Legend("dashed", "c-ink", "cut-offs: 97.5 % of good rows are within each"))
        text = (
            "Each row has two distances: how far it lies from the centre along the pattern of the "
            "others, and how far off that pattern it is. Rows far off the pattern are the ones "
            "that turn an ordinary PCA; rows far along it obey the pattern, and do no harm."
        )
        table = self._rows_table(
            "The most outlying rows", np.argsort(-self.far, kind="stable"), 100
        )
        figure = Figure(
            "Outlier map", **drawn_twice(draw), legend=legend, caption=remark, table=table
        )
        return [Text(text), figure]

    def _shown(self) -> tuple[np.ndarray, str]:
        """Rows to draw: the most outlying ones, and some of the regular."""
        marked = self.region > 0
        marked[self.removed] = True
        strange = np.flatnonzero(marked)
        strange = strange[np.argsort(-self.far[strange], kind="stable")][:_MOST_STRANGE]
        regular = np.flatnonzero(~marked)
        if len(regular) > _MOST_REGULAR:
            rng = np.random.default_rng(0)
            regular = rng.choice(regular, _MOST_REGULAR, replace=False)
        shown = np.concatenate([strange, np.sort(regular)])
        if len(shown) == len(self.score):
            return shown, ""
        return shown, (
            f"{len(shown):,} of {len(self.score):,} rows are drawn: the most outlying ones, and "
            "regular ones taken at random."
        )

    def _draw(self, shown: np.ndarray):
        e = self.estimator
        tips = {
            int(i): f"{self.label(i)}\n{_REGIONS[self.region[i]][0]}\nwithin: "
            f"{number(self.score[i], 3)}, off: {number(self.orthogonal[i], 3)}"
            for i in shown
        }
        removed = shown[np.isin(shown, self.removed)]
        named = [i for i in shown[:_NAMED] if self.region[i] > 0]

        def draw(width: float) -> str:
            x = _axis(self.score[shown], e.score_cutoff_, "distance along the pattern")
            y = _axis(self.orthogonal[shown], e.orthogonal_cutoff_, "distance off the pattern")
            plot = Plot(
                x, y, title="Outlier map", width=width, height=440,
                description=f"{len(shown)} rows; {(self.region > 0).sum()} lie beyond a cut-off.",
            )  # fmt: skip
            plot.upright(e.score_cutoff_, "c-ink dashed thin")
            plot.level(e.orthogonal_cutoff_, "c-ink dashed thin")
            for place, (_, _, shape, cls) in enumerate(_REGIONS):
                rows = shown[self.region[shown] == place]
                told = [tips[int(i)] for i in rows]
                faint = f"{cls} faint" if place == 0 else cls
                plot.points(self.score[rows], self.orthogonal[rows], faint, told, shape=shape)
            spots = self.score[removed], self.orthogonal[removed]
            plot.points(*spots, "rings", None, radius=8)
            strange = shown[(self.region[shown] > 0) | np.isin(shown, self.removed)]
            plot.labels(
                self.score[named], self.orthogonal[named], [self.label(i) for i in named],
                around=(self.score[strange], self.orthogonal[strange]),
            )  # fmt: skip
            return plot.svg()

        return draw

    def table(self) -> list[Block]:
        """Rows that were removed, the most outlying first."""
        if not len(self.removed):
            return [Text("The fit set no row aside.")]
        order = self.removed[np.argsort(-self.far[self.removed], kind="stable")]
        caption = "Rows set aside, the most outlying first"
        blocks: list[Block] = [self._rows_table(caption, order, _MOST_ROWS)]
        regular = int((self.region[self.removed] == 0).sum())
        if regular:
            blocks.append(
                Note(
                    f"{count(regular, 'row')} of these lie within both cut-offs: the fit did "
                    "without them, but they look like the others."
                )
            )
        if len(order) > _MOST_ROWS:
            blocks.append(Note(f"{len(order) - _MOST_ROWS:,} more are left out."))
        return blocks

    def _rows_table(self, caption: str, order: np.ndarray, most: int) -> Table:
        rows = [
            (int(i), self.label(i), _REGIONS[self.region[i]][0], float(self.score[i]),
             float(self.orthogonal[i]), float(self.far[i]))
            for i in order[:most]
        ]  # fmt: skip
        kinds = [("Row", "count"), ("Label", "text"), ("Region", "text"), ("Along", "number"),
                 ("Off", "number"), ("In cut-offs", "number")]  # fmt: skip
        return Table(caption, kinds, rows)

    def subspace(self) -> list[Block]:
        """Variances and leading columns of the components."""
        e = self.estimator
        variances = np.asarray(e.explained_variance_, dtype=np.float64)
        # The spread of the rows that stay: what the components explain, and the rest.
        kept = max(len(self.score) - len(self.removed) - 1, 1)
        total = float(variances.sum() + e.error_ / kept)
        rows = []
        for i, (variance, component) in enumerate(zip(variances, e.components_, strict=True)):
            leading = np.argsort(-np.abs(component), kind="stable")[:3]
            share = float(variance / total) if total > 0 else None
            rows.append((i + 1, float(variance), share, [self.names[j] for j in leading]))
        kinds = [("Component", "count"), ("Variance", "number"),
                 ("Share", "bar"), ("Columns with the largest weights", "names")]  # fmt: skip
        if not rows:
            return [Note("The fit has no components.")]
        blocks: list[Block] = [Table("Components of the rows that stay", kinds, rows[:_MOST_ROWS])]
        return blocks

    def code(self) -> str:
        """Lines that give the same answer again."""
        name = type(self.estimator).__name__
        return (
            f"from columnist.robust import {name}\n\nestimator = {call_of(self.estimator)}\n"
            "estimator.fit(X)\nestimator.outliers_"
        )


def _axis(distances: np.ndarray, cutoff: float, label: str) -> Axis:
    """A linear axis, or a logarithmic one where rows are very far; it ends at little distances."""
    finite = distances[np.isfinite(distances)]
    farthest = max(finite.max(initial=0.0), cutoff)
    if farthest <= _FAR * cutoff:
        return Axis(0.0, 1.06 * farthest, label)
    lowest = max(finite.min(initial=cutoff), _EDGE * cutoff) / 1.2
    return Axis(lowest, farthest * (farthest / lowest) ** 0.06, f"{label} (logarithmic)", log=True)
