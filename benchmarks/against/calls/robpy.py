"""robpy."""

from __future__ import annotations

from robpy.pca import ROBPCA, PCALocantore


def robpca(X, n_components, final_MCD_step=True):
    """Its ROBPCA."""
    return axes(ROBPCA(n_components=n_components, final_MCD_step=final_MCD_step, random_seed=0), X)


def spherical(X, n_components):
    """Its spherical PCA."""
    return axes(PCALocantore(n_components=n_components), X)


def axes(model, X):
    """Axes as rows, and the centre."""
    fitted = model.fit(X)
    return {"axes": fitted.components_.T, "centre": fitted.location_}
