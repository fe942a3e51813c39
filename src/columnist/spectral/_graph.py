r"""The graph of a similarity: degrees, Laplacians, cuts, and the spectrum.

For a similarity S of n samples: degrees :math:`D = \mathrm{diag}(S1)`, Laplacian
:math:`L = D - S`, normalised Laplacian :math:`\mathcal L = D^{-1/2} L D^{-1/2}`. The eigenvalues of
:math:`\mathcal L` lie between 0 and 2 for a similarity without negative entries; the first is 0 and
belongs to the *trivial* vector :math:`\xi_1 = D^{1/2}1 / \|D^{1/2}1\|`. A sample that is similar
to none has eigenvalue 1 and no part in any score.
"""

from __future__ import annotations

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
from columnist.spectral._scatter import weighted_sums
from columnist.spectral._symmetric import (
    SparseMatrix,
    SymmetricMatrix,
    as_symmetric,
    worth_iterating,
)
from columnist.spectral._visits import EdgeVisit

__all__ = [
    "Graph",
    "cut",
    "cut_value",
    "degrees",
    "laplacian",
    "leading_eigenpairs",
    "normalized_cut",
]

# More than the width of the spectrum.
_FAR = 3.0
# Degrees that rounding may leave of a sum of this relative size.
_ROUNDING = 1e-12


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
    def _inverse_root(self) -> np.ndarray:
        """D^{-1/2}, with 0 for a sample that is similar to none."""
        roots = np.sqrt(self.degrees)
        return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)

    @cached_property
    def _normalized(self) -> SymmetricMatrix:
        return self.similarity.scaled(self._inverse_root)

    def normalized(self) -> SymmetricMatrix:
        """The normalised similarity, the identity minus the normalised Laplacian."""
        return self._normalized

    def laplacian_times(self, M: np.ndarray) -> np.ndarray:
        """Normalised Laplacian times M."""
        return M - self._normalized.times(M)

    def centred(self, part: np.ndarray) -> np.ndarray:
        """Dense columns without their means, weighted by the degrees."""
        return part - self.degrees @ part / self.volume

    def laplacian_forms(self, X) -> np.ndarray:
        """f'Lf of every column f of X."""
        X, S = as_rows(X), self.similarity
        if isinstance(S, SparseMatrix):
            return X.fold_links(EdgeVisit(), total, S.upper())
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
        values, vectors = self._normalized.leading(count, self.trivial, _FAR)
        return 1.0 - values, vectors

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """All eigenpairs of the normalised Laplacian, ascending, the trivial one first."""
        check_memory(
            24.0 * self.n**2,
            f"The full spectrum of {self.n} samples",
            "Use a power for gamma, or score='phi3', which need less.",
        )
        matrix = np.eye(self.n) - self._normalized.toarray()
        # Moved below all others, the trivial pair is exact also in a multiple eigenvalue.
        matrix -= _FAR * np.outer(self.trivial, self.trivial)
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
        values[0], vectors[:, 0] = 0.0, self.trivial
        return values, vectors

    def cut_value(self) -> float:
        """Second smallest eigenvalue of the normalised Laplacian."""
        if self._in_pieces():
            return 0.0
        return float(self.eigenpairs(1)[0][0])

    def _in_pieces(self) -> bool:
        """Whether a sparse graph without negative entries falls apart: Lanczos would be slow."""
        if not isinstance(self.similarity, SparseMatrix) or (self.similarity.matrix.data < 0).any():
            return False
        edges = self.similarity.matrix > 0.0
        _, piece = connected_components(edges, directed=False)
        return len(np.unique(piece[self.degrees > 0.0])) > 1


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
        S, diagonal = graph.normalized(), np.ones(graph.n)
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
    """Second smallest eigenvalue of the normalised Laplacian: small if the samples fall apart.

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
