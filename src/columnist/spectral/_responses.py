r"""Responses that row-sparse regression fits: what the selected features should explain.

A similarity :math:`\hat S = U\Sigma U^T` becomes the response :math:`Y = U_k\Sigma_k^{1/2}`, so
that :math:`YY^T \approx \hat S` and features that fit Y together preserve the similarity. Class
labels and principal components have responses of their own, which turn the regression into a
sparse form of discriminant analysis, of a least squares support vector machine, or of PCA.
"""

from __future__ import annotations

import numpy as np

from columnist.data._parameters import Integer, checked
from columnist.data._target import resolve_classes
from columnist.linalg._passes import column_blocks
from columnist.spectral._features import ScaledColumns
from columnist.spectral._symmetric import as_symmetric, largest_eigenpairs

__all__ = [
    "lda_response",
    "pca_response",
    "spectral_response",
    "svm_response",
]

# Eigenvalues below this share of the largest are zero but for rounding.
_ZERO = 1e-12


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
    >>> from columnist.spectral._responses import spectral_response
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
    >>> from columnist.spectral._responses import lda_response
    >>> lda_response(["a", "a", "b", "b"]).round(3)
    array([[ 0.707, -0.707],
           [ 0.707, -0.707],
           [-0.707,  0.707],
           [-0.707,  0.707]])
    """
    members = _members(y, "The response 'lda'")
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
    >>> from columnist.spectral._responses import svm_response
    >>> svm_response(["a", "b", "a"])
    array([[ 1., -1.],
           [-1.,  1.],
           [ 1., -1.]])
    """
    return 2.0 * _members(y, "The response 'svm'") - 1.0


@checked(n_components=Integer(1))
def pca_response(F: ScaledColumns, n_components: int) -> np.ndarray:
    r"""Leading principal components :math:`U_k\Sigma_k` of the features."""

    def times(M: np.ndarray) -> np.ndarray:
        return F.apply(F.cross(M))

    n = F.shape[0]
    values, vectors = _positive(*largest_eigenpairs(times, n, n_components, lambda: _kernel(F)))
    if len(values) == 0:
        raise ValueError("All features are constant: there is no principal component to fit.")
    return vectors * np.sqrt(values)


def _kernel(F: ScaledColumns) -> np.ndarray:
    """FF', block by block."""
    total = np.zeros((F.shape[0], F.shape[0]))
    for columns in column_blocks(F.shape[1], F.shape[0]):
        part = F.take(columns)
        total += part @ part.T
    return total


def _members(y, caller: str) -> np.ndarray:
    classes, codes = resolve_classes(y, None if y is None else len(y), caller)
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)


def _positive(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs with positive values; the largest entry of every vector is made positive."""
    kept = values > _ZERO * len(vectors) * max(abs(values[0]), np.finfo(np.float64).tiny)
    values, vectors = values[kept], vectors[:, kept]
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(values))]
    return values, vectors * np.where(largest < 0.0, -1.0, 1.0)
