"""Choices that do not depend on rounding."""

from __future__ import annotations

import numpy as np

__all__ = ["TIE", "first_gain", "first_largest", "levels", "ranked", "rounding_energy"]

# Figures closer than this (relative) count as equal, so that ties go to the smaller index.
TIE = 1e-12


def first_largest(values: np.ndarray, allowed: np.ndarray) -> tuple[int, float]:
    """Index and value of the largest allowed entry, the first one among near ties.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg.ties import first_largest
    >>> first_largest(np.array([1.0, 3.0, 3.0, 9.0]), np.array([True, True, True, False]))
    (1, 3.0)
    """
    masked = np.where(allowed, values, -np.inf)
    best = masked.max()
    at = int(np.flatnonzero(masked >= best - TIE * abs(best))[0])
    return at, float(values[at])


def ranked(values: np.ndarray) -> np.ndarray:
    """Indices from the largest value to the smallest; near ties by index, NaN last.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg.ties import ranked
    >>> ranked(np.array([np.nan, 1.0, 2.0, 1.0 + 1e-15]))
    array([2, 1, 3, 0])
    """
    return np.argsort(levels(values), kind="stable")


def levels(values: np.ndarray) -> np.ndarray:
    """Level of every value, 0 for the largest; near ties share one, and NaN the last.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg.ties import levels
    >>> levels(np.array([1.0, 5.0, np.nan, 1.0 + 1e-15, np.nan]))
    array([1, 0, 2, 1, 2])
    """
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    above, under = falling[:-1], falling[1:]
    with np.errstate(invalid="ignore"):  # differences of NaN and of equal infinities
        near = (above - under <= TIE * np.abs(above)) & np.isfinite(above)
    equal = near | (above == under) | (np.isnan(above) & np.isnan(under))
    found = np.zeros(len(values), dtype=np.intp)
    found[order[1:]] = np.cumsum(~equal)
    return found


def first_gain(gains: np.ndarray, allowed: np.ndarray, nothing: float) -> tuple[int, float]:
    """:func:`first_largest`, with gains at the level of rounding reported as zero."""
    at, gain = first_largest(gains, allowed)
    return at, gain if gain > nothing else 0.0


def rounding_energy(shape: tuple[int, int], energy: float) -> float:
    """Energy that rounding leaves of a matrix of this shape and energy."""
    return (max(shape) * np.finfo(np.float64).eps) ** 2 * energy
