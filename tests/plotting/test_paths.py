"""Error against the number of outliers removed."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from columnist.plotting._paths import OutlierPathDisplay
from columnist.robust._path import OutlierPath, outlier_path
from tests.robust.samples import contaminated


@pytest.fixture(scope="module")
def path() -> OutlierPath:
    X, _ = contaminated(25, 3, 1, 2, np.random.default_rng(0))
    return outlier_path(X, 1, 4, random_state=0)


def half_proven(**options) -> OutlierPathDisplay:
    return OutlierPathDisplay([0, 1, 3], [10.0, 6.0, 4.0], [10.0, 5.0, 3.0], **options)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_path_is_drawn(path, pair):
    display = OutlierPathDisplay.from_path(path, axes=pair)
    assert display.axes_.tolist() == list(pair) and display.figure_ is pair[0].figure
    np.testing.assert_array_equal(display.error_display_.line_.get_xdata(), path.n_outliers)
    np.testing.assert_allclose(display.error_display_.line_.get_ydata(), path.errors)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, 100 * path.drops / path.errors[0])
    assert display.limit_line_.get_ydata()[0] == pytest.approx(100 * path.limit / path.errors[0])
    assert [line.get_xdata()[0] for line in display.suggested_lines_] == [2, 2]
    assert "suggested: 2 outliers" in legend(pair[0])
    assert "best rows to remove, proven" in legend(pair[0])
    assert pair[1].get_xlabel() == "number of outliers removed"


def test_band_and_marks_show_what_is_proven(pair):
    display = half_proven().plot(pair, scale="linear").error_display_
    assert display.proven_marks_.get_xdata().tolist() == [0]
    assert display.open_marks_.get_xdata().tolist() == [1, 3]
    corners = display.band_.get_paths()[0].vertices
    at_three = corners[corners[:, 0] == 3, 1]
    assert (at_three.min(), at_three.max()) == (3.0, 4.0)


def test_a_bar_stands_over_the_rows_it_adds(pair):
    bars = half_proven().plot(pair).bars_
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    np.testing.assert_allclose(ends, [(0.6, 1.4), (1.6, 3.4)])
    np.testing.assert_allclose([bar.get_height() for bar in bars], [40.0, 10.0])


def test_without_limit_and_suggestion(pair):
    display = half_proven(criterion="nuclear").plot(pair)
    assert display.limit_line_ is None and display.suggested_lines_ == []
    assert pair[0].get_ylabel() == "error (nuclear norm)"


@pytest.mark.parametrize(
    ("errors", "scale", "expected"),
    [
        ([10.0, 9.0], "auto", "linear"),
        ([10.0, 0.1], "auto", "log"),
        ([10.0, 9.0], "log", "log"),
        ([10.0, 0.1], "linear", "linear"),
        ([10.0, 0.0], "auto", "log"),
        ([0.0, 0.0], "auto", "linear"),
    ],
)
def test_the_scale_follows_the_errors(errors, scale, expected, pair):
    display = OutlierPathDisplay([0, 1], errors, [0.0, 0.0], limit=0.5).plot(pair, scale=scale)
    assert pair[0].get_yscale() == expected
    display.figure_.canvas.draw()


def test_a_path_of_one_step(pair):
    display = OutlierPathDisplay([0], [3.0], [3.0], limit=1.0, suggested=0).plot(pair)
    assert len(display.bars_) == 0
    display.figure_.canvas.draw()


def test_a_new_figure_has_two_panels():
    display = half_proven().plot()
    assert len(display.figure_.axes) == 2 and display.ax_ is display.figure_.axes[0]


def test_styles_reach_the_artists(pair):
    display = half_proven().plot(
        pair, line_kw={"color": "red"}, band_kw={"alpha": 0.9}, bar_kw={"color": "green"}
    )
    assert display.error_display_.line_.get_color() == "red"
    assert display.error_display_.band_.get_alpha() == 0.9
    assert display.bars_[0].get_facecolor()[:3] == (0.0, 128 / 255, 0.0)


def test_bad_input_is_refused(path):
    with pytest.raises(ValueError, match="needs 2 axes; got 1"):
        OutlierPathDisplay.from_path(path, axes=Figure().subplots())
    with pytest.raises(ValueError, match="scale must be one of"):
        half_proven().plot(scale="deep")
    with pytest.raises(TypeError, match="colour"):
        OutlierPathDisplay.from_path(path, colour=False)
