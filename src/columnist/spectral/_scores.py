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

import numbers
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from columnist.data._array_rows import as_rows
from columnist.linalg._passes import column_blocks
from columnist.spectral._graph import Graph
from columnist.spectral._scatter import column_scatter, weighted_sums, without_rounding
from columnist.spectral._visits import cross_rows, dense_columns

__all__ = ["Gamma", "phi1", "phi2", "phi3", "resolve_gamma"]

_NAMED = {"identity": 1, "square": 2, "cube": 3}


@dataclass(frozen=True)
class Gamma:
    """An increasing function on [0, 2]; ``power`` is r if it is the r-th power, r an integer."""

    function: Callable[[np.ndarray], np.ndarray]
    power: int | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(np.asarray(values, dtype=np.float64)), dtype=np.float64)


def resolve_gamma(gamma) -> Gamma:
    """The function that a parameter stands for: a name, the exponent of a power, or a function."""
    if isinstance(gamma, str) and gamma in _NAMED:
        gamma = _NAMED[gamma]
    if callable(gamma):
        return _tried(Gamma(gamma))
    real = isinstance(gamma, numbers.Real) and not isinstance(gamma, (bool, np.bool_))
    if not real or not 0.0 < gamma < np.inf:
        listed = ", ".join(repr(name) for name in _NAMED)
        raise ValueError(
            f"gamma must be one of {listed}, an exponent > 0, or an increasing function of the "
            f"eigenvalues; got {gamma!r}."
        )
    exponent = float(gamma)
    # Rounding may put an eigenvalue of zero below it.
    return Gamma(
        lambda values: np.maximum(values, 0.0) ** exponent,
        int(exponent) if exponent.is_integer() else None,
    )


def _tried(gamma: Gamma) -> Gamma:
    """The same, tried on the interval of the eigenvalues."""
    values = gamma(np.linspace(0.0, 2.0, 21))
    if values.shape != (21,) or not np.isfinite(values).all():
        raise ValueError("gamma must map an array of eigenvalues in [0, 2] to finite values.")
    if (np.diff(values) < 0.0).any():
        raise ValueError("gamma must be increasing on [0, 2], the interval of the eigenvalues.")
    return gamma


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
    X, roots = as_rows(X), np.sqrt(graph.degrees)[:, None]
    for columns in column_blocks(*X.shape[::-1]):
        part = roots * dense_columns(X, columns)
        # The trivial vector is in the kernel; without it less cancels.
        half = part - np.outer(graph.trivial, graph.trivial @ part)
        for _ in range(power // 2):
            half = graph.laplacian_times(half)
        other = graph.laplacian_times(half) if power % 2 else half
        sums[columns] = np.einsum("ij,ij->j", half, other)
    return sums
