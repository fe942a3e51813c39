"""Quadratic forms f'Sf of the columns of a matrix of blocks, for a similarity on the client.

A sparse similarity goes to the pairs of blocks that it links, and a factor of low rank along
with the blocks. Only a similarity that is n x n itself has some columns at a time brought to it.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks
from columnist.linalg._passes import column_blocks
from columnist.spectral._block_factor import BlockFactor
from columnist.spectral._block_visits import (
    EdgeVisit,
    LinkVisit,
    OwnCrossVisit,
    block_columns,
    block_cross,
    total,
)
from columnist.spectral._scatter import weighted_sums
from columnist.spectral._symmetric import (
    LowRankMatrix,
    SparseMatrix,
    SumMatrix,
    SymmetricMatrix,
)

__all__ = ["block_forms", "block_laplacian_forms"]


def block_forms(X: RowBlocks, S: SymmetricMatrix, means: np.ndarray | None = None) -> np.ndarray:
    """f'Sf of every column f of X minus its mean."""
    if isinstance(S, SumMatrix):
        return reduce(add, (weight * block_forms(X, part, means) for weight, part in S.terms))
    if isinstance(S, SparseMatrix):
        return X.fold_links(LinkVisit(means), total, _half(S.matrix, 2.0))
    if isinstance(S, BlockFactor) and S.X is X:
        return np.square(S.X.fold(OwnCrossVisit(means), total, S.factors)).sum(axis=0)
    if isinstance(S, LowRankMatrix) and not sp.issparse(S.factor):
        along = block_cross(X, S.factor, means)
        return np.einsum("ij,ij->i", along, along if S.core is None else along @ S.core)
    n, m = X.shape
    values = np.empty(m)
    for columns in column_blocks(m, n):
        part = block_columns(X, columns)
        part = part if means is None else part - means[columns]
        values[columns] = np.einsum("ij,ij->j", part, S.times(part))
    return values


def block_laplacian_forms(X: RowBlocks, S: SymmetricMatrix, degrees: np.ndarray) -> np.ndarray:
    """f'Lf of every column f of X, for the Laplacian L of a similarity with these degrees."""
    if isinstance(S, SparseMatrix):
        return X.fold_links(EdgeVisit(), total, _half(S.matrix, 1.0))
    # Means are invisible to the Laplacian, and nothing cancels without them.
    sums = weighted_sums(X, degrees)
    return sums.within - block_forms(X, S, sums.center())


def _half(S: sp.csr_matrix, twice: float) -> sp.csr_array:
    """The part above the diagonal, times a number; for 2 with the diagonal, once."""
    upper = sp.csr_array(sp.triu(S, 1, format="csr")) * twice
    return upper if twice == 1.0 else sp.csr_array(upper + sp.diags_array(S.diagonal()))
