"""How much selected columns repeat one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_array

from columnist.data._validation import resolve_columns
from columnist.linalg._passes import column_blocks, columns_of, merge_repeats

__all__ = ["redundancy_rate"]

# A column that varies by less than this share of its largest entry is constant.
_ROUNDING = 4 * np.finfo(np.float64).eps


def redundancy_rate(
    X, columns: Sequence[int | str] | None = None, *, absolute: bool = True
) -> float:
    r"""Mean correlation of the pairs of columns.

    .. math:: \frac{2}{k(k-1)} \sum_{i < j} |\rho_{ij}|

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str, optional
        The selection: indices, names of a data frame's columns, or a mask; all if None.
    absolute : bool, default=True
        Whether correlations count by their size; with signs if False.

    Returns
    -------
    float
        Between 0 and 1 (-1 and 1 with signs). Pairs with a constant column do not count; 0 if
        no pair is left.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.metrics import redundancy_rate
    >>> X = load_iris(as_frame=True).data
    >>> round(redundancy_rate(X), 3)
    0.594
    >>> round(redundancy_rate(X, ["petal length (cm)", "petal width (cm)"]), 3)
    0.963
    """
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    X = merge_repeats(X)
    if columns is not None:
        X = X[:, resolve_columns("columns", columns, X.shape[1], names)]
    blocks = list(column_blocks(X.shape[1], X.shape[0]))
    total, varying = 0.0, 0
    for i, first in enumerate(blocks):
        units = _units(columns_of(X, first))
        varying += units.shape[1]
        correlations = units.T @ units
        np.fill_diagonal(correlations, 0.0)
        total += _sum(correlations, absolute)
        for second in blocks[i + 1 :]:
            total += 2.0 * _sum(units.T @ _units(columns_of(X, second)), absolute)
    return total / (varying * (varying - 1)) if varying > 1 else 0.0


def _sum(correlations: np.ndarray, absolute: bool) -> float:
    correlations = np.clip(correlations, -1.0, 1.0, out=correlations)
    return float(np.abs(correlations, out=correlations).sum() if absolute else correlations.sum())


def _units(part: np.ndarray) -> np.ndarray:
    """Columns without their means and of length 1; constant columns are left out."""
    largest = np.abs(part).max(axis=0, initial=0.0)
    part = part[:, largest > 0.0] / largest[largest > 0.0]
    part -= part.mean(axis=0)
    lengths = np.linalg.norm(part, axis=0)
    varying = lengths > _ROUNDING * np.sqrt(len(part))
    return part[:, varying] / lengths[varying]
