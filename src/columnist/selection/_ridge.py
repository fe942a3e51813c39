r"""A bound for many columns: perspective relaxation with the columns' own noise as ridge.

Let K be the Gram matrix of the columns and D a diagonal matrix with
:math:`0 \preceq D \preceq K`: every column carries a part of its own that no other column
shares. For a 0/1 vector z that marks a selection S, the projector on the selected columns is

.. math:: \Pi_S = X G(z)^{-1} X^T, \qquad G(z) = K + D (Z^{-1} - I),

and the right-hand side is concave in z as a matrix. So a selection of t columns catches, for
every s,

.. math:: \mathrm{tr}(\Pi_S B) \le t s + \mathrm{tr}\bigl((B - sI)_+ \Pi_S\bigr)
          \le t s + \max_{0 \le z \le 1,\, \sum z = t}
          \mathrm{tr}\bigl((B - sI)_+ X G(z)^{-1} X^T\bigr).

With D = 0 and s the (t+1)-st eigenvalue of B this is the bound by unconstrained directions;
D > 0 makes it smaller. By concavity the tangent at *any* z bounds the maximum from above, so
the iteration for z need not converge, and the tangent's coefficients also bound every
selection that contains a given column. D stays valid for residuals and for sublists of the
columns, so it is computed once.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from columnist.linalg._rounding import EPS

__all__ = ["own_noise", "ridge_bounds"]

# Beyond this condition of G the bound is not trusted, and not used.
_CONDITION = 1e10
# What is added to the energy that a relaxed selection catches, at least.
_SAFETY = 1e-8


def own_noise(columns: np.ndarray) -> np.ndarray | None:
    r"""Diagonal D with :math:`D \preceq K = C C^T`, or None if the columns are dependent.

    D is the largest multiple of ``1 / diag(inv(K))``, the part of each column that all others
    together leave unexplained.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        One column of the data per row.
    """
    n, r = columns.shape
    if n > r:
        return None
    K = columns @ columns.T
    try:
        factor = scipy.linalg.cho_factor(K, lower=True)
    except np.linalg.LinAlgError:
        return None
    alone = 1.0 / np.diag(scipy.linalg.cho_solve(factor, np.eye(n)))
    if not (np.isfinite(alone).all() and alone.min() > 0.0):
        return None
    root = np.sqrt(alone)
    values = np.linalg.eigvalsh(K / np.outer(root, root))
    multiple = values[0] - 8 * n * EPS * values[-1]
    return alone * multiple if multiple > 0.0 else None


def ridge_bounds(
    error: float, lam: np.ndarray, A: np.ndarray, D: np.ndarray, t: int, n_iter: int = 4
) -> tuple[float, np.ndarray]:
    """Lower bounds of the error of all t-selections, and of those through each column.

    Parameters
    ----------
    error : float
        Error before the selection.
    lam : ndarray of shape (d,)
        Eigenvalues of the residual second moment in the columns' span, descending.
    A : ndarray of shape (d, n)
        Residual columns in its eigenbasis.
    D : ndarray of shape (n,)
        Their own noise.
    t : int
        Columns to choose.
    n_iter : int, default=4
        Tangents to try.

    Returns
    -------
    bound : float
    bounds : ndarray of shape (n,)
        ``-inf`` where nothing is known.
    """
    n = A.shape[1]
    nothing = -np.inf, np.full(n, -np.inf)
    if n <= t:
        return nothing
    s = lam[t] if t < len(lam) else 0.0
    excess = np.maximum(lam - s, 0.0)
    k = int(np.count_nonzero(excess))
    F = (np.sqrt(excess[:k, None]) * A[:k]).T
    gram = A.T @ A
    z = np.full(n, t / n)
    best = np.inf
    for _ in range(n_iter):
        tangent = _tangent(gram, D, F, z)
        if tangent is None:
            break
        value, slope = tangent
        top = np.partition(slope, n - t)[n - t :]
        caught = value + top.sum()
        if caught < best:
            best, kept = caught, (slope, top)
        z = _capped(np.sqrt(slope) * z, t)
    if not np.isfinite(best):
        return nothing
    slope, top = kept
    # A selection through column i replaces the least of the t largest slopes by its own.
    through = best + np.minimum(slope - top.min(), 0.0)
    return error - t * s - best, error - t * s - through


def _tangent(gram, D, F, z) -> tuple[float, np.ndarray] | None:
    """Value at 0 and slope of the tangent at z, slightly enlarged; None if ill-conditioned."""
    G = gram.copy()
    G[np.diag_indices(len(G))] += D * (1.0 / z - 1.0)
    try:
        factor = scipy.linalg.cholesky(G, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    heights = np.diag(factor)
    condition = (heights.max() / heights.min()) ** 2 if heights.min() > 0.0 else np.inf
    if condition > _CONDITION:
        return None
    safety = 1.0 + max(_SAFETY, 16.0 * len(G) * EPS * condition)
    W = scipy.linalg.cho_solve((factor, True), F, check_finite=False)
    value = float(np.vdot(F, W))
    slope = D / z**2 * np.einsum("ij,ij->i", W, W)
    return value * safety - float(slope @ z), slope * safety


def _capped(weights: np.ndarray, t: int) -> np.ndarray:
    """z proportional to the weights, at most 1, with sum t."""
    weights = np.maximum(weights, 1e-12 * weights.max(initial=1e-300))
    z = weights * (t / weights.sum())
    for _ in range(t):
        full = z >= 1.0
        free = weights[~full].sum()
        if not full.any() or free <= 0.0:
            break
        scaled = np.where(full, 1.0, weights * ((t - full.sum()) / free))
        if np.array_equal(scaled >= 1.0, full):
            z = scaled
            break
        z = scaled
    return np.clip(z, 1e-6, 1.0)
