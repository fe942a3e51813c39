"""Multi-label informed feature selection: row-sparse coefficients for latent labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sklearn.neighbors import kneighbors_graph

from columnist.data._parameters import Integer, Number
from columnist.linalg._passes import apply, column_blocks, columns_of, cross
from columnist.linalg._prox import l21_norm, minimize_l21, quadratic_gap, row_norms
from columnist.selection._base import RowSparseSelector

# Share of the labels' energy that the latent labels hold by default.
_ENERGY = 0.9
# Evaluations for the coefficients in one sweep.
_INNER = 2000
# Duality gap for the coefficients as a share of the sweep's decrease, and a first guess of that.
_INNER_TOL, _FIRST_TOL = 0.1, 1e-2
# Columns up to which the second derivative may be formed.
_HESSIAN_SIDE = 4000


class MultiLabelInformedSelector(RowSparseSelector):
    r"""Select features for many labels through a few latent ones (MIFS).

    Labels that belong together are replaced by fewer latent labels V, which the features
    predict with coefficients W and which predict the labels Y with an orthonormal basis B:

    .. math:: \min_{W, V, BB^T = I} \|XW - V\|_F^2 + \alpha \|Y - VB\|_F^2
              + \beta\,\mathrm{tr}(V^T L V) + \gamma \sum_j \|w_j\|.

    L is the Laplacian of a graph of neighbouring samples, so that neighbours have similar
    latent labels. Features are ranked by the length of their rows of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    alpha : float, default=1.0
        Weight of the labels.
    beta : float, default=1.0
        Weight of the neighbours.
    gamma : float, default=1.0
        Weight of the penalty; the larger, the fewer columns have nonzero coefficients.
    n_latent : int, optional
        Number of latent labels, at most that of the labels; by default the fewest that hold
        nine tenths of the squared norm of y.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph.
    max_iter : int, default=100
        Sweeps at most.
    tol : float, default=1e-6
        Relative decrease of the objective by one sweep at which the iteration ends.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_latent)
        The coefficients W.
    scores_ : ndarray of shape (n_features,)
        Lengths of their rows.
    selected_ : ndarray of int
        Selected columns, best first. Columns with zero coefficients are not selected, with a
        warning; only where all are zero, the one that a smaller ``gamma`` would let in first.
    latent_ : ndarray of shape (n_samples, n_latent)
        The latent labels V.
    label_basis_ : ndarray of shape (n_latent, n_labels)
        The basis B.
    objective_ : float
        Value of the formula above.
    objective_history_ : ndarray
        The same after each sweep; it never rises, but for rounding.
    n_iter_ : int
        Sweeps made.
    converged_ : bool
        Whether the last sweep changed the objective by less than ``tol``.
    error_ : float
        Squared error of approximating y by the selected columns, least squares.
    relative_error_ : float
        ``error_`` divided by the squared norm of y.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.RobustL21Selector : One convex problem, robust to outlying samples.

    Notes
    -----
    The paper [1]_ leaves B free. Then there is no best solution: tW, tV, B/t with a smaller t
    > 0 always has a smaller objective, and W shrinks to zero. An orthonormal B removes this
    and keeps everything else.

    A sweep has two steps, neither of which can raise the objective. For a given B the best V
    is :math:`((1 + \alpha) I + \beta L)^{-1} (XW + \alpha Y B^T)`, by one sparse factorisation
    for all sweeps; what remains is convex in W and solved by accelerated proximal gradient
    steps up to a small duality gap. Then B is the orthonormal factor of :math:`V^T Y`. With
    as many latent labels as labels the whole problem is convex.

    The weight of two neighbouring samples is :math:`\exp(-d^2 / \sigma^2)` with the mean
    squared distance of neighbours as :math:`\sigma^2`; which of several equally distant samples
    are neighbours is left to chance. Scales of the columns matter for the graph and for the
    penalty: standardise them first. There is no intercept. A sparse X is not made dense.

    References
    ----------
    .. [1] L. Jian, J. Li, K. Shu, H. Liu. Multi-label informed feature selection. IJCAI, 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from columnist.selection import MultiLabelInformedSelector
    >>> X, Y = make_multilabel_classification(n_features=12, random_state=0)
    >>> selector = MultiLabelInformedSelector(3, gamma=30.0).fit(X, Y)
    >>> selector.selected_
    array([2, 3, 6])
    """

    _penalty_name = "gamma"

    _parameter_constraints = {
        "alpha": Number(0.0, 1e300, above=True),
        "beta": Number(0.0, 1e300),
        "gamma": Number(0.0, 1e300, above=True),
        "n_latent": Integer(1) | None,
        "tol": Number(0.0, 1.0),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        n_latent: int | None = None,
        n_neighbors: int = 5,
        max_iter: int = 100,
        tol: float = 1e-6,
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_latent = n_latent
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol

    def _fit_coefficients(self, X, Y, x_scale, y_scale) -> tuple[np.ndarray, np.ndarray]:
        laplacian, basis = _laplacian(X, self.n_neighbors), _first_basis(Y, self.n_latent)
        weights = self.alpha, self.beta, self._penalty(x_scale, y_scale)
        run = _Alternation(X, Y, laplacian, basis, weights)
        while not run.settled and len(run.history) < self.max_iter:
            run.sweep(self.tol)
        self.n_iter_, self.converged_ = len(run.history), run.settled
        self.latent_, self.label_basis_ = run.V * y_scale, run.B
        self.objective_history_ = np.array(run.history) * y_scale * y_scale
        self.objective_ = float(self.objective_history_[-1])
        if not self.converged_:
            self._warn_unsettled(f"{self.n_iter_} sweeps before the objective settled")
        return run.W, row_norms(cross(X, run.V))


class _Alternation:
    """Alternates between the best W and V for a basis B and the best B for V."""

    def __init__(self, X, Y: np.ndarray, laplacian, B: np.ndarray, weights: tuple):
        self.X, self.Y, self.laplacian, self.B = X, Y, laplacian, B
        self.alpha, self.beta, self.gamma = weights
        system = (1.0 + self.alpha) * sp.eye_array(len(Y)) + self.beta * laplacian
        # The matrix is symmetric and dominated by its diagonal: no pivoting.
        how = {"SymmetricMode": True}
        self.factor = splu(system.tocsc(), permc_spec="MMD_AT_PLUS_A", options=how)
        self.hessian = self._hessian()
        self.W = np.zeros((X.shape[1], len(B)))
        self.lipschitz: float | None = None
        self.decrease, self.settled = np.inf, False
        self.history: list[float] = []

    def sweep(self, tol: float) -> None:
        """Improve W and V for B, then B for V."""
        # As exact as the sweeps deserve: far from the end they change more than that.
        inner = _INNER_TOL * max(tol, min(self.decrease, _FIRST_TOL))
        exact = self._fit_rows(inner)
        self.V = self._latent(apply(self.X, self.W), self.Y @ self.B.T)
        U, _, Vt = scipy.linalg.svd(self.V.T @ self.Y, full_matrices=False, check_finite=False)
        self.B = U @ Vt
        self.history.append(self._objective())
        if len(self.history) > 1:
            before, now = self.history[-2:]
            self.decrease = (before - now) / now if now > 0.0 else 0.0
        self.settled = exact and self.decrease <= tol and inner <= _INNER_TOL * tol

    def _fit_rows(self, tol: float) -> bool:
        """The best W for B, with the V that is best for both; whether it was found."""
        found = minimize_l21(
            self._smooth(self.Y @ self.B.T), self.W, self.gamma,
            gap=lambda W, value, gradient: quadratic_gap(W, value, gradient, self.gamma),
            lipschitz=self.lipschitz, quadratic=True, max_iter=_INNER, tol=tol,
        )  # fmt: skip
        self.W, self.lipschitz = found.W, found.lipschitz
        return found.converged

    def _smooth(self, T: np.ndarray) -> Callable:
        """The objective without its penalty as a function of W, for labels T in the basis."""
        missed = self.alpha * _square(self.Y - T @ self.B)

        def value(R, V):
            return missed + _square(R - V) + self.alpha * _square(V - T) + self._roughness(V)

        def direct(W):
            R = apply(self.X, W)
            V = self._latent(R, T)
            return value(R, V), 2.0 * cross(self.X, R - V)

        if self.hessian is None:
            return direct
        V = self._latent(np.zeros_like(T), T)
        start, slope = value(np.zeros_like(T), V), cross(self.X, V)

        def reduced(W):
            bent = self.hessian @ W
            return start + float(np.vdot(W, bent - 2.0 * slope)), 2.0 * (bent - slope)

        return reduced

    def _hessian(self) -> np.ndarray | None:
        """Half the second derivative in W, V being the best; None where X itself is cheaper."""
        n, p = self.X.shape
        if p > min(n, _HESSIAN_SIDE) or sp.issparse(self.X):
            return None
        H = np.empty((p, p))
        for columns in column_blocks(p, n):
            part = columns_of(self.X, columns)
            H[:, columns] = cross(self.X, part - self.factor.solve(part))
        return H

    def _latent(self, R: np.ndarray, T: np.ndarray) -> np.ndarray:
        """The best V for predictions R = XW and labels T = YB' in the basis."""
        return self.factor.solve(R + self.alpha * T)

    def _roughness(self, V: np.ndarray) -> float:
        return self.beta * float(np.vdot(V, self.laplacian @ V))

    def _objective(self) -> float:
        fit = _square(apply(self.X, self.W) - self.V)
        labels = self.alpha * _square(self.Y - self.V @ self.B)
        return fit + labels + self._roughness(self.V) + self.gamma * l21_norm(self.W)


def _first_basis(Y: np.ndarray, n_latent: int | None) -> np.ndarray:
    """The leading right singular vectors of Y, as rows, the largest entry positive."""
    n, q = Y.shape
    if n_latent is not None and n_latent > q:
        raise ValueError(f"n_latent must be at most the number of labels ({q}); got {n_latent}.")
    enough = n_latent is None or n_latent <= n
    _, sigma, Vt = scipy.linalg.svd(Y, full_matrices=not enough, check_finite=False)
    if n_latent is None:
        energy = np.cumsum(sigma**2)
        n_latent = 1 + int(np.searchsorted(energy, _ENERGY * energy[-1]))
    B = Vt[:n_latent]
    largest = np.take_along_axis(B, np.abs(B).argmax(axis=1)[:, None], axis=1)
    return B * np.where(largest < 0.0, -1.0, 1.0)


def _laplacian(X, n_neighbors: int) -> sp.csc_array:
    """Laplacian of the graph of nearest rows, weighted by the heat kernel."""
    n = X.shape[0]
    if n == 1:
        return sp.csc_array((1, 1))
    graph = kneighbors_graph(X, min(n_neighbors, n - 1), mode="distance")
    squares = graph.data.astype(np.float64) ** 2
    # Equal rows are as close as can be; a zero width says that all are.
    graph.data = np.exp(-squares / (squares.mean() or 1.0))
    graph = sp.csc_array(graph.maximum(graph.T))
    return sp.csc_array(sp.diags_array(graph.sum(axis=0)) - graph)


def _square(M: np.ndarray) -> float:
    return float(np.vdot(M, M))
