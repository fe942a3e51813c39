"""Which kept column stands for each dropped one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist.plotting._draw import axes_for
from columnist.plotting._picture import FOUND
from columnist.selection._certified import ColumnSelector

__all__ = ["RepresentativeDisplay"]

_KEPT, _DROPPED, _STRIPE = FOUND, "#8FC1E3", "#F2F2F2"
# From this many rows on, only kept columns are named and bars carry no figures.
_CROWDED = 120
_FIGURES = 60


class RepresentativeDisplay:
    """Which kept column stands for each dropped one, and how well it is rebuilt.

    One bar per column: the share of it (R²) that all kept columns together rebuild. Columns
    are grouped under the kept column closest to them, the largest group first.

    Parameters
    ----------
    column_r2 : array-like of shape (n_features,)
        Share of each column that the selection rebuilds.
    representative : array-like of int of shape (n_features,)
        The kept column closest to each column; kept ones represent themselves.
    feature_names : sequence of str, optional
        Names of the columns; ``x0``, ``x1`` and so on by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    kept_bars_, dropped_bars_ : matplotlib BarContainer
        The bars.
    order_ : ndarray of int
        Columns from top to bottom.

    See Also
    --------
    columnist.ColumnSelector : Its ``column_r2_`` holds the shares.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
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
        if feature_names is None:
            feature_names = [f"x{i}" for i in range(len(self.column_r2))]
        self.feature_names = [str(name) for name in feature_names]

    @classmethod
    def from_estimator(
        cls, selector: ColumnSelector, *, ax=None, bar_kw: Mapping[str, Any] | None = None
    ) -> RepresentativeDisplay:
        """Draw what a fitted selector kept and dropped.

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
        display = cls(
            selector.column_r2_,
            selector.representative_,
            feature_names=getattr(selector, "feature_names_in_", None),
        )
        return display.plot(ax, bar_kw=bar_kw)

    def plot(self, ax=None, *, bar_kw: Mapping[str, Any] | None = None) -> RepresentativeDisplay:
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
        groups = self._groups()
        self.order_ = np.concatenate(groups)
        placed = _place(groups)
        rows = np.concatenate(placed)
        height = min(max(0.21 if len(rows) <= _FIGURES else 0.16, 2.5 / len(rows)), 0.4)
        ax = axes_for(ax, figsize=(7.0, 0.9 + height * (rows[-1] + 1)))
        r2, kept = self.column_r2[self.order_], self._kept()[self.order_]
        style = {"height": 0.78} | dict(bar_kw or {})
        self.kept_bars_ = ax.barh(rows[kept], r2[kept], **{"color": _KEPT, "label": "kept"} | style)
        self.dropped_bars_ = ax.barh(
            rows[~kept], r2[~kept], **{"color": _DROPPED, "label": "dropped"} | style
        )
        for group_rows in placed[::2]:
            ax.axhspan(group_rows[0] - 0.75, group_rows[-1] + 0.75, color=_STRIPE, zorder=0)
        self._name_rows(ax, rows, kept)
        if len(rows) <= _FIGURES:
            for row, share in zip(rows[~kept], r2[~kept], strict=True):
                ax.text(share + 0.008, row, f"{share:.2f}", va="center", size=7, color="0.25")
        ax.set(xlabel="share rebuilt by the kept columns (R²)", xlim=(0.0, 1.06))
        ax.set_ylim(rows[-1] + 0.75, -0.75)
        ax.set_xticks(np.linspace(0.0, 1.0, 6))
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _kept(self) -> np.ndarray:
        return self.representative == np.arange(len(self.representative))

    def _groups(self) -> list[np.ndarray]:
        """Columns by representative: itself first, then the best rebuilt; largest group first."""
        groups = []
        for leader in np.flatnonzero(self._kept()):
            members = np.flatnonzero(self.representative == leader)
            members = members[members != leader]
            by_share = np.argsort(-self.column_r2[members], kind="stable")
            groups.append(np.concatenate([[leader], members[by_share]]))
        return sorted(groups, key=len, reverse=True)

    def _name_rows(self, ax, rows, kept) -> None:
        named = kept if len(rows) > _CROWDED else np.ones(len(rows), dtype=bool)
        size = 8 if len(rows) <= _FIGURES else 6.5
        labels = [self.feature_names[i] for i in self.order_[named]]
        ax.set_yticks(rows[named], labels, size=size)
        ax.tick_params(axis="y", length=0)
        for text, is_kept in zip(ax.get_yticklabels(), kept[named], strict=True):
            text.set_fontweight("bold" if is_kept else "normal")


def _place(groups: list[np.ndarray]) -> list[np.ndarray]:
    """Vertical positions of every group's rows, with half a row of air between groups."""
    placed, top = [], 0.0
    for group in groups:
        placed.append(top + np.arange(len(group)))
        top += len(group) + 0.5
    return placed
