"""Generators of data with a known structure: outliers, redundant columns, classes, labels."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from columnist.data._parameters import Integer, Number, StrOptions, checked
from columnist.data._validation import random_generator

_COUNTS = "n n_samples n_per_class n_groups group_size n_labels n_desired n_confidential"
# Parameters that mean the same in every generator; each adds its own.
_checked = partial(
    checked,
    **dict.fromkeys([*_COUNTS.split(), "per_row", "rank"], Integer(1)),
    **dict.fromkeys(("n_outliers", "n_irrelevant"), Integer(0)),
    **dict.fromkeys(("noise", "scale"), Number(0.0)),
)
_CENTRES = np.array([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])


def _generator(random_state) -> np.random.Generator:
    """A NumPy generator from a seed, a RandomState or None; a generator is used as it is."""
    given = isinstance(random_state, np.random.Generator)
    return random_state if given else random_generator(random_state)


def _outliers_first(n_samples: int, n_outliers: int) -> np.ndarray:
    """-1 for the outliers, then 1 for the others."""
    if n_outliers > n_samples:
        raise ValueError(f"n_outliers must be at most n_samples ({n_samples}); got {n_outliers}.")
    return np.where(np.arange(n_samples) < n_outliers, -1, 1)


@_checked(n_features=Integer(1), outliers=StrOptions("added", "replaced"))
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
    y = _outliers_first(n_samples, n_outliers)
    rng = _generator(random_state)
    X = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_features))
    others = rng.standard_normal((n_outliers, n_features))
    X[:n_outliers] = X[:n_outliers] + others if outliers == "added" else np.sqrt(rank) * others
    if noise > 0.0:
        X += noise * rng.standard_normal(X.shape)
    return X, y


@_checked(rank=Number(0.0, 1.0, above=True), outliers=Number(0.0, 1.0))
def make_phase_transition(
    n: int = 400, *, rank: float = 0.1, outliers: float = 0.5, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """A square matrix of low rank with outliers: a cell of a phase transition diagram.

    The diagrams say up to which ``rank`` and ``outliers`` a method finds the outliers. Where their
    sum is 1 or more, there are no more good rows than their rank, and the outliers cannot be
    identified.

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
    k, r = round(outliers * n), max(1, round(rank * n))
    return make_low_rank_outliers(n, n, rank=r, n_outliers=k, random_state=random_state)


@_checked()
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
    y = _outliers_first(n_samples, n_outliers)
    rng = _generator(random_state)
    inliers = np.outer(rng.uniform(-5.0, 5.0, n_samples - n_outliers), [0.8, 0.6])
    X = np.vstack([rng.uniform(-1.0, 1.0, (n_outliers, 2)), inliers])
    X += noise * rng.standard_normal(X.shape)
    return X, y


@_checked()
def make_redundant_columns(
    n_samples: int = 100,
    n_groups: int = 5,
    *,
    group_size: int = 4,
    noise: float = 0.1,
    shuffle: bool = True,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of nearly equal columns, of which one per group is sufficient.

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
    rng = _generator(random_state)
    groups = np.repeat(np.arange(n_groups), group_size)
    if shuffle:
        groups = rng.permutation(groups)
    columns = rng.standard_normal((n_samples, n_groups))
    X = columns[:, groups] + noise * rng.standard_normal((n_samples, len(groups)))
    factors = 2.0 ** rng.uniform(-1.0, 1.0, len(groups)) * rng.choice([-1.0, 1.0], len(groups))
    return X * factors, groups


@_checked(n_features=Integer(1), n_informative=Integer(1))
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
    rng = _generator(random_state)
    loadings = np.zeros((n_features, rank))
    loadings[:n_informative] = rng.standard_normal((n_informative, rank))
    X = rng.standard_normal((n_samples, rank)) @ loadings.T
    return X + noise * rng.standard_normal(X.shape), loadings


@_checked(irrelevant=StrOptions("uniform", "normal"))
def make_three_clusters(
    n_per_class: int = 30,
    *,
    n_irrelevant: int = 4,
    irrelevant: str = "uniform",
    scale: float = 1.0,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Three normal classes in the plane, and features that do not depend on them.

    The centres are (5, 0), (0, 5) and (5, 5), the variance is 1.

    Parameters
    ----------
    n_per_class : int, default=30
        Samples of a class.
    n_irrelevant : int, default=4
        Further features.
    irrelevant : {"uniform", "normal"}, default="uniform"
        Their distribution: uniform from 0 to 1, or standard normal.
    scale : float, default=1.0
        What they are multiplied by.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (3 * n_per_class, 2 + n_irrelevant)
        The two features that matter come first.
    y : ndarray
        Classes 0, 1 and 2.

    Examples
    --------
    >>> from columnist.datasets import make_three_clusters
    >>> X, y = make_three_clusters(random_state=0)
    >>> X.shape, y[::30]
    ((90, 6), array([0, 1, 2]))
    """
    rng = _generator(random_state)
    y = np.repeat(np.arange(3), n_per_class)
    X = _CENTRES[y] + rng.standard_normal((len(y), 2))
    draw = rng.random if irrelevant == "uniform" else rng.standard_normal
    return np.hstack([X, scale * draw((len(y), n_irrelevant))]), y


@_checked(repeated=StrOptions("copies", "sum", "three sums"))
def make_box_classes(
    n_per_class: int = 12,
    *,
    repeated: str = "copies",
    n_irrelevant: int = 10,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eight classes at the corners of a box, with redundant features.

    Features 0 and 1 separate the classes strongly, feature 2 more weakly: all three are needed.
    They are followed by features that are redundant with 0 and 1, and by irrelevant ones.

    Parameters
    ----------
    n_per_class : int, default=12
        Samples of a class.
    repeated : {"copies", "sum", "three sums"}, default="copies"
        Noisy copies of a = feature 0 and b = feature 1; their sum; or a + b, a - b, 2a + b.
    n_irrelevant : int, default=10
        Standard normal features at the end.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (8 * n_per_class, n_features)
    y : ndarray
        Classes from 0 to 7.

    Examples
    --------
    >>> from columnist.datasets import make_box_classes
    >>> X, y = make_box_classes(repeated="sum", random_state=0)
    >>> bool((X[:, 3] == X[:, 0] + X[:, 1]).all())
    True
    """
    rng = _generator(random_state)
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    y = np.repeat(np.arange(8), n_per_class)
    X = corners[y] * [3.0, 3.0, 1.5] + rng.standard_normal((len(y), 3))
    strong = X[:, :2]
    if repeated == "copies":
        more = strong + 0.3 * rng.standard_normal(strong.shape)
    else:
        weights = np.array([[1.0, 1.0, 2.0], [1.0, -1.0, 1.0]])
        more = strong @ weights[:, : 1 if repeated == "sum" else 3]
    return np.hstack([X, more, rng.standard_normal((len(y), n_irrelevant))]), y


@_checked()
def make_two_stars(n: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Similarities of two star-shaped clusters and one separate sample, an example for cuts of a
    graph.

    Two stars of n samples; their centres are at distance 2, and the separate sample is at distance
    3 from the second centre; rays have length 1. Gaussian similarities of width 2 along these
    edges.

    Parameters
    ----------
    n : int, default=5
        Samples of a star, its centre included.

    Returns
    -------
    S : ndarray of shape (2 * n + 1, 2 * n + 1)
        Similarities.
    parts : ndarray of shape (2 * n + 1,)
        0 and 1 for the stars, whose centres come first, 2 for the separate sample.

    Examples
    --------
    >>> from columnist.datasets import make_two_stars
    >>> S, parts = make_two_stars(2)
    >>> parts
    array([0, 0, 1, 1, 2])
    >>> S[0].round(3)
    array([0.   , 0.882, 0.607, 0.   , 0.   ])
    """
    distances = {(0, n): 2.0, (n, 2 * n): 3.0}
    distances |= {(0, i): 1.0 for i in range(1, n)} | {(n, n + i): 1.0 for i in range(1, n)}
    S = np.zeros((2 * n + 1, 2 * n + 1))
    for (i, j), distance in distances.items():
        S[i, j] = S[j, i] = np.exp(-(distance**2) / 8.0)
    return S, np.repeat([0, 1, 2], [n, n, 1])


@_checked(n_samples=Integer(2), share=Number(0.0, 1.0, above=True))
def make_multilabel_low_rank(
    n_samples: int = 500,
    n_features: int = 40,
    *,
    n_labels: int = 6,
    rank: int = 3,
    n_informative: int = 8,
    share: float = 0.25,
    noise: float = 0.3,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels that depend on a few features through even fewer directions.

    Strengths are X B + noise, B of the given rank and zero outside the informative features; a
    label applies where its strength is among the largest.

    Parameters
    ----------
    n_samples, n_features : int, default=500, 40
        Shape of X, which is standard normal.
    n_labels : int, default=6
        Number of labels.
    rank : int, default=3
        Rank of B, at most the number of labels.
    n_informative : int, default=8
        Features that matter, at random places.
    share : float, default=0.25
        Share of samples to which a label applies.
    noise : float, default=0.3
        Standard deviation of the noise, relative to that of a strength.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1.
    informative : ndarray of shape (n_informative,)
        The features that matter, ascending.

    Examples
    --------
    >>> from columnist.datasets import make_multilabel_low_rank
    >>> X, Y, informative = make_multilabel_low_rank(random_state=0)
    >>> X.shape, Y.mean(axis=0)
    ((500, 40), array([0.25, 0.25, 0.25, 0.25, 0.25, 0.25]))
    """
    Integer(rank).check("n_informative", n_informative)
    Integer(n_informative).check("n_features", n_features)
    if rank > n_labels:
        raise ValueError(f"rank must be at most n_labels ({n_labels}); got {rank}.")
    rng = _generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    informative = np.sort(rng.permutation(n_features)[:n_informative])
    B = rng.standard_normal((n_informative, rank)) @ rng.standard_normal((rank, n_labels))
    strength = X[:, informative] @ (B / np.linalg.norm(B, axis=0))
    strength += noise * rng.standard_normal(strength.shape)
    n_applies = max(1, min(n_samples - 1, round(share * n_samples)))
    Y = np.zeros(strength.shape, dtype=np.int64)
    np.put_along_axis(Y, np.argsort(-strength, axis=0)[:n_applies], 1, axis=0)
    return X, Y, informative


@_checked(overlap=Number(0.0, 1.0))
def make_private_outputs(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    n_desired: int = 2,
    n_confidential: int = 2,
    overlap: float = 0.3,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with two linear maps: outputs to keep, and outputs to hide.

    The features are correlated. ``overlap`` decides what cleaning can achieve: information about
    the confidential outputs in the desired ones cannot be hidden.

    Parameters
    ----------
    n_samples, n_features : int, default=300, 20
        Shape of X.
    n_desired, n_confidential : int, default=2, 2
        Number of outputs of both kinds, together at most the number of features.
    overlap : float, default=0.3
        Cosine between a confidential output and the space of the desired ones, from 0 to 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    desired : ndarray of shape (n_desired, n_features)
        Coefficients: the desired outputs of X are ``X @ desired.T``. Orthonormal rows.
    confidential : ndarray of shape (n_confidential, n_features)
        Coefficients of the confidential outputs, rows of length 1.

    Examples
    --------
    >>> from columnist.datasets import make_private_outputs
    >>> X, desired, confidential = make_private_outputs(overlap=0.6, random_state=0)
    >>> X.shape, desired.shape, confidential.shape
    ((300, 20), (2, 20), (2, 20))
    """
    Integer(n_desired + n_confidential).check("n_features", n_features)
    rng = _generator(random_state)
    mixing = rng.standard_normal((n_features, n_features)) / np.sqrt(n_features)
    X = rng.standard_normal((n_samples, n_features)) @ (np.eye(n_features) + mixing)
    basis = np.linalg.qr(rng.standard_normal((n_features, n_desired + n_confidential)))[0].T
    desired, own = basis[:n_desired], basis[n_desired:]
    shared = rng.standard_normal((n_confidential, n_desired)) @ desired
    shared /= np.linalg.norm(shared, axis=1, keepdims=True)
    return X, desired, overlap * shared + np.sqrt(1.0 - overlap**2) * own


@_checked(n_informative=Integer(1))
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
    most frequent nor rare ones; each is more frequent in one of two classes.

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
    rng = _generator(random_state)
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
