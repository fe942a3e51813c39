"""The optimizer of the how-to page for PySINDy, with PySINDy or with what it asks of a subclass."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

FILE = Path(__file__).parents[1] / "examples" / "pysindy_optimizer.py"


class _Base:
    """What PySINDy's BaseOptimizer does with a subclass."""

    def __init__(self, max_iter, copy_X, unbias):
        self.max_iter, self.copy_X, self.unbias = max_iter, copy_X, unbias

    def fit(self, x, y):
        self.history_ = [np.linalg.lstsq(x, y, rcond=None)[0].T]
        self._reduce(x, y)
        return self


def load():
    spec = importlib.util.spec_from_file_location("pysindy_optimizer", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BestSubsetOptimizer


@pytest.fixture
def optimizer(monkeypatch):
    package = types.ModuleType("pysindy")
    package.optimizers = types.ModuleType("pysindy.optimizers")
    package.optimizers.BaseOptimizer = _Base
    monkeypatch.setitem(sys.modules, "pysindy", package)
    monkeypatch.setitem(sys.modules, "pysindy.optimizers", package.optimizers)
    return load()


@pytest.mark.parametrize("n_terms", ["ebic", 2, [2, 2]])
def test_equations_are_found(optimizer, n_terms):
    rng = np.random.default_rng(0)
    states = rng.uniform(-2.0, 2.0, (200, 2))
    library = PolynomialFeatures(3)
    terms = library.fit_transform(states)
    names = library.get_feature_names_out(["x", "y"])
    x, y = states.T
    rates = np.c_[-0.1 * x**3 + 2.0 * y, -2.0 * x - 0.1 * y**3]
    found = optimizer(n_terms).fit(terms, rates + 0.01 * rng.standard_normal(rates.shape))
    assert found.coef_.shape == (2, terms.shape[1])
    kept = [set(names[row != 0.0]) for row in found.coef_]
    assert kept == [{"x^3", "y"}, {"x", "y^3"}]
    assert all(model.certificate_.is_optimal for model in found.models_)
    np.testing.assert_allclose(found.coef_[0, names == "y"], 2.0, atol=0.01)


def test_with_pysindy():
    ps = pytest.importorskip("pysindy")
    times = np.arange(0.0, 10.0, 0.01)
    states = np.c_[np.cos(2.0 * times), -2.0 * np.sin(2.0 * times)]
    model = ps.SINDy(
        feature_library=ps.PolynomialLibrary(degree=2), optimizer=load()(n_terms=1)
    ).fit(states, t=0.01)
    expected = np.zeros((2, 6))
    expected[0, 2], expected[1, 1] = 1.0, -4.0
    np.testing.assert_allclose(model.coefficients(), expected, atol=0.02)
