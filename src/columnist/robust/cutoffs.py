r"""How far a good row may lie: cut-offs for score and orthogonal distances.

Orthogonal distances: for Gaussian rows :math:`d^{2/3}` is nearly Gaussian (Wilson and
Hilferty). With m the median of these powers and s their median absolute deviation, made
consistent at the normal, :math:`(m + zs)^{3/2}` is a quantile of the distances.
Squared score distances are :math:`\chi^2_r` if the variances are those of the population.

Orthogonal distances of the rows that a subspace was fitted to are too small unless rows are
many, and their score distances are too large: a subspace bends towards its rows.
Cross-fitting measures every kept row from a subspace fitted without it. The orthogonal
cut-off is that of new rows. The score cut-off is that of new rows or that of the rows of the
fit, whichever is larger, so that neither raise more false alarms than stated; with more
features than rows, new rows raise fewer. No input validation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import chi2, norm

from columnist.robust.subspace import Subspace, fit_subspace

__all__ = ["COVERAGE", "Cutoffs", "classical_cutoffs", "cross_fitted_cutoffs", "orthogonal_cutoff"]

# Share of good rows within each of the two cut-offs.
COVERAGE = 0.975
# A removed row beyond the cut-off for this share is surely bad.
_NEARLY_ALL = 0.999
_FOLDS = 5
# An exact fit leaves rounding only: nothing closer than this share of the data is outlying.
_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Cutoffs:
    """Largest distances of an inlier; both are positive."""

    score: float
    orthogonal: float


def classical_cutoffs(X: np.ndarray, subspace: Subspace) -> Cutoffs:
    """Cut-offs from the distances of all rows the fit has seen, kept and removed."""
    return Cutoffs(
        float(np.sqrt(chi2.ppf(COVERAGE, max(len(subspace.variances), 1)))),
        max(orthogonal_cutoff(subspace.orthogonal_distances(X)), _smallest(X)),
    )


def cross_fitted_cutoffs(X: np.ndarray, outliers: np.ndarray, subspace: Subspace) -> Cutoffs:
    """Cut-offs from distances of kept rows to subspaces fitted without them.

    The kept rows are dealt into five folds by their distance from the subspace, so the
    order of the rows does not matter. With too few rows for that: the classical cut-offs.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        All rows.
    outliers : ndarray of int
        Rows the fit removed. Those that may be good count with their own distances: without
        them the cut-offs would be too small where good rows were removed, with the others
        too large where bad ones were.
    subspace : Subspace
        The fit.

    Returns
    -------
    Cutoffs

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust.cutoffs import cross_fitted_cutoffs
    >>> from columnist.robust.subspace import fit_subspace
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [5, 1, 1, 1, 1]
    >>> found = cross_fitted_cutoffs(X, np.array([], dtype=int), fit_subspace(X, 1))
    >>> round(found.score, 1), round(found.orthogonal, 1)
    (2.3, 3.3)
    """
    r = len(subspace.variances)
    kept = np.setdiff1d(np.arange(len(X)), outliers)
    folds = min(_FOLDS, len(kept))
    if len(kept) - -(-len(kept) // folds) <= r + 1:
        return classical_cutoffs(X, subspace)
    rows, removed = X[kept], X[outliers]
    score, orthogonal = _held_out(rows, folds, subspace)
    beyond = subspace.orthogonal_distances(removed)
    limit = max(_settled(orthogonal, beyond, orthogonal_cutoff), _smallest(X))
    # A row far from the subspace says nothing about the spread within.
    removed_score = subspace.score_distances(removed[beyond <= limit])
    rule = partial(_score_cutoff, r=r)
    own = subspace.score_distances(rows)
    return Cutoffs(max(_settled(part, removed_score, rule) for part in (score, own)), limit)


def orthogonal_cutoff(distances: np.ndarray, share: float = COVERAGE) -> float:
    """Quantile of good rows' orthogonal distances, by median and median absolute deviation."""
    powers = distances ** (2.0 / 3.0)
    middle = np.median(powers)
    mad = np.median(np.abs(powers - middle)) / norm.ppf(0.75)
    return float((middle + norm.ppf(share) * mad) ** 1.5)


def _score_cutoff(distances: np.ndarray, share: float = COVERAGE, *, r: int) -> float:
    """Quantile of score distances: chi-squared, scaled to the median seen."""
    nominal = float(np.sqrt(chi2.ppf(share, max(r, 1))))
    middle = float(np.median(distances))
    if middle == 0.0 or not np.isfinite(middle):
        return nominal
    return nominal * middle / float(np.sqrt(chi2.ppf(0.5, r)))


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


def _held_out(X: np.ndarray, folds: int, subspace: Subspace) -> tuple[np.ndarray, np.ndarray]:
    """Score and orthogonal distances of every row to the fit of the other folds.

    Scores are in units of the whole fit's deviations, as they are in use.
    """
    order = np.lexsort((subspace.score_distances(X), subspace.orthogonal_distances(X)))
    score, orthogonal = np.empty(len(X)), np.empty(len(X))
    mean = None if subspace.free_mean else subspace.mean
    for start in range(folds):
        fold = np.zeros(len(X), dtype=bool)
        fold[order[start::folds]] = True
        rest = fit_subspace(X[~fold], len(subspace.variances), mean)
        rest = replace(rest, variances=subspace.variances)
        score[fold] = rest.score_distances(X[fold])
        orthogonal[fold] = rest.orthogonal_distances(X[fold])
    return score, orthogonal


def _smallest(X: np.ndarray) -> float:
    size = _ROUNDING * float(np.sqrt(np.max(np.einsum("ij,ij->i", X, X))))
    return max(size, 1e-150)
