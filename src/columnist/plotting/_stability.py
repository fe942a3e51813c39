"""Stability of a selection: how often columns are selected, and the error on rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from columnist._text import count, number
from columnist.plotting import _picture as pic
from columnist.plotting._draw import Display, Style, draw, draw_bars, panels_for
from columnist.selection._stability import SelectionStability

# Bars in a picture by default.
_MOST_BARS = 30
# Columns named at the end of a bar.
_MOST_NAMES = 2


class StabilityDisplay(Display):
    """Bars of how often columns are selected in resamples, and error against the number of columns.

    Columns of the selection from all rows are blue, others grey. Whiskers are one standard error
    long to each side, and the columns that replace a selected one stand beside its bar. If the
    error of several sizes was computed, a second panel shows it with its standard error, and the
    smallest size within one standard error of the least.

    Parameters
    ----------
    stability : SelectionStability
        Result of :func:`columnist.selection_stability`.
    names : sequence of str, optional
        Names of all columns; those of the data by default.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Axes and figure of the plot; ``ax_`` has the bars.
    bars_ : matplotlib BarContainer
        The frequencies.
    line_, band_ : matplotlib Line2D and PolyCollection, or None
        The error on the rows left out, and its standard error.

    See Also
    --------
    columnist.selection_stability : Computes the frequencies.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist import ForwardSelector, selection_stability
    >>> from columnist.plotting import StabilityDisplay
    >>> X = load_wine(as_frame=True).data
    >>> X = (X - X.mean()) / X.std()
    >>> stability = selection_stability(ForwardSelector(3), X, n_resamples=10, random_state=0)
    >>> display = StabilityDisplay.from_stability(stability)
    >>> display.ax_.get_xlabel()
    'share of 10 resamples that select the column'
    """

    def __init__(self, stability: SelectionStability, *, names: Sequence[str] | None = None):
        self.stability = stability
        p = stability.supports.shape[1]
        self.names = [stability.name(j) for j in range(p)] if names is None else [*map(str, names)]
        if len(self.names) != p:
            raise ValueError(f"names must have one entry for each of the {p} columns.")

    @classmethod
    def from_stability(cls, stability: SelectionStability, **options: Any) -> Self:
        """Draw the result of :func:`columnist.selection_stability`.

        Parameters
        ----------
        stability : SelectionStability
            The result.
        **options
            As in :meth:`plot`.

        Returns
        -------
        StabilityDisplay
        """
        return cls(stability).plot(**options)

    def plot(
        self, axes=None, *, max_features: int = _MOST_BARS, line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Where to: one, or two if there are several sizes. A new figure by default.
        max_features : int, default=30
            Most columns shown.
        line_kw, band_kw : dict, optional
            Passed to ``Axes.plot`` and ``Axes.fill_between`` for the error.

        Returns
        -------
        self
        """
        bars, several = self._bars(max_features), len(self.stability.sizes) > 1
        width, height = (10.0 if several else 6.4), max(3.2, 0.9 + 0.3 * len(bars.values))
        panels = panels_for(axes, 1 + several, ncols=1 + several, figsize=(width, height))
        self.bars_ = draw_bars(panels[0], bars)
        spreads = self.stability.standard_errors[self._order(max_features)]
        self._finish_bars(panels[0], bars, spreads)
        self.line_ = self.band_ = None
        if several:
            drawn = draw(panels[1], self._picture(), {"line": line_kw, "band": band_kw})
            self.line_, self.band_ = drawn["line"], drawn["band"]
            panels[1].set_title("Error on rows left out", fontsize=10)
            panels[1].legend(frameon=False, fontsize=8)
        return self._drawn_on(*panels)

    def _finish_bars(self, ax, bars: pic.Bars, spreads: np.ndarray) -> None:
        places = np.arange(len(spreads))
        ax.errorbar(bars.values, places, xerr=spreads, fmt="none", ecolor="0.25", elinewidth=1.0)
        for place, text in enumerate(self._replaced(bars.names)):
            end = bars.values[place] + spreads[place] + 0.02
            if text:
                ax.text(end, place, f"or {text}", va="center", fontsize=8, color="0.25")
        ax.set_xlim(0.0, 1.08 if not any(self._replaced(bars.names)) else 1.5)
        ax.set_xticks(np.linspace(0.0, 1.0, 6))

    def _order(self, most: int) -> np.ndarray:
        """The most frequent columns, of equals the selected ones first; none that is never kept."""
        s = self.stability
        chosen = np.isin(np.arange(len(self.names)), s.selected)
        order = np.lexsort((~chosen, -s.supports.sum(axis=0)))
        return order[chosen[order] | (s.frequencies[order] > 0.0)][:most]

    def _replaced(self, names: Sequence[str]) -> list[str]:
        """By whom each of the shown columns is replaced."""
        by: dict[str, list[str]] = {}
        for pair in self.stability.replacements:
            by.setdefault(self.names[pair.column], []).append(self.names[pair.by])
        texts = []
        for name in names:
            found = by.get(name, [])
            more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
            texts.append(", ".join(found[:_MOST_NAMES]) + more)
        return texts

    def _bars(self, most: int = _MOST_BARS) -> pic.Bars:
        """The bars that are drawn."""
        s, order = self.stability, self._order(most)
        shares, spreads = s.frequencies[order], s.standard_errors[order]
        texts = [f"{100 * f:.0f} ± {100 * e:.0f} %" for f, e in zip(shares, spreads, strict=True)]
        return pic.Bars(
            [self.names[j] for j in order], shares, texts, "How often columns are selected",
            np.isin(order, s.selected),
            f"{count(len(order), 'column')}, the most frequent first.",
            f"share of {count(s.n_resamples, 'resample')} that select the column",
            ("selected from all rows", "not selected"),
        )  # fmt: skip

    def _picture(self) -> pic.Picture:
        """Error against the number of columns."""
        s = self.stability
        errors, spreads = 100.0 * s.errors, 100.0 * s.error_standard_errors
        least = int(np.argmin(errors))
        limit = float(errors[least] + spreads[least])

        def tip(i: int) -> str:
            return (
                f"{count(int(s.sizes[i]), 'column')}\n{number(errors[i])} % unexplained\n"
                f"standard error {number(spreads[i])} %"
            )

        marks: list[pic.Mark] = [
            pic.Line(s.sizes, errors, key="line"),
            pic.Points(s.sizes, errors, key="points", tip=tip),
            pic.Band(s.sizes, errors - spreads, errors + spreads, key="band", color="other",
                     label="one standard error"),
            pic.Rule("y", limit, key="limit", color="ink", label="least error and its standard "
                     "error"),
            pic.Points(np.array([s.best_size]), errors[s.sizes == s.best_size], "ring", key="best",
                       color="proven", label=f"within it: {count(s.best_size, 'column')}",
                       scattered=True),
        ]  # fmt: skip
        ends = float(s.sizes.min()) - 0.4, float(s.sizes.max()) + 0.4
        levels = np.concatenate([errors - spreads, errors + spreads])
        return pic.Picture(
            pic.Axis(*ends, "number of columns", whole=True),
            pic.Axis.around(levels, "unexplained in rows left out (%)"), marks,
            "Error on rows left out",
            f"From {number(errors[0])} % at {s.sizes[0]} to {number(errors[-1])} % at "
            f"{count(int(s.sizes[-1]), 'column')}.",
        )  # fmt: skip
