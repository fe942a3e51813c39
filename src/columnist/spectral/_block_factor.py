"""Similarities whose factor is the data: products of rows, never formed and never gathered."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks
from columnist.spectral._block_visits import OwnCrossVisit, block_apply, block_cross, total
from columnist.spectral._symmetric import SymmetricMatrix

__all__ = ["BlockFactor", "row_lengths"]

# Features whose products are formed for the sake of eigenvectors.
_MOST_FEATURES = 2000
# Eigenvalues below this share of the largest have too few digits for their vectors.
_LOST = 1e-7


class BlockFactor(SymmetricMatrix):
    """``C X X' C`` for blocks of rows X and a diagonal C of factors.

    A product with r vectors takes two passes over the blocks, of which one brings X'M together,
    and the other one the result.
    """

    def __init__(self, X: RowBlocks, factors: np.ndarray | None = None):
        self.X, self.n = X, X.shape[0]
        self.factors = np.ones(self.n) if factors is None else factors

    def times(self, M: np.ndarray) -> np.ndarray:
        inner = block_cross(self.X, self._by_factors(M))
        return self._by_factors(block_apply(self.X, inner))

    def scaled(self, c: np.ndarray) -> BlockFactor:
        return BlockFactor(self.X, c * self.factors)

    def diagonal(self) -> np.ndarray:
        return np.square(self.factors * row_lengths(self.X))

    def leading(
        self, count: int, away: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        r"""Largest eigenpairs on the complement of a unit vector u, in three passes.

        With :math:`Z = CX - uw^T, w = X^TCu` they are :math:`(\lambda, Zv/\sqrt\lambda)` for the
        eigenpairs :math:`(\lambda, v)` of :math:`Z^TZ = X^TC^2X - ww^T`, a matrix of features.
        None where that matrix is too large, or an eigenvalue is lost in its rounding.
        """
        m = self.X.n_features
        if not count <= m <= _MOST_FEATURES:
            return None
        along = np.zeros(m) if away is None else block_cross(self.X, self.factors * away)
        inner = self.X.fold(OwnCrossVisit(), total, self.factors**2) - np.outer(along, along)
        values, V = scipy.linalg.eigh(
            0.5 * (inner + inner.T), subset_by_index=[m - count, m - 1], check_finite=False
        )
        if values[0] <= _LOST * values[-1]:
            return None
        V = V[:, ::-1] / np.sqrt(values[::-1])
        vectors = self.factors[:, None] * block_apply(self.X, V)
        return values[::-1], vectors if away is None else vectors - np.outer(away, along @ V)

    def _by_factors(self, M: np.ndarray) -> np.ndarray:
        return (self.factors * M.T).T


def row_lengths(X: RowBlocks) -> np.ndarray:
    """Lengths of all rows."""
    return np.concatenate(X.collect(_lengths))


def _lengths(X) -> np.ndarray:
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel())
    return np.linalg.norm(X.astype(np.float64, copy=False), axis=1)
