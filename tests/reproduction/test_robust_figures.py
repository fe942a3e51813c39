"""What the figures about outliers show."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.datasets import load_crossing_lines
from columnist.robust import RobustPCA
from reproduction import robust_figures
from reproduction.data import Data
from reproduction.registry import Run
from tests.real_data import load_samples

TABLES = {table.name: table for table in robust_figures.TABLES}


def test_figure_4_3():
    """Falling while it has more points, rising once four remain, and nothing left for two."""
    X = load_crossing_lines().data
    slopes, errors = [], []
    for k in range(9):
        found = RobustPCA(1, n_outliers=k, random_state=0).fit(X)
        assert found.certificate_.status == "optimal"
        errors.append(found.error_)
        slopes.append(found.components_[0, 1] / found.components_[0, 0])
    assert -0.4 < slopes[0] < slopes[6]
    assert all(-0.6 < slope < -0.45 for slope in slopes[2:6])
    assert slopes[6] == pytest.approx(0.5, abs=0.02)
    assert errors[8] == pytest.approx(0.0, abs=1e-20)
    assert errors == sorted(errors, reverse=True)
    cells = list(TABLES["he-fig4.3"].cells(Run(Data("nowhere"), False)))
    assert [cell.verdict for cell in cells] == ["reproduced"] * 8


def test_figure_4_4():
    """With as many components as the rank, all outliers are found where the pursuit fails."""
    found = robust_figures.pursuits(10)
    assert all(fit.weighted <= fit.pursuit * (1 + 1e-9) for fit in found)
    assert found[-1].found == 15 and found[-1].weighted == pytest.approx(0.0, abs=1e-20)
    assert found[-1].found_by_pursuit < 15


@pytest.mark.data
def test_figure_5_5():
    """The error falls with the square of the bias until rounding takes over."""
    gammas = robust_figures.GAMMAS
    errors = np.array(robust_figures.eigenvalue_errors(load_samples("iris")))
    one, ten = (errors[int(np.argmin(np.abs(gammas - gamma)))] for gamma in (1.0, 10.0))
    assert one / ten == pytest.approx(100.0, rel=0.02)
    assert 1e-6 < ten < 1e-4
    assert errors[-1] > 1e3 * errors.min()


def test_margin_is_a_mean_distance():
    """Points of a line, and two at known distances from it."""
    X = np.vstack([np.outer(np.arange(-3.0, 4.0), [1.0, 0.0]), [[0.0, 2.0], [1.0, -4.0]]])
    assert robust_figures.margin(X, np.array([7, 8]), 1) == pytest.approx(3.0)


def test_images_of_a_person():
    person = np.array([[1.0], [2.0], [1.0], [2.0]])
    X = np.arange(8.0).reshape(4, 2)
    images = robust_figures.faces(X, person, 2, ((1, 2),), (1, 2))
    np.testing.assert_array_equal(images, X[[1, 3, 2]])


@pytest.mark.parametrize("name", ["he-fig4.5", "he-fig5.5", "he-fig5.8", "he-fig5.9"])
def test_without_data_every_statement_is_there(name, tmp_path):
    cells = list(TABLES[name].cells(Run(Data(tmp_path), True)))
    assert cells and all(cell.verdict == "not possible" and cell.why for cell in cells)
    assert len({cell.where for cell in cells}) == len(cells)


def test_first_eigenvalues_and_curves_of_the_bias(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 12)) + 3.0
    monkeypatch.setattr(Data, "matrix", lambda self, name: X)
    run = Run(Data("nowhere"), False)
    exact = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    few = robust_figures.eigenvalue_errors(X, 3, np.array([10.0]))
    all_of_them = robust_figures.eigenvalue_errors(X, None, np.array([10.0]))
    assert few[0] * exact[:3].sum() <= all_of_them[0] * exact.sum() * (1 + 1e-9)
    (top,) = {cell.where for cell in robust_figures.top_cells(run) if "libras" in cell.where}
    assert "first ten" in top
    panels = [*robust_figures.gamma_panels(run), *robust_figures.limit_panels(run)]
    assert len(panels) == 5 and all(panel.lines for panel in panels)


def test_a_bias_is_stable_until_rounding_takes_over(monkeypatch):
    """Errors that fall with the square of the bias, and rise with it from a place on."""
    run = Run(Data("nowhere"), False)
    monkeypatch.setattr(Data, "matrix", lambda self, name: None)
    for turn, verdict in ((1e6, "reproduced"), (1e3, "different")):
        errors = np.maximum(
            1e2 / robust_figures.BIASES**2, 1e2 * robust_figures.BIASES**2 / turn**4
        )
        monkeypatch.setattr(robust_figures, "bias_errors", lambda X, e=errors: e.tolist())
        cells = list(robust_figures.limit_cells(run))
        assert [cell.verdict for cell in cells] == [verdict] * 3
