"""Symmetric matrices that are known by their products.

A similarity of n samples is an n x n matrix, but hardly ever needs to be one: a neighbourhood
graph is sparse, a graph of c classes has rank c, and sums of such matrices are neither. What the
scores ask of a similarity is products and quadratic forms, which every class here answers in the
cheapest way it knows.
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
from sklearn.utils.validation import check_array

from columnist.data._blocks import RowBlocks, as_rows
from columnist.linalg._column_parts import total
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import column_blocks
from columnist.spectral._visits import (
    LinkVisit,
    apply_rows,
    cross_rows,
    dense_columns,
    minus,
    own_cross,
    row_lengths,
)

__all__ = [
    "DenseMatrix",
    "LowRankMatrix",
    "RowProducts",
    "SparseMatrix",
    "SumMatrix",
    "SymmetricMatrix",
    "as_symmetric",
    "largest_eigenpairs",
    "worth_iterating",
]

# How far, relative to the largest entry, a matrix may be from symmetric by rounding.
_ASYMMETRY = 1e-8
# Up to this order all eigenpairs cost less than some by iteration.
_SMALL = 200
# Features whose products are formed for the sake of eigenvectors.
_MOST_FEATURES = 2000
# Eigenvalues below this share of the largest have too few digits for their vectors.
_LOST = 1e-7


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
        if away is None:
            return largest_eigenpairs(self.times, self.n, count)
        beside = away

        def times(M: np.ndarray) -> np.ndarray:
            along = beside @ M
            product = self.times(M - np.multiply.outer(beside, along))
            return product - np.multiply.outer(beside, beside @ product + far * along)

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
        return as_rows(X).fold_links(LinkVisit(means), total, sp.csr_array(links))

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
    """``C X X' C`` for rows X and a diagonal C of factors: inner products that are never formed.

    A product with r vectors takes two passes over the rows, of which one brings X'M together,
    and the other one the result.
    """

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
        r"""Largest eigenpairs on the complement of a unit vector u, in three passes.

        With :math:`Z = CX - uw^T, w = X^TCu` they are :math:`(\lambda, Zv/\sqrt\lambda)` for the
        eigenpairs :math:`(\lambda, v)` of :math:`Z^TZ = X^TC^2X - ww^T`, a matrix of features.
        By iteration where that matrix is too large, or an eigenvalue is lost in its rounding.
        """
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
        return reduce(add, (weight * matrix.diagonal() for weight, matrix in self.terms))

    def forms(self, X, means: np.ndarray | None = None) -> np.ndarray:
        return reduce(add, (weight * matrix.forms(X, means) for weight, matrix in self.terms))


def largest_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray],
    n: int,
    count: int,
    whole: Callable[[], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, descending, and their vectors, by iteration where that is cheaper.

    Parameters
    ----------
    times : callable
        Product of the matrix and vectors.
    n : int
        Order of the matrix.
    count : int
        How many.
    whole : callable, optional
        Gives the matrix itself, if that costs less than products with all unit vectors.

    Returns
    -------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n, count)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._symmetric import largest_eigenpairs
    >>> largest_eigenpairs(lambda M: (np.arange(9.0) * M.T).T, 9, 2)[0].round(6)
    array([8., 7.])
    """
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
    """A checked symmetric matrix from an array or a sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._symmetric import as_symmetric
    >>> as_symmetric(np.array([[1.0, 0.5], [0.5, 1.0]])).sums()
    array([1.5, 1.5])
    """
    if isinstance(S, SymmetricMatrix):
        _check_shape((S.n, S.n), n_samples, name)
        return S
    S = check_array(S, accept_sparse="csr", dtype=np.float64, input_name=name)
    _check_shape(S.shape, n_samples, name)
    values = S.data if sp.issparse(S) else S
    apart = abs(S - S.T).max()
    if apart > _ASYMMETRY * np.abs(values).max(initial=0.0):
        raise ValueError(
            f"The {name} must be symmetric; entries differ from their mirror images by up to "
            f"{apart:.3g}. Pass (S + S.T) / 2, or np.maximum(S, S.T), if that is what is meant."
        )
    return SparseMatrix(S) if sp.issparse(S) else DenseMatrix(S)


def _check_shape(shape: tuple[int, ...], n_samples: int | None, name: str) -> None:
    if shape[0] != shape[1]:
        raise ValueError(f"The {name} must be a square matrix of samples; got shape {shape}.")
    if n_samples is not None and shape[0] != n_samples:
        raise ValueError(
            f"The {name} is a matrix of {shape[0]} samples, but X has {n_samples} rows."
        )
