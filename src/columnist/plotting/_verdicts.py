"""Columns against the sets within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from columnist._text import count, percent
from columnist.data._parameters import Integer
from columnist.plotting._draw import Display, draw_cells, new_axes
from columnist.plotting._picture import Cells
from columnist.selection._verdicts import ColumnVerdicts


class VerdictDisplay(Display):
    """Which columns the sets within a tolerance contain.

    One column of the picture for each set, the best first, with the relative increase of its error
    over the best one; one row for each column of the data that any of the sets contains: necessary
    ones first and dark, then those that most sets contain.

    Parameters
    ----------
    sets : sequence of sequences of int
        The sets, best first.
    errors : array-like of shape (n_sizes,)
        Their errors.
    necessary : array-like of int, optional
        Columns that are proven necessary.
    names : sequence of str, optional
        Names of all columns; ``x0``, ``x1``, ... by default.
    complete : bool, default=False
        Whether these are all sets within the tolerance.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
    cells_ : matplotlib QuadMesh
        The cells.

    See Also
    --------
    columnist.column_verdicts : Computes the verdicts.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist import column_verdicts
    >>> from columnist.plotting import VerdictDisplay
    >>> X = load_wine(as_frame=True).data
    >>> verdicts = column_verdicts((X - X.mean()) / X.std(), 4, tol=0.05)
    >>> display = VerdictDisplay.from_verdicts(verdicts)
    >>> display.ax_.get_yticklabels()[0].get_text()
    'flavanoids'
    """

    def __init__(
        self, sets: Sequence[Sequence[int]], errors, *, necessary=(),
        names: Sequence[str] | None = None, complete: bool = False,
    ):  # fmt: skip
        self.sets, self.errors = list(sets), np.asarray(errors, dtype=np.float64)
        self.necessary = {int(j) for j in necessary}
        self.names, self.complete = names, complete

    @classmethod
    def from_verdicts(
        cls, verdicts: ColumnVerdicts, *, names: Sequence[str] | None = None, ax=None,
        max_sets: int = 40, max_features: int = 40,
    ) -> Self:  # fmt: skip
        """Draw verdicts.

        Parameters
        ----------
        verdicts : ColumnVerdicts
            What :func:`columnist.column_verdicts` returns.
        names : sequence of str, optional
            Names of all columns; those of the verdicts by default.
        ax, max_sets, max_features
            As in :meth:`plot`.

        Returns
        -------
        VerdictDisplay
        """
        display = cls.of(verdicts, names)
        return display.plot(ax, max_sets=max_sets, max_features=max_features)

    @classmethod
    def of(cls, verdicts: ColumnVerdicts, names: Sequence[str] | None = None) -> Self:
        """The display of verdicts, not drawn yet."""
        return cls(
            verdicts.solutions, [solution.error for solution in verdicts.solutions],
            necessary=verdicts.necessary, names=names or verdicts.feature_names,
            complete=bool(verdicts.certificate.list_complete),
        )  # fmt: skip

    def plot(self, ax=None, *, max_sets: int = 40, max_features: int = 40) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        max_sets, max_features : int, default=40
            Sets and columns to show, at most.

        Returns
        -------
        self
        """
        Integer(1).check("max_sets", max_sets)
        Integer(1).check("max_features", max_features)
        cells = self._picture(max_sets, max_features)
        n_rows, n_sets = cells.filled.shape
        size = (2.6 + max(0.22 * n_sets, 1.5), 1.4 + 0.24 * n_rows)
        ax = new_axes(figsize=size) if ax is None else ax
        self.cells_ = draw_cells(ax, cells)
        return self._drawn_on(ax)

    def _picture(self, max_sets: int = 40, max_features: int = 40) -> Cells:
        sets = [set(columns) for columns in self.sets[:max_sets]]
        often = {j: sum(j in columns for columns in sets) for j in set().union(*sets)}
        order = sorted(often, key=lambda j: (j not in self.necessary, -often[j], j))
        shown = order[:max_features]
        best, worse = self.errors[0], self.errors[: len(sets)]
        shares = (worse - best) / abs(best) if best else np.zeros(len(sets))
        known = "all sets" if self.complete else "sets"
        title = f"{count(len(self.sets), 'set')} within the tolerance"
        if self.complete:
            title = f"All {title}" if len(self.sets) > 1 else "The only set within the tolerance"
        if len(sets) < len(self.sets):
            title += f", the best {len(sets)} shown"
        if len(shown) < len(order):
            title += f"; {len(order) - len(shown)} columns not shown"
        n_needed = len(self.necessary & set(shown))
        return Cells(
            [f"x{j}" if self.names is None else str(self.names[j]) for j in shown],
            ["best" if i == 0 else f"+{percent(s)}" for i, s in enumerate(shares.tolist())],
            np.array([[j in columns for columns in sets] for j in shown]),
            np.array([j in self.necessary for j in shown], dtype=bool),
            title,
            f"Which of {count(len(shown), 'column')} are contained in {known} within the "
            f"tolerance; {n_needed} of them are in every one.",
            "sets, best first: how much larger the error is", ("necessary", "in some sets"),
        )  # fmt: skip
