"""Error against the number of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from columnist._text import count, number
from columnist.plotting._draw import axes_for, draw
from columnist.plotting._picture import (
    Axis,
    Band,
    Line,
    Mark,
    Picture,
    Points,
    Rule,
    is_proven,
    unit_of,
)
from columnist.selection._path import SelectionPath, selection_path

__all__ = ["ErrorPathDisplay"]

_DRAWING = {"ax", "relative", "log", "line_kw", "band_kw"}


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
    def from_path(cls, path: SelectionPath, **options: Any) -> ErrorPathDisplay:
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
    def _of_path(cls, path: SelectionPath) -> ErrorPathDisplay:
        certificates = [step.certificate for step in path]
        return cls(
            path.sizes,
            path.errors,
            path.lower_bounds,
            proven=[is_proven(certificate) for certificate in certificates],
            total=path.total,
            criterion=certificates[0].criterion,
            target=certificates[0].target,
        )

    @classmethod
    def from_data(cls, X, max_features: int, **options: Any) -> ErrorPathDisplay:
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
        line = dict(line_kw or {})
        marks = {"color": line["color"]} if "color" in line else {}
        styles = {"line": line, "band": band_kw, "proven": marks, "open": marks}
        drawn = draw(ax, self._picture(relative=relative, log=log), styles)
        self.line_, self.band_ = drawn["line"], drawn["band"]
        self.bound_line_ = drawn.get("bound")
        self.proven_marks_, self.open_marks_ = drawn.get("proven"), drawn.get("open")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _picture(self, *, relative: bool = True, log: bool = False, chosen: int = 0) -> Picture:
        """What is drawn; ``chosen`` is a size to mark."""
        unit, label = unit_of(self.total, relative, self.criterion, self.target)
        errors, bounds = unit * self.errors, unit * np.maximum(self.lower_bounds, 0.0)
        levels = np.append(errors, bounds)
        y = Axis.around(levels[levels > 0.0] if log else levels, label, log=log, zero=not log)
        x = Axis(self.sizes.min() - 0.4, self.sizes.max() + 0.4, "number of columns", whole=True)
        marks: list[Mark] = [Line(self.sizes, errors, key="line")]
        for key, here, text in (
            ("proven", self.proven, "best selection, proven"),
            ("open", ~self.proven, "best found, proof incomplete"),
        ):
            if here.any():
                marks.append(self._points(key, here, errors, bounds, text))
        meaning = ""
        if not self.proven.all():
            words, meaning = "lower bound, proven", "the best possible error lies here"
            marks.append(Line(self.sizes, bounds, True, key="bound", color="proven", label=words))
        marks.append(Band(self.sizes, bounds, errors, key="band", color="open", label=meaning))
        if chosen in self.sizes:
            words = f"selected: {chosen}"
            marks.append(Rule("x", float(chosen), key="chosen", color="ink", label=words))
        ends = f"{number(errors[0])} at {self.sizes[0]} to {number(errors[-1])} at {self.sizes[-1]}"
        title = "Error against the number of columns"
        return Picture(x, y, marks, title, f"The {label} goes from {ends} columns.")

    def _points(self, key: str, here: np.ndarray, errors, bounds, label: str) -> Points:
        """Sizes that are proven, or those that are not."""
        places, proven = np.flatnonzero(here), key == "proven"

        def tip(i: int) -> str:
            j = places[i]
            less = "proven best" if proven else f"no selection has less than {number(bounds[j])}"
            return f"{count(int(self.sizes[j]), 'column')}\nerror {number(errors[j])}\n{less}"

        shape = "dot" if proven else "diamond"
        return Points(self.sizes[here], errors[here], shape, proven, tip=tip, key=key, label=label)
