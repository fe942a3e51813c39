"""Plots of a robust PCA: distances of the rows, variances without outliers, outlying images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from columnist._text import number, readable
from columnist.data._parameters import Integer
from columnist.plotting._draw import SCALE, Display, Style, draw, new_axes, panels_for
from columnist.plotting._picture import Axis, Line, Mark, Names, Picture, Points, Rule
from columnist.robust._base import BaseRobustPCA

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
# A wider range of variances than this is drawn on a logarithmic axis.
_WIDE = 100.0
_DOTTED = {"color": "0.35", "linestyle": ":", "linewidth": 1.5}
# Frames are drawn in the air between images: this share of an image's width.
_AIR, _FRAME = 0.08, "#D00000"


class OutlierMapDisplay(Display):
    """Outlier map: score distance against orthogonal distance of every row.

    Two cut-off lines make four regions. *Regular* rows are near in both distances. *Good
    leverage* rows lie in the subspace, far from its centre: they follow the pattern of the others.
    *Orthogonal outliers* lie off the subspace, over its centre. *Bad leverage* rows are far in
    both: they distort a classical PCA. Rows removed by the fit are circled.

    Parameters
    ----------
    score_distances, orthogonal_distances : array-like of shape (n_samples,)
        Distances within the subspace, in standard deviations, and from it.
    score_cutoff, orthogonal_cutoff : float
        Largest distances of a regular row; positive.
    removed : array-like of int, optional
        Rows excluded from the fit.
    labels : sequence of shape (n_samples,), optional
        Names of the rows; their numbers by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
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
        self, score_distances, orthogonal_distances, *, score_cutoff: float,
        orthogonal_cutoff: float, removed=None, labels: Sequence | None = None,
    ):  # fmt: skip
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
        cls, estimator: BaseRobustPCA, X, *, labels: Sequence | None = None,
        mark_removed: bool = True, **options: Any,
    ) -> Self:  # fmt: skip
        """Draw the distances of rows from a fitted robust PCA.

        Parameters
        ----------
        estimator : robust PCA
            Fitted; any estimator of :mod:`columnist.robust`.
        X : array-like of shape (n_samples, n_features)
            Rows: those of the fit, or others.
        labels : sequence of shape (n_samples,), optional
            Names of the rows; by default the index of a data frame, else row numbers.
        mark_removed : bool, default=True
            Circle the rows that the fit removed. Set to False if X holds other rows.
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
    ) -> Self:
        check_is_fitted(estimator)
        labels = X.index if labels is None and hasattr(X, "iloc") else labels
        return cls(
            estimator.score_distances(X), estimator.orthogonal_distances(X), labels=labels,
            score_cutoff=estimator.score_cutoff_, orthogonal_cutoff=estimator.orthogonal_cutoff_,
            removed=estimator.outliers_ if mark_removed else None,
        )  # fmt: skip

    @property
    def regions(self) -> list[str]:
        """Name of the region of every row."""
        return [_REGIONS[i][0] for i in self._places()]

    def _places(self) -> np.ndarray:
        off = self.orthogonal_distances > self.orthogonal_cutoff
        return 2 * off + (self.score_distances > self.score_cutoff)

    def _cutoffs(self) -> np.ndarray:
        """How far out every row is: the larger distance, in cut-offs."""
        within = self.score_distances / self.score_cutoff
        return np.maximum(within, self.orthogonal_distances / self.orthogonal_cutoff)

    def plot(
        self, ax=None, *, scale: str = "auto", n_labels: int = 8, point_kw: Style = None,
        label_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
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
        styles: dict[str, Style] = {region[0]: point_kw for region in _REGIONS}
        styles["names"] = {"fontsize": 8} | dict(label_kw or {})
        picture = self._picture(scale=scale, n_labels=n_labels)
        drawn = self._draw(ax, picture, styles, figsize=(6.4, 5.4))
        self.points_ = [drawn[region[0]] for region in _REGIONS]
        self.removed_marks_, self.labels_ = drawn.get("removed"), drawn["names"]
        self.score_line_, self.orthogonal_line_ = drawn["score"], drawn["orthogonal"]
        self.ax_.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=8,
            borderaxespad=0.2, columnspacing=1.2, handletextpad=0.4,
        )  # fmt: skip
        return self

    def _picture(
        self, *, scale: str = "auto", n_labels: int = 8, shown: np.ndarray | None = None
    ) -> Picture:
        """What is drawn; ``shown`` are the rows to draw, all by default."""
        shown = np.arange(len(self.labels)) if shown is None else shown
        within = "score distance (within the subspace, in standard deviations)"
        x, x_axis = _along(self.score_distances, shown, self.score_cutoff, scale, within)
        off = "orthogonal distance (from the subspace)"
        y, y_axis = _along(self.orthogonal_distances, shown, self.orthogonal_cutoff, scale, off)
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


def _along(
    distances: np.ndarray, shown: np.ndarray, cutoff: float, scale: str, label: str
) -> tuple[np.ndarray, Axis]:
    """Where distances are drawn, and the axis of those shown: logarithmic where rows are very far.

    A logarithmic axis ends at small distances.
    """
    farthest = max(distances[shown].max(initial=0.0), cutoff)
    if scale == "linear" or (scale == "auto" and farthest <= _FAR * cutoff):
        return distances, Axis(0.0, 1.06 * farthest, label)
    nearest = max(distances[shown].min(initial=cutoff), _EDGE * cutoff)
    margin = max((farthest / nearest) ** 0.06, 1.2)
    axis = Axis(nearest / margin, farthest * margin, label, log=True)
    return np.maximum(distances, _EDGE * cutoff), axis


class ScreeDisplay(Display):
    """Variance along each principal axis, with and without the outliers.

    The left panel shows the variances of the kept rows and those of a classical PCA of all rows,
    each along its own axes; the right panel their cumulative shares. A few outliers can determine
    the first axes of the classical PCA: its variances are then much larger.

    Parameters
    ----------
    kept_variances, all_variances : array-like of shape (n_axes,)
        Variances, descending: of the rows the fit kept, and of all rows.
    n_components : int, optional
        Dimension of the fitted subspace, to be marked.
    n_kept, n_samples : int, optional
        Numbers of rows, for the legend.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Axes and figure of the plot; ``ax_`` is the first of the axes.
    kept_line_, all_line_ : matplotlib Line2D
        The variances.
    kept_share_, all_share_ : matplotlib Line2D
        The cumulative shares, in percent.
    component_lines_ : list of matplotlib Line2D
        Where the fitted subspace ends, one line per panel.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.plotting import ScreeDisplay
    >>> from columnist.robust import RobustPCA
    >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [5.0, 3.0, 1.0, 1.0]
    >>> X[:3] += [0.0, 0.0, 60.0, 0.0]
    >>> display = ScreeDisplay.from_estimator(RobustPCA(2, n_outliers=3).fit(X), X)
    >>> bool(display.all_variances[0] > 5 * display.kept_variances[0])
    True
    """

    def __init__(
        self, kept_variances, all_variances, *, n_components: int | None = None,
        n_kept: int | None = None, n_samples: int | None = None,
    ):  # fmt: skip
        self.kept_variances = np.asarray(kept_variances, dtype=np.float64)
        self.all_variances = np.asarray(all_variances, dtype=np.float64)
        if not len(self.kept_variances) == len(self.all_variances) > 0:
            raise ValueError(
                "kept_variances and all_variances need one entry per axis; got "
                f"{len(self.kept_variances)} and {len(self.all_variances)}."
            )
        self.n_components, self.n_kept, self.n_samples = n_components, n_kept, n_samples

    @classmethod
    def from_estimator(cls, estimator: BaseRobustPCA, X, **options: Any) -> Self:
        """Draw the variances of the rows a robust PCA was fitted to.

        Rows are measured from their own mean, or from the origin if the fit was not centred.

        Parameters
        ----------
        estimator : robust PCA
            Fitted; any estimator of :mod:`columnist.robust`.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        **options
            As in :meth:`plot`.

        Returns
        -------
        ScreeDisplay
        """
        check_is_fitted(estimator)
        X = check_array(X, dtype=np.float64)
        if len(estimator.outliers_) and len(X) <= estimator.outliers_[-1]:
            raise ValueError(
                f"Row {estimator.outliers_[-1]} was removed by the fit, but X has {len(X)} "
                "rows: pass the rows of the fit."
            )
        kept = np.delete(X, estimator.outliers_, axis=0)
        centred = bool(np.any(estimator.mean_))
        return cls(
            _variances(kept, centred), _variances(X, centred), n_kept=len(kept), n_samples=len(X),
            n_components=estimator.n_components_,
        ).plot(**options)  # fmt: skip

    def plot(self, axes=None, *, n_axes: int = 10, scale: str = "auto") -> Self:
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        n_axes : int, default=10
            Principal axes to show, at most (always one more than the subspace has).
        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the variances; ``"auto"`` is logarithmic if they span more than a factor
            of a hundred.

        Returns
        -------
        self
        """
        Integer(1).check("n_axes", n_axes)
        SCALE.check("scale", scale)
        panels = panels_for(axes, 2, ncols=2, figsize=(8.4, 3.8))
        pictures = zip(panels, self._pictures(n_axes, scale), strict=True)
        left, right = (draw(ax, picture, {"components": _DOTTED}) for ax, picture in pictures)
        self.all_line_, self.kept_line_ = left["all"], left["kept"]
        self.all_share_, self.kept_share_ = right["all"], right["kept"]
        self.component_lines_ = [d["components"] for d in (left, right) if "components" in d]
        panels[1].ticklabel_format(axis="y", useOffset=False)
        panels[0].legend(frameon=False)
        return self._drawn_on(*panels)

    def _pictures(self, n_axes: int = 10, scale: str = "auto") -> tuple[Picture, Picture]:
        """The variances, and their cumulative shares."""
        count = min(max(n_axes, (self.n_components or 0) + 1), len(self.all_variances))
        both = np.array([self.all_variances, self.kept_variances])
        shown, totals = both[:, :count], both.sum(axis=1, keepdims=True)
        shares = 100.0 * np.cumsum(shown, axis=1) / np.where(totals > 0.0, totals, 1.0)
        wide = shown.max() > _WIDE * shown.min() > 0.0
        log = scale == "log" or (scale == "auto" and wide)
        label = "variance along the axis"
        variances = Axis.around(shown[shown > 0.0] if log else shown, label, log=log, zero=not log)
        span = max(100.0 - shares.min(), 1e-3)
        low = max(shares.min() - 0.1 * span, 0.0)
        share = Axis(low, 100.0 + 0.05 * span, "cumulative share of the variance (%)")
        return self._panel(shown, variances), self._panel(shares, share)

    def _panel(self, levels: np.ndarray, y: Axis) -> Picture:
        places = np.arange(1, levels.shape[1] + 1)
        n, k = ("" if count is None else f"{count} " for count in (self.n_samples, self.n_kept))
        whole, clean = f"all {n}rows (classical PCA)", f"{k}kept rows"
        marks: list[Mark] = [
            Line(places, levels[0], True, key="all", color="proven"),
            Points(places, levels[0], "square", False, key="of all", color="proven", label=whole),
            Line(places, levels[1], key="kept"),
            Points(places, levels[1], key="of kept", label=clean),
        ]
        if (r := self.n_components) is not None:
            words = f"fitted components: {r}"
            marks.append(Rule("x", r + 0.5, key="components", color="ink", label=words))
        x = Axis(0.4, len(places) + 0.6, "principal axis", whole=True)
        return Picture(x, y, marks, "Variances with and without the outliers")


def _variances(X: np.ndarray, centred: bool) -> np.ndarray:
    """Variances along all min(n, p) principal axes."""
    Z = X - X.mean(axis=0) if centred else X
    sigma = scipy.linalg.svdvals(Z, check_finite=False)
    return np.pad(sigma**2 / max(len(X) - centred, 1), (0, X.shape[1] - len(sigma)))


class OutlierImagesDisplay(Display):
    """Rows that are images, side by side; those removed as outliers have a red frame.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width)
        Grey images; a larger value is brighter.
    outliers : array-like of int
        Which of them to frame.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.
    image_ : matplotlib AxesImage
        All images.
    frames_ : list of matplotlib Rectangle
        The frames, in the order of ``outliers``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from columnist.plotting import OutlierImagesDisplay
    >>> from columnist.robust import TrimmedPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X[y == 1][:40]
    >>> found = TrimmedPCA(5, n_outliers=4).fit(X)
    >>> display = OutlierImagesDisplay.from_estimator(found, X, (8, 8))
    >>> len(display.frames_)
    4
    """

    def __init__(self, images, outliers):
        self.images = np.asarray(images, dtype=np.float64)
        if self.images.ndim != 3 or not self.images.size:
            raise ValueError(
                "images must have three dimensions (number, height, width); got shape "
                f"{self.images.shape}."
            )
        self.outliers = np.asarray(outliers, dtype=np.intp)
        if len(self.outliers) and not 0 <= self.outliers.min() <= self.outliers.max() < len(images):
            raise ValueError(
                f"Image {self.outliers.max()} is to be framed, but there are {len(images)}."
            )

    @classmethod
    def from_estimator(
        cls, estimator: BaseRobustPCA, X, image_shape: Sequence[int], **options: Any
    ) -> Self:
        """Draw the images a robust PCA was fitted to, those it removed framed.

        Parameters
        ----------
        estimator : robust PCA
            Fitted; any estimator of :mod:`columnist.robust`.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        image_shape : (height, width)
            Their product is the number of features; pixels run along the rows of an image.
        **options
            As in :meth:`plot`.

        Returns
        -------
        OutlierImagesDisplay
        """
        check_is_fitted(estimator)
        X = check_array(X, dtype=np.float64)
        height, width = image_shape
        if height * width != X.shape[1]:
            raise ValueError(
                f"image_shape {height} x {width} needs {height * width} features; X has "
                f"{X.shape[1]}."
            )
        return cls(X.reshape(-1, height, width), estimator.outliers_).plot(**options)

    def plot(
        self, ax=None, *, n_columns: int | None = None, image_kw: Style = None,
        frame_kw: Style = None,
    ) -> Self:  # fmt: skip
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure of the grid's proportions.
        n_columns : int, optional
            Images side by side; by default such that the picture is 1.5 times as wide as tall.
        image_kw, frame_kw : dict, optional
            Passed to ``Axes.imshow`` and, for the frames, to ``matplotlib.patches.Rectangle``.

        Returns
        -------
        self
        """
        n, height, width = self.images.shape
        if n_columns is None:
            n_columns = min(n, max(1, round(np.sqrt(1.5 * n * height / width))))
        Integer(1).check("n_columns", n_columns)
        air = max(1, round(_AIR * width))
        step = np.array([height + air, width + air])
        corners = air + step * np.column_stack(np.divmod(np.arange(n), n_columns))
        grid = np.full(air + step * [-(-n // n_columns), n_columns], np.nan)
        for (top, left), image in zip(corners, self.images, strict=True):
            grid[top : top + height, left : left + width] = image
        ax = new_axes(figsize=(8.0, 8.0 * grid.shape[0] / grid.shape[1])) if ax is None else ax
        from matplotlib.patches import Rectangle

        # What no image covers is masked, so that the background shows.
        masked = np.ma.masked_invalid(grid)
        self.image_ = ax.imshow(masked, **{"cmap": "gray"} | dict(image_kw or {}))
        style: dict[str, Any] = {"fill": False, "edgecolor": _FRAME, "linewidth": 2.0}
        style |= dict(frame_kw or {})
        self.frames_ = [
            ax.add_patch(Rectangle((left, top), width + air, height + air, **style))
            for top, left in corners[self.outliers] - 0.5 - air / 2
        ]
        ax.set_axis_off()
        return self._drawn_on(ax)
