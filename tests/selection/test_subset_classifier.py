"""Best-subset logistic regression against enumeration, and as an estimator."""

from __future__ import annotations

import functools
import itertools
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from columnist import SubsetClassifier
from columnist.selection._logistic import ClassData
from columnist.selection._sizes import InformationCriterion
from tests.examples import examples
from tests.oracles.logistic import objective
from tests.selection.test_logistic import problem


def fitted(data: ClassData, size, **parameters) -> SubsetClassifier:
    """The estimator for a random problem."""
    model = SubsetClassifier(size, alpha=data.ridge, fit_intercept=data.center, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(data.X, data.Y)


def enumerated(data: ClassData, size: int, include=(), exclude=()) -> list[tuple[float, tuple]]:
    """All sets of a size, best first."""
    columns = [i for i in range(data.n_features) if i not in exclude]
    sets = itertools.combinations(columns, size)
    return sorted((data.fit(s).value, s) for s in sets if set(include) <= set(s))


@functools.cache
def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_best_subsets_are_those_of_enumeration():
    for seed in range(examples(100)):
        data = problem(seed)
        size = int(np.random.default_rng(seed).integers(1, data.n_features + 1))
        model = fitted(data, size)
        error, _ = enumerated(data, size)[0]
        assert model.certificate_.is_optimal, seed
        assert model.error_ == pytest.approx(error, rel=1e-9)
        assert model.certificate_.lower_bound == pytest.approx(error, rel=1e-9)
        coef = model.coef_[:, model.selected_].T
        found = objective(data.X[:, model.selected_], data.Y, coef, model.intercept_, data.ridge)
        assert found == pytest.approx(error, rel=1e-9)


def test_every_stopping_point_is_proven():
    for seed in range(examples(60)):
        data = problem(seed)
        size = (data.n_features + 1) // 2
        error, _ = enumerated(data, size)[0]
        for max_nodes in range(4):
            certificate = fitted(data, size, max_nodes=max_nodes).certificate_
            assert certificate.lower_bound <= error * (1.0 + 1e-9), (seed, max_nodes)
            assert certificate.error >= error * (1.0 - 1e-9)
            if certificate.is_optimal:
                assert certificate.error == pytest.approx(error, rel=1e-8)


def test_weak_penalties_are_proven_by_branching():
    """The tree is more than its root."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 12))
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(40) > 0.0).astype(int)
    data = ClassData(X, y, True, 0.05)
    model = fitted(data, 4)
    error, subset = enumerated(data, 4)[0]
    assert model.certificate_.is_optimal
    assert tuple(model.selected_) == subset
    assert model.error_ == pytest.approx(error, rel=1e-9)
    expanded = model.certificate_.nodes_expanded
    assert expanded > 1
    bounds = [fitted(data, 4, max_nodes=n).certificate_.lower_bound for n in range(0, expanded, 3)]
    assert np.all(np.diff(bounds) >= 0.0)
    assert max(bounds) <= error


def test_pools_are_those_of_enumeration():
    for seed in range(examples(40)):
        data = problem(seed, most=6)
        size = (data.n_features + 1) // 2
        expected = enumerated(data, size)[:4]
        model = fitted(data, size, n_solutions=4)
        errors = [solution.error for solution in model.solutions_]
        np.testing.assert_allclose(errors, [error for error, _ in expected], rtol=1e-9)
        assert len({tuple(solution) for solution in model.solutions_}) == len(expected)
        for solution in model.solutions_:
            assert solution.error == pytest.approx(data.fit(solution).value, rel=1e-9)


def test_include_and_exclude():
    for seed in range(examples(40)):
        data = problem(seed)
        if data.n_features < 4:
            continue
        include, exclude = [data.n_features - 2], [1]
        for size in (1, 2, data.n_features - 1):
            model = fitted(data, size, include=include, exclude=exclude)
            error, _ = enumerated(data, size, include, exclude)[0]
            assert model.error_ == pytest.approx(error, rel=1e-9)
            assert model.certificate_.is_optimal
            assert set(include) <= set(model.selected_.tolist())
            assert 1 not in model.selected_


@pytest.mark.parametrize("rule", ["aic", "bic", "ebic"])
def test_sizes_by_criteria_are_those_of_enumeration(rule):
    for seed in range(examples(30)):
        data = problem(seed, most=6)
        largest = min(data.n_features, data.n_samples - 2)
        m = data.loss.n_classes
        criterion = InformationCriterion(rule, "log", data.n_samples, m - 1, data.n_features)
        values = {k: criterion.value(enumerated(data, k)[0][0], k) for k in range(1, largest + 1)}
        model = fitted(data, rule)
        path = model.path_
        assert path.proven
        assert path.rule == rule
        best = path[path.chosen]
        assert best.score == pytest.approx(min(values.values()), rel=1e-9)
        for step in path:
            k = len(step.selection)
            assert step.score_bound <= values[k] + 1e-9 * abs(values[k])
            assert step.score >= values[k] - 1e-9 * abs(values[k])


def test_criteria_count_free_coefficients():
    X, y = load_iris(return_X_y=True)
    step = SubsetClassifier("bic").fit(X, y).path_[0]
    k = len(step.selection)
    expected = 2.0 * step.certificate.error + 2.0 * k * np.log(len(X))  # three classes
    assert step.score == pytest.approx(expected)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_are_those_of_logistic_regression(center, n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((80, 6)) + 2.0
    y = np.argmax(X[:, :n_classes] + rng.standard_normal((80, n_classes)), axis=1)
    model = SubsetClassifier(3, alpha=0.7, fit_intercept=center).fit(X, y)
    other = LogisticRegression(C=1.0 / 1.4, fit_intercept=center, tol=1e-10, max_iter=10_000)
    other.fit(X[:, model.selected_], y)
    np.testing.assert_allclose(model.coef_[:, model.selected_], other.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-5)
    assert not model.coef_[:, ~model.get_support()].any()
    chosen = X[:, model.selected_]
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(chosen), atol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(chosen), atol=1e-4
    )
    penalty = 0.7 * np.square(model.coef_).sum()
    assert model.error_ == pytest.approx(len(X) * log_loss(y, model.predict_proba(X)) + penalty)


def test_labels_of_any_kind():
    X, y = cancer()
    expected = SubsetClassifier(2).fit(X, y)
    for labels in (np.array(["no", "yes"])[y], np.where(y, 7.0, -2.0), y.astype(bool)):
        model = SubsetClassifier(2).fit(X, labels)
        np.testing.assert_array_equal(model.selected_, expected.selected_)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        np.testing.assert_array_equal(model.predict(X), model.classes_[expected.predict(X)])
        assert model.score(X, labels) > 0.9
    assert expected.certificate_.criterion == "log_loss"
    assert expected.certificate_.target_kind == "classes"


def test_names_and_forms_of_data():
    X, y = cancer()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    model = SubsetClassifier(3, include=["c4"]).fit(frame, y)
    assert "c4" in model.get_feature_names_out()
    assert model.certificate_.names == tuple(model.get_feature_names_out())
    few = SubsetClassifier(2).fit(X, y)
    rows = da.from_array(X[:50], chunks=(20, -1))
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(few, method)(rows)
        assert isinstance(lazy, da.Array)
        expected = getattr(few, method)(X[:50])
        np.testing.assert_allclose(lazy.compute(scheduler="synchronous"), expected)


def test_sparse_data_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 60), density=0.1, rng=rng, format="csr")
    y = np.asarray(X[:, [3, 10, 40]].sum(axis=1) > 0.1).astype(int)
    expected = SubsetClassifier(3, alpha=0.1, exclude=[5]).fit(X.toarray(), y)

    def refuse(self, *args, **kwargs):
        assert min(self.shape) < 60, "all columns were written out"
        return original(self, *args, **kwargs)

    original = sp.csc_array.toarray
    monkeypatch.setattr(sp.csc_array, "toarray", refuse)
    model = SubsetClassifier(3, alpha=0.1, exclude=[5]).fit(X, y)
    np.testing.assert_array_equal(model.selected_, expected.selected_)
    assert model.error_ == pytest.approx(expected.error_, rel=1e-10)
    assert model.certificate_.status == expected.certificate_.status == "optimal"


def test_size_by_validation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8))
    y = (2.0 * X[:, 2] - 2.0 * X[:, 5] + 0.3 * rng.standard_normal(150) > 0.0).astype(int)
    model = SubsetClassifier("cv", max_features=4).fit(X, y)
    path = model.path_
    assert {2, 5} <= set(model.selected_.tolist())
    assert len(path) == 4 and not path.proven
    least = int(np.argmin(path.scores))
    limit = path.scores[least] + path[least].score_error
    assert path.scores[path.chosen] <= limit
    assert np.all(path.scores[: path.chosen] > limit)


def test_validation_with_a_class_that_training_rows_lack():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2
    y[-1] = 2
    folds = [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))]
    model = SubsetClassifier("cv", cv=folds).fit(X, y)
    assert np.isfinite(model.path_.scores).all()
    with pytest.raises(ValueError, match="one class"):
        SubsetClassifier("cv", cv=[(np.arange(0, 20, 2), np.arange(20, 30))]).fit(X, y)


def test_bad_input_is_refused_in_a_sentence():
    X, y = cancer()
    with pytest.raises(ValueError, match="needs alpha > 0 for a proof"):
        SubsetClassifier(2, alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        SubsetClassifier(2).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="needs class labels"):
        SubsetClassifier(2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="scale the columns"):
        SubsetClassifier(2).fit(1e200 * X, y)
    with pytest.raises(ValueError, match="one of 'aic'"):
        SubsetClassifier("best").fit(X, y)


def test_hostile_columns():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 6))
    X[:, 1], X[:, 2], X[:, 4] = X[:, 3], 1e15, X[:, 0] * 1e-120
    y = (X[:, 3] + 0.2 * rng.standard_normal(30) > 0.0).astype(int)
    model = SubsetClassifier(1).fit(X, y)
    assert model.selected_.tolist() == [1]  # the first of two copies
    assert model.certificate_.is_optimal
    every = SubsetClassifier(6).fit(X, y)
    assert every.certificate_.is_optimal
    assert every.error_ <= model.error_
    for scale in (1e-150, 1e-6, 1e6):
        data = ClassData(scale * X[:, [0, 3, 5]], y, True, 1.0)
        found = fitted(data, 2)
        assert found.error_ == pytest.approx(enumerated(data, 2)[0][0], rel=1e-9)
        assert found.certificate_.is_optimal


def test_huge_columns_prove_no_more_than_they_can():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 4)) * [1.0, 1e30, 1.0, 1e60]
    y = rng.integers(0, 2, 30)
    certificate = SubsetClassifier(2).fit(X, y).certificate_
    assert certificate.lower_bound <= certificate.error
    assert np.isfinite(certificate.error)


def test_one_row_of_each_class():
    X = np.random.default_rng(0).standard_normal((4, 3))
    model = SubsetClassifier(2, alpha=0.1).fit(X, list("abcd"))
    data = ClassData(X, np.arange(4), True, 0.1)
    assert model.error_ == pytest.approx(enumerated(data, 2)[0][0], rel=1e-9)
    assert model.certificate_.is_optimal
    assert model.coef_.shape == (4, 3)
    assert set(model.predict(X)) <= set("abcd")


def test_limits_leave_a_valid_answer():
    X, y = cancer()
    seen = []
    stopped = SubsetClassifier(8, alpha=0.01, callback=lambda p: seen.append(p) or True).fit(X, y)
    assert seen and stopped.certificate_.status == "interrupted"
    late = SubsetClassifier(8, alpha=0.01, time_limit=0.0).fit(X, y)
    assert late.certificate_.status == "time_limit"
    good = SubsetClassifier(4, max_gap=0.5).fit(X, y).certificate_
    for certificate in (stopped.certificate_, late.certificate_, good):
        assert len(certificate.selection) in (4, 8)
        assert 0.0 <= certificate.lower_bound <= certificate.error
    assert good.gap <= 0.5 + 1e-9


def test_threads_give_the_same_answer():
    X, y = cancer()
    one, two = (SubsetClassifier(3, alpha=0.1, n_jobs=n, max_nodes=9).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.selected_, two.selected_)
    assert one.certificate_.lower_bound == pytest.approx(two.certificate_.lower_bound, rel=1e-9)


def test_the_log_is_printed(capsys):
    X, y = cancer()
    SubsetClassifier(2, verbose=True).fit(X, y)
    assert "optimal" in capsys.readouterr().out
