"""Bar charts of features: scores, and shares explained by the selected columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import number
from columnist.data._parameters import Integer
from columnist.data._validation import feature_names
from columnist.linalg._ties import ranked
from columnist.plotting._draw import Display, Style, draw_bars, name_rows, new_axes
from columnist.plotting._picture import FOUND, Bars
from columnist.selection._certified import ColumnSelector

_DROPPED, _STRIPE = "#8FC1E3", "#F2F2F2"
# From this many rows on, only selected columns are named; bars of fewer rows have numbers.
_CROWDED, _FIGURES = 120, 60


class FeatureScoresDisplay(Display):
    """Bars of the features' scores from the best down, the selected ones in colour.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Larger is better; NaN for a feature without a score.
    selected : array-like of int, optional
        Selected features.
    names : sequence of str, optional
        Names of all features; ``x0``, ``x1``, ... by default.
    ranking : array-like of int, optional
        All features, best first; by score if not given.
    title : str, optional
        What the scores are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
    bars_ : matplotlib BarContainer
        One bar per feature shown, the best first.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.plotting import FeatureScoresDisplay
    >>> from columnist.spectral import FisherScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureScoresDisplay.from_estimator(FisherScore(3).fit(X, y))
    >>> display.ax_.get_yticklabels()[0].get_text()
    'flavanoids'
    """

    def __init__(
        self, scores, *, selected=(), names: Sequence[str] | None = None, ranking=None,
        title: str | None = None,
    ):  # fmt: skip
        self.scores = np.asarray(scores, dtype=np.float64)
        self.selected = np.asarray(selected, dtype=np.intp)
        self.names = _names(names, len(self.scores))
        if len(self.names) != len(self.scores):
            raise ValueError(
                f"{len(self.scores)} scores need as many names; got {len(self.names)}."
            )
        self.ranking = ranked(self.scores) if ranking is None else np.asarray(ranking)
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, **options: Any) -> Self:
        """Draw the scores of a fitted selector.

        Parameters
        ----------
        estimator : selector
            Fitted; any selector with ``scores_``.
        **options
            As in :meth:`plot`.

        Returns
        -------
        FeatureScoresDisplay
        """
        check_is_fitted(estimator)
        name = type(estimator).__name__
        if not hasattr(estimator, "scores_"):
            raise ValueError(f"{name} does not score features one by one: it has no scores_.")
        return cls(
            estimator.scores_, selected=estimator.selected_, title=name,
            names=feature_names(estimator).tolist(), ranking=getattr(estimator, "ranking_", None),
        ).plot(**options)  # fmt: skip

    def plot(self, ax=None, *, max_features: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        max_features : int, default=20
            Features to show, at most.

        Returns
        -------
        self
        """
        Integer(1).check("max_features", max_features)
        bars = self._picture(max_features)
        ax = new_axes(figsize=(6.4, 1.2 + 0.26 * len(bars.values))) if ax is None else ax
        self.bars_ = draw_bars(ax, bars)
        return self._drawn_on(ax)

    def _picture(self, max_features: int) -> Bars:
        shown = self.ranking[:max_features]
        kept, values = np.isin(shown, self.selected), self.scores[shown]
        left_out = len(self.ranking) - len(shown)
        more = f", {left_out} more not shown" if left_out else ""
        texts = ["no score" if np.isnan(value) else number(value, 3) for value in values]
        return Bars(
            [self.names[j] for j in shown], values, texts,
            f"{self.title or 'Features'}: {kept.sum()} selected{more}", kept,
            f"{len(shown)} columns, the best first; {kept.sum()} of them are selected.",
            "score (larger is better)", ("selected", "not selected"),
        )  # fmt: skip


class RepresentativeDisplay(Display):
    """Which selected column represents each dropped one, and how well it is explained.

    One bar per column: its share (R²) that all selected columns explain. Columns are grouped
    under the selected column closest to them, the largest group first.

    Parameters
    ----------
    column_r2 : array-like of shape (n_features,)
        Share of each column that the selection explains.
    representative : array-like of int of shape (n_features,)
        The selected column closest to each column; selected columns represent themselves.
    feature_names : sequence of str, optional
        Names of the columns; ``x0``, ``x1`` and so on by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
    kept_bars_, dropped_bars_ : matplotlib BarContainer
        The bars.
    order_ : ndarray of int
        Columns from top to bottom.

    See Also
    --------
    columnist.ColumnSelector : Its ``column_r2_`` holds the shares.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ColumnSelector
    >>> from columnist.plotting import RepresentativeDisplay
    >>> selector = ColumnSelector(3).fit(scale(load_wine().data))
    >>> display = RepresentativeDisplay.from_estimator(selector)
    >>> len(display.kept_bars_), len(display.dropped_bars_)
    (3, 10)
    """

    def __init__(self, column_r2, representative, *, feature_names: Sequence[str] | None = None):
        self.column_r2 = np.asarray(column_r2, dtype=np.float64)
        self.representative = np.asarray(representative)
        self.feature_names = _names(feature_names, len(self.column_r2))

    @classmethod
    def from_estimator(cls, selector: ColumnSelector, *, ax=None, bar_kw: Style = None) -> Self:
        """Draw the selected and dropped columns of a fitted selector.

        Parameters
        ----------
        selector : ColumnSelector
            Fitted.
        ax, bar_kw
            As in :meth:`plot`.

        Returns
        -------
        RepresentativeDisplay
        """
        check_is_fitted(selector)
        names = getattr(selector, "feature_names_in_", None)
        display = cls(selector.column_r2_, selector.representative_, feature_names=names)
        return display.plot(ax, bar_kw=bar_kw)

    def plot(self, ax=None, *, bar_kw: Style = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure that is as tall as the names need.
        bar_kw : dict, optional
            Passed to ``Axes.barh``.

        Returns
        -------
        self
        """
        self.order_, group = self._order()
        bars, kept = self._picture(), self._kept()[self.order_]
        rows = np.arange(len(group)) + 0.5 * group  # half a row of air between groups
        few = len(rows) <= _FIGURES
        height = min(max(0.21 if few else 0.16, 2.5 / len(rows)), 0.4)
        ax = new_axes(figsize=(7.0, 0.9 + height * (rows[-1] + 1))) if ax is None else ax
        own = {"height": 0.78, "color": FOUND, "label": "selected"}
        self.kept_bars_ = ax.barh(rows[kept], bars.values[kept], **own | dict(bar_kw or {}))
        own |= {"color": _DROPPED, "label": "dropped"}
        self.dropped_bars_ = ax.barh(rows[~kept], bars.values[~kept], **own | dict(bar_kw or {}))
        for striped in range(0, group[-1] + 1, 2):
            here = rows[group == striped]
            ax.axhspan(here[0] - 0.75, here[-1] + 0.75, color=_STRIPE, zorder=0)
        named = np.flatnonzero(kept | (len(rows) <= _CROWDED))
        name_rows(ax, rows[named], [bars.names[i] for i in named.tolist()], kept[named],
                  size=8 if few else 6.5)  # fmt: skip
        ax.tick_params(axis="y", length=0)
        for i in np.flatnonzero(~kept & few).tolist():
            place = (bars.values[i] + 0.008, rows[i])
            ax.text(*place, bars.texts[i], va="center", size=7, color="0.25")
        ax.set(xlabel=bars.label, xlim=(0.0, 1.06), ylim=(rows[-1] + 0.75, -0.75))
        ax.set_xticks(np.linspace(0.0, 1.0, 6))
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
        return self._drawn_on(ax)

    def _kept(self) -> np.ndarray:
        return self.representative == np.arange(len(self.representative))

    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns by group, and the number of each one's group: the largest group first.

        A group is a selected column, then those it represents, the best explained first.
        """
        _, place, sizes = np.unique(self.representative, return_inverse=True, return_counts=True)
        order = np.lexsort((-self.column_r2, ~self._kept(), place, -sizes[place]))
        leaders = place[order]
        return order, np.cumsum(np.append(False, leaders[1:] != leaders[:-1]))

    def _picture(self, most: int | None = None) -> Bars:
        """What is drawn, or the first bars of it."""
        order = self._order()[0][:most]
        kept, shares = self._kept()[order], self.column_r2[order]
        return Bars(
            [self.feature_names[j] for j in order], shares, [f"{share:.2f}" for share in shares],
            "Selected columns and the columns they represent", kept,
            f"{len(order)} columns, each below its closest selected column; {kept.sum()} of them "
            "are selected.",
            "share explained by the selected columns (R²)", ("selected", "dropped"),
        )  # fmt: skip


def _names(names: Sequence[str] | None, n_features: int) -> list[str]:
    """The given names, or x0, x1 and so on."""
    return [f"x{j}" for j in range(n_features)] if names is None else [*map(str, names)]
