"""Outliers of small made-up data."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.robust import BiasCentered, RobustPCA
from reproduction import robust_toys
from reproduction.data import Data
from reproduction.printed import printed
from reproduction.registry import Run
from reproduction.robust_toys import TOYS, toy
from tests.oracles import outliers

RUN = Run(Data("nowhere"), False)
TABLES = {table.name: table for table in robust_toys.TABLES}

# Where our sets differ from the print of table 5.1; HR-PCA is random.
OTHER_SETS = {
    "Tall-L, CoP, bias",
    "Short-L, CoP, bias",
    "Trapezoid, CoP, bias",
    "Tall-L, Outlier Pursuit, bias",
}


@pytest.mark.parametrize("name", TOYS)
def test_toys_lie_on_a_line_without_the_named_outliers(name):
    X, true = toy(name), [i - 1 for i in TOYS[name]]
    rest = np.delete(X, true, axis=0)
    assert np.linalg.matrix_rank(rest - rest.mean(axis=0)) == 1
    found = RobustPCA(1, n_outliers=len(true), random_state=0).fit(X)
    assert list(found.outliers_) == true
    assert found.error_ == pytest.approx(0.0, abs=1e-20)
    biased = BiasCentered(RobustPCA(1, n_outliers=len(true), random_state=0)).fit(X)
    assert list(biased.outliers_) == true


def test_table_5_1():
    """Nearly all printed sets come out; what HR-PCA draws cannot."""
    cells = list(TABLES["he-5.1"].cells(RUN))
    assert len(cells) == 3 * len(printed("he-5.1"))
    assert {cell.where for cell in cells if cell.verdict == "different"} == OTHER_SETS
    drawn = [cell for cell in cells if cell.verdict == "not possible"]
    assert len(drawn) == 6 and all("HR-PCA" in cell.where for cell in drawn)


@pytest.mark.parametrize("centred", [True, False])
def test_best_rows_are_those_of_the_oracle(centred):
    X = np.random.default_rng(4).standard_normal((9, 3)) * [3.0, 1.0, 1.0] + 5.0
    ours = robust_toys.best_rows(X, 1, 2, centred=centred)
    centering = "optimal" if centred else "none"
    assert ours == tuple(outliers.best_rows(X, 1, 2, centering=centering)[1])


def test_figure_5_1():
    """One outlier of seven turns the centred axis, not the uncentred one."""
    assert [cell.verdict for cell in TABLES["he-fig5.1"].cells(RUN)] == ["reproduced"] * 4
    angles = robust_toys.directions()
    assert angles["centred"] > 60.0 and angles["uncentred"] < 8.0


def cut(values: np.ndarray, decimals: int) -> np.ndarray:
    """Magnitudes cut, not rounded, to some decimals."""
    return np.trunc(np.abs(values) * 10.0**decimals) / 10.0**decimals


@pytest.mark.parametrize("name", ["centred", "biased"])
def test_figure_5_3_entries_are_cut(name):
    """Columns are axes; eigenvalues of the scatter matrices."""
    ours = robust_toys.bias_matrices()
    axes = robust_toys.matrix(f"{name} axes")
    np.testing.assert_allclose(cut(ours[f"{name} axes"], 4), np.abs(axes), atol=1e-12)
    theirs = robust_toys.matrix(f"{name} eigenvalues")
    decimals = np.where(theirs > 1e3, 0, 4).ravel()
    values = ours[f"{name} eigenvalues"].ravel()
    found = [cut(np.array(v), d) for v, d in zip(values, decimals, strict=True)]
    np.testing.assert_allclose(found, theirs.ravel(), rtol=1e-12)


def test_figure_5_3_cells():
    cells = list(TABLES["he-fig5.3"].cells(RUN))
    assert len(cells) == 24 and {cell.verdict for cell in cells} == {"reproduced"}


def test_figure_5_3_with_the_estimator():
    """``BiasCentered`` around an uncentred search returns the centred axes."""
    X, bias = robust_toys.matrix("X").T, robust_toys.matrix("biased")[-1, 0]
    found = BiasCentered(RobustPCA(1, n_outliers=0), gamma=bias / np.linalg.norm(X)).fit(X)
    assert found.bias_ == pytest.approx(bias)
    first = robust_toys.matrix("centred axes")[:, 0]
    assert abs(found.components_[0] @ first) == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(found.mean_, X.mean(axis=0), atol=1e-3)
