"""Error against time of several selectors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from columnist._text import number
from columnist.criteria import Criterion, get_criterion
from columnist.metrics import reconstruction_error
from columnist.plotting._draw import Display, Style
from columnist.plotting._picture import Axis, Below, Mark, Names, Picture, Points, Rule, unit_of
from columnist.search._certificate import Certificate

# A fit quicker than this is repeated: the first one also pays for imports and caches.
_QUICK, _REPEATS = 0.2, 3
# Errors this close to the bound reach it.
_REACHED = 1e-9


class ComparisonDisplay(Display):
    """Error against time of several selectors, with the proven lower bound.

    One point per selector: the lower the better the selection, the farther left the faster.
    No selection can lie in the shaded area below the proven bound. Points that reach the bound
    are filled: they are proven best.

    Parameters
    ----------
    names : sequence of str
        Names of the selectors.
    errors, seconds : array-like of shape (n_selectors,)
        Error of each selection, and the time it took.
    bound : float, optional
        Proven: no selection has a smaller error.
    total : float, optional
        Criterion of the target itself; relative errors need it.
    criterion, target : str
        Criterion and target of the errors, for the axis label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
    points_ : matplotlib PathCollection
        The selectors, in the order of ``names``.
    labels_ : list of matplotlib Annotation
        Their names.
    bound_line_ : matplotlib Line2D or None
        The proven bound.
    impossible_ : matplotlib Rectangle or None
        The area below it.

    See Also
    --------
    columnist.certify : A bound for any selection, including ones made by other tools.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ColumnSelector
    >>> from columnist.plotting import ComparisonDisplay
    >>> from columnist.selection import ForwardSelector, PivotedQRSelector
    >>> selectors = {
    ...     "pivoted QR": PivotedQRSelector(4),
    ...     "forward": ForwardSelector(4),
    ...     "certified": ColumnSelector(4),
    ... }
    >>> X = scale(load_wine().data)
    >>> display = ComparisonDisplay.from_selectors(selectors, X, bound="certified")
    >>> bool(display.errors[2] == display.errors.min())
    True
    """

    def __init__(
        self, names: Sequence[str], errors, seconds, *, bound: float | None = None,
        total: float | None = None, criterion: str = "frobenius", target: str = "X",
    ):  # fmt: skip
        self.names = [str(name) for name in names]
        self.errors = np.asarray(errors, dtype=np.float64)
        self.seconds = np.asarray(seconds, dtype=np.float64)
        if not len(self.names) == len(self.errors) == len(self.seconds) > 0:
            raise ValueError(
                "names, errors and seconds need one entry per selector; got "
                f"{len(self.names)}, {len(self.errors)} and {len(self.seconds)}."
            )
        if not (self.seconds > 0.0).all():
            raise ValueError(f"seconds must be positive; got {self.seconds.min():g}.")
        self.bound, self.total, self.criterion, self.target = bound, total, criterion, target

    @classmethod
    def from_selectors(
        cls, selectors: Mapping[str, Any], X, y=None, *,
        bound: float | str | Certificate | None = None, criterion: str | Criterion = "frobenius",
        centering: str = "none", **options: Any,
    ) -> Self:  # fmt: skip
        """Fit copies of selectors, measure error and time, and draw.

        Errors are recomputed from the selected columns, in the same way for all, independent of
        the objective of each selector. Quick fits are repeated three times, and the shortest time
        is used.

        Parameters
        ----------
        selectors : mapping of str to selector
            Selectors by name; anything with scikit-learn's ``get_support``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target. All selectors are fitted with it, and compared by the error of approximating it;
            without one, by the error of reconstructing X.
        bound : float, Certificate or str, optional
            A proven lower bound for the error of every selection compared here: the figure, a
            certificate, or the name of the selector whose ``certificate_`` has it.
        criterion : str or Criterion, default="frobenius"
            Error of the residual.
        centering : {"none", "mean"}, default="none"
            ``"mean"`` adds an intercept.
        **options
            As in :meth:`plot`.

        Returns
        -------
        ComparisonDisplay
        """
        named = bound if isinstance(bound, str) else None
        if named is not None and named not in selectors:
            raise ValueError(f"bound names {named!r}, which is not among the selectors.")
        limit: Any = bound
        measure: dict[str, Any] = {"y": y, "criterion": criterion, "centering": centering}
        errors, seconds = [], []
        for name, selector in selectors.items():
            fitted, elapsed = _timed_fit(selector, X, y)
            columns = np.flatnonzero(fitted.get_support()).tolist()
            errors.append(reconstruction_error(X, columns, **measure))
            seconds.append(elapsed)
            if named == name and not hasattr(fitted, "certificate_"):
                raise ValueError(
                    f"bound names {name!r}, but {type(fitted).__name__} has no certificate_: name "
                    "a ColumnSelector, or pass a figure or a Certificate."
                )
            limit = fitted.certificate_ if named == name else limit
        return cls(
            list(selectors), errors, seconds,
            bound=limit.lower_bound if isinstance(limit, Certificate) else limit,
            total=reconstruction_error(X, [], **measure),
            criterion=get_criterion(criterion).name, target="X" if y is None else "y",
        ).plot(**options)  # fmt: skip

    def plot(
        self, ax=None, *, relative: bool = True, log: bool = False, point_kw: Style = None,
        label_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        relative : bool, default=True
            In percent of the criterion of the target itself, where that is known.
        log : bool, default=False
            Logarithmic error axis.
        point_kw, label_kw : dict, optional
            Passed to ``Axes.scatter`` and, for the names, to ``Axes.annotate``.

        Returns
        -------
        self
        """
        picture = self._picture(relative=relative, log=log)
        drawn = self._draw(ax, picture, {"points": point_kw, "names": label_kw})
        self.points_, self.labels_ = drawn["points"], drawn["names"]
        self.bound_line_, self.impossible_ = drawn.get("bound"), drawn.get("impossible")
        return self

    def _picture(self, *, relative: bool = True, log: bool = False) -> Picture:
        unit, label = unit_of(self.total, relative, self.criterion, self.target)
        errors, bound = unit * self.errors, None if self.bound is None else unit * self.bound
        reached = self.errors <= (-np.inf if self.bound is None else self.bound * (1 + _REACHED))
        if bound is not None and log and bound <= 0.0:
            bound = None

        def tip(i: int) -> str:
            return f"{self.names[i]}\nerror {number(errors[i])}\n{number(self.seconds[i], 3)} s"

        marks: list[Mark] = [
            Points(self.seconds, errors, filled=reached, tip=tip, scattered=True, key="points",
                   label="proven best" if reached.any() else "",
                   open_label="" if reached.all() else "not proven best")
        ]  # fmt: skip
        if bound is not None:
            words = "impossible: below the proven bound"
            marks.append(Rule("y", bound, False, key="bound", color="proven", label="proven bound"))
            marks.append(Below(bound, key="impossible", color="proven", label=words))
        x = Axis(*_time_range(self.seconds), "time (s)", log=True)
        ends = f"{number(errors.min())} to {number(errors.max())}"
        return Picture(
            x, _error_axis(errors, bound, label, log), marks, "Error against time",
            f"{len(errors)} selectors; errors from {ends}.",
            Names(self.seconds, errors, self.names, above=bound),
        )  # fmt: skip


def _error_axis(errors: np.ndarray, bound: float | None, label: str, log: bool) -> Axis:
    """The axis of the errors, with room below the bound for what is impossible."""
    axis = Axis.around(errors[errors > 0.0] if log else errors, label, log=log)
    if bound is None:
        return axis
    ratio = max(errors.max() / bound, 1.02) if bound > 0.0 else 1.0
    low = bound * (ratio**-0.18 if log else max(1.0 - 0.18 * (ratio - 1.0), 0.0))
    return replace(axis, low=low, high=max(axis.high, 1.01 * bound, low + abs(low) * 0.01))


def _time_range(seconds: np.ndarray) -> tuple[float, float]:
    """Ends of the time axis: room for names at either side, and one power of ten at least."""
    low, high = np.log10([seconds.min(), seconds.max()])
    middle, half = (low + high) / 2, max(0.6 * (high - low), 0.6)
    return 10.0 ** (middle - half), 10.0 ** (middle + half)


def _timed_fit(selector, X, y) -> tuple[Any, float]:
    """A fitted copy, and the seconds it took: the shortest of some fits of a quick one."""
    shortest = np.inf
    for _ in range(_REPEATS):
        fitted = clone(selector)
        start = time.perf_counter()
        fitted.fit(X) if y is None else fitted.fit(X, y)
        shortest = min(shortest, time.perf_counter() - start)
        if shortest > _QUICK:
            break
    return fitted, shortest
