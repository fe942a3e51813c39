"""Variances of the kept rows against those of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from columnist.plotting._outliers import ScreeDisplay
from columnist.robust._baselines import TrimmedPCA
from columnist.robust._certified import RobustPCA
from tests.robust.estimators import ALL, name
from tests.robust.samples import contaminated


@pytest.fixture(scope="module")
def rows():
    return contaminated(60, 5, 2, 6, np.random.default_rng(0))[0]


@pytest.mark.parametrize("estimator", ALL, ids=name)
def test_variances_are_those_of_two_pcas(estimator, rows, pair):
    fitted = estimator.fit(rows)
    display = ScreeDisplay.from_estimator(fitted, rows, axes=pair)
    kept = np.delete(rows, fitted.outliers_, axis=0)
    for line, share, X in [
        (display.kept_line_, display.kept_share_, kept),
        (display.all_line_, display.all_share_, rows),
    ]:
        pca = PCA().fit(X)
        np.testing.assert_allclose(line.get_ydata(), pca.explained_variance_)
        np.testing.assert_allclose(
            share.get_ydata(), 100 * np.cumsum(pca.explained_variance_ratio_)
        )
    assert [line.get_xdata()[0] for line in display.component_lines_] == [1.5, 1.5]
    assert display.axes_.tolist() == list(pair) and display.figure_ is pair[0].figure


def test_without_centring_variances_are_about_the_origin(rows, pair):
    X = rows + 7.0
    fitted = TrimmedPCA(2, n_outliers=6, centering="none").fit(X)
    display = ScreeDisplay.from_estimator(fitted, X, axes=pair)
    expected = np.linalg.eigvalsh(X.T @ X / len(X))[::-1]
    np.testing.assert_allclose(display.all_variances, expected)


def test_a_point_instead_of_a_subspace(rows, pair):
    fitted = RobustPCA(0, n_outliers=6, random_state=0).fit(rows)
    display = ScreeDisplay.from_estimator(fitted, rows, axes=pair)
    at = display.component_lines_[0].get_xdata()[0]
    assert pair[0].get_xlim()[0] < at == 0.5


def test_more_features_than_rows(pair):
    X = np.random.default_rng(0).standard_normal((12, 40))
    display = ScreeDisplay.from_estimator(TrimmedPCA(3, n_outliers=2).fit(X), X, axes=pair)
    assert len(display.kept_variances) == len(display.all_variances) == 40
    np.testing.assert_allclose(display.kept_variances[9:], 0.0, atol=1e-12)
    assert display.all_share_.get_ydata()[-1] <= 100.0 + 1e-9


def test_outliers_inflate_the_classical_variances(pair):
    X, _ = contaminated(60, 5, 2, 6, np.random.default_rng(0), kind="clustered")
    fitted = TrimmedPCA(2, n_outliers=6)
    fitted.fit(X[6:])
    fitted.outliers_ = np.arange(6)
    display = ScreeDisplay.from_estimator(fitted, X, axes=pair)
    assert display.all_variances[2] > 20 * display.kept_variances[2]


def test_few_axes_but_always_one_beyond_the_subspace(pair):
    variances = np.arange(20.0, 0.0, -1.0)
    count = lambda display: len(display.kept_line_.get_xdata())  # noqa: E731
    assert count(ScreeDisplay(variances, variances).plot(pair)) == 10
    assert count(ScreeDisplay(variances, variances).plot(pair, n_axes=4)) == 4
    assert count(ScreeDisplay(variances, variances, n_components=7).plot(pair, n_axes=4)) == 8
    assert count(ScreeDisplay([1.0], [2.0], n_components=1).plot(pair)) == 1


def test_the_scale_follows_the_range(pair):
    ScreeDisplay([4.0, 1.0], [9.0, 1.0]).plot(pair)
    assert pair[0].get_yscale() == "linear"
    ScreeDisplay([4.0, 1.0], [900.0, 1.0]).plot(pair)
    assert pair[0].get_yscale() == "log"
    ScreeDisplay([4.0, 1.0], [9.0, 1.0]).plot(pair, scale="log")
    assert pair[0].get_yscale() == "log"


@pytest.mark.parametrize("variances", [[0.0, 0.0], [1.0, 0.0], [1e200, 1e-100], [1.0]])
@pytest.mark.parametrize("scale", ["auto", "log"])
def test_odd_variances_are_drawn(variances, scale, pair):
    display = ScreeDisplay(variances, variances, n_components=1).plot(pair, scale=scale)
    display.figure_.canvas.draw()


def test_the_legend_counts_rows(rows, pair):
    ScreeDisplay.from_estimator(TrimmedPCA(2, n_outliers=6).fit(rows), rows, axes=pair)
    texts = [text.get_text() for text in pair[0].get_legend().get_texts()]
    assert texts == ["all 60 rows (classical PCA)", "54 kept rows", "fitted components: 2"]


def test_unknown_numbers_of_rows_are_left_out(pair):
    ScreeDisplay([1.0], [2.0]).plot(pair)
    texts = [text.get_text() for text in pair[0].get_legend().get_texts()]
    assert texts == ["all rows (classical PCA)", "kept rows"]


def test_bad_input_is_refused(rows):
    with pytest.raises(ValueError, match="one entry per axis; got 1 and 2"):
        ScreeDisplay([1.0], [2.0, 1.0])
    with pytest.raises(ValueError, match="needs 2 axes; got 1"):
        ScreeDisplay([1.0], [2.0]).plot(Figure().subplots())
    with pytest.raises(ValueError, match="scale must be one of"):
        ScreeDisplay([1.0], [2.0]).plot(scale="wide")
    with pytest.raises(ValueError, match="n_axes must be an integer >= 1"):
        ScreeDisplay([1.0], [2.0]).plot(n_axes=0)
    fitted = TrimmedPCA(2, n_outliers=6)
    with pytest.raises(NotFittedError):
        ScreeDisplay.from_estimator(fitted, rows)
    fitted.fit(rows)
    with pytest.raises(ValueError, match="pass the rows of the fit"):
        ScreeDisplay.from_estimator(fitted, rows[: fitted.outliers_[-1]])
