"""Bound and incumbent over the time of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist.plotting._style import CRITERION_NAMES, FOUND, OPEN, PROVEN, axes_for, tidy
from columnist.search._certificate import Certificate
from columnist.selection._certified import ColumnSelector

__all__ = ["SearchProgressDisplay"]


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
    def from_certificate(
        cls,
        certificate: Certificate,
        *,
        ax=None,
        x: str = "elapsed",
        incumbent_kw: Mapping[str, Any] | None = None,
        bound_kw: Mapping[str, Any] | None = None,
    ) -> SearchProgressDisplay:
        """Draw the history of a certificate.

        Parameters
        ----------
        certificate : Certificate
            Of a search. A certificate of :func:`columnist.certify` that knows a better
            selection also shows the error of the given one.
        ax, x, incumbent_kw, bound_kw
            As in :meth:`plot`.

        Returns
        -------
        SearchProgressDisplay
        """
        history = certificate.history
        if not history:
            raise ValueError("This certificate has no history: it does not come from a search.")
        column = {name: [record[name] for record in history] for name in history[0]}
        display = cls(
            column["elapsed"],
            column["incumbent"],
            column["bound"],
            expanded=column["expanded"],
            given=None if certificate.better is None else certificate.error,
            criterion=certificate.criterion,
        )
        return display.plot(ax, x=x, incumbent_kw=incumbent_kw, bound_kw=bound_kw)

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
            Passed to ``Axes.step`` for either line.

        Returns
        -------
        self
        """
        along, label = self._along(x)
        ax = axes_for(ax)
        incumbent = np.where(np.isfinite(self.incumbent), self.incumbent, np.nan)
        bound = np.where(np.isfinite(self.bound), self.bound, np.nan)
        style = {"color": FOUND, "linewidth": 1.8, "label": "best found"}
        (self.incumbent_line_,) = ax.step(
            along, incumbent, where="post", **style | dict(incumbent_kw or {})
        )
        style = {"color": PROVEN, "linewidth": 1.8, "linestyle": "--", "label": "proven bound"}
        (self.bound_line_,) = ax.step(along, bound, where="post", **style | dict(bound_kw or {}))
        self.band_ = ax.fill_between(
            along, bound, incumbent, step="post", color=OPEN, alpha=0.25, linewidth=0,
            label=f"gap, {100 * self._gap():.3g} % at the end",
        )  # fmt: skip
        ax.plot(along[-1:], incumbent[-1:], "o", color=self.incumbent_line_.get_color())
        self.given_line_ = None
        if self.given is not None:
            self.given_line_ = ax.axhline(
                self.given, color="0.3", linestyle=":", label="selection to certify"
            )
        norm = CRITERION_NAMES.get(self.criterion, self.criterion)
        ax.set(xlabel=label, ylabel=f"error ({norm})")
        ax.set_xlim(left=0.0)
        ax.legend(frameon=False)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

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
