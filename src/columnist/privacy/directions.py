"""Directions that a predictor reads, in the order in which they can be done without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

__all__ = ["Directions", "against_confidential", "without_confidential"]

_EPS = np.finfo(np.float64).eps
# Parts of confidential outputs outside the predictor's reach that are shorter count as none: rows
# would have to move so far that the outputs feel their rounding.
_DEPENDENT = np.sqrt(_EPS)
# Gains below this share of the largest are rounding.
_NO_GAIN = 1e-12


@dataclass(frozen=True)
class Directions:
    r"""Coordinates of a row and the way back.

    With :math:`a = U^T x` the cleaned row is :math:`\tilde x = B(a - \text{removed})`, and
    :math:`\tau = a M` are coordinates in which removing shares :math:`\alpha` changes the
    outputs by :math:`\sum \alpha_j^2 \tau_j^2`, in units of ``scale`` squared.
    """

    basis: np.ndarray
    """U (n_features, rank): orthonormal, spans what the predictor reads."""
    rebuild: np.ndarray
    """B (n_features, rank): rows with the same outputs."""
    strengths: np.ndarray
    """Singular values of the coefficients over ``scale``, beside the columns of U."""
    scale: float
    """Largest singular value of the coefficients."""
    starts: np.ndarray
    """First coordinate of every group that may be removed."""
    n_spendable: int
    """Coordinates that may be removed; removing others would gain nothing."""
    mix: np.ndarray | None = None
    """M (rank, rank); None for a diagonal of ``strengths``."""
    stretch: float = 1.0
    """Largest singular value of B: how far rows may be moved."""

    @property
    def rank(self) -> int:
        """Number of directions the predictor reads."""
        return self.basis.shape[1]

    def coordinates(self, a: np.ndarray) -> np.ndarray:
        """Tau of rows of a."""
        return a * self.strengths if self.mix is None else a @ self.mix

    def keep(self, a: np.ndarray, tau: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of a of which only the shares ``kept`` of the first columns of tau are left.

        The arguments are overwritten.
        """
        touched = kept.shape[1]
        if self.mix is None:
            a[:, :touched] *= kept
            return a
        tau[:, :touched] *= kept
        # M = diag(strengths) Z with orthogonal Z, so its inverse is Z' diag(1 / strengths).
        return (tau @ self.mix.T) / self.strengths**2


def without_confidential(coef: np.ndarray) -> Directions:
    """Weak directions first: no secret is known, so what is removed should be long.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        Coefficients of the predictor.

    Returns
    -------
    Directions

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy.directions import without_confidential
    >>> found = without_confidential(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> found.rank, (found.strengths * found.scale).round(6).tolist()
    (2, [1.0, 2.0])
    """
    U, s, scale = _read(coef)
    U, s = U[:, ::-1], s[::-1]  # an ascending order is the order of removal
    return Directions(U, U, s, scale, _starts(s, 1.0), len(s))


def against_confidential(coef: np.ndarray, confidential: np.ndarray) -> Directions:
    r"""Directions that tell most about confidential outputs, per change of the outputs, first.

    With :math:`A = PSU^T` the coefficients and C the confidential ones, a row is first moved
    within the null space of A to where :math:`\|Cx\|` is least: :math:`B = U - N`,
    :math:`N = (C(I - UU^T))^+ CU`. What remains of C as a function of the outputs is
    :math:`E = (CB) S^{-1}`; its singular vectors :math:`Z` order the directions. These are the
    generalized eigenvectors of :math:`A^TA` and :math:`C^TC`, but nothing is squared, and the
    outputs are kept whatever the rank of C.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        Coefficients of the predictor.
    confidential : ndarray of shape (n_secrets, n_features)
        Coefficients of the confidential outputs.

    Returns
    -------
    Directions

    Examples
    --------
    The second feature is confidential, and the predictor does not need it.

    >>> import numpy as np
    >>> from columnist.privacy.directions import against_confidential
    >>> found = against_confidential(np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 1.0, 0.0]]))
    >>> found.rebuild.round(6).tolist(), found.n_spendable
    ([[1.0], [-1.0], [0.0]], 0)
    """
    U, s, scale = _read(coef)
    C = confidential / (np.abs(confidential).max() or 1.0)
    C = C / (np.linalg.norm(C, 2) or 1.0)
    inside = C @ U
    outside = _project_out(C.T, U).T
    L, d, Rt = scipy.linalg.svd(outside, full_matrices=False, check_finite=False)
    movable = d > _DEPENDENT
    L, d, R = L[:, movable], d[movable], _project_out(Rt[movable].T, U)
    rebuild = U - R @ ((L.T @ inside) / d[:, None])
    left = (inside - L @ (L.T @ inside)) / s
    gains, Z = _right_vectors(left)
    spendable = int(np.sum(gains > _NO_GAIN * max(1.0, gains[0]))) if len(gains) else 0
    mix = s[:, None] * Z
    starts = _starts(gains[:spendable], gains[0] if spendable else 1.0)
    stretch = float(np.linalg.norm(rebuild, 2)) if len(s) else 1.0
    return Directions(U, rebuild, s, scale, starts, spendable, mix, stretch)


def _read(coef: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Right singular vectors, singular values over the largest, and the largest."""
    unit = np.abs(coef).max(initial=0.0) or 1.0
    _, s, Vt = scipy.linalg.svd(coef / unit, full_matrices=False, check_finite=False)
    largest = s[0] if len(s) and s[0] > 0.0 else 1.0
    rank = int(np.sum(s > max(coef.shape) * _EPS * largest))
    return Vt[:rank].T, s[:rank] / largest, float(largest * unit)


def _project_out(columns: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Columns without their part in the span of U; twice, for the first leaves rounding."""
    for _ in range(2):
        columns = columns - U @ (U.T @ columns)
    return columns


def _right_vectors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All right singular vectors as columns, and their singular values, zeros included."""
    m, r = matrix.shape
    _, values, Zt = scipy.linalg.svd(matrix, full_matrices=m < r, check_finite=False)
    return np.pad(values, (0, r - len(values))), Zt.T


def _starts(values: np.ndarray, largest: float) -> np.ndarray:
    """First index of every run of values that are equal up to rounding."""
    near = 1e3 * _EPS * max(len(values), 10) * largest
    return np.flatnonzero(np.abs(np.diff(values, prepend=np.inf)) > near)
