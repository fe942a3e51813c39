"""How well selected columns preserve the nearest neighbours of the samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from columnist.data._parameters import checked
from columnist.linalg._second_moment import kernel_blocks
from columnist.metrics._similarity import resolve_matrix, selected_data

__all__ = ["neighbour_jaccard"]


@checked()
def neighbour_jaccard(
    X,
    similarity,
    columns: Sequence[int | str] | None = None,
    *,
    n_neighbors: int = 5,
    weights=None,
    normalize: bool = True,
) -> float:
    r"""Share of nearest neighbours that the selected columns and a similarity have in common.

    The mean over the samples of :math:`|A \cap B| / |A \cup B|`, where A holds the k other
    samples with the largest inner products in the selected columns, and B those with the
    largest similarities.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    similarity : array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity; also what the similarity functions of :mod:`columnist.spectral` return.
    columns : sequence of int or str, optional
        The selection: indices, names of a data frame's columns, or a mask; all if None.
    n_neighbors : int, default=5
        k, less than the number of samples. Of equally near samples the first count.
    weights : array-like of shape (n_columns, n_components), optional
        W, for inner products in :math:`X_F W` instead of :math:`X_F`.
    normalize : bool, default=True
        Divide every column by its length first.

    Returns
    -------
    float
        Between 0 (no neighbour in common) and 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.metrics import neighbour_jaccard
    >>> X = load_iris().data
    >>> K = X @ X.T
    >>> neighbour_jaccard(X, K, normalize=False)
    1.0
    >>> round(neighbour_jaccard(X, K, [0, 2], normalize=False), 2)
    0.91
    """
    F = selected_data(X, columns, weights=weights, normalize=normalize)
    K = resolve_matrix(similarity, F.shape[0], "similarity")
    if n_neighbors >= F.shape[0]:
        raise ValueError(
            f"n_neighbors must be less than the number of samples ({F.shape[0]}); "
            f"got {n_neighbors}."
        )
    total = 0.0
    for rows, block in kernel_blocks(F):
        other = K[rows].toarray() if sp.issparse(K) else K[rows].copy()
        near, expected = (_nearest(B, rows.start, n_neighbors) for B in (block, other))
        common = (near & expected).sum(axis=1)
        total += float((common / (2 * n_neighbors - common)).sum())
    return total / F.shape[0]


def _nearest(block: np.ndarray, start: int, k: int) -> np.ndarray:
    """Mask of the k largest entries of every row but its own, the first among equals."""
    rows = np.arange(len(block))
    block[rows, start + rows] = -np.inf
    least = -np.partition(-block, k - 1, axis=1)[:, k - 1 : k]
    above, level = block > least, block == least
    room = k - above.sum(axis=1, keepdims=True)
    return above | (level & (np.cumsum(level, axis=1) <= room))
