"""Columns chosen from data with gaps: what they leave of the complete data.

    python -m benchmarks.missing

Values of bundled data sets are removed at random; columns are then chosen with filled means, with
pairwise covariances and with those of the EM algorithm. The table shows the unexplained variance of
the complete data that the chosen columns leave, next to that of the best columns: the mean over
draws of the gaps, and the worst one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from columnist import ColumnSelector
from columnist.metrics import reconstruction_error

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


def table(draws: int) -> list[str]:
    """Lines of the table."""
    head = f"{'set':<6}{'k':>3}{'missing':>9}{'best':>8}"
    lines = [head + "".join(f"{method:>25}" for method in METHODS)]
    for name, (load, k) in SETS.items():
        X = StandardScaler().fit_transform(load().data)
        best = ColumnSelector(k, centering="mean").fit(X).relative_error_
        for share in SHARES:
            runs = [errors(X, k, share, seed) for seed in range(draws)]
            line = f"{name:<6}{k:>3}{share:>9.0%}{best:>8.2%}"
            for method in METHODS:
                values, spent = zip(*(run[method] for run in runs), strict=True)
                words = f"{np.mean(values):.2%} ({max(values):.2%}) {np.mean(spent):5.2f}s"
                line += f"{words:>25}"
            lines.append(line)
            print(line, flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    print(*table(parser.parse_args().draws)[:1], sep="\n")
