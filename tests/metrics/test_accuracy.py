"""Accuracy of classifiers with selected columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from columnist.metrics import AccuracyBySize, aggregated_accuracy, hamming_loss, paired_t_test
from columnist.selection import ForwardSelector
from columnist.spectral._ratios import FisherScore


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_protocol_by_hand(wine):
    X, y = wine
    sizes = [1, 3, 5]
    result = aggregated_accuracy(FisherScore(), X, y, sizes=sizes, cv=4, random_state=0)
    splits = StratifiedShuffleSplit(n_splits=4, test_size=0.5, random_state=0).split(X, y)
    for row, (train, test) in zip(result.accuracies, splits, strict=True):
        for accuracy, size in zip(row, sizes, strict=True):
            chosen = FisherScore(size).fit(X[train], y[train]).selected_
            scaler = StandardScaler().fit(X[train][:, chosen])
            model = SVC(kernel="linear").fit(scaler.transform(X[train][:, chosen]), y[train])
            assert accuracy == model.score(scaler.transform(X[test][:, chosen]), y[test])
    np.testing.assert_array_equal(result.sizes, sizes)
    assert result.aggregated == pytest.approx(result.accuracies.mean())
    np.testing.assert_allclose(result.by_size, result.accuracies.mean(axis=0))
    np.testing.assert_allclose(result.by_split, result.accuracies.mean(axis=1))


def test_default_sizes(wine):
    X, y = wine
    classifier = KNeighborsClassifier(1)
    options = {"classifier": classifier, "cv": 2, "random_state": 0}
    assert list(aggregated_accuracy(range(13), X, y, **options).sizes) == [10]
    assert list(aggregated_accuracy([3, 1, 2], X, y, **options).sizes) == [1, 2, 3]
    wide = np.hstack([X] * 20)
    sizes = aggregated_accuracy(range(260), wide, y, **options).sizes
    np.testing.assert_array_equal(sizes, np.arange(10, 201, 10))


def test_selectors_without_a_ranking_are_fitted_for_every_size(wine):
    X, y = wine
    options = {"sizes": [2, 1], "cv": KFold(3, shuffle=True, random_state=0)}
    classifier = KNeighborsClassifier(3)
    for selector in (ForwardSelector(centering="mean"), RFE(RidgeClassifier())):
        Z = StandardScaler().fit_transform(X)
        result = aggregated_accuracy(selector, Z, y, classifier=classifier, **options)
        for row, (train, test) in zip(result.accuracies, options["cv"].split(Z), strict=True):
            for accuracy, size in zip(row, [2, 1], strict=True):
                fitted = selector.set_params(n_features_to_select=size).fit(Z[train], y[train])
                model = classifier.fit(fitted.transform(Z[train]), y[train])
                assert accuracy == model.score(fitted.transform(Z[test]), y[test])


def test_forms_of_data(wine):
    X, y = wine
    labels = np.array(["a", "b", "c"])[y]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(13)])
    options = {"sizes": [1, 2], "cv": 3, "random_state": 0}
    expected = aggregated_accuracy([6, 12], X, y, **options).accuracies
    named = aggregated_accuracy(["x6", "x12"], frame, pd.Series(labels), **options)
    np.testing.assert_array_equal(named.accuracies, expected)
    sparse = aggregated_accuracy([6, 12], sp.csr_array(X), y, **options)
    np.testing.assert_allclose(sparse.accuracies, expected, atol=0.05)
    halves = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    assert aggregated_accuracy([6, 12], X, y, sizes=[2], cv=halves).accuracies.shape == (1, 1)


def test_the_selector_is_left_alone(wine):
    selector = FisherScore(7)
    aggregated_accuracy(selector, *wine, sizes=[2], cv=2, random_state=0)
    assert selector.n_features_to_select == 7
    assert not hasattr(selector, "selected_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": [14]}, "asks for 14 columns, but there are only 13"),
        ({"sizes": []}, "at least one number of columns"),
        ({"sizes": [0]}, "sizes must be an integer >= 1"),
        ({"sizes": [1.5]}, "sizes must be an integer >= 1"),
        ({"cv": 0}, "cv must be an integer >= 1"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"selector": [77]}, "selector holds the index 77"),
    ],
)
def test_bad_input(arguments, message, wine):
    X, y = wine
    arguments = {"selector": FisherScore(), "X": X, "y": y, **arguments}
    with pytest.raises(ValueError, match=message):
        aggregated_accuracy(**arguments)


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_t_test_by_its_formula(seed, n):
    a, b = np.random.default_rng(seed).standard_normal((2, n))
    d = a - b
    t = d.mean() / (d.std(ddof=1) / np.sqrt(n))
    expected = 2.0 * scipy.stats.t.sf(abs(t), n - 1)
    assert paired_t_test(a, b) == pytest.approx(expected, rel=1e-9)
    assert paired_t_test(b, a) == pytest.approx(expected, rel=1e-9)


def test_t_test_of_equal_differences():
    a = np.array([0.7, 0.8, 0.9, 0.1])
    assert paired_t_test(a, a) == 1.0
    assert paired_t_test(a + 0.1, a) == 0.0
    assert paired_t_test(np.zeros(3), np.zeros(3)) == 1.0
    with pytest.raises(ValueError, match="at least two pairs"):
        paired_t_test([1.0], [2.0])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        paired_t_test([1.0, 2.0], [2.0])
    with pytest.raises(ValueError, match="must be finite"):
        paired_t_test([1.0, np.nan], [2.0, 3.0])


def test_result_is_a_value():
    result = AccuracyBySize(np.array([1]), np.array([[0.5], [1.0]]))
    with pytest.raises(AttributeError):
        result.sizes = np.array([2])
    assert result.aggregated == 0.75


def test_hamming_loss_counts_samples_and_labels():
    rng = np.random.default_rng(0)
    Y, P = rng.integers(0, 2, (2, 30, 5))
    wrong = sum(Y[i, j] != P[i, j] for i in range(30) for j in range(5))
    assert hamming_loss(Y, P) == wrong / 150
    assert hamming_loss(Y.tolist(), P.tolist()) == wrong / 150
    assert hamming_loss(sp.csr_array(Y), P) == sklearn.metrics.hamming_loss(Y, P)


def test_hamming_loss_of_classes():
    assert hamming_loss(["a", "b", "c", "a"], ["a", "c", "c", "b"]) == 0.5
