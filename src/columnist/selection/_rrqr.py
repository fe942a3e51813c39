r"""Choosing columns by QR: pivoted, and strong rank-revealing. No input validation.

Pivoted QR takes the column with the longest residual, k times. It is done here without the
residual matrix: with q the new direction and :math:`w = X^T q`, squared residual lengths fall by
:math:`w \circ w`. That is one product with X a step, O(mnk) in all, dense or sparse.

Strong rank-revealing QR (Gu and Eisenstat) then swaps columns. With the chosen columns first,

.. math:: X\Pi = Q \begin{pmatrix} A & B \\ 0 & C \end{pmatrix},

swapping the chosen column i for the column j multiplies :math:`|\det A|` by :math:`\rho_{ij}`,

.. math:: \rho_{ij}^2 = (A^{-1}B)_{ij}^2 + \|e_i^T A^{-1}\|^2 \|C e_j\|^2 .

When no :math:`\rho_{ij}` exceeds f, :math:`\sigma_i(A) \ge \sigma_i(X)/q` and
:math:`\sigma_j(C) \le q\,\sigma_{k+j}(X)` with :math:`q = \sqrt{1 + f^2 k(n-k)}`.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    cross,
    squared_norms,
    squares_along,
)
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._ties import TIE, first_largest
from columnist.selection._basis import GrowingBasis

__all__ = [
    "Deflated",
    "column_squares",
    "pivoted_columns",
    "strong_rrqr",
    "triangle",
]

# A squared length that fell to this share of its last accurate value is computed anew before
# it is compared.
_SHRUNK = 1e-4
# Rounding of a running squared length, as a share of its last accurate value, with room.
_ROUNDING = 1e-12
# Entries of a block of rows: 32 MB.
_BLOCK = 2**22


def triangle(X: np.ndarray) -> np.ndarray:
    """Triangular factor of a dense X = QR in float64, row block by row block.

    It has the inner products of the columns of X, in at most n rows. A matrix without more
    rows than columns is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._rrqr import triangle
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> R = triangle(X)
    >>> R.shape, bool(np.allclose(R.T @ R, X.T @ X))
    ((2, 2), True)
    """
    m, n = X.shape
    if m <= n:
        return X.astype(np.float64, copy=False)
    R = np.zeros((0, n))
    # Blocks much higher than R: stacking them on it then costs little.
    step = max(4 * n, _BLOCK // n)
    for start in range(0, m, step):
        stacked = np.vstack([R, X[start : start + step]])
        R = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:n]
    return R


def column_squares(X, left: np.ndarray | None = None) -> np.ndarray:
    """Squared lengths of the columns of X, or of ``left @ X``, which is never held whole."""
    if left is None:
        return squared_norms(X)
    return squares_along(X, left.T)


def _fewer_rows(X, size: int):
    """X, or its triangular factor where that saves more than it costs.

    The factor takes 2mn^2 operations in matrix products; it spares 2mn in each of ``size``
    steps, which are bound by memory and about twice as slow or more.
    """
    m, n = X.shape
    return triangle(X) if isinstance(X, np.ndarray) and m > 2 * n and 2 * size >= n else X


class Deflated:
    """Squared lengths of columns after projecting out those already taken.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (m, n)
        Data.
    capacity : int
        Columns to take at most.
    left : ndarray of shape (p, m), optional
        If given, the columns are those of ``left @ X``; a sparse product is not formed.

    Attributes
    ----------
    squares : ndarray of shape (n,)
        The squared lengths; exactly zero for columns taken and columns found dependent.
    """

    def __init__(self, X, capacity: int, *, left: np.ndarray | None = None):
        if left is not None and not sp.issparse(X):
            X, left = cross(X, left.T).T, None
        self._X, self._left = X, left
        self._basis = GrowingBasis(len(left) if left is not None else X.shape[0], capacity)
        self._own = column_squares(X, left)
        self._fresh = self._own.copy()
        self.squares = self._own.copy()

    def longest(self) -> int | None:
        """The column with the longest residual, the first among ties; None if none is left."""
        while True:
            best = self.squares.max(initial=0.0)
            shrunk = self.squares < _SHRUNK * self._fresh
            stale = np.flatnonzero(shrunk & (self.squares + _ROUNDING * self._fresh >= best))
            if not len(stale):
                break
            self._renew(stale)
        if best == 0.0:
            return None
        return first_largest(self.squares, self.squares > 0.0)[0]

    def take(self, column: int) -> bool:
        """Project out one more column; False if it depends on those taken."""
        q = self._basis.append(self._columns([column])[:, 0])
        if q is not None:
            w = cross(self._X, q if self._left is None else self._left.T @ q)
            np.maximum(self.squares - w * w, 0.0, out=self.squares)
        self._drop(column)
        return q is not None

    def _columns(self, which) -> np.ndarray:
        part = columns_of(self._X, which)
        return part if self._left is None else self._left @ part

    def _renew(self, stale: np.ndarray) -> None:
        """Lengths of some columns from their residuals."""
        for part in column_blocks(len(stale), self._X.shape[0]):
            which = stale[part]
            rest = self._basis.residual(self._columns(which))
            squares = np.einsum("ij,ij->j", rest, rest)
            self.squares[which] = self._fresh[which] = squares
            self._drop(which[squares <= DEPENDENT**2 * self._own[which]])

    def _drop(self, columns) -> None:
        self.squares[columns] = 0.0
        self._fresh[columns] = 0.0


def pivoted_columns(X, size: int, *, left: np.ndarray | None = None) -> list[int]:
    """Pivots of the QR of X (or of ``left @ X``), up to ``size`` of them or the rank.

    A column counts as dependent when its residual is a billionth of its own length.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._rrqr import pivoted_columns
    >>> pivoted_columns(np.array([[1.0, 3.0, 3.1], [1.0, 0.0, 0.0]]), 3)
    [2, 0]
    """
    X = _fewer_rows(X, size) if left is None else X
    columns = Deflated(X, min(size, X.shape[0] if left is None else len(left)), left=left)
    chosen: list[int] = []
    while len(chosen) < size:
        pivot = columns.longest()
        if pivot is None:
            break
        if columns.take(pivot):
            chosen.append(pivot)
    return chosen


def strong_rrqr(X, size: int, f: float) -> list[int]:
    """Columns of a strong rank-revealing QR factorisation, by swaps from the pivoted one.

    Every swap is followed by one blocked pass that computes all ratios anew in matrix
    products, O(mnk): pivoted QR leaves few swaps to make, and nothing drifts. The result has
    fewer than ``size`` columns when the rank is lower.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (m, n)
        Data.
    size : int
        Number of columns k.
    f : float
        Largest ratio allowed, greater than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._rrqr import strong_rrqr
    >>> strong_rrqr(np.array([[1.0, 3.0, 3.1], [1.0, 0.0, 0.0]]), 1, 2.0)
    [2]
    """
    X = _fewer_rows(X, size)
    chosen = pivoted_columns(X, size)
    squares = squared_norms(X)
    # The volume grows with every swap, so no set returns, but for rounding.
    seen = {frozenset(chosen)}
    while chosen:
        ratio, place, column = _largest_ratio(X, squares, chosen, f)
        if ratio <= f:
            break
        chosen[place] = column
        if frozenset(chosen) in seen:
            break
        seen.add(frozenset(chosen))
    return chosen


def _largest_ratio(X, squares: np.ndarray, chosen: list[int], f: float) -> tuple[float, int, int]:
    """The largest ratio, and the swap (place in ``chosen``, other column) that has it."""
    Q, A = scipy.linalg.qr(columns_of(X, chosen), mode="economic", check_finite=False)
    inverse = scipy.linalg.solve_triangular(A, np.eye(len(A)), check_finite=False)
    rows = np.square(inverse).sum(axis=1)
    taken = np.zeros(X.shape[1], dtype=bool)
    taken[chosen] = True
    best = 0.0, 0, chosen[0]
    for columns in column_blocks(X.shape[1], len(A) if sp.issparse(X) else sum(Q.shape)):
        part = X[:, columns]
        caught = cross(part, Q)
        rest = squares[columns] - np.square(caught).sum(axis=1)
        _sharpen(part, Q, rest, squares[columns], f**2 / rows.max())
        ratios = np.square(caught @ inverse.T) + np.outer(rest, rows)
        ratios[taken[columns]] = 0.0
        near = ratios >= (1.0 - TIE) * ratios.max(initial=0.0)
        at, place = np.unravel_index(np.argmax(near), ratios.shape)
        if ratios[at, place] > (1.0 + TIE) * best[0]:
            best = float(ratios[at, place]), int(place), columns.start + int(at)
    return np.sqrt(best[0]), *best[1:]


def _sharpen(part, Q, rest, squares, matters: float) -> None:
    """Compute anew the squared residuals that are mostly rounding where that can matter."""
    doubt = _ROUNDING * squares
    unsure = np.flatnonzero((rest < _SHRUNK * squares) & (rest + doubt > _SHRUNK * matters))
    for which in column_blocks(len(unsure), len(Q)):
        vectors = columns_of(part, unsure[which])
        for _ in range(2):  # the second pass restores orthogonality
            vectors -= Q @ (Q.T @ vectors)
        rest[unsure[which]] = np.square(vectors).sum(axis=0)
    np.maximum(rest, 0.0, out=rest)
