r"""Targets of the multivariate selectors: common forms of scores, and responses.

Every score of this family is, up to a constant and its sign, :math:`\hat f^T \hat S \hat f` with a
prepared feature and a symmetric matrix :math:`\hat S = U\Sigma U^T`. The response :math:`Y =
U_k\Sigma_k^{1/2}` lets :class:`MRSF` and :class:`MCSF` avoid redundancy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist.data._parameters import Integer, StrOptions, checked
from columnist.spectral._features import ScaledColumns
from columnist.spectral._graph import Gamma, Graph, resolve_gamma
from columnist.spectral._ratios import TraceRatio
from columnist.spectral._relief import relief_similarity
from columnist.spectral._scatter import column_scatter
from columnist.spectral._similarity import (
    class_members,
    fisher_similarity,
    hsic_similarity,
    resolve_similarity,
)
from columnist.spectral._symmetric import (
    DenseMatrix,
    LowRankMatrix,
    SparseMatrix,
    SumMatrix,
    SymmetricMatrix,
    as_symmetric,
    largest_eigenpairs,
)

_FORMS = ("phi1", "phi2", "phi3", "laplacian", "fisher", "relief", "trace_ratio", "hsic")
# Eigenvalues below this share of the largest are zero but for rounding.
_ZERO = 1e-12


@dataclass(frozen=True)
class CommonForm:
    """Prepared features and the similarity they should agree with.

    Attributes
    ----------
    features : ndarray of shape (n_samples, n_features)
        One prepared feature per column; zero where the score is undefined.
    similarity : SymmetricMatrix
        What they are compared with.
    """

    features: np.ndarray
    similarity: SymmetricMatrix

    def scores(self) -> np.ndarray:
        """The quadratic form of every feature; large is good."""
        return self.similarity.forms(self.features)


@checked(score=StrOptions(*_FORMS))
def common_form(
    score: str,
    X,
    y=None,
    *,
    similarity="knn",
    gamma="identity",
    n_clusters: int | None = None,
    n_neighbors: int = 5,
    width: float | str = "auto",
    n_features_to_select: int | float | None = None,
) -> CommonForm:
    r"""Features and similarity whose quadratic form is a score.

    ============== ==================================== =====================================
    score          prepared feature                     :math:`\hat f^T \hat S \hat f`
    ============== ==================================== =====================================
    phi1           :math:`D^{1/2}f`, unit length        :math:`1 - \varphi_1`
    phi2           the same without :math:`\xi_1`       :math:`1 - \varphi_2`
    phi3           as phi1                              :math:`\varphi_3`
    laplacian      as phi2                              1 - Laplacian score
    fisher         as phi2, :math:`S` of the classes    1 - 1/(1 + Fisher score)
    relief         f, unit length                       see :func:`relief_similarity`
    trace_ratio    f without its mean, unit length      :math:`f^T(L_b - \lambda^* L_w)f`
    hsic           as trace_ratio                       unbiased HSIC with a linear kernel
    ============== ==================================== =====================================

    Parameters
    ----------
    score : {"phi1", "phi2", "phi3", "laplacian", "fisher", "relief", "trace_ratio", "hsic"}
        Whose form.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,), optional
        Class labels: needed by ``"fisher"``, ``"relief"``, and similarities of labels; used by
        ``"trace_ratio"`` and ``"hsic"`` if given.
    similarity : str, callable, array-like or sparse matrix, default="knn"
        Similarity of the samples, as in :class:`SpectralSelector`.
    gamma : {"identity", "square", "cube"}, float or callable, default="identity"
        Function of the eigenvalues, for the first three.
    n_clusters : int, optional
        k of ``"phi3"``, which needs it.
    n_neighbors, width
        Options of the similarity.
    n_features_to_select : int, float or None, default=None
        Size of the set for which ``"trace_ratio"`` has its :math:`\lambda^*`.

    Returns
    -------
    CommonForm

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral import FisherScore, common_form
    >>> X, y = load_iris(return_X_y=True)
    >>> common_form("fisher", X, y).scores().round(3)
    array([0.619, 0.401, 0.941, 0.929])
    >>> fisher = FisherScore().fit(X, y).raw_scores_
    >>> (1 - 1 / (1 + fisher)).round(3)
    array([0.619, 0.401, 0.941, 0.929])
    """
    X = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_min_samples=2, input_name="X")
    X = X.toarray() if sp.issparse(X) else X
    options: dict[str, Any] = {"n_neighbors": n_neighbors, "width": width}
    if score == "relief":
        S = as_symmetric(relief_similarity(X, y, n_neighbors=n_neighbors))
        return CommonForm(_unit(X, np.linalg.norm(X, axis=0) > 0.0), S)
    if score == "hsic":
        kernel = resolve_similarity(similarity if y is None else "label", X, y, **options)
        return CommonForm(_unit_centred(X), hsic_similarity(kernel))
    if score == "trace_ratio":
        selector = TraceRatio(n_features_to_select, similarity=similarity, **options)
        return _trace_ratio_form(X, y, selector)
    if score == "fisher":
        similarity = "fisher"
    graph = Graph.of(resolve_similarity(similarity, X, y, **options))
    which = "phi2" if score in {"laplacian", "fisher"} else score
    return _spectral_form(which, X, graph, resolve_gamma(gamma), n_clusters)


def _spectral_form(
    which: str, X: np.ndarray, graph: Graph, gamma: Gamma, n_clusters: int | None
) -> CommonForm:
    defined = column_scatter(X, graph.degrees) > 0.0
    roots = np.sqrt(graph.degrees)[:, None]
    # In exact arithmetic the weighted mean is what the trivial vector explains.
    features = _unit(roots * (graph.centred(X) if which == "phi2" else X), defined)
    if which == "phi3":
        if n_clusters is None:
            raise ValueError("The form of 'phi3' needs n_clusters, an integer >= 2.")
        Integer(2).check("n_clusters", n_clusters)
        values, vectors = graph.eigenpairs(n_clusters - 1)
        return CommonForm(
            features, LowRankMatrix(vectors, np.diag(gamma(np.array([2.0])) - gamma(values)))
        )
    if gamma.power == 1:
        return CommonForm(features, graph.normalized)
    values, vectors = graph.spectrum()
    return CommonForm(features, DenseMatrix((vectors * (1.0 - gamma(values))) @ vectors.T))


def _trace_ratio_form(X: np.ndarray, y, selector: TraceRatio) -> CommonForm:
    ratio = selector.fit(X, y).criterion_
    if not np.isfinite(ratio):
        raise ValueError("The trace ratio is infinite, and its form therefore not defined.")
    n = X.shape[0]
    if y is None:
        graph = selector._graph(X, None)
        d, volume = graph.degrees, graph.volume
        terms = [
            (1.0 - ratio, SparseMatrix.of_diagonal(d)),
            (-1.0 / volume, LowRankMatrix(d[:, None])),
            (ratio, graph.similarity),
        ]
    else:
        terms = [
            (1.0 + ratio, fisher_similarity(y)),
            (-1.0 / n, LowRankMatrix(np.ones((n, 1)))),
            (-ratio, SparseMatrix.of_diagonal(np.ones(n))),
        ]
    return CommonForm(_unit_centred(X), SumMatrix(terms))


def _unit_centred(X: np.ndarray) -> np.ndarray:
    return _unit(X - X.mean(axis=0), column_scatter(X) > 0.0)


def _unit(F: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """Columns of unit length, and zero where undefined."""
    lengths = np.linalg.norm(F, axis=0)
    return F * np.divide(1.0, lengths, out=np.zeros_like(lengths), where=defined & (lengths > 0.0))


@checked(n_components=Integer(1))
def spectral_response(S, n_components: int, *, centering: str = "none") -> np.ndarray:
    r"""Leading eigenvectors of a similarity, times the roots of their eigenvalues.

    Parameters
    ----------
    S : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity; it may be indefinite, only positive eigenvalues count.
    n_components : int
        Eigenvectors at most.
    centering : {"none", "mean"}, default="none"
        Whether to centre rows and columns of S first, for features without means.

    Returns
    -------
    ndarray of shape (n_samples, n_positive)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._forms import spectral_response
    >>> spectral_response(np.diag([4.0, -1.0, 1.0]), 3).round(6)
    array([[2., 0.],
           [0., 0.],
           [0., 1.]])
    """
    S = as_symmetric(S)
    constant = np.full(S.n, S.n**-0.5) if centering == "mean" else None
    values, vectors = _positive(*S.leading(n_components, constant))
    if len(values) == 0:
        raise ValueError(
            "The similarity has no positive eigenvalue (beside the constant vector, if features "
            "are centred): there is nothing for features to preserve. Use another similarity."
        )
    return vectors * np.sqrt(values)


def lda_response(y) -> np.ndarray:
    r"""Response of least squares discriminant analysis, one column per class.

    For :math:`n_l` of n samples in class l: :math:`\sqrt{n/n_l} - \sqrt{n_l/n}` for members,
    :math:`-\sqrt{n_l/n}` for others. Columns sum to zero, and :math:`YY^T = nS - 11^T` with the
    similarity S of :func:`fisher_similarity`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> from columnist.spectral._forms import lda_response
    >>> lda_response(["a", "a", "b", "b"]).round(3)
    array([[ 0.707, -0.707],
           [ 0.707, -0.707],
           [-0.707,  0.707],
           [-0.707,  0.707]])
    """
    members = class_members(y, "The response 'lda'")
    shares = members.mean(axis=0)
    return members / np.sqrt(shares) - np.sqrt(shares)


def svm_response(y) -> np.ndarray:
    """Response of a least squares support vector machine: 1 for members of a class, -1 for others.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> from columnist.spectral._forms import svm_response
    >>> svm_response(["a", "b", "a"])
    array([[ 1., -1.],
           [-1.,  1.],
           [ 1., -1.]])
    """
    return 2.0 * class_members(y, "The response 'svm'") - 1.0


@checked(n_components=Integer(1))
def pca_response(F: ScaledColumns, n_components: int) -> np.ndarray:
    r"""Leading principal components :math:`U_k\Sigma_k` of the features."""
    pairs = largest_eigenpairs(F.kernel_times, F.shape[0], n_components, F.kernel)
    values, vectors = _positive(*pairs)
    if len(values) == 0:
        raise ValueError("All features are constant: there is no principal component to fit.")
    return vectors * np.sqrt(values)


def _positive(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs with positive values; the largest entry of every vector is made positive."""
    kept = values > _ZERO * len(vectors) * max(abs(values[0]), np.finfo(np.float64).tiny)
    values, vectors = values[kept], vectors[:, kept]
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(values))]
    return values, vectors * np.where(largest < 0.0, -1.0, 1.0)
