from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist.lowrank import SparseLoadings, alpha_max, loadings_path

WINE = scale(load_wine().data) * np.linspace(1.0, 2.0, 13)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_the_path_joins_pca_and_nothing(loss):
    path = loadings_path(WINE, 2, loss=loss, alphas=8, random_state=0)
    assert path.alpha_max == pytest.approx(alpha_max(WINE, loss=loss))
    assert path.alphas[0] == pytest.approx(1e-3 * path.alpha_max)
    assert path.alphas[-1] == pytest.approx(path.alpha_max)
    assert path.n_selected[0] == 13 and path.n_selected[-1] == 0
    assert (np.diff(path.n_selected) <= 0).all()
    assert (np.diff(path.objectives) > 0.0).all()
    assert [len(path.selected(i)) for i in range(8)] == list(path.n_selected)


def test_every_point_is_a_good_model():
    alphas = [30.0, 5.0, 15.0]
    path = loadings_path(WINE, 2, alphas=alphas, random_state=0)
    np.testing.assert_array_equal(path.alphas, [5.0, 15.0, 30.0])
    for i, alpha in enumerate(path.alphas):
        model = SparseLoadings(2, alpha=alpha, random_state=0).fit(WINE)
        assert path.objectives[i] == pytest.approx(model.objective_, rel=1e-3)
        if path.objectives[i] == pytest.approx(model.objective_, rel=1e-6):
            np.testing.assert_allclose(path.scores[i], model.scores_, atol=0.05)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    path = loadings_path(WINE * scale, 2, alphas=4, random_state=0)
    usual = loadings_path(WINE, 2, alphas=4, random_state=0)
    np.testing.assert_allclose(path.alphas / scale, usual.alphas)
    np.testing.assert_array_equal(path.n_selected, usual.n_selected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": [-1.0, 2.0]}, "alphas must be"),
        ({"alphas": 0}, "alphas must be an integer >= 1"),
        ({"alphas": [np.nan]}, "alphas contains NaN"),
        ({"loss": "absolute"}, "loss must be one of"),
        ({"centering": "middle"}, "centering must be one of"),
        ({"tol": 0.0}, "tol must be"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        loadings_path(WINE, 2, **options)
