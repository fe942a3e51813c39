"""Rows near a subspace, and rows that are not."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import Integer, Number, StrOptions, checked
from columnist.datasets._randomness import generator

__all__ = ["make_line_and_outliers", "make_low_rank_outliers", "make_phase_transition"]


@checked(
    n_samples=Integer(1),
    n_features=Integer(1),
    rank=Integer(1),
    n_outliers=Integer(0),
    outliers=StrOptions("added", "replaced"),
    noise=Number(0.0),
)
def make_low_rank_outliers(
    n_samples: int = 100,
    n_features: int = 50,
    *,
    rank: int = 5,
    n_outliers: int = 10,
    outliers: str = "added",
    noise: float = 0.0,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of low rank with Gaussian factors, the first few of which are outliers.

    Parameters
    ----------
    n_samples, n_features : int, default=100, 50
        Shape.
    rank : int, default=5
        Rank of the rows that are no outliers.
    n_outliers : int, default=10
        Number of outliers; they come first.
    outliers : {"added", "replaced"}, default="added"
        Standard normal noise added to rows of low rank; or rows of noise in place of them, as
        long as the others on average.
    noise : float, default=0.0
        Standard deviation of noise on all entries.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        -1 for outliers, 1 for the others, as scikit-learn's detectors have it.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.datasets import make_low_rank_outliers
    >>> X, y = make_low_rank_outliers(rank=3, n_outliers=10, random_state=0)
    >>> np.linalg.matrix_rank(X[y > 0])
    np.int64(3)
    """
    if n_outliers > n_samples:
        raise ValueError(f"n_outliers must be at most n_samples ({n_samples}); got {n_outliers}.")
    rng = generator(random_state)
    X = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_features))
    others = rng.standard_normal((n_outliers, n_features))
    X[:n_outliers] = X[:n_outliers] + others if outliers == "added" else np.sqrt(rank) * others
    if noise > 0.0:
        X += noise * rng.standard_normal(X.shape)
    return X, np.where(np.arange(n_samples) < n_outliers, -1, 1)


@checked(n=Integer(1), rank=Number(0.0, 1.0, above=True), outliers=Number(0.0, 1.0))
def make_phase_transition(
    n: int = 400, *, rank: float = 0.1, outliers: float = 0.5, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """A square matrix of low rank with outliers: a cell of a phase transition diagram.

    The diagrams say up to which ``rank`` and ``outliers`` a method finds the outliers. Where their
    sum is 1 or more the good rows are not more than their rank, and nothing tells them apart.

    Parameters
    ----------
    n : int, default=400
        Rows and columns.
    rank, outliers : float, default=0.1, 0.5
        Rank and number of outliers, as shares of n.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, n)
    y : ndarray of shape (n,)
        -1 for outliers, which come first, 1 for the others.

    Examples
    --------
    >>> from columnist.datasets import make_phase_transition
    >>> X, y = make_phase_transition(40, rank=0.2, outliers=0.5, random_state=0)
    >>> X.shape, (y < 0).sum()
    ((40, 40), np.int64(20))
    """
    return make_low_rank_outliers(
        n,
        n,
        rank=max(1, round(rank * n)),
        n_outliers=round(outliers * n),
        random_state=random_state,
    )


@checked(n_samples=Integer(1), n_outliers=Integer(0), noise=Number(0.0))
def make_line_and_outliers(
    n_samples: int = 60, *, n_outliers: int = 10, noise: float = 0.1, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a line through the origin of the plane, and outliers in a small square.

    The line reaches from -5 to 5 in direction (0.8, 0.6), the square from -1 to 1.

    Parameters
    ----------
    n_samples : int, default=60
        Number of points.
    n_outliers : int, default=10
        How many of them are outliers; they come first.
    noise : float, default=0.1
        Standard deviation of noise on all coordinates.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        -1 for outliers, 1 for the others.

    Examples
    --------
    >>> from columnist.datasets import make_line_and_outliers
    >>> X, y = make_line_and_outliers(noise=0.0, random_state=0)
    >>> float(abs(X[y > 0] @ [-0.6, 0.8]).max()) < 1e-12
    True
    """
    if n_outliers > n_samples:
        raise ValueError(f"n_outliers must be at most n_samples ({n_samples}); got {n_outliers}.")
    rng = generator(random_state)
    inliers = np.outer(rng.uniform(-5.0, 5.0, n_samples - n_outliers), [0.8, 0.6])
    X = np.vstack([rng.uniform(-1.0, 1.0, (n_outliers, 2)), inliers])
    X += noise * rng.standard_normal(X.shape)
    return X, np.where(np.arange(n_samples) < n_outliers, -1, 1)
