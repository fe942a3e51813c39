"""Coefficients, error and criterion of best subsets."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError

from columnist import SubsetRegressor
from columnist.plotting import SubsetPathDisplay
from columnist.plotting._subset import _spread


@pytest.fixture(scope="module")
def data():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def model(data):
    return SubsetRegressor("bic").fit(*data)


@pytest.fixture
def three():
    return Figure().subplots(3)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_path_is_drawn(model, three):
    display = SubsetPathDisplay.from_estimator(model, axes=three)
    path = model.path_
    assert display.axes_.tolist() == list(three) and display.figure_ is three[0].figure
    used = sorted({int(i) for step in path for i in step.selection})
    assert display.names == [path.feature_names[i] for i in used]
    for i, column in enumerate(used):
        for row, step in zip(display.coefficients, path, strict=True):
            here = np.flatnonzero(step.selection == column)
            assert row[i] == pytest.approx(step.coef[here[0], 0] if len(here) else 0.0)
    percent = 100 * path.errors / path.total
    np.testing.assert_allclose(display.error_display_.line_.get_ydata(), percent)
    np.testing.assert_allclose(display.score_line_.get_ydata(), path.scores)
    assert "chosen: 5 columns" in legend(three[2])
    assert three[0].get_ylabel() == "coefficient" and three[2].get_ylabel() == "BIC"
    assert three[1].get_ylabel() == "unexplained variance (%)"
    assert [ax.get_xlabel() for ax in three] == ["", "", "number of columns"]
    written = {text.get_text() for text in three[0].texts}
    assert written == {path.feature_names[i] for i in path[-1].selection}


def test_deviations_scale_the_coefficients(data, model):
    X, _ = data
    plain = SubsetPathDisplay.from_estimator(model)
    scaled = SubsetPathDisplay.from_path(model.path_, deviations=10.0 * np.ones(X.shape[1]))
    np.testing.assert_allclose(scaled.coefficients, 10.0 * plain.coefficients)


def test_band_of_the_criterion(three):
    display = SubsetPathDisplay(
        [1, 2, 3], [[1.0, 0.0], [1.0, 0.5], [0.9, 0.4]], [9.0, 5.0, 4.0], [4.0, 5.0, 0.0],
        scores=[30.0, 20.0, 21.0], score_bounds=[25.0, 20.0, -np.inf], rule="aic", chosen=2,
    ).plot(three)  # fmt: skip
    corners = display.score_band_.get_paths()[0].vertices
    assert corners[corners[:, 0] == 1, 1].min() == 25.0
    assert corners[corners[:, 0] == 3, 1].min() == three[2].get_ylim()[0]
    assert display.names == ["x0", "x1"]
    assert three[2].get_ylabel() == "AIC"
    display.figure_.canvas.draw()


def test_cross_validation_shows_its_standard_error(data, three):
    X, y = data
    model = SubsetRegressor("cv", max_features=4).fit(X, y)
    display = SubsetPathDisplay.from_estimator(model, axes=three)
    corners = display.score_band_.get_paths()[0].vertices
    step = model.path_[0]
    at_one = corners[corners[:, 0] == 1, 1]
    assert at_one.max() == pytest.approx(step.score + step.score_error)
    assert at_one.min() == pytest.approx(step.score - step.score_error)
    assert "one standard error" in legend(three[2])


def test_logarithmic_axes(three):
    SubsetPathDisplay(
        [1, 2], [[1.0], [2.0]], [9.0, 0.1], [9.0, 0.1], scores=[3.0, 0.1], score_errors=[1.0, 0.2],
        rule="cv", chosen=2,
    ).plot(three, log=True)  # fmt: skip
    assert [ax.get_yscale() for ax in three] == ["linear", "log", "log"]
    assert three[2].get_ylim()[0] > 0.0
    three[0].figure.canvas.draw()


def test_a_given_size_has_no_criterion(data, pair):
    X, y = data
    display = SubsetPathDisplay.from_estimator(SubsetRegressor(3).fit(X, y), axes=pair)
    assert display.score_line_ is None and display.score_band_ is None
    shown = [tick for tick in pair[1].get_xticks() if 2.6 <= tick <= 3.4]
    np.testing.assert_allclose(shown, [3.0])
    display.figure_.canvas.draw()


def test_several_targets_are_drawn_by_their_length(data):
    X, y = data
    model = SubsetRegressor("bic").fit(X, np.c_[y, 2.0 * y])
    display = SubsetPathDisplay.from_estimator(model)
    assert np.all(display.coefficients >= 0.0)
    first = model.path_[0]
    assert display.coefficients[0].max() == pytest.approx(np.linalg.norm(first.coef[0]))


def test_styles_reach_the_artists(model, three):
    display = SubsetPathDisplay.from_estimator(
        model, axes=three, line_kw={"color": "red"}, band_kw={"alpha": 0.9}, relative=False
    )
    assert display.error_display_.line_.get_color() == "red"
    assert display.score_line_.get_color() == "red"
    assert display.score_band_.get_alpha() == 0.9
    np.testing.assert_allclose(display.error_display_.line_.get_ydata(), model.path_.errors)


def test_names_keep_their_distance():
    places = _spread(np.array([0.5, 0.5, 0.51, 0.99, 1.0]), 0.1)
    assert np.all(np.diff(places) >= 0.1 - 1e-12) and places.max() <= 1.0
    np.testing.assert_allclose(_spread(np.array([0.1, 0.5]), 0.1), [0.1, 0.5])
    assert len(_spread(np.empty(0), 0.1)) == 0


def test_bad_input_is_refused(model):
    with pytest.raises(NotFittedError):
        SubsetPathDisplay.from_estimator(SubsetRegressor(2))
    with pytest.raises(ValueError, match="needs 3 axes; got 1"):
        SubsetPathDisplay.from_estimator(model, axes=Figure().subplots())
