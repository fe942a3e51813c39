"""Very wide sparse data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.data._parameters import Integer, checked
from columnist.datasets._randomness import generator

__all__ = ["make_wide_sparse"]


@checked(n_samples=Integer(1), per_row=Integer(1), n_informative=Integer(1))
def make_wide_sparse(
    n_samples: int = 20_000,
    n_features: int = 3_200_000,
    *,
    per_row: int = 100,
    n_informative: int = 20,
    random_state=None,
) -> tuple[sp.csc_array, np.ndarray, np.ndarray]:
    """A sparse 0/1 matrix like bags of words, and classes that depend on a few columns.

    The share of ones in the j-th column falls like 1/j. The informative columns are neither the
    most frequent nor rare ones; each speaks for one of two classes.

    Parameters
    ----------
    n_samples, n_features : int, default=20000, 3200000
        Shape.
    per_row : int, default=100
        Ones drawn a row; some fall on the same column and count once.
    n_informative : int, default=20
        Columns that matter, at most half of the columns.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : csc_array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes 0 and 1.
    informative : ndarray of shape (n_informative,)
        The columns that matter, ascending.

    Examples
    --------
    >>> from columnist.datasets import make_wide_sparse
    >>> X, y, informative = make_wide_sparse(500, 100_000, random_state=0)
    >>> X.shape, X.nnz <= 500 * 100, len(informative)
    ((500, 100000), True, 20)
    """
    Integer(2 * n_informative).check("n_features", n_features)
    rng = generator(random_state)
    columns = np.minimum(n_features ** rng.random(n_samples * per_row) - 1.0, n_features - 1)
    places = np.repeat(np.arange(n_samples), per_row), columns.astype(np.int64)
    X = sp.csc_array((np.ones(len(columns)), places), shape=(n_samples, n_features))
    X.data[:] = 1.0  # a column drawn twice in a row is there once
    first = min(5, n_informative)
    candidates = np.arange(first, min(n_features, first + 5 * n_informative))
    informative = np.sort(rng.choice(candidates, n_informative, replace=False))
    weights = np.where(rng.permutation(n_informative) % 2, 1.0, -1.0)
    strength = X[:, informative] @ weights + 0.5 * rng.standard_normal(n_samples)
    return X, (strength > np.median(strength)).astype(np.int64), informative
