r"""Right singular vectors and the leverage scores of columns. No input validation.

With :math:`X = U S V^T`, column j of :math:`V_r^T = S_r^{-1} U_r^T X` says how column j of X lies
in the best subspace of dimension r; its squared length is the leverage of the column. For
sparse X only :math:`S_r^{-1} U_r^T` is kept: n x r numbers are never held at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, visiting
from columnist.linalg._passes import apply, cross, gram, kernel_product
from columnist.linalg._second_moment import kernel_blocks
from columnist.selection._rrqr import column_squares, triangle

__all__ = ["RightVectors", "leverage_scores", "right_vectors"]

_EPS = np.finfo(np.float64).eps
# A sparse matrix with no more entries than this, zeros counted, is a dense block (32 MB).
_BLOCK = 2**22
# Smaller side up to which a decomposition is computed in full.
_EXACT_SIDE = 2000
# Extra directions of the iteration, its longest run, and the relative growth of the captured
# energy below which it has settled.
_OVERSAMPLING = 10
_MAX_ITERATIONS = 30
_SETTLED = 1e-5


@dataclass(frozen=True)
class RightVectors:
    """Leading right singular vectors, as the rows of ``data`` or of ``left @ data``.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Singular values, descending, those of rounding left out.
    data : ndarray, sparse matrix or ColumnParts
        The vectors, or X.
    left : ndarray of shape (r, m) or None
        What X is to be multiplied with.
    """

    values: np.ndarray
    data: Any
    left: np.ndarray | None = None

    def keep(self, which) -> RightVectors:
        """Some of the vectors."""
        if self.left is None:
            return RightVectors(self.values[which], self.data[which])
        return replace(self, values=self.values[which], left=self.left[which])

    def leverages(self) -> np.ndarray:
        """Squared length of every column: it sums to the number of vectors."""
        return column_squares(self.data, self.left)


def leverage_scores(X, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Leverage of every column in the best subspace of dimension ``rank``, and that dimension.

    The dimension is the numerical rank where that is lower.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._leverage import leverage_scores
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    >>> scores, rank = leverage_scores(X, 2, np.random.default_rng(0))
    >>> scores, rank
    (array([1. , 0.5, 0.5]), 2)
    """
    vectors = right_vectors(X, rank, rng)
    return vectors.leverages(), len(vectors.values)


def _of_parts(function, X: ColumnParts, rank: int | None, rng) -> RightVectors:
    """:func:`right_vectors` of a matrix that is kept elsewhere."""
    wide = X.shape[0] <= X.shape[1]
    if X.shape[0] * X.shape[1] <= _BLOCK:
        return function(X.gather(), rank, rng)
    if rank is not None and min(X.shape) > _EXACT_SIDE:
        product = kernel_product if wide else _gram_product
        values, basis = _settled(X, product, X.shape[0 if wide else 1], rank, rng)
    elif not wide:  # few columns: no reason to leave them where they are
        return function(X.gather(), rank, rng)
    elif X.is_sparse:
        kernel = np.vstack([block for _, block in kernel_blocks(X)])
        values, basis = _descending(*np.linalg.eigh(kernel), max(X.shape))
    else:
        factor = X.fold(_transposed_triangle, _merged_triangles)
        values, basis = _from_triangle(factor.T, max(X.shape))
    return _leading(values, basis, rank, X)


@visiting(_of_parts)
def right_vectors(X, rank: int | None, rng: np.random.Generator | None) -> RightVectors:
    """The leading ``rank`` right singular vectors; all of them, exactly, if ``rank`` is None.

    Dense X: an SVD of the triangular factor of the longer side. Sparse X: the eigenvectors of
    the smaller Gram matrix, which loses singular values below a hundred-millionth of the
    largest one. Where even the smaller side is long: subspace iteration from random vectors,
    which stops when the energy it captures hardly grows.

    Parameters
    ----------
    X : ndarray, CSC matrix or ColumnParts of shape (m, n)
        Data.
    rank : int or None
        Number of vectors.
    rng : numpy.random.Generator or None
        Randomness of the iteration; not used with ``rank=None``.
    """
    m, n = X.shape
    X = X.toarray() if sp.issparse(X) and m * n <= _BLOCK else X
    side = X if m <= n else X.T
    if rank is not None and min(m, n) > _EXACT_SIDE:
        assert rng is not None  # as the docstring asks
        values, basis = _iterated(side, rank, rng)
    elif sp.issparse(X):
        values, basis = _from_gram(side)
    else:
        values, basis = _from_triangle(side, max(m, n))
    return _leading(values, basis, rank, X)


def _leading(values, basis, rank: int | None, X) -> RightVectors:
    """The first vectors, from those of the smaller side."""
    values, basis = values[:rank], basis[:, : len(values[:rank])]
    wide = X.shape[0] <= X.shape[1]
    return RightVectors(values, X, (basis / values).T) if wide else RightVectors(values, basis.T)


def _transposed_triangle(part: np.ndarray) -> np.ndarray:
    """Triangular factor of the transposed columns."""
    return triangle(part.T)


def _merged_triangles(factors) -> np.ndarray:
    return triangle(np.vstack(factors))


def _gram_product(X, Q: np.ndarray) -> np.ndarray:
    """X'XQ."""
    return cross(X, apply(X, Q))


def _from_triangle(X: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and left vectors of a dense X with m <= n; ``length`` is its longer side."""
    U, s, _ = scipy.linalg.svd(triangle(X.T).T, full_matrices=False, check_finite=False)
    kept = s > length * _EPS * s.max(initial=0.0)
    return s[kept], U[:, kept]


def _from_gram(X) -> tuple[np.ndarray, np.ndarray]:
    """The same for a sparse X."""
    return _descending(*np.linalg.eigh(gram(X.T)), max(X.shape))


def _iterated(X, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The leading ones, by subspace iteration on XX'."""
    if sp.issparse(X):
        X = X.tocsc()
        X = X[:, np.flatnonzero(np.diff(X.indptr))]
    return _settled(X, kernel_product, X.shape[0], rank, rng)


def _settled(X, product, side: int, rank: int, rng: np.random.Generator):
    """The same for whatever ``product(X, Q)`` multiplies Q with, a matrix of this side."""
    width = min(rank + _OVERSAMPLING, side)
    Q, _ = np.linalg.qr(rng.standard_normal((side, width)))
    before = 0.0
    for _ in range(_MAX_ITERATIONS):
        image = product(X, Q)
        squares, turn = np.linalg.eigh(Q.T @ image)
        vectors = Q @ turn
        captured = float(squares[-rank:].sum())
        if captured - before <= _SETTLED * captured:
            break
        before = captured
        Q, _ = np.linalg.qr(image)
    return _descending(squares, vectors, max(X.shape))


def _descending(squares, vectors, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and vectors from the eigenvalues of a Gram matrix, without rounding."""
    kept = np.flatnonzero(squares > length * _EPS * squares.max(initial=0.0))[::-1]
    return np.sqrt(squares[kept]), vectors[:, kept]
