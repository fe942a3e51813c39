r"""The graph of a similarity: degrees, Laplacians, cuts, spectrum, and scores of features.

For a similarity S of n samples: degrees :math:`D = \mathrm{diag}(S1)`, Laplacian :math:`L = D - S`,
normalised Laplacian :math:`\mathcal L = D^{-1/2} L D^{-1/2}`, with eigenvalues between 0 and 2 if S
>= 0; the first, 0, belongs to the *trivial* vector :math:`D^{1/2}1 / \|D^{1/2}1\|`. A sample
similar to none has eigenvalue 1 and no part in any score. A feature that is constant on the samples
with a positive degree has the score NaN.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_consistent_length

from columnist.data._blocks import as_rows
from columnist.data._parameters import Integer
from columnist.linalg._column_parts import total
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import column_blocks
from columnist.spectral._scatter import weighted_sums, without_rounding
from columnist.spectral._symmetric import (
    SparseMatrix,
    SymmetricMatrix,
    as_symmetric,
    cross_rows,
    dense_columns,
    edge_forms,
    worth_iterating,
)

# More than the width of the spectrum.
_FAR = 3.0
# Degrees that rounding may leave of a sum of this relative size.
_ROUNDING = 1e-12
_NAMED = {"identity": 1, "square": 2, "cube": 3}


@dataclass(frozen=True)
class Graph:
    """A similarity with its degrees; :meth:`of` checks them."""

    similarity: SymmetricMatrix
    degrees: np.ndarray

    @classmethod
    def of(cls, S) -> Graph:
        """The graph of a similarity, which must not have negative degrees."""
        S = as_symmetric(S)
        degrees = S.sums()
        largest = np.abs(degrees).max(initial=0.0)
        if not np.isfinite(largest):
            raise ValueError("The similarity overflows: its row sums are not finite.")
        if (degrees < -_ROUNDING * largest).any():
            raise ValueError(
                f"{int((degrees < 0).sum())} samples have a negative degree (sum of their "
                "similarities), for which normalised scores are not defined. Use a similarity "
                "without negative entries ('rbf', 'knn'), or add a constant."
            )
        if largest == 0.0:
            raise ValueError("All similarities are zero: no two samples have anything in common.")
        return cls(S, np.maximum(degrees, 0.0))

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.similarity.n

    @cached_property
    def volume(self) -> float:
        """Sum of the degrees."""
        return float(self.degrees.sum())

    @cached_property
    def trivial(self) -> np.ndarray:
        """First eigenvector of the normalised Laplacian."""
        return np.sqrt(self.degrees / self.volume)

    @cached_property
    def normalized(self) -> SymmetricMatrix:
        """The normalised similarity, the identity minus the normalised Laplacian."""
        roots = np.sqrt(self.degrees)
        # A sample that is similar to none has no part.
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
        return self.similarity.scaled(inverse)

    def laplacian(self) -> np.ndarray:
        """Normalised Laplacian, all entries."""
        return np.eye(self.n) - self.normalized.toarray()

    def centred(self, part: np.ndarray) -> np.ndarray:
        """Dense columns without their means, weighted by the degrees."""
        return part - self.degrees @ part / self.volume

    def laplacian_forms(self, X) -> np.ndarray:
        """f'Lf of every column f of X."""
        X, S = as_rows(X), self.similarity
        if isinstance(S, SparseMatrix):
            return X.fold_links(edge_forms, total, S.upper())
        # Means are invisible to the Laplacian, and nothing cancels without them.
        sums = weighted_sums(X, self.degrees)
        return sums.within - S.forms(X, sums.center())

    def eigenpairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` smallest eigenpairs of the normalised Laplacian but the trivial one."""
        Integer(1).check("count", count)
        count = min(count, self.n - 1)
        if not worth_iterating(self.n, count):
            values, vectors = self.spectrum()
            return values[1 : count + 1], vectors[:, 1 : count + 1]
        values, vectors = self.normalized.leading(count, self.trivial, _FAR)
        return 1.0 - values, vectors

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """All eigenpairs of the normalised Laplacian, ascending, the trivial one first."""
        check_memory(
            24.0 * self.n**2,
            f"The full spectrum of {self.n} samples",
            "Use a power for gamma, or score='phi3', which need less.",
        )
        matrix = self.laplacian()
        # Moved below all others, the trivial pair is exact also in a multiple eigenvalue.
        matrix -= _FAR * np.outer(self.trivial, self.trivial)
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
        values[0], vectors[:, 0] = 0.0, self.trivial
        return values, vectors

    def cut_value(self) -> float:
        """Second smallest eigenvalue of the normalised Laplacian."""
        S = self.similarity
        if isinstance(S, SparseMatrix) and not (S.matrix.data < 0).any():
            # Lanczos would be slow where a graph falls apart.
            _, piece = connected_components(S.matrix > 0.0, directed=False)
            if len(np.unique(piece[self.degrees > 0.0])) > 1:
                return 0.0
        return float(self.eigenpairs(1)[0][0])


def degrees(S) -> np.ndarray:
    """Sums of the similarities of every sample.

    Examples
    --------
    >>> from columnist.spectral import degrees, label_similarity
    >>> degrees(label_similarity(["a", "b", "a"]))
    array([2., 1., 2.])
    """
    return as_symmetric(S).sums()


def laplacian(S, *, normalized: bool = False):
    r"""Laplacian :math:`D - S`, or :math:`D^{-1/2}(D - S)D^{-1/2}`, of a similarity.

    Sparse for a sparse similarity, dense otherwise.

    Parameters
    ----------
    S : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity.
    normalized : bool, default=False
        Which of the two.

    Returns
    -------
    ndarray or csr_matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> from columnist.spectral import laplacian
    >>> laplacian([[0.0, 2.0], [2.0, 0.0]])
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    if normalized:
        graph = Graph.of(S)
        S, diagonal = graph.normalized, np.ones(graph.n)
    else:
        S = as_symmetric(S)
        diagonal = S.sums()
    if isinstance(S, SparseMatrix):
        return (sp.diags(diagonal) - S.matrix).tocsr()
    return np.diag(diagonal) - S.toarray()


def leading_eigenpairs(S, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Smallest eigenpairs of the normalised Laplacian, the trivial one left out.

    Parameters
    ----------
    S : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity, without negative degrees.
    count : int
        How many; all others if more than there are.

    Returns
    -------
    values : ndarray of shape (count,)
        Ascending.
    vectors : ndarray of shape (n_samples, count)
        One per column.

    Examples
    --------
    >>> from columnist.spectral import label_similarity, leading_eigenpairs
    >>> values, vectors = leading_eigenpairs(label_similarity([0, 1, 0, 1, 1]), 2)
    >>> abs(values).round(12)
    array([0., 1.])
    """
    return Graph.of(S).eigenpairs(count)


def cut_value(S) -> float:
    """Second smallest eigenvalue of the normalised Laplacian: small if the samples separate.

    Examples
    --------
    >>> from columnist.spectral import cut_value, label_similarity
    >>> round(abs(cut_value(label_similarity([0, 1, 0, 1]))), 12)
    0.0
    """
    return Graph.of(S).cut_value()


def cut(S, side) -> float:
    """Similarity that is lost by cutting the samples into two sides.

    Parameters
    ----------
    S : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity.
    side : array-like of bool of shape (n_samples,)
        Which side every sample is on.

    Returns
    -------
    float

    Examples
    --------
    >>> from columnist.spectral import cut
    >>> cut([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]], [True, False, False])
    3.0
    """
    S = as_symmetric(S)
    first = _sides(S, side)
    return float(first @ S.times(1.0 - first))


def normalized_cut(S, side) -> float:
    """The cut, divided by the sum of degrees of one side, plus the same for the other side.

    Parameters
    ----------
    S : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity.
    side : array-like of bool of shape (n_samples,)
        Which side every sample is on.

    Returns
    -------
    float

    Examples
    --------
    >>> from columnist.spectral import normalized_cut
    >>> S = [[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]
    >>> round(normalized_cut(S, [True, False, False]), 4)
    1.3333
    """
    graph = Graph.of(S)
    first = _sides(graph.similarity, side)
    lost = float(first @ graph.similarity.times(1.0 - first))
    volumes = float(graph.degrees @ first), float(graph.degrees @ (1.0 - first))
    if min(volumes) == 0.0:
        raise ValueError("One side of the cut has no similarity to any sample.")
    return lost / volumes[0] + lost / volumes[1]


def _sides(S: SymmetricMatrix, side) -> np.ndarray:
    side = np.asarray(side, dtype=bool)
    check_consistent_length(side, np.empty(S.n))
    if side.all() or not side.any():
        raise ValueError("A cut needs samples on both sides.")
    return side.astype(np.float64)


@dataclass(frozen=True)
class Gamma:
    """An increasing function on [0, 2]; ``power`` is r if it is the r-th power, r an integer."""

    function: Callable[[np.ndarray], np.ndarray]
    power: int | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(np.asarray(values, dtype=np.float64)), dtype=np.float64)


def resolve_gamma(gamma) -> Gamma:
    """The function given by a parameter: a name, the exponent of a power, or a function."""
    if isinstance(gamma, str) and gamma in _NAMED:
        gamma = _NAMED[gamma]
    if callable(gamma):
        values = Gamma(gamma)(np.linspace(0.0, 2.0, 21))
        if values.shape != (21,) or not np.isfinite(values).all():
            raise ValueError("gamma must map an array of eigenvalues in [0, 2] to finite values.")
        if (np.diff(values) < 0.0).any():
            raise ValueError("gamma must be increasing on [0, 2], the interval of the eigenvalues.")
        return Gamma(gamma)
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


def phi(score: str, X, graph: Graph, gamma: Gamma, n_clusters: int = 2) -> np.ndarray:
    """One of three scores of every column of X; small is good, of ``"phi3"`` large."""
    if score == "phi3":
        values, vectors = graph.eigenpairs(n_clusters - 1)
        above = _along(X, graph, gamma(np.array([2.0])) - gamma(values), vectors)
    else:
        above = _frequencies(X, graph, gamma, trivial=score == "phi1")
    sums = weighted_sums(X, graph.degrees)
    below = without_rounding(sums.within, sums.lengths)
    energies = below if score == "phi2" else sums.lengths
    return np.divide(above, energies, out=np.full(len(above), np.nan), where=below > 0.0)


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
            half = half - graph.normalized.times(half)
        other = half - graph.normalized.times(half) if power % 2 else half
        sums[columns] = np.einsum("ij,ij->j", half, other)
    return sums
