"""mrmr-selection."""

from __future__ import annotations

import mrmr
import pandas as pd


def select(X, y, k):
    """Features of large F statistic that correlate little with those already chosen."""
    frame, target = pd.DataFrame(X), pd.Series(y)
    return {"features": mrmr.mrmr_classif(frame, target, k, n_jobs=1, show_progress=False)}
