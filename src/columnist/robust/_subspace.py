"""An affine subspace with the variances along its axes, the result of every robust PCA."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from columnist.linalg._moments import Moments
from columnist.linalg._prox import row_norms
from columnist.linalg._rounding import DISTANCE, rank_floor

# As good as infinite, and safe to square.
_FAR = 1e150


@dataclass(frozen=True)
class Subspace:
    """The points ``mean + t @ components``."""

    mean: np.ndarray  # (p,), a point of the subspace
    components: np.ndarray  # (r, p), orthonormal axes
    variances: np.ndarray  # (r,), of the data along each axis, descending
    free_mean: bool = True  # whether the mean was estimated with the axes; otherwise it was given

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of the rows along the axes."""
        return (X - self.mean) @ self.components.T

    def score_distances(self, X: np.ndarray) -> np.ndarray:
        r""":math:`\sqrt{\sum_j t_j^2 / \lambda_j}`; an axis without variance has that of
        rounding."""
        return self._within(self.scores(X), self._noise(X))

    def orthogonal_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances of the rows from the subspace; rounding counts as zero."""
        return _clipped(row_norms(self.residuals(X)), self._noise(X))

    def residuals(self, X: np.ndarray) -> np.ndarray:
        """The rows without their part in the subspace."""
        rest = X - self.mean
        rest -= (rest @ self.components.T) @ self.components
        return rest

    def measure(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, score distances, orthogonal distances, distances from the mean."""
        noise = self._noise(X)
        rest = X - self.mean
        scores, lengths = rest @ self.components.T, row_norms(rest)
        rest -= scores @ self.components
        return scores, self._within(scores, noise), _clipped(row_norms(rest), noise), lengths

    def _within(self, scores: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Score distances of rows with some coordinates, of which rounding is known."""
        spread = np.sqrt(self.variances)
        floor = DISTANCE * (np.linalg.norm(self.mean) + spread.max(initial=0.0))
        scores = np.abs(scores)
        scores[scores <= noise[:, None]] = 0.0
        scores /= np.maximum(spread, max(floor, 1.0 / _FAR))
        return row_norms(np.minimum(scores, _FAR))

    def _noise(self, X: np.ndarray) -> np.ndarray:
        return DISTANCE * (row_norms(X) + np.linalg.norm(self.mean))

    def scaled(self, unit: float) -> Subspace:
        """The same for data multiplied by ``unit``."""
        return replace(self, mean=self.mean * unit, variances=self.variances * unit * unit)


def _clipped(distances: np.ndarray, noise: np.ndarray) -> np.ndarray:
    distances[distances <= noise] = 0.0
    return distances


def fit_subspace(X: np.ndarray, n_components: int, mean: np.ndarray | None = None) -> Subspace:
    """PCA of the rows: the subspace with the smallest sum of squared distances.

    It contains a given mean, or that of the rows, the best one. Axes beyond the rank are arbitrary.
    """
    n, free = len(X), mean is None
    centre = X.mean(axis=0) if free else mean
    Z = X - centre
    _, sigma, axes = scipy.linalg.svd(at_most_square(Z), full_matrices=False, check_finite=False)
    return spanned_subspace(np.asarray(centre), sigma, axes, n_components, n, free)


def moments_spectrum(
    moments: Moments, mean: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, singular values and right vectors of rows known by their moments. The centre is
    given, or the mean. There are p singular values, descending, with zeros beyond the rank;
    vectors, one per row, may be fewer."""
    rows = at_most_square(rows_about(moments, mean))
    _, found, axes = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    sigma = np.zeros(len(moments.mean))
    sigma[: len(found)] = found
    return moments.mean if mean is None else mean, sigma, axes


def rows_about(moments: Moments, centre: np.ndarray | None) -> np.ndarray:
    """Rows about a centre, or their own mean, with the inner products of all with these moments.

    About a given centre the last one is their mean, as long as all of them together.
    """
    rows = moments.factor()
    if centre is None:
        return rows
    return np.vstack([rows, np.sqrt(moments.count) * (moments.mean - centre)])


def subspace_of_moments(
    moments: Moments, n_components: int, mean: np.ndarray | None = None
) -> Subspace:
    """What :func:`fit_subspace` finds, for rows known by their moments."""
    return spanned_subspace(
        *moments_spectrum(moments, mean), n_components, moments.count, mean is None
    )


def spanned_subspace(
    centre: np.ndarray, sigma: np.ndarray, axes: np.ndarray, r: int, n: int, free_mean: bool
) -> Subspace:
    """The subspace of the r leading axes of n rows."""
    variances = sigma[:r] ** 2 / max(n - free_mean, 1)
    return Subspace(centre, fix_signs(axes[:r]), variances, free_mean)


def principal_axes(
    X: np.ndarray, axes: np.ndarray, mean: np.ndarray, free_mean: bool = True
) -> Subspace:
    """The subspace through ``mean`` spanned by ``axes``, turned to the principal axes of rows."""
    scores = (X - mean) @ axes.T
    _, sigma, turn = scipy.linalg.svd(scores, full_matrices=False, check_finite=False)
    return Subspace(mean, fix_signs(turn @ axes), sigma**2 / max(len(X) - free_mean, 1), free_mean)


def at_most_square(Z: np.ndarray) -> np.ndarray:
    """A matrix with the same singular values and right vectors, with no more rows than columns."""
    if len(Z) <= Z.shape[1]:
        return Z
    return scipy.linalg.qr(Z, mode="r", check_finite=False)[0][: Z.shape[1]]


def about_mean(X: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    r"""Rows about their mean, and the mean. A row that stands for :math:`w^2` others is multiplied
    by its weight w, which may be zero for what has inner products but no part in the mean: the mean
    is :math:`\sum w_i x_i / \sum w_i^2`, and :math:`x_i - w_i \mu` the rows about it."""
    if weights is None:
        mean = X.mean(axis=0)
        return X - mean, mean
    mean = weights @ X / (weights @ weights)
    return X - weights[:, None] * mean, mean


def rounding_size(sigma: np.ndarray, shape: tuple[int, int], mean: np.ndarray) -> float:
    """How large rounding may make singular values of rows about a mean that should be zero."""
    size = max(sigma.max(initial=0.0), np.sqrt(shape[0]) * np.linalg.norm(mean))
    return rank_floor(shape, size)


def fix_signs(axes: np.ndarray) -> np.ndarray:
    """Every row with a positive entry where it is largest in absolute value."""
    if axes.size == 0:
        return axes
    largest = np.argmax(np.abs(axes), axis=1)
    return axes * np.where(axes[np.arange(len(axes)), largest] < 0.0, -1.0, 1.0)[:, None]
