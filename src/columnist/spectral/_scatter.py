"""Sums of squares of columns around their means: whole, between and within classes.

Rounding counts as no variation: what is within a few units in the last place of a column's
length is exactly zero here. No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks
from columnist.linalg._passes import column_blocks
from columnist.spectral._group_sums import (
    ClassVisit,
    GroupSums,
    WeightedVisit,
    group_sums,
    merged_groups,
)

__all__ = ["ClassScatter", "class_scatter", "column_scatter", "weighted_sums", "without_rounding"]

# Variation below this share of a column's length is the rounding of its entries.
_ROUNDING = 4 * np.finfo(np.float64).eps
# Arrays of the size of a sparse block that exist at the same time.
_COPIES = 8


@dataclass(frozen=True)
class ClassScatter:
    """Sums of squares of every column: of the class means, and around them."""

    between: np.ndarray
    within: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Sum of squares around the mean of the column."""
        return self.between + self.within


def column_scatter(X, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Sum of squares :math:`\sum_i w_i (x_i - \bar x)^2` around the weighted mean of every column.

    Parameters
    ----------
    X : ndarray, CSC matrix or RowBlocks of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    weights : ndarray of shape (n_samples,), optional
        Weights of the samples, not negative; ones if None.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scatter import column_scatter
    >>> column_scatter(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([2., 0.])
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    sums = weighted_sums(X, weights)
    return without_rounding(sums.within, sums.lengths)


def weighted_sums(X, weights: np.ndarray) -> GroupSums:
    """Weighted means and squares of every column."""
    if isinstance(X, RowBlocks):
        return X.fold(WeightedVisit(), merged_groups, weights).in_unit(1.0)
    return group_sums(X, np.zeros(X.shape[0], dtype=np.intp), weights, 1)


def class_scatter(X, codes: np.ndarray) -> ClassScatter:
    """Variation of every column between and within classes. No input validation.

    Parameters
    ----------
    X : ndarray, CSC matrix or RowBlocks of shape (n_samples, n_features)
        Data; a sparse matrix is not made dense.
    codes : ndarray of shape (n_samples,)
        Class of every sample, an integer from 0; every class has a sample.

    Returns
    -------
    ClassScatter

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._scatter import class_scatter
    >>> class_scatter(np.array([[1.0], [3.0], [6.0]]), np.array([0, 0, 1]))
    ClassScatter(between=array([10.66666667]), within=array([2.]))
    """
    n_classes = int(codes.max()) + 1
    if isinstance(X, RowBlocks):
        return _variation(X.fold(ClassVisit(n_classes), merged_groups, codes))
    if not sp.issparse(X):
        return _variation(group_sums(X, codes, np.ones(len(codes)), n_classes))
    between, within = np.empty((2, X.shape[1]))
    for columns in column_blocks(X.shape[1], _COPIES * max(n_classes, X.nnz // X.shape[1])):
        part = _variation(group_sums(X[:, columns], codes, np.ones(len(codes)), n_classes))
        between[columns], within[columns] = part.between, part.within
    return ClassScatter(between, within)


def _variation(sums: GroupSums) -> ClassScatter:
    return ClassScatter(
        without_rounding(sums.between(), sums.lengths),
        without_rounding(sums.within, sums.lengths),
    )


def without_rounding(scatter: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The scatter of columns of these squared lengths, with zeros for rounding."""
    return np.where(scatter > _ROUNDING**2 * lengths, scatter, 0.0)
