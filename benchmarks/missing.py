"""Columns chosen from data with gaps: what they leave of the complete data.

Values of bundled data sets are removed at random; columns are then chosen with filled means, with
pairwise covariances and with those of the EM algorithm. The table shows the unexplained variance of
the complete data that the chosen columns leave, next to that of the best columns: the mean over
draws of the gaps, and the worst one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from benchmarks.data import Sets
from benchmarks.measure import Row
from columnist import ColumnSelector
from columnist.metrics import reconstruction_error

TITLE = "Columns chosen from data with gaps"

DRAWS = 5
SETS: dict[str, tuple[Callable, int]] = {"wine": (load_wine, 4), "wdbc": (load_breast_cancer, 5)}
SHARES = (0.1, 0.3, 0.5)
METHODS = ("mean", "pairwise", "covariance")


def chosen(Z: np.ndarray, k: int, method: str) -> np.ndarray:
    """Columns of data with gaps, on one scale."""
    if method == "mean":
        Z = SimpleImputer().fit_transform(Z)
        return ColumnSelector(k, centering="mean").fit(Z).selected_
    return ColumnSelector(k, centering="mean", missing=method).fit(Z).selected_


def errors(X: np.ndarray, k: int, share: float, seed: int) -> dict[str, tuple[float, float]]:
    """Unexplained variance of the complete data, and processor seconds, of every method."""
    rng = np.random.default_rng(seed)
    Z = np.where(rng.random(X.shape) < share, np.nan, X)
    Z = StandardScaler().fit_transform(Z)  # what is known of the scales is what is there
    found = {}
    for method in METHODS:
        started = time.process_time()
        columns = chosen(Z, k, method)
        spent = time.process_time() - started
        error = reconstruction_error(X, columns, centering="mean", relative=True)
        found[method] = (error, spent)
    return found


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set and share of missing values."""
    found = []
    for name, (load, k) in SETS.items():
        X = StandardScaler().fit_transform(load().data)
        best = ColumnSelector(k, centering="mean").fit(X).relative_error_
        for share in SHARES[:1] if quick else SHARES:
            runs = [errors(X, k, share, seed) for seed in range(1 if quick else DRAWS)]
            row: Row = {
                "set": name,
                "k": k,
                "missing [%]": 100.0 * share,
                "best [%]": 100.0 * best,
            }
            for method in METHODS:
                values, spent = zip(*(run[method] for run in runs), strict=True)
                row[f"{method} [%]"] = 100.0 * float(np.mean(values))
                row[f"{method}, worst [%]"] = 100.0 * max(values)
                row[f"{method} [s]"] = float(np.mean(spent))
            found.append(row)
    return found
