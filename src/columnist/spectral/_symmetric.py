"""Symmetric matrices that are known by their products.

A similarity of n samples is an n x n matrix, but hardly ever needs to be one: a neighbourhood
graph is sparse, a graph of c classes has rank c, and sums of such matrices are neither. What the
scores ask of a similarity is products and quadratic forms, which every class here answers in the
cheapest way it knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.validation import check_array

from columnist.linalg._passes import column_blocks, columns_of, cross

__all__ = [
    "DenseMatrix",
    "DiagonalMatrix",
    "LowRankMatrix",
    "SparseMatrix",
    "SumMatrix",
    "SymmetricMatrix",
    "as_symmetric",
]

# How far, relative to the largest entry, a matrix may be from symmetric by rounding.
_ASYMMETRY = 1e-8


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

    def forms(self, X) -> np.ndarray:
        """f'Sf of every column f of X, which may be sparse."""
        values = np.empty(X.shape[1])
        for columns in column_blocks(X.shape[1], X.shape[0]):
            part = columns_of(X, columns)
            values[columns] = np.einsum("ij,ij->j", part, self.times(part))
        return values

    def operator(self) -> LinearOperator:
        """The same for SciPy's iterative solvers."""
        return LinearOperator(
            (self.n, self.n), matvec=self.times, matmat=self.times, dtype=np.float64
        )


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

    def forms(self, X) -> np.ndarray:
        if not sp.issparse(X):
            return super().forms(X)
        return np.asarray(X.multiply(self.matrix @ X).sum(axis=0), dtype=np.float64).ravel()


class LowRankMatrix(SymmetricMatrix):
    """``factor @ core @ factor.T``, the factor dense or sparse; no core is the identity."""

    def __init__(self, factor, core: np.ndarray | None = None):
        self.factor, self.core = factor, core
        self.n = factor.shape[0]

    def times(self, M: np.ndarray) -> np.ndarray:
        return np.asarray(self.factor @ self._by_core(self.factor.T @ M))

    def scaled(self, c: np.ndarray) -> LowRankMatrix:
        factor = self.factor
        by_c = sp.diags(c) @ factor if sp.issparse(factor) else c[:, None] * factor
        return LowRankMatrix(by_c, self.core)

    def diagonal(self) -> np.ndarray:
        along = self.factor if self.core is None else self.factor @ self.core
        if sp.issparse(self.factor):
            return np.asarray(self.factor.multiply(along).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", self.factor, along)

    def forms(self, X) -> np.ndarray:
        if sp.issparse(self.factor):
            return super().forms(X)
        values = np.empty(X.shape[1])
        for columns in column_blocks(X.shape[1], self.factor.shape[1]):
            along = cross(X[:, columns], self.factor)
            with_core = along if self.core is None else along @ self.core
            values[columns] = np.einsum("ij,ij->i", along, with_core)
        return values

    def _by_core(self, M: np.ndarray) -> np.ndarray:
        return M if self.core is None else self.core @ M


class DiagonalMatrix(SymmetricMatrix):
    """A diagonal matrix."""

    def __init__(self, values: np.ndarray):
        self.values = values
        self.n = len(values)

    def times(self, M: np.ndarray) -> np.ndarray:
        return (self.values * M.T).T

    def scaled(self, c: np.ndarray) -> DiagonalMatrix:
        return DiagonalMatrix(c * c * self.values)

    def diagonal(self) -> np.ndarray:
        return self.values

    def forms(self, X) -> np.ndarray:
        if not sp.issparse(X):
            return super().forms(X)
        return np.asarray(self.values @ X.astype(np.float64).power(2)).ravel()


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

    def forms(self, X) -> np.ndarray:
        return reduce(add, (weight * matrix.forms(X) for weight, matrix in self.terms))


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
