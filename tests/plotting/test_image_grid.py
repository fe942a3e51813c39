"""Images in a grid, outliers framed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from columnist.plotting._outliers import OutlierImagesDisplay
from columnist.robust._baselines import TrimmedPCA


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return np.random.default_rng(0).random((11, 6, 4))


def inside(display, frame) -> np.ndarray:
    """What a frame encloses: the pixels of the picture whose middles lie in it."""
    grid = display.image_.get_array()
    x, y = np.meshgrid(np.arange(grid.shape[1]), np.arange(grid.shape[0]))
    (left, bottom), (right, top) = frame.get_bbox().min, frame.get_bbox().max
    within = (left < x) & (x < right) & (bottom < y) & (y < top)
    return grid[within].compressed()


@pytest.mark.parametrize("n_columns", [None, 1, 3, 11, 20])
def test_frames_enclose_their_images(images, n_columns, ax):
    display = OutlierImagesDisplay(images, [0, 7, 10]).plot(ax, n_columns=n_columns)
    assert len(display.frames_) == 3
    for frame, outlier in zip(display.frames_, display.outliers, strict=True):
        np.testing.assert_array_equal(inside(display, frame), images[outlier].ravel())
    assert display.ax_ is ax and display.figure_ is ax.figure


def test_every_image_is_shown_once(images, ax):
    display = OutlierImagesDisplay(images, []).plot(ax)
    shown = np.sort(display.image_.get_array().compressed())
    np.testing.assert_array_equal(shown, np.sort(images.ravel()))
    assert display.frames_ == []


def test_rows_removed_by_a_fit_are_framed(images, ax):
    X = images.reshape(11, -1)
    fitted = TrimmedPCA(2, n_outliers=3).fit(X)
    display = OutlierImagesDisplay.from_estimator(fitted, X, (6, 4), ax=ax, n_columns=4)
    np.testing.assert_array_equal(display.outliers, fitted.outliers_)
    np.testing.assert_array_equal(display.images, images)
    display.figure_.canvas.draw()


def test_a_new_figure_has_the_shape_of_the_grid(images):
    display = OutlierImagesDisplay(images, [1]).plot(n_columns=11)
    assert display.figure_.get_figwidth() > 4 * display.figure_.get_figheight()


def test_styles_reach_the_artists(images, ax):
    display = OutlierImagesDisplay(images, [1]).plot(
        ax, image_kw={"cmap": "viridis", "vmin": -1.0}, frame_kw={"linewidth": 7.0}
    )
    assert display.image_.get_cmap().name == "viridis" and display.image_.norm.vmin == -1.0
    assert display.frames_[0].get_linewidth() == 7.0


def test_bad_input_is_refused(images):
    X = images.reshape(11, -1)
    with pytest.raises(ValueError, match="three dimensions"):
        OutlierImagesDisplay(X, [])
    with pytest.raises(ValueError, match="Image 11 is to be framed, but there are 11"):
        OutlierImagesDisplay(images, [0, 11])
    with pytest.raises(ValueError, match="n_columns must be an integer >= 1"):
        OutlierImagesDisplay(images, []).plot(n_columns=0)
    with pytest.raises(NotFittedError):
        OutlierImagesDisplay.from_estimator(TrimmedPCA(1, n_outliers=1), X, (6, 4))
    fitted = TrimmedPCA(1, n_outliers=1).fit(X)
    with pytest.raises(ValueError, match="image_shape 5 x 5 needs 25 features; X has 24"):
        OutlierImagesDisplay.from_estimator(fitted, X, (5, 5))
