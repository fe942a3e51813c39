"""Displays: what they draw, and what they need."""

from __future__ import annotations

import builtins

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler

from columnist import Certificate, ColumnSelector, certify, column_verdicts, selection_path
from columnist.metrics import reconstruction_error
from columnist.plotting import (
    ComparisonDisplay,
    ErrorPathDisplay,
    RepresentativeDisplay,
    SearchProgressDisplay,
    VerdictDisplay,
)
from columnist.selection import ForwardSelector, MatchingFilter, PivotedQRSelector


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    X = load_wine(as_frame=True).data
    return StandardScaler().set_output(transform="pandas").fit_transform(X)


@pytest.fixture(scope="module")
def path(frame):
    return selection_path(frame, 5)


@pytest.fixture(scope="module")
def selector(frame):
    return ColumnSelector(4).fit(frame)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def labels(ax) -> list[str]:
    """Texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def half_proven(**options) -> ErrorPathDisplay:
    return ErrorPathDisplay([1, 2, 3], [8.0, 4.0, 2.0], [8.0, 3.0, 1.0], total=10.0, **options)


# -- error against number of columns ----------------------------------------------


def test_path_is_drawn_in_percent(path, ax):
    display = ErrorPathDisplay.from_path(path, ax=ax)
    assert display.ax_ is ax and display.figure_ is ax.figure
    np.testing.assert_array_equal(display.line_.get_xdata(), path.sizes)
    np.testing.assert_allclose(display.line_.get_ydata(), 100 * path.relative_errors)
    assert "% of the squared Frobenius norm of X" in ax.get_ylabel()


def test_path_is_drawn_in_its_own_units(path, ax):
    display = ErrorPathDisplay.from_path(path, ax=ax, relative=False)
    np.testing.assert_allclose(display.line_.get_ydata(), path.errors)
    assert ax.get_ylabel() == "error (squared Frobenius norm)"


def test_a_proven_path_shows_no_open_marks(path, ax):
    display = ErrorPathDisplay.from_path(path, ax=ax)
    assert display.open_marks_ is None and display.bound_line_ is None
    assert labels(ax) == ["best selection, proven"]


def test_open_and_proven_sizes_are_marked_differently(ax):
    display = half_proven().plot(ax)
    assert display.proven_marks_.get_xdata().tolist() == [1]
    assert display.open_marks_.get_xdata().tolist() == [2, 3]
    assert display.proven_marks_.get_marker() != display.open_marks_.get_marker()
    assert len(labels(ax)) == 4


def test_band_reaches_from_bound_to_error(ax):
    display = half_proven().plot(ax, relative=False)
    corners = display.band_.get_paths()[0].vertices
    at_three = corners[corners[:, 0] == 3, 1]
    assert (at_three.min(), at_three.max()) == (1.0, 2.0)


def test_a_bound_raised_to_the_error_counts_as_proven(path, ax):
    certificate = Certificate(status="time_limit", error=2.0, lower_bound=2.0)
    step = path[0]._replace(certificate=certificate)
    display = ErrorPathDisplay.from_path(type(path)((step,), 4.0), ax=ax)
    assert display.proven.all()


def test_what_rounding_left_open_is_never_marked_as_proven(path, ax):
    certificate = Certificate(status="precision_limit", error=0.0, lower_bound=0.0)
    step = path[0]._replace(certificate=certificate)
    display = ErrorPathDisplay.from_path(type(path)((step,), 4.0), ax=ax)
    assert not display.proven.any()


@pytest.mark.parametrize("total", [None, 0.0])
def test_unknown_total_means_absolute_errors(total, ax):
    display = ErrorPathDisplay([1, 2], [2.0, 1.0], [2.0, 1.0], total=total, criterion="kyfan:3")
    assert display.plot(ax).ax_.get_ylabel() == "error (kyfan:3)"


def test_logarithmic_axis_survives_a_zero(ax):
    display = ErrorPathDisplay([1, 2], [2.0, 0.0], [1.0, 0.0]).plot(ax, log=True)
    assert ax.get_yscale() == "log"
    display.figure_.canvas.draw()


def test_path_from_data_passes_options_on(frame, ax):
    display = ErrorPathDisplay.from_data(frame, 3, ax=ax, criterion="nuclear", exclude=["alcohol"])
    assert display.criterion == "nuclear"
    assert display.sizes.tolist() == [1, 2, 3]


def test_misspelt_options_are_errors(frame, path):
    with pytest.raises(TypeError, match="colour"):
        ErrorPathDisplay.from_path(path, colour=False)
    with pytest.raises(TypeError, match="colour"):
        ErrorPathDisplay.from_data(frame, 3, colour=False)


def test_styles_reach_the_artists(ax):
    display = half_proven().plot(ax, line_kw={"color": "red"}, band_kw={"alpha": 0.9})
    assert display.line_.get_color() == display.proven_marks_.get_color() == "red"
    assert display.band_.get_alpha() == 0.9


# -- incumbent and bound over time ------------------------------------------------


def test_progress_ends_where_the_certificate_does(selector, ax):
    display = SearchProgressDisplay.from_estimator(selector, ax=ax)
    certificate = selector.certificate_
    assert display.incumbent_line_.get_ydata()[-1] == pytest.approx(certificate.error)
    assert display.bound_line_.get_ydata()[-1] == pytest.approx(certificate.lower_bound)
    assert any("gap, 0 %" in label for label in labels(ax))
    assert ax.get_xlabel() == "time (s)"


def test_progress_over_nodes(selector, ax):
    display = SearchProgressDisplay.from_certificate(selector.certificate_, ax=ax, x="expanded")
    assert display.incumbent_line_.get_xdata()[-1] == selector.certificate_.nodes_expanded
    assert ax.get_xlabel() == "nodes expanded"


def test_progress_shows_the_selection_to_certify(frame, ax):
    certificate = certify(frame, ["alcohol", "malic_acid", "ash"])
    display = SearchProgressDisplay.from_certificate(certificate, ax=ax)
    assert display.given_line_.get_ydata()[0] == certificate.error
    assert "selection to certify" in labels(ax)


def test_moments_without_a_choice_are_left_out(ax):
    display = SearchProgressDisplay([0.0, 1.0], [np.inf, 4.0], [-np.inf, 3.0]).plot(ax)
    assert np.isnan(display.incumbent_line_.get_ydata()[0])
    assert any("gap, 25 %" in label for label in labels(ax))
    display.figure_.canvas.draw()


@pytest.mark.parametrize("x", ["expanded", "nodes"])
def test_unknown_horizontal_axis(x):
    with pytest.raises(ValueError, match="x must be 'elapsed'"):
        SearchProgressDisplay([0.0, 1.0], [4.0, 4.0], [3.0, 4.0]).plot(x=x)


def test_no_history_is_said_clearly():
    with pytest.raises(ValueError, match="no history"):
        SearchProgressDisplay.from_certificate(Certificate("optimal", 1.0, 1.0))


# -- who stands for whom ----------------------------------------------------------


def test_every_column_has_one_bar_with_its_share(selector, ax):
    display = RepresentativeDisplay.from_estimator(selector, ax=ax)
    assert len(display.kept_bars_) == 4 and len(display.dropped_bars_) == 9
    assert sorted(display.order_) == list(range(13))
    kept = np.isin(display.order_, selector.selected_)
    shares = [bar.get_width() for bar in display.dropped_bars_]
    np.testing.assert_allclose(shares, selector.column_r2_[display.order_[~kept]])


def test_groups_start_with_their_representative(selector, ax):
    order = RepresentativeDisplay.from_estimator(selector, ax=ax).order_
    leaders = selector.representative_[order]
    starts = np.flatnonzero(np.r_[True, leaders[1:] != leaders[:-1]])
    assert sorted(order[starts]) == selector.selected_.tolist()
    assert (np.diff(np.diff(np.r_[starts, 13])) <= 0).all()


def test_names_are_used_and_kept_ones_are_bold(selector, ax):
    RepresentativeDisplay.from_estimator(selector, ax=ax)
    bold = {t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"}
    assert bold == set(selector.get_feature_names_out())


def test_columns_without_names_are_numbered(ax):
    RepresentativeDisplay([1.0, 0.5], [0, 0]).plot(ax)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x0", "x1"]


def test_a_crowd_names_only_what_is_kept(ax):
    RepresentativeDisplay(np.full(200, 0.5), np.zeros(200, dtype=int)).plot(ax)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x0"]


@pytest.mark.parametrize("n_columns", [2, 30, 100, 300])
def test_the_figure_grows_with_the_columns(n_columns):
    representative = np.arange(n_columns) % 2
    display = RepresentativeDisplay(np.linspace(0.0, 1.0, n_columns), representative).plot()
    height = display.figure_.get_figheight()
    assert 1.5 < height < 2 + 0.25 * n_columns
    display.figure_.canvas.draw()


# -- error against time of several selectors ---------------------------------------


def crowd(n_selectors: int, **options) -> ComparisonDisplay:
    """Selectors of nearly the same error and time."""
    rng = np.random.default_rng(0)
    names = [f"selector number {i}" for i in range(n_selectors)]
    errors = 5.0 + 0.05 * rng.standard_normal(n_selectors)
    return ComparisonDisplay(names, errors, 10.0 ** (0.1 * errors - 2), **options)


def boxes(texts, ax) -> list:
    """Places of texts on the canvas, without the lines that lead to them."""
    ax.figure.draw_without_rendering()
    return [Text.get_window_extent(text) for text in texts]


def test_comparison_measures_all_selectors_alike(frame, ax):
    selectors = {
        "pivots": PivotedQRSelector(3),
        "forward": ForwardSelector(3),
        "best": ColumnSelector(3),
    }
    display = ComparisonDisplay.from_selectors(selectors, frame, bound="best", ax=ax)
    for selector, error in zip(selectors.values(), display.errors, strict=True):
        assert error == pytest.approx(selector.fit(frame).error_)
    assert (display.seconds > 0.0).all()
    assert display.bound == pytest.approx(selectors["best"].certificate_.lower_bound)
    assert display.total == pytest.approx(frame.size)
    assert [label.get_text() for label in display.labels_] == list(selectors)
    points = np.column_stack([display.seconds, 100 * display.errors / display.total])
    np.testing.assert_allclose(display.points_.get_offsets(), points)
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "time (s)")
    assert "% of the squared Frobenius norm of X" in ax.get_ylabel()


def test_comparison_does_not_fit_what_it_is_given(frame, ax):
    selector = ForwardSelector(2)
    ComparisonDisplay.from_selectors({"forward": selector}, frame, ax=ax)
    assert not hasattr(selector, "selected_")


def test_comparison_for_a_target(frame, ax):
    y = load_wine().target
    selectors = {"one by one": MatchingFilter(3), "of scikit-learn": SelectKBest(k=3)}
    display = ComparisonDisplay.from_selectors(
        selectors, frame, y, centering="mean", criterion="nuclear", ax=ax
    )
    columns = SelectKBest(k=3).fit(frame, y).get_support()
    error = reconstruction_error(frame, columns, y=y, centering="mean", criterion="nuclear")
    assert display.errors[1] == pytest.approx(error)
    assert display.target == "y" and "nuclear norm of y" in ax.get_ylabel()


def test_the_area_below_the_bound_is_impossible(ax):
    display = ComparisonDisplay("ab", [4.0, 2.0], [1.0, 2.0], bound=2.0, total=10.0).plot(ax)
    assert display.bound_line_.get_ydata()[0] == 20.0
    low, high = display.impossible_.get_y(), display.impossible_.get_bbox().y1
    assert (low, high) == (ax.get_ylim()[0], 20.0) and low < 20.0
    assert any("impossible" in text.get_text() for text in ax.texts)


def test_only_what_reaches_the_bound_is_filled(ax):
    display = ComparisonDisplay("ab", [4.0, 2.0], [1.0, 2.0], bound=2.0).plot(ax)
    faces = display.points_.get_facecolors()
    assert faces[0].tolist() == [1.0, 1.0, 1.0, 1.0] != faces[1].tolist()
    unknown = ComparisonDisplay("ab", [4.0, 2.0], [1.0, 2.0]).plot(ax)
    assert (unknown.points_.get_facecolors() == 1.0).all()
    assert unknown.bound_line_ is None and unknown.impossible_ is None


@pytest.mark.parametrize("n_selectors", [1, 2, 8, 16])
@pytest.mark.parametrize("bound", [None, 4.8])
def test_names_cover_neither_each_other_nor_the_bound(n_selectors, bound):
    display = crowd(n_selectors, bound=bound).plot()
    placed = boxes(display.labels_, display.ax_)
    for i, box in enumerate(placed):
        assert not any(box.overlaps(other) for other in placed[:i])
        assert box.x0 >= display.ax_.bbox.x0 and box.x1 <= display.ax_.bbox.x1
        if bound is not None:
            assert box.y0 > display.ax_.transData.transform((1.0, bound))[1]


@pytest.mark.parametrize("bound", [0.0, 0.5])
def test_comparison_on_a_logarithmic_axis(bound, ax):
    display = ComparisonDisplay("abc", [1.0, 0.5, 30.0], [1.0, 1.0, 1.0], bound=bound)
    display.plot(ax, log=True).figure_.canvas.draw()
    assert ax.get_yscale() == "log"
    assert (display.impossible_ is None) == (bound == 0.0)


def test_a_bound_needs_a_certificate(frame):
    selectors = {"forward": ForwardSelector(2)}
    with pytest.raises(ValueError, match="'best', which is not among the selectors"):
        ComparisonDisplay.from_selectors(selectors, frame, bound="best")
    with pytest.raises(ValueError, match="ForwardSelector has no certificate_"):
        ComparisonDisplay.from_selectors(selectors, frame, bound="forward")


def test_a_certificate_can_be_the_bound(frame, ax):
    certificate = certify(frame, ["alcohol", "malic_acid"])
    display = ComparisonDisplay.from_selectors(
        {"forward": ForwardSelector(2)}, frame, bound=certificate, ax=ax
    )
    assert display.bound == certificate.lower_bound


def test_comparison_needs_one_figure_per_name():
    with pytest.raises(ValueError, match="one entry per selector; got 2, 1 and 2"):
        ComparisonDisplay(["a", "b"], [1.0], [1.0, 2.0])


def test_time_is_positive():
    with pytest.raises(ValueError, match="seconds must be positive; got 0"):
        ComparisonDisplay(["a"], [1.0], [0.0])


def test_the_time_axis_has_a_power_of_ten(ax):
    ComparisonDisplay("ab", [1.0, 2.0], [0.031, 0.032]).plot(ax)
    low, high = np.log10(ax.get_xlim())
    assert low < np.log10(0.031) < np.log10(0.032) < high
    assert np.floor(high) > low


# -- all --------------------------------------------------------------------------


@pytest.mark.parametrize("display", [SearchProgressDisplay, RepresentativeDisplay])
def test_an_unfitted_selector_is_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(ColumnSelector(2))


def test_a_new_figure_is_made_without_axes(path, selector):
    first = ErrorPathDisplay.from_path(path)
    second = SearchProgressDisplay.from_estimator(selector)
    assert first.figure_ is not second.figure_


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match=r"columnist\[plot\]"):
        half_proven().plot()


def test_verdicts_against_the_sets_within_the_tolerance(frame, ax):
    found = column_verdicts(frame, 4, tol=0.05)
    display = VerdictDisplay.from_verdicts(found, ax=ax)
    filled = display.cells_.get_array().reshape(-1, len(found.solutions))
    rows = [text.get_text() for text in ax.get_yticklabels()]
    for name, cells in zip(rows, filled, strict=True):
        column = list(frame.columns).index(name)
        assert (cells > 0).tolist() == [column in solution for solution in found.solutions]
        assert set(cells[cells > 0]) == {2 if column in found.necessary else 1}
    assert rows[: len(found.necessary)] == [frame.columns[j] for j in found.necessary]
    assert ax.get_xticklabels()[0].get_text() == "best"
    assert ax.get_title() == f"All {len(found.solutions)} sets within the tolerance"


def test_many_sets_and_columns_are_cut(frame, ax):
    found = column_verdicts(frame, 4, tol=0.2)
    display = VerdictDisplay.from_verdicts(found, ax=ax, max_sets=5, max_features=3)
    assert display.cells_.get_array().size == 15
    assert "the best 5 shown" in ax.get_title()
    assert "columns not shown" in ax.get_title()
    with pytest.raises(ValueError, match="max_sets must be an integer >= 1"):
        display.plot(ax, max_sets=0)


def test_the_only_set_within_the_tolerance(ax):
    display = VerdictDisplay([(0, 2)], [0.0], necessary=[0, 2], complete=True).plot(ax)
    assert ax.get_title() == "The only set within the tolerance"
    assert [text.get_text() for text in ax.get_yticklabels()] == ["x0", "x2"]
    assert display.cells_.get_array().size == 2
