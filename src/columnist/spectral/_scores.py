r"""The three scores of a feature against the spectrum of a graph.

With :math:`\tilde f = D^{1/2} f`, :math:`\hat f = \tilde f / \|\tilde f\|`, the eigenpairs
:math:`(\lambda_j, \xi_j)` of the normalised Laplacian in ascending order,
:math:`\alpha_j = \xi_j^T \hat f` and an increasing function :math:`\gamma`,

.. math::
   \varphi_1 &= \sum_{j \ge 1} \alpha_j^2 \gamma(\lambda_j) \\
   \varphi_2 &= \sum_{j \ge 2} \alpha_j^2 \gamma(\lambda_j) \Big/ \sum_{j \ge 2} \alpha_j^2 \\
   \varphi_3 &= \sum_{j=2}^{k} \alpha_j^2 (\gamma(2) - \gamma(\lambda_j)).

Small values of the first two are good, large ones of the third. A feature that is constant (on
the samples with a positive degree) has no score: NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from columnist.data._blocks import as_rows
from columnist.linalg._passes import column_blocks
from columnist.spectral._gamma import Gamma
from columnist.spectral._graph import Graph
from columnist.spectral._scatter import column_scatter, weighted_sums, without_rounding
from columnist.spectral._visits import cross_rows, dense_columns

__all__ = ["phi1", "phi2", "phi3"]


def phi1(X, graph: Graph, gamma: Gamma) -> np.ndarray:
    """First score of every column of X; small is good."""
    return _ratio(_frequencies(X, graph, gamma, trivial=True), _energies(X, graph))


def phi2(X, graph: Graph, gamma: Gamma) -> np.ndarray:
    """Second score of every column of X; small is good."""
    variation = column_scatter(X, graph.degrees)
    return _ratio(_frequencies(X, graph, gamma, trivial=False), variation)


def phi3(X, graph: Graph, gamma: Gamma, n_clusters: int) -> np.ndarray:
    """Third score of every column of X; large is good."""
    values, vectors = graph.eigenpairs(n_clusters - 1)
    weights = gamma(np.array([2.0])) - gamma(values)
    return _ratio(_along(X, graph, weights, vectors), _energies(X, graph))


def _energies(X, graph: Graph) -> np.ndarray:
    """f'Df of every column, zero if it is constant."""
    sums = weighted_sums(X, graph.degrees)
    return np.where(without_rounding(sums.within, sums.lengths) > 0.0, sums.lengths, 0.0)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0.0)


def _frequencies(X, graph: Graph, gamma: Gamma, *, trivial: bool) -> np.ndarray:
    """f~' gamma(L) f~ of every column; without the trivial pair's share unless ``trivial``."""
    if gamma.power == 1:
        return graph.laplacian_forms(X)
    if gamma.power is not None:
        return _power_forms(X, graph, gamma.power)
    values, vectors = graph.spectrum()
    weights = gamma(values)
    if not trivial:
        weights[0] = 0.0
    return _along(X, graph, weights, vectors)


def _along(X, graph: Graph, weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Weighted squares of f~'v of every column f, for some vectors v."""
    X, sums = as_rows(X), np.zeros(X.shape[1])
    for some in column_blocks(len(weights), X.shape[1]):
        along = cross_rows(X, np.sqrt(graph.degrees)[:, None] * vectors[:, some])
        sums += np.square(along) @ weights[some]
    return sums


def _power_forms(X, graph: Graph, power: int) -> np.ndarray:
    """Quadratic forms of a power of the normalised Laplacian, by products only."""
    sums = np.empty(X.shape[1])
    for columns, part in _weighted_blocks(X, graph):
        # The trivial vector is in the kernel; without it less cancels.
        half = part - np.outer(graph.trivial, graph.trivial @ part)
        for _ in range(power // 2):
            half = graph.laplacian_times(half)
        other = graph.laplacian_times(half) if power % 2 else half
        sums[columns] = np.einsum("ij,ij->j", half, other)
    return sums


def _weighted_blocks(X, graph: Graph) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of D^{1/2} X."""
    X, roots = as_rows(X), np.sqrt(graph.degrees)[:, None]
    for columns in column_blocks(*X.shape[::-1]):
        yield columns, roots * dense_columns(X, columns)
