"""Score distance against orthogonal distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import number, readable
from columnist.data._parameters import Integer
from columnist.plotting._draw import SCALE, axes_for, draw
from columnist.plotting._picture import Axis, Mark, Names, Picture, Points, Rule
from columnist.robust._base import BaseRobustPCA

__all__ = ["OutlierMapDisplay"]

# Name, what it means, shape and colour; the position is 2 * (off the subspace) + (far within).
_REGIONS = (
    ("regular", "near in both", "dot", "other"),
    ("good leverage", "far within the subspace", "square", "found"),
    ("orthogonal outlier", "off the subspace", "triangle", "warn"),
    ("bad leverage", "both", "diamond", "proven"),
)
# Farther than this many cut-offs: a logarithmic axis. It ends at this share of the cut-off.
_FAR, _EDGE = 8.0, 1e-2
# More rows than this are drawn small and pale, and as pixels in vector formats.
_CROWDED = 1000


class OutlierMapDisplay:
    """Score distance against orthogonal distance of every row: which rows are outliers, and how.

    Two cut-off lines make four regions. *Regular* rows are near in both distances. *Good
    leverage* rows lie in the subspace, far from its centre: they obey the pattern of the others.
    *Orthogonal outliers* lie off the subspace, over its centre. *Bad leverage* rows are far in
    both: they are the ones that turn a classical PCA. Rows removed by the fit are circled.

    Parameters
    ----------
    score_distances, orthogonal_distances : array-like of shape (n_samples,)
        Distances within the subspace, in standard deviations, and from it.
    score_cutoff, orthogonal_cutoff : float
        Largest distances of a regular row; positive.
    removed : array-like of int, optional
        Rows that the fit did without.
    labels : sequence of shape (n_samples,), optional
        Names of the rows; their numbers by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_ : list of matplotlib PathCollection
        The rows of each region: regular, good leverage, orthogonal outlier, bad leverage.
    removed_marks_ : matplotlib PathCollection or None
        Circles around the rows removed.
    score_line_, orthogonal_line_ : matplotlib Line2D
        The cut-offs.
    labels_ : list of matplotlib Annotation
        Names of the most outlying rows.

    See Also
    --------
    columnist.robust.RobustPCA : Its ``predict`` flags what is not regular.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.plotting import OutlierMapDisplay
    >>> from columnist.robust import TrimmedPCA
    >>> X = scale(load_wine().data)
    >>> display = OutlierMapDisplay.from_estimator(TrimmedPCA(2, n_outliers=4).fit(X), X)
    >>> display.regions[121]
    'orthogonal outlier'
    """

    def __init__(
        self,
        score_distances,
        orthogonal_distances,
        *,
        score_cutoff: float,
        orthogonal_cutoff: float,
        removed=None,
        labels: Sequence | None = None,
    ):
        self.score_distances = np.asarray(score_distances, dtype=np.float64)
        self.orthogonal_distances = np.asarray(orthogonal_distances, dtype=np.float64)
        n = len(self.score_distances)
        if len(self.orthogonal_distances) != n:
            raise ValueError(
                f"Every row needs two distances; got {n} score distances and "
                f"{len(self.orthogonal_distances)} orthogonal ones."
            )
        self.score_cutoff, self.orthogonal_cutoff = score_cutoff, orthogonal_cutoff
        self.removed = np.asarray([] if removed is None else removed, dtype=np.intp)
        if len(self.removed) and not 0 <= self.removed.min() <= self.removed.max() < n:
            raise ValueError(
                f"Row {self.removed.max()} was removed by the fit, but there are {n} rows: pass "
                "the rows of the fit, or mark_removed=False for others."
            )
        self.labels = [str(label) for label in (range(n) if labels is None else labels)]
        if len(self.labels) != n:
            raise ValueError(f"labels needs one entry per row ({n}); got {len(self.labels)}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseRobustPCA,
        X,
        *,
        labels: Sequence | None = None,
        mark_removed: bool = True,
        **options: Any,
    ) -> OutlierMapDisplay:
        """Draw the rows as a fitted robust PCA sees them.

        Parameters
        ----------
        estimator : robust PCA
            Fitted; any estimator of :mod:`columnist.robust`.
        X : array-like of shape (n_samples, n_features)
            Rows: those of the fit, or others.
        labels : sequence of shape (n_samples,), optional
            Names of the rows; by default the index of a data frame, else row numbers.
        mark_removed : bool, default=True
            Circle the rows that the fit removed. Say False if X holds other rows.
        **options
            As in :meth:`plot`.

        Returns
        -------
        OutlierMapDisplay
        """
        return cls._of_fit(estimator, X, labels, mark_removed).plot(**options)

    @classmethod
    def _of_fit(
        cls, estimator: BaseRobustPCA, X, labels: Sequence | None = None, mark_removed: bool = True
    ) -> OutlierMapDisplay:
        check_is_fitted(estimator)
        if labels is None and hasattr(X, "iloc"):
            labels = X.index
        return cls(
            estimator.score_distances(X),
            estimator.orthogonal_distances(X),
            score_cutoff=estimator.score_cutoff_,
            orthogonal_cutoff=estimator.orthogonal_cutoff_,
            removed=estimator.outliers_ if mark_removed else None,
            labels=labels,
        )

    @property
    def regions(self) -> list[str]:
        """Name of the region of every row."""
        return [_REGIONS[i][0] for i in self._places()]

    def _places(self) -> np.ndarray:
        off = self.orthogonal_distances > self.orthogonal_cutoff
        return 2 * off + (self.score_distances > self.score_cutoff)

    def _cutoffs(self) -> np.ndarray:
        """How far out every row is: the larger distance, in cut-offs."""
        return np.maximum(
            self.score_distances / self.score_cutoff,
            self.orthogonal_distances / self.orthogonal_cutoff,
        )

    def plot(
        self,
        ax=None,
        *,
        scale: str = "auto",
        n_labels: int = 8,
        point_kw: Mapping[str, Any] | None = None,
        label_kw: Mapping[str, Any] | None = None,
    ) -> OutlierMapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; a new figure by default.
        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the axes; ``"auto"`` makes an axis logarithmic if a row lies at more
            than eight times its cut-off. A logarithmic axis ends at a hundredth of the
            cut-off: smaller distances are drawn there.
        n_labels : int, default=8
            Most outlying rows to name. Fewer are named if fewer are not regular, or where there
            is no room.
        point_kw, label_kw : dict, optional
            Passed to ``Axes.scatter`` and, for the names, to ``Axes.annotate``.

        Returns
        -------
        self
        """
        SCALE.check("scale", scale)
        Integer(0).check("n_labels", n_labels)
        ax = axes_for(ax, figsize=(6.4, 5.4))
        styles = {region[0]: point_kw for region in _REGIONS}
        names = {"fontsize": 8} | dict(label_kw or {})
        drawn = draw(ax, self._picture(scale=scale, n_labels=n_labels), styles | {"names": names})
        self.points_ = [drawn[region[0]] for region in _REGIONS]
        self.removed_marks_, self.labels_ = drawn.get("removed"), drawn["names"]
        self.score_line_, self.orthogonal_line_ = drawn["score"], drawn["orthogonal"]
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=8,
            borderaxespad=0.2, columnspacing=1.2, handletextpad=0.4,
        )  # fmt: skip
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _picture(
        self, *, scale: str = "auto", n_labels: int = 8, shown: np.ndarray | None = None
    ) -> Picture:
        """What is drawn; ``shown`` are the rows to draw, all by default."""
        shown = np.arange(len(self.labels)) if shown is None else shown
        within = "score distance (within the subspace, in standard deviations)"
        x_axis = _axis(self.score_distances[shown], self.score_cutoff, scale, within)
        off = "orthogonal distance (from the subspace)"
        y_axis = _axis(self.orthogonal_distances[shown], self.orthogonal_cutoff, scale, off)
        x = _drawn(self.score_distances, self.score_cutoff, x_axis)
        y = _drawn(self.orthogonal_distances, self.orthogonal_cutoff, y_axis)
        small, places = len(shown) > _CROWDED, self._places()
        marks: list[Mark] = [
            self._region(i, shown[places[shown] == i], x, y, small) for i in range(4)
        ]
        removed = self.removed[np.isin(self.removed, shown)]
        if len(removed):
            words = f"removed by the fit ({len(self.removed):,})"
            marks.append(Points(x[removed], y[removed], "ring", scattered=True, small=small,
                                   key="removed", color="ink", label=words))  # fmt: skip
        marks += [
            Rule("x", self.score_cutoff, key="score", color="ink"),
            Rule("y", self.orthogonal_cutoff, key="orthogonal", color="ink", label="cut-offs"),
        ]
        flagged = np.count_nonzero(places)
        return Picture(
            x_axis, y_axis, marks, "Outlier map",
            f"{len(shown)} rows are drawn; {flagged} rows lie beyond a cut-off.",
            self._names(shown, x, y, n_labels),
        )  # fmt: skip

    def _region(self, place: int, rows: np.ndarray, x, y, small: bool) -> Points:
        name, meaning, shape, color = _REGIONS[place]
        size = np.count_nonzero(self._places() == place)

        def tip(i: int) -> str:
            row = rows[i]
            return (
                f"{readable(self.labels[row], 80)}\n{name}\nwithin: "
                f"{number(self.score_distances[row], 3)}, off: "
                f"{number(self.orthogonal_distances[row], 3)}"
            )

        return Points(
            x[rows], y[rows], shape, tip=tip, scattered=True, small=small, faint=place == 0,
            key=name, color=color, label=f"{name}: {meaning} ({size:,})" if size else "",
        )  # fmt: skip

    def _names(self, shown: np.ndarray, x, y, n_labels: int) -> Names:
        """Names of the most outlying rows, where they cover no other row of interest."""
        marked = self._places() > 0
        named = shown[np.argsort(-self._cutoffs()[shown], kind="stable")[:n_labels]]
        named = named[marked[named]]
        marked[self.removed] = True
        others = shown[marked[shown]]
        names = [self.labels[i] for i in named]
        return Names(x[named], y[named], names, around=(x[others], y[others]), must_fit=True)


def _axis(distances: np.ndarray, cutoff: float, scale: str, label: str) -> Axis:
    """A linear axis, or a logarithmic one where rows are very far."""
    farthest = max(distances.max(initial=0.0), cutoff)
    if scale == "linear" or (scale == "auto" and farthest <= _FAR * cutoff):
        return Axis(0.0, 1.06 * farthest, label)
    nearest = max(distances.min(initial=cutoff), _EDGE * cutoff)
    margin = max((farthest / nearest) ** 0.06, 1.2)
    return Axis(nearest / margin, farthest * margin, label, log=True)


def _drawn(distances: np.ndarray, cutoff: float, axis: Axis) -> np.ndarray:
    """Where distances are drawn: a logarithmic axis ends at small ones."""
    return np.maximum(distances, _EDGE * cutoff) if axis.log else distances
