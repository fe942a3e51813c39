"""Bound and incumbent over the time of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import number
from columnist.plotting._draw import axes_for, draw
from columnist.plotting._picture import Axis, Band, Line, Mark, Picture, Points, Rule, unit_of
from columnist.search._certificate import Certificate
from columnist.selection._certified import ColumnSelector

__all__ = ["SearchProgressDisplay"]

# Moments that can be pointed at; the lines have them all.
_MOMENTS = 40


class SearchProgressDisplay:
    """Best error found and bound proven, over the time of a search.

    The two steps close in on the optimum from above and from below; the band between them
    is the gap. Where they meet the choice is proven optimal.

    Parameters
    ----------
    elapsed : array-like of shape (n_records,)
        Seconds since the start.
    incumbent, bound : array-like of shape (n_records,)
        Error of the best choice so far and the proven lower bound.
    expanded : array-like of int of shape (n_records,), optional
        Nodes expanded so far.
    given : float, optional
        Error of a selection that was to be certified.
    criterion : str, default="frobenius"
        What was minimised, for the axis label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    incumbent_line_, bound_line_ : matplotlib Line2D
        The two steps.
    band_ : matplotlib PolyCollection
        The gap between them.
    given_line_ : matplotlib Line2D or None
        Error of the certified selection.

    See Also
    --------
    columnist.Certificate : Its ``history`` holds the numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ColumnSelector
    >>> from columnist.plotting import SearchProgressDisplay
    >>> selector = ColumnSelector(4).fit(scale(load_wine().data))
    >>> display = SearchProgressDisplay.from_estimator(selector)
    >>> display.ax_.get_xlabel()
    'time (s)'
    """

    def __init__(
        self,
        elapsed,
        incumbent,
        bound,
        *,
        expanded=None,
        given: float | None = None,
        criterion: str = "frobenius",
    ):
        self.elapsed = np.asarray(elapsed, dtype=np.float64)
        self.incumbent = np.asarray(incumbent, dtype=np.float64)
        self.bound = np.asarray(bound, dtype=np.float64)
        self.expanded = None if expanded is None else np.asarray(expanded)
        self.given, self.criterion = given, criterion

    @classmethod
    def from_certificate(cls, certificate: Certificate, **options: Any) -> SearchProgressDisplay:
        """Draw the history of a certificate.

        Parameters
        ----------
        certificate : Certificate
            Of a search. A certificate of :func:`columnist.certify` that knows a better
            selection also shows the error of the given one.
        **options
            As in :meth:`plot`.

        Returns
        -------
        SearchProgressDisplay
        """
        return cls._of_certificate(certificate).plot(**options)

    @classmethod
    def _of_certificate(cls, certificate: Certificate) -> SearchProgressDisplay:
        history = certificate.history
        if not history:
            raise ValueError("This certificate has no history: it does not come from a search.")
        column = {name: [record[name] for record in history] for name in history[0]}
        return cls(
            column["elapsed"],
            column["incumbent"],
            column["bound"],
            expanded=column["expanded"],
            given=None if certificate.better is None else certificate.error,
            criterion=certificate.criterion,
        )

    @classmethod
    def from_estimator(cls, selector: ColumnSelector, **options: Any) -> SearchProgressDisplay:
        """Draw the search of a fitted selector.

        Parameters
        ----------
        selector : ColumnSelector
            Fitted.
        **options
            As in :meth:`from_certificate`.

        Returns
        -------
        SearchProgressDisplay
        """
        check_is_fitted(selector)
        return cls.from_certificate(selector.certificate_, **options)

    def plot(
        self,
        ax=None,
        *,
        x: str = "elapsed",
        incumbent_kw: Mapping[str, Any] | None = None,
        bound_kw: Mapping[str, Any] | None = None,
    ) -> SearchProgressDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; a new figure by default.
        x : {"elapsed", "expanded"}, default="elapsed"
            Horizontal axis: seconds, or nodes expanded.
        incumbent_kw, bound_kw : dict, optional
            Passed to ``Axes.plot`` for either line.

        Returns
        -------
        self
        """
        picture = self._picture(x)
        ax = axes_for(ax)
        drawn = draw(ax, picture, {"incumbent": incumbent_kw, "bound": bound_kw})
        self.incumbent_line_, self.bound_line_ = drawn["incumbent"], drawn["bound"]
        self.band_, self.given_line_ = drawn["band"], drawn.get("given")
        drawn["end"].set_color(self.incumbent_line_.get_color())
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _picture(self, x: str = "elapsed") -> Picture:
        along, label = self._along(x)
        best = np.where(np.isfinite(self.incumbent), self.incumbent, np.nan)
        bound = np.where(np.isfinite(self.bound), self.bound, np.nan)
        gap = f"gap, {100 * self._gap():.3g} % at the end"
        shown = np.unique(np.linspace(0, len(along) - 1, _MOMENTS).round().astype(int))
        marks: list[Mark] = [
            Line(along, best, False, True, key="incumbent", label="best found"),
            Line(along, bound, True, True, key="bound", color="proven", label="proven bound"),
            Band(along, bound, best, True, key="band", color="open", label=gap),
            Points(along[-1:], best[-1:], key="end"),
        ]
        if self.given is not None:
            words = "selection to certify"
            marks.append(Rule("y", self.given, key="given", color="ink", label=words))

        def tip(i: int) -> str:
            said = f"after {number(self.elapsed[shown[i]], 3)} s\nbest found "
            said += f"{number(best[shown[i]], 5)}\nproven bound {number(bound[shown[i]], 5)}"
            nodes = "" if self.expanded is None else f"\n{int(self.expanded[shown[i]]):,} nodes"
            return said + nodes

        marks.append(Points(along[shown], best[shown], tip=tip, hidden=True, key="moments"))
        levels = np.concatenate([best, bound, [] if self.given is None else [self.given]])
        y = Axis.around(levels, unit_of(None, False, self.criterion)[1])
        last = f"{number(best[-1], 5)}, the proven bound rises to {number(bound[-1], 5)}"
        return Picture(
            Axis.around(along, label, zero=True), y, marks, "Best error found and proven bound",
            f"The error of the best choice falls to {last}.",
        )  # fmt: skip

    def _along(self, x: str) -> tuple[np.ndarray, str]:
        if x == "elapsed":
            return self.elapsed, "time (s)"
        if x == "expanded" and self.expanded is not None:
            return self.expanded, "nodes expanded"
        raise ValueError(f"x must be 'elapsed', or 'expanded' where that was given; got {x!r}.")

    def _gap(self) -> float:
        incumbent, bound = self.incumbent[-1], self.bound[-1]
        if incumbent == bound or incumbent == 0.0:
            return 0.0
        return (incumbent - bound) / incumbent
