"""NumPy prototypes in a folder that is told; they are no part of the project."""

from __future__ import annotations

import importlib
import sys

import numpy as np


def select(X, y, k, time_limit, folder, module, function, copies=False):
    """Columns for one target; its gap is the share of the error, without its rounding.

    They know no columns that are copies of one another: with ``copies`` these are left out here.
    """
    sys.path.insert(0, folder)
    kept = originals(X) if copies else np.arange(X.shape[1])
    found = getattr(importlib.import_module(module), function)(X[:, kept], y, k, tl=time_limit)
    if not np.isfinite(found["gap"]):
        raise ArithmeticError("the gap is no number")
    return {"columns": kept[found["S"]], "gap": found["gap"], "proven": bool(found["gap"] <= 1e-9)}


def originals(X):
    """Columns without those that repeat an earlier one, up to sign and scale."""
    repeats = np.triu(np.abs(np.corrcoef(X, rowvar=False)) > 1.0 - 1e-9, 1).any(axis=0)
    return np.flatnonzero(~repeats)
