"""Toys of spectral feature selection: classes in few dimensions among other features."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import Integer, Number, StrOptions, checked
from columnist.datasets._randomness import generator

__all__ = ["make_box_classes", "make_three_clusters", "make_two_stars"]

_CENTRES = np.array([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])


@checked(
    n_per_class=Integer(1),
    n_irrelevant=Integer(0),
    irrelevant=StrOptions("uniform", "normal"),
    scale=Number(0.0),
)
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
    rng = generator(random_state)
    y = np.repeat(np.arange(3), n_per_class)
    X = _CENTRES[y] + rng.standard_normal((len(y), 2))
    draw = rng.random if irrelevant == "uniform" else rng.standard_normal
    return np.hstack([X, scale * draw((len(y), n_irrelevant))]), y


@checked(
    n_per_class=Integer(1),
    n_irrelevant=Integer(0),
    repeated=StrOptions("copies", "sum", "three sums"),
)
def make_box_classes(
    n_per_class: int = 12,
    *,
    repeated: str = "copies",
    n_irrelevant: int = 10,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eight classes at the corners of a box, and features that repeat what others say.

    Features 0 and 1 tell apart strongly, feature 2 more weakly: all three are needed. Then come
    features that say again what 0 and 1 say, and irrelevant ones.

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
    rng = generator(random_state)
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


@checked(n=Integer(1))
def make_two_stars(n: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Similarities of two stars and one sample apart: where should a graph be cut?

    Two stars of n samples; their centres are at distance 2, and the lonely sample is at distance 3
    from the second centre; rays have length 1. Gaussian similarities of width 2 along these edges.

    Parameters
    ----------
    n : int, default=5
        Samples of a star, its centre included.

    Returns
    -------
    S : ndarray of shape (2 * n + 1, 2 * n + 1)
        Similarities.
    parts : ndarray of shape (2 * n + 1,)
        0 and 1 for the stars, whose centres come first, 2 for the lonely sample.

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
