from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from columnist.lowrank import QuadraticPCA
from tests.oracles.lowrank import ridge_alternation
from tests.strategies import matrices

PENALTIES = st.floats(0.01, 5.0)
A = np.random.default_rng(0).standard_normal((15, 8)) * np.arange(1.0, 9.0)


@given(matrices(min_rows=2, min_columns=2), PENALTIES, PENALTIES)
def test_closed_form(data, alpha_scores, alpha_loadings):
    rank = min(2, *data.shape)
    model = QuadraticPCA(rank, alpha_scores=alpha_scores, alpha_loadings=alpha_loadings).fit(data)
    X, Y = model.embedding_, model.components_.T
    rest = data - X @ Y.T
    energy = 1.0 + np.sum(data**2)
    value = np.sum(rest**2) + alpha_scores * np.sum(X**2) + alpha_loadings * np.sum(Y**2)
    assert model.objective_ == pytest.approx(value, abs=1e-10 * energy)
    # The gradients vanish.
    np.testing.assert_allclose(alpha_scores * X, rest @ Y, atol=1e-8 * energy)
    np.testing.assert_allclose(alpha_loadings * Y, rest.T @ X, atol=1e-8 * energy)
    # What is left has no direction that pays for itself.
    left = np.linalg.svd(rest, compute_uv=False)
    tau = np.sqrt(alpha_scores * alpha_loadings)
    outside = np.linalg.svd(data, compute_uv=False)[rank:].max(initial=0.0)
    assert left.max(initial=0.0) <= max(tau, outside) + 1e-9 * energy
    np.testing.assert_allclose(model.transform(data), X, atol=1e-6 * energy)


def test_equals_alternating_ridge_regressions():
    model = QuadraticPCA(3, alpha_scores=2.0, alpha_loadings=0.5).fit(A)
    product, value = ridge_alternation(A, 3, 2.0, 0.5, 300, np.random.default_rng(1))
    np.testing.assert_allclose(model.inverse_transform(model.transform(A)), product, atol=1e-8)
    assert model.objective_ == pytest.approx(value, rel=1e-12)


def test_missing_entries():
    rng = np.random.default_rng(2)
    whole = 3.0 * rng.standard_normal((15, 2)) @ rng.standard_normal((2, 8))
    whole += 0.3 * rng.standard_normal(whole.shape)
    holes = np.where(rng.random(whole.shape) < 0.2, np.nan, whole)
    model = QuadraticPCA(2, alpha_scores=2.0, alpha_loadings=0.5, tol=1e-13).fit(holes)
    runs = [ridge_alternation(holes, 2, 2.0, 0.5, 400, np.random.default_rng(i)) for i in range(4)]
    product, value = min(runs, key=lambda run: run[1])
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    fitted = model.embedding_ @ model.components_
    np.testing.assert_allclose(fitted, product, atol=1e-4 * np.abs(product).max())
    scores = model.transform(holes)
    np.testing.assert_allclose(scores, model.embedding_, atol=1e-4)
    assert np.isfinite(model.inverse_transform(scores)).all()


def test_holes_in_one_row_change_little():
    model = QuadraticPCA(2, alpha_scores=1.0, alpha_loadings=1.0).fit(A)
    row = A[:1].copy()
    row[0, 0] = np.nan
    part = model.components_[:, 1:].T
    scores = row[0, 1:] @ part @ np.linalg.inv(part.T @ part + np.eye(2))
    np.testing.assert_allclose(model.transform(row)[0], scores)
    np.testing.assert_allclose(model.transform(np.full((1, 8), np.nan)), [[0.0, 0.0]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_without_penalty_it_is_pca(kind):
    model = QuadraticPCA(3, centering="mean").fit(kind(A))
    pca = PCA(3).fit(A)
    np.testing.assert_allclose(model.singular_values_, pca.singular_values_)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(kind(A))),
        pca.inverse_transform(pca.transform(A)),
        atol=1e-9,
    )
    # Both factors carry the root of the singular values.
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1) ** 2, pca.singular_values_)
    np.testing.assert_allclose(
        np.linalg.norm(model.embedding_, axis=0) ** 2, model.singular_values_
    )


@pytest.mark.parametrize("one", ["alpha_scores", "alpha_loadings"])
def test_one_penalty_alone_does_nothing(one):
    with pytest.warns(UserWarning, match="one penalty is zero"):
        model = QuadraticPCA(2, **{one: 3.0}).fit(A)
    free = QuadraticPCA(2).fit(A)
    np.testing.assert_allclose(model.components_, free.components_)
    np.testing.assert_allclose(model.transform(A), free.transform(A))
    assert (
        model.objective_
        == free.objective_
        == pytest.approx(np.sum(np.linalg.svd(A, compute_uv=False)[2:] ** 2))
    )


def test_large_penalties_leave_nothing():
    model = QuadraticPCA(2, alpha_scores=100.0, alpha_loadings=100.0).fit(A)
    assert not model.components_.any() and not model.transform(A).any()
    assert model.objective_ == pytest.approx(np.sum(A**2))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scales(scale, dtype):
    if dtype == np.float32:
        scale = np.sign(np.log(scale)) and scale ** (1 / 5)
    usual = QuadraticPCA(2, alpha_scores=3.0, alpha_loadings=0.5).fit(A)
    data = (A * scale).astype(dtype)
    model = QuadraticPCA(2, alpha_scores=3.0 * scale, alpha_loadings=0.5 * scale).fit(data)
    rtol = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.singular_values_ / scale, usual.singular_values_, rtol=rtol)
    np.testing.assert_allclose(
        model.transform(data) / np.sqrt(scale), usual.transform(A), rtol=rtol, atol=rtol
    )
    assert model.objective_ / scale / scale == pytest.approx(usual.objective_, rel=rtol)


def test_ranking_is_by_lengths_of_loadings():
    model = QuadraticPCA(2).fit(A)
    lengths = np.linalg.norm(model.components_, axis=0)
    np.testing.assert_allclose(model.scores_, lengths)
    np.testing.assert_array_equal(model.ranking_, np.argsort(-lengths))


def test_a_column_without_entries_ranks_last():
    holes = A.copy()
    holes[:, 7] = np.nan
    model = QuadraticPCA(2).fit(holes)
    assert np.isnan(model.scores_[7]) and model.ranking_[-1] == 7
    assert not model.components_[:, 7].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1"),
        ({"n_components": 9}, "at most min"),
        ({"alpha_scores": -1.0}, "alpha_scores must be a number >= 0"),
        ({"alpha_loadings": np.inf}, "alpha_loadings must be a number"),
        ({"centering": "middle"}, "centering must be one of"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        QuadraticPCA(**{"n_components": 2, **options}).fit(A)


def test_bad_data():
    with pytest.raises(ValueError, match="infinity"):
        QuadraticPCA(1).fit(np.array([[1.0, np.inf], [1.0, 2.0]]))
    with pytest.raises(ValueError, match="Sparse X holds NaN"):
        QuadraticPCA(1).fit(sp.csr_array(np.array([[1.0, np.nan], [1.0, 2.0]])))
    with pytest.raises(ValueError, match="needs dense X"):
        QuadraticPCA(1, centering="mean", location="median").fit(sp.csr_array(A))
    model = QuadraticPCA(2).fit(A)
    with pytest.raises(ValueError, match="has 2 components: pass what transform"):
        model.inverse_transform(np.ones((3, 5)))


def test_too_few_iterations_are_told():
    holes = A.copy()
    holes[0, 0] = np.nan
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        QuadraticPCA(2, max_iter=1).fit(holes)
