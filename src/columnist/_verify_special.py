"""Data of special kinds, as a checker of proofs prepares them: NumPy and the standard library.

Weights, classes, and columns that are multiples of others, or left out as such. Proofs about other
problems can be checked without this file (:mod:`columnist._verify`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def counted(problem: dict[str, Any], X, y) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
    """The rows that count, their target, and their weights; classes have one column of zeros and
    ones each."""
    weights = problem["weights"]
    y = y if y is None else np.asarray(y)
    if weights is not None:
        there = np.flatnonzero(weights)
        X, y, weights = X[there], y if y is None else y[there], np.array(weights)[there]
    if y is not None and problem["target"] == "classes":
        y = y.ravel()[:, None] == np.unique(y)
    y = y if y is None else y.astype(np.float64).reshape(len(y), -1)
    return X, y, weights


def without(
    items: np.ndarray, include, candidates: np.ndarray, header: dict[str, Any], twins: np.ndarray
) -> np.ndarray | None:
    """The other candidates, if these are columns of zeros and multiples of others, which no search
    for one set needs; None if they count."""
    claim, kept = header["claim"], np.setdiff1d(candidates, items)
    known = [-1, *twins[kept], *twins[include]]
    same = np.isin(items, candidates).all() and np.isin(twins[candidates], known).all()
    one = len(claim["solutions"]) == 1 and claim["within"] is None
    return kept if one and same else None


def multiples(
    dense: np.ndarray, near: np.ndarray, problem: dict[str, Any], rows_of: Callable, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """For every column the first one of which it is a multiple, by all their numbers, and up to
    rounding if they are ``near`` and no more than a share ``least`` is left of one."""
    twins = _twins(dense, problem["input"] == "gram", problem["centering"] == "mean")
    alike = twins.copy()
    for j, i in np.argwhere(np.tril(near, -1)).tolist():
        if alike[i] != i or alike[j] != j:
            continue
        Z = np.concatenate([*rows_of(dense[:, [i, j]])])
        x, y = (Z / np.sqrt((Z * Z).sum(axis=0))).T
        rest = y - x * (x @ y)
        if np.sqrt(rest @ rest) <= 0.5 * least:
            alike[j] = i
    return twins, alike


def _twins(dense: np.ndarray, gram: bool, center: bool) -> np.ndarray:
    """For every column the first one of which it is a power of two, or its negative, times; -1 for
    columns of zeros, and, without their means, of one number."""
    twins = np.arange(dense.shape[1])
    seen: dict[bytes, int] = {}
    for j, column in enumerate(dense.T):
        if not (column - column[0] if center and len(column) else column).any():
            twins[j] = -1
            continue
        largest = column[np.argmax(np.abs(column))]
        scaled = np.ldexp(column * math.copysign(1.0, largest), -math.frexp(largest)[1]) + 0.0
        first = seen.setdefault(hashlib.sha256(scaled.tobytes()).digest(), j)
        if not gram or dense[j, j] * dense[first, first] == dense[j, first] ** 2:
            twins[j] = first
    return twins
