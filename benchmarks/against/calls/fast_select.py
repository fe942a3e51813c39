"""fast-select."""

from __future__ import annotations

import fast_select
import numpy as np


def relief(X, y, k, n_neighbors=10):
    """ReliefF; it computes in single precision."""
    model = fast_select.ReliefF(
        n_features_to_select=k, n_neighbors=n_neighbors, backend="cpu", n_jobs=1
    )
    scores = model.fit(X.astype(np.float32), y).feature_importances_
    return {"features": np.argsort(-scores, kind="stable")[:k], "scores": scores}
