"""The attack: what it must and must not find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from columnist.privacy import NullSpaceCleaner, attack, laplace_noise

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 6))
A = np.eye(6)[:2]  # the predictor reads the first two features
CLEANER = NullSpaceCleaner(A).fit(X)


def test_a_secret_outside_is_gone_and_one_inside_is_not():
    outside = attack(CLEANER, X, X[:, 4], random_state=0)
    assert outside.original > 0.99 and outside.retrained < 0.05
    assert outside.privacy_error == pytest.approx(X[:, 4].var(), rel=0.2)
    assert 0.3 < outside.linear_privacy < 0.7
    inside = attack(CLEANER, X, X[:, 0] - X[:, 1], random_state=0)
    assert inside.retrained > 0.99 and inside.linear_privacy < 0.05


def test_retraining_undoes_a_displacement():
    # The second algorithm moves the row; who retrains finds the output all the same.
    C = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    cleaner = NullSpaceCleaner(A, confidential=C).fit(X)
    found = attack(cleaner, X, X @ C[0], estimator=LinearRegression(), random_state=0)
    assert found.unaware < 0.05
    assert found.retrained == pytest.approx(0.5, abs=0.15)
    first = attack(CLEANER, X, X @ C[0], estimator=LinearRegression(), random_state=0)
    assert found.retrained == pytest.approx(first.retrained, abs=1e-6)  # the same information


def test_scores_are_those_of_the_folds():
    y, model = X[:, 0] + X[:, 4], LinearRegression()
    cleaned = CLEANER.transform(X)
    found = attack(CLEANER, X, y, estimator=model, cv=KFold(4))
    guesses = {name: np.empty(200) for name in ("original", "unaware", "retrained")}
    for train, test in KFold(4).split(X):
        plain = LinearRegression().fit(X[train], y[train])
        guesses["original"][test] = plain.predict(X[test])
        guesses["unaware"][test] = plain.predict(cleaned[test])
        again = LinearRegression().fit(cleaned[train], y[train])
        guesses["retrained"][test] = again.predict(cleaned[test])
    for name, guess in guesses.items():
        unexplained = np.sum((y - guess) ** 2) / np.sum((y - y.mean()) ** 2)
        assert getattr(found, name) == pytest.approx(1.0 - unexplained)
    assert found.n_folds == 4


def test_classes_and_machines():
    labels = np.where(X[:, 0] ** 2 + X[:, 4] ** 2 > 1.4, "far", "near")
    machine = attack(CLEANER, X, labels, estimator="svm", cv=3, random_state=0)
    assert machine.scoring == "accuracy" and np.isnan(machine.privacy_error)
    assert machine.original > 0.8 > machine.retrained > machine.blind - 0.05
    linear = attack(CLEANER, X, X[:, 4] > 0.0, cv=3, random_state=0)
    assert linear.original > 0.9 and linear.retrained < 0.65
    neighbours = attack(CLEANER, X, labels, estimator=KNeighborsClassifier(), cv=3, random_state=0)
    assert neighbours.model == "KNeighborsClassifier"
    assert "no row at all" in str(machine)


def test_several_secrets_and_any_cleaner():
    secrets = X[:, 3:5]
    several = attack(CLEANER, X, secrets, cv=3, random_state=0)
    assert several.retrained < 0.05
    machine = attack(CLEANER, X, secrets, estimator="svm", cv=3, random_state=0)
    assert machine.original > 0.5 > machine.retrained
    noisy = attack(
        lambda rows: laplace_noise(rows, A, 0.01, random_state=0), X, secrets, random_state=0
    )
    assert noisy.retrained > 0.95  # noise of equal utility hides nothing


def test_few_rows_and_rare_classes():
    few = attack(CLEANER, X[:3], X[:3, 0], random_state=0)
    assert few.n_folds == 3
    labels = np.array(["rare"] * 2 + ["common"] * 28)
    assert attack(CLEANER, X[:30], labels, random_state=0).blind == pytest.approx(28 / 30)


def test_bad_input():
    with pytest.raises(ValueError, match="y_confidential has 150 rows, but X has 200"):
        attack(CLEANER, X, X[:150, 0])
    with pytest.raises(ValueError, match="estimator must be"):
        attack(CLEANER, X, X[:, 0], estimator="forest")
    with pytest.raises(ValueError, match="y_confidential contains NaN"):
        attack(CLEANER, X, np.full(200, np.nan))
