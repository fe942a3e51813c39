"""Error and proven bound: against numbers of columns or outliers, and over the time of a search."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, number
from columnist.plotting import _picture as pic
from columnist.plotting._draw import SCALE, Display, Style, panels_for, tidy
from columnist.robust._path import OutlierPath
from columnist.search._certificate import Certificate, CertifiedPath
from columnist.selection._certified import ColumnSelector
from columnist.selection._path import SelectionPath, selection_path

_DRAWING = {"ax", "relative", "log", "line_kw", "band_kw"}
# An error that falls below this share of the first is drawn on a logarithmic axis.
_DEEP = 0.05
# Moments that can be pointed at; the lines have them all.
_MOMENTS = 40


class ErrorPathDisplay(Display):
    """Error against the number of columns, with proven lower bounds.

    Filled circles are selections proven optimal, open diamonds the best found where the
    proof is incomplete. The best possible error lies in the band between the lower bound
    and the error.

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
        Criterion and target of the errors, for the axis label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
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
    columnist.selection_path : Computes the path.

    Examples
    --------
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
        self, sizes, errors, lower_bounds, *, proven=None, total: float | None = None,
        criterion: str = "frobenius", target: str = "X",
    ):  # fmt: skip
        self.sizes = np.asarray(sizes)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lower_bounds = np.asarray(lower_bounds, dtype=np.float64)
        proven = self.lower_bounds >= self.errors if proven is None else proven
        self.proven = np.asarray(proven, dtype=bool)
        self.total, self.criterion, self.target = total, criterion, target

    @classmethod
    def from_path(cls, path: SelectionPath, **options: Any) -> Self:
        """Draw a path of selections.

        Parameters
        ----------
        path : SelectionPath
            Result of :func:`columnist.selection_path`.
        **options
            As in :meth:`plot`.

        Returns
        -------
        ErrorPathDisplay
        """
        return cls._of_path(path).plot(**options)

    @classmethod
    def _of_path(cls, path: SelectionPath) -> Self:
        first, proven = path_proofs(path)
        return cls(
            path.sizes, path.errors, path.lower_bounds, proven=proven, total=path.total,
            criterion=first.criterion, target=first.target,
        )  # fmt: skip

    @classmethod
    def from_data(cls, X, max_features: int, **options: Any) -> Self:
        """Compute a path of selections and draw it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        max_features : int
            Largest size.
        **options
            As in :meth:`plot`, and further arguments of :func:`columnist.selection_path`, such
            as ``y``, ``criterion`` or ``time_limit``.

        Returns
        -------
        ErrorPathDisplay
        """
        drawing = {key: options.pop(key) for key in _DRAWING & options.keys()}
        return cls.from_path(selection_path(X, max_features, **options), **drawing)

    def plot(
        self, ax=None, *, relative: bool = True, log: bool = False, line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
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
        line = dict(line_kw or {})
        marks = {"color": line["color"]} if "color" in line else {}
        styles = {"line": line, "band": band_kw, "proven": marks, "open": marks}
        drawn = self._draw(ax, self._picture(relative=relative, log=log), styles)
        self.line_, self.band_, self.bound_line_ = drawn["line"], drawn["band"], drawn.get("bound")
        self.proven_marks_, self.open_marks_ = drawn.get("proven"), drawn.get("open")
        self.ax_.legend(frameon=False)
        return self

    def _picture(self, *, relative: bool = True, log: bool = False, chosen: int = 0) -> pic.Picture:
        """What is drawn; ``chosen`` is a size to mark."""
        unit, label = pic.unit_of(self.total, relative, self.criterion, self.target)
        errors, bounds = unit * self.errors, unit * np.maximum(self.lower_bounds, 0.0)
        levels = np.append(errors, bounds)
        y = pic.Axis.around(levels[levels > 0.0] if log else levels, label, log=log, zero=not log)
        ends = self.sizes.min() - 0.4, self.sizes.max() + 0.4
        x = pic.Axis(*ends, "number of columns", whole=True)
        marks: list[pic.Mark] = [pic.Line(self.sizes, errors, key="line")]
        if self.proven.any():
            marks.append(self._points("proven", self.proven, errors, bounds))
        meaning = ""
        if not self.proven.all():
            marks.append(self._points("open", ~self.proven, errors, bounds))
            words, meaning = "lower bound, proven", "the best possible error lies here"
            marks.append(
                pic.Line(self.sizes, bounds, True, key="bound", color="proven", label=words)
            )
        marks.append(pic.Band(self.sizes, bounds, errors, key="band", color="open", label=meaning))
        if chosen in self.sizes:
            words = f"selected: {chosen}"
            marks.append(pic.Rule("x", float(chosen), key="chosen", color="ink", label=words))
        first, last = (f"{number(errors[i])} at {self.sizes[i]}" for i in (0, -1))
        title = "Error against the number of columns"
        return pic.Picture(x, y, marks, title, f"The {label} goes from {first} to {last} columns.")

    def _points(self, key: str, here: np.ndarray, errors, bounds) -> pic.Points:
        """Sizes that are proven, or those that are not."""
        places, proven = np.flatnonzero(here), key == "proven"

        def tip(i: int) -> str:
            j = places[i]
            less = "proven best" if proven else f"no selection has less than {number(bounds[j])}"
            return f"{count(int(self.sizes[j]), 'column')}\nerror {number(errors[j])}\n{less}"

        shape = "dot" if proven else "diamond"
        label = "best selection, proven" if proven else "best found, proof incomplete"
        return pic.Points(
            self.sizes[here], errors[here], shape, proven, tip=tip, key=key, label=label
        )


class OutlierPathDisplay(Display):
    """Error against the number of removed outliers, with proven lower bounds.

    The upper panel shows the error of the rows kept and the band in which the best possible
    error lies. The lower panel shows by how much each further row lowers the error: an outlier by
    more than a good row can (the dashed line).

    Parameters
    ----------
    n_outliers : array-like of int of shape (n_steps,)
        Numbers of outliers, ascending.
    errors, lower_bounds : array-like of shape (n_steps,)
        Error of each step and the proven bound for its number of outliers.
    proven : array-like of bool of shape (n_steps,), optional
        Which steps are proven optimal; by default those whose bound equals the error.
    limit : float, optional
        Largest decrease of the error by removing a good row.
    suggested : int, optional
        Number of outliers to mark.
    criterion : str, default="frobenius"
        Name of the criterion, for the axis label.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Axes and figure of the plot; ``ax_`` is the upper one.
    error_display_ : ErrorPathDisplay
        The artists of the upper panel.
    bars_ : matplotlib BarContainer
        Decrease of the error by each further row.
    limit_line_ : matplotlib Line2D or None
        The limit of good rows.
    suggested_lines_ : list of matplotlib Line2D
        The suggested number, one line per panel.

    See Also
    --------
    columnist.robust.outlier_path : Computes the path.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.plotting import OutlierPathDisplay
    >>> from columnist.robust import outlier_path
    >>> X = np.random.default_rng(0).standard_normal((40, 4)) * [5.0, 3.0, 0.5, 0.5]
    >>> X[[3, 8]] += [0.0, 0.0, 9.0, -9.0]
    >>> display = OutlierPathDisplay.from_path(outlier_path(X, 2, 4))
    >>> display.suggested
    2
    """

    def __init__(
        self, n_outliers, errors, lower_bounds, *, proven=None, limit: float | None = None,
        suggested: int | None = None, criterion: str = "frobenius",
    ):  # fmt: skip
        self.n_outliers = np.asarray(n_outliers)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lower_bounds = np.asarray(lower_bounds, dtype=np.float64)
        self.proven, self.limit, self.suggested = proven, limit, suggested
        self.criterion = criterion

    @classmethod
    def from_path(cls, path: OutlierPath, **options: Any) -> Self:
        """Draw a path over the number of outliers.

        Parameters
        ----------
        path : OutlierPath
            Result of :func:`columnist.robust.outlier_path`.
        **options
            As in :meth:`plot`.

        Returns
        -------
        OutlierPathDisplay
        """
        first, proven = path_proofs(path)
        return cls(
            path.n_outliers, path.errors, path.lower_bounds, proven=proven, limit=path.limit,
            suggested=path.suggested, criterion=first.criterion,
        ).plot(**options)  # fmt: skip

    def plot(
        self, axes=None, *, scale: str = "auto", line_kw: Style = None, band_kw: Style = None,
        bar_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the errors; ``"auto"`` is logarithmic if they fall below a twentieth.
        line_kw, band_kw, bar_kw : dict, optional
            Passed to ``Axes.plot`` and ``Axes.fill_between`` of the upper panel and to ``Axes.bar``
            of the lower one.

        Returns
        -------
        self
        """
        SCALE.check("scale", scale)
        upper, lower = panels_for(axes, 2, nrows=2, sharex=True, figsize=(6.4, 5.4))
        log = scale == "log" or (scale == "auto" and self.errors.min() < _DEEP * self.errors.max())
        self.error_display_ = ErrorPathDisplay(
            self.n_outliers, self.errors, self.lower_bounds, proven=self.proven,
            criterion=self.criterion,
        ).plot(upper, log=log, line_kw=line_kw, band_kw=band_kw)  # fmt: skip
        if self.error_display_.proven_marks_ is not None:
            self.error_display_.proven_marks_.set_label("best rows to remove, proven")
        upper.set_xlabel("")
        self._draw_drops(lower, dict(bar_kw or {}))
        self.suggested_lines_ = []
        if self.suggested is not None:
            style = {"color": "0.2", "linestyle": ":", "linewidth": 1.3, "zorder": 2.5}
            self.suggested_lines_ = [ax.axvline(self.suggested, **style) for ax in (upper, lower)]
            self.suggested_lines_[0].set_label(f"suggested: {self.suggested} outliers")
        upper.legend(frameon=False, fontsize=8)
        return self._drawn_on(upper, lower)

    def _draw_drops(self, ax, style: dict[str, Any]) -> None:
        """What every row more brings, and what a good row could bring at most."""
        gaps = np.diff(self.n_outliers)
        whole = self.errors[0] if self.errors[0] > 0.0 else 1.0
        drops = -100.0 * np.diff(self.errors) / gaps / whole
        # The bar of a step stands over the rows it adds, however many these are.
        own = {"width": gaps - 0.2, "align": "edge", "color": pic.FOUND, "zorder": 2}
        self.bars_ = ax.bar(self.n_outliers[:-1] + 0.6, drops, **own | style)
        self.limit_line_ = None
        if self.limit is not None:
            self.limit_line_ = ax.axhline(
                100.0 * self.limit / whole, label="largest drop by a regular row", color=pic.PROVEN,
                linestyle="--", linewidth=1.2, zorder=3,
            )  # fmt: skip
            ax.legend(frameon=False, fontsize=8)
        ax.set(xlabel="number of outliers removed", ylabel="drop per row (% of the error at 0)")
        ax.set_ylim(bottom=0.0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)


def path_proofs(path: CertifiedPath) -> tuple[Certificate, list[bool]]:
    """The first certificate of a path, and which steps to mark as the best ones.

    A search that was stopped may just have got there; where rounding left something open, none has.
    """
    found = [step.certificate for step in path]
    closed = [c.gap == 0.0 and c.status != "precision_limit" for c in found]
    return found[0], [c.is_optimal or shut for c, shut in zip(found, closed, strict=True)]


class SearchProgressDisplay(Display):
    """Best error found and bound proven, over the time of a search.

    The two step functions enclose the optimum; the band between them is the gap. Where they meet,
    the selection is proven optimal.

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
        Name of the criterion, for the axis label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
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
        self, elapsed, incumbent, bound, *, expanded=None, given: float | None = None,
        criterion: str = "frobenius",
    ):  # fmt: skip
        self.elapsed = np.asarray(elapsed, dtype=np.float64)
        self.incumbent = np.asarray(incumbent, dtype=np.float64)
        self.bound = np.asarray(bound, dtype=np.float64)
        self.expanded = None if expanded is None else np.asarray(expanded)
        self.given, self.criterion = given, criterion

    @classmethod
    def from_certificate(cls, certificate: Certificate, **options: Any) -> Self:
        """Draw the history of a certificate.

        Parameters
        ----------
        certificate : Certificate
            Of a search. For a certificate of :func:`columnist.certify` with a better selection, the
            error of the given one is also shown.
        **options
            As in :meth:`plot`.

        Returns
        -------
        SearchProgressDisplay
        """
        return cls._of_certificate(certificate).plot(**options)

    @classmethod
    def _of_certificate(cls, certificate: Certificate) -> Self:
        if not certificate.history:
            raise ValueError("This certificate has no history: it does not come from a search.")
        names = ("elapsed", "incumbent", "bound", "expanded")
        elapsed, incumbent, bound, expanded = (
            [record[name] for record in certificate.history] for name in names
        )
        given = None if certificate.better is None else certificate.error
        criterion = certificate.criterion
        return cls(elapsed, incumbent, bound, expanded=expanded, given=given, criterion=criterion)

    @classmethod
    def from_estimator(cls, selector: ColumnSelector, **options: Any) -> Self:
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
        self, ax=None, *, x: str = "elapsed", incumbent_kw: Style = None, bound_kw: Style = None
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        x : {"elapsed", "expanded"}, default="elapsed"
            Horizontal axis: seconds, or nodes expanded.
        incumbent_kw, bound_kw : dict, optional
            Passed to ``Axes.plot`` for either line.

        Returns
        -------
        self
        """
        drawn = self._draw(ax, self._picture(x), {"incumbent": incumbent_kw, "bound": bound_kw})
        self.incumbent_line_, self.bound_line_ = drawn["incumbent"], drawn["bound"]
        self.band_, self.given_line_ = drawn["band"], drawn.get("given")
        drawn["end"].set_color(self.incumbent_line_.get_color())
        self.ax_.legend(frameon=False)
        return self

    def _picture(self, x: str = "elapsed") -> pic.Picture:
        along, label = self._along(x)
        best = np.where(np.isfinite(self.incumbent), self.incumbent, np.nan)
        bound = np.where(np.isfinite(self.bound), self.bound, np.nan)
        end, low = self.incumbent[-1], self.bound[-1]
        gap = 0.0 if end in (low, 0.0) else (end - low) / end
        words = f"gap, {100 * gap:.3g} % at the end"
        shown = np.unique(np.linspace(0, len(along) - 1, _MOMENTS).round().astype(int))
        marks: list[pic.Mark] = [
            pic.Line(along, best, False, True, key="incumbent", label="best found"),
            pic.Line(along, bound, True, True, key="bound", color="proven", label="proven bound"),
            pic.Band(along, bound, best, True, key="band", color="open", label=words),
            pic.Points(along[-1:], best[-1:], key="end"),
        ]
        if self.given is not None:
            words = "selection to certify"
            marks.append(pic.Rule("y", self.given, key="given", color="ink", label=words))

        def tip(i: int) -> str:
            said = f"after {number(self.elapsed[shown[i]], 3)} s\nbest found "
            said += f"{number(best[shown[i]], 5)}\nproven bound {number(bound[shown[i]], 5)}"
            nodes = "" if self.expanded is None else f"\n{int(self.expanded[shown[i]]):,} nodes"
            return said + nodes

        marks.append(pic.Points(along[shown], best[shown], tip=tip, hidden=True, key="moments"))
        levels = np.concatenate([best, bound, [] if self.given is None else [self.given]])
        y = pic.Axis.around(levels, pic.unit_of(None, False, self.criterion)[1])
        last = f"{number(best[-1], 5)}, the proven bound rises to {number(bound[-1], 5)}"
        return pic.Picture(
            pic.Axis.around(along, label, zero=True), y, marks, "Best error found and proven bound",
            f"The error of the best choice falls to {last}.",
        )  # fmt: skip

    def _along(self, x: str) -> tuple[np.ndarray, str]:
        if x == "elapsed":
            return self.elapsed, "time (s)"
        if x == "expanded" and self.expanded is not None:
            return self.expanded, "nodes expanded"
        raise ValueError(f"x must be 'elapsed', or 'expanded' where that was given; got {x!r}.")
