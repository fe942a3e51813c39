"""SubsetRegressor against enumeration of all subsets."""

from __future__ import annotations

import pickle
import warnings

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

from columnist import SubsetRegressor
from columnist.selection import SubsetPath, _wide
from tests.examples import examples
from tests.oracles.best_subset import best_of_size, information, subset_errors
from tests.strategies import KINDS, random_matrix

# Rank deficiency is normal here, and so are more columns than samples.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*explain everything:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*no useful lower bound:UserWarning"),
]


@pytest.fixture(params=["decomposed", "wide"])
def path(request, monkeypatch):
    """Both kinds of nodes, however few columns there are."""
    if request.param == "wide":
        monkeypatch.setattr(_wide, "_MANY", 0)
    return request.param


def problem(seed: int, *, tall: bool = False):
    """A small problem of some kind: columns, one or several targets, a ridge, an intercept."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    n = int(rng.integers(p + 3, 20)) if tall else int(rng.integers(3, 14))
    X = random_matrix(str(rng.choice(KINDS)), n, p, rng)
    trouble = rng.random()
    if trouble < 0.2:  # correlated
        X = X + rng.uniform(0.5, 3.0) * rng.standard_normal((n, 1))
    elif trouble < 0.4:  # a constant
        X[:, int(rng.integers(p))] = float(rng.integers(-2, 3))
    elif trouble < 0.5:  # far from zero
        X = X + 100.0
    q = int(rng.choice([1, 1, 3]))
    Y = X @ (rng.standard_normal((p, q)) * (rng.random((p, 1)) < 0.5))
    Y = Y + rng.standard_normal((n, q)) * rng.choice([0.1, 1.0])
    options = {"alpha": float(rng.choice([0.0, 0.0, 1e-3, 1.0, 50.0]))}
    options["fit_intercept"] = bool(rng.random() < 0.7)
    return X, Y[:, 0] if q == 1 else Y, options, rng


def slack(y) -> float:
    """What rounding of entries far from zero may do to an error."""
    return 1e-10 * float(np.square(y).sum())


def check(model, errors, tol: float) -> None:
    """Selection, pool and certificate agree with the enumeration."""
    best = errors[0][0]
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert model.error_ == pytest.approx(best, rel=1e-8, abs=tol)
    assert certificate.error == pytest.approx(model.error_)
    assert best - tol - 1e-8 * best <= certificate.lower_bound + 2 * tol
    assert certificate.lower_bound <= best * (1 + 1e-8) + tol
    assert certificate.selection == tuple(model.selected_)
    known = {subset: error for error, subset in errors}
    assert known[tuple(model.selected_)] == pytest.approx(best, rel=1e-8, abs=tol)


# --- the best set of a size ------------------------------------------------------------


def check_one(seed: int) -> None:
    X, y, options, rng = problem(seed)
    k = int(rng.integers(1, X.shape[1] + 1))
    n_solutions = int(rng.choice([1, 1, 3]))
    model = SubsetRegressor(k, n_solutions=n_solutions, time_limit=None, **options).fit(X, y)
    errors = subset_errors(X, y, k, options["alpha"], center=options["fit_intercept"])
    tol = slack(y)
    assert len(model.selected_) == k
    check(model, errors, tol)
    found = [solution.error for solution in model.solutions_]
    assert len(set(model.solutions_)) == len(found) == min(n_solutions, len(errors))
    expected = [error for error, _ in errors[: len(found)]]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=tol)


def test_best_subsets(path):
    for seed in range(examples(1000)):
        check_one(seed)


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1), st.data())
def test_include_and_exclude(seed, data):
    X, y, options, _ = problem(seed)
    p = X.shape[1]
    roles = data.draw(st.lists(st.sampled_from("iexx"), min_size=p, max_size=p), label="roles")
    include = [j for j, role in enumerate(roles) if role == "i"]
    exclude = [j for j, role in enumerate(roles) if role == "e"]
    assume(len(exclude) < p)
    k = data.draw(st.integers(max(1, len(include)), p - len(exclude)), label="k")
    model = SubsetRegressor(k, include=include, exclude=exclude, time_limit=None, **options)
    chosen = set(model.fit(X, y).selected_.tolist())
    assert len(chosen) == k and set(include) <= chosen and not chosen & set(exclude)
    center = options["fit_intercept"]
    errors = subset_errors(
        X, y, k, options["alpha"], center=center, include=include, exclude=exclude
    )
    check(model, errors, slack(y))


def test_every_stopping_point(path):
    for seed in range(examples(60)):
        X, y, options, rng = problem(seed, tall=True)
        k = int(rng.integers(1, X.shape[1] + 1))
        best = best_of_size(X, y, k, options["alpha"], center=options["fit_intercept"])
        tol = slack(y) + 1e-9 * best
        bounds = []
        for limit in range(1, 9):
            model = SubsetRegressor(k, max_nodes=limit, time_limit=None, **options).fit(X, y)
            certificate = model.certificate_
            assert certificate.lower_bound <= best + tol, seed
            assert best <= certificate.error + tol, seed
            bounds.append(certificate.lower_bound)
        assert np.all(np.diff(bounds) >= -tol), seed


def test_coefficients_are_those_of_the_selected_columns(path):
    for seed in range(examples(200)):
        X, y, options, rng = problem(seed, tall=True)
        X = X + 1e-3 * rng.standard_normal(X.shape)  # full rank, so that coefficients are unique
        k = int(rng.integers(1, X.shape[1] + 1))
        model = SubsetRegressor(k, time_limit=None, **options).fit(X, y)
        alpha, center = options["alpha"], options["fit_intercept"]
        plain = Ridge(alpha, fit_intercept=center) if alpha else LinearRegression(
            fit_intercept=center
        )  # fmt: skip
        plain.fit(X[:, model.selected_], y)
        expected = np.atleast_2d(plain.predict(X[:, model.selected_]).T).T
        assert model.predict(X).shape == np.shape(y)
        assert np.shape(model.coef_) == (*np.shape(y)[1:], X.shape[1])
        size = np.abs(np.asarray(y)).max()
        np.testing.assert_allclose(
            np.atleast_2d(model.predict(X).T).T, expected, rtol=1e-6, atol=1e-7 * size
        )
        dropped = np.setdiff1d(np.arange(X.shape[1]), model.selected_)
        assert not np.any(np.atleast_2d(model.coef_)[:, dropped])
        left = np.asarray(y) - model.predict(X)
        error = np.square(left).sum() + alpha * np.square(model.coef_).sum()
        assert model.error_ == pytest.approx(error, rel=1e-6, abs=slack(y))


# --- sizes -------------------------------------------------------------------------------


def sized(seed: int):
    """A problem with noise and independent columns, so that no criterion is minus infinity."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    n = int(rng.integers(p + 4, 40))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    q = int(rng.choice([1, 1, 2]))
    Y = X @ (rng.standard_normal((p, q)) * (rng.random((p, 1)) < 0.5))
    return X, Y + rng.standard_normal((n, q)) * rng.choice([0.1, 1.0, 5.0]), rng


def test_sizes_by_criteria_over_all_subsets(path):
    for seed in range(examples(400)):
        X, Y, rng = sized(seed)
        (n, p), q = X.shape, Y.shape[1]
        rule = str(rng.choice(["aic", "bic", "ebic"]))
        model = SubsetRegressor(rule, time_limit=None, fit_intercept=bool(seed % 3)).fit(X, Y)
        center = bool(seed % 3)
        optima = {k: best_of_size(X, Y, k, center=center) for k in range(1, min(p, n - 2) + 1)}
        values = {k: information(rule, error, k, n, p, q) for k, error in optima.items()}
        path = model.path_
        assert path.rule == rule and path.proven
        step = path[path.chosen]
        assert step.score == pytest.approx(min(values.values()), abs=1e-6), seed
        assert model.certificate_.is_optimal
        np.testing.assert_array_equal(step.selection, model.selected_)
        for size, here in zip(path.sizes, path, strict=True):
            certificate = here.certificate
            assert certificate.lower_bound <= optima[size] * (1 + 1e-8), seed
            assert optima[size] <= certificate.error * (1 + 1e-8), seed
            assert here.score_bound <= values[size] + 1e-6 and values[size] <= here.score + 1e-6
        # Sizes that the path leaves out cannot be better.
        assert {k for k, v in values.items() if v < step.score - 1e-6} <= set(path.sizes)


def test_the_default_is_bic_and_with_a_ridge_cross_validation():
    X, Y, _ = sized(3)
    given, default = SubsetRegressor("bic").fit(X, Y), SubsetRegressor().fit(X, Y)
    assert default.path_.rule == "bic"
    assert SubsetRegressor(alpha=0.5).fit(X, Y).path_.rule == "cv"
    np.testing.assert_array_equal(default.selected_, given.selected_)


def test_sizes_respect_include_exclude_and_max_features():
    X, Y, _ = sized(12)
    p = X.shape[1]
    model = SubsetRegressor("aic", include=[0, 1], exclude=[p - 1], max_features=2).fit(X, Y)
    np.testing.assert_array_equal(model.selected_, [0, 1])
    np.testing.assert_array_equal(model.path_.sizes, [2])


def test_cross_validation():
    for seed in range(examples(30)):
        X, Y, _ = sized(100 + seed)
        folds = KFold(3, shuffle=True, random_state=0)
        models = [SubsetRegressor("cv", cv=folds, time_limit=None).fit(X, Y) for _ in range(2)]
        first, path = models[0], models[0].path_
        np.testing.assert_array_equal(first.selected_, models[1].selected_)
        np.testing.assert_allclose(path.scores, models[1].path_.scores)
        assert path.rule == "cv" and not path.proven
        assert np.isnan([step.score_bound for step in path]).all()
        means = path.scores
        limit = means.min() + path[int(means.argmin())].score_error
        assert means[path.chosen] <= limit + 1e-12 * abs(limit)
        assert np.all(means[: path.chosen] > limit - 1e-12 * abs(limit))
        for size, step in zip(path.sizes, path, strict=True):
            best = best_of_size(X, Y, size)
            assert step.certificate.error == pytest.approx(best, rel=1e-8)
            assert step.certificate.lower_bound <= best * (1 + 1e-8)


def test_cross_validated_losses_are_those_of_the_training_rows():
    X, Y, _ = sized(7)
    y = Y[:, 0]
    model = SubsetRegressor("cv", cv=KFold(4), alpha=0.5, max_features=3, time_limit=None)
    model.fit(X, y)
    for size, step in zip(model.path_.sizes, model.path_, strict=True):
        losses = []
        for train, test in KFold(4).split(X):
            part = SubsetRegressor(int(size), alpha=0.5, time_limit=None).fit(X[train], y[train])
            losses.append(np.mean(np.square(y[test] - part.predict(X[test]))))
        assert step.score == pytest.approx(np.mean(losses), rel=1e-9)
        error = np.std(losses, ddof=1) / np.sqrt(len(losses))
        assert step.score_error == pytest.approx(error, rel=1e-6)


def test_an_exact_fit_has_no_criterion():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (20, 6)).astype(float)
    model = SubsetRegressor("bic", time_limit=None).fit(X, X[:, 2] - 2 * X[:, 4])
    assert {2, 4} <= set(model.selected_.tolist())
    assert model.error_ <= 1e-20 * np.square(X).sum()


def test_path_of_a_given_size():
    X, Y, _ = sized(5)
    model = SubsetRegressor(2).fit(X, Y)
    assert isinstance(model.path_, SubsetPath) and len(model.path_) == 1
    assert model.path_.rule is None and not model.path_.proven
    assert np.isnan(model.path_.scores).all()
    step = model.path_[0]
    np.testing.assert_allclose(step.coef.T, np.atleast_2d(model.coef_)[:, model.selected_])
    assert "<- chosen" in repr(model.path_)


# --- doors -------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "alpha"), [(2, 0.0), (2, 1.0), ("bic", 0.0), ("cv", 1.0)])
def test_every_kind_of_data_agrees(size, alpha, path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 6)) * (rng.random((60, 6)) < 0.5) + 0.0
    y = X[:, 1] - 2 * X[:, 4] + 0.5 * rng.standard_normal(60) + 3.0
    options = {"alpha": alpha, "time_limit": None}
    plain = SubsetRegressor(size, **options).fit(X, y)
    names = [f"x{i}" for i in range(6)]
    kinds = {
        "frame": (pd.DataFrame(X, columns=names), pd.Series(y)),
        "csr": (sp.csr_array(X), y),
        "csc": (sp.csc_array(X), y),
    }
    if size != "cv":
        kinds["dask"] = (da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20))
    for name, (data, target) in kinds.items():
        with dask.config.set(scheduler="synchronous"):
            model = SubsetRegressor(size, **options).fit(data, target)
            predicted = np.asarray(model.predict(data))
        np.testing.assert_array_equal(model.selected_, plain.selected_, err_msg=name)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(predicted, plain.predict(X), atol=1e-8, err_msg=name)
        assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-9)
        assert model.error_ == pytest.approx(plain.error_, rel=1e-8)
        assert model.certificate_.status == "optimal"


def test_cross_validation_of_collections():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    with dask.config.set(scheduler="synchronous"):
        try:
            model = SubsetRegressor("cv").fit(da.from_array(X, chunks=(20, -1)), y)
        except (ValueError, TypeError) as error:
            assert "cv" in str(error)
        else:
            np.testing.assert_array_equal(
                model.selected_, SubsetRegressor("cv").fit(X, y).selected_
            )


def test_names_reach_path_and_certificate():
    X, Y, _ = sized(12)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    model = SubsetRegressor("bic", include=["c0"]).fit(frame, Y)
    assert model.path_.feature_names == tuple(frame.columns)
    assert model.certificate_.names == tuple(model.get_feature_names_out())
    assert "c0" in model.certificate_.names


def test_prediction_has_the_shape_of_the_target():
    X, Y, _ = sized(4)
    y = Y[:, 0]
    assert SubsetRegressor(1).fit(X, y).predict(X).shape == y.shape
    assert SubsetRegressor(1).fit(X, y[:, None]).predict(X).shape == (len(y), 1)
    assert SubsetRegressor(1).fit(X, np.c_[y, y]).predict(X).shape == (len(y), 2)
    model = SubsetRegressor(1).fit(X, y)
    assert np.ndim(model.intercept_) == 0 and model.transform(X).shape == (len(y), 1)


def test_a_few_integers_are_numbers():
    X = np.random.default_rng(0).standard_normal((30, 4))
    y = np.repeat([0, 1, 5], 10)
    model = SubsetRegressor(2).fit(X, y)
    assert model.certificate_.target_kind == "numbers"
    assert model.error_ == pytest.approx(best_of_size(X, y, 2), rel=1e-9)


def test_pickling_and_grid_search():
    X, Y, _ = sized(6)
    model = SubsetRegressor("bic").fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict(X), model.predict(X))
    assert repr(again.path_) == repr(model.path_)
    grid = GridSearchCV(SubsetRegressor(1), {"n_features_to_select": [1, 2]}, cv=3).fit(X, Y)
    assert grid.best_params_["n_features_to_select"] in (1, 2)


def test_a_fraction_of_the_columns():
    X, Y, _ = sized(9)
    model = SubsetRegressor(0.5).fit(X, Y)
    assert len(model.selected_) == max(1, round(0.5 * X.shape[1]))


def test_scales_change_nothing(path):
    X, Y, _ = sized(13)
    plain = SubsetRegressor(2).fit(X, Y)
    for unit in (1e-150, 1e150):
        scaled = SubsetRegressor(2).fit(X * unit, Y / unit)
        np.testing.assert_array_equal(scaled.selected_, plain.selected_)
        np.testing.assert_allclose(scaled.coef_ * unit * unit, plain.coef_, rtol=1e-6)


def test_badly_scaled_and_nearly_dependent_columns(path):
    for seed in range(examples(60)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((25, 7)) * 10.0 ** rng.integers(-5, 6, 7)
        X[:, 5] = (
            X[:, 0]
            + 10.0 ** rng.integers(-8, -2) * X[:, 5] * np.abs(X[:, 0]).max() / np.abs(X[:, 5]).max()
        )
        y = (X / np.abs(X).max(axis=0)) @ rng.standard_normal(7) + 0.1 * rng.standard_normal(25)
        k = int(rng.integers(2, 6))
        model = SubsetRegressor(k, time_limit=None).fit(X, y)
        best = best_of_size(X, y, k)
        certificate = model.certificate_
        assert certificate.lower_bound <= best * (1 + 1e-8)
        if certificate.is_optimal:
            assert model.error_ == pytest.approx(best, rel=1e-6)


# --- what it refuses, and what it warns of ---------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_more_columns_than_samples_need_a_ridge():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 60)), rng.standard_normal(20)
    with pytest.warns(UserWarning, match="no useful lower bound exists without a ridge") as seen:
        model = SubsetRegressor(8, max_nodes=1, time_limit=None).fit(X, y)
    assert not model.certificate_.is_optimal
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SubsetRegressor(3, alpha=200.0, time_limit=None).fit(X, y).certificate_.is_optimal


@pytest.mark.parametrize("rule", ["aic", "bic", "ebic"])
def test_criteria_need_plain_residuals(rule):
    X, Y, _ = sized(0)
    with pytest.raises(ValueError, match="use alpha=0, 'cv', or a number of columns"):
        SubsetRegressor(rule, alpha=0.1).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_features_to_select": "mdl"}, "one of 'aic', 'bic', 'ebic', 'cv'"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": 99}, "n_features_to_select"),
        ({"n_features_to_select": 1.5}, "n_features_to_select"),
        ({"alpha": -1.0}, "alpha must be a number >= 0"),
        ({"fit_intercept": "yes"}, "fit_intercept"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"n_solutions": 0}, "n_solutions must be an integer >= 1"),
        ({"n_features_to_select": 1, "include": [0, 1]}, "include"),
        ({"include": [0], "exclude": [0]}, "include"),
    ],
)
def test_bad_options(options, words):
    X, Y, _ = sized(0)
    with pytest.raises(ValueError, match=words):
        SubsetRegressor(**options).fit(X, Y)


def test_a_target_is_needed():
    with pytest.raises(ValueError, match="requires y to be passed"):
        SubsetRegressor(1).fit(np.eye(4))


def test_too_few_samples_for_a_size():
    with pytest.raises(ValueError, match="No size can be chosen"):
        SubsetRegressor("bic", include=[0, 1, 2]).fit(np.eye(4), np.arange(4.0))


def test_callback_stops_and_log_prints(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20)), rng.standard_normal(60)
    model = SubsetRegressor(8, callback=lambda progress: True, verbose=True).fit(X, y)
    assert model.certificate_.lower_bound <= model.error_
    assert "Bound" in capsys.readouterr().out
