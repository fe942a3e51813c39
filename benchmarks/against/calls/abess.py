"""abess."""

from __future__ import annotations

import numpy as np
from abess import LinearRegression, LogisticRegression, MultiTaskRegression


def select(X, y, k, **options):
    """Columns for one target or several."""
    model = LinearRegression if y.ndim == 1 else MultiTaskRegression
    coef = np.abs(model(support_size=k, thread=1, **options).fit(X, y).coef_)
    return {"columns": np.flatnonzero(coef if y.ndim == 1 else coef.sum(axis=1))}


def by_bic(X, y):
    """Columns for one target, as many as the criterion of Bayes wants; all sizes are tried."""
    n, m = X.shape
    sizes = range(min(m, n - 2) + 1)
    coef = LinearRegression(support_size=sizes, ic_type="bic", thread=1).fit(X, y).coef_
    return {"columns": np.flatnonzero(coef)}


def classify(X, y, k):
    """Columns for two classes."""
    coef = LogisticRegression(support_size=k, thread=1).fit(X, y).coef_
    return {"columns": np.flatnonzero(coef)}
