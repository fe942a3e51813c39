"""Base class of the displays: drawing with Matplotlib, which is loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np

from columnist.data._parameters import StrOptions
from columnist.plotting import _picture as pic

# Options that are passed on to Matplotlib, and those of several marks by their keys.
Style = Mapping[str, Any] | None
Styles = Mapping[str, Style]
# The parameter ``scale`` of an axis.
SCALE = StrOptions("auto", "linear", "log")
_MARKERS = {"dot": "o", "square": "s", "triangle": "^", "diamond": "D", "ring": "o"}
# Wider logarithmic axes are labelled with powers of ten.
_PLAIN = 1e4
# Distances of a label from its point, in points; beyond _NEAR, or aslant, a line connects them.
_DISTANCES, _NEAR = (7, 13, 22, 32, 44, 58, 74, 92), 13
# Labels that share less than this many square pixels with something else do not cover it.
_TOUCHING = 1e-6
_LINE = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 4}
_SLANTED = product((1.0, -1.0, 0.5, -0.5), repeat=2)
_DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), *_SLANTED])


class Display:
    """A display holds numbers; ``plot`` draws them and keeps the artists as attributes."""

    ax_: Any
    axes_: np.ndarray
    figure_: Any

    def _draw(self, ax, picture: pic.Picture, styles: Styles, **figure) -> dict[str, Any]:
        """Draw on the axes, or those of a new figure; the artists by the keys of the marks."""
        self._drawn_on(new_axes(**figure) if ax is None else ax)
        return draw(self.ax_, picture, styles)

    def _drawn_on(self, *axes) -> Self:
        """Keep where it was drawn."""
        self.ax_, self.figure_ = axes[0], axes[0].figure
        if len(axes) > 1:
            self.axes_ = np.array(axes)
        return self


def panels_for(axes, n_panels: int, **figure_options) -> np.ndarray:
    """The axes of several panels: the given ones, or those of a new figure."""
    panels = np.ravel(new_axes(**figure_options) if axes is None else axes)
    if len(panels) != n_panels:
        raise ValueError(f"The picture needs {n_panels} axes; got {len(panels)}.")
    return panels


def new_axes(**figure_options):
    """The axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plotting needs matplotlib, which is not installed: "
            'pip install "columnist[plot]" brings it.'
        ) from error
    return plt.subplots(layout="constrained", **figure_options)[1]


def draw(ax, picture: pic.Picture, styles: Styles) -> dict[str, Any]:
    """Draw a picture; what the axes show already stays in view.

    ``styles`` has options of artists, by the keys of their marks, and so has the result the
    artists; ``"names"`` is for the names.
    """
    crowded = ax.has_data()
    artists: dict[str, Any] = {}
    for mark in picture.marks:
        own = {"color": pic.COLORS[mark.color], "label": mark.label or None}
        own |= dict(styles.get(mark.key) or {})
        if not (isinstance(mark, pic.Points) and mark.hidden):
            artists[mark.key] = _ARTISTS[type(mark)](ax, mark, picture, own)
    for which, axis in (("x", picture.x), ("y", picture.y)):
        _set_axis(ax, which, axis, crowded)
    tidy(ax)
    if picture.names is not None:
        artists["names"] = _write_names(ax, picture.names, dict(styles.get("names") or {}))
    return artists


def _line(ax, mark: pic.Line, _: pic.Picture, style: dict[str, Any]):
    style = {"linewidth": 1.6, "zorder": 2, "linestyle": "--" if mark.dashed else "-"} | style
    steps = {"drawstyle": "steps-post"} if mark.step else {}
    return ax.plot(mark.x, mark.y, **steps | style)[0]


def _band(ax, mark: pic.Band, _: pic.Picture, style: dict[str, Any]):
    style = {"alpha": 0.3, "linewidth": 0, "zorder": 1} | style
    return ax.fill_between(mark.x, mark.low, mark.high, step="post" if mark.step else None, **style)


def _points(ax, mark: pic.Points, _: pic.Picture, style: dict[str, Any]):
    style = {"marker": _MARKERS[mark.shape], "zorder": 3} | style
    if mark.scattered:
        return _scattered(ax, mark, style)
    face = {} if mark.filled is True else {"markerfacecolor": "white"}
    return ax.plot(mark.x, mark.y, linestyle="none", **face | style)[0]


def _scattered(ax, mark: pic.Points, style: dict[str, Any]):
    color = style.pop("color")
    style = {"rasterized": mark.small, "s": 10 if mark.small else 26} | style
    if mark.shape == "ring":
        style |= {"facecolors": "none", "edgecolors": color, "zorder": 3.5}
        style |= {"s": 36, "linewidths": 0.6} if mark.small else {"s": 75, "linewidths": 0.9}
    elif mark.filled is True:
        pale = mark.small and mark.faint
        style = {"c": color, "linewidths": 0, "alpha": 0.35 if pale else 0.85} | style
    else:
        faces = np.where(mark.filled, color, "white")
        style = {"edgecolors": color, "facecolors": faces, "linewidths": 1.5} | style
    return ax.scatter(mark.x, mark.y, **style)


def _rule(ax, mark: pic.Rule, _: pic.Picture, style: dict[str, Any]):
    style = {"linewidth": 1.1, "zorder": 1.5, "linestyle": "--" if mark.dashed else "-"} | style
    return ax.axvline(mark.value, **style) if mark.axis == "x" else ax.axhline(mark.value, **style)


def _below(ax, mark: pic.Below, picture: pic.Picture, style: dict[str, Any]):
    """A hatched area, with what it means written into it."""
    color, label = style.pop("color"), style.pop("label")
    look = {"facecolor": "0.93", "edgecolor": "0.82", "hatch": "///", "linewidth": 0, "zorder": 0.5}
    area = ax.axhspan(picture.y.low, mark.value, **look | style)
    ax.annotate(
        label, (0.99, mark.value), xycoords=("axes fraction", "data"), xytext=(0, -5),
        textcoords="offset points", ha="right", va="top", fontsize=8, color=color,
        bbox={"facecolor": "0.93", "edgecolor": "none", "pad": 1.0},
    )  # fmt: skip
    return area


_ARTISTS: dict[type[pic.Mark], Any] = {
    pic.Line: _line, pic.Band: _band, pic.Points: _points, pic.Rule: _rule, pic.Below: _below,
}  # fmt: skip


def _set_axis(ax, which: str, axis: pic.Axis, crowded: bool) -> None:
    """Scale, range and label of one axis; what was in view before stays there."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.low, axis.high
    if crowded:
        before = [end for end in getattr(ax, f"get_{which}lim")() if end > 0.0 or not axis.log]
        low, high = min([low, *before]), max([high, *before])
    scale = {f"{which}scale": "log" if axis.log else "linear"}
    ax.set(**scale | {f"{which}lim": (low, high), f"{which}label": axis.label})
    drawn = getattr(ax, f"{which}axis")
    if axis.log:
        drawn.set_minor_formatter(NullFormatter())
    # Plain numbers as labels, unless they span many powers of ten.
    if axis.log and high <= _PLAIN * low:
        drawn.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        drawn.set_major_formatter(StrMethodFormatter("{x:g}"))
    if axis.whole:
        drawn.get_major_locator().set_params(integer=True)


def _write_names(ax, names: pic.Names, style: dict[str, Any]) -> list:
    """A name next to each point where it covers no other name and no point, if there is room."""
    if not len(names.names):
        return []
    style = {"fontsize": 9, "color": "0.15", "zorder": 4} | style
    ax.figure.draw_without_rendering()  # settles the layout, and with it where points are
    pixels = ax.figure.dpi / 72.0
    spots = ax.transData.transform(np.column_stack([names.x, names.y]))
    around = ax.transData.transform(np.column_stack(names.around))
    taken = [_box(spot, 5.0 * pixels) for spot in (*around, *spots)]
    if names.above is not None:
        level = ax.transData.transform((names.x[0], names.above))[1] + pixels
        taken.append(np.array([ax.bbox.x0, ax.bbox.y0, ax.bbox.x1, level]))
    frame = ax.bbox.padded(-3.0 * pixels).extents
    labels = {}
    for i in np.argsort(-spots[:, 0], kind="stable"):  # from the right, where room is least
        size = _size(ax, names.names[i], style) / pixels
        distance, offset, covered = _free_offset(spots[i], size, pixels, taken, frame)
        if names.must_fit and covered > _TOUCHING:
            continue
        taken.append(_box(spots[i] + pixels * offset, pixels * size / 2))
        beside = distance <= _NEAR and not offset.all()
        labels[i] = ax.annotate(
            names.names[i], (names.x[i], names.y[i]), xytext=offset, textcoords="offset points",
            ha="center", va="center", arrowprops=None if beside else _LINE, **style,
        )  # fmt: skip
    return [labels[i] for i in sorted(labels)]


def draw_bars(ax, bars: pic.Bars):
    """Draw bars, the first on top; names of marked ones are bold."""
    places = np.arange(len(bars.values))
    drawn = np.where(np.isfinite(bars.values), bars.values, 0.0)
    found = ax.barh(places, drawn, color=np.where(bars.marked, pic.COLORS["found"], "0.75"))
    for place in np.flatnonzero(~np.isfinite(bars.values)).tolist():
        ax.text(0.0, place, f" {bars.texts[place]}", va="center", fontsize=9, color="0.35")
    name_rows(ax, places, bars.names, bars.marked)
    ax.set(xlabel=bars.label, ylim=(len(places) - 0.4, -0.6))
    ax.set_title(bars.title, fontsize=10)
    tidy(ax, grid="x")
    return found


def draw_cells(ax, cells: pic.Cells):
    """Draw filled cells, names of strong rows bold."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colors = ["white", pic.COLORS["found"], pic.COLORS["ink"]]
    values = cells.filled * np.where(cells.strong, 2, 1)[:, None]
    found = ax.pcolormesh(
        values, cmap=ListedColormap(colors), vmin=-0.5, vmax=2.5, edgecolors="0.85", linewidth=0.6
    )
    n_rows, n_columns = cells.filled.shape
    name_rows(ax, np.arange(n_rows) + 0.5, cells.rows, cells.strong, size=8)
    ax.set_xticks(np.arange(n_columns) + 0.5, cells.columns, rotation=90, size=7)
    ax.tick_params(length=0)
    ax.set(xlabel=cells.label, ylim=(n_rows, 0))
    ax.set_title(cells.title, fontsize=10)
    ax.spines[:].set_visible(False)
    kinds = [(2, cells.labels[0], cells.strong.any()), (1, cells.labels[1], ~cells.strong.all())]
    patches = [Patch(color=colors[i], label=label) for i, label, used in kinds if used]
    ax.figure.legend(handles=patches, loc="outside lower center", ncols=2, frameon=False)
    return found


def name_rows(ax, places, names: Sequence[str], bold, **style: Any) -> None:
    """Names along the vertical axis, some of them bold."""
    ax.set_yticks(places, names, **style)
    for label, strong in zip(ax.get_yticklabels(), bold, strict=True):
        label.set_fontweight("bold" if strong else "normal")


def tidy(ax, grid: str = "y") -> None:
    """Spines at two sides only, and a pale grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis=grid, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _size(ax, name: str, style: dict[str, Any]) -> np.ndarray:
    """Width and height of a text and a little air in pixels."""
    text = ax.text(0.5, 0.5, name, transform=ax.transAxes, **style)
    size = np.array(text.get_window_extent().size) + ax.figure.dpi / 36.0
    text.remove()
    return size


def _box(middle, half) -> np.ndarray:
    """Left, bottom, right and top of a box."""
    return np.concatenate([middle - half, middle + half])


def _free_offset(spot, size, pixels: float, taken, frame) -> tuple[int, np.ndarray, float]:
    """The nearest place inside the frame where nothing is covered, else the least covered one."""
    best, others = (0, np.zeros(2), np.inf), np.array(taken)
    for distance, step in product(_DISTANCES, _DIRECTIONS):
        offset = step * (size / 2 + distance / np.linalg.norm(step))
        box = _box(spot + pixels * offset, pixels * size / 2)
        outside = np.prod(pixels * size) - _overlap(box, frame[None])
        covered = outside + _overlap(box, others)
        if covered < best[2] - _TOUCHING:
            best = (distance, offset, covered)
        if covered <= _TOUCHING:
            break
    return best


def _overlap(box: np.ndarray, others: np.ndarray) -> float:
    """Area that a box shares with each of some others, in total."""
    shared = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.prod(np.maximum(shared, 0.0), axis=1).sum())
