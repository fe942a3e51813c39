"""Error against the number of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from columnist.plotting._style import (
    CRITERION_NAMES,
    FOUND,
    OPEN,
    PROVEN,
    axes_for,
    is_proven,
    log_scale,
    tidy,
)
from columnist.selection._path import SelectionPath, selection_path

__all__ = ["ErrorPathDisplay"]


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
            proven=[is_proven(certificate) for certificate in certificates],
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
        ax = axes_for(ax)
        relative = relative and bool(self.total)
        unit = 100.0 / self.total if relative and self.total else 1.0
        errors, bounds, proven = unit * self.errors, unit * self.lower_bounds, self.proven
        style = {"color": FOUND, "linewidth": 1.5, "zorder": 2} | dict(line_kw or {})
        (self.line_,) = ax.plot(self.sizes, errors, **style)
        color = self.line_.get_color()
        marks = {"color": color, "linestyle": "none", "zorder": 3}
        self.proven_marks_ = self.open_marks_ = self.bound_line_ = None
        if proven.any():
            (self.proven_marks_,) = ax.plot(
                self.sizes[proven], errors[proven], "o", label="best selection, proven", **marks
            )
        band = {"color": OPEN, "alpha": 0.35, "linewidth": 0, "zorder": 1} | dict(band_kw or {})
        if not proven.all():
            (self.open_marks_,) = ax.plot(
                self.sizes[~proven], errors[~proven], "D", markerfacecolor="white",
                label="best found, proof incomplete", **marks,
            )  # fmt: skip
            (self.bound_line_,) = ax.plot(
                self.sizes, bounds, "--", color=PROVEN, linewidth=1.2, zorder=1.5,
                label="lower bound, proven",
            )  # fmt: skip
            band.setdefault("label", "the best possible error lies here")
        self.band_ = ax.fill_between(self.sizes, bounds, errors, **band)
        norm = CRITERION_NAMES.get(self.criterion, self.criterion)
        label = f"error (% of the {norm} of {self.target})" if relative else f"error ({norm})"
        ax.set(xlabel="number of columns", ylabel=label)
        if log:
            log_scale(ax)
        else:
            ax.set_ylim(bottom=0.0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
