"""Pictures of certified selections, in the style of scikit-learn's displays.

A display holds numbers; ``plot`` draws them and keeps the artists as attributes, so
that a figure can be restyled without computing anything again. Matplotlib is loaded by ``plot``
and by nothing else: ``pip install "columnist[plot]"`` brings it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist.search.certificate import Certificate
from columnist.selection.certified import ColumnSelector
from columnist.selection.path import SelectionPath, selection_path

__all__ = ["ErrorPathDisplay", "RepresentativeDisplay", "SearchProgressDisplay"]

# Okabe and Ito's palette: told apart under every common colour blindness, and in grey.
_FOUND, _PROVEN, _OPEN = "#0072B2", "#D55E00", "#E69F00"
_KEPT, _DROPPED, _STRIPE = "#0072B2", "#8FC1E3", "#F2F2F2"

_NORMS = {
    "frobenius": "squared Frobenius norm",
    "spectral": "spectral norm",
    "nuclear": "nuclear norm",
}
# From this many rows on, only kept columns are named and bars carry no figures.
_CROWDED = 120
_FIGURES = 60


def _axes(ax, **figure_options):
    """The axes to draw on: the given ones, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plotting needs matplotlib, which is not installed: "
            'pip install "columnist[plot]" brings it.'
        ) from error
    return plt.subplots(layout="constrained", **figure_options)[1]


def _tidy(ax) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _log_scale(ax) -> None:
    """Logarithmic errors with plain numbers as labels."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log", nonpositive="clip")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


class ErrorPathDisplay:
    """Error against the number of columns, with what is proven about it.

    Filled circles are selections proven optimal, open diamonds the best found where the
    proof is incomplete. The band between the lower bound and the error is all that is left
    unknown: the best possible error lies in it.

    Parameters
    ----------
    sizes : array-like of int of shape (n_sizes,)
        Numbers of columns.
    errors, lower_bounds : array-like of shape (n_sizes,)
        Error of each selection and the proven bound for its size.
    proven : array-like of bool of shape (n_sizes,), optional
        Which selections are proven optimal; by default those whose bound equals the error.
    total : float, optional
        Criterion of the target itself; relative errors need it.
    criterion, target : str
        What was minimised and what was approximated, for the axis label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The errors.
    band_ : matplotlib PolyCollection
        The band between bound and error.
    bound_line_ : matplotlib Line2D or None
        The lower bounds, if any proof is incomplete.
    proven_marks_, open_marks_ : matplotlib Line2D or None
        Selections proven optimal, and the others.

    See Also
    --------
    columnist.selection_path : The numbers behind it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import selection_path
    >>> from columnist.plotting import ErrorPathDisplay
    >>> path = selection_path(scale(load_wine().data), 5)
    >>> display = ErrorPathDisplay.from_path(path)
    >>> display.ax_.get_xlabel()
    'number of columns'
    """

    def __init__(
        self,
        sizes,
        errors,
        lower_bounds,
        *,
        proven=None,
        total: float | None = None,
        criterion: str = "frobenius",
        target: str = "X",
    ):
        self.sizes = np.asarray(sizes)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lower_bounds = np.asarray(lower_bounds, dtype=np.float64)
        proven = self.lower_bounds >= self.errors if proven is None else proven
        self.proven = np.asarray(proven, dtype=bool)
        self.total, self.criterion, self.target = total, criterion, target

    @classmethod
    def from_path(
        cls,
        path: SelectionPath,
        *,
        ax=None,
        relative: bool = True,
        log: bool = False,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
    ) -> ErrorPathDisplay:
        """Draw a path of selections.

        Parameters
        ----------
        path : SelectionPath
            Result of :func:`columnist.selection_path`.
        ax, relative, log, line_kw, band_kw
            As in :meth:`plot`.

        Returns
        -------
        ErrorPathDisplay
        """
        certificates = [step.certificate for step in path]
        display = cls(
            path.sizes,
            path.errors,
            path.lower_bounds,
            proven=[c.is_optimal or c.gap == 0.0 for c in certificates],
            total=path.total,
            criterion=certificates[0].criterion,
            target=certificates[0].target,
        )
        return display.plot(ax, relative=relative, log=log, line_kw=line_kw, band_kw=band_kw)

    @classmethod
    def from_data(
        cls,
        X,
        max_features: int,
        *,
        ax=None,
        relative: bool = True,
        log: bool = False,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> ErrorPathDisplay:
        """Compute a path of selections and draw it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        max_features : int
            Largest size.
        ax, relative, log, line_kw, band_kw
            As in :meth:`plot`.
        **options
            Further arguments of :func:`columnist.selection_path`, such as ``y``,
            ``criterion`` or ``time_limit``.

        Returns
        -------
        ErrorPathDisplay
        """
        path = selection_path(X, max_features, **options)
        return cls.from_path(
            path, ax=ax, relative=relative, log=log, line_kw=line_kw, band_kw=band_kw
        )

    def plot(
        self,
        ax=None,
        *,
        relative: bool = True,
        log: bool = False,
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
    ) -> ErrorPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; a new figure by default.
        relative : bool, default=True
            In percent of the criterion of the target itself, where that is known.
        log : bool, default=False
            Logarithmic error axis: equal gaps then look equal at every size.
        line_kw, band_kw : dict, optional
            Passed to ``Axes.plot`` for the errors and to ``Axes.fill_between``.

        Returns
        -------
        self
        """
        ax = _axes(ax)
        relative = relative and bool(self.total)
        unit = 100.0 / self.total if relative else 1.0
        errors, bounds, proven = unit * self.errors, unit * self.lower_bounds, self.proven
        style = {"color": _FOUND, "linewidth": 1.5, "zorder": 2} | dict(line_kw or {})
        (self.line_,) = ax.plot(self.sizes, errors, **style)
        color = self.line_.get_color()
        marks = {"color": color, "linestyle": "none", "zorder": 3}
        self.proven_marks_ = self.open_marks_ = self.bound_line_ = None
        if proven.any():
            (self.proven_marks_,) = ax.plot(
                self.sizes[proven], errors[proven], "o", label="best selection, proven", **marks
            )
        band = {"color": _OPEN, "alpha": 0.35, "linewidth": 0, "zorder": 1} | dict(band_kw or {})
        if not proven.all():
            (self.open_marks_,) = ax.plot(
                self.sizes[~proven], errors[~proven], "D", markerfacecolor="white",
                label="best found, proof incomplete", **marks,
            )  # fmt: skip
            (self.bound_line_,) = ax.plot(
                self.sizes, bounds, "--", color=_PROVEN, linewidth=1.2, zorder=1.5,
                label="lower bound, proven",
            )  # fmt: skip
            band.setdefault("label", "the best possible error lies here")
        self.band_ = ax.fill_between(self.sizes, bounds, errors, **band)
        norm = _NORMS.get(self.criterion, self.criterion)
        label = f"error (% of the {norm} of {self.target})" if relative else f"error ({norm})"
        ax.set(xlabel="number of columns", ylabel=label)
        if log:
            _log_scale(ax)
        else:
            ax.set_ylim(bottom=0.0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        _tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


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
        ax = _axes(ax)
        incumbent = np.where(np.isfinite(self.incumbent), self.incumbent, np.nan)
        bound = np.where(np.isfinite(self.bound), self.bound, np.nan)
        style = {"color": _FOUND, "linewidth": 1.8, "label": "best found"}
        (self.incumbent_line_,) = ax.step(
            along, incumbent, where="post", **style | dict(incumbent_kw or {})
        )
        style = {"color": _PROVEN, "linewidth": 1.8, "linestyle": "--", "label": "proven bound"}
        (self.bound_line_,) = ax.step(along, bound, where="post", **style | dict(bound_kw or {}))
        self.band_ = ax.fill_between(
            along, bound, incumbent, step="post", color=_OPEN, alpha=0.25, linewidth=0,
            label=f"gap, {100 * self._gap():.3g} % at the end",
        )  # fmt: skip
        ax.plot(along[-1:], incumbent[-1:], "o", color=self.incumbent_line_.get_color())
        self.given_line_ = None
        if self.given is not None:
            self.given_line_ = ax.axhline(
                self.given, color="0.3", linestyle=":", label="selection to certify"
            )
        ax.set(xlabel=label, ylabel=f"error ({_NORMS.get(self.criterion, self.criterion)})")
        ax.set_xlim(left=0.0)
        ax.legend(frameon=False)
        _tidy(ax)
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
        ax = _axes(ax, figsize=(7.0, 0.9 + height * (rows[-1] + 1)))
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
