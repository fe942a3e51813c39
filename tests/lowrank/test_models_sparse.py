from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from columnist.lowrank import SparseLoadings, alpha_max
from tests.memory import peak_memory
from tests.oracles.lowrank import masked_objective, objective
from tests.strategies import matrices

WINE = scale(load_wine().data) * np.linspace(1.0, 2.0, 13)
LOSSES = ["quadratic", "robust"]


def planted(seed: int, n_corrupt: int = 0, *, n=60, p=30, k=8) -> np.ndarray:
    """Signal of rank 3 in the first k columns; outlying rows lie in the others."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((p, 3))
    Y[:k] = rng.standard_normal((k, 3))
    A = rng.standard_normal((n, 3)) @ Y.T + 0.3 * rng.standard_normal((n, p))
    A[:n_corrupt, k:] += 10.0 * rng.standard_normal((n_corrupt, p - k))
    return A


@pytest.mark.parametrize(
    ("kind", "solver"),
    [(np.asarray, "alternate"), (sp.csr_array, "alternate"), (np.asarray, "admm")],
)
def test_without_penalty_it_is_pca(kind, solver):
    model = SparseLoadings(3, alpha=0.0, centering="mean", solver=solver, tol=1e-8)
    model.fit(kind(WINE))
    pca = PCA(3).fit(WINE)
    turned = pca.components_ * pca.singular_values_[:, None]
    signs = np.sign(np.sum(turned * model.components_, axis=1))[:, None]
    np.testing.assert_allclose(model.components_, signs * turned, atol=1e-5)
    np.testing.assert_allclose(model.transform(kind(WINE)), model.embedding_, atol=1e-5)
    np.testing.assert_allclose(
        model.inverse_transform(model.embedding_),
        pca.inverse_transform(pca.transform(WINE)),
        atol=1e-5,
    )
    assert len(model.selected_) == 13


def fitted_and_said(A, **options):
    """A model with one component, and the kinds of its warnings: no loadings, not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SparseLoadings(1, random_state=0, **options).fit(A)
    empty = not model.scores_.any()
    assert empty == any("no column has loadings" in str(one.message) for one in caught)
    return model, [one.category for one in caught]


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=12)
@given(
    matrices(min_rows=3, min_columns=3),
    st.floats(0.05, 0.8),
    st.sampled_from([2.0**-500, 2.0**500]),
)
def test_scaling_the_data(loss, A, share, factor):
    alpha = share * alpha_max(A, loss=loss)
    unit = factor if loss == "quadratic" else 1.0
    usual, said = fitted_and_said(A, loss=loss, alpha=alpha)
    other, also_said = fitted_and_said(A * factor, loss=loss, alpha=alpha * unit)
    assert said == also_said
    np.testing.assert_allclose(other.scores_ / factor, usual.scores_, rtol=1e-12, atol=1e-12)
    units = 2 if loss == "quadratic" else 1
    value = other.objective_
    for _ in range(units):
        value /= factor
    assert value == pytest.approx(usual.objective_, rel=1e-12)
    assert usual.objective_ == pytest.approx(
        objective(A, usual.embedding_, usual.components_.T, alpha, loss), rel=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_exactly_so_many_features(loss):
    A = planted(0)
    for size in (1, 8, 17, 30):
        model = SparseLoadings(1, loss=loss, n_features_to_select=size, random_state=0).fit(A)
        assert np.count_nonzero(model.scores_) == len(model.selected_) == size
        assert 0.0 <= model.alpha_ < model.alpha_max_
    found = SparseLoadings(3, loss=loss, n_features_to_select=8, random_state=0).fit(A)
    assert set(found.selected_) == set(range(8))
    assert len(SparseLoadings(3, loss=loss).fit(A).selected_) == 15


def test_robust_beats_quadratic_when_a_tenth_of_the_rows_is_corrupt():
    found = {}
    for loss in LOSSES:
        models = [
            SparseLoadings(3, loss=loss, n_features_to_select=8, random_state=0).fit(planted(i, 6))
            for i in range(2)
        ]
        found[loss] = np.mean([np.mean(model.selected_ < 8) for model in models])
    assert found["robust"] > 0.6 and found["quadratic"] < 0.3


@pytest.mark.parametrize("loss", LOSSES)
def test_missing_entries_are_left_out(loss):
    A = planted(1)
    holes = np.where(np.random.default_rng(0).random(A.shape) < 0.1, np.nan, A)
    alpha = 0.1 * alpha_max(A, loss=loss)
    model = SparseLoadings(3, loss=loss, alpha=alpha, random_state=0).fit(holes)
    value = masked_objective(holes, model.embedding_, model.components_.T, alpha, loss)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    whole = SparseLoadings(3, loss=loss, alpha=alpha, random_state=0).fit(A)
    assert set(model.selected_) >= set(range(8)) and set(whole.selected_) >= set(range(8))
    # The holes are filled with about what was there.
    filled = model.inverse_transform(model.transform(holes))
    at = np.isnan(holes) & (np.arange(30) < 8)
    assert np.corrcoef(filled[at], A[at])[0, 1] > 0.8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{"n_features_to_select": 3, "refit": True}, {"alpha": 0.0}])
def test_rows_and_columns_without_any_entry(loss, options):
    A = planted(6, p=10, k=4)
    A[3], A[:, 5] = np.nan, np.nan
    model = SparseLoadings(
        2, loss=loss, centering="mean", location="median", random_state=0, **options
    ).fit(A)
    assert np.isnan(model.scores_[5]) and model.ranking_[-1] == 5
    assert not model.components_[:, 5].any()
    scores = model.transform(A)
    assert np.isfinite(scores).all() and not scores[3].any()


def test_centres():
    A = planted(2) + 50.0
    centres = [
        ({}, 0.0),
        ({"location": "median"}, 0.0),
        ({"centering": "mean"}, A.mean(0)),
        ({"centering": "mean", "location": "median"}, np.median(A, 0)),
    ]
    for options, centre in centres:
        model = SparseLoadings(1, alpha=5.0, random_state=0, **options).fit(A)
        np.testing.assert_allclose(model.center_, np.broadcast_to(centre, 30), rtol=1e-12)
    free = SparseLoadings(3, alpha=5.0, centering="mean", random_state=0).fit(A)
    same = SparseLoadings(3, alpha=5.0, random_state=0).fit(A - A.mean(axis=0))
    np.testing.assert_allclose(free.components_, same.components_, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_of_new_rows_are_the_best_ones(loss):
    A = planted(3)
    model = SparseLoadings(
        2, loss=loss, n_features_to_select=6, centering="mean", random_state=0
    ).fit(A[:40])
    scores = model.transform(A[40:])
    best = np.linalg.lstsq(model.components_.T, (A[40:] - model.center_).T, rcond=None)[0].T
    np.testing.assert_allclose(scores, best, atol=1e-9)
    row = A[40:41].copy()
    row[0, ::3] = np.nan
    seen = ~np.isnan(row[0])
    target = (row - model.center_)[0, seen]
    best = np.linalg.lstsq(model.components_[:, seen].T, target, rcond=None)[0]
    np.testing.assert_allclose(model.transform(row)[0], best, atol=1e-9)


def test_columns_as_output():
    model = SparseLoadings(2, n_features_to_select=4, output="columns", random_state=0).fit(WINE)
    kept = np.sort(model.selected_)
    np.testing.assert_array_equal(model.transform(WINE), WINE[:, kept])
    np.testing.assert_array_equal(model.get_support(indices=True), kept)
    assert list(model.get_feature_names_out()) == [f"x{i}" for i in kept]
    back = model.inverse_transform(WINE[:, kept])
    assert back.shape == WINE.shape and not np.delete(back, kept, axis=1).any()
    model.set_params(output="components")
    assert list(model.get_feature_names_out()) == ["sparseloadings0", "sparseloadings1"]


def test_a_penalty_and_a_number_take_the_longest_loadings():
    model = SparseLoadings(2, alpha=1.0, n_features_to_select=3, random_state=0).fit(WINE)
    assert np.count_nonzero(model.scores_) == 13
    np.testing.assert_array_equal(model.selected_, np.argsort(-model.scores_)[:3])
    np.testing.assert_array_equal(model.selected_, model.ranking_[:3])
    np.testing.assert_allclose(model.scores_, np.linalg.norm(model.components_, axis=0))


def test_columns_without_loadings_are_ranked_by_how_close_they_are():
    A = np.eye(6) * np.array([6.0, 5.0, 1.0, 4.0, 3.0, 2.0])
    model = SparseLoadings(2, alpha=9.0, random_state=0).fit(A)
    assert set(model.selected_) == {0, 1}
    assert sorted(model.ranking_) == list(range(6))
    assert set(model.ranking_[:2]) == {0, 1}


def test_a_refit_restores_the_loadings():
    options = {"n_features_to_select": 6, "random_state": 0}
    shrunk = SparseLoadings(2, **options).fit(WINE)
    again = SparseLoadings(2, refit=True, **options).fit(WINE)
    assert set(again.selected_) == set(shrunk.selected_)
    assert again.alpha_ == shrunk.alpha_
    kept = np.sort(again.selected_)
    sigma = np.linalg.svd(WINE[:, kept], compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(again.components_, axis=1), sigma[:2], rtol=1e-6)
    rest = np.sum(np.delete(WINE, kept, axis=1) ** 2)
    assert again.objective_ == pytest.approx(np.sum(sigma[2:] ** 2) + rest)


@pytest.mark.parametrize("loss", LOSSES)
def test_histories(loss):
    model = SparseLoadings(2, loss=loss, alpha=1.0, random_state=0).fit(WINE)
    assert len(model.objective_history_) == model.n_iter_ == len(model.residual_history_)
    assert model.objective_ == pytest.approx(model.objective_history_.min(), rel=1e-9)
    assert model.residual_history_[-1].max() <= 1e-4
    if loss == "quadratic":
        assert (np.diff(model.objective_history_) <= 1e-9).all()
        assert not model.residual_history_[:, 0].any()


def test_the_same_seed_gives_the_same_model():
    one, other = (
        SparseLoadings(2, loss="robust", alpha=0.3, random_state=7).fit(planted(4, 6))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.components_, other.components_)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_penalty_that_leaves_nothing(loss):
    top = alpha_max(WINE, loss=loss)
    with pytest.warns(UserWarning, match="no column has loadings"):
        model = SparseLoadings(2, loss=loss, alpha=top).fit(WINE)
    assert model.alpha_max_ == pytest.approx(top)
    assert len(model.selected_) == 1 and not model.components_.any()
    assert not model.transform(WINE).any()


def test_data_that_are_zero():
    with pytest.warns(UserWarning, match="no column has loadings"):
        model = SparseLoadings(1).fit(np.zeros((4, 3)))
    assert len(model.selected_) == 1 and model.objective_ == 0.0


def test_fewer_columns_than_wanted():
    A = np.zeros((10, 6))
    A[:, :2] = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.warns(UserWarning, match="only 2 of 4 columns"):
        model = SparseLoadings(1, n_features_to_select=4).fit(A)
    assert set(model.selected_) == {0, 1}
    with pytest.warns(UserWarning, match="fewer than the 3 components"):
        SparseLoadings(3, n_features_to_select=2, random_state=0).fit(WINE)


def test_duplicates_are_counted_one_by_one():
    A = np.repeat(np.random.default_rng(1).standard_normal((12, 3)), 3, axis=1)
    model = SparseLoadings(1, n_features_to_select=4, random_state=0).fit(A)
    assert np.count_nonzero(model.scores_) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1"),
        ({"n_components": 14}, "at most min"),
        ({"loss": "absolute"}, "loss must be one of"),
        ({"alpha": -1.0}, "alpha must be a number >= 0"),
        ({"alpha": np.nan}, "alpha must be a number >= 0"),
        ({"n_features_to_select": 14}, "between 1 and the number of features"),
        ({"centering": "middle"}, "centering must be one of"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"solver": "alternate", "loss": "robust"}, "use solver='admm'"),
        ({"output": "scores"}, "output must be one of"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SparseLoadings(**{"n_components": 2, **options}).fit(WINE)


def test_bad_data():
    with pytest.raises(ValueError, match="infinity"):
        SparseLoadings(1).fit(np.array([[1.0, np.inf], [1.0, 2.0]]))
    with pytest.raises(TypeError, match="Sparse data"):
        SparseLoadings(1, loss="robust", alpha=0.1).fit(sp.csr_array(WINE))
    with pytest.raises(ValueError, match="every one is NaN"):
        SparseLoadings(1).fit(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="loss must be one of"):
        alpha_max(WINE, loss="absolute")


def test_too_few_iterations_are_told():
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        SparseLoadings(2, alpha=1.0, max_iter=1, tol=1e-12, centering="mean", n_starts=2).fit(WINE)


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_grows_with_the_square_of_the_data(loss):
    A = planted(5, n=200, p=2000, k=20)
    options = {"alpha": 0.3 * alpha_max(A, loss=loss), "random_state": 0}
    peak, _ = peak_memory(lambda: SparseLoadings(2, loss=loss, **options).fit(A))
    assert peak < 8 * A.nbytes < 2000 * 2000 * 8
