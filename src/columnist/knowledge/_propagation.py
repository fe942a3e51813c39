"""Relevance of features from the relevance of others: along a graph, or through terms."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import cg
from sklearn.utils.validation import check_array, column_or_1d

from columnist.data._parameters import Number, checked
from columnist.knowledge._graphs import feature_graph

__all__ = ["DAMPING", "propagate", "term_relevance", "vote"]

# How much of what a feature has is passed on.
DAMPING = Number(0.0, 1.0, above=True, below=True)


@checked(damping=DAMPING)
def propagate(relevance, feature_similarity, *, damping: float = 0.5) -> np.ndarray:
    r"""Spread relevance over a graph of features.

    .. math:: r^* = \sum_{k \ge 0} (\lambda P)^k r = (I - \lambda P)^{-1} r, \qquad P = D^{-1} S,

    what a random walk that goes on with probability :math:`\lambda` collects on its way. A feature
    that is similar to none keeps what it has.

    Parameters
    ----------
    relevance : array-like of shape (n_features,)
        Relevance to start from: 1 for features known to be relevant, 0 for others.
    feature_similarity : array-like or sparse matrix of shape (n_features, n_features)
        Similarities or interactions of the features, not negative.
    damping : float, default=0.5
        :math:`\lambda`, in (0, 1). The larger, the farther relevance spreads.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from columnist.knowledge import propagate
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> propagate([1, 0, 0], path, damping=0.5).round(3)
    array([1.167, 0.333, 0.167])
    """
    S = feature_graph(feature_similarity)
    start = _vector("relevance", relevance, S.shape[0])
    roots = np.sqrt(np.asarray(S.sum(axis=1), dtype=np.float64).ravel())
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
    # D^{1/2} P D^{-1/2} is symmetric, so I - damping * it is positive definite.
    scale = sp.diags_array(inverse, format="csr")
    normalized = scale @ S @ scale if sp.issparse(S) else inverse[:, None] * S * inverse
    spread = _solve(normalized, damping, roots * start)
    return np.where(roots > 0.0, inverse * spread, start)


def vote(annotation, relevance) -> np.ndarray:
    r"""Relevance of features as the sum of the relevance of their terms.

    .. math:: r_i = \sum_t v_{it}\, r_t^{\mathrm{term}}

    Parameters
    ----------
    annotation : array-like or sparse matrix of shape (n_features, n_terms)
        1 where a feature has a term, 0 elsewhere; other weights are possible.
    relevance : array-like of shape (n_terms,)
        Relevance of the terms.

    Returns
    -------
    ndarray of shape (n_features,)

    See Also
    --------
    term_relevance : Relevance of terms, learnt from known features.

    Examples
    --------
    >>> from columnist.knowledge import vote
    >>> vote([[1, 0], [1, 1], [0, 0]], [0.5, 2.0])
    array([0.5, 2.5, 0. ])
    """
    V = check_array(annotation, accept_sparse="csr", dtype=np.float64, input_name="annotation")
    return np.asarray(V @ _vector("relevance", relevance, V.shape[1], of="terms"))


def term_relevance(annotation, known) -> np.ndarray:
    """Share of known features among the features that have a term; 0 for a term that none has.

    Parameters
    ----------
    annotation : array-like or sparse matrix of shape (n_features, n_terms)
        1 where a feature has a term, 0 elsewhere.
    known : sequence of int, or boolean mask
        Features known to be relevant.

    Returns
    -------
    ndarray of shape (n_terms,)

    Examples
    --------
    >>> from columnist.knowledge import term_relevance
    >>> term_relevance([[1, 0], [1, 1], [0, 1], [0, 1]], known=[0, 1]).round(3)
    array([1.   , 0.333])
    """
    V = check_array(annotation, accept_sparse="csr", dtype=np.float64, input_name="annotation")
    has = V != 0.0
    total = np.asarray(has.sum(axis=0), dtype=np.float64).ravel()
    hits = np.asarray(has[known].sum(axis=0), dtype=np.float64).ravel()
    return np.divide(hits, total, out=np.zeros_like(total), where=total > 0.0)


def _vector(name: str, values, size: int, of: str = "features") -> np.ndarray:
    vector = column_or_1d(values, dtype=np.float64)
    if len(vector) != size:
        raise ValueError(f"{name} has {len(vector)} entries for {size} {of}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must not hold NaN or infinity.")
    return vector


def _solve(N, damping: float, right: np.ndarray) -> np.ndarray:
    """(I - damping N)^{-1} right, for N with eigenvalues in [-1, 1]."""
    if not sp.issparse(N):
        return scipy.linalg.solve(np.eye(len(N)) - damping * N, right, assume_a="pos")
    matrix = sp.eye_array(N.shape[0], format="csr") - damping * N
    solution, failed = cg(matrix, right, rtol=1e-13, maxiter=10 * N.shape[0] + 1000)
    if failed:
        raise ValueError(f"Propagation did not converge: damping={damping!r} is too close to 1.")
    return solution
