"""Directions that a predictor reads, in the order in which they can be done without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

__all__ = ["REACH", "Directions", "against_confidential", "lengths", "without_confidential"]

_EPS = np.finfo(np.float64).eps
# Gains below this share of the largest are rounding.
_NO_GAIN = 1e-12
# Spending moves what is left of a row by at most so many times its length; hiding confidential
# outputs for free moves rows by at most so many times theirs, in the root mean square.
REACH = 10.0


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
    dropped: float = 0.0
    """Strength of the strongest direction that the basis leaves out."""
    too_far: float = 0.0
    """How many times longer rows would become by the moves that are not made; 0 if all are."""

    @property
    def rank(self) -> int:
        """Number of directions the predictor reads."""
        return self.basis.shape[1]

    def coordinates(self, a: np.ndarray) -> np.ndarray:
        """Tau of rows of a."""
        return a * self.strengths if self.mix is None else a @ self.mix

    def keep(self, a: np.ndarray, tau: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of a of which only the shares ``kept`` of the first columns of tau are left.

        Directions that hardly cost anything may be moved far at little gain: no row moves by
        more than ten times its length, at the price of some tolerance that is not spent. The
        arguments are overwritten.
        """
        touched = kept.shape[1]
        if self.mix is None:
            a[:, :touched] *= kept
            return a
        # M = diag(strengths) Z with orthogonal Z, so its inverse is Z' diag(1 / strengths).
        removed = (tau[:, :touched] * (1.0 - kept)) @ self.mix[:, :touched].T / self.strengths**2
        far, near = lengths(removed), REACH * lengths(a)
        removed *= np.where(far > near, near / np.where(far > near, far, 1.0), 1.0)[:, None]
        everything = (touched == self.rank) & ~kept.any(axis=1)
        return np.where(everything[:, None], 0.0, a - removed)


def lengths(rows: np.ndarray) -> np.ndarray:
    """Euclidean lengths of rows, without squares that overflow or vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._directions import lengths
    >>> lengths(np.array([[3e200, 4e200], [0.0, 0.0]]))
    array([5.e+200, 0.e+000])
    """
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return largest * np.sqrt(np.square(rows / unit[:, None]).sum(axis=1))


def without_confidential(coef: np.ndarray, cut: float = 0.0) -> Directions:
    """Weak directions first: no secret is known, so what is removed should be long.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        Coefficients of the predictor.
    cut : float, default=0.0
        Directions that are read more weakly than this share of the strongest are left out; those
        at the level of rounding always are.

    Returns
    -------
    Directions

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._directions import without_confidential
    >>> found = without_confidential(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> found.rank, (found.strengths * found.scale).round(6).tolist()
    (2, [1.0, 2.0])
    """
    U, s, scale, weak = _read(coef, cut)
    U, s = U[:, ::-1], s[::-1]  # an ascending order is the order of removal
    return Directions(U, U, s, scale, _starts(s, 1.0), len(s), dropped=weak.strength)


def against_confidential(
    coef: np.ndarray,
    confidential: np.ndarray,
    cut: float = 0.0,
    precision: float = _EPS,
    typical: np.ndarray | None = None,
) -> Directions:
    r"""Directions that tell most about confidential outputs, per change of the outputs, first.

    With :math:`A = PSU^T` the coefficients and C the confidential ones, a row is first moved
    within the null space of A to where :math:`\|Cx\|` is least: :math:`B = U - N`,
    :math:`N = (C(I - UU^T))^+ CU`. What remains of C as a function of the outputs is
    :math:`E = (CB) S^{-1}`; its singular vectors :math:`Z` order the directions. These are the
    generalized eigenvectors of :math:`A^TA` and :math:`C^TC`, but nothing is squared, and the
    outputs are kept whatever the rank of C.

    The shorter :math:`C(I - UU^T)` is in some direction, the farther rows have to move along it.
    Directions at the level of the rounding of C are none, and those that would make typical rows
    more than ten times as long are not used: there C counts as a function of the outputs.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        Coefficients of the predictor.
    confidential : ndarray of shape (n_secrets, n_features)
        Coefficients of the confidential outputs.
    cut : float, default=0.0
        Directions that are read more weakly than this share of the strongest are left out; rows
        are not moved along them either. Those at the level of rounding always are left out.
    precision : float, default=2.2e-16
        Rounding of the coefficients, relative to their rows.
    typical : ndarray of shape (n_typical, n_features), optional
        What the predictor reads of typical rows: their second moments are those of rows of
        root-mean-square length 1. By default rows may point anywhere that the predictor reads.

    Returns
    -------
    Directions

    Examples
    --------
    The second feature is confidential, and the predictor does not need it.

    >>> import numpy as np
    >>> from columnist.privacy._directions import against_confidential
    >>> found = against_confidential(np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 1.0, 0.0]]))
    >>> found.rebuild.round(6).tolist(), found.n_spendable
    ([[1.0], [-1.0], [0.0]], 0)
    """
    U, s, scale, weak = _read(coef, cut)
    whole = np.hstack([U, weak.basis])
    C = confidential / (np.abs(confidential).max() or 1.0)
    C = C / (np.linalg.norm(C, 2) or 1.0)
    inside = C @ U
    L, d, R = _outside(C, whole, precision)
    moves = (L.T @ inside) / d[:, None]
    near, too_far = _within_reach(moves, d, U if typical is None else typical @ U, precision)
    L, moves = L[:, near], moves[near]
    rebuild = U - _project_out(R[:, near], whole) @ moves
    left = (inside - L @ (L.T @ inside)) / s
    gains, Z = _right_vectors(left)
    spendable = int(np.sum(gains > _NO_GAIN * max(1.0, gains[0]))) if len(gains) else 0
    mix = s[:, None] * Z
    starts = _starts(gains[:spendable], gains[0] if spendable else 1.0)
    stretch = float(np.linalg.norm(rebuild, 2)) if len(s) else 1.0
    return Directions(U, rebuild, s, scale, starts, spendable, mix, stretch, weak.strength, too_far)


def _outside(
    C: np.ndarray, read: np.ndarray, precision: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular vectors and values of what is left of C beside directions that are read.

    What is at the level of rounding is nothing, by row and by direction: in proportion to the
    lengths of the rows of C, as they take part in the direction.
    """
    units = 4.0 * sum(np.sqrt(C.shape))
    rounding = units * precision * lengths(C)
    rest = _project_out(C.T, read).T
    rest[lengths(rest) <= rounding] = 0.0
    L, d, Rt = scipy.linalg.svd(rest, full_matrices=False, check_finite=False)
    real = d > lengths(L.T * rounding) + units * _EPS * d.max(initial=0.0)
    return L[:, real], d[real], Rt[real].T


def _within_reach(
    moves: np.ndarray, d: np.ndarray, typical: np.ndarray, precision: float
) -> tuple[np.ndarray, float]:
    """Which moves do not carry typical rows too far, and how far the others would.

    The shortest are made first. Those of equal singular values d have no basis of their own: all
    of them are made, or none. Moves that would take half of their digits from the coordinates of
    a row are none, as if the confidential outputs were a function of those of the predictor.
    """
    if not moves.size:
        return np.zeros(len(d), dtype=bool), 0.0
    groups = _starts(d, d[0])
    any_row, far = (
        np.add.reduceat(np.square(lengths(each)), groups) for each in (moves, moves @ typical.T)
    )
    known = any_row < 1.0 / precision
    order = np.argsort(np.where(known, far, np.inf), kind="stable")
    near = np.empty(len(far), dtype=bool)
    near[order] = np.cumsum(far[order]) <= REACH**2
    near &= known
    sizes = np.diff(groups, append=len(d))
    return np.repeat(near, sizes), float(np.sqrt(far[known & ~near].sum()))


class _Weak(NamedTuple):
    """Directions that are read, but left out."""

    basis: np.ndarray
    strength: float  # the largest


def _read(coef: np.ndarray, cut: float) -> tuple[np.ndarray, np.ndarray, float, _Weak]:
    """Right singular vectors, singular values over the largest, the largest; what is left out."""
    unit = np.abs(coef).max(initial=0.0) or 1.0
    _, s, Vt = scipy.linalg.svd(coef / unit, full_matrices=False, check_finite=False)
    largest = s[0] if len(s) and s[0] > 0.0 else 1.0
    read = int(np.sum(s > max(coef.shape) * _EPS * largest))
    rank = int(np.sum(s[:read] > cut * largest))
    weak = _Weak(Vt[rank:read].T, float(s[rank] / largest) if rank < len(s) else 0.0)
    return Vt[:rank].T, s[:rank] / largest, float(largest * unit), weak


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
