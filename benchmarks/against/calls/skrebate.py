"""skrebate (scikit-rebate)."""

from __future__ import annotations

from skrebate import ReliefF


def relief(X, y, k, n_neighbors=10):
    """ReliefF."""
    model = ReliefF(n_features_to_select=k, n_neighbors=n_neighbors, n_jobs=1).fit(X, y)
    return {"features": model.top_features_[:k], "scores": model.feature_importances_}
