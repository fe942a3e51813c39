"""Least squares with few nonzero rows, for a given penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from columnist._warn import warn_caller
from columnist.data import check_rows, in_memory
from columnist.data._parameters import Number, StrOptions, checked
from columnist.linalg._passes import apply, by_columns, columns_of, cross
from columnist.linalg._prox import l21_norm, minimize_l21, quadratic_gap, row_norms
from columnist.linalg._reduce import power_of_two
from columnist.spectral._l21_coordinate import descend_columns
from columnist.spectral._l21_path import optimality

# First working set of coordinate descent; later ones have room for as many rows as are nonzero.
_FEW = 10
# Sweeps over a working set end when they move less than this share of the root of the gap.
_STILL = 0.1


@dataclass(frozen=True)
class L21Solution:
    """Result of :func:`l21_regression`.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_responses)
        Coefficients.
    alpha : float
        Penalty.
    objective : float
        Value of the objective at W.
    gap : float
        Proof: no W has an objective below ``objective - gap``.
    kkt : float
        Largest violation of the optimality conditions, as a share of alpha.
    n_iter : int
        Gradient evaluations or sweeps made.
    converged : bool
        Whether the gap is within the tolerance.
    """

    W: np.ndarray
    alpha: float
    objective: float
    gap: float
    kkt: float
    n_iter: int
    converged: bool


@checked(
    alpha=Number(0.0, above=True) | None,
    alpha_ratio=Number(0.0, above=True) | None,
    solver=StrOptions("accelerated", "coordinate"),
    tol=Number(0.0, 1.0),
)
def l21_regression(
    X,
    Y,
    *,
    alpha: float | None = None,
    alpha_ratio: float | None = None,
    solver: str = "accelerated",
    start=None,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> L21Solution:
    r"""Least squares with a penalty on the rows of the coefficients.

    .. math:: \min_W \tfrac12\|Y - XW\|_F^2 + \alpha \sum_j \|w_j\|

    Most rows of W are zero when ``alpha`` is large; all of them from
    :math:`\alpha_{\max} = \max_j \|x_j^TY\|` on.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Features. They are used as they are: centre and scale them first.
    Y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_responses)
        Responses.
    alpha : float, optional
        Penalty; give either this or ``alpha_ratio``.
    alpha_ratio : float, optional
        Penalty as a share of the one from which on all coefficients are zero.
    solver : {"accelerated", "coordinate"}, default="accelerated"
        Accelerated proximal gradient steps on all rows, or coordinate descent, row by row, on
        working sets of rows.
    start : array-like of shape (n_features, n_responses), optional
        First W, for instance the solution for a similar penalty; zero by default.
    tol : float, default=1e-8
        Duality gap, as a share of the objective, at which the iteration ends.
    max_iter : int, default=10000
        Gradient evaluations or sweeps at most.

    Returns
    -------
    L21Solution

    See Also
    --------
    columnist.spectral.MRSF : Follows the solution as the penalty falls.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral import l21_regression
    >>> Y = np.array([[3.0, 4.0], [0.0, 2.0]])
    >>> found = l21_regression(np.eye(2), Y, alpha_ratio=0.5)
    >>> found.alpha
    2.5
    >>> found.W.round(6)
    array([[1.5, 2. ],
           [0. , 0. ]])
    """
    X, Y, W = _checked(X, Y, start)
    units = power_of_two(X), power_of_two(Y)
    X, Y, W = X / units[0], Y / units[1], W / units[1] * units[0]
    alpha = _penalty(X, Y, alpha, alpha_ratio, units)
    solve = _accelerated if solver == "accelerated" else _coordinate
    W, n_iter = solve(X, Y, W, alpha, tol, max_iter)
    return _solution(X, Y, W, alpha, n_iter, tol, units)


def _checked(X, Y, start) -> tuple:
    Y = as_columns(Y, "Y")
    X = check_rows(X, accept_sparse="csc", dtype=[np.float64, np.float32])
    X, Y, _ = X.few_rows_or_columns(Y)
    shape = X.shape[1], Y.shape[1]
    if start is None:
        return X, Y, np.zeros(shape)
    W = as_columns(start, "start")
    if W.shape != shape:
        raise ValueError(f"start must have one row per feature and one column per response, shape "
                         f"{shape}; got {W.shape}.")  # fmt: skip
    return X, Y, W


def as_columns(Y, name: str) -> np.ndarray:
    """Checked values, one column per response."""
    Y = check_array(in_memory(Y), dtype=np.float64, ensure_2d=False, input_name=name)
    return Y[:, None] if Y.ndim == 1 else Y


def _penalty(X, Y, alpha, ratio, units) -> float:
    if (alpha is None) == (ratio is None):
        raise ValueError("Give either alpha or alpha_ratio, and not both.")
    if alpha is not None:
        return max(float(alpha) / units[0] / units[1], np.finfo(np.float64).tiny)
    largest = float(row_norms(cross(X, Y)).max())
    return float(ratio) * (largest if largest > 0.0 else 1.0)


def _solution(X, Y, W, alpha, n_iter, tol, units) -> L21Solution:
    """What was found, in the units of the data."""
    R = Y - apply(X, W)
    Q = cross(X, R)
    square = float(np.vdot(R, R))
    objective = 0.5 * square + alpha * l21_norm(W)
    gap = max(_gap(W, square, Q, alpha), 0.0)
    converged = gap <= tol * objective
    if not converged:
        warn_caller(
            f"l21_regression stopped after {n_iter} iterations with a relative duality gap of "
            f"{gap / objective:.1e} (tol={tol:g}). Raise max_iter or tol, scale the features, or "
            "take a larger penalty.",
            ConvergenceWarning,
        )
    x, y = units
    kkt = float(optimality(W, Q, alpha).max(initial=0.0))
    return L21Solution(W * y / x, alpha * x * y, objective * y * y, gap * y * y, kkt, n_iter,
                       converged)  # fmt: skip


def _gap(W: np.ndarray, square: float, Q: np.ndarray, alpha: float) -> float:
    """Duality gap at W, from the squared residual and Q = X'R."""
    return 0.5 * quadratic_gap(W, square, -2.0 * Q, 2.0 * alpha)


def _accelerated(X, Y, W, alpha, tol, max_iter) -> tuple[np.ndarray, int]:
    """Proximal gradient steps for twice the objective, whose gradient is that of ||Y - XW||^2."""

    def smooth(W):
        R = apply(X, W) - Y
        return float(np.vdot(R, R)), 2.0 * cross(X, R)

    found = minimize_l21(
        smooth,
        W,
        2.0 * alpha,
        gap=lambda W, value, gradient: quadratic_gap(W, value, gradient, 2.0 * alpha),
        quadratic=True,
        max_iter=max_iter,
        tol=tol,
    )
    return found.W, found.n_iter


def _coordinate(X, Y, W, alpha, tol, max_iter) -> tuple[np.ndarray, int]:
    """Coordinate descent on the rows that are nonzero or violate the conditions most."""
    X, W = by_columns(X), W.copy()
    R = Y - apply(X, W)
    sweeps, still, last = 0, _STILL, np.inf
    while True:
        Q, square = cross(X, R), float(np.vdot(R, R))
        gap = _gap(W, square, Q, alpha)
        if gap <= tol * (0.5 * square + alpha * l21_norm(W)) or sweeps >= max_iter:
            return W, sweeps
        # Where the gap does not fall, the last sweeps ended too early.
        still, last = (0.1 * still if gap > 0.5 * last else _STILL), gap
        rows = _working_set(W, Q, alpha)
        columns = np.ascontiguousarray(columns_of(X, rows).T)
        part, residual = W[rows], np.ascontiguousarray(R.T)
        squares = np.einsum("ij,ij->i", columns, columns)
        work = np.empty((2, W.shape[1]))
        sweeps += descend_columns(columns, squares, residual, part, alpha, work,
                                  still * np.sqrt(gap), max_iter - sweeps)  # fmt: skip
        W[rows] = part
        R = Y - columns.T @ part


def _working_set(W: np.ndarray, Q: np.ndarray, alpha: float) -> np.ndarray:
    """All nonzero rows, and about as many of those that violate the conditions most."""
    kept = row_norms(W) > 0.0
    excess = np.where(kept, -np.inf, row_norms(Q) - alpha)
    room = min(max(_FEW, int(kept.sum())), len(excess))
    worst = np.argpartition(-excess, room - 1)[:room]
    kept[worst[excess[worst] > 0.0]] = True
    return np.flatnonzero(kept)
