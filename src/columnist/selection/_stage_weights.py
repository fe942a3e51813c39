r"""Weights that make candidate columns stand in for a target, and what that may cost.

A selection's error on a target Y depends on :math:`YY^T` alone. Candidates S, scaled to
:math:`X_1 = S\,\mathrm{diag}(\sqrt z)` such that :math:`X_1X_1^T \approx YY^T`, can therefore take
the place of Y. With :math:`G = S^TS`, :math:`H = G \circ G` and :math:`h_j = \|Y^Ts_j\|^2`,

.. math:: \|X_1X_1^T - YY^T\|_F^2 = z^THz - 2h^Tz + \|YY^T\|_F^2, \quad z \ge 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from columnist.linalg._column_parts import summed
from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    energies_along,
    kernel_product,
    squared_norms,
    without_empty,
)
from columnist.linalg._residual import blocked_energy, chosen_basis
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._second_moment import (
    kernel_blocks,
    kernel_cost,
    squared_kernel_norm,
)

__all__ = ["Candidates", "StageErrors", "best_weights", "deflated", "stage_errors"]

_EPS = np.finfo(np.float64).eps
# Eigenvalues of H, and weights, below this share of the largest are dropped.
_SINGULAR = 1e-12
# Entries of dense columns at a time: 256 MB.
_DENSE_ENTRIES = 2**25
# Side of the largest matrix whose eigenvalues sharpen the bound.
_SHARP_SIDE = 1000
# Multiplications that the norm of YY' may cost: about half a minute of one processor.
_NORM_COST = 1e12
# Rounding of the norm of YY' and of what is subtracted from it, as a share.
_NORM_ROUNDING = 1e-13


@dataclass(frozen=True)
class Candidates:
    """Candidate columns without their part along Q, and their inner products with a target.

    Attributes
    ----------
    columns : ndarray or sparse matrix of shape (m, k)
        The candidates; those that depend on Q are zero.
    Q : ndarray of shape (m, j)
        Orthonormal basis of what is taken already: selected columns, the constant if a mean
        is free.
    gram : ndarray of shape (k, k)
        Their inner products.
    energy : ndarray of shape (k,)
        h: squared length of the target along each candidate, times its own; zero where nothing
        is gained.
    """

    columns: np.ndarray | sp.spmatrix
    Q: np.ndarray
    gram: np.ndarray
    energy: np.ndarray

    @classmethod
    def measure(cls, S, Y, Q: np.ndarray, whole: float) -> Candidates:
        """Project the columns of S off Q and measure them; ``whole`` is the energy of Y."""
        own = squared_norms(S)
        if Q.shape[1]:
            S = deflated(columns_of(S, slice(None)), Q)
            S[:, squared_norms(S) <= DEPENDENT**2 * own] = 0.0
        inner = _kernel(S.T)
        energy = _energies(Y, S)
        energy[energy <= DEPENDENT**2 * whole * np.diag(inner)] = 0.0
        return cls(S, Q, inner, energy)

    def weighted(self, which: np.ndarray, z: np.ndarray):
        """Some of the columns times the square roots of their z."""
        scale = np.sqrt(z[which])
        part = self.columns[:, which]
        return sp.csc_array(part.multiply(scale)) if sp.issparse(part) else part * scale


@dataclass(frozen=True)
class StageErrors:
    """What the theorem adds up: squared errors of weights and second stage, and their bound."""

    weights: float = np.nan
    second: float = np.nan
    bound: float = np.nan


def best_weights(method: str, inner: np.ndarray, energy: np.ndarray, gamma: float) -> np.ndarray:
    r"""The z that minimises :math:`z^T(H + \gamma D)z - 2h^Tz`, D the diagonal of H.

    Columns are scaled to unit length first, so that ``gamma`` is relative.

    Parameters
    ----------
    method : {"quadratic", "clipped"}
        Minimise over z >= 0, or over all z and then set the negative ones to zero.
    inner : ndarray of shape (k, k)
        Inner products of the columns.
    energy : ndarray of shape (k,)
        h.
    gamma : float
        Regulariser.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._stage_weights import best_weights
    >>> best_weights("quadratic", np.diag([1.0, 2.0]), np.array([3.0, 8.0]), 0.0)
    array([3., 2.])
    """
    z = np.zeros(len(energy))
    kept = np.flatnonzero((energy > 0.0) & (np.diag(inner) > 0.0))
    if len(kept) == 0:
        return z
    squares = np.diag(inner)[kept]
    H = np.square(inner[np.ix_(kept, kept)]) / np.outer(squares, squares)
    h = energy[kept] / squares
    top = h.max()
    root, side, values = _square_root(H + gamma * np.eye(len(kept)), h / top)
    if method == "quadratic":
        solution = nnls(root, side, maxiter=100 * len(kept))[0]
    else:
        solution = np.maximum(root.T @ (side / values), 0.0)
    solution[solution <= _SINGULAR * solution.max()] = 0.0  # rounding
    z[kept] = top * solution / squares
    return z


def _square_root(H: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and b with A'A = H and A'b = h, and the eigenvalues kept: z'Hz - 2h'z is |Az - b|^2."""
    values, vectors = np.linalg.eigh(H)
    kept = values > _SINGULAR * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    return np.sqrt(values)[:, None] * vectors.T, (vectors.T @ h) / np.sqrt(values), values


def _kernel(X) -> np.ndarray:
    """XX' for an X with few rows."""
    return np.vstack([block for _, block in kernel_blocks(X)])


@summed  # S is made dense where the parts of Y are
def _energies(Y, S) -> np.ndarray:
    """Squared lengths of Y's for every column s: one pass over Y if S fits into 256 MB."""
    _, Y = without_empty(Y)
    width = max(1, _DENSE_ENTRIES // S.shape[0])
    starts = range(0, S.shape[1], width)
    # Stored by rows: a product with a sparse Y would copy anything else.
    parts = (np.ascontiguousarray(columns_of(S, slice(i, i + width))) for i in starts)
    return np.concatenate([energies_along(Y, part) for part in parts])


def deflated(columns: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Columns without their part along the orthonormal Q."""
    rest = columns - Q @ (Q.T @ columns)
    return rest - Q @ (Q.T @ rest)  # the second pass restores orthogonality


def stage_errors(candidates: Candidates, z: np.ndarray, picks: np.ndarray, Y) -> StageErrors:
    r"""Errors of both stages, and the bound on the selection's error that follows.

    With :math:`E = X_1X_1^T - YY^T` (both projected off Q) the error is at most the second
    stage's own plus the sum of the f most negative eigenvalues of E, and that sum is at most
    :math:`\sqrt{f \|E\|_F^2}`; f = min(m - rank of all that is selected, columns of Y). Bounds
    include a margin for rounding; they are NaN where the norm of :math:`YY^T` costs too much.

    Parameters
    ----------
    candidates : Candidates
        What the second stage chose from.
    z : ndarray of shape (k,)
        Squared weights.
    picks : ndarray of int
        Which candidates were selected.
    Y : ndarray, sparse matrix or ColumnParts of shape (m, q)
        Target, not projected.

    Returns
    -------
    StageErrors
    """
    X1 = candidates.weighted(np.flatnonzero(z), z)
    basis = chosen_basis(columns_of(candidates.columns, picks).T, range(len(picks)))
    blocks = column_blocks(X1.shape[1], X1.shape[0])
    second = sum(blocked_energy(columns_of(X1, block), basis) for block in blocks)
    rank = candidates.Q.shape[1] + basis.shape[1]
    free = max(min(X1.shape[0] - rank, Y.shape[1]), 0)
    if _is_small(X1, Y):
        weights, excess = _from_spectrum(X1, Y, candidates.Q, free)
    else:
        weights, excess = _from_norms(candidates, z, Y, free)
    return StageErrors(weights, second, second + excess if free else second)


def _is_small(X1, Y) -> bool:
    m, q = Y.shape
    joint = q + X1.shape[1]
    return min(m, joint) <= _SHARP_SIDE and (m <= joint or m * joint <= _DENSE_ENTRIES)


def _from_spectrum(X1, Y, Q: np.ndarray, free: int) -> tuple[float, float]:
    """Squared norm of E, and minus the sum of its ``free`` most negative eigenvalues."""
    m, q = Y.shape
    X1 = columns_of(X1, slice(None))
    if q + X1.shape[1] < m:
        rest = deflated(columns_of(Y, slice(None)), Q)
        R: Any = np.linalg.qr(np.hstack([X1, rest]), mode="r")
        ours, theirs = R[:, : X1.shape[1]], R[:, X1.shape[1] :]
        ours, theirs = ours @ ours.T, theirs @ theirs.T
    else:
        ours = X1 @ X1.T
        theirs = deflated(deflated(_kernel(Y), Q).T, Q)
    values = np.linalg.eigvalsh(ours - theirs)
    margin = len(values) * _EPS * float(np.trace(ours) + squared_norms(Y).sum())
    return float(values @ values), margin - float(np.minimum(values[:free], 0.0).sum())


def _from_norms(candidates: Candidates, z: np.ndarray, Y, free: int) -> tuple[float, float]:
    """Squared norm of E by its formula, and the square root that bounds the eigenvalues."""
    if kernel_cost(Y) > _NORM_COST:
        return np.nan, np.nan
    whole = left = squared_kernel_norm(Y)
    if candidates.Q.shape[1]:
        image = kernel_product(Y, candidates.Q)
        inside = candidates.Q.T @ image
        left += float(np.vdot(inside, inside)) - 2.0 * float(np.vdot(image, image))
    ours = float(z @ (np.square(candidates.gram) @ z))
    weights = max(left - 2.0 * float(candidates.energy @ z) + ours, 0.0)
    margin = _NORM_ROUNDING * (whole + ours)
    return weights, float(np.sqrt(free * (weights + margin)))
