"""The report: its figures by their definitions, its words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from columnist.privacy import NullSpaceCleaner, utility_error

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 5)) @ RNG.standard_normal((5, 5)) + 7.0
A, C = RNG.standard_normal((2, 5)), RNG.standard_normal((4, 5))


@pytest.mark.parametrize("confidential", [None, C], ids=["no secret", "secret"])
@pytest.mark.parametrize("utility", [0.0, 2.0])
def test_figures(utility, confidential):
    cleaner = NullSpaceCleaner(A, utility=utility, confidential=confidential).fit(X)
    report, cleaned = cleaner.report(X), cleaner.transform(X)
    errors = utility_error(X, cleaned, A)
    assert report.largest_utility_error == pytest.approx(errors.max())
    assert report.mean_utility_error == pytest.approx(errors.mean())
    assert report.variance_left == pytest.approx(cleaned.var(axis=0).sum() / X.var(axis=0).sum())
    at_mean = np.sum(np.all(cleaned == cleaner.mean_, axis=1))
    assert report.n_rows_at_mean == at_mean
    # Of the two numbers that are left, only one tells anything of the secret; the other stays.
    assert (at_mean > 0) == (utility > 0.0 and confidential is None)
    # The adversary's best linear model of the features, from the cleaned rows themselves.
    model = LinearRegression().fit(cleaned @ A.T, X)
    residual = np.sum((X - model.predict(cleaned @ A.T)) ** 2)
    total = np.sum((X - X.mean(axis=0)) ** 2)
    assert report.recoverable == pytest.approx(1 - residual / total)
    assert (report.secret_recoverable is None) == (confidential is None)


def test_words():
    report = NullSpaceCleaner(A, utility=2.0, confidential=C).fit(X).report(X, X[:, 0])
    text = str(report)
    for part in ("3 of 5 dimensions", "Not protected", "differential privacy"):
        assert part in text
    assert "too near the mean" not in text
    assert "too near the mean" in str(NullSpaceCleaner(A, utility=2.0).fit(X).report(X))
    assert "Confidential labels: R2" in text and "Secrets other than the one" in text
    assert max(map(len, text.splitlines())) <= 100
    assert json.loads(json.dumps(report.to_dict()))["attack"]["scoring"] == "R2"


def test_without_spread():
    same = np.ones((4, 5))
    report = NullSpaceCleaner(A).fit(same).report(same)
    assert report.variance_left == report.recoverable == 0.0
    assert report.n_rows_at_mean == 4
