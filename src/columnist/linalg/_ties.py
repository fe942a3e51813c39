"""Ranking and selection with ties, independent of rounding."""

from __future__ import annotations

import numpy as np

from columnist.linalg._rounding import EPS

# Figures closer than this (relative) count as equal, so that ties go to the smaller index.
TIE = 1e-12


def first_largest(
    values: np.ndarray, allowed: np.ndarray, *, unit: float = 0.0
) -> tuple[int, float]:
    """Index and value of the largest allowed entry, the first one among near ties.

    Values tie that differ by a small share of the largest, or of ``unit`` if that is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._ties import first_largest
    >>> first_largest(np.array([1.0, 3.0, 3.0, 9.0]), np.array([True, True, True, False]))
    (1, 3.0)
    """
    masked = np.where(allowed, values, -np.inf)
    best = masked.max()
    at = int(np.flatnonzero(masked >= best - TIE * max(abs(best), unit))[0])
    return at, float(values[at])


def ranked(values: np.ndarray, *, tie: float = TIE, unit: float = 0.0) -> np.ndarray:
    """Indices from the largest value to the smallest; near ties by index, NaN last.

    Parameters
    ----------
    values : ndarray
        Figures.
    tie : float, default=1e-12
        Share by which equal figures may differ.
    unit : float, default=0.0
        That share is one of the figure, or of this where it is larger: differences of larger
        numbers, such as inner products of nearly orthogonal vectors, keep their rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._ties import ranked
    >>> ranked(np.array([np.nan, 1.0, 2.0, 1.0 + 1e-15]))
    array([2, 1, 3, 0])
    >>> ranked(np.array([1e-15, 3e-15, 1.0]), unit=1.0)
    array([2, 0, 1])
    """
    return np.argsort(levels(values, tie=tie, unit=unit), kind="stable")


def levels(values: np.ndarray, *, tie: float = TIE, unit: float = 0.0) -> np.ndarray:
    """Level of every value, 0 for the largest; near ties (see :func:`ranked`) share one, NaN the
    last."""
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    above, under = falling[:-1], falling[1:]
    with np.errstate(invalid="ignore"):  # differences of NaN and of equal infinities
        near = (above - under <= tie * np.maximum(np.abs(above), unit)) & np.isfinite(above)
    equal = near | (above == under) | (np.isnan(above) & np.isnan(under))
    found = np.zeros(len(values), dtype=np.intp)
    found[order[1:]] = np.cumsum(~equal)
    return found


def evened(values: np.ndarray, *, tie: float = TIE, unit: float = 0.0) -> np.ndarray:
    """Values of which near ties (see :func:`ranked`) are made equal."""
    _, first, level = np.unique(
        levels(values, tie=tie, unit=unit), return_index=True, return_inverse=True
    )
    return values[first[level]]


def first_gain(gains: np.ndarray, allowed: np.ndarray, nothing: float) -> tuple[int, float]:
    """:func:`first_largest`, with gains at the level of rounding reported as zero."""
    at, gain = first_largest(gains, allowed)
    return at, gain if gain > nothing else 0.0


def rounding_energy(shape: tuple[int, int], energy: float) -> float:
    """Energy that rounding leaves of a matrix of this shape and energy."""
    return (max(shape) * EPS) ** 2 * energy
