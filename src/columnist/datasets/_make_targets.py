"""Features with several outputs: labels to predict, or secrets to keep."""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import Integer, Number, checked
from columnist.datasets._randomness import generator

__all__ = ["make_multilabel_low_rank", "make_private_outputs"]


@checked(
    n_samples=Integer(2),
    n_labels=Integer(1),
    rank=Integer(1),
    share=Number(0.0, 1.0, above=True),
    noise=Number(0.0),
)
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
    rng = generator(random_state)
    X = rng.standard_normal((n_samples, n_features))
    informative = np.sort(rng.permutation(n_features)[:n_informative])
    B = rng.standard_normal((n_informative, rank)) @ rng.standard_normal((rank, n_labels))
    strength = X[:, informative] @ (B / np.linalg.norm(B, axis=0))
    strength += noise * rng.standard_normal(strength.shape)
    n_applies = max(1, min(n_samples - 1, round(share * n_samples)))
    Y = np.zeros(strength.shape, dtype=np.int64)
    np.put_along_axis(Y, np.argsort(-strength, axis=0)[:n_applies], 1, axis=0)
    return X, Y, informative


@checked(
    n_samples=Integer(1), n_desired=Integer(1), n_confidential=Integer(1), overlap=Number(0.0, 1.0)
)
def make_private_outputs(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    n_desired: int = 2,
    n_confidential: int = 2,
    overlap: float = 0.3,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features and two maps: outputs somebody needs, and outputs nobody should learn.

    The features are correlated. ``overlap`` decides what cleaning can achieve: whatever the
    desired outputs tell of the confidential ones cannot be hidden.

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
    rng = generator(random_state)
    mixing = rng.standard_normal((n_features, n_features)) / np.sqrt(n_features)
    X = rng.standard_normal((n_samples, n_features)) @ (np.eye(n_features) + mixing)
    basis = np.linalg.qr(rng.standard_normal((n_features, n_desired + n_confidential)))[0].T
    desired, own = basis[:n_desired], basis[n_desired:]
    shared = rng.standard_normal((n_confidential, n_desired)) @ desired
    shared /= np.linalg.norm(shared, axis=1, keepdims=True)
    return X, desired, overlap * shared + np.sqrt(1.0 - overlap**2) * own
