"""Columns that stand for one another, and columns that matter among others that do not."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import Integer, Number, checked
from columnist.datasets._randomness import generator

__all__ = ["make_redundant_columns", "make_sparse_loadings"]


@checked(n_samples=Integer(1), n_groups=Integer(1), group_size=Integer(1), noise=Number(0.0))
def make_redundant_columns(
    n_samples: int = 100,
    n_groups: int = 5,
    *,
    group_size: int = 4,
    noise: float = 0.1,
    shuffle: bool = True,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of nearly equal columns: one of each group says it all.

    A column is that of its group, times a factor between 1/2 and 2 and perhaps -1, plus noise.

    Parameters
    ----------
    n_samples : int, default=100
        Rows.
    n_groups : int, default=5
        Groups; their own columns are independent and standard normal.
    group_size : int, default=4
        Columns of a group.
    noise : float, default=0.1
        Standard deviation of the noise, relative to that of a column.
    shuffle : bool, default=True
        Whether the columns are mixed, or stand group by group.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_groups * group_size)
    groups : ndarray of shape (n_groups * group_size,)
        Group of every column.

    Examples
    --------
    >>> from columnist.datasets import make_redundant_columns
    >>> from columnist.selection import ForwardSelector
    >>> X, groups = make_redundant_columns(random_state=0)
    >>> selected = ForwardSelector(5).fit(X).selected_
    >>> sorted(map(int, groups[selected]))
    [0, 1, 2, 3, 4]
    """
    rng = generator(random_state)
    groups = np.repeat(np.arange(n_groups), group_size)
    if shuffle:
        groups = rng.permutation(groups)
    columns = rng.standard_normal((n_samples, n_groups))
    X = columns[:, groups] + noise * rng.standard_normal((n_samples, len(groups)))
    factors = 2.0 ** rng.uniform(-1.0, 1.0, len(groups)) * rng.choice([-1.0, 1.0], len(groups))
    return X * factors, groups


@checked(
    n_samples=Integer(1),
    n_features=Integer(1),
    rank=Integer(1),
    n_informative=Integer(1),
    noise=Number(0.0),
)
def make_sparse_loadings(
    n_samples: int = 120,
    n_features: int = 40,
    *,
    rank: int = 3,
    n_informative: int = 8,
    noise: float = 0.4,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Hidden sources that drive the first features; the others are noise.

    Parameters
    ----------
    n_samples, n_features : int, default=120, 40
        Shape.
    rank : int, default=3
        Sources, standard normal, with standard normal loadings.
    n_informative : int, default=8
        Features that they drive.
    noise : float, default=0.4
        Standard deviation of noise on all features.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    loadings : ndarray of shape (n_features, rank)
        Zero but for the informative features, which come first.

    Examples
    --------
    >>> from columnist.datasets import make_sparse_loadings
    >>> X, loadings = make_sparse_loadings(random_state=0)
    >>> X.shape, int(loadings.any(axis=1).sum())
    ((120, 40), 8)
    """
    if n_informative > n_features:
        raise ValueError(
            f"n_informative must be at most n_features ({n_features}); got {n_informative}."
        )
    rng = generator(random_state)
    loadings = np.zeros((n_features, rank))
    loadings[:n_informative] = rng.standard_normal((n_informative, rank))
    X = rng.standard_normal((n_samples, rank)) @ loadings.T
    return X + noise * rng.standard_normal(X.shape), loadings
