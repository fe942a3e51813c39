"""scikit-matter."""

from __future__ import annotations

from skmatter import feature_selection


def select(X, k, selector, y=None, **options):
    """Columns of one of its selectors."""
    chosen = getattr(feature_selection, selector)(n_to_select=k, **options).fit(X, y)
    return {"columns": chosen.selected_idx_}
