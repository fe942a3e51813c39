"""A certified selection with the installed package, checked against every other choice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import columnist


def error(X: np.ndarray, columns: tuple[int, ...]) -> float:
    """What is left of X without its part in the span of some columns."""
    basis, _ = np.linalg.qr(X[:, columns])
    return float(np.linalg.norm(X - basis @ (basis.T @ X)))


def main() -> None:
    """Print where the package is, and stop if its proof is wrong."""
    X = StandardScaler().fit_transform(load_wine().data)
    selector = columnist.ColumnSelector(3).fit(X)
    chosen = tuple(np.flatnonzero(selector.get_support()).tolist())
    best = min(combinations(range(X.shape[1]), 3), key=lambda columns: error(X, columns))
    if (selector.certificate_.status, chosen) != ("optimal", best):
        raise SystemExit(f"{selector.certificate_.status}: {chosen}, but {best} is the best")
    print(f"columnist {columnist.__version__} in {columnist.__path__[0]}: {chosen} is optimal")


if __name__ == "__main__":
    main()
