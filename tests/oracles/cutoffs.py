"""Cut-offs of rows in memory, by decompositions of the rows themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from columnist.robust import _cutoffs
from columnist.robust._cutoffs import Cutoffs, Distances, deal_folds, n_folds
from columnist.robust._subspace import Subspace, fit_subspace


def longest_row(X: np.ndarray) -> float:
    return float(np.linalg.norm(X, axis=1).max())


def classical_cutoffs(X: np.ndarray, subspace: Subspace) -> Cutoffs:
    """Cut-offs from the distances of all rows."""
    distances = subspace.orthogonal_distances(X)
    return _cutoffs.classical_cutoffs(distances, len(subspace.variances), longest_row(X))


def cross_fitted_cutoffs(X: np.ndarray, outliers: np.ndarray, subspace: Subspace) -> Cutoffs:
    """Cut-offs from distances of kept rows to subspaces fitted without them."""
    r = len(subspace.variances)
    kept = np.setdiff1d(np.arange(len(X)), outliers)
    folds = n_folds(len(kept), r)
    if not folds:
        return classical_cutoffs(X, subspace)
    own, away = (_distances(subspace, X[rows]) for rows in (kept, outliers))
    held_out = _held_out(X[kept], deal_folds(own, folds), subspace)
    return _cutoffs.cross_fitted_cutoffs(held_out, own.score, away, r, longest_row(X))


def _distances(subspace: Subspace, X: np.ndarray) -> Distances:
    return Distances(subspace.score_distances(X), subspace.orthogonal_distances(X))


def _held_out(X: np.ndarray, fold_of: np.ndarray, subspace: Subspace) -> Distances:
    """Distances of every row to the fit of the other folds, in deviations of the whole fit."""
    found = np.empty((2, len(X)))
    mean = None if subspace.free_mean else subspace.mean
    for number in range(fold_of.max() + 1):
        fold = fold_of == number
        rest = fit_subspace(X[~fold], len(subspace.variances), mean)
        found[:, fold] = _distances(replace(rest, variances=subspace.variances), X[fold])
    return Distances(*found)
