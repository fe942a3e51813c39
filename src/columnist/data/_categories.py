"""Indicator columns for categories."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def coded(name: str, values: Iterable) -> dict[str, np.ndarray]:
    """One column for each category, ``name_category``; a missing value is missing in all of them.

    Examples
    --------
    >>> from columnist.data._categories import coded
    >>> coded("colour", ["red", "blue", None])
    {'colour_blue': array([ 0.,  1., nan]), 'colour_red': array([ 1.,  0., nan])}
    """
    text = [None if value is None or value != value else str(value) for value in values]
    here = np.array([value is not None for value in text], dtype=bool)
    found = np.array([value or "" for value in text], dtype=object)
    levels = sorted({value for value in text if value is not None})
    return {
        f"{name}_{level}": np.where(here, (found == level).astype(np.float64), np.nan)
        for level in levels
    }
