"""Random similarities and features for the tests of the spectral family."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import as_rows
from columnist.spectral._symmetric import (
    DenseMatrix,
    LowRankMatrix,
    RowProducts,
    SparseMatrix,
    SumMatrix,
    SymmetricMatrix,
)

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["dense", "sparse", "low rank", "sparse factor", "sum"])


def similarity(kind: str, n: int, rng: np.random.Generator) -> SymmetricMatrix:
    """A random similarity without negative entries, in one of its representations."""
    if kind == "dense":
        A = rng.random((n, n))
        return DenseMatrix(A + A.T)
    if kind == "sparse":
        A = np.where(rng.random((n, n)) < 0.4, rng.random((n, n)), 0.0)
        # A ring keeps every sample connected.
        A[np.arange(n), np.roll(np.arange(n), 1)] += 0.5
        return SparseMatrix(sp.csr_matrix(A + A.T))
    if kind == "low rank":
        B = rng.random((2, 2))
        return LowRankMatrix(rng.random((n, 2)) + 0.1, B + B.T)
    if kind == "diagonal":
        return SparseMatrix.of_diagonal(rng.random(n) + 0.1)
    if kind == "sparse factor":
        # The first column keeps every sample connected.
        return RowProducts(as_rows(sp.csr_matrix(rng.integers(0, 3, (n, 4)) + np.eye(1, 4))))
    parts = [similarity(kind, n, rng) for kind in ("dense", "sparse", "low rank")]
    parts.append(SparseMatrix.of_diagonal(rng.random(n)))
    return SumMatrix(list(zip(rng.random(4) + 0.1, parts, strict=True)))


def example_8(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two stars of n samples and a single sample, joined at their centres, and two cuts."""
    S = np.zeros((2 * n + 1, 2 * n + 1))

    def join(i: int, j: int, distance: float) -> None:
        S[i, j] = S[j, i] = np.exp(-(distance**2) / 8.0)

    for centre in (0, n):
        for leaf in range(centre + 1, centre + n):
            join(centre, leaf, 1.0)
    join(0, n, 2.0)
    join(n, 2 * n, 3.0)
    samples = np.arange(2 * n + 1)
    return S, samples < n, samples < 2 * n


def three_clusters(seed: int, n_noise: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Example 9: thirty points around each of three centres, and features without meaning."""
    rng = np.random.default_rng(seed)
    centres = np.repeat([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]], 30, axis=0)
    points = centres + rng.normal(size=(90, 2))
    return np.hstack([points, rng.random((90, n_noise))]), np.repeat([0, 1, 2], 30)
