"""Measures of lists of features, and significance by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from reproduction.evidence import (
    annotation_similarity,
    count_hits,
    nearest_accuracy,
    significant_features,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    return rng.standard_normal((30, 6)) + y[:, None], y, np.array([3, 1, 0, 2, 5, 4])


def test_accuracy_against_scikit_learn(problem):
    X, y, ranking = problem
    groups = np.arange(30) // 2
    nearest = KNeighborsClassifier(1)
    for size in (1, 3, 6):
        top = X[:, ranking[:size]]
        alone = cross_val_score(nearest, top, y, cv=LeaveOneOut()).mean()
        assert nearest_accuracy(X, y, ranking, sizes=[size])[0] == pytest.approx(alone)
        grouped = cross_val_score(nearest, top, y, groups=groups, cv=LeaveOneGroupOut()).mean()
        found = nearest_accuracy(X, y, ranking, sizes=[size], groups=groups)[0]
        assert found == pytest.approx(grouped)
        score = nearest.fit(top[:20], y[:20]).score(top[20:], y[20:])
        tested = nearest_accuracy(X[:20], y[:20], ranking, sizes=[size], test=(X[20:], y[20:]))
        assert tested[0] == pytest.approx(score)


def test_similarity_and_hits_by_hand():
    S = np.arange(16.0).reshape(4, 4)
    S = S + S.T
    assert annotation_similarity([0, 2], [1, 3], S) == S[0, 1] + S[0, 3] + S[2, 1] + S[2, 3]
    assert count_hits([1, 2, 3], [3, 1, 7]) == 2


def test_significance_by_hand():
    rng = np.random.default_rng(1)
    X, y = np.exp(rng.standard_normal((20, 50))), np.arange(20) % 2
    expected = []
    for j, f in enumerate(X.T):
        a, b = f[y == 0], f[y == 1]
        change = max(a.mean() / b.mean(), b.mean() / a.mean())
        if change >= 1.5 and ttest_ind(a, b).pvalue <= 0.2:
            expected.append(j)
    assert expected
    np.testing.assert_array_equal(significant_features(X, y, fold=1.5, level=0.2), expected)
    constant = np.column_stack([np.where(y == 0, 1.0, 3.0), np.ones(20)])
    np.testing.assert_array_equal(significant_features(constant, y), [0])


def test_random_classes_have_many_significant_genes():
    """20 samples of 5000 genes without any structure, split at random ten times."""
    rng = np.random.default_rng(2)
    X = np.exp(0.7 * rng.standard_normal((20, 5000)))
    counts = [len(significant_features(X, rng.permutation(20) % 2)) for _ in range(10)]
    assert min(counts) > 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: nearest_accuracy(X, y, [0, 1], sizes=[3]), "ranking has 2 features"),
        (lambda X, y: nearest_accuracy(X, y, [0], sizes=[0]), "sizes must be"),
        (lambda X, y: nearest_accuracy(X, y, [0], sizes=[1], test=(X, y), groups=y), "not both"),
        (lambda X, y: significant_features(np.exp(X), y), "needs two classes"),
        (lambda X, y: significant_features(X - 9.0, y > 0), "positive data"),
        (lambda X, y: significant_features(np.exp(X), y > 0, fold=0.5), "fold must be"),
    ],
)
def test_bad_input(problem, call, message):
    X, y, _ = problem
    with pytest.raises(ValueError, match=message):
        call(X, y)
