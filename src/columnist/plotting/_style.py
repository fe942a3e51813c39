"""Colours, axes, scales and labels that the displays share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = [
    "CRITERION_NAMES",
    "FOUND",
    "OPEN",
    "PROVEN",
    "axes_for",
    "is_proven",
    "log_scale",
    "panels_for",
    "place_labels",
    "point_boxes",
    "tidy",
]

# Okabe and Ito's palette: told apart under every common colour blindness, and in grey.
FOUND, PROVEN, OPEN = "#0072B2", "#D55E00", "#E69F00"

CRITERION_NAMES = {
    "frobenius": "squared Frobenius norm",
    "spectral": "spectral norm",
    "nuclear": "nuclear norm",
}


# Wider logarithmic axes are labelled with powers of ten.
_PLAIN = 1e4
# Distances of a label from its point, in points; beyond _NEAR, or aslant, a line connects them.
_DISTANCES, _NEAR = (7, 13, 22, 32, 44, 58, 74, 92), 13
# Labels that share less than this many square pixels with something else do not cover it.
_TOUCHING = 1e-6
_LINE = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 4}
_DIRECTIONS: list[tuple[float, float]] = [(1, 0), (-1, 0), (0, 1), (0, -1)]
_DIRECTIONS += [(x, y) for x in (1.0, -1.0, 0.5, -0.5) for y in (1.0, -1.0, 0.5, -0.5)]


def is_proven(certificate) -> bool:
    """Whether to mark a choice as the best one.

    A search that was stopped may just have got there; where rounding left something open, none has.
    """
    closed = certificate.gap == 0.0 and certificate.status != "precision_limit"
    return certificate.is_optimal or closed


def axes_for(ax, **figure_options):
    """The axes to draw on: the given ones, or those of a new figure."""
    return _new_axes(**figure_options) if ax is None else ax


def panels_for(axes, n_panels: int, **figure_options) -> np.ndarray:
    """The axes of several panels: the given ones, or those of a new figure."""
    panels = np.ravel(_new_axes(**figure_options) if axes is None else axes)
    if len(panels) != n_panels:
        raise ValueError(f"The picture needs {n_panels} axes; got {len(panels)}.")
    return panels


def _new_axes(**figure_options):
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plotting needs matplotlib, which is not installed: "
            'pip install "columnist[plot]" brings it.'
        ) from error
    return plt.subplots(layout="constrained", **figure_options)[1]


def tidy(ax) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def log_scale(ax) -> None:
    """Logarithmic axis, with plain numbers as labels unless it spans many powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log", nonpositive="clip")
    low, high = ax.get_ylim()
    if high > _PLAIN * low:
        return
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def place_labels(
    ax, names: Sequence[str], x, y, *, taken=(), must_fit: bool = False, **style: Any
) -> list:
    """Write a name next to each point where it covers no other name and no point.

    Parameters
    ----------
    ax : matplotlib Axes
        With its final limits.
    names : sequence of str
        Names.
    x, y : array-like of shape (n_names,)
        Points in data coordinates.
    taken : sequence of arrays (left, bottom, right, top)
        Further places to keep free, in pixels.
    must_fit : bool, default=False
        Leave a name out where there is no room for it; otherwise it covers as little as possible.
    **style
        Passed to ``Axes.annotate``.

    Returns
    -------
    list of matplotlib Annotation
    """
    if not len(names):
        return []
    taken = [*taken, *point_boxes(ax, x, y, 5.0)]
    style = {"fontsize": 9, "color": "0.15", "zorder": 4} | style
    spots = ax.transData.transform(np.column_stack([x, y]))
    pixels = ax.figure.dpi / 72.0
    frame = ax.bbox.padded(-3.0 * pixels).extents
    labels = {}
    for i in np.argsort(-spots[:, 0], kind="stable"):  # from the right, where room is least
        size = _size(ax, names[i], style) / pixels
        distance, offset, covered = _free_offset(spots[i], size, pixels, taken, frame)
        if must_fit and covered > _TOUCHING:
            continue
        taken.append(_box(spots[i] + pixels * offset, pixels * size / 2))
        beside = distance <= _NEAR and not offset.all()
        labels[i] = ax.annotate(
            names[i], (x[i], y[i]), xytext=offset, textcoords="offset points",
            ha="center", va="center", arrowprops=None if beside else _LINE, **style,
        )  # fmt: skip
    return [labels[i] for i in sorted(labels)]


def _size(ax, name: str, style: dict[str, Any]) -> np.ndarray:
    """Width and height of a text and a little air in pixels."""
    text = ax.text(0.5, 0.5, name, transform=ax.transAxes, **style)
    size = np.array(text.get_window_extent().size) + ax.figure.dpi / 36.0
    text.remove()
    return size


def point_boxes(ax, x, y, radius: float) -> list[np.ndarray]:
    """Places of points in pixels, for :func:`place_labels`; the radius is in points."""
    ax.figure.draw_without_rendering()  # settles the layout, and with it where points are
    spots = ax.transData.transform(np.column_stack([x, y]))
    return [_box(spot, radius * ax.figure.dpi / 72.0) for spot in spots]


def _box(middle, half) -> np.ndarray:
    """Left, bottom, right and top of a box."""
    return np.concatenate([middle - half, middle + half])


def _offsets(size: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Places for the middle of a label around its point, the nearest first."""
    for distance in _DISTANCES:
        for direction in _DIRECTIONS:
            step = np.array(direction, dtype=np.float64)
            yield distance, step * (size / 2 + distance / np.linalg.norm(step))


def _free_offset(spot, size, pixels: float, taken, frame) -> tuple[int, np.ndarray, float]:
    """The nearest place inside the frame where nothing is covered, else the least covered one."""
    best, least = (0, np.zeros(2), np.inf), np.inf
    others = np.array(taken)
    for distance, offset in _offsets(size):
        box = _box(spot + pixels * offset, pixels * size / 2)
        outside = np.prod(pixels * size) - _overlap(box, frame[None])
        covered = outside + _overlap(box, others)
        if covered < least - _TOUCHING:
            best, least = (distance, offset, covered), covered
        if covered <= _TOUCHING:
            break
    return best


def _overlap(box: np.ndarray, others: np.ndarray) -> float:
    """Area that a box shares with each of some others, in total."""
    shared = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.prod(np.maximum(shared, 0.0), axis=1).sum())
