"""Symmetric matrices of samples, defined by their products with vectors.

Sparse graphs, graphs of c classes (rank c) and sums of them are hardly ever n x n: every class
computes products and quadratic forms in its cheapest way. Functions of blocks of rows are run where
the blocks are stored, and centre columns there, which avoids cancellation. No input validation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_array

from columnist.data._blocks import RowBlocks, as_rows
from columnist.linalg._column_parts import Visit, total
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import apply, column_blocks, columns_of, cross, row_blocks
from columnist.spectral._edges import edge_sums

# How far, relative to the largest entry, a matrix may be from symmetric by rounding.
_ASYMMETRY = 1e-8
# Up to this order all eigenpairs cost less than some by iteration.
_SMALL = 200
# Features whose products are formed for the sake of eigenvectors.
_MOST_FEATURES = 2000
# Eigenvalues below this share of the largest have too few digits for their vectors.
_LOST = 1e-7
# Entries of the rows at the ends of edges that exist at the same time.
_BLOCK = 2**21
# Entries of rows that are small enough for a cache, and rows that are worth a call.
_CACHED, _LEAST_ROWS = 2**17, 32


class SymmetricMatrix(ABC):
    """A symmetric matrix S with ``n`` rows."""

    n: int

    @abstractmethod
    def times(self, M: np.ndarray) -> np.ndarray:
        """S M for a dense vector or matrix."""

    @abstractmethod
    def scaled(self, c: np.ndarray) -> SymmetricMatrix:
        """diag(c) S diag(c)."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """The diagonal."""

    def toarray(self) -> np.ndarray:
        """All n x n entries."""
        return self.times(np.eye(self.n))

    def sums(self) -> np.ndarray:
        """S 1, the sums of the rows."""
        return self.times(np.ones(self.n))

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        """f'Sf of every column f of X minus its mean; X is an array, sparse, or in blocks.

        Here some columns at a time are brought to S; other matrices go to where the rows are.
        """
        X = as_rows(X)
        values = np.empty(X.shape[1])
        for columns in column_blocks(*X.shape[::-1]):
            part = minus(dense_columns(X, columns), None if means is None else means[..., columns])
            values[columns] = np.einsum("ij,ij->j", part, self.times(part))
        return values

    def leading(
        self, count: int, away: np.ndarray | None = None, far: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Largest eigenpairs, descending, on the complement of a unit vector.

        The vector itself takes part with the eigenvalue ``-far``.
        """

        def times(M: np.ndarray) -> np.ndarray:
            if away is None:
                return self.times(M)
            along = away @ M
            product = self.times(M - np.multiply.outer(away, along))
            return product - np.multiply.outer(away, away @ product + far * along)

        return largest_eigenpairs(times, self.n, count)


class DenseMatrix(SymmetricMatrix):
    """A matrix whose entries are all stored."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.n = array.shape[0]

    def times(self, M: np.ndarray) -> np.ndarray:
        return self.array @ M

    def scaled(self, c: np.ndarray) -> DenseMatrix:
        return DenseMatrix(c[:, None] * self.array * c)

    def diagonal(self) -> np.ndarray:
        return self.array.diagonal()

    def toarray(self) -> np.ndarray:
        return self.array


class SparseMatrix(SymmetricMatrix):
    """A matrix in compressed sparse rows."""

    def __init__(self, matrix):
        self.matrix = sp.csr_matrix(matrix)
        self.n = matrix.shape[0]

    @classmethod
    def of_diagonal(cls, values: np.ndarray) -> SparseMatrix:
        """A diagonal matrix."""
        return cls(sp.diags_array(values))

    def times(self, M: np.ndarray) -> np.ndarray:
        return self.matrix @ M

    def scaled(self, c: np.ndarray) -> SparseMatrix:
        rows = np.repeat(c, np.diff(self.matrix.indptr))
        data = rows * self.matrix.data * c[self.matrix.indices]
        return SparseMatrix(
            sp.csr_matrix((data, self.matrix.indices, self.matrix.indptr), self.matrix.shape)
        )

    def diagonal(self) -> np.ndarray:
        return self.matrix.diagonal()

    def toarray(self) -> np.ndarray:
        return self.matrix.toarray()

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        links = 2.0 * self.upper() + sp.diags_array(self.diagonal())
        return as_rows(X).fold_links(Visit(link_forms, means), total, sp.csr_array(links))

    def upper(self) -> sp.csr_array:
        """The part above the diagonal: every two samples once."""
        return sp.csr_array(sp.triu(self.matrix, 1, format="csr"))


class LowRankMatrix(SymmetricMatrix):
    """``factor @ core @ factor.T``; no core is the identity."""

    def __init__(self, factor: np.ndarray, core: np.ndarray | None = None):
        self.factor, self.core = factor, core
        self.n = factor.shape[0]

    def times(self, M: np.ndarray) -> np.ndarray:
        along = self.factor.T @ M
        return self.factor @ (along if self.core is None else self.core @ along)

    def scaled(self, c: np.ndarray) -> LowRankMatrix:
        return LowRankMatrix(c[:, None] * self.factor, self.core)

    def diagonal(self) -> np.ndarray:
        return _forms_of_rows(self.factor, self.core)

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        return _forms_of_rows(cross_rows(as_rows(X), self.factor, means), self.core)


class RowProducts(SymmetricMatrix):
    """``C X X' C``, C diagonal, never formed: a product takes two passes over the rows X."""

    def __init__(self, X: RowBlocks, factors: np.ndarray | None = None):
        self.X, self.n = X, X.shape[0]
        self.factors = np.ones(self.n) if factors is None else factors

    def times(self, M: np.ndarray) -> np.ndarray:
        inner = cross_rows(self.X, self._by_factors(M))
        return self._by_factors(apply_rows(self.X, inner))

    def scaled(self, c: np.ndarray) -> RowProducts:
        return RowProducts(self.X, c * self.factors)

    def diagonal(self) -> np.ndarray:
        return np.square(self.factors * row_lengths(self.X))

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        if X is not self.X:
            return super().forms(X, means)
        return np.square(own_cross(X, self.factors, means)).sum(axis=0)

    def leading(
        self, count: int, away: np.ndarray | None = None, far: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Largest eigenpairs on the complement of a unit vector u, in three passes. With :math:`Z
        = CX - uw^T, w = X^TCu` they are :math:`(\lambda, Zv/\sqrt\lambda)` for the eigenpairs
        :math:`(\lambda, v)` of :math:`Z^TZ = X^TC^2X - ww^T`, a matrix of features. By iteration
        where that matrix is too large, or an eigenvalue is lost in its rounding."""
        m = self.X.n_features
        if not count <= m <= _MOST_FEATURES:
            return super().leading(count, away, far)
        along = np.zeros(m) if away is None else cross_rows(self.X, self.factors * away)
        inner = own_cross(self.X, self.factors**2) - np.outer(along, along)
        values, V = scipy.linalg.eigh(
            0.5 * (inner + inner.T), subset_by_index=[m - count, m - 1], check_finite=False
        )
        if values[0] <= _LOST * values[-1]:
            return super().leading(count, away, far)
        V = V[:, ::-1] / np.sqrt(values[::-1])
        vectors = self.factors[:, None] * apply_rows(self.X, V)
        return values[::-1], vectors if away is None else vectors - np.outer(away, along @ V)

    def _by_factors(self, M: np.ndarray) -> np.ndarray:
        return (self.factors * M.T).T


class SumMatrix(SymmetricMatrix):
    """A weighted sum of symmetric matrices, kept as such."""

    def __init__(self, terms: Sequence[tuple[float, SymmetricMatrix]]):
        self.terms = list(terms)
        self.n = self.terms[0][1].n

    def times(self, M: np.ndarray) -> np.ndarray:
        return reduce(add, (weight * matrix.times(M) for weight, matrix in self.terms))

    def scaled(self, c: np.ndarray) -> SumMatrix:
        return SumMatrix([(weight, matrix.scaled(c)) for weight, matrix in self.terms])

    def diagonal(self) -> np.ndarray:
        return total([weight * matrix.diagonal() for weight, matrix in self.terms])

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        return total([weight * matrix.forms(X, means) for weight, matrix in self.terms])


def largest_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray],
    n: int,
    count: int,
    whole: Callable[[], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, descending, and their vectors, by iteration where that is cheaper.
    ``times`` multiplies the matrix, of order n, with vectors; ``whole`` gives the matrix itself, if
    that costs less than products with all unit vectors."""
    if worth_iterating(n, count):
        return _lanczos(times, n, count)
    check_memory(24.0 * n**2, f"The full spectrum of {n} samples", "Ask for fewer eigenvectors.")
    matrix = times(np.eye(n)) if whole is None else whole()
    values, vectors = scipy.linalg.eigh(
        0.5 * (matrix + matrix.T), subset_by_index=[max(n - count, 0), n - 1], check_finite=False
    )
    return values[::-1], vectors[:, ::-1]


def worth_iterating(n: int, count: int) -> bool:
    """Whether ``count`` eigenpairs of a matrix of order n cost less by iteration than all."""
    return n > _SMALL and count < n // 2


def _lanczos(times, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    operator = LinearOperator((n, n), matvec=lambda v: times(v.ravel()), dtype=np.float64)
    # A fixed start makes the result repeatable.
    options = {"which": "LA", "v0": np.random.RandomState(0).uniform(-1.0, 1.0, n)}
    try:
        values, vectors = eigsh(operator, count, **options)
    except ArpackNoConvergence:
        wide = min(n - 1, max(4 * count, 60))
        values, vectors = eigsh(operator, count, ncv=wide, maxiter=100 * n, **options)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _forms_of_rows(rows: np.ndarray, core: np.ndarray | None) -> np.ndarray:
    """r' core r of every row r."""
    return np.einsum("ij,ij->i", rows, rows if core is None else rows @ core)


def as_symmetric(S, *, n_samples: int | None = None, name: str = "similarity") -> SymmetricMatrix:
    """A checked symmetric matrix from an array or a sparse matrix."""
    known = isinstance(S, SymmetricMatrix)
    if not known:
        S = check_array(S, accept_sparse="csr", dtype=np.float64, input_name=name)
    shape = (S.n, S.n) if known else S.shape
    if shape[0] != shape[1]:
        raise ValueError(f"The {name} must be a square matrix of samples; got shape {shape}.")
    if n_samples is not None and shape[0] != n_samples:
        raise ValueError(
            f"The {name} is a matrix of {shape[0]} samples, but X has {n_samples} rows."
        )
    if known:
        return S
    values = S.data if sp.issparse(S) else S
    apart = abs(S - S.T).max()
    if apart > _ASYMMETRY * np.abs(values).max(initial=0.0):
        raise ValueError(
            f"The {name} must be symmetric; entries differ from their mirror images by up to "
            f"{apart:.3g}. Pass (S + S.T) / 2, or np.maximum(S, S.T), if that is what is meant."
        )
    return SparseMatrix(S) if sp.issparse(S) else DenseMatrix(S)


def joined(parts: Sequence[np.ndarray], axis: int = 0) -> np.ndarray:
    """Arrays below, or beside, one another; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


def dense_columns(X: RowBlocks, which) -> np.ndarray:
    """Some columns, all rows, as a dense float64 array."""
    return joined(X.collect(Visit(columns_of, which)))


def cross_rows(X: RowBlocks, M: np.ndarray, means: np.ndarray | None = None) -> np.ndarray:
    """X'M for a matrix of as many rows; of the columns minus ``means``."""
    return X.fold(Visit(block_cross, means), total, M)


def own_cross(X: RowBlocks, weights: np.ndarray, means: np.ndarray | None = None) -> np.ndarray:
    """Products of the weighted columns with the columns minus ``means``."""
    return X.fold(Visit(block_own_cross, means), total, weights)


def apply_rows(X: RowBlocks, W: np.ndarray) -> np.ndarray:
    """X W, all rows."""
    return joined(X.collect(Visit(apply, W)))


def row_lengths(X: RowBlocks) -> np.ndarray:
    """Lengths of all rows."""
    return joined(X.collect(_lengths))


def minus(X: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Columns minus their means; these may have a second row, what rounding left of the first."""
    for row in () if means is None else np.atleast_2d(means):
        X = X - row
    return X.astype(np.float64, copy=False)


def block_cross(X, M: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Products of the columns of a block, minus ``means``, with a matrix that is passed with it."""
    if means is None:
        return cross(X, M)
    if sp.issparse(X):
        X, left = _shifted(X, means)
        return cross(X, M) - np.multiply.outer(left, M.sum(axis=0))
    product = np.zeros((X.shape[1], *M.shape[1:]))
    height = max(_LEAST_ROWS, _CACHED // max(X.shape[1], 1))
    for start in range(0, X.shape[0], height):
        rows = slice(start, start + height)
        product += minus(X[rows], means).T @ M[rows]
    return product


def block_own_cross(X, weights: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """Products of the columns, minus their means, with the weighted columns themselves."""
    if sp.issparse(X):
        weighted = (sp.diags_array(weights) @ X).tocsr()
        X, left = _shifted(X, means)
        sums = np.asarray(weighted.sum(axis=0)).ravel()
        return (weighted.T @ X).toarray() - np.outer(sums, left)
    product = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(*X.shape):
        product += (weights[rows, None] * X[rows]).T @ minus(X[rows], means)
    return product


def edge_forms(A, B, tile: sp.csr_array) -> np.ndarray:
    """Weighted squared differences along the edges between two blocks, for every column."""
    if A is B and not sp.issparse(A):
        return _forms_along(tile.indptr, tile.indices, tile.data, A)
    if sp.issparse(A):
        same, A = A is B, A.tocsr()
        B = A if same else B.tocsr()
    tile = tile.tocoo()
    sums = np.zeros(A.shape[1])
    height = max(1, int(_BLOCK // max(A.size / max(A.shape[0], 1), 1.0)))
    for start in range(0, tile.nnz, height):
        edges = slice(start, start + height)
        i, j, weights = tile.row[edges], tile.col[edges], tile.data[edges]
        if sp.issparse(A):
            apart = (A[i] - B[j]).astype(np.float64)
            sums += np.asarray(apart.multiply(apart).T @ weights).ravel()
        else:
            sums += _dense_edges(A, B, i, j, weights)
    return sums


def link_forms(A, B, tile: sp.csr_array, means: np.ndarray | None) -> np.ndarray:
    """Sums of weighted products of entries that are linked, for every column minus its mean."""
    if sp.issparse(A):
        A, below = _shifted(A, means)
        B, beside = _shifted(B, means)
        sums = np.asarray(A.multiply(tile @ B).sum(axis=0)).ravel()
        left, right = tile.sum(axis=1) @ A, tile.sum(axis=0) @ B
        return sums - beside * left - below * right + below * beside * tile.sum()
    sums = np.empty(A.shape[1])
    for columns in column_blocks(A.shape[1], A.shape[0] + B.shape[0]):
        some = None if means is None else means[..., columns]
        left = minus(A[:, columns], some)
        right = left if A is B else minus(B[:, columns], some)
        sums[columns] = np.einsum("ij,ij->j", left, tile @ right)
    return sums


def _dense_edges(A, B, i, j, weights) -> np.ndarray:
    """The rows at both ends, one after the other, are a graph of their own."""
    ends, i = np.unique(i, return_inverse=True)
    others, j = np.unique(j, return_inverse=True)
    n = len(ends) + len(others)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=n))])
    rows = np.concatenate([A[ends], B[others]])
    return _forms_along(indptr, j + len(ends), weights, rows)


def _forms_along(indptr, indices, weights, rows: np.ndarray) -> np.ndarray:
    """Sums over the edges of a graph in compressed rows."""
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    rows = rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)
    indptr, indices = (part.astype(np.intc, copy=False) for part in (indptr, indices))
    return edge_sums(indptr, indices, np.ascontiguousarray(weights, np.float64), rows, squared=True)


def _lengths(X) -> np.ndarray:
    return row_norms(X.astype(np.float64, copy=False))


def _shifted(X, means: np.ndarray | None):
    """Sparse X with columns that have no zeros minus their means; means that are left of others.

    Such a column may be far from zero, where products with it would cancel.
    """
    if means is None:
        return X, np.zeros(X.shape[1])
    X = X.tocsc()
    filled = np.diff(X.indptr)
    full = filled == X.shape[0]
    if not full.any():
        return X, np.atleast_2d(means).sum(axis=0)
    X = X.astype(np.float64)
    for row in np.atleast_2d(means):
        X.data -= np.repeat(np.where(full, row, 0.0), filled)
    return X, np.where(full, 0.0, np.atleast_2d(means).sum(axis=0))
