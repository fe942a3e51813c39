"""An affine subspace with the spread along its axes: what every robust PCA returns.

No input validation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

__all__ = [
    "Subspace",
    "at_most_square",
    "fit_subspace",
    "fix_signs",
    "principal_axes",
    "rounding_size",
    "singular_values",
]

# Distances below this share of the coordinates they come from are rounding.
_ROUNDING = 16 * np.finfo(np.float64).eps
# As good as infinite, and safe to square.
_FAR = 1e150


@dataclass(frozen=True)
class Subspace:
    """The points ``mean + t @ components``.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        A point of the subspace.
    components : ndarray of shape (r, p)
        Orthonormal axes, one per row.
    variances : ndarray of shape (r,)
        Variance of the data along each axis, descending.
    free_mean : bool
        Whether the mean was estimated with the axes; otherwise it was given.
    """

    mean: np.ndarray
    components: np.ndarray
    variances: np.ndarray
    free_mean: bool = True

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of the rows along the axes."""
        return (X - self.mean) @ self.components.T

    def score_distances(self, X: np.ndarray) -> np.ndarray:
        r"""Distances within the subspace, :math:`\sqrt{\sum_j t_j^2 / \lambda_j}`.

        An axis without variance counts with that of rounding: a row that leaves the
        others along it is far away.
        """
        spread = np.sqrt(self.variances)
        floor = _ROUNDING * (np.linalg.norm(self.mean) + spread.max(initial=0.0))
        scores = np.abs(self.scores(X))
        scores[scores <= self._noise(X)[:, None]] = 0.0
        scores /= np.maximum(spread, max(floor, 1.0 / _FAR))
        return np.linalg.norm(np.minimum(scores, _FAR), axis=1)

    def orthogonal_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances of the rows from the subspace; rounding counts as zero."""
        distances = np.linalg.norm(self.residuals(X), axis=1)
        distances[distances <= self._noise(X)] = 0.0
        return distances

    def residuals(self, X: np.ndarray) -> np.ndarray:
        """The rows without their part in the subspace."""
        rest = X - self.mean
        rest -= (rest @ self.components.T) @ self.components
        return rest

    def _noise(self, X: np.ndarray) -> np.ndarray:
        return _ROUNDING * (np.linalg.norm(X, axis=1) + np.linalg.norm(self.mean))

    def scaled(self, unit: float) -> Subspace:
        """The same for data multiplied by ``unit``."""
        return replace(self, mean=self.mean * unit, variances=self.variances * unit * unit)


def fit_subspace(X: np.ndarray, n_components: int, mean: np.ndarray | None = None) -> Subspace:
    """PCA of the rows: the subspace with the smallest sum of squared distances.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    n_components : int
        Dimension; at most min(n, p). Axes beyond the rank are arbitrary.
    mean : ndarray of shape (p,), optional
        A point the subspace has to contain; without it the mean of the rows, the best one.

    Returns
    -------
    Subspace

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust.subspace import fit_subspace
    >>> found = fit_subspace(np.array([[0.0, 1.0], [3.0, 5.0]]), 1)
    >>> found.mean, found.components, found.variances
    (array([1.5, 3. ]), array([[0.6, 0.8]]), array([12.5]))
    """
    n, free = len(X), mean is None
    centre = X.mean(axis=0) if free else mean
    Z = X - centre
    _, sigma, axes = scipy.linalg.svd(at_most_square(Z), full_matrices=False, check_finite=False)
    variances = sigma[:n_components] ** 2 / max(n - free, 1)
    return Subspace(centre, fix_signs(axes[:n_components]), variances, free)


def principal_axes(
    X: np.ndarray, axes: np.ndarray, mean: np.ndarray, free_mean: bool = True
) -> Subspace:
    """The subspace through ``mean`` spanned by ``axes``, turned to the principal axes of rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, at least as many as axes.
    axes : ndarray of shape (r, p)
        Orthonormal.
    mean : ndarray of shape (p,)
        A point of the subspace.
    free_mean : bool, default=True
        Whether that is an estimate from the rows.

    Returns
    -------
    Subspace
    """
    scores = (X - mean) @ axes.T
    _, sigma, turn = scipy.linalg.svd(scores, full_matrices=False, check_finite=False)
    return Subspace(mean, fix_signs(turn @ axes), sigma**2 / max(len(X) - free_mean, 1), free_mean)


def at_most_square(Z: np.ndarray) -> np.ndarray:
    """A matrix with the same singular values and right vectors, with no more rows than columns."""
    if len(Z) <= Z.shape[1]:
        return Z
    return scipy.linalg.qr(Z, mode="r", check_finite=False)[0][: Z.shape[1]]


def singular_values(X: np.ndarray, centred: bool) -> np.ndarray:
    """Singular values of rows, about their mean or the origin; those of rounding size are zero."""
    if X.size == 0:
        return np.zeros(0)
    mean = X.mean(axis=0) if centred else np.zeros(X.shape[1])
    sigma = scipy.linalg.svdvals(at_most_square(X - mean), check_finite=False)
    sigma[sigma <= rounding_size(sigma, X.shape, mean)] = 0.0
    return sigma


def rounding_size(sigma: np.ndarray, shape: tuple[int, int], mean: np.ndarray) -> float:
    """How large rounding may make singular values of rows about a mean that should be zero."""
    size = max(sigma.max(initial=0.0), np.sqrt(shape[0]) * np.linalg.norm(mean))
    return max(shape) * np.finfo(np.float64).eps * size


def fix_signs(axes: np.ndarray) -> np.ndarray:
    """Every row with a positive entry where it is largest in absolute value."""
    if axes.size == 0:
        return axes
    largest = np.argmax(np.abs(axes), axis=1)
    return axes * np.where(axes[np.arange(len(axes)), largest] < 0.0, -1.0, 1.0)[:, None]
