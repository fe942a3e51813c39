"""The textbook best-first search over sets of outliers, in plain NumPy.

Every child goes into the fringe, a closed list forbids repetitions, ties go to the deeper
node. With D the removed points, j of the k, and lambda the eigenvalues of the second moment of
the others, f(D) is the sum of all but the r + k - j largest, u(D) that of all but the r largest.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

__all__ = ["OutlierResult", "textbook_outliers"]


@dataclass(frozen=True)
class OutlierResult:
    """The removed points, their error (NaN if the search was given up) and the effort."""

    removed: tuple[int, ...]
    error: float
    n_expanded: int


def textbook_outliers(
    X: np.ndarray, r: int, k: int, eps: float = 0.0, max_nodes: int = 10**9
) -> OutlierResult:
    """Uncentred outliers among the rows of X under squared Frobenius, in the order f + eps u.

    The rows are reduced once to n dimensions; all children of a node are evaluated together
    by dense eigenvalues.
    """
    U, sigma, _ = np.linalg.svd(X, full_matrices=False)
    points = U * sigma
    outer = points[:, :, None] * points[:, None, :]
    whole = outer.sum(axis=0)
    fringe: list[tuple[float, int, tuple[int, ...], float]] = [(0.0, 0, (), 0.0)]
    seen: set[tuple[int, ...]] = {()}
    n_expanded = 0
    while True:
        _, depth, removed, error = heapq.heappop(fringe)
        if -depth == k:
            return OutlierResult(removed, error, n_expanded)
        if n_expanded == max_nodes:
            return OutlierResult((), np.nan, n_expanded)
        n_expanded += 1
        options = [i for i in range(len(points)) if i not in removed]
        children = [tuple(sorted((*removed, i))) for i in options]
        fresh = [i for i, child in enumerate(children) if child not in seen]
        if not fresh:
            continue
        left = whole - outer[list(removed)].sum(axis=0)
        spectra = np.linalg.eigvalsh(left - outer[[options[i] for i in fresh]])
        dropped = r + k - len(removed) - 1
        f, u = (
            np.maximum(spectra[:, : spectra.shape[1] - free], 0.0).sum(axis=1)
            for free in (dropped, r)
        )
        for i, key, error in zip(fresh, (f + eps * u).tolist(), u.tolist(), strict=True):
            seen.add(children[i])
            heapq.heappush(fringe, (key, depth - 1, children[i], error))
