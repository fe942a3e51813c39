"""ROBPCA: projection pursuit, then the minimum covariance determinant (MCD).

The raw MCD is the mean and covariance of the h of n rows whose covariance has the smallest
determinant (Rousseeuw and Van Driessen, Technometrics, 1999). A concentration step keeps the h rows
nearest in the Mahalanobis distance of the present h; it never raises the determinant. Two factors
make the covariance unbiased at a Gaussian, for large n (Croux and Haesbroeck, Journal of
Multivariate Analysis, 1999) and for small samples (Pison, Van Aelst and Willems, Metrika, 2002).
The reweighted MCD is that of all rows within the raw one's 97.5% quantile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.stats import chi2, norm

from columnist.data._parameters import Flag, Integer, Number
from columnist.data._validation import random_generator
from columnist.linalg._prox import row_norms
from columnist.linalg._rounding import EPS, rank_floor
from columnist.robust._base import WholeRowsPCA, resolve_components
from columnist.robust._cutoffs import COVERAGE, classical_cutoffs
from columnist.robust._subspace import Subspace, fit_subspace, fix_signs

# Up to so many dimensions the MCD alone will do.
_FEW = 10
_FLAT = 1e-12
# Starts that go on to all rows, and steps at most.
_FINALISTS = 10
_MAX_STEPS = 100
# Rows on which the starts are tried where there are more.
_SUBSAMPLE = 1000

# Share of the scatter that is missing at n rows, 1 - f = exp(a) / n**b: (a, b) for one and two
# dimensions; for d > 2 the curve passes through c / d**e at n = 2 d**2 and 3 d**2: two (c, e).
# Fits of Pison, Van Aelst and Willems; R's robustbase has the same constants.
_MISSING = {
    ("raw", 0.5): {
        1: (0.262024211897096, 0.604756680630497),
        2: (0.673292623522027, 0.691365864961895),
        3: ((1.42764571687802, 1.26263336932151), (1.06141115981725, 1.28907991440387)),
    },
    ("raw", 0.875): {
        1: (-0.351584646688712, 1.01646567502486),
        2: (0.446537815635445, 1.06690782995919),
        3: ((0.455179464070565, 1.11192541278794), (0.294241208320834, 1.09649329149811)),
    },
    ("reweighted", 0.5): {
        1: (1.11098143415027, 1.5182890270453),
        2: (3.11101712909049, 1.91401056721863),
        3: ((1.02842572724793, 1.67659883081926), (0.26800273450853, 1.35968562893582)),
    },
    ("reweighted", 0.875): {
        1: (-0.66046776772861, 0.88939595831888),
        2: (0.79473550581058, 1.10081930350091),
        3: ((0.544482443573914, 1.25994483222292), (0.343791072183285, 1.25159004257133)),
    },
}


class ROBPCA(WholeRowsPCA):
    """Robust PCA after Hubert, Rousseeuw and Vanden Branden [1]_.

    Rows are rated by their largest outlyingness over directions through two of them; the
    least outlying rows give a first subspace, the rows near it the final one. Centre and
    variances within are those of the minimum covariance determinant (MCD). Needs no number
    of outliers: up to a share ``1 - alpha`` of the rows may be outliers.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    alpha : float, default=0.75
        Assumed share of regular rows, between 0.5 and 1: lower is more robust, higher more
        accurate.
    mcd : bool, default=True
        Whether to use the MCD alone where the rows span few dimensions (at most 10 and a
        fifth of the number of rows).
    n_directions : int, default=250
        Directions at most; all pairs of rows where there are fewer.
    random_state : int, RandomState instance or None, default=None
        Draws the directions and the starts of the MCD. Pass an int for repeatable results.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances; "classical" follows the paper.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows beyond a classical cut-off, ascending.
    mean_, components_, explained_variance_ : ndarrays
        Robust centre, axes and variances along them.
    error_ : float
        Sum of squared distances of the other rows from the subspace.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.
    h_ : int
        Size of the subsets.

    Notes
    -----
    The determinant of the MCD is compared with that of concentration steps from the rows
    nearest within the subspace, and the smaller one is used, as in the paper.

    With the directions of ``PcaHubert`` of R's rrcov the subspace is the same; variances and
    flags are, unless the two find different subsets for the MCD or there is one component only.
    Where h rows lie in a hyperplane, the determinant of every h of them is zero and the MCD is not
    unique: the covariance is that of all rows in the hyperplane, and the others are outliers. The
    factor of the MCD for large samples is that of Croux and Haesbroeck [3]_, the one for small
    samples that of Pison, Van Aelst and Willems [2]_, whose constants robustbase has, too.

    References
    ----------
    .. [1] M. Hubert, P. Rousseeuw, K. Vanden Branden. ROBPCA: a new approach to robust
       principal component analysis. Technometrics, 2005.
    .. [2] G. Pison, S. Van Aelst, G. Willems. Small sample corrections for LTS and MCD. Metrika,
       2002.
    .. [3] C. Croux, G. Haesbroeck. Influence function and efficiency of the minimum covariance
       determinant scatter matrix estimator. Journal of Multivariate Analysis, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import ROBPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 4)) * [9, 1, 1, 1]
    >>> X[:6] = rng.standard_normal((6, 4)) + [0, 30, 0, 0]
    >>> found = ROBPCA(1, random_state=0).fit(X)
    >>> found.predict(X[:6])
    array([-1, -1, -1, -1, -1, -1])
    >>> bool(abs(found.components_[0, 0]) > 0.99)
    True
    """

    _parameter_constraints = {"alpha": Number(0.5, 1.0), "n_directions": Integer(1), "mcd": Flag()}

    def __init__(
        self,
        n_components,
        *,
        alpha=0.75,
        mcd=True,
        n_directions=250,
        random_state=None,
        cutoff="cross-fitted",
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.mcd = mcd
        self.n_directions = n_directions
        self.random_state = random_state
        self.cutoff = cutoff

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        r = resolve_components(self.n_components, *X.shape)
        self.h_ = subset_size(len(X), r, self.alpha)
        mean, coordinates, axes = _rank_coordinates(X)
        inner = self._find_inside(coordinates, min(r, len(axes)))
        found = Subspace(mean + inner.mean @ axes, inner.components @ axes, inner.variances)
        found = _with_dimension(found, r)
        return self._flagged(X, found, exact=r >= len(axes)), found

    def _find_inside(self, T: np.ndarray, r: int) -> Subspace:
        """The subspace of rows given by their coordinates in the space they span."""
        n, rank = T.shape
        rng = random_generator(self.random_state)
        if r == 0:
            return Subspace(np.zeros(rank), np.zeros((0, rank)), np.zeros(0))
        if self.mcd and rank <= min(n // 5, max(_FEW, r)):
            scatter = mcd(T, self.alpha, rng) or exact_fit(T, self.alpha, rng)
            if scatter is not None:
                self.h_ = subset_size(n, rank, self.alpha)
                return _leading(scatter, r)
        plane = self._final_plane(T, r, rng)
        return _within(T, plane, self.alpha, rng)

    def _final_plane(self, T: np.ndarray, r: int, rng: np.random.Generator) -> Subspace:
        """PCA of the rows near the PCA of the least outlying rows."""
        outlyingness = _outlyingness(T, self._pairs(len(T), rng), self.h_)
        least = np.argsort(outlyingness, kind="stable")[: self.h_]
        first = fit_subspace(T[least], r)
        if r == T.shape[1]:
            return first
        distances = first.orthogonal_distances(T)
        location, scale = univariate_mcd(distances[:, None] ** (2.0 / 3.0), self.h_)
        cutoff = (location[0] + scale[0] * norm.ppf(COVERAGE)) ** 1.5
        near = distances <= cutoff
        # Distances that are zero for more than h rows leave a cut-off of rounding.
        near[least] |= np.count_nonzero(near) <= r
        return fit_subspace(T[near], r)

    def _pairs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Pairs of rows that define the directions, one per row."""
        if n * (n - 1) // 2 <= self.n_directions:
            return np.column_stack(np.triu_indices(n, 1))
        first = rng.integers(0, n, self.n_directions)
        return np.column_stack([first, (first + rng.integers(1, n, self.n_directions)) % n])

    def _flagged(self, X: np.ndarray, found: Subspace, exact: bool) -> np.ndarray:
        """Rows beyond the classical cut-offs; without residuals only score distances count."""
        distances = found.orthogonal_distances(X)
        cutoffs = classical_cutoffs(distances, len(found.variances), row_norms(X).max())
        far = found.score_distances(X) > cutoffs.score
        if not exact:
            far |= distances > cutoffs.orthogonal
        return np.flatnonzero(far)


def _rank_coordinates(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, and the centred rows as ``coordinates @ axes`` with as many axes as the rank."""
    mean = X.mean(axis=0)
    U, sigma, Vt = scipy.linalg.svd(X - mean, full_matrices=False, check_finite=False)
    size = max(sigma[0], EPS * np.sqrt(len(X)) * np.linalg.norm(mean))
    rank = np.count_nonzero(sigma > rank_floor(X.shape, size))
    return mean, U[:, :rank] * sigma[:rank], Vt[:rank]


def _outlyingness(T: np.ndarray, pairs: np.ndarray, h: int) -> np.ndarray:
    """Largest distance of every row from the centre of a projection, in its robust scale."""
    directions = T[pairs[:, 0]] - T[pairs[:, 1]]
    lengths = np.linalg.norm(directions, axis=1)
    size = lengths.max(initial=0.0)
    kept = lengths > _FLAT * size
    if not kept.any():
        return np.zeros(len(T))
    projections = T @ (directions[kept] / lengths[kept, None]).T
    location, scale = univariate_mcd(projections, h)
    usable = scale > _FLAT * size
    if not usable.any():
        return np.zeros(len(T))
    distances = np.abs(projections[:, usable] - location[usable]) / scale[usable]
    return distances.max(axis=1)


def _within(T: np.ndarray, plane: Subspace, alpha: float, rng: np.random.Generator) -> Subspace:
    """Robust centre, axes and variances inside the plane."""
    scores = plane.scores(T)
    h = subset_size(len(T), scores.shape[1], alpha)
    nearest = np.argsort(plane.score_distances(T), kind="stable")[:h]
    scatter = mcd(scores, alpha, rng, starts=nearest[None])
    if scatter is None:
        return plane
    inner = _leading(scatter, scores.shape[1])
    return Subspace(
        plane.mean + inner.mean @ plane.components,
        fix_signs(inner.components @ plane.components),
        inner.variances,
    )


def _leading(scatter: Scatter, r: int) -> Subspace:
    """The r leading axes of a covariance."""
    values, vectors = np.linalg.eigh(scatter.covariance)
    return Subspace(scatter.location, vectors[:, ::-1][:, :r].T, np.maximum(values[::-1][:r], 0.0))


def _with_dimension(subspace: Subspace, r: int) -> Subspace:
    """The subspace with arbitrary axes added up to dimension r, and signs fixed."""
    axes, missing = subspace.components, r - len(subspace.components)
    if missing:
        others = scipy.linalg.null_space(axes) if len(axes) else np.eye(len(subspace.mean))
        axes = np.vstack([axes, others[:, :missing].T])
    variances = np.append(subspace.variances, np.zeros(missing))
    return Subspace(subspace.mean, fix_signs(axes), variances)


# -- minimum covariance determinant -------------------------------------------------


class Scatter(NamedTuple):
    """Location and covariance, and the rows they come from."""

    location: np.ndarray
    covariance: np.ndarray
    support: np.ndarray


def subset_size(n: int, d: int, alpha: float) -> int:
    r"""Rows h, about alpha n: from :math:`\lfloor (n+d+1)/2 \rfloor`, the most robust, to all."""
    half = (n + d + 1) // 2
    return min(int(2 * half - n + 2 * (n - half) * alpha), n)


def univariate_mcd(values: np.ndarray, h: int) -> tuple[np.ndarray, np.ndarray]:
    """Reweighted MCD location and scale, shape (m,), of every column of (n, m) values. In one
    dimension the tightest h values are neighbours, so all windows can be tried. A scale is zero
    where h values are equal."""
    n = len(values)
    if h == n:
        return values.mean(axis=0), values.std(axis=0, ddof=1)
    middle = np.median(values, axis=0)
    y = np.sort(values - middle, axis=0)
    means, squares = _windows(y, h)
    best = np.argmin(squares, axis=0)[None]
    mean = np.take_along_axis(means, best, axis=0)[0]
    # A window's variance, made consistent, is the h-th squared residual over its quantile.
    residuals = (y - mean) ** 2
    raw = np.partition(residuals, h - 1, axis=0)[h - 1] / chi2.ppf(h / n, 1)
    near = residuals <= raw * chi2.ppf(COVERAGE, 1)
    count = near.sum(axis=0)
    location = np.sum(y * near, axis=0) / count
    variance = np.sum((y - location) ** 2 * near, axis=0) / np.maximum(count - 1, 1)
    flat = np.take_along_axis(y[h - 1 :] - y[: n - h + 1], best, axis=0)[0] == 0.0
    return location + middle, np.where(flat, 0.0, np.sqrt(variance))


def _windows(y: np.ndarray, h: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and sums of squared deviations of every window of h sorted values."""
    zero = np.zeros((1, y.shape[1]))
    sums = np.concatenate([zero, np.cumsum(y, axis=0)])
    squares = np.concatenate([zero, np.cumsum(y * y, axis=0)])
    means = (sums[h:] - sums[:-h]) / h
    return means, squares[h:] - squares[:-h] - h * means**2


def mcd(
    X: np.ndarray,
    alpha: float,
    rng: np.random.Generator,
    *,
    n_starts: int = 250,
    starts: np.ndarray | None = None,
) -> Scatter | None:
    """Reweighted MCD of the rows; None if the subset lies in a hyperplane. The subset holds
    :func:`subset_size` rows; steps start from ``n_starts`` random sets of d + 1 rows (one column
    needs none) and from ``starts``, index arrays one per row. The support are the rows of weight
    one. Where no row is left out, it is the plain covariance."""
    n, d = X.shape
    rows = _tightest(X, subset_size(n, d, alpha), rng, n_starts, starts)
    if rows is None:
        return None
    mean, covariance = _moments(X[rows])
    covariance = covariance * (
        consistency_factor(len(rows) / n, d) * small_sample_factor("raw", n, d, alpha)
    )
    near = mahalanobis(X, mean, covariance) <= chi2.ppf(COVERAGE, d)
    mean, covariance = _moments(X[near])
    if not near.all():
        share = np.count_nonzero(near) / n
        covariance = covariance * (
            consistency_factor(share, d) * small_sample_factor("reweighted", n, d, alpha)
        )
    return Scatter(mean, covariance, np.flatnonzero(near))


def exact_fit(X: np.ndarray, alpha: float, rng: np.random.Generator) -> Scatter | None:
    """Mean and covariance of all rows in a hyperplane that holds a subset of the MCD, whose
    determinant is zero then; None if there is none."""
    n, d = X.shape
    rows = _finalist(X, subset_size(n, d, alpha), rng, 250, None)[1]
    mean, covariance = _moments(X[rows])
    normal = np.linalg.eigh(covariance)[1][:, 0]
    off = np.abs((X - mean) @ normal)
    inside = off <= _FLAT * np.abs(X - mean).max()
    if np.count_nonzero(inside) < len(rows):
        return None
    return Scatter(*_moments(X[inside]), np.flatnonzero(inside))


def _tightest(X, h: int, rng, n_starts: int, starts) -> np.ndarray | None:
    """The h rows whose covariance has the smallest determinant, if it is not zero."""
    log_det, rows = _finalist(X, h, rng, n_starts, starts)
    return rows if np.isfinite(log_det) else None


def _finalist(X, h: int, rng, n_starts: int, starts) -> tuple[float, np.ndarray]:
    """The smallest log-determinant of the covariance of h rows, and those rows."""
    if X.shape[1] == 1:
        order = np.argsort(X[:, 0], kind="stable")
        y = X[order] - np.median(X)
        first = np.argmin(_windows(y, h)[1][:, 0])
        finalists = order[None, first : first + h]
    else:
        finalists = _random_starts(X, h, rng, n_starts)
    if starts is not None:
        finalists = np.vstack([_step(X, h, starts)[1], finalists])
    log_dets, finals = _concentrate(X, h, finalists)
    best = np.argmin(log_dets)
    return log_dets[best], finals[best]


def _random_starts(X: np.ndarray, h: int, rng: np.random.Generator, n_starts: int) -> np.ndarray:
    """The best subsets of h rows after steps from d + 1 random rows, on some rows if many."""
    n, d = X.shape
    some = np.arange(n) if n <= _SUBSAMPLE else rng.choice(n, _SUBSAMPLE, replace=False)
    size = max(min(len(some), -(-h * len(some) // n)), min(d + 1, len(some)))
    draws = np.argsort(rng.random((n_starts, len(some))), axis=1)[:, : d + 1]
    log_dets, rows = _concentrate(X[some], size, draws)
    chosen = some[rows[np.argsort(log_dets, kind="stable")[:_FINALISTS]]]
    return chosen if len(some) == n else _step(X, h, chosen)[1]


def _concentrate(X: np.ndarray, h: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-determinants and subsets after concentration steps from each start."""
    log_dets, rows = _step(X, h, rows)
    active = np.arange(len(rows))
    for _ in range(_MAX_STEPS - 1):
        reached, new = _step(X, h, rows[active])
        better = reached < log_dets[active]
        active = active[better]
        if not active.size:
            break
        log_dets[active], rows[active] = reached[better], new[better]
    return log_dets, rows


def _step(X: np.ndarray, h: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The h rows nearest to each subset, and the log-determinants of their covariances."""
    distances = mahalanobis(X, *_moments(X[rows]))
    nearest = np.sort(np.argpartition(distances, h - 1, axis=-1)[:, :h], axis=-1)
    # A column of equal values leaves the rounding of its mean.
    rounding = 8 * EPS * np.abs(X).max(axis=0)
    return _log_det(_moments(X[nearest])[1], rounding), nearest


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of stacked samples, shape (..., n, d)."""
    mean = X.mean(axis=-2)
    Z = X - mean[..., None, :]
    return mean, np.swapaxes(Z, -1, -2) @ Z / max(X.shape[-2] - 1, 1)


def _log_det(covariance: np.ndarray, rounding: np.ndarray | float = 0.0) -> np.ndarray:
    """Logarithms of determinants, minus infinity where they are those of rounding: of a column that
    varies by no more than its own, or of a combination of columns."""
    spread = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    flat = (spread <= rounding).any(axis=-1)
    spread = np.where(flat[..., None], 1.0, spread)
    unit = np.linalg.eigvalsh(covariance / spread[..., None, :] / spread[..., :, None])
    flat |= unit[..., 0] <= 8 * EPS * covariance.shape[-1]
    logs = np.log(np.where(flat[..., None], 1.0, unit)) + 2.0 * np.log(spread)
    return np.where(flat, -np.inf, logs.sum(axis=-1))


def mahalanobis(X: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Squared distances; directions without variance count with that of rounding."""
    values, vectors = np.linalg.eigh(covariance)
    size = EPS * float(np.abs(X).max())
    floor = np.maximum(EPS * values[..., -1:] * covariance.shape[-1], size * size or 1.0)
    whitened = vectors / np.sqrt(np.maximum(values, floor))[..., None, :]
    return np.sum(((X - mean[..., None, :]) @ whitened) ** 2, axis=-1)


def consistency_factor(share: float, d: int) -> float:
    r"""What the covariance of the central ``share`` of a Gaussian is to be multiplied with.

    After Croux and Haesbroeck: :math:`a / F_{\chi^2_{d+2}}(\chi^2_d(a))`, a the share.
    """
    return 1.0 if share >= 1.0 else float(share / chi2.cdf(chi2.ppf(share, d), d + 2))


def small_sample_factor(kind: str, n: int, d: int, alpha: float) -> float:
    """What the "raw" or "reweighted" covariance of n rows is to be multiplied with on top of that.

    Linear in alpha, the share h/n, between fits at 0.5 and 0.875 and the value 1 at 1.
    """
    low, high = (1.0 - _missing(_MISSING[kind, level], n, d) for level in (0.5, 0.875))
    kept = float(np.interp(alpha, [0.5, 0.875, 1.0], [low, high, 1.0]))
    # Far outside the range of the fits (n close to d) they mean nothing.
    return 1.0 / kept if kept > 0.02 else 1.0


def _missing(curve: dict, n: int, d: int) -> float:
    if d <= 2:
        level, decay = curve[d]
        return np.exp(level) / n**decay
    (c2, e2), (c3, e3) = curve[3]
    at2, at3 = np.log(c2 / d**e2), np.log(c3 / d**e3)
    slope = (at3 - at2) / np.log(3.0 / 2.0)
    return float(np.exp(at2 + slope * np.log(n / (2.0 * d * d))))
