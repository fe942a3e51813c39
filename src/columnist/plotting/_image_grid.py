"""Images in a grid, outliers framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from columnist.data._parameters import Integer
from columnist.plotting._draw import axes_for
from columnist.robust._base import BaseRobustPCA

__all__ = ["OutlierImagesDisplay"]

# Frames are drawn in the air between images: this share of an image's width.
_AIR = 0.08
_FRAME = "#D00000"


class OutlierImagesDisplay:
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
        Where it was drawn.
    image_ : matplotlib AxesImage
        All images.
    frames_ : list of matplotlib Rectangle
        The frames, in the order of ``outliers``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
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
    ) -> OutlierImagesDisplay:
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
        self,
        ax=None,
        *,
        n_columns: int | None = None,
        image_kw: Mapping[str, Any] | None = None,
        frame_kw: Mapping[str, Any] | None = None,
    ) -> OutlierImagesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; by default a new figure of the grid's proportions.
        n_columns : int, optional
            Images side by side; by default as many as make the picture half as wide again as
            tall.
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
        grid = _grid(self.images, n_columns, air)
        ax = axes_for(ax, figsize=(8.0, 8.0 * grid.shape[0] / grid.shape[1]))
        from matplotlib.patches import Rectangle

        self.image_ = ax.imshow(grid, **{"cmap": "gray"} | dict(image_kw or {}))
        style: dict[str, Any] = {"fill": False, "edgecolor": _FRAME, "linewidth": 2.0}
        style |= dict(frame_kw or {})
        self.frames_ = []
        for place in self.outliers:
            row, column = divmod(int(place), n_columns)
            top, left = air + row * (height + air), air + column * (width + air)
            corner = (left - 0.5 - air / 2, top - 0.5 - air / 2)
            frame = Rectangle(corner, width + air, height + air, **style)
            self.frames_.append(ax.add_patch(frame))
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _grid(images: np.ndarray, n_columns: int, air: int) -> np.ma.MaskedArray:
    """One large image; what no image covers is masked, so that the background shows."""
    n, height, width = images.shape
    n_rows = -(-n // n_columns)
    shape = (air + n_rows * (height + air), air + n_columns * (width + air))
    grid = np.full(shape, np.nan)
    for place, image in enumerate(images):
        row, column = divmod(place, n_columns)
        top, left = air + row * (height + air), air + column * (width + air)
        grid[top : top + height, left : left + width] = image
    return np.ma.masked_invalid(grid)
