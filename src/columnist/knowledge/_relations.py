"""Relevance of features and similarity of samples from relations between features."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import cg
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_array, column_or_1d

from columnist.data._parameters import Number, checked
from columnist.linalg._memory import check_memory
from columnist.spectral._graph import laplacian
from columnist.spectral._similarity import fisher_similarity
from columnist.spectral._symmetric import (
    DenseMatrix,
    SparseMatrix,
    SumMatrix,
    SymmetricMatrix,
    as_symmetric,
)

# Damping: the share of the relevance that is passed on.
DAMPING = Number(0.0, 1.0, above=True, below=True)


def feature_graph(S, *, name: str = "feature similarity") -> np.ndarray | sp.csr_matrix:
    """Checked entries of a symmetric matrix without negative ones, sparse if it was."""
    S = as_symmetric(S, name=name)
    entries = S.matrix if isinstance(S, SparseMatrix) else S.toarray()
    values = entries.data if sp.issparse(entries) else entries
    if values.min(initial=0.0) < 0.0:
        raise ValueError(f"The {name} has negative entries: similarities must not have.")
    return entries


@checked(damping=DAMPING)
def propagate(relevance, feature_similarity, *, damping: float = 0.5) -> np.ndarray:
    r"""Propagate relevance over a graph of features.

    .. math:: r^* = \sum_{k \ge 0} (\lambda P)^k r = (I - \lambda P)^{-1} r, \qquad P = D^{-1} S,

    the relevance that a random walk with continuation probability :math:`\lambda` collects. A
    feature that is similar to none keeps its own relevance.

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


def term_similarity(annotation) -> sp.csr_matrix:
    r"""Similarity of features by the terms they share, weighted by information.

    .. math:: s_{ij} = \sum_{t \in T_i \cap T_j} w_t \Big/ \sum_{t \in T_i \cup T_j} w_t, \qquad
        w_t = -\log \frac{n_t}{n},

    where :math:`T_i` are the terms of feature i, and :math:`n_t` of the n features have term t: a
    term that few features have is more informative than one that most have.

    Parameters
    ----------
    annotation : array-like or sparse matrix of shape (n_features, n_terms)
        Not 0 where a feature has a term.

    Returns
    -------
    sparse matrix of shape (n_features, n_features)
        Between 0 and 1; zero between features that share no term, and on the diagonal of features
        without an informative one.

    References
    ----------
    C. Pesquita and others. Metrics for GO based protein semantic similarity: a systematic
    evaluation. BMC Bioinformatics 9, 2008.

    Examples
    --------
    >>> from columnist.knowledge import term_similarity
    >>> term_similarity([[1, 0, 1], [1, 1, 0], [1, 1, 0]]).toarray().round(3)
    array([[1., 0., 0.],
           [0., 1., 1.],
           [0., 1., 1.]])
    """
    V = check_array(annotation, accept_sparse="csr", dtype=np.float64, input_name="annotation")
    members = sp.csr_matrix(sp.csr_matrix(V) != 0.0, dtype=np.float64)
    counts = np.asarray(members.sum(axis=0)).ravel()
    information = np.log(V.shape[0] / np.maximum(counts, 1.0))
    shared = sp.csr_matrix(members @ sp.diags_array(information) @ members.T)
    shared.eliminate_zeros()
    total = np.asarray(members @ information).ravel()
    pairs = shared.tocoo()
    values = pairs.data / (total[pairs.row] + total[pairs.col] - pairs.data)
    return sp.csr_matrix((values, (pairs.row, pairs.col)), shape=shared.shape)


def hierarchy_similarity(levels) -> SymmetricMatrix:
    r"""Similarity of samples by their places in a hierarchy of categories.

    The mean over the levels of the class similarity :math:`1/n_l` of two samples that are in the
    same one of :math:`n_l` samples, 0 of others. Two samples share a category only if they
    share all those above it. With one level it is
    :func:`~columnist.spectral.fisher_similarity`.

    Parameters
    ----------
    levels : array-like of shape (n_samples, n_levels)
        Categories of every sample, from the coarsest to the finest.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.knowledge import hierarchy_similarity
    >>> hierarchy_similarity([["B", "B1"], ["B", "B1"], ["B", "B2"], ["T", "T1"]]).toarray().round(
    ...     3
    ... )
    array([[0.417, 0.417, 0.167, 0.   ],
           [0.417, 0.417, 0.167, 0.   ],
           [0.167, 0.167, 0.667, 0.   ],
           [0.   , 0.   , 0.   , 1.   ]])
    """
    levels = np.asarray(levels, dtype=object)
    if levels.ndim != 2 or not levels.shape[1]:
        raise ValueError(
            f"A hierarchy must have one row of categories per sample; got shape {levels.shape}."
        )
    paths = np.zeros(len(levels), dtype=np.intp)
    parts: list[tuple[float, SymmetricMatrix]] = []
    for level in levels.T:
        names = np.unique([str(category) for category in level], return_inverse=True)[1]
        paths = np.unique(np.column_stack([paths, names]), axis=0, return_inverse=True)[1].ravel()
        parts.append((1.0 / levels.shape[1], fisher_similarity(paths)))
    return SumMatrix(parts)


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


def commute_time_covariance(feature_similarity) -> np.ndarray:
    r"""Covariance :math:`C = L^+` of the features of a graph.

    L is the Laplacian of the graph. C does not depend on how eigenvectors are chosen, and
    :math:`\mathrm{vol}\,(C_{ii} + C_{jj} - 2 C_{ij})` is the expected time of a random walk from
    feature i to j and back.

    Parameters
    ----------
    feature_similarity : array-like or sparse matrix of shape (n_features, n_features)
        Similarities of the features, not negative.

    Returns
    -------
    ndarray of shape (n_features, n_features)

    Notes
    -----
    C is singular: a constant on a connected part of the graph has variance 0. Its pseudo-inverse
    is L, so that a Mahalanobis distance with C needs no decomposition:

    .. math:: (x - y)^T L (x - y) = \tfrac12 \sum_{ij} s_{ij} (z_i - z_j)^2, \quad z = x - y.

    Examples
    --------
    >>> from columnist.knowledge import commute_time_covariance
    >>> C = commute_time_covariance([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> float(round(4 * (C[0, 0] + C[2, 2] - 2 * C[0, 2]), 6))
    8.0
    """
    L = laplacian(feature_graph(feature_similarity))
    return scipy.linalg.pinvh(L.toarray() if sp.issparse(L) else L)


@checked(ridge=Number(0.0))
def mahalanobis_similarity(
    X, covariance=None, *, ridge: float = 0.1, width: float | str = "auto"
) -> SymmetricMatrix:
    r"""Gaussian similarity of samples by Mahalanobis distances.

    .. math:: d^2(x, y) = (x - y)^T C^{-1} (x - y), \qquad s(x, y) = \exp(-d^2 / (2\delta^2))

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    covariance : array-like of shape (n_features, n_features), optional
        Covariance of the features; that of the samples in X if None.
    ridge : float, default=0.1
        Part of the mean variance that is added to the diagonal; 0 takes the pseudo-inverse. With
        at least as many features as samples and their own covariance, the pseudo-inverse makes
        *all* samples equally distant.
    width : float or "auto", default="auto"
        :math:`\delta`; the median of the distances that are not zero.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.knowledge import mahalanobis_similarity
    >>> S = mahalanobis_similarity([[0.0, 0.0], [1.0, 0.0], [0.0, 9.0]], ridge=0.0)
    >>> S.toarray().round(3)  # the scales of the features do not matter
    array([[1.   , 0.607, 0.607],
           [0.607, 1.   , 0.607],
           [0.607, 0.607, 1.   ]])
    """
    X = _samples(X)
    if covariance is None:
        return _gaussian(_own_gram(X, ridge), width)
    C = as_symmetric(covariance, name="covariance").toarray()
    if C.shape[0] != X.shape[1]:
        raise ValueError(f"The covariance is of {C.shape[0]} features, but X has {X.shape[1]}.")
    values, vectors = scipy.linalg.eigh(C)
    along = X @ vectors
    return _gaussian((along * _inverse(values, ridge, values.mean())) @ along.T, width)


def graph_similarity(X, feature_similarity, *, width: float | str = "auto") -> SymmetricMatrix:
    """Mahalanobis similarity of samples with the commute-time covariance of a feature graph.

    The same as ``mahalanobis_similarity(X, commute_time_covariance(feature_similarity),
    ridge=0)``, from products with the graph only, which may be sparse.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    feature_similarity : array-like or sparse matrix of shape (n_features, n_features)
        Similarities of the features, not negative.
    width : float or "auto", default="auto"
        Width of the Gaussian; the median of the distances that are not zero.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.knowledge import graph_similarity
    >>> S = graph_similarity([[0.0, 0.0], [2.0, 2.0], [1.0, 0.0]], np.ones((2, 2)), width=1.0)
    >>> S.toarray().round(3)  # samples that differ by a constant are equal
    array([[1.   , 1.   , 0.607],
           [1.   , 1.   , 0.607],
           [0.607, 0.607, 1.   ]])
    """
    X = _samples(X)
    L = laplacian(feature_graph(feature_similarity))
    if L.shape[0] != X.shape[1]:
        raise ValueError(f"The similarity is of {L.shape[0]} features, but X has {X.shape[1]}.")
    gram = X @ (L @ X.T)
    return _gaussian(gram.toarray() if sp.issparse(gram) else np.asarray(gram), width)


def _samples(X):
    """Checked data of few enough samples to compare all pairs."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2, input_name="X")
    n = X.shape[0]
    better = "Use fewer samples, or a sample similarity of neighbours (knn_similarity)."
    check_memory(32.0 * n * n, f"A similarity of {n} samples", better)
    return X


def _own_gram(X, ridge: float) -> np.ndarray:
    """Inner products of the centred samples after whitening, from those before it."""
    n, m = X.shape
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        cross = np.asarray(X @ mean)
        gram = (X @ X.T).toarray() - cross[:, None] - cross + mean @ mean
    else:
        centred = X - X.mean(axis=0)
        gram = centred @ centred.T
    values, vectors = scipy.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    inverse = _inverse(values / (n - 1), ridge, values.sum() / (n - 1) / m)
    return (vectors * (values * inverse)) @ vectors.T


def _inverse(values: np.ndarray, ridge: float, level: float) -> np.ndarray:
    """Inverse eigenvalues with a ridge; pseudo-inverse without."""
    largest = np.abs(values).max(initial=0.0)
    if values.min(initial=0.0) < -1e-8 * largest:
        raise ValueError("The covariance has negative eigenvalues: it is not a covariance matrix.")
    values = np.where(values > 1e-12 * len(values) * largest, values, 0.0) + ridge * level
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)


def _gaussian(gram: np.ndarray, width: float | str) -> SymmetricMatrix:
    """Gaussian of the distances that inner products imply."""
    own = np.diagonal(gram)
    squares = np.maximum(own[:, None] + own - 2.0 * gram, 0.0)
    squares = (squares + squares.T) / 2.0
    np.fill_diagonal(squares, 0.0)
    if width == "auto":
        # Equal samples keep a distance of the size of rounding.
        pairs = squareform(squares, checks=False)
        apart = pairs[pairs > 1e-12 * own.max(initial=0.0)]
        width = float(np.sqrt(np.median(apart))) if len(apart) else 1.0
    return DenseMatrix(np.exp(-0.5 * squares / float(width) ** 2))
