"""Cleaning: the guarantee on every row, the algorithms as oracles, invariances, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from columnist.privacy import NullSpaceCleaner, attack, utility_error
from tests.privacy.textbook import (
    algorithm_1,
    algorithm_2,
    least_confidential,
    printed_algorithm_2,
)

seeds = st.integers(0, 2**32 - 1)
utilities = st.sampled_from([0.0, 1e-6, 0.01, 1.0, 30.0, 1e9])


def problem(seed, n_outputs=None, n_secrets=None, n_features=6, n_rows=11):
    """Rows, coefficients of a predictor and of secrets; small integers have many ties."""
    rng = np.random.default_rng(seed)
    n_outputs = n_outputs or rng.integers(1, 6)
    n_secrets = n_secrets or rng.integers(1, 9)
    draw = rng.standard_normal if seed % 2 else lambda size: rng.integers(-2, 3, size) * 1.0
    return draw((n_rows, n_features)), draw((n_outputs, n_features)), draw((n_secrets, n_features))


def clean(X, A, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing to remove, in some of the random problems
        return NullSpaceCleaner(A, **options).fit(X).transform(X)


def hidden_within_reach(X, A, C, **options):
    """Whether rows need not be moved too far to hide the secrets."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        NullSpaceCleaner(A, confidential=C, **options).fit(X)
    return not caught


# The guarantee (theorems 1 and 3)


@given(seed=seeds, utility=utilities, gain=st.sampled_from(["distance", "count"]))
def test_outputs_of_every_row_stay_within_the_tolerance(seed, utility, gain):
    X, A, C = problem(seed)
    rounding = (1e-13 * np.linalg.norm(A) * (1.0 + np.linalg.norm(X))) ** 2
    for options in ({"gain": gain}, {"confidential": C}):
        cleaned = clean(X, A, utility=utility, **options)
        assert np.all(utility_error(X, cleaned, A) <= max(utility, rounding * 1e3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("secret", [False, True])
def test_tolerance_is_spent_but_never_exceeded_on_real_data(secret, dtype):
    X, y = load_digits(return_X_y=True)
    X = X.astype(dtype)
    model = Ridge().fit(X, np.eye(10)[y])
    confidential = model.coef_[3:5] if secret else None  # only the tolerance can hide these
    cleaner = NullSpaceCleaner(model, utility=0.01, confidential=confidential).fit(X)
    cleaned = cleaner.transform(X)
    assert cleaned.dtype == dtype
    errors = utility_error(X.astype(float), cleaned.astype(float), model)
    assert errors.max() <= 0.01
    # Rows whose own outputs are smaller than the tolerance cannot spend all of it.
    assert np.median(errors) > 0.0099


@pytest.mark.parametrize("power", [-150, -60, 60, 150])
def test_scales(power):
    X, A, C = problem(7, 3, 4)
    for confidential in (None, C):
        plain = clean(X, A, utility=0.5, confidential=confidential)
        large = clean(
            X * 10.0**power, A, utility=0.5 * 10.0 ** (2 * power), confidential=confidential
        )
        np.testing.assert_allclose(large * 10.0**-power, plain, rtol=1e-6)
        weights = clean(
            X, A * 10.0**power, utility=0.5 * 10.0 ** (2 * power), confidential=confidential
        )
        np.testing.assert_allclose(weights, plain, rtol=1e-6)


# The algorithms


@given(seed=seeds, utility=utilities, gain=st.sampled_from(["distance", "count"]))
def test_first_algorithm_is_that_of_the_full_eigenproblem(seed, utility, gain):
    X, A, _ = problem(2 * (seed // 2) + 1, n_outputs=3)  # no repeated eigenvalues
    cleaned = clean(X, A, utility=utility, gain=gain, centering="none")
    expected = [algorithm_1(x, A, utility, gain) for x in X]
    np.testing.assert_allclose(cleaned, expected, atol=1e-5)


@given(seed=seeds, utility=utilities, n_secrets=st.integers(1, 8))
def test_second_algorithm_is_that_of_the_dual_basis(seed, utility, n_secrets):
    X, A, C = problem(2 * (seed // 2) + 1, n_outputs=3, n_secrets=n_secrets)
    assume(hidden_within_reach(X, A, C, utility=utility, centering="none"))
    cleaned = clean(X, A, utility=utility, confidential=C, centering="none")
    expected = [algorithm_2(x, A, C, utility) for x in X]
    outputs = (cleaned - expected) @ np.vstack([A, C]).T
    np.testing.assert_allclose(outputs, 0.0, atol=1e-5 * (1.0 + np.abs(C @ X.T).max()))


@given(seed=seeds, n_outputs=st.integers(1, 5), n_secrets=st.integers(1, 8))
def test_without_tolerance_the_secret_is_as_near_its_mean_as_can_be(seed, n_outputs, n_secrets):
    X, A, C = problem(2 * (seed // 2) + 1, n_outputs, n_secrets)
    assume(hidden_within_reach(X, A, C))
    cleaned = clean(X, A, confidential=C)
    for x, z in zip(X - X.mean(axis=0), cleaned - X.mean(axis=0), strict=True):
        scale = np.linalg.norm(C) * np.linalg.norm(x)
        assert np.linalg.norm(C @ z) <= least_confidential(x, A, C) + 1e-7 * scale


@given(seed=seeds, utility=st.sampled_from([0.0, 0.01, 1.0, 30.0]))
def test_what_the_second_theorem_gives(seed, utility):
    # Over rotations of an adversary's coefficients the expected error is in proportion to the
    # squared distance between row and cleaned row. The default maximises that; the print does not.
    X, A, _ = problem(2 * (seed // 2) + 1, n_outputs=4)
    moved = {
        gain: np.sum((X - clean(X, A, utility=utility, gain=gain)) ** 2, axis=1)
        for gain in ("distance", "count")
    }
    assert np.all(moved["distance"] >= moved["count"] * (1 - 1e-9))
    single = [clean(X, A[:1], utility=utility, gain=gain) for gain in ("distance", "count")]
    np.testing.assert_allclose(*single, atol=1e-9)


def test_expected_error_under_rotations():
    # In the plane an average over equal angles is exact.
    rng = np.random.default_rng(0)
    C, x, z = rng.standard_normal((3, 2)), rng.standard_normal(2), rng.standard_normal(2)
    angles = np.arange(8) * np.pi / 4
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    mean = np.mean([np.sum((C @ turn @ (x - z)) ** 2) for turn in turns])
    np.testing.assert_allclose(mean, np.sum(C**2) / 2 * np.sum((x - z) ** 2))


def test_first_lemma_does_not_hold():
    # Rotating row and adversary together: the expectation depends on whether i = j.
    rng = np.random.default_rng(0)
    C, x = rng.standard_normal((3, 2)), rng.standard_normal(2)
    turns = []
    for angle in np.arange(16) * np.pi / 8:
        c, s = np.cos(angle), np.sin(angle)
        turns += [np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]])]
    mean = np.mean(
        [np.outer(Q @ x, Q @ x) * (Q @ C.T @ C @ Q.T) for Q in turns], axis=0
    )  # entry (i, j) is x'v_i v_i'B v_j v_j'x
    s, T, xx, n = x @ C.T @ C @ x, np.sum(C**2), x @ x, 2
    np.testing.assert_allclose(np.diag(mean), (xx * T + 2 * s) / (n * (n + 2)))
    np.testing.assert_allclose(mean[0, 1], (n * s - xx * T) / (n * (n - 1) * (n + 2)))
    assert mean[0, 0] > 2 * mean[0, 1]


def test_printed_second_algorithm_depends_on_the_scale_of_its_vectors():
    X, A, C = problem(1, n_outputs=2, n_secrets=8)
    x = X[0]
    errors = [
        np.sum((C @ (x - printed_algorithm_2(x, A, C, 0.1, scale=scale))) ** 2)
        for scale in (1.0, 10.0)
    ]
    assert errors[1] > 2.0 * errors[0]


@given(seed=seeds, utility=st.sampled_from([1e-6, 0.01, 1.0, 30.0]))
def test_printed_second_algorithm_to_the_letter(seed, utility):
    X, A, C = problem(2 * (seed // 2) + 1, n_outputs=2, n_secrets=8)  # nothing is singular
    options = {"confidential": C, "utility": utility, "centering": "none", "gain": "printed"}
    cleaned = clean(X, A, **options)
    expected = np.array([printed_algorithm_2(x, A, C, utility) for x in X])
    kept = np.sum(((X - expected) @ A.T) ** 2, axis=1) <= 0.999 * utility
    spent = np.sum(((X - cleaned) @ A.T) ** 2, axis=1)
    assert (spent <= utility).all()
    size = 1.0 + np.abs(expected).max(axis=1)
    assert (np.abs(cleaned - expected).max(axis=1) <= 1e-6 * size)[kept].all()


def test_printed_second_algorithm_keeps_the_tolerance_where_its_problem_is_singular():
    X, A, C = problem(3, n_outputs=3, n_secrets=2, n_features=9)
    cleaned = clean(X, A, confidential=C, utility=0.1, gain="printed")
    assert (utility_error(X, cleaned, A) <= 0.1).all() and not np.allclose(cleaned, X)
    with pytest.raises(ValueError, match="needs confidential"):
        NullSpaceCleaner(A, gain="printed").fit(X)


@given(seed=seeds)
def test_repeated_singular_values_leave_no_choice(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 6))
    U = np.linalg.qr(rng.standard_normal((6, 4)))[0]
    Q = scipy.linalg.block_diag(np.eye(1), np.linalg.qr(rng.standard_normal((3, 3)))[0])
    strengths = np.array([[3.0], [1.0], [1.0], [1.0]])
    one, other = strengths * U.T, Q @ (strengths * U.T)  # the same A'A
    C = rng.standard_normal((2, 6))
    for options in ({}, {"gain": "count"}, {"confidential": C}, {"confidential": one}):
        first, second = (clean(X, A, utility=0.7, **options) for A in (one, other))
        np.testing.assert_allclose(first, second, atol=1e-6)


def test_scale_of_the_secret_does_not_matter():
    X, A, C = problem(3, 3, 4)
    plain = clean(X, A, utility=0.3, confidential=C)
    np.testing.assert_allclose(clean(X, A, utility=0.3, confidential=1e6 * C), plain, atol=1e-9)


def test_rows_within_the_tolerance_become_the_mean():
    X, A, _ = problem(5, 2)
    np.testing.assert_allclose(clean(X, A, utility=1e9), np.tile(X.mean(axis=0), (len(X), 1)))
    np.testing.assert_array_equal(clean(X, A, utility=1e9, centering="none"), 0.0 * X)


def test_nothing_of_the_rest_survives_in_the_last_digits():
    # Two rows that differ by a vector of the null space are cleaned to the same row.
    A = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    X = np.random.default_rng(0).integers(-50, 50, (30, 4)).astype(float)
    other = X + 1024.0 * np.array([1.0, -1.0, 2.0, 2.0])
    cleaner = NullSpaceCleaner(A, centering="none").fit(X)
    first, second = cleaner.transform(X), cleaner.transform(other)
    np.testing.assert_allclose(first, second, atol=1e-10)
    numbers = np.c_[X @ A.T, np.ones(len(X))]
    left = first - numbers @ np.linalg.lstsq(numbers, first, rcond=None)[0]
    assert np.abs(left).max() < 1e-12


# What a predictor may be


def test_models_and_their_coefficients_agree():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    coef = pipeline[-1].coef_ / pipeline[0].scale_
    cleaned = NullSpaceCleaner(pipeline, utility=0.2).fit(X).transform(X)
    np.testing.assert_allclose(
        cleaned, NullSpaceCleaner(coef, utility=0.2).fit(X).transform(X), rtol=1e-7
    )
    change = pipeline.decision_function(X) - pipeline.decision_function(cleaned)
    assert np.sum(change**2, axis=1).max() <= 0.2


def test_predictions_survive_at_no_tolerance():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    cleaned = NullSpaceCleaner(model).fit(X).transform(X)
    np.testing.assert_array_equal(model.predict(cleaned), model.predict(X))
    network = MLPRegressor(hidden_layer_sizes=4, max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(X / 100.0, y * 1.0)
    cleaned = NullSpaceCleaner(network).fit(X).transform(X / 100.0)
    np.testing.assert_allclose(network.predict(cleaned), network.predict(X / 100.0))


def test_unfitted_and_default_predictors_are_fitted():
    X, y = load_wine(return_X_y=True)
    cleaner = NullSpaceCleaner(Ridge(alpha=2.0)).fit(X, y * 1.0)
    np.testing.assert_array_equal(cleaner.coef_[0], Ridge(alpha=2.0).fit(X, y * 1.0).coef_)
    assert not hasattr(cleaner.predictor, "coef_")
    default = NullSpaceCleaner().fit(X, y)
    np.testing.assert_allclose(default.coef_, LinearRegression().fit(X, np.eye(3)[y]).coef_)
    assert default.n_removed_ == 11 and default.components_.shape == (2, 13)


def test_a_frozen_predictor_survives_a_clone():
    X, y = load_wine(return_X_y=True)
    model = Ridge().fit(X, y * 1.0)
    cleaner = clone(NullSpaceCleaner(FrozenEstimator(model), utility=0.1))
    np.testing.assert_array_equal(cleaner.fit(X).coef_[0], model.coef_)
    pipeline = make_pipeline(cleaner, LinearRegression())
    search = GridSearchCV(pipeline, {"nullspacecleaner__utility": [0.0, 0.1]}, cv=3)
    assert search.fit(X, y * 1.0).best_params_


def test_labels_are_learned_from():
    X, y = load_wine(return_X_y=True)
    secret = X[:, 3] + X[:, 4]
    learned = NullSpaceCleaner(confidential=secret).fit(X, y)
    np.testing.assert_allclose(
        learned.confidential_coef_[0], np.eye(13)[3] + np.eye(13)[4], atol=1e-8
    )
    classes = NullSpaceCleaner(np.ones(13), confidential=y.tolist()).fit(X)
    assert classes.confidential_coef_.shape == (3, 13)
    both = NullSpaceCleaner(np.ones(13), confidential=np.c_[secret, y * 1.0]).fit(X)
    assert both.confidential_coef_.shape == (2, 13)
    model = NullSpaceCleaner(np.ones(13), confidential=LinearRegression().fit(X, secret)).fit(X)
    np.testing.assert_allclose(model.confidential_coef_, learned.confidential_coef_, atol=1e-8)


def test_wide_rows_need_no_square_matrix():
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((20, 30_000)), rng.standard_normal((3, 30_000))
    cleaner = NullSpaceCleaner(A, utility=1.0, confidential=X[:, 0] > 0.0).fit(X)
    assert utility_error(X, cleaner.transform(X), A).max() <= 1.0


def test_a_predictor_of_nothing_leaves_the_mean():
    X, _, C = problem(1)
    for options in ({}, {"utility": 1.0}, {"confidential": C}):
        cleaned = clean(X, np.zeros((2, 6)), **options)
        np.testing.assert_allclose(cleaned, np.tile(X.mean(axis=0), (len(X), 1)))


# Bad input

X4 = np.random.default_rng(0).standard_normal((9, 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"utility": -1.0}, "utility must be a number >= 0"),
        ({"utility": np.nan}, "utility"),
        ({"utility": np.inf}, "utility"),
        ({"utility": "much"}, "utility"),
        ({"centering": "median"}, "centering must be one of"),
        ({"gain": "most"}, "gain must be one of"),
        ({"predictor": np.ones((1, 5))}, "coefficients for 5 features, but X has 4"),
        ({"predictor": [[1.0, np.nan, 0.0, 0.0]]}, "NaN"),
        ({"predictor": "ridge"}, "must be coefficients"),
        ({"predictor": np.ones((1, 2, 4))}, "dim 3"),
        ({"predictor": SVC().fit(X4, X4[:, 0] > 0)}, "does not begin with a linear map"),
        ({"confidential": np.ones((1, 5))}, "must hold labels of the 9 rows"),
        ({"confidential": np.ones(8)}, "must hold labels of the 9 rows"),
        ({"confidential": [[1.0, np.inf, 0.0, 0.0]]}, "infinity"),
        ({"confidential": Ridge()}, "confidential is not fitted"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        NullSpaceCleaner(**({"predictor": np.ones((1, 4))} | options)).fit(X4)


def test_bad_data():
    with pytest.raises(ValueError, match="requires y to be passed"):
        NullSpaceCleaner().fit(X4)
    with pytest.raises(ValueError, match="unfitted predictor requires y"):
        NullSpaceCleaner(Ridge()).fit(X4)
    with pytest.raises(ValueError, match="NaN"):
        NullSpaceCleaner(np.ones(4)).fit(np.where(X4 > 1.0, np.nan, X4))
    with pytest.raises(ValueError, match="fits labels of the 4 rows as well as"):
        NullSpaceCleaner(np.ones(4), confidential=X4[:4]).fit(X4[:4])
    with pytest.raises(ValueError, match="expecting 4 features"):
        NullSpaceCleaner(np.ones(4)).fit(X4).transform(X4[:, :3])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        NullSpaceCleaner(np.ones(4)).fit(scipy.sparse.csr_array(X4))
    with pytest.raises(NotFittedError):
        NullSpaceCleaner(np.ones(4)).transform(X4)


def test_columns_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X4, columns=list("abcd"))
    model = Ridge().fit(frame, X4[:, 0])
    NullSpaceCleaner(model).fit(frame)
    with pytest.raises(ValueError, match="in another order"):
        NullSpaceCleaner(model).fit(frame[list("bacd")])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({name: X4[:, j] for j, name in enumerate("abcd")})
    pipeline = make_pipeline(StandardScaler(), Ridge())
    cleaner = NullSpaceCleaner(pipeline, utility=0.1).set_output(transform=library)
    cleaned = cleaner.fit(frame, X4[:, 0]).transform(frame)
    assert type(cleaned) is type(frame) and list(cleaned.columns) == list("abcd")
    assert cleaner.predictor_.feature_names_in_.tolist() == list("abcd")
    assert attack(cleaner, frame, X4[:, 1], cv=2, random_state=0).n_folds == 2
    assert cleaner.report(frame, X4[:, 1]).n_numbers_left == 1


def test_a_cleaner_that_cannot_clean_says_so():
    cleaner = NullSpaceCleaner(np.eye(4)).fit(X4)
    with pytest.warns(UserWarning, match="nothing can be removed"):
        np.testing.assert_allclose(cleaner.transform(X4), X4)
