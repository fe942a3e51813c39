"""High-dimensional robust PCA: random removal, judged by a trimmed variance."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.data._validation import random_generator
from columnist.robust._base import CenteredPCA, most_outlying
from columnist.robust._row_data import given_mean
from columnist.robust._subspace import Subspace, principal_axes


class HRPCA(CenteredPCA):
    r"""High-dimensional robust PCA after Xu, Caramanis and Mannor [1]_.

    Repeat: PCA of the surviving rows; drop one of them at random, with probability proportional to
    its squared length within that subspace. Of all subspaces met, the winner has the largest
    trimmed variance :math:`\sum_j \frac1n \sum_{i \le n-k} |v_j^Tx|^2_{(i)}`, the sum of the
    n - k smallest squared coordinates of all n rows along each axis. Outliers either
    matter little to the variance or are likely to be dropped.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    n_outliers : int or float
        Rows to drop: a number, or a fraction of the rows.
    centering : {"optimal", "mean", "none"}, default="optimal"
        What the components are about: the mean of the kept rows, that of all rows, or the origin.
    location : {"median", "mean"}, default="median"
        With ``centering="optimal"``: the centre from which rows are rated, before it is known
        which are kept. Outliers move a mean.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows to drop. Pass an int for repeatable results.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.

    Attributes
    ----------
    outliers_ : ndarray of int
        The ``n_outliers`` rows farthest from the winning subspace, ascending.
    outlyingness_ : ndarray of shape (n_samples,)
        Distances from it, before its mean moves to that of the kept rows.
    trimmed_variance_ : float
        The winner's.
    mean_, components_, explained_variance_ : ndarrays
        The winning subspace, through the mean of the kept rows (the origin without centring).
    error_ : float
        Sum of squared distances of the kept rows from it.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    Notes
    -----
    The method has two numbers: how many rows it drops, and how many of the smallest squares
    the trimmed variance sums. Tying both to ``n_outliers`` (k, and n - k) is a choice made
    here, and so is centring. The authors' program was not at hand to compare with. The
    guarantees are for about as many features as rows; on small data expect a baseline: hardly
    better than PCA on scattered outliers, and on clusters only at times.

    References
    ----------
    .. [1] H. Xu, C. Caramanis, S. Mannor. Outlier-robust PCA: the high-dimensional case. IEEE
       Transactions on Information Theory, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import HRPCA
    >>> line = np.outer(np.arange(-10.0, 11.0), [3.0, 4.0])
    >>> X = np.vstack([line, [[60.0, 0.0]]])
    >>> found = HRPCA(1, n_outliers=1, centering="none", random_state=0).fit(X)
    >>> found.outliers_
    array([21])
    """

    def __init__(
        self,
        n_components,
        *,
        n_outliers,
        centering="optimal",
        location="median",
        random_state=None,
        cutoff="cross-fitted",
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.location = location
        self.random_state = random_state

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        k, r = self._sizes(*X.shape)
        Z = self._centered(X)
        coordinates, rotation = _rotated(Z)
        rng = random_generator(self.random_state)
        best, variance = _random_removal(coordinates, r, k, rng)
        axes = best @ rotation
        distances = np.linalg.norm(Z - (Z @ axes.T) @ axes, axis=1)
        self.trimmed_variance_ = variance * self._unit**2
        self.outlyingness_ = distances * self._unit
        outliers = most_outlying(distances, k)
        kept = np.delete(X, outliers, axis=0)
        given = given_mean(self.centering, X.mean(axis=0))
        mean = kept.mean(axis=0) if given is None else given
        return outliers, principal_axes(kept, axes, mean, given is None)


def _rotated(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X as coordinates @ axes with no more columns than rows."""
    n, p = X.shape
    if p <= n:
        return X, np.eye(p)
    Q, R = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
    return R.T, Q.T


def _random_removal(
    X: np.ndarray, r: int, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The axes with the largest trimmed variance among those met, and that variance."""
    n, p = X.shape
    alive = np.ones(n)
    moment = X.T @ X
    best, largest = np.eye(r, p), -np.inf
    for _ in range(k + 1):
        _, vectors = scipy.linalg.eigh(moment, subset_by_index=[p - r, p - 1], check_finite=False)
        squares = (X @ vectors) ** 2
        variance = float(np.partition(squares, n - k - 1, axis=0)[: n - k].sum()) / n
        if variance > largest:
            best, largest = vectors.T[::-1], variance
        weights = squares.sum(axis=1) * alive
        weights = weights if weights.any() else alive
        dropped = rng.choice(n, p=weights / weights.sum())
        alive[dropped] = 0.0
        moment -= np.outer(X[dropped], X[dropped])
    return best, largest
