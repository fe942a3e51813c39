"""Error against the number of outliers removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from columnist.plotting._draw import SCALE, panels_for, tidy
from columnist.plotting._error_path import ErrorPathDisplay
from columnist.plotting._picture import FOUND, PROVEN, is_proven
from columnist.robust._path import OutlierPath

__all__ = ["OutlierPathDisplay"]

# An error that falls below this share of the first is drawn on a logarithmic axis.
_DEEP = 0.05


class OutlierPathDisplay:
    """Error against the number of outliers removed, with what is proven about it.

    The upper panel shows the error of the rows kept and the band in which the best possible
    error lies. The lower panel shows what each further row has lowered the error by:
    outliers by more than a good row could, the dashed line.

    Parameters
    ----------
    n_outliers : array-like of int of shape (n_steps,)
        Numbers of outliers, ascending.
    errors, lower_bounds : array-like of shape (n_steps,)
        Error of each step and the proven bound for its number of outliers.
    proven : array-like of bool of shape (n_steps,), optional
        Which steps are proven optimal; by default those whose bound equals the error.
    limit : float, optional
        The most that removing a good row lowers the error by.
    suggested : int, optional
        Number of outliers to mark.
    criterion : str, default="frobenius"
        What was minimised, for the axis label.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Where it was drawn; ``ax_`` is the upper one.
    error_display_ : ErrorPathDisplay
        The artists of the upper panel.
    bars_ : matplotlib BarContainer
        What each further row has lowered the error by.
    limit_line_ : matplotlib Line2D or None
        The limit of good rows.
    suggested_lines_ : list of matplotlib Line2D
        The suggested number, one line per panel.

    See Also
    --------
    columnist.robust.outlier_path : The numbers behind it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
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
        self,
        n_outliers,
        errors,
        lower_bounds,
        *,
        proven=None,
        limit: float | None = None,
        suggested: int | None = None,
        criterion: str = "frobenius",
    ):
        self.n_outliers = np.asarray(n_outliers)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lower_bounds = np.asarray(lower_bounds, dtype=np.float64)
        self.proven, self.limit, self.suggested = proven, limit, suggested
        self.criterion = criterion

    @classmethod
    def from_path(cls, path: OutlierPath, **options: Any) -> OutlierPathDisplay:
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
        certificates = [step.certificate for step in path]
        display = cls(
            path.n_outliers,
            path.errors,
            path.lower_bounds,
            proven=[is_proven(certificate) for certificate in certificates],
            limit=path.limit,
            suggested=path.suggested,
            criterion=certificates[0].criterion,
        )
        return display.plot(**options)

    def plot(
        self,
        axes=None,
        *,
        scale: str = "auto",
        line_kw: Mapping[str, Any] | None = None,
        band_kw: Mapping[str, Any] | None = None,
        bar_kw: Mapping[str, Any] | None = None,
    ) -> OutlierPathDisplay:
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, optional
            Where to; a new figure by default.
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
        self._draw_errors(upper, log=log, line_kw=line_kw, band_kw=band_kw)
        self._draw_drops(lower, dict(bar_kw or {}))
        self.suggested_lines_ = []
        if self.suggested is not None:
            style = {"color": "0.2", "linestyle": ":", "linewidth": 1.3, "zorder": 2.5}
            for ax in (upper, lower):
                self.suggested_lines_.append(ax.axvline(self.suggested, **style))
            self.suggested_lines_[0].set_label(f"suggested: {self.suggested} outliers")
        upper.legend(frameon=False, fontsize=8)
        self.axes_ = np.array([upper, lower])
        self.ax_, self.figure_ = upper, upper.figure
        return self

    def _draw_errors(self, ax, *, log: bool, line_kw, band_kw) -> None:
        """Errors and proven band."""
        first = ErrorPathDisplay(
            self.n_outliers, self.errors, self.lower_bounds, proven=self.proven,
            criterion=self.criterion,
        ).plot(ax, log=log, line_kw=line_kw, band_kw=band_kw)  # fmt: skip
        if first.proven_marks_ is not None:
            first.proven_marks_.set_label("best rows to remove, proven")
        ax.set_xlabel("")
        self.error_display_ = first

    def _draw_drops(self, ax, style: dict[str, Any]) -> None:
        """What every row more brings, and what a good row could bring at most."""
        gaps = np.diff(self.n_outliers)
        whole = self.errors[0] if self.errors[0] > 0.0 else 1.0
        drops = -100.0 * np.diff(self.errors) / gaps / whole
        # The bar of a step stands over the rows it adds, however many these are.
        own = {"width": gaps - 0.2, "align": "edge", "color": FOUND, "zorder": 2}
        self.bars_ = ax.bar(self.n_outliers[:-1] + 0.6, drops, **own | style)
        self.limit_line_ = None
        if self.limit is not None:
            self.limit_line_ = ax.axhline(
                100.0 * self.limit / whole, color=PROVEN, linestyle="--", linewidth=1.2, zorder=3,
                label="the most a good row brings",
            )  # fmt: skip
            ax.legend(frameon=False, fontsize=8)
        ax.set(xlabel="number of outliers removed", ylabel="drop per row (% of the error at 0)")
        ax.set_ylim(bottom=0.0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)
