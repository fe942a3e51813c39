"""Multi-label forward classifiers against explicit least squares and explicit cross-validation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, StratifiedKFold

from columnist.criteria import Frobenius, Nuclear
from columnist.metrics import hamming_loss
from columnist.selection._multilabel import (
    MultiLabelForwardClassifier,
    MultiLabelForwardClassifierCV,
    optimal_thresholds,
)
from tests.steps import block_forward


def labelled(m=80, n=10, n_labels=4, seed=0):
    """Labels that depend on a few features, on one of them through its square."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    Z = np.column_stack([X[:, 1], X[:, 3] - X[:, 1], X[:, 6] ** 2 - 1.0, X[:, 3] + X[:, 7]])
    return X, (Z[:, :n_labels] + 0.5 * rng.standard_normal((m, n_labels)) > 0.4).astype(int)


@pytest.fixture(scope="module")
def data():
    return labelled()


def powers_of(X, degree):
    return np.hstack([X**j for j in range(1, degree + 1)])


def explicit_scores(X, Y, selected, degree, intercept, new):
    """Scores of new rows by a library's least squares on explicit powers."""
    model = LinearRegression(fit_intercept=intercept)
    model.fit(powers_of(X[:, selected], degree), Y)
    return model.predict(powers_of(new[:, selected], degree))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_model_by_hand(data, degree, intercept):
    X, Y = data
    train, new = slice(60), slice(60, None)
    classifier = MultiLabelForwardClassifier(4, degree=degree, fit_intercept=intercept)
    classifier.fit(X[train], Y[train])
    expected, _ = block_forward(X[train], Y[train] * 1.0, degree, 4, center=intercept)
    np.testing.assert_array_equal(classifier.selected_, expected)
    scores, fitted = (
        explicit_scores(X[train], Y[train], classifier.selected_, degree, intercept, X[rows])
        for rows in (new, train)
    )
    margins = classifier.decision_function(X[new])
    np.testing.assert_allclose(margins + classifier.thresholds_, scores, atol=1e-10)
    thresholds = optimal_thresholds(fitted, Y[train])
    np.testing.assert_allclose(classifier.thresholds_, thresholds, atol=1e-10)
    np.testing.assert_array_equal(classifier.predict(X[new]), scores > thresholds)
    assert classifier.multilabel_
    assert classifier.classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_those_of_the_features(data, intercept):
    X, Y = data
    X = X + 5.0
    classifier = MultiLabelForwardClassifier(5, fit_intercept=intercept).fit(X, Y)
    model = LinearRegression(fit_intercept=intercept).fit(X[:, classifier.selected_], Y)
    np.testing.assert_allclose(classifier.coef_, model.coef_, atol=1e-11)
    np.testing.assert_allclose(classifier.intercept_, model.intercept_ * np.ones(4), atol=1e-10)
    assert classifier.polynomials_ is None


def test_coefficients_of_powers(data):
    X, Y = data
    classifier = MultiLabelForwardClassifier(3, degree=2).fit(X, Y)
    assert classifier.coef_.shape == (4, 6)
    design = classifier.polynomials_.evaluate(X[:, classifier.selected_]).reshape(len(X), 6)
    scores = design @ classifier.coef_.T + classifier.intercept_
    np.testing.assert_allclose(
        classifier.decision_function(X), scores - classifier.thresholds_, atol=1e-12
    )


def test_no_threshold_does_better(data):
    X, Y = data
    classifier = MultiLabelForwardClassifier(4).fit(X, Y)
    scores = classifier.decision_function(X) + classifier.thresholds_
    for j in range(4):
        mine = np.sum(classifier.predict(X)[:, j] != Y[:, j])
        cuts = [-np.inf, *scores[:, j]]
        assert mine == min(np.sum((scores[:, j] > cut) != Y[:, j]) for cut in cuts)


def test_powers_find_what_lines_cannot():
    # The third label depends on the square of a feature.
    X, Y = labelled(m=300)
    new, truth = labelled(m=300, seed=1)
    plain, squares = (MultiLabelForwardClassifier(4, degree=d).fit(X, Y) for d in (1, 2))
    assert {1, 3, 6, 7} == set(squares.selected_)
    wrong = [np.mean(c.predict(new)[:, 2] != truth[:, 2]) for c in (plain, squares)]
    assert wrong[1] < 0.5 * wrong[0]


def test_score_is_subset_accuracy(data):
    X, Y = data
    classifier = MultiLabelForwardClassifier(4).fit(X, Y)
    assert classifier.score(X, Y) == np.mean((classifier.predict(X) == Y).all(axis=1))
    assert classifier.score(X, Y) < 1.0 - hamming_loss(Y, classifier.predict(X))


def test_support(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    classifier = MultiLabelForwardClassifier(3, include=["j"], exclude=["b", "d"]).fit(frame, Y)
    assert classifier.selected_[0] == 9
    assert not {1, 3} & set(classifier.selected_)
    np.testing.assert_array_equal(
        classifier.get_support(indices=True), sorted(classifier.selected_)
    )
    assert classifier.get_support().sum() == 3
    assert classifier.feature_names_in_.tolist() == list("abcdefghij")


def test_criterion_guides_the_selection(data):
    X, Y = data
    for criterion in ("nuclear", Nuclear()):
        classifier = MultiLabelForwardClassifier(4, criterion=criterion).fit(X, Y)
        expected, _ = block_forward(X, Y * 1.0, 1, 4, Nuclear(), center=True)
        np.testing.assert_array_equal(classifier.selected_, expected)


# --- forms of data and labels --------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.asfortranarray, np.float32])
def test_forms_of_x(data, form, degree):
    X, Y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32).astype(np.float64)
    classifier, same = (MultiLabelForwardClassifier(4, degree=degree) for _ in range(2))
    classifier.fit(X, Y)
    same.fit(form(X), Y)
    np.testing.assert_array_equal(same.selected_, classifier.selected_)
    np.testing.assert_allclose(
        same.decision_function(form(X)), classifier.decision_function(X), atol=1e-10
    )


@pytest.mark.parametrize(
    "form", [np.ndarray.tolist, sp.csr_array, sp.coo_array, pd.DataFrame, np.float64, np.bool_]
)
def test_forms_of_label_matrices(data, form):
    X, Y = data
    classifier, same = (MultiLabelForwardClassifier(3).fit(X, y) for y in (Y, form(Y)))
    predicted = same.predict(X)
    assert predicted.dtype.kind == "i"
    np.testing.assert_array_equal(predicted, classifier.predict(X))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("degree", [1, 2])
def test_scale_of_x_does_not_matter(data, degree, scale):
    X, Y = data
    classifier, scaled = (
        MultiLabelForwardClassifier(4, degree=degree).fit(s * X, Y) for s in (1.0, scale)
    )
    np.testing.assert_array_equal(scaled.selected_, classifier.selected_)
    np.testing.assert_allclose(
        scaled.decision_function(scale * X), classifier.decision_function(X), atol=1e-10
    )


@pytest.mark.parametrize("names", [[0, 1], ["ham", "spam"], [-1.0, 1.0], [False, True]])
def test_two_classes_are_one_label(data, names):
    X, Y = data
    y = np.array(names)[Y[:, 0]]
    classifier = MultiLabelForwardClassifier(3).fit(X, y)
    assert classifier.classes_.tolist() == names
    assert classifier.coef_.shape == (1, 3)
    assert not classifier.multilabel_
    margins = classifier.decision_function(X)
    np.testing.assert_array_equal(classifier.predict(X), np.array(names)[(margins > 0).astype(int)])
    fitted = explicit_scores(X, Y[:, :1], classifier.selected_, 1, True, X)
    np.testing.assert_allclose(
        margins, (fitted - optimal_thresholds(fitted, Y[:, :1]))[:, 0], atol=1e-11
    )
    column = MultiLabelForwardClassifier(3).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), classifier.predict(X))


def test_of_many_classes_the_largest_score_wins():
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    classifier = MultiLabelForwardClassifier(2, degree=2).fit(X, y)
    fitted = explicit_scores(X, np.eye(3)[codes], classifier.selected_, 2, True, X)
    np.testing.assert_allclose(classifier.decision_function(X), fitted, atol=1e-10)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[fitted.argmax(axis=1)])
    assert classifier.thresholds_.tolist() == [0.0] * 3
    assert classifier.score(X, y) == accuracy_score(y, classifier.predict(X)) > 0.9


def test_blobs():
    X, y = make_blobs(300, random_state=0)
    assert MultiLabelForwardClassifier(2).fit(X, y).score(X, y) > 0.9


# --- trouble ---------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_constant_labels(data, intercept):
    X, Y = data
    Y = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))])
    classifier = MultiLabelForwardClassifier(4, fit_intercept=intercept).fit(X, Y)
    assert np.isfinite(classifier.thresholds_).all()
    predicted = classifier.predict(X)
    assert (predicted[:, 4] == 0).all() and (predicted[:, 5] == 1).all()
    if intercept:  # they say nothing about the features, nor about other rows
        alone = MultiLabelForwardClassifier(4).fit(X, Y[:, :4])
        np.testing.assert_array_equal(classifier.selected_, alone.selected_)
        np.testing.assert_array_equal(classifier.predict(100 * X)[:, 4:] == [0, 1], True)


@pytest.mark.filterwarnings("ignore:ForwardSelector selected")
def test_all_labels_constant(data):
    X, Y = data
    Y = np.ones_like(Y)
    Y[:, 0] = 0
    classifier = MultiLabelForwardClassifier(4).fit(X, Y)
    np.testing.assert_array_equal(classifier.predict(X), Y)


@pytest.mark.parametrize("degree", [1, 2])
def test_duplicate_and_constant_columns(data, degree):
    X, Y = data
    X = np.column_stack([X[:, :3], np.ones(len(X)), X[:, :3], np.zeros(len(X)), -2.0 * X[:, 1]])
    with pytest.warns(UserWarning, match="selected 3 of 9"):
        classifier = MultiLabelForwardClassifier(9, degree=degree).fit(X, Y)
    few = MultiLabelForwardClassifier(3, degree=degree).fit(X[:, :3], Y)
    assert sorted(classifier.selected_) == [0, 1, 2]
    np.testing.assert_allclose(classifier.decision_function(X), few.decision_function(X[:, :3]))


def test_included_copies_are_harmless(data):
    X, Y = data
    X = np.column_stack([X, X[:, 1], np.ones(len(X))])
    classifier = MultiLabelForwardClassifier(4, include=[1, 10, 11]).fit(X, Y)
    assert classifier.selected_[:3].tolist() == [1, 10, 11]
    fitted = explicit_scores(X, Y, classifier.selected_, 1, True, X)
    scores = classifier.decision_function(X) + classifier.thresholds_
    np.testing.assert_allclose(scores, fitted, atol=1e-10)


def extended_fit(A, Y):
    """Least-squares fit in extended precision."""
    basis = []
    for v in A.astype(np.longdouble).T:
        for q in basis * 2:
            v = v - q * (q @ v)
        basis.append(v / np.sqrt(v @ v))
    Q = np.array(basis).T
    return (Q @ (Q.T @ Y)).astype(float)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("gap", [1e-3, 1e-7])
def test_nearly_dependent_features(degree, gap):
    # Rounding may grow by 1/gap, not by its square.
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (100, 6))
    X[:, 3:] = X[:, :3] + gap * X[:, 3:]
    Y = rng.integers(0, 2, (100, 3))
    classifier = MultiLabelForwardClassifier(6, degree=degree, include=range(6)).fit(X, Y)
    scores = classifier.decision_function(X) + classifier.thresholds_
    expected = extended_fit(np.column_stack([np.ones(100), powers_of(X, degree)]), Y)
    np.testing.assert_allclose(scores, expected, atol=1e-15 / gap * 100)
    # All sizes along the path of a cross-validation are as good.
    folds = [(np.arange(100), np.arange(100))]
    search = MultiLabelForwardClassifierCV([6], degrees=[degree], include=range(6), cv=folds)
    loss = hamming_loss(Y, expected > optimal_thresholds(expected, Y))
    assert search.fit(X, Y).cv_results_["mean_hamming_loss"] == pytest.approx(loss)


def test_few_rows(data):
    X, Y = data
    X, Y = X[:4], np.array([[0, 1], [1, 0], [1, 1], [0, 1]])
    with pytest.warns(UserWarning, match="selected"):
        classifier = MultiLabelForwardClassifier(8, degree=3).fit(X, Y)
    np.testing.assert_array_equal(classifier.predict(X), Y)


MISSING = "y has missing labels"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, 1.0, np.nan, 1.0], MISSING),
        (["a", None, "b", "a"], MISSING),
        (pd.Series([1, 0, None, 1], dtype="Int64"), MISSING),
        (pd.Series(["a", "b", None, "a"]), MISSING),
        (np.array([[0, 1], [1, np.nan], [1, 1], [0, 0]]), MISSING),
        (pd.DataFrame({"p": [0, 1, 1, 0], "q": [1, None, 0, 0]}), MISSING),
        (sp.csr_array([[0, 1], [1, np.nan], [1, 1], [0, 0]]), MISSING),
        ([[0, 1], [1, 2], [1, 1], [0, 0]], "zeros and ones"),
        ([[0.5, 1], [1, 0], [1, 1], [0, 0]], "zeros and ones"),
        ([["a", "b"], ["b", "b"], ["a", "a"], ["b", "a"]], "zeros and ones"),
        ([0.5, 1.5, 2.2, 0.1], "Unknown label type"),
        ([1, 1, 1, 1], "one class only, np.int64\\(1\\)|one class only, 1"),
        ([0, 1], "inconsistent numbers of samples"),
        (None, "y"),
    ],
)
@pytest.mark.parametrize("cls", [MultiLabelForwardClassifier, MultiLabelForwardClassifierCV])
def test_bad_labels(cls, y, message):
    X = np.arange(12.0).reshape(4, 3) ** 2
    with pytest.raises(ValueError, match=message):
        cls().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 11}, "between 1 and the number of features"),
        ({"n_features_to_select": 0}, "between 1 and the number of features"),
        ({"degree": 0}, "degree must be an integer >= 1"),
        ({"criterion": "frobenious"}, "Unknown criterion"),
        ({"include": ["a"]}, "X has no column names"),
        ({"include": [1], "exclude": [1]}, "include and exclude share"),
    ],
)
def test_bad_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelForwardClassifier(**parameters).fit(*data)


# --- cross-validation ------------------------------------------------------------------------


def explicit_losses(X, Y, k, degree, criterion, folds, **options):
    """Hamming losses of one classifier per fold."""
    losses = []
    for train, test in folds:
        classifier = MultiLabelForwardClassifier(k, degree=degree, criterion=criterion, **options)
        losses.append(hamming_loss(Y[test], classifier.fit(X[train], Y[train]).predict(X[test])))
    return losses


@pytest.mark.parametrize("intercept", [True, False])
def test_results_are_those_of_single_fits(data, intercept):
    X, Y = data
    cv = KFold(3, shuffle=True, random_state=0)
    search = MultiLabelForwardClassifierCV(
        4, degrees=(1, 2), criteria=("frobenius", "nuclear"), cv=cv, fit_intercept=intercept
    ).fit(X, Y)
    results = search.cv_results_
    table = list(itertools.product((1, 2), ("frobenius", "nuclear"), range(1, 5)))
    keys = ("degree", "criterion", "n_features_to_select")
    assert list(zip(*(results[key].tolist() for key in keys), strict=True)) == table
    folds = list(cv.split(X))
    expected = [
        explicit_losses(X, Y, k, degree, criterion, folds, fit_intercept=intercept)
        for degree, criterion, k in table
    ]
    np.testing.assert_allclose(results["mean_hamming_loss"], np.mean(expected, axis=1), atol=1e-14)
    np.testing.assert_allclose(results["std_hamming_loss"], np.std(expected, axis=1), atol=1e-14)
    best = min(
        (round(mean, 12), k, degree, criterion)
        for mean, (degree, criterion, k) in zip(results["mean_hamming_loss"], table, strict=True)
    )
    assert tuple(search.best_params_.values()) == best[1:]
    assert search.best_score_ == pytest.approx(1.0 - best[0])


def test_refit_is_the_classifier(data):
    X, Y = data
    search = MultiLabelForwardClassifierCV(6, cv=3, random_state=0).fit(X, Y)
    classifier = MultiLabelForwardClassifier(**search.best_params_).fit(X, Y)
    for name in ("selected_", "coef_", "intercept_", "thresholds_", "classes_"):
        np.testing.assert_array_equal(getattr(search, name), getattr(classifier, name))
    np.testing.assert_array_equal(search.decision_function(X), classifier.decision_function(X))
    np.testing.assert_array_equal(search.get_support(), classifier.get_support())
    assert search.score(X, Y) == classifier.score(X, Y)


def test_the_square_is_found():
    search = MultiLabelForwardClassifierCV(8, random_state=0).fit(*labelled(m=300))
    assert search.best_params_["degree"] == 2
    assert {1, 3, 6} <= set(search.selected_)


def test_ties_go_to_fewer_features_then_to_lower_degrees():
    # One binary feature decides; its square is the same, and others add nothing.
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 60).astype(float)
    X = np.column_stack([rng.standard_normal(60), x, rng.standard_normal(60)])
    search = MultiLabelForwardClassifierCV(3, degrees=(3, 1, 2), cv=4, random_state=0)
    search.fit(X, np.column_stack([x, 1 - x]).astype(int))
    assert search.best_params_ == {
        "n_features_to_select": 1, "degree": 1, "criterion": "frobenius",
    }  # fmt: skip
    assert search.best_score_ == 1.0


@pytest.mark.parametrize(
    ("max_features", "expected"), [(None, range(1, 11)), (3, [1, 2, 3]), ([7, 2, 2], [2, 7])]
)
def test_sizes(data, max_features, expected):
    search = MultiLabelForwardClassifierCV(max_features, degrees=[1], cv=2, random_state=0)
    sizes = search.fit(*data).cv_results_["n_features_to_select"]
    assert sizes.tolist() == list(expected)


def test_sizes_respect_the_constraints(data):
    X, Y = data
    search = MultiLabelForwardClassifierCV(degrees=[1], include=[0, 2], exclude=[5], cv=2)
    search.fit(X, Y)
    assert search.cv_results_["n_features_to_select"].tolist() == list(range(2, 10))
    assert search.selected_[:2].tolist() == [0, 2]
    assert 5 not in search.selected_


def test_hundred_sizes_by_default():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((150, 130)), rng.integers(0, 2, (150, 2))
    search = MultiLabelForwardClassifierCV(degrees=[1], cv=2, random_state=0).fit(X, Y)
    assert search.cv_results_["n_features_to_select"].max() == 100


def test_folds_with_less_rank_than_features():
    # 12 rows in a fold, sizes up to 20: the last model stands for all larger ones.
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((24, 20)), rng.integers(0, 2, (24, 3))
    search = MultiLabelForwardClassifierCV([1, 15, 18, 20], degrees=[1], cv=2, random_state=0)
    results = search.fit(X, Y).cv_results_["mean_hamming_loss"]
    assert results[1] == results[2] == results[3]
    assert search.best_params_["n_features_to_select"] in (1, 15)


def test_labels_constant_in_a_fold():
    X, Y = labelled(m=20)
    Y[:, 0] = 0
    Y[:2, 0] = 1
    Y[:, 1] = 1
    Y[3, 1] = 0
    search = MultiLabelForwardClassifierCV(3, cv=KFold(5)).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_hamming_loss"]).all()
    expected = explicit_losses(X, Y, 2, 1, "frobenius", list(KFold(5).split(X)))
    assert search.cv_results_["mean_hamming_loss"][1] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("classes", [2, 3])
def test_vectors_of_classes(classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], np.array(list("abc"))[y[y < classes]]
    search = MultiLabelForwardClassifierCV(3, cv=4, random_state=0).fit(X, y)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    expected = explicit_losses(X, y, 2, 2, "frobenius", folds)
    at = 3 + 1  # degree 2, two features
    assert search.cv_results_["mean_hamming_loss"][at] == pytest.approx(np.mean(expected))
    assert search.classes_.tolist() == list("abc")[:classes]
    assert search.score(X, y) > 0.9


def test_sparse_data(data):
    X, Y = data
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    options = {"max_features": 4, "cv": 3, "random_state": 0}
    dense, sparse = (
        MultiLabelForwardClassifierCV(**options).fit(form(X), Y)
        for form in (np.asarray, sp.csr_array)
    )
    assert sparse.best_params_ == dense.best_params_
    np.testing.assert_allclose(
        sparse.cv_results_["mean_hamming_loss"], dense.cv_results_["mean_hamming_loss"], atol=1e-12
    )


def test_folds_are_drawn_by_random_state(data):
    X, Y = data
    order = np.argsort(Y[:, 0], kind="stable")  # sorted labels need shuffled folds
    first, again, other = (
        MultiLabelForwardClassifierCV(4, degrees=[1], random_state=seed).fit(X[order], Y[order])
        for seed in (0, 0, 1)
    )
    losses = [search.cv_results_["mean_hamming_loss"] for search in (first, again, other)]
    np.testing.assert_array_equal(losses[0], losses[1])
    assert (losses[0] != losses[2]).any()


def test_repeated_folds_and_lists_of_folds(data):
    X, Y = data
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    repeated, listed = (
        MultiLabelForwardClassifierCV(3, degrees=[2], cv=folds).fit(X, Y)
        for folds in (cv, list(cv.split(X)))
    )
    np.testing.assert_array_equal(
        repeated.cv_results_["std_hamming_loss"], listed.cv_results_["std_hamming_loss"]
    )


def test_workers_do_not_matter(data):
    X, Y = data
    with parallel_config(backend="threading"):
        one, two = (
            MultiLabelForwardClassifierCV(4, cv=2, random_state=0, n_jobs=jobs).fit(X, Y)
            for jobs in (1, 2)
        )
    np.testing.assert_array_equal(
        one.cv_results_["mean_hamming_loss"], two.cv_results_["mean_hamming_loss"]
    )


def test_criteria_may_be_objects(data):
    search = MultiLabelForwardClassifierCV(
        2, degrees=[1], criteria=[Frobenius(), Nuclear()], cv=2, random_state=0
    ).fit(*data)
    assert search.best_params_["criterion"] in (Frobenius(), Nuclear())


def test_grid_search_over_the_size(data):
    X, Y = data
    cv = KFold(4)
    grid = GridSearchCV(MultiLabelForwardClassifier(), {"n_features_to_select": [1, 4]}, cv=cv)
    assert grid.fit(X, Y).best_params_ == {"n_features_to_select": 4}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_features": 11}, "10 columns, but 11 are to be selected|number of features"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"max_features": []}, "max_features is empty"),
        ({"max_features": [2, 2.5]}, "max_features must be an integer >= 1"),
        ({"max_features": 1, "include": [0, 1]}, "include names 2 columns"),
        ({"degrees": []}, "at least one entry each"),
        ({"degrees": [0]}, "degrees must be an integer >= 1"),
        ({"criteria": ["nuclaer"]}, "Unknown criterion"),
        ({"cv": 100}, "n_splits=100"),
        ({"cv": StratifiedKFold(2)}, "multilabel-indicator"),
    ],
)
def test_bad_cross_validation(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelForwardClassifierCV(**parameters).fit(*data)
