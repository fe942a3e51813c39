"""The report of a robust PCA: the outlying rows and their distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from columnist._text import count, number, readable, ways
from columnist.plotting._outliers import OutlierMapDisplay
from columnist.report import _page as pages
from columnist.report._blocks import Block, KeyFigure, Note, Section, Table, Text, Verdict
from columnist.report._figures import figure
from columnist.report._measures import column_names
from columnist.robust._base import BaseRobustPCA
from columnist.search._certificate import Certificate
from columnist.search._words import Subject, verdict

# Points of the map that are not regular, those that are, and rows of the table.
_MOST_STRANGE, _MOST_REGULAR, _MOST_ROWS = 700, 800, 2000
_MAP = (
    "Each row has two distances: from the centre, within the subspace of the kept rows, and from "
    "that subspace. Rows far from the subspace distort an ordinary PCA. Rows far within it "
    "(leverage) follow the pattern of the kept rows, or have turned the subspace towards "
    "themselves. 97.5\u00a0% of regular rows are within each cut-off."
)
_MASKING = (
    "What the proof does not cover. It is about the error of the kept rows, their squared distance "
    "from the subspace. A group of outliers that attracts a component has a small error: it is "
    "kept, and its members mask one another. A second, robust method (ROBPCA, or an MCD) shows "
    "such groups; max_distance removes them before the search."
)


def outlier_report(
    estimator: BaseRobustPCA, X, *, names: Sequence[str] | None = None,
    labels: Sequence[object] | None = None, numbers: Sequence[int] | None = None,
    asked: pages.Asked = None, title: str | None = None, origin: pages.Origin | None = None,
) -> str:  # fmt: skip
    """A page about the rows that a robust PCA removed.

    Parameters
    ----------
    estimator : estimator of columnist.robust
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The rows of the fit.
    labels : sequence, optional
        Names of the rows; by default the index of a data frame, else row numbers from 0.
    numbers : sequence of int, optional
        Numbers of the rows, where they are not 0, 1 and so on.
    names, asked, title, origin
        As in :func:`selection_report`.

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
    map_ = OutlierMapDisplay._of_fit(estimator, X, labels)
    n, removed, flagged = len(map_.labels), map_.removed, np.count_nonzero(map_._places())
    numbers = range(n) if numbers is None else numbers
    certificate = getattr(estimator, "certificate_", None)
    far = len(getattr(estimator, "far_rows_", ()))
    limits = f" that contain the {count(far, 'row')} beyond the distance limit" if far else ""
    subject = Subject("row", len(removed), ways(n - far, len(removed) - far), limits=limits)
    settings = [
        ("Data", pages.size_of((n, estimator.n_features_in_))),
        ("Method", type(estimator).__name__),
        ("Components", f"{estimator.n_components_}"),
        ("Rows to remove", f"{len(removed):,}"),
    ]
    columns = column_names(names, estimator, estimator.n_features_in_)
    sections = [
        Section("Removed rows", _removed(map_, numbers)),
        Section("Outlier map", _map_blocks(map_, numbers)),
        *([] if certificate is None else _proof(certificate, subject)),
        pages.proof_file_section(
            getattr(estimator, "proof", None), origin.file if origin else "data.csv"
        ),
        Section("The subspace of the kept rows", _subspace(estimator, n, columns)),
    ]
    figures = [
        KeyFigure("Removed", f"{len(removed):,}", f"of {count(n, 'row')}"),
        KeyFigure("Flagged", f"{flagged:,}", "rows beyond a cut-off"),
        KeyFigure("Components", f"{estimator.n_components_}"),
        KeyFigure("Error", number(float(estimator.error_)), "of the kept rows"),
        *([] if certificate is None else [pages.time_figure(certificate, origin)]),
    ]
    code = pages.code_of(estimator, "estimator", "fit(X)", "outliers_")
    return pages.report(
        title or f"{count(len(removed), 'row')} removed", asked, settings, sections, code,
        kicker="Outliers and robust principal components", figures=figures,
        verdict=None if certificate is None else Verdict(*verdict(certificate, subject)),
        origin=origin,
    )  # fmt: skip


def _proof(certificate: Certificate, subject: Subject) -> list[Section]:
    """The proof and its limits."""
    first, *others = pages.proof_sections(certificate, subject)
    return [replace(first, blocks=[*first.blocks, Text(_MASKING)]), *others]


def _map_blocks(map_: OutlierMapDisplay, numbers: Sequence[int]) -> list[Block]:
    """The map of as many rows as can be distinguished."""
    shown, remark = _shown(map_)
    everything = np.arange(len(map_.labels))
    table = _rows_table(map_, numbers, "The most outlying rows", everything, 100)
    return [Text(_MAP), figure(map_._picture(shown=shown), remark, table)]


def _shown(map_: OutlierMapDisplay) -> tuple[np.ndarray, str]:
    """Rows to draw: the most outlying ones, and some of the regular."""
    marked = map_._places() > 0
    marked[map_.removed] = True
    regular = np.flatnonzero(~marked)
    strange = _farthest(map_, np.flatnonzero(marked))[:_MOST_STRANGE]
    if len(regular) > _MOST_REGULAR:
        regular = np.sort(np.random.default_rng(0).choice(regular, _MOST_REGULAR, replace=False))
    shown = np.concatenate([strange, regular])
    if len(shown) == len(marked):
        return shown, ""
    return shown, (
        f"{len(shown):,} of {len(marked):,} rows are drawn: the most outlying ones, and regular "
        "ones taken at random."
    )


def _removed(map_: OutlierMapDisplay, numbers: Sequence[int]) -> list[Block]:
    """Rows that were removed, the most outlying first."""
    removed = map_.removed
    if not len(removed):
        return []
    first = "0, as in Python" if isinstance(numbers, range) else "1, as in the file"
    caption = "Removed rows, the most outlying first"
    blocks: list[Block] = [
        _rows_table(map_, numbers, caption, removed, _MOST_ROWS),
        Note(f"Rows are counted from {first}."),
    ]
    regular = int((map_._places()[removed] == 0).sum())
    if regular:
        why = "they were excluded from the fit, but look like the kept rows."
        blocks.append(Note(f"{count(regular, 'row')} of these lie within both cut-offs: {why}"))
    return blocks + pages.left_out(len(removed), _MOST_ROWS, "{} more are left out.")


def _farthest(map_: OutlierMapDisplay, rows: np.ndarray) -> np.ndarray:
    """The rows, the most outlying first."""
    return rows[np.argsort(-map_._cutoffs()[rows], kind="stable")]


def _rows_table(
    map_: OutlierMapDisplay, numbers: Sequence[int], caption: str, rows: np.ndarray, most: int
) -> Table:
    """The most outlying of some rows."""
    regions, cutoffs = map_.regions, map_._cutoffs()
    cells = [
        (int(numbers[i]), readable(map_.labels[i], 80), regions[i], float(map_.score_distances[i]),
         float(map_.orthogonal_distances[i]), float(cutoffs[i]))
        for i in _farthest(map_, rows)[:most]
    ]  # fmt: skip
    kinds = [("Row", "count"), ("Label", "text"), ("Region", "text"), ("Within", "number"),
             ("Off", "number"), ("In cut-offs", "number")]  # fmt: skip
    return Table(caption, kinds, cells)


def _subspace(estimator: BaseRobustPCA, n_rows: int, names: Sequence[str]) -> list[Block]:
    """Variances and leading columns of the components."""
    variances = np.asarray(estimator.explained_variance_, dtype=np.float64)
    # The spread of the kept rows: what the components explain, and the rest.
    kept = max(n_rows - len(estimator.outliers_) - 1, 1)
    total = float(variances.sum() + estimator.error_ / kept)
    rows = []
    for i, (variance, component) in enumerate(zip(variances, estimator.components_, strict=True)):
        leading = np.argsort(-np.abs(component), kind="stable")[:3]
        share = float(variance / total) if total > 0 else None
        rows.append((i + 1, float(variance), share, [names[j] for j in leading]))
    if not rows:
        return []
    kinds = [("Component", "count"), ("Variance", "number"),
             ("Share", "bar"), ("Columns with the largest weights", "names")]  # fmt: skip
    return [Table("Components of the kept rows", kinds, rows[:_MOST_ROWS])]
