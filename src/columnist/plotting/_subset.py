"""Best subsets of growing size: coefficients, error with its proven band, criterion of the size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import count, number
from columnist.plotting import _picture as pic
from columnist.plotting._draw import Display, Style, draw, panels_for
from columnist.plotting._paths import ErrorPathDisplay, path_proofs
from columnist.selection._sizes import SubsetPath
from columnist.selection._subset import BestSubset

# Columns that are named in the picture, at most: those with the largest coefficients at the end.
_NAMED = 10
# Least distance of two names, as a share of the height of the panel.
_LINE_HEIGHT = 0.075


class SubsetPathDisplay(Display):
    """Coefficients, error and criterion against the number of columns.

    The upper panel shows the coefficients of the best subset of each size, those of the chosen
    size in blue. The panel below shows the error and the band in which the best possible one lies.
    If the size was chosen by a rule, a third panel shows the criterion of each size, with the band
    down to its proven lower bound, or with the standard error of cross-validation.

    Parameters
    ----------
    sizes : array-like of int of shape (n_sizes,)
        Numbers of columns.
    coefficients : array-like of shape (n_sizes, n_columns)
        A coefficient for each column that any size selects; zero where it is not selected. Where
        there are several outputs, the length of its coefficients.
    errors, lower_bounds : array-like of shape (n_sizes,)
        Error of each selection and the proven bound for its size.
    proven : array-like of bool of shape (n_sizes,), optional
        Which selections are proven optimal; by default those whose bound equals the error.
    scores : array-like of shape (n_sizes,), optional
        The criterion of each size.
    score_bounds : array-like of shape (n_sizes,), optional
        Lower bound of an information criterion.
    score_errors : array-like of shape (n_sizes,), optional
        Standard errors of cross-validation.
    rule : str, optional
        How the size was chosen: "aic", "bic", "ebic" or "cv".
    chosen : int, optional
        The chosen size.
    total : float, optional
        Error of no columns; relative errors need it.
    names : sequence of str, optional
        Names of the columns.
    criterion : str, default="frobenius"
        Name of the criterion, for the axis label.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Axes and figure of the plot; ``ax_`` is the upper one.
    coefficient_lines_ : list of matplotlib Line2D
        One for each column.
    error_display_ : ErrorPathDisplay
        The artists of the error.
    score_line_ : matplotlib Line2D or None
        The criterion.
    score_band_ : matplotlib PolyCollection or None
        The interval between the criterion and its lower bound, or its standard error.

    See Also
    --------
    columnist.SubsetRegressor : Its ``path_`` holds the numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from columnist import SubsetRegressor
    >>> from columnist.plotting import SubsetPathDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> display = SubsetPathDisplay.from_estimator(SubsetRegressor("bic").fit(X, y))
    >>> display.chosen
    5
    """

    def __init__(
        self, sizes, coefficients, errors, lower_bounds, *, proven=None, scores=None,
        score_bounds=None, score_errors=None, rule: str | None = None, chosen: int | None = None,
        total: float | None = None, names: Sequence[str] | None = None,
        criterion: str = "frobenius",
    ):  # fmt: skip
        self.sizes = np.asarray(sizes)
        self.coefficients = np.asarray(coefficients, dtype=np.float64)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lower_bounds = np.asarray(lower_bounds, dtype=np.float64)
        self.proven = proven
        self.scores, self.score_bounds, self.score_errors = (
            None if values is None else np.asarray(values, dtype=np.float64)
            for values in (scores, score_bounds, score_errors)
        )
        self.rule, self.chosen, self.total, self.criterion = rule, chosen, total, criterion
        self.names = [f"x{i}" for i in range(self.coefficients.shape[1])] if names is None else (
            list(names)
        )  # fmt: skip

    @classmethod
    def from_estimator(cls, model: BestSubset, *, deviations=None, **options: Any) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        model : SubsetRegressor or SubsetClassifier
            Fitted.
        deviations : array-like of shape (n_features,), optional
            Standard deviations of the columns: coefficients are drawn multiplied by these, so that
            columns of different units can be compared.
        **options
            As in :meth:`plot`.

        Returns
        -------
        SubsetPathDisplay
        """
        check_is_fitted(model)
        return cls.from_path(model.path_, deviations=deviations, **options)

    @classmethod
    def from_path(cls, path: SubsetPath, *, deviations=None, **options: Any) -> Self:
        """Draw a path of best subsets.

        Parameters
        ----------
        path : SubsetPath
            Of a fitted model.
        deviations : array-like of shape (n_features,), optional
            As in :meth:`from_estimator`.
        **options
            As in :meth:`plot`.

        Returns
        -------
        SubsetPathDisplay
        """
        return cls._of_path(path, deviations).plot(**options)

    @classmethod
    def _of_path(cls, path: SubsetPath, deviations=None) -> Self:
        used = np.unique(np.concatenate([step.selection for step in path]))
        coefficients = np.zeros((len(path), len(used)))
        for row, step in zip(coefficients, path, strict=True):
            several = step.coef.shape[1] > 1
            found = np.linalg.norm(step.coef, axis=1) if several else step.coef[:, 0]
            row[np.searchsorted(used, step.selection)] = found
        if deviations is not None:
            coefficients *= np.asarray(deviations, dtype=np.float64)[used]
        columns = path.feature_names
        first, proven = path_proofs(path)
        scores = None if path.rule is None else path.scores
        return cls(
            path.sizes, coefficients, path.errors, path.lower_bounds, proven=proven, scores=scores,
            score_bounds=[step.score_bound for step in path],
            score_errors=[step.score_error for step in path], rule=path.rule,
            chosen=int(path.sizes[path.chosen]), total=path.total,
            names=[f"x{i}" if columns is None else columns[i] for i in used],
            criterion=first.criterion,
        )  # fmt: skip

    def plot(
        self, axes=None, *, relative: bool = True, log: bool = False, line_kw: Style = None,
        band_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Where to: two, or three if there is a criterion. A new figure by default.
        relative : bool, default=True
            Errors in percent of that of no columns, where it is known.
        log : bool, default=False
            Logarithmic axes for the errors and for a cross-validated loss.
        line_kw, band_kw : dict, optional
            Passed to ``Axes.plot`` for error and criterion, and to ``Axes.fill_between``.

        Returns
        -------
        self
        """
        n_panels = 2 if self.scores is None else 3
        size = {"figsize": (6.4, 1.0 + 2.2 * n_panels)}
        panels = panels_for(axes, n_panels, nrows=n_panels, sharex=True, **size)
        styles = {"line": line_kw, "band": band_kw}
        x = self._x_axis()
        upper = draw(panels[0], self._coefficient_picture(x), {})
        self.coefficient_lines_ = [upper[f"line{i}"] for i in range(len(self.names))]
        self._name_ends(panels[0])
        self.error_display_ = self._error_display().plot(
            panels[1], relative=relative, log=log, line_kw=line_kw, band_kw=band_kw
        )
        if relative and self.total and self.criterion == "frobenius":
            panels[1].set_ylabel("unexplained variance (%)")
        self.score_line_ = self.score_band_ = None
        if self.scores is not None:
            lower = draw(panels[2], self._score_picture(x, log), styles)
            self.score_line_, self.score_band_ = lower["line"], lower.get("band")
            panels[2].legend(frameon=False, fontsize=8)
        self._finish(panels, x)
        return self._drawn_on(*panels)

    def _finish(self, panels: np.ndarray, x: pic.Axis) -> None:
        """One axis of sizes below all panels, with the chosen one marked in each."""
        panels[1].legend(frameon=False, fontsize=8)
        for ax in panels:
            ax.set_xlim(x.low, x.high)
            ax.set_xlabel(x.label if ax is panels[-1] else "")
            ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
            if self.chosen is not None:
                look = {"color": "0.2", "linestyle": ":", "linewidth": 1.3, "zorder": 1.5}
                ax.axvline(self.chosen, **look)

    def _x_axis(self) -> pic.Axis:
        ends = self.sizes.min() - 0.4, self.sizes.max() + 0.4
        return pic.Axis(*ends, "number of columns", whole=True)

    def _error_display(self) -> ErrorPathDisplay:
        return ErrorPathDisplay(
            self.sizes, self.errors, self.lower_bounds, proven=self.proven, total=self.total,
            criterion=self.criterion, target="y",
        )  # fmt: skip

    def _coefficient_picture(self, x: pic.Axis) -> pic.Picture:
        """A line for each column; what the chosen size selects stands out."""
        place = len(self.sizes) - 1
        if self.chosen is not None:
            place = int(np.argmax(self.sizes == self.chosen))
        selected = self.coefficients[place] != 0.0
        marks: list[pic.Mark] = [pic.Rule("y", 0.0, False, key="zero", color="ink")]
        for i, line in enumerate(self.coefficients.T):
            color = "found" if selected[i] else "other"
            here = line != 0.0
            shown = np.convolve(np.pad(here, 1, mode="edge"), [1, 1, 1], "valid") > 0
            drawn = np.where(shown, line, np.nan)  # zeros only beside what is not
            marks.append(pic.Line(self.sizes, drawn, key=f"line{i}", color=color))
            marks.append(
                pic.Points(self.sizes[here], line[here], key=f"points{i}", color=color, small=True,
                           scattered=True, tip=self._tip(i, here))
            )  # fmt: skip
        y = pic.Axis.around(self.coefficients, "coefficient")
        described = f"Coefficients of {count(len(self.names), 'column')} along the path."
        return pic.Picture(x, y, marks, "Coefficients of the best subsets", described)

    def _name_ends(self, ax) -> None:
        """Names of the largest coefficients of the last size, beside their lines."""
        last = self.coefficients[-1]
        largest = np.argsort(-np.abs(last), kind="stable")[:_NAMED]
        named = sorted((i for i in largest if last[i] != 0.0), key=lambda i: last[i])
        low, high = ax.get_ylim()
        heights = _spread((last[named] - low) / (high - low), _LINE_HEIGHT)
        line = {"arrowstyle": "-", "color": "0.7", "linewidth": 0.7, "shrinkA": 1, "shrinkB": 2}
        for i, height in zip(named, heights, strict=True):
            ax.annotate(
                self.names[i], (self.sizes[-1], last[i]), xytext=(1.02, height), fontsize=8,
                textcoords="axes fraction", va="center", arrowprops=line,
                color=self.coefficient_lines_[i].get_color(),
            )  # fmt: skip

    def _tip(self, column: int, here: np.ndarray):
        sizes, values = self.sizes[here], self.coefficients[here, column]
        return lambda i: (
            f"{self.names[column]}\n{count(int(sizes[i]), 'column')}\n{number(values[i], 4)}"
        )

    def _score_picture(self, x: pic.Axis, log: bool) -> pic.Picture:
        """The criterion of each size, and what is known about it."""
        assert self.scores is not None
        scores = np.where(np.isfinite(self.scores), self.scores, np.nan)
        low = high = scores
        if self.rule == "cv" and self.score_errors is not None:
            low, high = scores - self.score_errors, scores + self.score_errors
            words, color = "one standard error", "other"
        elif self.score_bounds is not None:
            low = np.minimum(self.score_bounds, scores)
            words, color = "the best criterion of the size lies here", "open"
        # A loss less its standard error may be negative.
        log = log and self.rule == "cv"
        levels = np.concatenate([np.maximum(low, 0.5 * scores) if log else low, high])
        y = pic.Axis.around(levels, _SCORES.get(self.rule or "", "criterion"), log=log)
        marks: list[pic.Mark] = [
            pic.Line(self.sizes, scores, key="line"),
            pic.Points(self.sizes, scores, key="points", tip=self._score_tip),
        ]
        if low is not scores:
            low = np.maximum(np.where(np.isnan(low), y.low, low), y.low)
            marks.append(pic.Band(self.sizes, low, high, key="band", color=color, label=words))
        if self.rule == "cv" and low is not scores:
            least = int(np.nanargmin(scores))
            words = "least loss and its standard error"
            marks.append(pic.Rule("y", high[least], key="limit", color="ink", label=words))
        if self.chosen is not None:
            at = self.sizes == self.chosen
            words = f"chosen: {count(self.chosen, 'column')}"
            marks.append(
                pic.Points(self.sizes[at], scores[at], "ring", key="chosen", color="proven",
                           label=words, scattered=True)
            )  # fmt: skip
        described = f"The {y.label} of {count(len(self.sizes), 'size')}."
        return pic.Picture(x, y, marks, "Criterion of the size", described)

    def _score_tip(self, i: int) -> str:
        assert self.scores is not None
        return f"{count(int(self.sizes[i]), 'column')}\n{self.rule} {number(self.scores[i], 6)}"


_SCORES = {"aic": "AIC", "bic": "BIC", "ebic": "EBIC", "cv": "cross-validated loss"}


def _spread(values: np.ndarray, distance: float) -> np.ndarray:
    """Ascending values moved apart to at least this distance, none above 1."""
    steps = distance * np.arange(len(values))
    up = np.maximum.accumulate(values - steps) + steps
    down = np.minimum.accumulate((values - steps)[::-1])[::-1] + steps
    # Both keep the distance, and so does their mean.
    return np.minimum(0.5 * (up + down), 1.0 - steps[::-1])
