"""ROBPCA: projection pursuit, then the minimum covariance determinant."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.stats import norm

from columnist.data._parameters import Flag, Integer, Number
from columnist.data._validation import random_generator
from columnist.linalg._rounding import EPS, rank_floor
from columnist.robust._base import WholeRowsPCA, resolve_components
from columnist.robust._cutoffs import COVERAGE, classical_cutoffs
from columnist.robust._mcd import Scatter, mcd, subset_size, univariate_mcd
from columnist.robust._subspace import Subspace, fit_subspace, fix_signs, row_norms

__all__ = ["ROBPCA"]

# Up to so many dimensions the MCD alone will do.
_FEW = 10
_FLAT = 1e-12


class ROBPCA(WholeRowsPCA):
    """Robust PCA after Hubert, Rousseeuw and Vanden Branden [1]_.

    Rows are rated by their largest outlyingness over directions through two of them; the
    least outlying rows give a first subspace, the rows near it the final one. Centre and
    variances within are those of the minimum covariance determinant (MCD). Needs no number
    of outliers: up to a share ``1 - alpha`` of the rows may be bad.

    Parameters
    ----------
    n_components : int
        Dimension of the subspace.
    alpha : float, default=0.75
        Share of the rows that are surely good, between 0.5 and 1: lower is more robust,
        higher more accurate.
    mcd : bool, default=True
        Whether to use the MCD alone where the rows span few dimensions (at most 10 and a
        fifth of the number of rows).
    n_directions : int, default=250
        Directions at most; all pairs of rows where there are fewer.
    random_state : int, RandomState instance or None, default=None
        Draws the directions and the starts of the MCD. Pass an int for repeatable results.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances; "classical" is the paper's way.

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
    nearest within the subspace, and the smaller wins, as the paper says.

    With the directions of ``PcaHubert`` of R's rrcov the subspace is the same; variances and
    flags are, unless the two find different subsets for the MCD or there is one component only.
    Where h rows lie in a hyperplane, the MCD alone is of no use, and the projections decide
    instead: there the two programs differ.

    References
    ----------
    .. [1] M. Hubert, P. Rousseeuw, K. Vanden Branden. ROBPCA: a new approach to robust
       principal component analysis. Technometrics, 2005.

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

    _parameter_constraints = {
        "alpha": Number(0.5, 1.0),
        "n_directions": Integer(1),
        "mcd": Flag(),
    }

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
            scatter = mcd(T, self.alpha, rng)
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
    return Subspace(
        scatter.location,
        vectors[:, ::-1][:, :r].T,
        np.maximum(values[::-1][:r], 0.0),
    )


def _with_dimension(subspace: Subspace, r: int) -> Subspace:
    """The subspace with arbitrary axes added up to dimension r, and signs fixed."""
    axes, missing = subspace.components, r - len(subspace.components)
    if missing:
        if len(axes):
            axes = np.vstack([axes, scipy.linalg.null_space(axes)[:, :missing].T])
        else:
            axes = np.eye(missing, len(subspace.mean))
    variances = np.append(subspace.variances, np.zeros(missing))
    return Subspace(subspace.mean, fix_signs(axes), variances)
