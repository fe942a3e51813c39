"""The picture at the head of the README: ``python docs/path_picture.py`` writes it again.

Node limits end the search instead of the clock, so every run draws the same picture.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from sklearn.datasets import load_digits

from columnist import selection_path
from columnist.plotting import ErrorPathDisplay

PICTURE = Path(__file__).parent / "_static" / "path.png"


def main() -> None:
    """Draw the best selections of 1 to 16 pixels of the digits."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    images = load_digits().data
    path = selection_path(images, 16, centering="mean", max_nodes=300, time_limit=None)
    figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
    ErrorPathDisplay.from_path(path, ax=ax)
    ax.set(xlabel="number of selected pixels (of 64)", ylabel="unexplained variance (%)")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
