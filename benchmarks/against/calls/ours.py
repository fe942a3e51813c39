"""Columnist."""

from __future__ import annotations

import columnist.robust
import columnist.selection
import columnist.spectral
from columnist import ColumnSelector


def certified(X, k, y=None, time_limit=20.0):
    """Certified choice: the columns and what is proven."""
    best = ColumnSelector(k, time_limit=time_limit).fit(X, y)
    certificate = best.certificate_
    return {
        "columns": best.selected_,
        "bound": certificate.lower_bound / (certificate.error / best.relative_error_),
        "proven": certificate.is_optimal,
    }


def select(X, k, selector, y=None, **options):
    """Columns of a fast selector."""
    return {"columns": getattr(columnist.selection, selector)(k, **options).fit(X, y).selected_}


def rank(X, y, k, selector, labels=True, **options):
    """Features of a spectral selector, and the scores of all."""
    chosen = getattr(columnist.spectral, selector)(k, **options).fit(X, y if labels else None)
    return {"features": chosen.selected_, "scores": chosen.raw_scores_}


def robust(X, n_components, estimator, **options):
    """Subspace of a robust estimator."""
    fitted = getattr(columnist.robust, estimator)(n_components, **options).fit(X)
    return {"axes": fitted.components_, "centre": fitted.mean_}
