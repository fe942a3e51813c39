"""Score distance against orthogonal distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist.data._validation import check_choice, check_count
from columnist.plotting._style import FOUND, OPEN, PROVEN, axes_for, place_labels, point_boxes
from columnist.robust._base import BaseRobustPCA

__all__ = ["OutlierMapDisplay"]

# Name, what it means, marker and colour; the position is 2 * (off the subspace) + (far within).
_REGIONS = (
    ("regular", "near in both", "o", "0.55"),
    ("good leverage", "far within the subspace", "s", FOUND),
    ("orthogonal outlier", "off the subspace", "^", OPEN),
    ("bad leverage", "both", "D", PROVEN),
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
        check_is_fitted(estimator)
        if labels is None and hasattr(X, "iloc"):
            labels = X.index
        display = cls(
            estimator.score_distances(X),
            estimator.orthogonal_distances(X),
            score_cutoff=estimator.score_cutoff_,
            orthogonal_cutoff=estimator.orthogonal_cutoff_,
            removed=estimator.outliers_ if mark_removed else None,
            labels=labels,
        )
        return display.plot(**options)

    @property
    def regions(self) -> list[str]:
        """Name of the region of every row."""
        return [_REGIONS[i][0] for i in self._places()]

    def _places(self) -> np.ndarray:
        off = self.orthogonal_distances > self.orthogonal_cutoff
        return 2 * off + (self.score_distances > self.score_cutoff)

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
        check_choice("scale", scale, ("auto", "linear", "log"))
        check_count("n_labels", n_labels, low=0)
        ax = axes_for(ax, figsize=(6.4, 5.4))
        x = _set_scale(ax, "x", scale, self.score_distances, self.score_cutoff)
        y = _set_scale(ax, "y", scale, self.orthogonal_distances, self.orthogonal_cutoff)
        self._draw_points(ax, x, y, dict(point_kw or {}))
        line = {"color": "0.25", "linestyle": "--", "linewidth": 1.0, "zorder": 1.5}
        self.score_line_ = ax.axvline(self.score_cutoff, **line)
        self.orthogonal_line_ = ax.axhline(self.orthogonal_cutoff, **line, label="cut-offs")
        ax.set(
            xlabel="score distance (within the subspace, in standard deviations)",
            ylabel="orthogonal distance (from the subspace)",
        )
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=8,
            borderaxespad=0.2, columnspacing=1.2, handletextpad=0.4,
        )  # fmt: skip
        self.labels_ = self._write_labels(ax, x, y, n_labels, dict(label_kw or {}))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_points(self, ax, x: np.ndarray, y: np.ndarray, style: dict[str, Any]) -> None:
        crowded = len(x) > _CROWDED
        places, self.points_ = self._places(), []
        for place, (name, meaning, marker, color) in enumerate(_REGIONS):
            here = places == place
            own = {
                "marker": marker, "c": color, "s": 10 if crowded else 22, "linewidths": 0,
                "alpha": 0.35 if crowded and place == 0 else 0.85, "zorder": 2 + 0.1 * place,
                "rasterized": crowded, "label": f"{name}: {meaning} ({np.count_nonzero(here)})",
            }  # fmt: skip
            self.points_.append(ax.scatter(x[here], y[here], **own | style))
        self.removed_marks_ = None
        if len(self.removed):
            self.removed_marks_ = ax.scatter(
                x[self.removed], y[self.removed], marker="o", s=36 if crowded else 75,
                facecolors="none", edgecolors="0.1", linewidths=0.6 if crowded else 0.9,
                zorder=3, rasterized=crowded, label=f"removed by the fit ({len(self.removed)})",
            )  # fmt: skip

    def _write_labels(self, ax, x, y, n_labels: int, style: dict[str, Any]) -> list:
        """Names of the most outlying rows, where they cover no other row of interest."""
        cutoffs = np.maximum(
            self.score_distances / self.score_cutoff,
            self.orthogonal_distances / self.orthogonal_cutoff,
        )
        marked = self._places() > 0
        named = np.argsort(-cutoffs, kind="stable")[:n_labels]
        named = named[marked[named]]
        marked[self.removed] = True
        return place_labels(
            ax, [self.labels[i] for i in named], x[named], y[named],
            taken=point_boxes(ax, x[marked], y[marked], 5.0), must_fit=True,
            **{"fontsize": 8} | style,
        )  # fmt: skip


def _set_scale(ax, which: str, scale: str, distances: np.ndarray, cutoff: float) -> np.ndarray:
    """Scale and limits of one axis; where to draw the distances."""
    farthest = max(distances.max(initial=0.0), cutoff)
    if scale == "linear" or (scale == "auto" and farthest <= _FAR * cutoff):
        ax.set(**{f"{which}scale": "linear", f"{which}lim": (0.0, 1.06 * farthest)})
        return distances
    drawn = np.maximum(distances, _EDGE * cutoff)
    margin = max((farthest / drawn.min(initial=cutoff)) ** 0.06, 1.2)
    low, high = drawn.min(initial=cutoff) / margin, farthest * margin
    ax.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    return drawn
