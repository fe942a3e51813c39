"""Robust reference methods beside a search for outliers: the rows that they flag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from columnist.data._blocks import as_rows
from columnist.robust import ROBPCA
from columnist.robust._robpca import mahalanobis, mcd

# Rows and columns up to which references are fitted, and the fewest rows per column of an MCD.
_MOST_ROWS, _MOST_COLUMNS, _FEWEST = 20_000, 30, 3
# Share of regular data in which an MCD flags no row; share of rows in its subset.
_SURE, _SUBSET = 0.975, 0.75


@dataclass(frozen=True)
class Reference:
    """The result of a robust method; ``flags`` is None if it was not run."""

    name: str
    flags: np.ndarray | None = None
    why_not: str = ""


def references(data, size: int, seed: int) -> list[Reference]:
    """ROBPCA with ``size`` components, and a minimum covariance determinant (MCD)."""
    return [_robpca(data, size, seed), _mcd(data, seed)]


def _robpca(data, size: int, seed: int) -> Reference:
    if data.X.shape[0] > _MOST_ROWS:
        return Reference("ROBPCA", why_not=f"it is for at most {_MOST_ROWS:,} rows")
    try:
        found = ROBPCA(size, random_state=seed).fit(data.X)
    except ValueError:
        return Reference("ROBPCA", why_not="there are too few rows")
    flags = data.judged(found)[3]
    flags[found.outliers_] = True
    return Reference("ROBPCA", flags)


def _mcd(data, seed: int) -> Reference:
    n, p = data.X.shape
    if n > _MOST_ROWS or p > _MOST_COLUMNS:
        return Reference(
            "MCD", why_not=f"it is for at most {_MOST_ROWS:,} rows and {_MOST_COLUMNS} columns"
        )
    if n < _FEWEST * p:
        return Reference("MCD", why_not=f"it needs at least {_FEWEST} rows per column")
    X = np.asarray(as_rows(data.X).gather(), dtype=np.float64)
    found = mcd(X, _SUBSET, np.random.default_rng(seed))
    if found is None:
        return Reference("MCD", why_not="most rows lie in a hyperplane")
    distances = mahalanobis(X, found.location, found.covariance)
    return Reference("MCD", distances > chi2.ppf(_SURE ** (1.0 / n), p))
