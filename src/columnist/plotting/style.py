"""Colours, axes and scales that the displays share."""

from __future__ import annotations

__all__ = ["CRITERION_NAMES", "FOUND", "OPEN", "PROVEN", "axes_for", "log_scale", "tidy"]

# Okabe and Ito's palette: told apart under every common colour blindness, and in grey.
FOUND, PROVEN, OPEN = "#0072B2", "#D55E00", "#E69F00"

CRITERION_NAMES = {
    "frobenius": "squared Frobenius norm",
    "spectral": "spectral norm",
    "nuclear": "nuclear norm",
}


def axes_for(ax, **figure_options):
    """The axes to draw on: the given ones, or those of a new figure."""
    if ax is not None:
        return ax
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
    """Logarithmic errors with plain numbers as labels."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log", nonpositive="clip")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
