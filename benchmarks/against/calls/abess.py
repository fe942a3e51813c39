"""abess."""

from __future__ import annotations

import numpy as np
from abess import LinearRegression, MultiTaskRegression


def select(X, y, k, **options):
    """Columns for one target or several."""
    model = LinearRegression if y.ndim == 1 else MultiTaskRegression
    coef = np.abs(model(support_size=k, thread=1, **options).fit(X, y).coef_)
    return {"columns": np.flatnonzero(coef if y.ndim == 1 else coef.sum(axis=1))}
