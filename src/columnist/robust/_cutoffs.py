r"""Cut-offs of the score and orthogonal distances of regular rows.

For Gaussian rows the orthogonal distances have :math:`d^{2/3}` nearly Gaussian (Wilson and
Hilferty): with m the median of these powers and s their consistent median absolute deviation,
:math:`(m + zs)^{3/2}` is a quantile. Squared score distances are :math:`\chi^2_r` if the variances
are those of the population.

A subspace bends towards its rows: their orthogonal distances are too small, their score distances
too large. Cross-fitting measures every kept row from a subspace fitted without it. The orthogonal
cut-off is that of new rows; the score cut-off the larger one of new rows and rows of the fit, so
that neither raise more false alarms than stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtri

from columnist.linalg._rounding import EPS

# Share of good rows within each of the two cut-offs.
COVERAGE = 0.975
# A removed row beyond the cut-off for this share is surely bad.
_NEARLY_ALL = 0.999
_FOLDS = 5
# An exact fit leaves rounding only: nothing closer than this share of the data is outlying.
_ROUNDING = 64 * EPS


@dataclass(frozen=True)
class Cutoffs:
    """Largest distances of an inlier; both are positive."""

    score: float
    orthogonal: float


class Distances(NamedTuple):
    """Distances of rows within a subspace, and from it."""

    score: np.ndarray
    orthogonal: np.ndarray


def classical_cutoffs(orthogonal: np.ndarray, n_components: int, longest: float) -> Cutoffs:
    """Cut-offs from the orthogonal distances of all rows, and the norm of the longest."""
    score = _chi_quantile(COVERAGE, max(n_components, 1))
    return Cutoffs(score, max(orthogonal_cutoff(orthogonal), _smallest(longest)))


def cross_fitted_cutoffs(
    held_out: Distances, own: np.ndarray, removed: Distances, n_components: int, longest: float
) -> Cutoffs:
    """Cut-offs from distances of kept rows to subspaces fitted without them (``held_out``). ``own``
    are score distances of the kept rows. Removed rows that may be good count with their own
    distances: without them the cut-offs would be too small where good rows were removed, with the
    others too large where bad ones were."""
    limit = _settled(held_out.orthogonal, removed.orthogonal, orthogonal_cutoff)
    limit = max(limit, _smallest(longest))
    # A row far from the subspace is not informative about the spread within.
    removed_score = removed.score[removed.orthogonal <= limit]
    rule = partial(_score_cutoff, r=n_components)
    return Cutoffs(max(_settled(s, removed_score, rule) for s in (held_out.score, own)), limit)


def n_folds(n_kept: int, n_components: int) -> int:
    """Folds for cross-fitting; 0 if the rows are too few for it."""
    folds = min(_FOLDS, n_kept)
    return 0 if n_kept - -(-n_kept // folds) <= n_components + 1 else folds


def deal_folds(own: Distances, folds: int) -> np.ndarray:
    """The fold of every row: neighbours by distance go to different ones."""
    order = np.lexsort((own.score, own.orthogonal))
    fold = np.empty(len(order), dtype=np.int8)
    fold[order] = np.arange(len(order)) % folds
    return fold


def orthogonal_cutoff(distances: np.ndarray, share: float = COVERAGE) -> float:
    """Quantile of good rows' orthogonal distances, by median and median absolute deviation."""
    powers = distances ** (2.0 / 3.0)
    middle = np.median(powers)
    mad = np.median(np.abs(powers - middle)) / ndtri(0.75)
    return float((middle + ndtri(share) * mad) ** 1.5)


def _score_cutoff(distances: np.ndarray, share: float = COVERAGE, *, r: int) -> float:
    """Quantile of score distances: chi-squared, scaled to the median seen."""
    nominal = _chi_quantile(share, max(r, 1))
    middle = float(np.median(distances))
    if middle == 0.0 or not np.isfinite(middle):
        return nominal
    return nominal * middle / _chi_quantile(0.5, r)


def _settled(kept: np.ndarray, removed: np.ndarray, rule: Callable[..., float]) -> float:
    """Cut-off of the kept and of those removed distances that it does not show to be bad.

    Every round leaves out removed distances beyond the present cut-off for nearly all rows.
    """
    while True:
        pool = np.append(kept, removed)
        near = removed <= rule(pool, _NEARLY_ALL)
        if near.all():
            return rule(pool)
        removed = removed[near]


def _chi_quantile(share: float, degrees: int) -> float:
    """Root of a chi-squared quantile, for which scipy.stats takes a millisecond."""
    return float(np.sqrt(2.0 * gammaincinv(0.5 * degrees, share)))


def _smallest(longest: float) -> float:
    return max(_ROUNDING * longest, 1e-150)
