"""Score distance against orthogonal distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError

from columnist.plotting._outliers import OutlierMapDisplay
from columnist.robust._baselines import TrimmedPCA
from columnist.robust._certified import RobustPCA
from tests.robust.estimators import ALL, name
from tests.robust.samples import contaminated

CUTOFFS = {"score_cutoff": 2.0, "orthogonal_cutoff": 3.0}


@pytest.fixture(scope="module")
def rows():
    return contaminated(60, 5, 2, 6, np.random.default_rng(0))[0]


@pytest.fixture(scope="module")
def fitted(rows):
    return TrimmedPCA(2, n_outliers=8).fit(rows)


def corners(**options) -> OutlierMapDisplay:
    """One row in each region."""
    return OutlierMapDisplay([1.0, 4.0, 1.0, 4.0], [1.0, 1.0, 5.0, 6.0], **CUTOFFS, **options)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def named(display) -> list[str]:
    return [label.get_text() for label in display.labels_]


# -- what is drawn ------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ALL, ids=name)
def test_every_estimator_has_a_map(estimator, rows, ax):
    fitted = estimator.fit(rows)
    display = OutlierMapDisplay.from_estimator(fitted, rows, ax=ax, scale="linear")
    regular = np.array(display.regions) == "regular"
    np.testing.assert_array_equal(np.where(regular, 1, -1), fitted.predict(rows))
    drawn = np.vstack([points.get_offsets() for points in display.points_])
    expected = np.column_stack([fitted.score_distances(rows), fitted.orthogonal_distances(rows)])
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    marked = display.removed_marks_
    np.testing.assert_allclose(marked.get_offsets(), expected[fitted.outliers_])
    assert display.score_line_.get_xdata()[0] == fitted.score_cutoff_
    assert display.orthogonal_line_.get_ydata()[0] == fitted.orthogonal_cutoff_
    assert display.ax_ is ax and display.figure_ is ax.figure


def test_four_regions(ax):
    display = corners().plot(ax)
    assert display.regions == ["regular", "good leverage", "orthogonal outlier", "bad leverage"]
    assert [len(points.get_offsets()) for points in display.points_] == [1, 1, 1, 1]
    assert legend(ax) == [
        "regular: near in both (1)",
        "good leverage: far within the subspace (1)",
        "orthogonal outlier: off the subspace (1)",
        "bad leverage: both (1)",
        "cut-offs",
    ]


def test_a_row_at_the_cut_off_is_regular():
    assert OutlierMapDisplay([2.0], [3.0], **CUTOFFS).regions == ["regular"]


def test_regions_differ_in_shape_and_removed_rows_are_circled(ax):
    display = corners(removed=[3, 0]).plot(ax)
    shapes = {points.get_paths()[0].vertices.tobytes() for points in display.points_}
    assert len(shapes) == 4
    np.testing.assert_array_equal(display.removed_marks_.get_offsets(), [[4.0, 6.0], [1.0, 1.0]])
    assert len(display.removed_marks_.get_facecolors()) == 0
    assert "removed by the fit (2)" in legend(ax)


def test_nothing_removed(ax):
    assert corners().plot(ax).removed_marks_ is None


def test_new_rows_are_not_marked(fitted, rows, ax):
    display = OutlierMapDisplay.from_estimator(fitted, rows[:5], ax=ax, mark_removed=False)
    assert display.removed_marks_ is None and len(display.regions) == 5


# -- scales -------------------------------------------------------------------------


def test_an_axis_is_logarithmic_where_a_row_is_far(ax):
    OutlierMapDisplay([1.0, 2.5], [0.5, 3e6], **CUTOFFS).plot(ax)
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")


def test_a_scale_can_be_chosen(ax):
    corners().plot(ax, scale="log")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    OutlierMapDisplay([1.0, 9e9], [1.0, 9e9], **CUTOFFS).plot(ax, scale="linear")
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    with pytest.raises(ValueError, match="scale must be one of"):
        corners().plot(ax, scale="logarithmic")


def test_tiny_distances_are_drawn_at_the_edge_of_a_logarithmic_axis(ax):
    display = OutlierMapDisplay([0.0, 1.0], [0.0, 1e9], **CUTOFFS).plot(ax, scale="log")
    np.testing.assert_allclose(display.points_[0].get_offsets(), [[0.02, 0.03]])
    assert display.orthogonal_distances[0] == 0.0


@pytest.mark.parametrize("scale", ["auto", "linear", "log"])
@pytest.mark.parametrize("largest", [0.0, 1.0, 1e150])
def test_everything_lies_within_the_axes(scale, largest, ax):
    distances = largest * np.linspace(0.0, 1.0, 5)
    display = OutlierMapDisplay(distances, distances[::-1], **CUTOFFS).plot(ax, scale=scale)
    display.figure_.canvas.draw()
    for points in display.points_:
        for x, y in points.get_offsets():
            assert ax.get_xlim()[0] <= x <= ax.get_xlim()[1]
            assert ax.get_ylim()[0] <= y <= ax.get_ylim()[1]
    assert ax.get_xlim()[0] < 2.0 < ax.get_xlim()[1]
    assert ax.get_ylim()[0] < 3.0 < ax.get_ylim()[1]


def test_a_crowd_is_drawn_small_and_as_pixels(ax):
    few, many = corners().plot(ax), OutlierMapDisplay(np.ones(2000), np.ones(2000), **CUTOFFS)
    many.plot(ax)
    assert many.points_[0].get_rasterized() and not few.points_[0].get_rasterized()
    assert many.points_[0].get_sizes()[0] < few.points_[0].get_sizes()[0]
    assert many.points_[0].get_alpha() < few.points_[0].get_alpha()


# -- names --------------------------------------------------------------------------


def test_the_most_outlying_rows_are_named(ax):
    # In cut-offs: 0.5, 2, 1.67 and 2.
    assert named(corners(labels="abcd").plot(ax)) == ["b", "d", "c"]
    assert named(corners(labels="abcd").plot(ax, n_labels=2)) == ["b", "d"]
    assert named(corners().plot(ax, n_labels=1)) == ["1"]
    assert named(corners().plot(ax, n_labels=0)) == []


def test_the_index_of_a_frame_names_its_rows(fitted, rows, ax):
    frame = pd.DataFrame(rows, index=[f"sample {i}" for i in range(len(rows))])
    with pytest.warns(UserWarning, match="X has feature names"):
        display = OutlierMapDisplay.from_estimator(fitted, frame.rename(columns=str), ax=ax)
    assert display.labels == list(frame.index)
    display = OutlierMapDisplay.from_estimator(fitted, rows.tolist(), ax=ax)
    assert display.labels[3] == "3"


def test_a_point_instead_of_a_subspace(rows, ax):
    fitted = RobustPCA(0, n_outliers=6, random_state=0).fit(rows)
    display = OutlierMapDisplay.from_estimator(fitted, rows, ax=ax)
    assert set(display.regions) <= {"regular", "orthogonal outlier"}
    display.figure_.canvas.draw()


@pytest.mark.parametrize("n_rows", [3, 12, 40, 400])
def test_names_cover_neither_each_other_nor_outliers(n_rows):
    rng = np.random.default_rng(n_rows)
    distances = 5.0 + rng.random((2, n_rows))
    labels = [f"sample {i}" for i in range(n_rows)]
    display = OutlierMapDisplay(*distances, **CUTOFFS, labels=labels).plot(n_labels=20)
    ax = display.ax_
    display.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(label) for label in display.labels_]
    spots = ax.transData.transform(np.column_stack(distances))
    assert boxes
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert not any(box.contains(*spot) for spot in spots)
        assert ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1


def test_styles_reach_the_artists(ax):
    display = corners().plot(ax, point_kw={"s": 99}, label_kw={"fontsize": 5})
    assert {points.get_sizes()[0] for points in display.points_} == {99}
    assert {label.get_fontsize() for label in display.labels_} == {5}


# -- bad input ----------------------------------------------------------------------


def test_every_row_needs_two_distances_and_a_name():
    with pytest.raises(ValueError, match="2 score distances and 1 orthogonal"):
        OutlierMapDisplay([1.0, 2.0], [1.0], **CUTOFFS)
    with pytest.raises(ValueError, match=r"labels needs one entry per row \(4\); got 2"):
        corners(labels=["a", "b"])


def test_other_rows_than_those_of_the_fit(fitted, rows):
    with pytest.raises(ValueError, match="mark_removed=False"):
        OutlierMapDisplay.from_estimator(fitted, rows[: fitted.outliers_[-1]])


def test_an_unfitted_estimator_is_refused(rows):
    with pytest.raises(NotFittedError):
        OutlierMapDisplay.from_estimator(TrimmedPCA(2, n_outliers=8), rows)


def test_misspelt_options_are_errors(fitted, rows):
    with pytest.raises(TypeError, match="colour"):
        OutlierMapDisplay.from_estimator(fitted, rows, colour="red")
