"""MRSF: the path on prepared features, its theorems, presets and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, MultiTaskLasso
from sklearn.preprocessing import scale

from columnist.linalg._threads import single_threaded_blas
from columnist.spectral import _features, _l21_path
from columnist.spectral._features import ScaledColumns
from columnist.spectral._forms import common_form, lda_response, pca_response, svm_response
from columnist.spectral._l21 import l21_regression
from columnist.spectral._mcsf import MCSF
from columnist.spectral._mrsf import MRSF
from columnist.spectral._similarity import fisher_similarity, rbf_similarity
from tests.oracles.row_sparse import subgradient_error


def unit(X):
    Z = X - X.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


def labelled(seed, n=40, m=12, c=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.standard_normal((n, m)) + rng.standard_normal(m) * (y[:, None] - 1)
    return X * 10.0 ** rng.integers(-2, 3, m) + rng.standard_normal(m), y


@settings(max_examples=40)
@given(
    st.integers(0, 10**6), st.integers(5, 40), st.integers(2, 30), st.sampled_from(["lda", "svm"])
)
def test_optimal_for_prepared_features(seed, n, m, response):
    X, y = labelled(seed, n, m)
    size = min(m, n - 3, 1 + seed % 20)
    fitted = MRSF(size, response=response).fit(X, y)
    Z, Y = unit(X), lda_response(y) if response == "lda" else svm_response(y)
    Y = Y - Y.mean(axis=0)
    W = fitted.coef_ * np.linalg.norm(X - X.mean(axis=0), axis=0)[:, None]
    error = subgradient_error(W, Z.T @ (Z @ W - Y), fitted.alpha_)
    assert error < 1e-8 and fitted.kkt_ < 1e-8 and fitted.path_.kkt.max() < 1e-8
    assert fitted.path_.residual[-1] == pytest.approx(np.linalg.norm(Y - Z @ W), rel=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(np.linalg.norm(W, axis=1)),
                                  np.sort(fitted.selected_))  # fmt: skip
    assert len(fitted.selected_) == size


def test_equals_full_solves_at_the_same_penalty():
    X, y = labelled(1, 60, 40)
    fitted = MRSF(12).fit(X, y)
    Z, Y = unit(X), lda_response(y)
    lasso = MultiTaskLasso(
        alpha=fitted.alpha_ / len(X), fit_intercept=False, tol=1e-12, max_iter=100_000
    ).fit(Z, Y)
    prediction = X @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(prediction, Z @ lasso.coef_.T, atol=1e-5)
    for solver in ("accelerated", "coordinate"):
        full = l21_regression(Z, Y, alpha=fitted.alpha_, solver=solver, tol=1e-12)
        np.testing.assert_allclose(Z @ full.W, prediction, atol=1e-5)


def test_scores_agree_with_the_order():
    X, y = labelled(2, 50, 20)
    X[:, 5] = 3.0
    fitted = MRSF(8).fit(X, y)
    np.testing.assert_array_equal(fitted.ranking_[:8], fitted.selected_)
    assert fitted.ranking_[-1] == 5 and np.isnan(fitted.scores_[5])
    assert sorted(fitted.ranking_) == list(range(20))
    falling = fitted.scores_[fitted.ranking_[:-1]]
    assert (np.diff(falling) <= 1e-9 * falling[0]).all()
    np.testing.assert_array_equal(fitted.raw_scores_, fitted.scores_)
    entered = [j for group in fitted.path_.entered for j in group]
    assert entered[0] == fitted.selected_[0]
    assert fitted.scores_[fitted.selected_[0]] == pytest.approx(fitted.path_.alpha[0])
    assert fitted.alpha_ == pytest.approx(fitted.path_.alpha[-1])
    assert fitted.path_.n_active[-1] == 8
    assert (np.diff(fitted.path_.alpha) <= 0).all() and (np.diff(fitted.path_.residual) <= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_first_feature_agrees_best_with_the_similarity(seed):
    X, y = labelled(seed)
    Z = unit(X)
    supervised = np.argmax(np.einsum("ij,ij->j", Z, fisher_similarity(y).times(Z)))
    assert MRSF(1).fit(X, y).selected_[0] == MCSF(1).fit(X, y).selected_[0] == supervised
    S = rbf_similarity(X)
    alone = np.argmax(np.einsum("ij,ij->j", Z, S.times(Z)))
    assert MRSF(1, similarity=S, n_components=len(X)).fit(X).selected_[0] == alone
    assert MCSF(1, similarity=S).fit(X).selected_[0] == alone


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_the_residual_bounds_the_distance_of_similarities(seed, size):
    """With Y = U Sigma^(1/2) of all of S: ||XWW'X' - S|| <= (2||Y|| + ||O||)||O||, O = Y - XW."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 10))
    S = rbf_similarity(X).toarray()
    S -= S.mean(axis=0)
    S -= S.mean(axis=1)[:, None]
    fitted = MRSF(
        size, response="spectral", similarity=S, n_components=15, output="components"
    ).fit(X)
    Z = fitted.transform(X)
    left = fitted.path_.residual[-1]
    norm = np.sqrt(np.trace(S))  # of Y
    assert np.linalg.norm(Z @ Z.T - S) <= (2 * norm + left) * left * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_near_copies_are_avoided(seed):
    """Five features of falling importance, near copies of each: the originals, no copies.

    Scores of single features take a copy of the first before the last original.
    """
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((100, 5))
    originals = np.linalg.qr(Z - Z.mean(axis=0))[0]
    noise = 0.02 * rng.standard_normal((2, 100, 5))
    X = np.hstack([originals, *(originals + noise), 0.1 * rng.standard_normal((100, 10))])
    Y = originals * [5.0, 4.0, 3.0, 2.0, 1.0]
    selector = MRSF(5, response=Y).fit(X)
    np.testing.assert_array_equal(selector.selected_, range(5))
    alone = np.argsort(-np.linalg.norm(unit(X).T @ Y, axis=1))
    assert max(alone[:5] % 5) < 4


# --- responses -------------------------------------------------------------------------------


def test_automatic_response():
    X, y = load_iris(return_X_y=True)
    by_class = MRSF(2).fit(X, y)
    np.testing.assert_array_equal(by_class.coef_, MRSF(2, response="lda").fit(X, y).coef_)
    np.testing.assert_array_equal(by_class.classes_, [0, 1, 2])
    names = np.array(["x", "y", "z"])[y]
    np.testing.assert_array_equal(MRSF(2).fit(X, names).coef_, by_class.coef_)
    alone = MRSF(2).fit(X)
    np.testing.assert_array_equal(alone.coef_, MRSF(2, response="spectral").fit(X).coef_)
    values = np.random.default_rng(0).standard_normal((150, 2))
    for Y in (values, values[:, 0]):
        ours, given = MRSF(2).fit(X, Y), MRSF(2, response=Y).fit(X)
        np.testing.assert_array_equal(ours.coef_, given.coef_)
    # Labels are not looked at where the response is given.
    np.testing.assert_array_equal(
        MRSF(2, response=values).fit(X, y).coef_, MRSF(2).fit(X, values).coef_
    )


def test_a_given_response_is_centred_with_the_features():
    X, _ = labelled(3)
    Y = np.random.default_rng(3).standard_normal((40, 2)) + 100.0
    fitted = MRSF(11, response=Y).fit(X)
    prediction = X @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(prediction.mean(axis=0), Y.mean(axis=0))
    moved = MRSF(11, response=Y - 100.0).fit(X + 7.0)
    np.testing.assert_allclose(moved.coef_, fitted.coef_, rtol=1e-6)


def test_features_as_they_are():
    X, _ = labelled(4)
    Y = np.random.default_rng(4).standard_normal((40, 2))
    fitted = MRSF(6, response=Y, scaling="none").fit(X)
    np.testing.assert_array_equal(fitted.intercept_, 0.0)
    assert subgradient_error(fitted.coef_, X.T @ (X @ fitted.coef_ - Y), fitted.alpha_) < 1e-8
    assert fitted.path_.alpha[0] == pytest.approx(np.linalg.norm(X.T @ Y, axis=1).max())


@pytest.mark.parametrize("criterion", ["phi1", "phi2", "phi3", "fisher", "laplacian"])
def test_any_score_in_its_common_form(criterion):
    X, y = labelled(5)
    form = common_form(criterion, X, y, n_clusters=4)
    fitted = MRSF(6, response=form, n_components=40).fit(X)
    assert len(fitted.selected_) == 6 and fitted.kkt_ < 1e-8
    # The first is the best by the score alone, where the similarity has no negative part.
    values, vectors = np.linalg.eigh(form.similarity.toarray())
    positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
    scores = np.einsum("ij,ij->j", form.features, positive @ form.features)
    assert fitted.selected_[0] == np.argmax(scores)


# --- presets ---------------------------------------------------------------------------------


def test_sparse_discriminant_analysis_tends_to_the_dense_one():
    X, y = load_wine(return_X_y=True)
    preset = MRSF.sparse_lda(13).fit(X, y)
    assert preset.get_params()["response"] == "lda"
    out = preset.transform(X)
    assert out.shape == (178, 3)
    assert list(preset.get_feature_names_out()) == ["mrsf0", "mrsf1", "mrsf2"]
    dense = LinearRegression().fit(X, lda_response(y)).predict(X)
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(out.T, dense.T, strict=True)]
    assert min(correlations) > 0.95
    few = MRSF.sparse_lda(4).fit(X, y)
    assert LinearDiscriminantAnalysis().fit(few.transform(X)[:, :2], y).score(
        few.transform(X)[:, :2], y
    ) > 0.9  # fmt: skip


def test_sparse_svm_separates():
    X, y = load_wine(return_X_y=True)
    values = MRSF.sparse_svm(6).fit(X, y).transform(X)
    assert np.mean(values.argmax(axis=1) == y) > 0.95


def test_sparse_pca():
    X = scale(load_wine().data)
    preset = MRSF.sparse_pca(5, n_components=2).fit(X)
    Y = pca_response(ScaledColumns.plain(X / np.sqrt(len(X))), 2)
    out = preset.transform(X)
    assert out.shape == Y.shape
    assert np.count_nonzero(np.linalg.norm(preset.coef_, axis=1)) == 5
    for a, b in zip(out.T, Y.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) > 0.8
    # All features: the components themselves, but for the penalty.
    everything = MRSF.sparse_pca(13, n_components=2).fit(X)
    for a, b in zip(everything.transform(X).T, Y.T, strict=True):
        assert abs(np.corrcoef(a, b)[0, 1]) > 0.97


def test_extracted_features_of_new_samples():
    X, y = labelled(6)
    fitted = MRSF(4, output="components").fit(X, y)
    new = np.random.default_rng(6).standard_normal((5, 12))
    expected = new @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-9)
    np.testing.assert_allclose(fitted.transform(sp.csr_matrix(new)), expected, rtol=1e-9)
    assert fitted.set_output(transform="pandas").transform(new).columns[0] == "mrsf0"
    with pytest.raises(ValueError, match="cannot be undone"):
        fitted.inverse_transform(expected)
    columns = MRSF(4).fit(X, y)
    np.testing.assert_array_equal(columns.transform(new), new[:, np.sort(columns.selected_)])
    assert columns.inverse_transform(columns.transform(new)).shape == new.shape


# --- data of all kinds -------------------------------------------------------------------------


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, lambda X: X.astype(np.float32)])
def test_other_kinds_of_matrices(form):
    X, y = labelled(7)
    X = np.round(scale(X), 1) * (np.abs(scale(X)) > 0.5)
    X = X.astype(np.float32).astype(np.float64)
    dense = MRSF(6).fit(X, y)
    other = MRSF(6).fit(form(X), y)
    np.testing.assert_array_equal(dense.selected_, other.selected_)
    np.testing.assert_allclose(dense.coef_, other.coef_, atol=1e-9)
    np.testing.assert_allclose(dense.intercept_, other.intercept_, atol=1e-9)


@pytest.mark.parametrize("power", [-150, 150])
def test_scales_do_not_matter(power):
    X, y = labelled(8)
    plain = MRSF(5).fit(X, y)
    scaled = MRSF(5).fit(X * 10.0**power, y)
    np.testing.assert_array_equal(plain.selected_, scaled.selected_)
    np.testing.assert_allclose(plain.scores_, scaled.scores_, rtol=1e-8)
    np.testing.assert_allclose(scaled.coef_ * 10.0**power, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(scaled.intercept_, plain.intercept_, rtol=1e-7)
    Y = np.random.default_rng(8).standard_normal(40)
    plain, scaled = (MRSF(5, scaling="none").fit(X, Z) for Z in (Y, Y * 10.0**power))
    np.testing.assert_allclose(scaled.coef_ / 10.0**power, plain.coef_, rtol=1e-7)
    scaled = MRSF(5, scaling="none").fit(X * 10.0**power, Y)
    np.testing.assert_allclose(scaled.coef_ * 10.0**power, plain.coef_, rtol=1e-7)
    assert scaled.alpha_ == pytest.approx(plain.alpha_ * 10.0**power)


def test_features_far_from_zero():
    X, y = labelled(9)
    X = np.round(scale(X), 3)
    plain, far = MRSF(6).fit(X, y), MRSF(6).fit(X + 2.0**27, y)
    np.testing.assert_array_equal(plain.selected_, far.selected_)
    assert far.kkt_ < 1e-8


def test_fewer_features_than_asked_for():
    X, y = labelled(10, 12, 4)
    X = np.hstack([X, X[:, :2], np.ones((12, 2))])
    with pytest.warns(UserWarning, match="selected 4 of 8 features"):
        fitted = MRSF(8).fit(X, y)
    assert sorted(fitted.selected_) == [0, 1, 2, 3]
    assert set(fitted.ranking_[-2:]) == {6, 7}
    with pytest.warns(UserWarning, match="selected 1 of 2 features: 0 enter"):
        nothing = MRSF(2, response=np.array([1.0, 1.0, -1.0, -1.0])).fit(
            np.array([[1.0, 1.0, 2.0], [-1.0, 2.0, 1.0], [1.0, 1.0, 2.0], [-1.0, 2.0, 1.0]])
        )
    assert len(nothing.selected_) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"response": "ldaa"}, "response must be one of"),
        ({"response": np.ones((3, 2))}, "inconsistent numbers of samples"),
        ({"response": np.zeros(40)}, "zero everywhere"),
        ({"response": np.full(40, np.nan)}, "NaN"),
        ({"n_components": 0}, "n_components must be"),
        ({"scaling": "units"}, "scaling must be one of"),
        ({"output": "both"}, "output must be one of"),
        ({"response": "spectral", "similarity": "rfb"}, "similarity must be one of"),
        ({"n_features_to_select": 13}, "between 1 and the number of features"),
    ],
)
def test_bad_parameters(options, message):
    X, y = labelled(11)
    with pytest.raises(ValueError, match=message):
        MRSF(**options).fit(X, y)


@pytest.mark.parametrize("response", ["lda", "svm"])
def test_bad_labels(response):
    X, y = labelled(12)
    with pytest.raises(ValueError, match="requires y to be passed"):
        MRSF(response=response).fit(X)
    with pytest.raises(ValueError, match="needs class labels"):
        MRSF(response=response).fit(X, y + 0.5)
    with pytest.raises(ValueError, match="two classes"):
        MRSF(response=response).fit(X, np.zeros(40, dtype=int))


def test_a_common_form_has_no_features_of_new_samples():
    X, y = labelled(13)
    with pytest.raises(ValueError, match="training samples only"):
        MRSF(response=common_form("fisher", X, y), output="components").fit(X)


@pytest.mark.parametrize("response", ["lda", "pca"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_number_of_threads_changes_nothing(response, form, monkeypatch):
    """Blocks of a few columns, shared out among threads, against all columns at once."""
    X, y = labelled(3, 50, 90)
    expected = MRSF(12, response=response, n_components=4).fit(form(X), y)
    monkeypatch.setattr(_features, "_BLOCK", 0)
    monkeypatch.setattr(_features, "_LEAST_COLUMNS", 7)
    monkeypatch.setattr(_l21_path, "_ROWS", 16)
    for n_jobs in (1, 2, 4):
        with single_threaded_blas():
            found = MRSF(12, response=response, n_components=4, n_jobs=n_jobs).fit(form(X), y)
        np.testing.assert_array_equal(found.selected_, expected.selected_)
        scale = np.abs(expected.coef_).max()
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-9 * scale)
        if n_jobs == 1:
            serial = found
        np.testing.assert_array_equal(found.coef_, serial.coef_)
        np.testing.assert_array_equal(found.path_.alpha, serial.path_.alpha)
