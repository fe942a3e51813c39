"""OKRidge."""

from __future__ import annotations

import numpy as np
from okridge.tree import BNBTree


def select(X, y, k, time_limit, alpha=0.1):
    """Columns for one target, called as its README does: ridge 0.1, a gap of 1e-4 is a proof.

    It has no intercept, so that the data come without their means. Its objective leaves ||y||^2
    out, is negative, and its gap is a share of that; here the gap is the share of the error.
    """
    tree = BNBTree(X=X, y=y, lambda2=alpha)
    value, coef, gap, bound, _ = tree.solve(k=k, gap_tol=GAP, verbose=False, time_limit=time_limit)
    return {
        "columns": np.flatnonzero(coef),
        "gap": (value - bound) / (value + y @ y),
        "proven": bool(gap <= GAP),
    }


GAP = 1e-4
