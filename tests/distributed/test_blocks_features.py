"""Spectral selectors on blocks of columns choose what they choose in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks.counting import count_cost
from columnist.distributed._blocks import DaskColumns, DaskRows
from columnist.spectral import MCSF, MRSF, l21_regression
from tests.distributed.test_blocks_columns import KINDS, dask_fit, in_dask, in_memory, problem

pytestmark = pytest.mark.usefixtures("all_wide")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("selector", [MRSF(6), MRSF(6, response="pca"), MCSF(6)], ids=str)
def test_spectral_selectors(kind, scaling, selector):
    """Blocks of columns tell the same as all features in memory."""
    X, rng = problem(kind)
    X = X + 0.1 * rng.standard_normal(X.shape) * (X != 0.0)  # no ties
    y = rng.choice(["a", "b", "c"], 25)
    selector = clone(selector).set_params(scaling=scaling)
    expected = dask_fit(selector, in_memory(X, kind), y)
    found = dask_fit(selector, in_dask(X, kind, ((7, 1, 17), 60)), y)
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    rtol = 1e-5 if "float32" in kind else 1e-8
    size = np.nanmax(np.abs(expected.scores_))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=rtol, atol=rtol * size)
    if isinstance(selector, MRSF):
        size = np.abs(expected.coef_).max()
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=rtol, atol=rtol * size)


@pytest.mark.parametrize("solver", ["accelerated", "coordinate"])
def test_row_sparse_regression(solver):
    X, rng = problem("dense")
    Y = rng.standard_normal((25, 2))
    expected = l21_regression(X, Y, alpha_ratio=0.3, solver=solver)
    D = in_dask(X, "dense", ((7, 1, 17), 60))
    found = l21_regression(D, Y, alpha_ratio=0.3, solver=solver)
    np.testing.assert_allclose(found.W, expected.W, atol=1e-6 * np.abs(expected.W).max())
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        l21_regression(D, Y[1:], alpha_ratio=0.3, solver=solver)


def test_features_are_not_brought_together(monkeypatch):
    """Only features that may enter, and the response, are sent."""
    X, rng = problem("dense")
    D = in_dask(X, "dense", ((7, 1, 17), 60))
    monkeypatch.setattr(DaskColumns, "gather", None)
    monkeypatch.setattr(DaskRows, "gather", None)
    monkeypatch.setattr(DaskRows, "few_rows", None)
    with count_cost() as cost:
        MRSF(5).fit(D, rng.choice(["a", "b"], 25))
    assert cost.operations == 0  # no inner products of all features
